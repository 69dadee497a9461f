#include "modelgen/graph/natural_loops.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "modelgen/events/source_correlation.h"
#include "modelgen/evidence.h"

/* ---- how loops end ---- */

/* Where the edges from node a lead to: targets[first[a]] up to targets[first[a + 1]]. */
struct ways {
    size_t *first;
    int *targets;
};

static struct ways find_ways(const struct peg_builder *builder) {
    size_t n = builder->model->n_nodes, n_edges = builder->edges.count;
    struct ways ways = {memory_alloc(n + 2, sizeof *ways.first),
                        memory_alloc(n_edges, sizeof *ways.targets)};
    for (size_t e = 0; e < n_edges; e++)
        ways.first[builder->edges.items[e].from + 2]++;
    for (size_t a = 2; a < n + 2; a++)
        ways.first[a] += ways.first[a - 1];
    for (size_t e = 0; e < n_edges; e++)
        ways.targets[ways.first[builder->edges.items[e].from + 1]++] = builder->edges.items[e].to;
    return ways;
}

/* can_reach[a * n + b]: the graph leads from node a to node b. */
static bool *find_reachable(const struct peg_builder *builder) {
    size_t n = builder->model->n_nodes;
    bool *can_reach = memory_alloc(n * n, sizeof *can_reach);
    int *stack = memory_alloc(n, sizeof *stack);
    struct ways ways = find_ways(builder);
    for (size_t start = 0; start < n; start++) {
        size_t depth = 0;
        bool *seen = can_reach + start * n;
        stack[depth++] = (int)start;
        while (depth > 0) {
            int node = stack[--depth];
            for (size_t w = ways.first[node]; w < ways.first[node + 1]; w++) {
                if (seen[ways.targets[w]])
                    continue;
                seen[ways.targets[w]] = true;
                stack[depth++] = ways.targets[w];
            }
        }
    }
    free(ways.first);
    free(ways.targets);
    free(stack);
    return can_reach;
}

/* Removes steps [from, to) of a thread; their probes count for the step after. */
static void remove_steps(struct peg_builder *builder, size_t t, size_t from, size_t to) {
    struct stream *stream = &builder->in->streams->streams[t];
    int *node_of = builder->node_of[t];
    for (size_t s = from; s < to; s++)
        stream->steps[to].records += stream->steps[s].records + stream->steps[s].left_out;
    size_t rest = stream->n_steps - to;
    memmove(&stream->steps[from], &stream->steps[to], rest * sizeof *stream->steps);
    memmove(&node_of[from], &node_of[to], rest * sizeof *node_of);
    stream->n_steps = from + rest;
}

/* The only other pool that takes from the queue; -1: none, or several, or not only one thread puts.
 */
static int consumers_of(const struct peg_builder *builder, size_t producer, int queue) {
    const struct thread_pools *pools = builder->in->pools;
    int own = pools->pool_of[producer], consumers = -1;
    for (size_t n = 0; n < builder->nodes.count; n++) {
        const struct node *node = &builder->model->nodes[n];
        int pool = builder->nodes.items[n].pool;
        if (node->object != queue || (node->kind != NODE_PUT && node->kind != NODE_GET))
            continue;
        bool may = node->kind == NODE_PUT ? pool == own && pools->pools[own].n_threads == 1
                                          : pool != own && (consumers < 0 || consumers == pool);
        if (!may)
            return -1;
        consumers = node->kind == NODE_GET ? pool : consumers;
    }
    return consumers;
}

static bool joins_later(const struct stream *stream, size_t from, int pool) {
    for (size_t s = from; s < stream->n_steps; s++)
        if (stream->steps[s].kind == NODE_JOIN && stream->steps[s].target_pool == pool)
            return true;
    return false;
}

/* Puts another step in the place of step `s`. */
static struct step *replace_step(struct peg_builder *builder, size_t t, size_t s,
                                 enum node_kind kind, const struct step *like) {
    struct step *step = &builder->in->streams->streams[t].steps[s];
    size_t records = step->records;
    *step = step_new(kind, like->end_ns, like->end_ns, like->context);
    step->records = records;
    return step;
}

/* Who is about to end the program waits for what he has put and others have not done yet, whatever
 * he does meanwhile: for the end of those who take it, who find nothing more. Gives the number of
 * steps between the last put and `out` that this needs. */
static size_t wait_for_consumers(struct peg_builder *builder, size_t t, size_t last, size_t out) {
    struct stream *stream = &builder->in->streams->streams[t];
    const struct step put = stream->steps[last];
    int consumers = consumers_of(builder, t, put.use.object);
    if (consumers < 0 || out < last + 3 || joins_later(stream, out, consumers))
        return 0;
    struct step *close = replace_step(builder, t, last + 1, NODE_CLOSE, &put);
    close->use.object = put.use.object;
    struct step *join = replace_step(builder, t, last + 2, NODE_JOIN, &put);
    join->target_pool = consumers;
    int pool = builder->in->pools->pool_of[t];
    builder->node_of[t][last + 1] = peg_builder_new_node(builder, close, pool);
    builder->node_of[t][last + 2] = peg_builder_new_node(builder, join, pool);
    return 2;
}

/* A loop that produces work and retries failed attempts goes round more or less often with
 * other numbers of threads; what stays the same is how much it produces. So it ends with its last
 * put: what the thread did in the loop after that (waiting for what is still under way) is taken
 * out, and the put becomes the place that leaves the loop. `can_reach` is of the first `n` nodes.
 */
static void end_loop_with_last_put(struct peg_builder *builder, size_t t, const bool *can_reach,
                                   size_t n) {
    struct stream *stream = &builder->in->streams->streams[t];
    const int *node_of = builder->node_of[t];
    size_t last = stream->n_steps;
    bool retries = false;
    for (size_t s = 0; s < stream->n_steps; s++)
        retries |= stream->steps[s].retrying;
    for (size_t s = stream->n_steps; retries && s-- > 0;)
        if (step_amount(&stream->steps[s]).settles &&
            can_reach[(size_t)node_of[s] * n + (size_t)node_of[s]]) {
            last = s;
            break;
        }
    if (last == stream->n_steps)
        return;
    size_t out = last + 1;
    while (out < stream->n_steps && can_reach[(size_t)node_of[out] * n + (size_t)node_of[last]])
        out++;
    if (out < stream->n_steps && out > last + 1)
        remove_steps(builder, t, last + 1 + wait_for_consumers(builder, t, last, out), out);
}

void natural_loops_find_ends(struct peg_builder *builder) {
    peg_builder_find_edges(builder);
    bool *can_reach = find_reachable(builder);
    size_t n_nodes = builder->model->n_nodes;
    for (size_t t = 0; t < builder->in->trace->n_threads; t++)
        end_loop_with_last_put(builder, t, can_reach, n_nodes);
    free(can_reach);
    natural_loops_find_leaving(builder);
}

void natural_loops_find_leaving(struct peg_builder *builder) {
    peg_builder_find_edges(builder);
    bool *can_reach = find_reachable(builder);
    for (size_t e = 0; e < builder->edges.count; e++) {
        struct peg_edge *edge = &builder->edges.items[e];
        edge->leaves = !can_reach[(size_t)edge->to * builder->model->n_nodes + (size_t)edge->from];
    }
    free(can_reach);
}

/* ---- loops of the source ---- */

/* CPU time spent in the loop's lines and what they call, by the samples; 0 without any. */
static double sampled_cpu(const struct peg_builder *builder, const struct facts_loop *loop) {
    double cpu_ns = 0;
    for (size_t t = 0; t < builder->in->trace->n_threads; t++)
        cpu_ns +=
            thread_states_cpu(&builder->in->timelines[t], builder->in->trace->threads[t].end_ns);
    return source_sampled_share(builder->in->sample, NULL, loop) * cpu_ns;
}

/* Is most of the work of a loop done in one lump behind the last call in it? Then it is not its
 * rounds that are shared out: a loop inside, which has no calls, moves on through the share. */
static bool works_in_a_lump(const struct peg_builder *builder, const struct facts_loop *loop) {
    double rounds = 0, between_ns = 0, lumps = 0, lump_ns = 0;
    for (size_t t = 0; t < builder->in->trace->n_threads; t++) {
        const struct stream *stream = &builder->in->streams->streams[t];
        size_t first = stream->n_steps, last = 0, calls = 0;
        for (size_t s = 0; s < stream->n_steps; s++)
            if (source_context_in_loop(builder->in->trace, stream->steps[s].context, loop)) {
                first = calls++ ? first : s;
                last = s;
            }
        if (calls < 2 || last + 1 == stream->n_steps)
            continue;
        const struct thread_states *timeline = &builder->in->timelines[t];
        double at_last = thread_states_cpu(timeline, stream->steps[last].start_ns);
        between_ns += at_last - thread_states_cpu(timeline, stream->steps[first].start_ns);
        lump_ns += thread_states_cpu(timeline, stream->steps[last + 1].start_ns) - at_last;
        rounds += (double)calls - 1;
        lumps++;
    }
    return lump_ns > between_ns && lump_ns / lumps > evidence.much_longer * between_ns / rounds &&
           sampled_cpu(builder, loop) > between_ns + lump_ns / 2;
}

/* Which loops of the source the graph has steps in that come again, and in which calls a round of
 * another loop shows, whose rounds may be shared out. */
void natural_loops_find_visible(struct peg_builder *builder) {
    const struct trace *trace = builder->in->trace;
    const struct facts *facts = builder->in->facts;
    bool *has_step = memory_alloc(trace->n_contexts, sizeof(bool));
    bool *comes_again = memory_alloc(trace->n_contexts, sizeof(bool));
    size_t *last_thread = memory_alloc(trace->n_contexts, sizeof *last_thread); /* + 1 */
    for (size_t t = 0; t < trace->n_threads; t++)
        for (size_t s = 0; s < builder->in->streams->streams[t].n_steps; s++) {
            uint32_t context = builder->in->streams->streams[t].steps[s].context;
            if (context == TRACE_NO_CONTEXT)
                continue;
            has_step[context] = true;
            comes_again[context] |= last_thread[context] == t + 1;
            last_thread[context] = t + 1;
        }
    free(last_thread);
    builder->loop_is_visible = memory_alloc(facts ? facts->n_loops : 0, sizeof(bool));
    builder->is_in_share = memory_alloc(trace->n_contexts, sizeof(bool));
    for (size_t c = 0; c < trace->n_contexts; c++)
        builder->is_in_share[c] = !facts;
    for (size_t l = 0; facts && l < facts->n_loops; l++) {
        const struct facts_loop *loop = &facts->loops[l];
        /* The call that takes from what is shared may be made once only. */
        bool takes = loop->bound == BOUND_SHARED && loop->has_fragments;
        const bool *shows = takes ? has_step : comes_again;
        for (size_t c = 0; c < trace->n_contexts && !builder->loop_is_visible[l]; c++)
            builder->loop_is_visible[l] =
                shows[c] && source_context_in_loop(trace, (uint32_t)c, loop);
        if (loop->bound == BOUND_SHARE && builder->loop_is_visible[l])
            builder->loop_is_visible[l] = !works_in_a_lump(builder, loop);
        bool shared_out = loop->bound == BOUND_SHARE && !builder->loop_is_visible[l];
        for (size_t c = 0; shared_out && c < trace->n_contexts; c++)
            builder->is_in_share[c] |= source_context_in_loop(trace, (uint32_t)c, loop);
    }
    free(has_step);
    free(comes_again);
}

bool *natural_loops_way_round(const struct peg_builder *builder, const struct peg_edge *draft,
                              const struct facts_loop *loop) {
    bool *reached = memory_alloc(builder->nodes.count, sizeof *reached);
    reached[draft->to] = true;
    for (bool grows = true; grows;) {
        grows = false;
        for (size_t e = 0; e < builder->edges.count; e++) {
            const struct peg_edge *edge = &builder->edges.items[e];
            if (edge->from != draft->from && reached[edge->from] && !reached[edge->to] &&
                (!loop || source_context_in_loop(builder->in->trace,
                                                 builder->nodes.items[edge->to].context, loop)))
                grows = reached[edge->to] = true;
        }
    }
    return reached;
}
