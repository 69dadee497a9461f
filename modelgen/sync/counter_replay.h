/* A hypothesis: critical sections of some classes add so much to a counter, and who waits waits for
 * that. It is replayed on a history; how often threads waited and passed at each value of the
 * counter gives the verdict. */
#ifndef PERSIK_MODELGEN_SYNC_COUNTER_REPLAY_H
#define PERSIK_MODELGEN_SYNC_COUNTER_REPLAY_H

#include "modelgen/sync/object_history.h"

#define CLASS_LIMIT 48 /* classes per mutex that take part in a hypothesis */

struct hypothesis {
    const int *classes; /* that take part */
    int n_classes;
    int weight[CLASS_LIMIT];
    bool early[CLASS_LIMIT]; /* the class adds its weight before it waits itself */
    int waiter_entry;        /* whose evaluations count */
    bool tries;              /* waiters fail instead of waiting: a class of weight 0 has failed */
    long take;               /* what a waiter takes at once */
    uint64_t closed_ns;      /* evaluations from here on are not judged; UINT64_MAX = never */
};

struct verdict {
    double waits, passes;
    double wrong_waits, wrong_passes;
    long threshold; /* waits while the counter is at or below it */
    double turns;   /* how often who comes next waits where the last one went on, or the reverse */
};

static inline double verdict_wrong(const struct verdict *verdict) {
    return verdict->wrong_waits + verdict->wrong_passes;
}

/* Do enough of the waits, and of the passes, follow the hypothesis? */
bool verdict_is_acceptable(const struct verdict *verdict);

/* Do its waiters take what they wait for? */
bool hypothesis_takes(const struct monitors *monitors, const struct hypothesis *hypothesis);

/* Where each class stands in the hypothesis, for fast look-up while replaying. */
struct replay_table {
    int *slot;               /* class index -> slot in hypothesis or -1 */
    long *counters;          /* per instance */
    double *waited, *passed; /* histogram of counter values, offset by `offset` */
    size_t offset, size;
    long low, high;   /* range of the counter values judged */
    size_t next;      /* event to be replayed */
    bool last_waited; /* whoever came last */
    long turns; /* how often who comes next waits where the last one went on, or the reverse */
    long highest_later; /* counter since the first wait */
};

/* An event that changes a counter or, if it `decides`, is judged by it. */
struct replay_event {
    int slot; /* of its class in the hypothesis; -1: none */
    size_t instance;
    bool decides, waits;
};

/* Empties the histograms for a new replay. */
void replay_begin(const struct object_history *history, struct replay_table *table);

/* Goes on to event number `end` of those that matter. */
void replay_until(const struct hypothesis *hypothesis, const struct replay_event *events,
                  size_t end, struct replay_table *table);

/* The best threshold for the histograms. Where several are equally good: a guard that takes was one
 * short when somebody waited (the lowest one, but `natural` if that is possible: nothing there at
 * the start); a level was just reached when somebody passed (the highest one). */
struct verdict verdict_best(const struct replay_table *table, bool taking, long natural);

/* The highest threshold at which (nearly) nobody passed. */
struct verdict verdict_strict(const struct replay_table *table);

#endif
