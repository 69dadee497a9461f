/* Source of scheduling events: perf's context-switch records and, for those who may, the
 * sched_waking tracepoint through ftrace. Both tell of the whole machine where that is permitted;
 * births tell which threads are the program's. */
#ifndef PERSIK_TRACER_SCHED_H
#define PERSIK_TRACER_SCHED_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/map.h"
#include "tracer/ftrace.h"
#include "tracer/lacks.h"
#include "tracer/recorder.h"
#include "tracer/slices.h"
#include "tracer/tracepoint.h"

/* Whose it is, is not known before the events of all cores up to its time are. */
struct unsettled_event {
    struct sched_event event;
    uint32_t pid, creator; /* of a birth: the process, and the thread that made it */
};

struct sched {
    struct {
        size_t count, capacity;
        struct sched_event *items;
    } events; /* the program's, settled; in no order until sched_sort() */
    struct {
        size_t count, capacity;
        struct unsettled_event *items;
    } unsettled;
    struct map threads;   /* tid -> 1: the program's, as far as settled or born since */
    struct map processes; /* tid -> pid of those that it created */
    uint64_t lost;
    bool has_switches, has_wakes;
    struct tracepoint_field woken; /* the woken thread in sched_waking's data */
};

/* Adds to `recorder` and `ftrace` what the kernel permits us to see of `pid`, which is to exec, and
 * all threads and processes it will create. What it does not permit goes to `lacks`. `sched` must
 * stay where it is until recorder_stop(). */
void sched_attach(struct sched *sched, struct recorder *recorder, struct ftrace *ftrace, pid_t pid,
                  struct lacks *lacks);

/* Keeps the events of the program's threads and drops those of others, up to a moment before which
 * all events were handed over; UINT64_MAX at the end. Births count at once, so that `threads` lacks
 * none whose birth was handed over. */
void sched_settle(struct sched *sched, uint64_t complete_ns);

void sched_free(struct sched *sched);

#endif
