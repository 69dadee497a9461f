/* Source of scheduling events: perf's context-switch records of the program's threads, and, for
 * those who may, the sched_waking tracepoint through ftrace. Other sources would fill the same
 * sched_events. */
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

struct sched {
    struct {
        size_t count, capacity;
        struct sched_event *items;
    } events;             /* in no order until sched_sort() */
    struct map threads;   /* the program's, by tid */
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

void sched_free(struct sched *sched);

#endif
