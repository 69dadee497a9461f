#include "modelgen/graph/single_sections.h"

#include <stdlib.h>

#include "base/memory.h"
#include "modelgen/events/source_correlation.h"
#include "modelgen/evidence.h"
#include "modelgen/graph/natural_loops.h"

/* Of two threads, one goes another way than the other in half of all rounds by chance: in many in
 * a row seldom. But a creator that is one of its threads is known to have more to do than they;
 * and where one computes and all others do nothing at all, as where the first one makes a table,
 * more threads would not make more of it. And the source may say it. */

/* ---- who it is ---- */

struct round {
    uint64_t first_ns, last_ns, taken_ns;
    size_t taker; /* index in the pool */
    int n_taken;
};

/* The rounds of the passes, of which `taken` tells who went the way of one. The caller frees. NULL:
 * they are no rounds. */
static struct round *find_rounds(const struct loop_passes *passes, const bool *taken,
                                 const struct thread_pool *pool, size_t *n_rounds) {
    size_t size = (size_t)pool->size;
    *n_rounds = size > 1 ? passes->count / size : 0;
    size_t *places = *n_rounds > 0 ? loop_passes_numbers(passes, pool) : NULL;
    if (!places)
        return NULL;
    struct round *rounds = memory_alloc(*n_rounds, sizeof *rounds);
    for (size_t r = 0; r < *n_rounds; r++)
        rounds[r].first_ns = UINT64_MAX;
    for (size_t i = 0; i < passes->count; i++) {
        struct round *round = &rounds[places[i] / size];
        uint64_t at_ns = passes->items[i].at_ns;
        round->first_ns = at_ns < round->first_ns ? at_ns : round->first_ns;
        round->last_ns = at_ns > round->last_ns ? at_ns : round->last_ns;
        if (!taken[i])
            continue;
        round->n_taken++;
        round->taker = places[i] % size;
        round->taken_ns = at_ns;
    }
    free(places);
    return rounds;
}

/* One thread in each round, and no round begins before the one before it has been left by all. */
static enum taker judge(const struct loop_passes *passes, const bool *taken,
                        const struct thread_pool *pool) {
    size_t n, early = 0, late = 0;
    struct round *rounds = find_rounds(passes, taken, pool, &n);
    bool fits = rounds, same = true;
    for (size_t r = 0; r < n && fits; r++) {
        fits = rounds[r].n_taken == 1 && (r == 0 || rounds[r - 1].last_ns <= rounds[r].first_ns);
        same &= rounds[r].taker == rounds[0].taker;
        early += rounds[r].taken_ns == rounds[r].first_ns;
        late += rounds[r].taken_ns == rounds[r].last_ns;
    }
    free(rounds);
    return !fits ? TAKER_ANY : same ? TAKER_LEADER : early >= late ? TAKER_FIRST : TAKER_LAST;
}

/* ---- one goes another way ---- */

/* A thread leaves a node. */
struct leaving {
    int place; /* node and outcome */
    int edge;
    struct loop_pass pass;
};

struct leavings {
    struct leaving *items;
    size_t count, capacity;
};

static int compare_leavings(const void *a, const void *b) {
    const struct leaving *x = a, *y = b;
    if (x->place != y->place)
        return x->place < y->place ? -1 : 1;
    return (x->pass.at_ns > y->pass.at_ns) - (x->pass.at_ns < y->pass.at_ns);
}

/* By node and outcome: do threads go round a loop from there? The caller frees. */
static bool *find_loops(const struct peg_builder *builder) {
    bool *loops = memory_alloc(builder->nodes.count * N_OUTCOMES, sizeof *loops);
    for (size_t e = 0; e < builder->edges.count; e++) {
        const struct peg_edge *edge = &builder->edges.items[e];
        loops[with_outcome(edge->from, edge->when)] |= !edge->leaves;
    }
    return loops;
}

/* Without those that leave a loop, by place and time. */
static struct leavings find_leavings(struct peg_builder *builder) {
    struct leavings leavings = {0};
    bool *loops = find_loops(builder);
    for (size_t t = 0; t < builder->in->trace->n_threads; t++) {
        const struct stream *stream = &builder->in->streams->streams[t];
        const int *node_of = builder->node_of[t];
        for (size_t s = 0; s + 1 < stream->n_steps; s++) {
            const struct step *step = &stream->steps[s];
            int edge = peg_builder_find_edge(builder, node_of[s], step->outcome, node_of[s + 1]);
            int place = with_outcome(node_of[s], step->outcome);
            if (!builder->edges.items[edge].leaves || !loops[place])
                *VECTOR_ADD(&leavings) = (struct leaving){place, edge, {t, step->end_ns, 0}};
        }
    }
    free(loops);
    if (leavings.count > 0)
        qsort(leavings.items, leavings.count, sizeof *leavings.items, compare_leavings);
    return leavings;
}

/* Does a thread that takes `edge` come to where `other` leads before it is back where both begin?
 */
static bool leads_to(const struct peg_builder *builder, int edge, int other) {
    const struct peg_edge *edges = builder->edges.items;
    bool *reached = natural_loops_way_round(builder, &edges[edge], NULL);
    bool leads = reached[edges[other].to];
    free(reached);
    return leads;
}

/* Of two threads, each goes another way than the other: the one is who goes a way round, to where
 * the other goes at once. */
static bool is_rather(const struct peg_builder *builder, int edge, int found) {
    return found < 0 || (leads_to(builder, edge, found) && !leads_to(builder, found, edge));
}

/* Does the source say that one thread alone comes to where the edge leads, or, not `alone`, all but
 * that one? */
static bool is_said_of(const struct peg_builder *builder, int edge, bool alone) {
    const struct facts *facts = builder->in->facts;
    uint32_t context = builder->nodes.items[builder->edges.items[edge].to].context;
    for (size_t i = 0; facts && i < facts->n_solos; i++)
        if (facts->solos[i].others != alone &&
            source_context_in_solo(builder->in->trace, context, &facts->solos[i]))
            return true;
    return false;
}

/* Is this the edge of one, by the source's word? */
static bool is_told(const struct peg_builder *builder, int edge, const struct leaving *leavings,
                    size_t n) {
    bool others = true;
    for (size_t i = 0; i < n; i++)
        others &= leavings[i].edge == edge || is_said_of(builder, leavings[i].edge, false);
    return others || is_said_of(builder, edge, true);
}

/* Of the leavings of one place, which one edge do all but one thread not take in each round? Its
 * index, or -1. */
static int edge_of_one(const struct peg_builder *builder, const struct leaving *leavings, size_t n,
                       const struct thread_pool *pool, enum taker *taker) {
    bool many = (double)n >= evidence.times_alike * pool->size, told = false;
    struct loop_passes passes = {memory_alloc(n, sizeof *passes.items), n, n};
    bool *taken = memory_alloc(n, sizeof *taken);
    for (size_t i = 0; i < n; i++)
        passes.items[i] = leavings[i].pass;
    int found = -1;
    /* It is taken in the first round, or never. */
    for (size_t i = 0; i < n && i < (size_t)pool->size && !told; i++) {
        int edge = leavings[i].edge;
        size_t count = 0;
        for (size_t j = 0; j < n; j++)
            count += taken[j] = leavings[j].edge == edge;
        enum taker judged =
            count * (size_t)pool->size == n ? judge(&passes, taken, pool) : TAKER_ANY;
        told = judged == TAKER_LEADER && is_told(builder, edge, leavings, n);
        if (judged == TAKER_ANY || edge == found ||
            (!told && (!many || !is_rather(builder, edge, found))))
            continue;
        found = edge;
        *taker = judged;
    }
    free(passes.items);
    free(taken);
    return found;
}

/* Of the leavings of one place: where one thread alone comes to, by the source's word and in the
 * run, but in some of its rounds only, which the model has no word for. NULL: nowhere. */
static const char *place_of_one_at_times(const struct peg_builder *builder,
                                         const struct leaving *leavings, size_t n,
                                         const struct thread_pool *pool) {
    for (size_t i = 0; pool->scales && pool->size > 1 && i < n; i++) {
        if (!is_said_of(builder, leavings[i].edge, true))
            continue;
        size_t alike = 0, rounds = 0;
        for (size_t j = 0; j < n; j++) {
            bool same = leavings[j].pass.thread == leavings[i].pass.thread;
            rounds += same;
            alike += leavings[j].edge == leavings[i].edge;
        }
        if (alike > 1 && alike < rounds)
            return builder->model->nodes[builder->edges.items[leavings[i].edge].to].name;
    }
    return NULL;
}

void single_sections_find_edges(struct peg_builder *builder) {
    struct leavings leavings = find_leavings(builder);
    for (size_t p = 0; p < builder->in->pools->n_pools; p++)
        builder->in->evidence[p].one_at_times = NULL; /* nodes may have been split meanwhile */
    for (size_t i = 0, n; i < leavings.count; i += n) {
        const struct leaving *first = &leavings.items[i];
        for (n = 1; i + n < leavings.count && leavings.items[i + n].place == first->place; n++)
            continue;
        const struct peg_edge *edge = &builder->edges.items[first->edge];
        int pool = builder->nodes.items[edge->from].pool;
        enum taker taker;
        int found = edge_of_one(builder, first, n, &builder->in->pools->pools[pool], &taker);
        if (found >= 0)
            builder->edges.items[found].taker = taker;
        else if (!builder->in->evidence[pool].one_at_times)
            builder->in->evidence[pool].one_at_times =
                place_of_one_at_times(builder, first, n, &builder->in->pools->pools[pool]);
    }
    free(leavings.items);
}

void single_sections_find_nodes(struct peg_builder *builder) {
    natural_loops_find_leaving(builder);
    single_sections_find_edges(builder);
    for (size_t e = 0; e < builder->edges.count; e++)
        if (builder->edges.items[e].taker != TAKER_ANY)
            builder->nodes.items[builder->edges.items[e].from].has_single = true;
}

/* ---- one computes ---- */

/* Marks in `taken` which thread computes most in each round, if that is much and the others do next
 * to nothing. `rest` is how much they do on average, as a share of what the one does. */
static bool find_busy(const struct peg_builder *builder, const struct peg_edge *draft, bool *taken,
                      double *rest) {
    const struct thread_pool *pool = peg_builder_pool_of(builder, draft);
    const double *cpu = draft->cpu_ns.items;
    size_t n = draft->passes.count, size = (size_t)pool->size, n_rounds = n / size;
    size_t *places = loop_passes_numbers(&draft->passes, pool), few = 0;
    if (!places)
        return false;
    size_t *busiest = memory_alloc(n_rounds, sizeof *busiest); /* pass + 1 */
    double all = 0, most = 0;
    for (size_t i = 0; i < n; i++) {
        size_t *best = &busiest[places[i] / size];
        if (*best == 0 || cpu[i] > cpu[*best - 1])
            *best = i + 1;
        all += cpu[i];
    }
    for (size_t r = 0; r < n_rounds; r++) {
        taken[busiest[r] - 1] = true;
        most += cpu[busiest[r] - 1];
    }
    for (size_t r = 0; r < n_rounds; r++)
        few += cpu[busiest[r] - 1] < evidence.single_low * most / (double)n_rounds;
    free(busiest);
    free(places);
    if (most <= 0)
        return false;
    *rest = (all - most) / (double)(n - n_rounds) / (most / (double)n_rounds);
    return *rest <= evidence.single_rest &&
           (double)few <= evidence.unlike_rounds * (double)n_rounds;
}

/* Is it always the pool's creator who does it? */
static bool is_creator(const struct thread_pools *pools, const struct loop_passes *passes,
                       const bool *taken) {
    for (size_t i = 0; i < passes->count; i++)
        if (taken[i] && !thread_pools_is_creators(pools, passes->items[i].thread))
            return false;
    return true;
}

enum taker single_sections_split_cpu(const struct peg_builder *builder, struct peg_edge *draft,
                                     struct values *of_one) {
    const struct thread_pool *pool = peg_builder_pool_of(builder, draft);
    size_t n = draft->cpu_ns.count, kept = 0;
    *of_one = (struct values){0};
    if (pool->size < 2 || n < (size_t)pool->size)
        return TAKER_ANY;
    bool *taken = memory_alloc(n, sizeof *taken);
    enum taker taker = TAKER_ANY;
    double rest = 0;
    if (find_busy(builder, draft, taken, &rest) &&
        ((double)n >= evidence.times_alike * pool->size || rest <= evidence.negligible ||
         is_creator(builder->in->pools, &draft->passes, taken)))
        taker = judge(&draft->passes, taken, pool);
    for (size_t i = 0; i < n && taker != TAKER_ANY; i++)
        if (taken[i])
            *VECTOR_ADD(of_one) = draft->cpu_ns.items[i];
        else
            draft->cpu_ns.items[kept++] = draft->cpu_ns.items[i];
    if (taker != TAKER_ANY)
        draft->cpu_ns.count = kept;
    free(taken);
    return taker;
}
