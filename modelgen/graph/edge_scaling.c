#include "modelgen/graph/edge_scaling.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "modelgen/events/source_correlation.h"
#include "modelgen/evidence.h"
#include "modelgen/graph/intraclass_correlation.h"
#include "modelgen/graph/iteration_partition.h"
#include "modelgen/graph/model_builder.h"
#include "modelgen/graph/natural_loops.h"
#include "modelgen/graph/statement_nodes.h"

/* The pool whose threads the edge's work follows; MODEL_NONE: none. */
static int team_of(const struct peg_builder *builder, const struct peg_edge *draft) {
    const struct thread_pools *pools = builder->in->pools;
    int pool = builder->nodes.items[draft->from].pool;
    return pools->pools[pool].team     ? MODEL_NONE /* partition_rule.c knows */
           : pools->pools[pool].scales ? pool
                                       : peg_builder_busiest_pool(pools);
}

/* Do the edge and both its ends lie inside of the loop? */
static bool is_on_way(const struct peg_builder *builder, const struct peg_edge *draft,
                      const struct facts_loop *loop) {
    const struct trace *trace = builder->in->trace;
    const struct peg_node_values *nodes = builder->nodes.items;
    bool inside = source_context_in_loop(trace, nodes[draft->from].context, loop) &&
                  source_context_in_loop(trace, nodes[draft->to].context, loop);
    for (size_t i = 0; i < draft->between.count && inside; i++)
        inside = source_context_in_loop(trace, draft->between.items[i], loop);
    return inside;
}

static const struct facts_loop *common_loop(const struct peg_builder *builder,
                                            const struct peg_edge *draft, size_t *index);

/* If the edge leads from one number of an ordered hand-over to the next: the loop whose rounds are
 * the steps of one number. It contains both ends, but the edge leads out of it and in again. NULL:
 * none. */
static const struct facts_loop *loop_of_steps(const struct peg_builder *builder,
                                              const struct peg_edge *draft) {
    const struct node *nodes = builder->model->nodes;
    if (nodes[draft->from].kind != NODE_PASS || nodes[draft->to].kind != NODE_DRAW)
        return NULL;
    for (size_t e = 0; e < builder->edges.count; e++) {
        const struct peg_edge *step = &builder->edges.items[e];
        size_t index;
        if (nodes[step->from].kind == NODE_ADVANCE &&
            nodes[step->from].object == nodes[draft->from].object &&
            nodes[step->to].kind != NODE_PASS)
            return common_loop(builder, step, &index);
    }
    return NULL;
}

/* The innermost loop of the source that the edge stays in; NULL none. A loop of a function that the
 * other loop calls is further in, however many lines either has. */
static const struct facts_loop *common_loop(const struct peg_builder *builder,
                                            const struct peg_edge *draft, size_t *index) {
    const struct facts_loop *steps = loop_of_steps(builder, draft);
    uint32_t from = builder->nodes.items[draft->from].context;
    const struct facts *facts = builder->in->facts;
    const struct facts_loop *best = NULL;
    int best_calls = 0;
    for (size_t l = 0; facts && l < facts->n_loops; l++) {
        const struct facts_loop *loop = &facts->loops[l];
        if (!is_on_way(builder, draft, loop) || loop == steps)
            continue;
        int calls = source_calls_from_loop(builder->in->trace, from, loop);
        bool smaller = !best || calls < best_calls ||
                       (calls == best_calls &&
                        loop->last_line - loop->first_line < best->last_line - best->first_line);
        if (smaller) {
            best = loop;
            best_calls = calls;
            *index = l;
        }
    }
    return best;
}

static struct source source_of(const struct peg_builder *builder) {
    return (struct source){builder->in->trace, builder->in->facts, builder->in->sample,
                           builder->loop_is_visible};
}

/* Are the loop's rounds shared out among the threads: by these, or by a creator who makes them anew
 * in each round, fewer rounds with more threads? */
static bool shares_rounds(const struct peg_builder *builder, int pool, int team,
                          const struct facts_loop *loop) {
    const struct thread_pools *pools = builder->in->pools;
    if (pools->pools[pool].scales)
        return true;
    uint32_t made_at = pools->pools[team].creation_context;
    return loop->bound == BOUND_SHARE && made_at != TRACE_NO_CONTEXT &&
           source_context_in_loop(builder->in->trace, made_at, loop);
}

/* Does the loop make all threads of a pool of which only so many live at a time? How many these
 * are, or may be, does not tell how often it goes round. */
static bool makes_all(const struct peg_builder *builder, int team, const struct facts_loop *loop) {
    const struct thread_pool *pool = &builder->in->pools->pools[team];
    return pool->limit && pool->creation_context != TRACE_NO_CONTEXT &&
           source_context_in_loop(builder->in->trace, pool->creation_context, loop);
}

/* Does the answer that ends the loop decide where the edge's threads go round or leave? Not where
 * they come once to the loop and do so at another place, by as many rounds as they made. */
static bool is_told_by_answer(const struct peg_builder *builder, const struct peg_edge *draft,
                              size_t loop) {
    const struct peg_node_values *from = &builder->nodes.items[draft->from];
    bool once = from->passes.count == builder->in->pools->pools[from->pool].n_threads;
    return builder->in->streams->loop_has_answer[loop] && (draft->when != OUTCOME_ANY || !once);
}

/* How the number of rounds of the loop that the edge stays in, `in_loop`, follows the
 * threads. `told` is who gets what of them. */
static struct scaling scale_rounds(const struct peg_builder *builder, const struct peg_edge *draft,
                                   int team, const struct facts_loop **in_loop, enum rest *told) {
    struct scaling scaling = {.pool = MODEL_NONE};
    const struct peg_node_values *from = &builder->nodes.items[draft->from];
    size_t index = 0;
    const struct facts_loop *loop = *in_loop = common_loop(builder, draft, &index);
    const struct stream_result *streams = builder->in->streams;
    if (!loop || streams->loop_is_tokens[from->pool][index] || makes_all(builder, team, loop) ||
        (loop->bound == BOUND_SHARE && !builder->loop_is_visible[index]))
        return scaling;
    bool drained = loop->bound == BOUND_SHARED && !is_told_by_answer(builder, draft, index);
    if ((loop->bound == BOUND_SHARE || drained) && shares_rounds(builder, from->pool, team, loop))
        scaling.share = 1;
    else if (loop->bound == BOUND_THREADS)
        scaling.growth = 1;
    if (scaling.share == 0 && scaling.growth == 0)
        return scaling;
    struct source source = source_of(builder);
    if (loop->bound == BOUND_SHARE)
        *told = source_rest(&source, loop, from->context);
    scaling.pool = team;
    scaling.less = 1; /* the last round does not stay */
    return scaling;
}

/* `rounds` of a loop over the threads that has some more, or less, if these are as many as the
 * source tells: `stays` are those after which there is another one. */
static struct scaling with_offset(const struct peg_builder *builder, const struct facts_loop *loop,
                                  struct scaling rounds, const struct dist *stays) {
    if (rounds.growth <= 0 || loop->factor <= 0)
        return rounds;
    double counted = loop->factor * builder->in->pools->pools[rounds.pool].size;
    if (lround(dist_mean(stays) + 1) != lround(counted + loop->offset))
        return rounds;
    if (loop->offset > 0)
        rounds.growth = counted / (counted + loop->offset);
    else
        rounds.less -= loop->offset;
    return rounds;
}

/* In what whole items the rounds of `passes` are shared out among the pool's own threads. That so
 * few come out evenly, of which the source says nothing, is chance. */
static void share_items(const struct peg_builder *builder, int pool,
                        const struct loop_passes *passes, enum rest told, struct scaling *scaling) {
    const struct thread_pool *team = &builder->in->pools->pools[pool];
    if (!team->scales)
        return;
    struct iteration_partition_fit fit = iteration_partition_fit(passes, team, told);
    bool is_chance = scaling->share == 0 && told == REST_NONE && fit.rest != REST_NONE &&
                     fit.uneven && fit.total < evidence.times_seen * team->size;
    if (is_chance)
        return;
    iteration_partition_note(&builder->in->evidence[pool], &fit);
    if (fit.rest == REST_NONE)
        return;
    scaling->rest = fit.rest;
    scaling->total = fit.total;
    scaling->pool = pool;
}

/* The demand as it would be if the items had divided evenly. */
static void even_out(const struct peg_builder *builder, struct peg_edge *draft,
                     const struct scaling *scaling) {
    if (scaling->rest == REST_NONE)
        return;
    double share = builder->in->facts ? scaling->share : 1;
    double items = scaling->total / builder->in->pools->pools[scaling->pool].size;
    for (size_t i = 0; i < draft->cpu_ns.count; i++)
        draft->cpu_ns.items[i] /= 1 - share + share * draft->passes.items[i].rounds / items;
}

/* Does this come once for each piece of work, or for all threads together? */
static bool tells_rounds(enum node_kind kind) {
    return kind == NODE_GET || kind == NODE_ACQUIRE || kind == NODE_DRAW || kind == NODE_COLLECT ||
           kind == NODE_WAIT || kind == NODE_BARRIER || kind == NODE_STATEMENTS;
}

/* What tells how many rounds a loop makes of which the source does not tell who ends it. */
enum teller {
    TOLD_BY_NOTHING,
    TOLD_BY_PIECES,   /* its threads take or wait for something in its rounds */
    TOLD_BY_MEETINGS, /* they meet there: all make equally many */
};

static enum teller teller_of(const struct peg_builder *builder, int pool,
                             const struct facts_loop *loop) {
    enum teller teller = TOLD_BY_NOTHING;
    for (size_t n = 0; n < builder->nodes.count && teller != TOLD_BY_MEETINGS; n++) {
        enum node_kind kind = builder->model->nodes[n].kind;
        if (builder->nodes.items[n].pool == pool && tells_rounds(kind) &&
            source_context_in_loop(builder->in->trace, builder->nodes.items[n].context, loop))
            teller = kind == NODE_BARRIER ? TOLD_BY_MEETINGS : TOLD_BY_PIECES;
    }
    return teller;
}

static bool is_untold(const struct facts_loop *loop) {
    return loop->bound == BOUND_UNKNOWN && !loop->waits;
}

/* Does neither the source tell who ends the loop, nor what the pool's threads do in its rounds? */
static bool is_undecided(const struct peg_builder *builder, int pool,
                         const struct facts_loop *loop) {
    return is_untold(loop) && teller_of(builder, pool, loop) == TOLD_BY_NOTHING;
}

static double sum(const struct values *values) {
    double sum = 0;
    for (size_t i = 0; i < values->count; i++)
        sum += values->items[i];
    return sum;
}

/* Adds the edge's computation to the pool's evidence. */
static void note_computation(const struct peg_builder *builder, const struct peg_edge *draft,
                             const struct scaling *scaling) {
    int pool = builder->nodes.items[draft->from].pool;
    struct partition_evidence *evidence = &builder->in->evidence[pool];
    double cpu_ns = sum(&draft->cpu_ns);
    evidence->cpu_ns += cpu_ns;
    size_t index = 0;
    const struct facts_loop *loop = scaling->share > 0 ? NULL : common_loop(builder, draft, &index);
    if (!loop || !is_untold(loop))
        return;
    enum teller teller = teller_of(builder, pool, loop);
    if (teller == TOLD_BY_PIECES) {
        evidence->by_pieces_ns += cpu_ns;
        evidence->by_pieces = loop;
    }
    if (teller != TOLD_BY_NOTHING)
        return;
    evidence->undecided_ns += cpu_ns;
    if (cpu_ns > evidence->most_undecided_ns) {
        evidence->most_undecided_ns = cpu_ns;
        evidence->undecided = loop;
    }
}

/* Loops may lie between the pool's calls, so that only the samples tell of them. */
void edge_scaling_note_hidden(const struct peg_builder *builder, int pool) {
    const struct facts *facts = builder->in->facts;
    struct partition_evidence *evidence = &builder->in->evidence[pool];
    bool matters = facts && builder->in->pools->pools[pool].scales;
    for (size_t l = 0; matters && l < facts->n_loops; l++) {
        if (builder->loop_is_visible[l] || !is_undecided(builder, pool, &facts->loops[l]))
            continue;
        const char *root = builder->in->pools->pools[pool].start_routine;
        double share = source_sampled_share(builder->in->sample, root, &facts->loops[l]);
        if (share > evidence->hidden_share) {
            evidence->hidden_share = share;
            evidence->hidden = &facts->loops[l];
        }
    }
}

/* Is it in a round of a loop of which there are fewer with more threads? Such a round is about as
 * many items as there are threads, or a multiple of them. */
static bool is_in_shared_rounds(const struct peg_builder *builder, const struct peg_edge *draft,
                                int team) {
    size_t index = 0;
    const struct facts_loop *loop = common_loop(builder, draft, &index);
    int pool = builder->nodes.items[draft->from].pool;
    return loop && loop->bound == BOUND_SHARE && pool != team && builder->loop_is_visible[index] &&
           shares_rounds(builder, pool, team, loop);
}

/* Each further thread takes as much to create, if the step before makes the team's threads. */
static void grow_with_creations(const struct peg_builder *builder, const struct peg_edge *draft,
                                int team, struct scaling *scaling) {
    double cpu_ns = sum(&draft->cpu_ns);
    const struct thread_pool *created = &builder->in->pools->pools[team];
    if (draft->creating_ns <= 0 || cpu_ns <= 0 || !created->scales || created->per_task ||
        builder->model->nodes[draft->from].target_pool != team)
        return;
    scaling->growth = fmax(scaling->growth, fmin(draft->creating_ns / cpu_ns, 1));
    scaling->share = fmin(scaling->share, 1 - scaling->growth);
    scaling->pool = team;
}

/* How often threads got what they asked for at the node. */
static double count_taken(const struct peg_builder *builder, int node) {
    double taken = 0;
    for (size_t e = 0; e < builder->edges.count; e++) {
        const struct peg_edge *edge = &builder->edges.items[e];
        taken += edge->from == node && edge->when == OUTCOME_YES ? edge->decisions : 0;
    }
    return taken;
}

/* Which loop's supply does the node take from? NULL: none. */
static const struct facts_loop *supplied_loop(const struct peg_builder *builder,
                                              const struct peg_edge *draft) {
    const struct facts *facts = builder->in->facts;
    const struct peg_node_values *from = &builder->nodes.items[draft->from];
    for (size_t l = 0; facts && l < facts->n_loops; l++)
        if (builder->in->streams->loop_is_tokens[from->pool][l] &&
            source_context_in_loop(builder->in->trace, from->context, &facts->loops[l]))
            return &facts->loops[l];
    return NULL;
}

/* Rounds of a loop that its threads share may make no call, as where each table is made by whoever
 * needs it first. When the last call has been made, the others are still to be shared out. The
 * share of what `draft` computes that these are, by the samples in the loop: a thread's own work
 * behind the loop is none of it. */
static double share_of_silent_rounds(const struct peg_builder *builder,
                                     const struct peg_edge *draft) {
    const struct node *from = &builder->model->nodes[draft->from];
    const struct thread_pool *pool = peg_builder_pool_of(builder, draft);
    if (!pool->scales || from->kind != NODE_ACQUIRE || draft->when != OUTCOME_NO)
        return 0;
    const struct facts_loop *loop = supplied_loop(builder, draft);
    if (!loop)
        return 0;
    double all_ns = pool->cpu_ns, cpu_ns = sum(&draft->cpu_ns);
    double round_ns = (all_ns - cpu_ns) / fmax(count_taken(builder, draft->from), 1);
    if (cpu_ns < evidence.matters * all_ns ||
        cpu_ns < evidence.much_longer * round_ns * (double)pool->n_threads)
        return 0;
    double inside = source_sampled_share(builder->in->sample, pool->start_routine, loop);
    double share = 1 - (1 - inside) * all_ns / cpu_ns;
    return share > evidence.majority ? share : 0;
}

/* The fragment whose page faults the node is; NULL: it is something else. */
static const struct fault_fragment *faults_at(const struct peg_builder *builder, int node) {
    return page_faults_fragment(builder->in->faults, builder->nodes.items[node].context);
}

/* What is computed from one page fault to the next is as much, however many there are. Else it is a
 * part of what lies between calls. */
static struct source_split split_of(const struct peg_builder *builder,
                                    const struct peg_edge *draft) {
    const struct fault_fragment *from = faults_at(builder, draft->from);
    const struct fault_fragment *to = faults_at(builder, draft->to);
    if (from && from == to)
        return (struct source_split){.rest = REST_NONE};
    struct source source = source_of(builder);
    struct source_split split =
        source_split_between(&source, peg_builder_pool_of(builder, draft)->start_routine,
                             from ? from->before : builder->nodes.items[draft->from].context,
                             to ? to->after : builder->nodes.items[draft->to].context);
    split.shared &= !from && !to; /* the faults are shared out */
    return split;
}

struct scaling edge_scaling_cpu(const struct peg_builder *builder, struct peg_edge *draft) {
    int team = team_of(builder, draft);
    const struct peg_node_values *from = &builder->nodes.items[draft->from];
    const struct thread_pool *pool = &builder->in->pools->pools[from->pool];
    struct scaling scaling = {.pool = MODEL_NONE};
    if (team == MODEL_NONE)
        return scaling;
    struct source_split split = split_of(builder, draft);
    scaling.share = pool->scales ? split.share : 0;
    scaling.growth = split.may_grow && is_in_shared_rounds(builder, draft, team) ? 1 : split.growth;
    if (scaling.share > 0 || scaling.growth > 0)
        scaling.pool = team;
    grow_with_creations(builder, draft, team, &scaling);
    bool has_faults = faults_at(builder, draft->from) || faults_at(builder, draft->to);
    if (!has_faults && (scaling.share > 0 || !builder->in->facts))
        share_items(builder, from->pool, &draft->passes, split.rest, &scaling);
    even_out(builder, draft, &scaling);
    double silent = scaling.pool == MODEL_NONE ? share_of_silent_rounds(builder, draft) : 0;
    if (silent > 0)
        scaling = (struct scaling){.share = silent, .pool = team};
    draft->self_scheduled = split.shared;
    /* Of threads that wait for cores some take more than others, which nobody waits for. */
    if (scaling.share > 0 && split.shared && pool->size > builder->model->machine.cores)
        intraclass_correlation_even_out(builder, draft);
    note_computation(builder, draft, &scaling);
    return scaling;
}

/* Do threads that go round by this edge take work on the way? */
static bool takes_on_way(const struct peg_builder *builder, const struct peg_edge *draft) {
    bool *reached = natural_loops_way_round(builder, draft, NULL), takes = false;
    for (size_t n = 0; n < builder->nodes.count && reached[draft->from] && !takes; n++) {
        enum node_kind kind = builder->model->nodes[n].kind;
        takes = reached[n] && (kind == NODE_GET || kind == NODE_ACQUIRE || kind == NODE_DRAW ||
                               kind == NODE_STATEMENTS);
    }
    free(reached);
    return takes;
}

/* Does the source show the edge in a loop over what is each thread's part, and not in one over what
 * they take? */
static bool is_in_part(const struct peg_builder *builder, const struct peg_edge *draft) {
    const struct facts *facts = builder->in->facts;
    bool part = false, taken = false;
    for (size_t l = 0; facts && l < facts->n_loops; l++) {
        const struct facts_loop *loop = &facts->loops[l];
        if (loop->bound != BOUND_SHARE && loop->bound != BOUND_SHARED)
            continue;
        bool inside = is_on_way(builder, draft, loop);
        part |= inside && loop->bound == BOUND_SHARE;
        taken |= inside && loop->bound == BOUND_SHARED;
    }
    return part && !taken;
}

bool edge_scaling_is_split(const struct peg_builder *builder, const struct peg_edge *draft,
                           const struct scaling *scaling) {
    const struct thread_pool *pool = peg_builder_pool_of(builder, draft);
    if (!pool->scales || pool->divides_work || draft->self_scheduled)
        return false;
    if (pool->team)
        return pool->team->splits && !takes_on_way(builder, draft);
    return scaling->share > evidence.majority || is_in_part(builder, draft);
}

/* Does the edge lead back to its node without leaving the loop? A way out may begin inside of it.
 */
static bool goes_round(const struct peg_builder *builder, const struct peg_edge *draft,
                       const struct facts_loop *loop) {
    bool *reached = natural_loops_way_round(builder, draft, loop);
    bool round = reached[draft->from];
    free(reached);
    return round;
}

/* Does the edge go round a loop inside of the one that the node's other ways stay in? Else its runs
 * are but one of several ways round the same loop, by whatever answer, whose rounds are counted by
 * the stays. */
static bool is_inner_loop(const struct peg_builder *builder, const struct peg_edge *draft) {
    size_t index = 0, other = 0;
    const struct facts_loop *loop = common_loop(builder, draft, &index);
    if (!loop || !goes_round(builder, draft, loop))
        return false;
    for (size_t e = 0; e < builder->edges.count; e++) {
        const struct peg_edge *edge = &builder->edges.items[e];
        if (edge == draft || edge->from != draft->from || edge->leaves)
            continue;
        if (common_loop(builder, edge, &other) && other == index && goes_round(builder, edge, loop))
            return false;
    }
    return true;
}

/* Does another pool do this with the object? */
static bool does_another(const struct peg_builder *builder, int pool, enum node_kind kind,
                         int object) {
    for (size_t n = 0; n < builder->nodes.count; n++)
        if (builder->model->nodes[n].kind == kind && builder->model->nodes[n].object == object &&
            builder->nodes.items[n].pool != pool)
            return true;
    return false;
}

/* Does a thread that goes this way do another of numbered pieces of work before it comes here
 * again: one that goes through equal steps, or whose result others fetch? */
static bool does_next_piece(const struct peg_builder *builder, const struct peg_edge *draft) {
    const struct peg_node_values *values = builder->nodes.items;
    if (values[draft->from].phase > 0)
        return false; /* inside of one */
    bool *reached = natural_loops_way_round(builder, draft, NULL), found = false;
    for (size_t n = 0; n < builder->nodes.count && reached[draft->from] && !found; n++) {
        const struct node *node = &builder->model->nodes[n];
        found = reached[n] && (values[n].phase > 0 ||
                               (node->kind == NODE_DRAW &&
                                does_another(builder, values[n].pool, NODE_COLLECT, node->object)));
    }
    free(reached);
    return found;
}

/* Is this where each thread of the pool goes round once, taking what others put into a queue, or
 * the next of numbered pieces of work? More threads find no more there. */
static bool is_shared_supply(const struct peg_builder *builder, const struct peg_edge *draft) {
    const struct peg_node_values *values = &builder->nodes.items[draft->from];
    const struct thread_pool *pool = &builder->in->pools->pools[values->pool];
    const struct node *get = &builder->model->nodes[draft->from];
    if (!pool->scales || values->passes.count != pool->n_threads)
        return false;
    if (does_next_piece(builder, draft))
        return true;
    return get->kind == NODE_GET
               ? does_another(builder, values->pool, NODE_PUT, get->object)
               : get->kind == NODE_STATEMENTS &&
                     statement_nodes_are_handed(builder->model, (size_t)draft->from);
}

static bool gives(enum node_kind kind) {
    return kind == NODE_RELEASE || kind == NODE_PUT;
}

/* Did each thread of the node's pool pass it exactly once? */
static bool is_passed_once(const struct peg_builder *builder, size_t n) {
    const struct thread_pool *pool = &builder->in->pools->pools[builder->nodes.items[n].pool];
    size_t n_positions, *position = loop_passes_positions(pool, &n_positions), n_passed = 0;
    bool once = pool->scales;
    for (size_t e = 0; e < builder->edges.count; e++) {
        const struct peg_edge *edge = &builder->edges.items[e];
        for (size_t i = 0; once && edge->from == (int)n && i < edge->passes.count; i++) {
            size_t thread = edge->passes.items[i].thread;
            once = thread < n_positions && position[thread] > 0;
            if (once)
                position[thread] = 0; /* it has been here */
            n_passed++;
        }
    }
    free(position);
    return once && n_passed == pool->n_threads;
}

/* The pool of which each thread gives one of what this node, and no other, takes as often as there
 * are such threads: a start-up handshake, or an answer of each. MODEL_NONE: none. */
static int takes_one_of_each(const struct peg_builder *builder, int taker,
                             const struct node *node) {
    if (node->kind != NODE_ACQUIRE && node->kind != NODE_GET)
        return MODEL_NONE;
    int giver = MODEL_NONE;
    const struct linear *amount = &builder->model->objects[node->object].amount;
    bool empty = node->kind == NODE_GET || (amount->base == 0 && amount->n_terms == 0);
    for (size_t n = 0; n < builder->nodes.count && empty; n++) {
        const struct node *other = &builder->model->nodes[n];
        if (other->object != node->object || (int)n == taker)
            continue;
        if (!gives(other->kind) || giver != MODEL_NONE || !is_passed_once(builder, n))
            return MODEL_NONE;
        giver = builder->nodes.items[n].pool;
    }
    if (giver == MODEL_NONE || giver == builder->nodes.items[taker].pool)
        return MODEL_NONE;
    return lround(dist_mean(&node->stays)) + 1 == builder->in->pools->pools[giver].size
               ? giver
               : MODEL_NONE;
}

/* The pool of which so many may live at a time as there are permits, of which this node takes all,
 * one by one: it waits until none lives. MODEL_NONE: none. */
static int takes_all_permits(const struct peg_builder *builder, const struct node *node) {
    if (node->kind != NODE_ACQUIRE)
        return MODEL_NONE;
    const struct linear *amount = &builder->model->objects[node->object].amount;
    int pool = amount->n_terms == 1 ? amount->terms[0].pool : MODEL_NONE;
    return pool != MODEL_NONE && builder->in->pools->pools[pool].limit &&
                   lround(dist_mean(&node->stays)) + 1 == builder->in->pools->pools[pool].size
               ? pool
               : MODEL_NONE;
}

/* Who has more time takes more of what is shared out, so that all get done together. */
static void level(struct dist *dist) {
    double mean = dist_mean(dist);
    free(dist->values);
    *dist = (struct dist){.kind = mean > 0 ? DIST_CONSTANT : DIST_NONE, .mean = mean};
}

/* Does the edge, which is of page faults, lead to another one between the same calls? */
static bool stays_in_fragment(const struct peg_builder *builder, const struct peg_edge *edge) {
    return faults_at(builder, edge->from) == faults_at(builder, edge->to);
}

/* Are other ways than to another fault between the same calls no ways out of the loop? */
static bool goes_on_inside(const struct peg_builder *builder, int node) {
    bool inside = false;
    for (size_t e = 0; e < builder->edges.count; e++) {
        const struct peg_edge *edge = &builder->edges.items[e];
        inside |= edge->from == node && !edge->leaves && !stays_in_fragment(builder, edge);
    }
    return inside;
}

/* Of a node of page faults: sets how often there is another one, as what is computed
 * between the calls around them follows the threads. False: as the loops do that these are in. */
static bool scale_faults(const struct peg_builder *builder, const struct peg_edge *draft, int team,
                         struct node *node, struct edge *edge) {
    const struct fault_fragment *faults = faults_at(builder, draft->from);
    const struct thread_pool *pool = peg_builder_pool_of(builder, draft);
    if (!faults || !pool->scales)
        return false;
    struct source source = source_of(builder);
    struct source_split split =
        source_split_between(&source, pool->start_routine, faults->before, faults->after);
    if (split.share <= 0 && split.growth <= 0)
        return false;
    struct scaling rounds = {.pool = team, .share = split.share, .growth = split.growth, .less = 1};
    if (edge->runs.kind != DIST_NONE && stays_in_fragment(builder, draft) &&
        goes_on_inside(builder, draft->from))
        edge->runs_scaling = rounds;
    if (node->stays.kind == DIST_NONE)
        return true;
    node->stays_scaling = rounds;
    if (split.shared)
        level(&node->stays);
    return true;
}

void edge_scaling_stays(const struct peg_builder *builder, const struct peg_edge *draft,
                        struct node *node, struct edge *edge) {
    int team = team_of(builder, draft);
    const struct peg_node_values *from = &builder->nodes.items[draft->from];
    edge->runs_scaling.pool = MODEL_NONE;
    if (team == MODEL_NONE || draft->leaves || scale_faults(builder, draft, team, node, edge))
        return;
    enum rest told = REST_NONE;
    const struct facts_loop *loop;
    struct scaling rounds = scale_rounds(builder, draft, team, &loop, &told);
    if (edge->runs.kind != DIST_NONE && is_inner_loop(builder, draft))
        edge->runs_scaling = with_offset(builder, loop, rounds, &edge->runs);
    if (node->stays.kind == DIST_NONE)
        return;
    int giver = MODEL_NONE;
    if (rounds.pool == MODEL_NONE && !loop)
        giver = takes_one_of_each(builder, draft->from, node);
    if (rounds.pool == MODEL_NONE && giver == MODEL_NONE)
        giver = takes_all_permits(builder, node);
    if (giver != MODEL_NONE) {
        node->stays_scaling = (struct scaling){.pool = giver, .growth = 1, .less = 1};
        return;
    }
    if (rounds.pool == MODEL_NONE && is_shared_supply(builder, draft))
        rounds = (struct scaling){.pool = team, .share = 1};
    else if (!faults_at(builder, draft->from) && (rounds.share > 0 || !builder->in->facts))
        share_items(builder, from->pool, &from->passes, told, &rounds);
    if (rounds.pool != MODEL_NONE)
        node->stays_scaling = with_offset(builder, loop, rounds, &node->stays);
    if (rounds.share > 0 && rounds.rest != REST_NONE)
        model_builder_even_out(&node->stays, &rounds, builder->in->pools->pools[from->pool].size);
}
