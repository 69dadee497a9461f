/* What threads did between their calls, in a run with evictions: how long each fragment of their
 * work took, how long others of the same kind take, and what disturbed it. */
#ifndef PERSIK_MODELGEN_CALIBRATE_CACHE_RELOAD_FRAGMENTS_H
#define PERSIK_MODELGEN_CALIBRATE_CACHE_RELOAD_FRAGMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "formats/trace.h"

#define EVICTION_PLANS 8
#define FRAGMENTS_FEW  5 /* fewer of a kind, or evictions of a plan, tell nothing */
#define FRAGMENTS_MANY                                                                             \
    20000 /* of a kind: of more, only every second, third ... one is looked at                     \
           */

/* Of its CPU time, in which a thread has most of its data back. The longer it is followed, the more
 * else differs. */
#define FRAGMENTS_HORIZON_NS 2e6

/* Others' turns that are shorter take little of what a thread has in the cache. */
#define FRAGMENTS_TURN_NS 3e5

struct fragment {
    uint32_t kind;
    double from_ns, to_ns; /* of its thread's CPU time */
    double calm_ns;        /* up to what disturbs it first, or its length */
    double until_ns;       /* when the thread has done what it does after it, up to the horizon;
                            * NaN: it ends before */
};

/* Fragments between the same two calls, of one role. */
struct fragment_kind {
    bool asked;                 /* some were disturbed: others are compared with them */
    size_t all;                 /* fragments */
    size_t first, count;        /* in fragments.done, those that were calm the shortest first */
    double mean_ns;             /* of a fragment */
    double variance;            /* with what follows */
    struct fragment_rest *sums; /* of these, from each one on; count + 1 */
};

/* What may cost something: evictions of each plan, those whose victim went on on another core,
 * those that fell into a time when the thread had left the core anyway, turns of threads that do
 * the same without one, short turns of any, and what is not to be counted on. */
enum { COST_MOVED = EVICTION_PLANS, COST_WAITED, COST_TURN, COST_SHORT, COST_OTHER, N_COSTS };

struct disturbance {
    size_t plan; /* or one of the others */
    size_t fragment;
    double at_ns; /* of its thread's CPU time */
    double away_ns;
};

/* What a fragment and what follows take, and what disturbs them. */
struct fragment_rest {
    double ns, disturbances[N_COSTS];
    double variance; /* of `ns`, where it is a mean */
};

/* One of a kind. */
struct fragment_done {
    double calm_ns;
    struct fragment_rest all;
};

struct fragments {
    const struct trace *trace;
    uint64_t *roles; /* per thread */
    size_t n_plans;
    uint64_t planned_ns[EVICTION_PLANS];
    struct {
        struct fragment *items;
        size_t count, capacity;
    } fragments;        /* by thread, then by time */
    size_t *thread_end; /* per thread: the first fragment after its own */
    struct {
        struct disturbance *items;
        size_t count, capacity;
    } disturbances;            /* likewise */
    size_t *first_disturbance; /* per thread, and one more */
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

/* What the rest of a fragment that has taken `age_ns` so far undisturbed, and what follows, take on
 * the average. False: too few of its kind got so far. */
bool fragments_expected_rest(const struct fragments *work, const struct fragment_kind *kind,
                             double age_ns, struct fragment_rest *rest);

#endif
