/* The search for what a wait loop waits for: a counter that critical sections of some classes add
 * to or take from, such that the real threads waited exactly when it says so.
 *
 * All weights that make sense are tried on the mutex' history; the fewest contradictions win, of
 * equals the simplest. */
#ifndef PERSIK_MODELGEN_MONITORS_SEARCH_H
#define PERSIK_MODELGEN_MONITORS_SEARCH_H

#include "modelgen/monitors/monitors.h"

#define CLASS_LIMIT     48   /* classes per mutex that take part in a hypothesis ... */
#define FREE_LIMIT      9    /* ... and of them those that have a weight of their own */
#define RECALL          0.8  /* of the waits, and of the passes, must be explained */
#define VIOLATION_SHARE 0.05 /* of the evaluations may contradict an accepted hypothesis */

/* Are the evaluations that contradict a hypothesis no more than that, rounded? */
static inline bool violations_are_few(double violations, double evaluations) {
    return violations <= VIOLATION_SHARE * evaluations + 0.5;
}

/* A section may change the state at once; decides to wait, or to go on; when it ends it has changed
 * the state. */
enum event_kind { EVENT_EARLY_EFFECT, EVENT_WAITS, EVENT_PASSES, EVENT_EFFECT };

struct event {
    uint64_t time_ns;
    enum event_kind kind;
    int class_index;
    size_t section;
    size_t instance; /* of the mutexes that are alike: each has a counter of its own */
};

struct history {
    struct event *items;
    size_t count, capacity;
    size_t n_instances;
};

/* Of `mutex` and of those that it stands for, in the order of time; the caller frees the items. */
struct history history_of(const struct sections *sections, const struct monitors *monitors,
                          int mutex);

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

/* Is this where a class adds its weight? `early`: if it does so before it waits itself. */
static inline bool event_changes(const struct event *event, bool early) {
    return event->kind == (early ? EVENT_EARLY_EFFECT : EVENT_EFFECT);
}

/* Is it a decision to wait or to go on? */
static inline bool event_decides(const struct event *event) {
    return event->kind == EVENT_WAITS || event->kind == EVENT_PASSES;
}

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

struct search {
    const struct monitors *monitors; /* to be set first */
    int success;                     /* class of the attempts that succeed; -1: those that signal */
    /* what was found */
    const struct history *history;
    int classes[CLASS_LIMIT]; /* those that take part, by their slot in the hypothesis */
    int n_classes;
    int n_free; /* the first ones: with those of their entries they are all, or the limit's worth */
    struct hypothesis best;
    struct verdict best_verdict;
    double best_complexity;
    /* under way */
    struct replay_table table;
    struct hypothesis current;
    size_t n_events;
    struct replay_event *events; /* that are replayed, in the order of time */
    double waits, passes;        /* of these, those that are judged */
    int condition;               /* whose signals announce a change; -1 any */
    bool uniform; /* all sections of one call site weigh the same, whatever they signal */
    bool tied;    /* ... and those of other sites of its function that wait for the same */
    bool alike[CLASS_LIMIT][CLASS_LIMIT]; /* do the two of the chosen classes stand at such sites */
    bool any_alike;                       /* any two that are not of one call site */
    bool partial; /* a counter is sought that nobody passes at when it is empty; it need not say
                     why everybody waited */
    const bool *excused; /* per event of the history: is not judged; NULL: none */
    bool found;
};

#define CONVINCING_TURNS 8 /* of a verdict, to be believed whatever else speaks against it */

/* What the sections of `class` wait for; gives the class that closes it, or -1. True: found, in
 * `best` and what follows it. */
bool search_waits(struct search *search, const struct history *history,
                  const struct section_class *class, int *close_class);

/* Where no counter alone says when the sections of `class` wait: two, both of which must be there
 * to go on, such as a job and room for its result. True: found, `first` without the waits that only
 * `second` tells, and the reverse. Their `close_class` is that of the second one. */
bool search_both(const struct monitors *monitors, const struct history *history,
                 const struct section_class *class, struct search *first, struct search *second,
                 int *close_class);

/* When attempts at a call site fail; the same. `success` must be set. */
bool search_attempts(struct search *search, const struct history *history, int mutex, int entry);

#endif
