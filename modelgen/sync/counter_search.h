/* The search for what a wait loop waits for: a counter that critical sections of some classes add
 * to or take from, such that the real threads waited exactly when it says so.
 *
 * All weights that make sense are tried on the mutex' history; the fewest contradictions win, of
 * equals the simplest. */
#ifndef PERSIK_MODELGEN_SYNC_COUNTER_SEARCH_H
#define PERSIK_MODELGEN_SYNC_COUNTER_SEARCH_H

#include "modelgen/sync/counter_replay.h"

struct counter_search {
    const struct monitors *monitors; /* to be set first */
    int success;                     /* class of the attempts that succeed; -1: those that signal */
    /* what was found */
    const struct object_history *history;
    int classes[CLASS_LIMIT]; /* those that take part, by their slot in the hypothesis */
    int n_classes;
    int n_free; /* the first ones: with those of their entries they are all, or the limit's worth */
    struct hypothesis best;
    struct verdict best_verdict;
    struct score best_score;
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
    bool by_operation; /* all sections of one piece of code do the same, wherever it is called; how
                          many they add at once goes by the call site */
    const struct section_class *waiter; /* ... one of those that wait then */
    bool any_alike;                     /* any two that are not of one call site */
    bool partial; /* a counter is sought that nobody passes at when it is empty; it need not say
                     why everybody waited */
    const bool *excused; /* per event of the history: is not judged; NULL: none */
    bool found;
    bool as_one; /* see counter_search_holds_as_one(); set by who asked */
};

/* What the sections of `class` wait for; gives the class that closes it, or -1. True: found, in
 * `best` and what follows it. */
bool counter_search_waits(struct counter_search *search, const struct object_history *history,
                          const struct section_class *class, int *close_class);

/* Do sections of the class wait for what is sought, or what was found? */
bool counter_search_is_waiter(const struct counter_search *search, int class_index);

/* Of mutexes that are alike, each with a counter of its own: does one counter for all say the same,
 * and only one thread wait by it? The mutexes are in use one after the other then, as that thread
 * comes to them, however many other threads there are. */
bool counter_search_holds_as_one(const struct counter_search *search,
                                 const struct sections *sections);

/* Where no counter alone says when the sections of `class` wait: two, both of which must be there
 * to go on, such as a job and room for its result. True: found, `first` without the waits that only
 * `second` tells, and the reverse. Their `close_class` is that of the second one. */
bool counter_search_both(const struct monitors *monitors, const struct object_history *history,
                         const struct section_class *class, struct counter_search *first,
                         struct counter_search *second, int *close_class);

/* When attempts at a call site fail; the same. `success` must be set. */
bool counter_search_attempts(struct counter_search *search, const struct object_history *history,
                             int mutex, int entry);

#endif
