/* What threads did between their calls, in a run with evictions: how long each fragment of their
 * work took, how long others of the same kind take, and which evictions fell into it. */
#ifndef PERSIK_MODELGEN_RUN_FRAGMENTS_H
#define PERSIK_MODELGEN_RUN_FRAGMENTS_H

#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "formats/trace.h"

#define EVICTION_PLANS 8
#define FRAGMENTS_FEW  5 /* fewer of a kind, or evictions of a plan, tell nothing */

struct fragment {
    uint32_t kind;
    double from_ns, to_ns; /* of its thread's CPU time */
    double calm_ns;        /* up to the first eviction in it, or its length */
    double until_ns;       /* when the thread has done what it does after it, up to the horizon;
                            * NaN: it ends before */
};

/* Fragments between the same two calls, of one role. */
struct fragment_kind {
    size_t first, count; /* in fragments.done, those that were calm the shortest first */
    double mean_ns;      /* of a fragment */
    double variance;     /* with what follows */
    double *sums;        /* of the times from each one of these on; count + 1 */
};

/* One of a kind. */
struct fragment_done {
    double calm_ns, all_ns; /* ... with what follows */
};

/* What may cost something: evictions of each plan, those whose victim went on on another core, and
 * what is not to be counted on. */
enum { COST_MOVED = EVICTION_PLANS, COST_OTHER, N_COSTS };

struct eviction_event {
    size_t plan; /* or COST_MOVED, COST_OTHER */
    size_t fragment;
    double at_ns; /* of its thread's CPU time */
    double away_ns;
};

struct fragments {
    const struct trace *trace;
    size_t n_plans;
    uint64_t planned_ns[EVICTION_PLANS];
    struct {
        struct fragment *items;
        size_t count, capacity;
    } fragments;        /* by thread, then by time */
    size_t *thread_end; /* per thread: the first fragment after its own */
    struct {
        struct eviction_event *items;
        size_t count, capacity;
    } events;            /* likewise */
    size_t *first_event; /* per thread, and one more */
    struct map kind_ids;
    size_t n_kinds;
    struct fragment_kind *kinds;
    struct fragment_done *done;
};

/* Those of one run, which must outlive them. fragments_free() ends them. */
struct fragments fragments_divide(const struct trace *trace);
void fragments_free(struct fragments *work);

/* Equal for threads that run the same function and are created at the same place, in any run of the
 * program. */
uint64_t fragments_role(const struct trace *trace, size_t thread);

static inline double fragment_length(const struct fragment *fragment) {
    return fragment->to_ns - fragment->from_ns;
}

/* What the rest of a fragment that has taken `age_ns` so far without an eviction, and what follows,
 * take on the average. NaN: too few of its kind got so far. */
double fragments_expected_rest(const struct fragments *work, const struct fragment_kind *kind,
                               double age_ns);

#endif
