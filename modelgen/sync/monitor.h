/* What a mutex with condition variables is: queue, semaphore, completion count, barrier ...
 *
 * Here are the types of the search alone, and what is asked of all that was found; monitor_search.h
 * finds it. The modules, in the order of the work:
 * - operation_classes, source_monitors: sections that do the same, and what the source says;
 * - object_history, counter_replay, counter_search, batch_sizes: a counter that tells which threads
 *   waited;
 * - guards, wait_loops, try_operations: what is made of such counters;
 * - source_guards, observed_amounts, weighted_units: what no thread met, as the source or the
 *   program's variables say;
 * - command_program, command_text, replay, tally: guarded commands held against the run;
 * - template, templates, template_search, pattern_replay, ticket_replay,
 *   in_order_completion_replay, wavefront_replay, group_commit_cost: what no counter tells;
 * - select: which candidate is taken, and what to give up when the model stalls;
 * - statement_search: the source's own words. */
#ifndef PERSIK_MODELGEN_SYNC_MONITOR_H
#define PERSIK_MODELGEN_SYNC_MONITOR_H

#include <stdbool.h>
#include <stddef.h>

#include "formats/facts.h"
#include "modelgen/events/critical_sections.h"
#include "modelgen/sync/explanation.h"

/* Sections of one mutex that start at the same call site and signal the same conditions. */
struct section_class {
    int mutex;
    int entry;            /* classes of one call site, whatever they signal, share an entry */
    uint32_t context;     /* of the first one's lock */
    const char *function; /* that locks; belongs to the trace */
    int line;
    double count;
    uint64_t first_ns; /* acquire time of the first one */
    double waits;      /* sections that waited */
    int waits_on;      /* condition object of the first wait; -1 none */
    bool mixed_waits;  /* waits on several conditions */
    size_t n_signals;
    int signals[4]; /* distinct conditions signalled, ascending; more are not told apart */
    bool early[4];  /* ... before the section waited, or would have by the source's word; */
    bool late[4];   /* ... after it had waited */
    bool broadcasts;
};

/* What was tried on a mutex, and is not what it is. */
struct rejected {
    int mutex;
    const char *name;   /* of the template, or "counter"; not owned */
    struct tally tally; /* up to where it was given up */
    bool is_outdone;    /* by what does better: it is no wrong one itself */
    struct score score; /* ... its own */
};

struct monitors {
    const struct facts *facts; /* NULL: no source */
    const bool *doubted;       /* per sync object, see monitors_find(); NULL: none */
    size_t n_classes;
    struct section_class *classes;
    int *class_of; /* per section */
    size_t n_entries;
    struct {
        struct explanation *items; /* in the order in which they were found */
        size_t count, capacity;
    } explanations;
    const struct facts_monitor *
        *proposal_of;  /* per sync object: what the source takes a mutex for */
    bool *unproposed;  /* ... its source was read and proposes nothing */
    bool *own_numbers; /* per class: its sections wait, by the source's word, until what all see has
                        * come to a number of the thread's own */
    struct {
        struct rejected *items; /* for each template and counter that was tried the best try */
        size_t count, capacity;
    } rejected;
    size_t *first_of_thread; /* per thread and one more: its first section */
};

/* ---- the array of explanations ---- */

/* The next one of a kind in the order in which they were found; NULL: no more. To go through all:
 *   for (struct explanation *e = NULL; (e = explanation_next(monitors, BY_COUNTER, e));) */
struct explanation *explanation_next(const struct monitors *monitors, enum explained_by by,
                                     const struct explanation *last);

/* Its index: arrays of later passes have an element for each explanation. */
size_t explanation_index(const struct monitors *monitors, const struct explanation *explanation);

/* The monitors take it over. Pointers to others are not valid any more. */
void explanation_add(struct monitors *monitors, struct explanation explanation);

/* Takes out of the array, and frees, what `drops` says; `context` is handed to it. */
void explanations_drop(struct monitors *monitors,
                       bool (*drops)(const struct explanation *explanation, const void *context),
                       const void *context);

/* ---- is this explained, and by what? ---- */

/* Does a counter say what the sections of a class wait for? */
bool monitors_guard(const struct monitors *monitors, size_t class_index);

/* Does it say why this section waited or did not? */
bool explanation_explains(const struct explanation *explanation, const struct monitors *monitors,
                          size_t section);

/* Does anything? */
bool monitors_explain(const struct monitors *monitors, size_t section);

/* Is what threads wait for on this condition, or on those like it, known? `beyond_doubt`: and not
 * contradicted by the run. */
bool monitors_explain_condition(const struct monitors *monitors, const struct sections *sections,
                                int condition, bool beyond_doubt);

/* Has a pattern's sections waiting on the condition; NULL: none. */
struct explanation *monitors_pattern_at(const struct monitors *monitors, int condition);

/* What stands for the mutex as the source's own words; NULL when it is modelled otherwise. `mutex`:
 * index into the objects. */
struct explanation *statements_of(const struct monitors *monitors, int mutex);

/* The thread's first section that does `act`, as an index into sections; or PATTERN_NO_SECTION. */
size_t pattern_first(const struct monitors *monitors, const struct pattern *pattern, size_t thread,
                     enum pattern_act act);

/* ---- how much must speak for one ---- */

/* Do waits that began or ended so often prove what they were found to follow? More is asked for
 * where the source was read and says nothing of the kind, and much would fit. */
bool monitors_prove(const struct monitors *monitors, int mutex, double turns);

/* Is nothing to be found about this mutex, by the user's word or because it was doubted? */
bool monitors_ignore(const struct monitors *monitors, int mutex);

#endif
