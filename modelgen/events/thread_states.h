/* How much CPU a thread had used at any moment, and where its time went. */
#ifndef PERSIK_MODELGEN_EVENTS_THREAD_STATES_H
#define PERSIK_MODELGEN_EVENTS_THREAD_STATES_H

#include <stdint.h>

#include "formats/trace.h"
#include "modelgen/events/excluded_time.h"

/* CPU time of a thread that is somebody else's business. */
struct cut {
    uint64_t from_ns, to_ns; /* within a slice */
    double share;            /* of that time */
    double before_ns;        /* of all earlier cuts */
};

struct cuts {
    struct cut *items; /* by time */
    size_t count, capacity;
};

#define THREAD_STATES_CUTS 5

struct thread_states {
    const struct trace_thread *thread;
    double *cpu_before; /* CPU ns used before slice i; n_slices + 1 entries; NULL without slices */
    double *off_before; /* without slices: ns spent in blocking calls before record i; else NULL */
    struct cuts cuts[THREAD_STATES_CUTS]; /* what does not count; of each kind of loss */
    size_t n_cuts;
    uint64_t from_ns, to_ns; /* only what lies in between counts; to_ns 0: all does */
};

/* `thread` must outlive the timeline. Without scheduling records the time outside of blocking
 * calls counts as CPU. thread_states_free() ends it. */
struct thread_states thread_states_make(const struct trace_thread *thread);
void thread_states_free(struct thread_states *timeline);

/* From now on the thread's losses do not count as its CPU time. At most THREAD_STATES_CUTS times.
 */
void thread_states_leave_out(struct thread_states *timeline, const struct excluded_time *losses);

/* From now on the thread's CPU time is what it uses in [from, to]. */
void thread_states_keep_between(struct thread_states *timeline, uint64_t from_ns, uint64_t to_ns);

/* CPU ns used from the thread's start up to `time_ns`. O(log slices). */
double thread_states_cpu(const struct thread_states *timeline, uint64_t time_ns);

/* Ns spent ready but without a core in [from, to): after a preemption, and between wake-up and
 * running where wake-ups were recorded. */
double thread_states_ready(const struct thread_states *timeline, uint64_t from_ns, uint64_t to_ns);

/* Ns spent asleep in [from, to): neither on a core nor ready. What is left out was on a core all
 * the same. */
double thread_states_blocked(const struct thread_states *timeline, uint64_t from_ns,
                             uint64_t to_ns);

/* How often the thread went to sleep in [from, to). */
size_t thread_states_sleeps(const struct trace_thread *thread, uint64_t from_ns, uint64_t to_ns);

/* When the thread was last woken in [from, to]; 0 = that is not known. */
uint64_t thread_states_woken(const struct trace_thread *thread, uint64_t from_ns, uint64_t to_ns);

/* Design invariant 2: every ns of a thread's life in exactly one part. */
struct thread_states_totals {
    double life_ns, cpu_ns, ready_ns;
    double wait_ns;        /* blocked in a recorded call */
    double unexplained_ns; /* blocked outside of every recorded call */
};
struct thread_states_totals thread_states_totals(const struct thread_states *timeline);

/* Sum of the slices of all threads. */
double thread_states_on_core(const struct trace *trace);

/* What the host of a virtual machine took of all threads' slices: it makes them longer, but the
 * kernel's own account of the program's CPU time leaves it out. 0: nothing, or it is not known. */
double thread_states_stolen(const struct trace *trace);

/* Appends the slices of `from` within [low, high), cut to it, to those of `to`, which are its own.
 */
void thread_states_copy_slices(const struct trace_thread *from, uint64_t low_ns, uint64_t high_ns,
                               struct trace_thread *to);

#endif
