/* Which of several candidates explains the waits of a mutex: they compete by one score.
 *
 * What the run says against a candidate counts first: decisions that contradict it, and waits that
 * it leaves unexplained, one as much as the other. Of equals the one wins of which less has to be
 * believed (complexity): the classes that change a counter, the commands of a program. If that is
 * the same, too, the source's word decides, and then the order in which they were tried. */
#ifndef PERSIK_MODELGEN_SYNC_SELECT_H
#define PERSIK_MODELGEN_SYNC_SELECT_H

#include <stdbool.h>
#include <stddef.h>

#include "modelgen/sync/monitor.h"

/* What the run says against it. */
static inline double score_wrong(const struct score *score) {
    return score->contradictions + score->unexplained;
}

bool score_is_better(const struct score *score, const struct score *than);

/* Keeps in mind that something else does better, for the decision log. */
void select_reject(struct monitors *monitors, const struct explanation *explanation,
                   const struct score *score);

/* The candidates for the waits under one mutex. What a finder adds to the monitors is one
 * candidate, even if these are several explanations. */
struct selection {
    struct monitors *monitors;
    const struct sections *sections;
    int mutex;
    size_t first; /* explanation of the candidate at hand */
    struct {
        struct explanation *items;
        size_t count, capacity;
    } best;             /* candidate so far; none: it has no explanation */
    struct score score; /* ... its own */
};

/* select_end() ends it. */
struct selection select_begin(struct monitors *monitors, const struct sections *sections,
                              int mutex);

/* Takes what was added to the monitors since the last call: the better candidate stays, the other
 * one is among the rejected. */
void select_offer(struct selection *selection);

/* Adds the best candidate to the monitors. */
void select_end(struct selection *selection);

/* Where a pattern from number `first` on and counters that the run contradicts speak of the same
 * waits, one side goes. */
void select_settle(struct monitors *monitors, const struct sections *sections, size_t first);

/* ---- what to give up when the model stalls in the run that it was built from ---- */

/* What a hand-made object is, is concluded from how its waits went. Where threads waited a few
 * times only, a wrong conclusion can fit those by accident, and its simulated threads then wait
 * where the real ones never did. */

#define SUSPECTS_LIMIT 8 /* each costs a model and a simulation */

/* Indices are those of the sync objects in `sections`, the same whenever the same trace is read. */
struct doubts {
    bool has_futex_barriers; /* set by the build: words of memory that it took for barriers ... */
    bool no_futex_barriers;  /* ... which they are not: a lock is handed on in such rounds, too */
    bool is_in_order; /* a thread that is alone decides as it did after it has put something, too */
    bool *doubted; /* per sync object: what was found about this mutex does not count; NULL: none */
    int suspects[SUSPECTS_LIMIT]; /* mutexes; those about which the fewest waits tell come first */
    size_t n_suspects;
};

/* Fills in the suspects, unless that was done before. End it with doubts_free(). */
void doubts_suspect(struct doubts *doubts, const struct monitors *monitors,
                    const struct sections *sections);
void doubts_free(struct doubts *doubts);

#endif
