/* From what happened on the cores to the times each thread had one. Pure: no kernel in here. */
#ifndef PERSIK_TRACER_SLICES_H
#define PERSIK_TRACER_SLICES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/trace.h"

enum sched_kind {
    SCHED_BORN, /* created; it has not run yet */
    SCHED_IN,
    SCHED_OUT, /* it waits for something */
    SCHED_PREEMPTED,
    SCHED_WAKING, /* somebody made it runnable */
    SCHED_EXIT
};

struct sched_event {
    uint64_t mono_ns;
    uint32_t tid;
    uint16_t cpu;
    uint16_t kind; /* enum sched_kind */
    /* Of a wake-up: the thread in whose context it came, and whether an interrupt had just come
     * upon that one. 0: not known, or a core that idled. */
    uint32_t waker;
    bool in_interrupt;
};

/* By thread, then by time. */
void sched_sort(struct sched_event *events, size_t n);

/* The events of one thread, in an array that was sorted: `*n` of them from the address returned;
 * NULL and 0 when there are none. */
const struct sched_event *sched_find(const struct sched_event *events, size_t n_events,
                                     uint32_t tid, size_t *n);

struct slices {
    size_t count, capacity;
    struct trace_slice *items; /* CLOCK_MONOTONIC; free() it */
    uint64_t unpaired;         /* events that fit no slice, since others were lost */
};

/* Slices of one thread, whose `waker` is a thread's number yet, not an index; by time, never
 * overlapping. A thread whose first event is that it left its core runs since it was woken or,
 * unseen, since `start_ns`; one that never left it runs until `end_ns`. A slice after a preemption
 * has the preemption as its wake_ns. */
void slices_build(struct slices *slices, const struct sched_event *events, size_t n,
                  uint64_t start_ns, uint64_t end_ns);

#endif
