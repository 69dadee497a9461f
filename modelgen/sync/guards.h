/* A guard is the predicate of a wait loop, seen as a counter: critical sections of some classes add
 * to it or take from it, and a waiting class goes on only while it is positive. It is replayed on
 * the history of its mutex, and what each section decided must agree with it. This covers bounded
 * and unbounded queues (items, free slots), semaphores, "idle workers", latches and "all work
 * done", without knowing which variables the program uses. Several call sites that wait for the
 * same thing have one guard. */
#ifndef PERSIK_MODELGEN_SYNC_GUARDS_H
#define PERSIK_MODELGEN_SYNC_GUARDS_H

#include "modelgen/sync/counter_search.h"
#include "modelgen/sync/monitor.h"
#include "modelgen/sync/object_history.h"

/* A guard of the mutex that nobody adds to, takes from or waits for. explanation_free() ends it, or
 * monitors_free() once it is one of the monitors'. */
struct explanation guard_empty(const struct monitors *monitors, const struct sections *sections,
                               int mutex);

/* A guard's counters while the decisions under its mutex are gone through, one after the other.
 * They change by all weights; only guard_fill_outcomes() leaves out those of takers that got a
 * "no". */
struct guard_walk {
    const struct history_event *decision; /* to wait or to go on, of any class; NULL: no more */
    uint64_t closed_ns; /* from when on nobody waits any more; UINT64_MAX: never */
    /* private */
    const struct explanation *guard;
    const struct object_history *history;
    size_t next;      /* event */
    double *counters; /* one for each instance */
};

/* Stands before the first decision. guard_walk_end() ends it; guard and history must outlive it. */
struct guard_walk guard_walk_begin(const struct monitors *monitors, const struct explanation *guard,
                                   const struct object_history *history);
void guard_walk_end(struct guard_walk *walk);

/* Goes on to the next decision. False: there is none. */
bool guard_walk_next(struct guard_walk *walk);

/* Is enough there for whoever decides now, or the guard closed? */
bool guard_walk_lets_go_on(const struct guard_walk *walk);

/* Replays the whole history with the final weights and writes down how every evaluation ended. A
 * pass at an empty counter is a "no": the queue was closed, or the caller does not wait. */
void guard_fill_outcomes(const struct monitors *monitors, struct explanation *guard,
                         const struct object_history *history);

/* Holds the guard against all decisions of those who wait by it, and counts them; once it is closed
 * nobody waits any more. True: it explains them. */
bool guard_judge(const struct monitors *monitors, const struct object_history *history,
                 struct explanation *guard);

/* The guard that a search found, of waiters on `condition` (-1: who never waits); `close_class`
 * closes it (-1: none does). Its outcomes are not filled in. */
struct explanation guard_found(const struct monitors *monitors, const struct sections *sections,
                               const struct counter_search *search, int mutex, int condition,
                               int close_class);

/* Adds it to the monitors, or joins it with one that stands for the same thing. */
void guards_add_found(struct monitors *monitors, const struct sections *sections,
                      const struct counter_search *search, int mutex, int condition,
                      int close_class);

#endif
