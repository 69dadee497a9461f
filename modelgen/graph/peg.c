#include "modelgen/graph/peg.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/path.h"
#include "modelgen/draft.h"
#include "modelgen/monitors/statements.h"
#include "modelgen/scaling/partition.h"
#include "modelgen/scaling/rounds.h"
#include "modelgen/scaling/source.h"

/* Values kept of a measured distribution. */
#define DIST_LIMIT 64
/* So many rounds' work in one lump is not a round's. */
#define LUMP_ROUNDS 10
/* A node is split by where the thread came from when that changes where it goes by this much (total
 * variation distance), seen this often. */
#define SPLIT_DISTANCE    0.4
#define SPLIT_OCCURRENCES 3.0
/* What lies further back, up to so many steps, must decide it all but alone. */
#define DEEP_DISTANCE    0.95
#define DEEP_OCCURRENCES 5.0 /* more ways lie further back: more would fit by accident */
#define DEEP_STEPS       4

struct values {
    double *items;
    size_t count, capacity;
};

/* An edge under construction. */
struct draft_edge {
    int from, to;
    enum outcome when;
    double decisions, starts, first;
    bool leaves; /* its target never leads back */
    struct values cpu_ns, runs;
    struct passes
        passes; /* one per cpu_ns, with the rounds of loops that the graph does not show */
    struct {
        uint32_t *items;
        size_t count, capacity;
    } between; /* contexts of the calls on the way that the graph does not show */
};

struct draft_node_values {
    int pool;
    uint32_t context;
    struct values cpu_ns, wait_ns, operations;
    struct values stays;  /* decisions to stay before each one to leave */
    struct passes passes; /* one per stays */
};

struct builder {
    const struct peg_input *in;
    struct model *model;
    int **node_of; /* per thread and step */
    struct {
        struct draft_node_values *items;
        size_t count, capacity;
    } nodes; /* same indexes as the model's nodes */
    struct {
        struct draft_edge *items;
        size_t count, capacity;
    } edges;
    struct map edge_of;
    bool *loop_is_visible; /* per facts loop: see struct source */
    bool *is_in_share;     /* per context: in a loop whose rounds may be shared out */
    struct map sites;      /* of the stretch being read: place and call -> number */
    struct values counts;  /* per site */
};

/* ---- nodes ---- */

static uint64_t step_key(int pool, const struct step *step) {
    uint64_t key = map_mix(11, (uint64_t)pool);
    key = map_mix(key, step->kind);
    if (step->kind == NODE_START || step->kind == NODE_END)
        return key;
    key = map_mix(map_mix(key, (uint64_t)step->object), (uint64_t)step->mutex);
    key = map_mix(map_mix(key, (uint64_t)step->target_pool), step->context);
    key = map_mix(map_mix(key, (uint64_t)(long)step->count), step->timeout_ns == 0);
    key = map_mix(key, (uint64_t)step->section);
    if (step->held)
        key = map_mix(key, step->held);
    return map_mix(map_mix(key, step->within), step->retrying);
}

static char *node_name(const struct builder *builder, const struct step *step, int pool) {
    const struct trace *trace = builder->in->trace;
    const char *pool_name = builder->in->pools->pools[pool].name;
    if (step->context == TRACE_NO_CONTEXT || trace->contexts[step->context].n_frames == 0)
        return memory_format("%s: %s", pool_name, node_kind_name(step->kind));
    const struct trace_frame *frame = &trace->contexts[step->context].frames[0];
    return memory_format("%s: %s (%s:%d)", pool_name, frame->function,
                         frame->file ? path_name(frame->file) : frame->module, frame->line);
}

static int busiest_scaling_pool(const struct thread_pools *pools) {
    int best = MODEL_NONE;
    for (size_t p = 0; p < pools->n_pools; p++)
        if (pools_follows(pools, p) &&
            (best < 0 || pools->pools[p].cpu_ns > pools->pools[best].cpu_ns))
            best = (int)p;
    return best;
}

static int new_node(struct builder *builder, const struct step *step, int pool) {
    int index = draft_node(builder->model, step->kind, node_name(builder, step, pool));
    struct node *node = &builder->model->nodes[index];
    node->object = step->object;
    node->mutex = step->mutex;
    node->target_pool = step->target_pool;
    node->section = step->section;
    node->count = step->count;
    node->timeout_ns = step->timeout_ns;
    if (step->count_per_thread) {
        node->count_scaling.growth = 1;
        node->count_scaling.pool = busiest_scaling_pool(builder->in->pools);
    }
    *VECTOR_ADD(&builder->nodes) =
        (struct draft_node_values){.pool = pool, .context = step->context};
    return index;
}

static void number_nodes(struct builder *builder) {
    const struct trace *trace = builder->in->trace;
    struct map known = MAP_EMPTY;
    builder->node_of = memory_alloc(trace->n_threads, sizeof(int *));
    for (size_t t = 0; t < trace->n_threads; t++) {
        const struct stream *stream = &builder->in->streams->streams[t];
        int pool = builder->in->pools->pool_of[t];
        builder->node_of[t] = memory_alloc(stream->n_steps, sizeof(int));
        for (size_t s = 0; s < stream->n_steps; s++) {
            uint64_t key = step_key(pool, &stream->steps[s]);
            int node = map_get(&known, key, -1);
            if (node < 0) {
                node = new_node(builder, &stream->steps[s], pool);
                map_put(&known, key, node);
                if (stream->steps[s].kind == NODE_START)
                    builder->model->pools[pool].entry = node;
            }
            builder->node_of[t][s] = node;
        }
    }
    map_free(&known);
}

/* ---- splitting by history ---- */

#define N_OUTCOMES ((int)OUTCOME_NO + 1)

/* A node and an outcome in one number. */
static int with_outcome(int node, enum outcome outcome) {
    return node * N_OUTCOMES + (int)outcome;
}

/* How often the thread went from `before`, some steps ago, over this node to `after`. */
struct passage {
    int node;
    int before; /* that node with its outcome */
    int after;  /* that node with this one's outcome */
    double count;
};

struct passages {
    struct passage *items;
    size_t count, capacity;
};

static int compare_passages(const void *a, const void *b) {
    const struct passage *x = a, *y = b;
    if (x->node != y->node)
        return x->node < y->node ? -1 : 1;
    if (x->before != y->before)
        return x->before < y->before ? -1 : 1;
    return (x->after > y->after) - (x->after < y->after);
}

static struct passages count_passages(const struct builder *builder, size_t depth) {
    struct passages passages = {0};
    struct map known = MAP_EMPTY;
    for (size_t t = 0; t < builder->in->trace->n_threads; t++) {
        const struct stream *stream = &builder->in->streams->streams[t];
        const int *node_of = builder->node_of[t];
        for (size_t s = depth; s + 1 < stream->n_steps; s++) {
            struct passage passage = {
                .node = node_of[s],
                .before = with_outcome(node_of[s - depth], stream->steps[s - depth].outcome),
                .after = with_outcome(node_of[s + 1], stream->steps[s].outcome)};
            uint64_t key =
                map_mix(map_mix(map_mix(13, (uint64_t)passage.node), (uint64_t)passage.before),
                        (uint64_t)passage.after);
            int at = map_get(&known, key, -1);
            if (at < 0) {
                at = (int)passages.count;
                map_put(&known, key, at);
                *VECTOR_ADD(&passages) = passage;
            }
            assert(passages.items); /* the map knows only what is in the list */
            passages.items[at].count++;
        }
    }
    map_free(&known);
    if (passages.count)
        qsort(passages.items, passages.count, sizeof *passages.items, compare_passages);
    return passages;
}

static double after_count(const struct passage *from, size_t n, int after, int only_before,
                          bool equal) {
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        if (from[i].after == after && (from[i].before == only_before) == equal)
            sum += from[i].count;
    return sum;
}

/* Total variation between where threads go that came from `before` and where the others go,
 * given the outcome of the node itself: the outcome follows the objects' state, not history. What
 * was seen more seldom tells nothing. */
static double history_distance(const struct passage *from, size_t n, int before, double seldom) {
    double distance = 0, weight = 0;
    for (int outcome = OUTCOME_ANY; outcome <= OUTCOME_NO; outcome++) {
        double these = 0, others = 0;
        for (size_t i = 0; i < n; i++)
            if (from[i].after % N_OUTCOMES == outcome)
                *(from[i].before == before ? &these : &others) += from[i].count;
        if (these < seldom || others < seldom)
            continue;
        double sum = 0;
        for (size_t i = 0; i < n; i++) {
            bool seen = false;
            for (size_t j = 0; j < i; j++)
                seen |= from[j].after == from[i].after;
            if (seen || from[i].after % N_OUTCOMES != outcome)
                continue;
            double p = after_count(from, n, from[i].after, before, true) / these;
            double q = after_count(from, n, from[i].after, before, false) / others;
            sum += p > q ? p - q : 0;
        }
        distance += these * sum;
        weight += these;
    }
    return weight > 0 ? distance / weight : 0;
}

/* Gives the visits of `node` that came from `before`, `depth` steps ago, nodes of their own all the
 * way from there. */
static void split_node(struct builder *builder, int node, int before, size_t depth) {
    struct map copies = MAP_EMPTY; /* of a node so many steps back */
    for (size_t t = 0; t < builder->in->trace->n_threads; t++) {
        const struct stream *stream = &builder->in->streams->streams[t];
        int *node_of = builder->node_of[t];
        for (size_t s = depth; s < stream->n_steps; s++) {
            if (node_of[s] != node ||
                with_outcome(node_of[s - depth], stream->steps[s - depth].outcome) != before)
                continue;
            for (size_t back = depth; back-- > 0;) {
                int old = node_of[s - back];
                uint64_t key = map_mix(map_mix(19, (uint64_t)back), (uint64_t)old);
                int copy = map_get(&copies, key, -1);
                if (copy < 0) {
                    copy =
                        new_node(builder, &stream->steps[s - back], builder->nodes.items[old].pool);
                    map_put(&copies, key, copy);
                }
                node_of[s - back] = copy;
            }
        }
    }
    map_free(&copies);
}

/* Splits the node whose way on the history `depth` steps ago tells best, and by more than `best`.
 * False: there is none. */
static bool split_at_depth(struct builder *builder, size_t depth, double best) {
    struct passages passages = count_passages(builder, depth);
    int best_node = -1, best_before = 0;
    for (size_t i = 0; i < passages.count;) {
        size_t n = 1;
        while (i + n < passages.count && passages.items[i + n].node == passages.items[i].node)
            n++;
        const struct passage *from = &passages.items[i];
        bool may_end_loop = /* see end_loop_with_last_put() */
            builder->model->nodes[from->node].kind == NODE_PUT;
        for (size_t j = 0; j < n && !may_end_loop; j++) {
            if (j > 0 && from[j].before == from[j - 1].before)
                continue;
            double distance = history_distance(from, n, from[j].before,
                                               depth > 1 ? DEEP_OCCURRENCES : SPLIT_OCCURRENCES);
            if (distance > best) {
                best = distance;
                best_node = from[j].node;
                best_before = from[j].before;
            }
        }
        i += n;
    }
    free(passages.items);
    if (best_node >= 0)
        split_node(builder, best_node, best_before, depth);
    return best_node >= 0;
}

/* A first-order chain forgets how a thread came to a node. Where that decides the way on (a lock
 * function called on a success and on a failure path), the node is split. One split at a time, the
 * most telling one first, because each split changes the histories of its neighbours. Where a
 * worker is given different jobs by turns, only the last job, some steps ago, tells the next one.
 */
static bool split_once(struct builder *builder) {
    if (split_at_depth(builder, 1, SPLIT_DISTANCE))
        return true;
    for (size_t depth = 2; depth <= DEEP_STEPS; depth++)
        if (split_at_depth(builder, depth, DEEP_DISTANCE))
            return true;
    return false;
}

/* ---- edges ---- */

static void drop_edge(struct draft_edge *draft) {
    free(draft->cpu_ns.items);
    free(draft->runs.items);
    free(draft->passes.items);
    free(draft->between.items);
}

static int find_edge(struct builder *builder, int from, enum outcome when, int to) {
    uint64_t key = map_mix(map_mix(map_mix(17, (uint64_t)from), when), (uint64_t)to);
    int edge = map_get(&builder->edge_of, key, -1);
    if (edge < 0) {
        edge = (int)builder->edges.count;
        map_put(&builder->edge_of, key, edge);
        *VECTOR_ADD(&builder->edges) = (struct draft_edge){.from = from, .to = to, .when = when};
    }
    return edge;
}

/* The run of equal decisions that a thread is in, at one node and outcome. */
struct run {
    int edge;
    double length;
};

static void end_run(struct builder *builder, struct run *run) {
    if (run->length == 0)
        return;
    struct draft_edge *edge = &builder->edges.items[run->edge];
    *VECTOR_ADD(&edge->runs) = run->length;
    edge->starts++;
    run->length = 0;
}

static void note_decision(struct builder *builder, struct run *run, int edge) {
    if (run->length > 0 && run->edge == edge) {
        run->length++;
        return;
    }
    if (run->edge < 0)
        builder->edges.items[edge].first++;
    end_run(builder, run);
    *run = (struct run){edge, 1};
}

/* CPU between two steps, the probes' own cost taken off. */
static double cpu_between(const struct builder *builder, size_t t, const struct step *a,
                          const struct step *b) {
    const struct timeline *timeline = &builder->in->timelines[t];
    double cpu = timeline_cpu(timeline, b->start_ns) - timeline_cpu(timeline, a->end_ns);
    cpu -= builder->in->trace->meta.probe_ns * (double)b->records;
    return cpu > 0 ? cpu : 0;
}

/* CPU time spent in the loop's lines and what they call, by the samples; 0 without any. */
static double sampled_cpu(const struct builder *builder, const struct facts_loop *loop) {
    double cpu_ns = 0;
    for (size_t t = 0; t < builder->in->trace->n_threads; t++)
        cpu_ns += timeline_cpu(&builder->in->timelines[t], builder->in->trace->threads[t].end_ns);
    return source_sampled_share(builder->in->sample, loop) * cpu_ns;
}

/* Is most of the work of a loop done in one lump behind the last call in it? Then it is not its
 * rounds that are shared out: a loop inside, which has no calls, moves on through the share. */
static bool works_in_a_lump(const struct builder *builder, const struct facts_loop *loop) {
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
        const struct timeline *timeline = &builder->in->timelines[t];
        double at_last = timeline_cpu(timeline, stream->steps[last].start_ns);
        between_ns += at_last - timeline_cpu(timeline, stream->steps[first].start_ns);
        lump_ns += timeline_cpu(timeline, stream->steps[last + 1].start_ns) - at_last;
        rounds += (double)calls - 1;
        lumps++;
    }
    return lumps > 0 && lump_ns / lumps > LUMP_ROUNDS * between_ns / rounds &&
           sampled_cpu(builder, loop) > between_ns + lump_ns / 2;
}

/* Which loops of the source the graph has steps in that come again, and in which calls a round of
 * another loop shows, whose rounds may be shared out. */
static void find_visible_loops(struct builder *builder) {
    const struct trace *trace = builder->in->trace;
    const struct facts *facts = builder->in->facts;
    bool *has_step = memory_alloc(trace->n_contexts, sizeof(bool));
    size_t *last_thread = memory_alloc(trace->n_contexts, sizeof *last_thread); /* + 1 */
    for (size_t t = 0; t < trace->n_threads; t++)
        for (size_t s = 0; s < builder->in->streams->streams[t].n_steps; s++) {
            uint32_t context = builder->in->streams->streams[t].steps[s].context;
            if (context == TRACE_NO_CONTEXT)
                continue;
            has_step[context] |= last_thread[context] == t + 1; /* comes again */
            last_thread[context] = t + 1;
        }
    free(last_thread);
    builder->loop_is_visible = memory_alloc(facts ? facts->n_loops : 0, sizeof(bool));
    builder->is_in_share = memory_alloc(trace->n_contexts, sizeof(bool));
    for (size_t c = 0; c < trace->n_contexts; c++)
        builder->is_in_share[c] = !facts;
    for (size_t l = 0; facts && l < facts->n_loops; l++) {
        const struct facts_loop *loop = &facts->loops[l];
        for (size_t c = 0; c < trace->n_contexts && !builder->loop_is_visible[l]; c++)
            builder->loop_is_visible[l] =
                has_step[c] && source_context_in_loop(trace, (uint32_t)c, loop);
        if (loop->bound == BOUND_SHARE && builder->loop_is_visible[l])
            builder->loop_is_visible[l] = !works_in_a_lump(builder, loop);
        bool shared_out = loop->bound == BOUND_SHARE && !builder->loop_is_visible[l];
        for (size_t c = 0; shared_out && c < trace->n_contexts; c++)
            builder->is_in_share[c] |= source_context_in_loop(trace, (uint32_t)c, loop);
    }
    free(has_step);
}

/* Rounds of the loop that these `n` records show, which the graph does not: how often all calls
 * come that come more than once. 0: not known. */
static double count_rounds(struct builder *builder, const struct trace_record *records, size_t n) {
    if (n == 0)
        return 0;
    builder->counts.count = 0;
    map_free(&builder->sites);
    for (size_t r = 0; r < n; r++) {
        uint32_t context = records[r].context;
        if (context == TRACE_NO_CONTEXT || !builder->is_in_share[context])
            continue;
        uint64_t key = map_mix(map_mix(19, builder->in->places[context]), records[r].api);
        int site = map_get(&builder->sites, key, -1);
        if (site < 0) {
            site = (int)builder->counts.count;
            map_put(&builder->sites, key, site);
            *VECTOR_ADD(&builder->counts) = 0;
        }
        builder->counts.items[site]++;
    }
    double rounds = builder->counts.count > 0;
    for (size_t i = 0; i < builder->counts.count; i++) {
        double count = builder->counts.items[i];
        if (rounds > 1 && count > 1 && count != rounds)
            return 0;
        rounds = count > rounds ? count : rounds;
    }
    return rounds;
}

static void note_between(struct draft_edge *draft, const struct trace_record *records, size_t n) {
    for (size_t r = 0; r < n; r++) {
        size_t known = 0;
        while (known < draft->between.count && draft->between.items[known] != records[r].context)
            known++;
        if (known == draft->between.count)
            *VECTOR_ADD(&draft->between) = records[r].context;
    }
}

static void read_thread(struct builder *builder, size_t t) {
    const struct stream *stream = &builder->in->streams->streams[t];
    const int *node_of = builder->node_of[t];
    size_t n_places = builder->model->n_nodes * N_OUTCOMES;
    struct run *runs = memory_alloc(n_places, sizeof *runs);
    double *stays = memory_alloc(n_places, sizeof *stays);
    for (size_t i = 0; i < n_places; i++)
        runs[i].edge = -1;
    size_t done = 0; /* records up to the present step */
    for (size_t s = 0; s < stream->n_steps; s++) {
        const struct step *step = &stream->steps[s];
        struct draft_node_values *values = &builder->nodes.items[node_of[s]];
        done += step->records;
        if (step->kind == NODE_SLEEP || step->kind == NODE_IO) {
            *VECTOR_ADD(&values->wait_ns) = step->wait_ns;
            *VECTOR_ADD(&values->cpu_ns) = step->cpu_ns;
            *VECTOR_ADD(&values->operations) = step->operations;
        }
        if (s + 1 == stream->n_steps)
            break;
        int edge = find_edge(builder, node_of[s], step->outcome, node_of[s + 1]);
        builder->edges.items[edge].decisions++;
        *VECTOR_ADD(&builder->edges.items[edge].cpu_ns) =
            cpu_between(builder, t, step, &stream->steps[s + 1]);
        const struct step *next = &stream->steps[s + 1];
        size_t own = next->records > 0 && next->kind != NODE_END; /* the step's own record */
        const struct trace_record *records = &builder->in->trace->threads[t].records[done];
        *VECTOR_ADD(&builder->edges.items[edge].passes) =
            (struct pass){t, count_rounds(builder, records, next->records - own)};
        note_between(&builder->edges.items[edge], records, next->records - own);
        int place = with_outcome(node_of[s], step->outcome);
        if (builder->edges.items[edge].leaves) {
            *VECTOR_ADD(&values->stays) = stays[place];
            *VECTOR_ADD(&values->passes) = (struct pass){t, stays[place] + 1};
            stays[place] = 0;
            end_run(builder, &runs[place]);
        } else {
            stays[place]++;
            note_decision(builder, &runs[place], edge);
        }
    }
    for (size_t i = 0; i < n_places; i++)
        end_run(builder, &runs[i]);
    free(stays);
    free(runs);
}

/* ---- how edges follow the thread count ---- */

/* Do the edge and both its ends lie inside of the loop? */
static bool is_on_way(const struct builder *builder, const struct draft_edge *draft,
                      const struct facts_loop *loop) {
    const struct trace *trace = builder->in->trace;
    const struct draft_node_values *nodes = builder->nodes.items;
    bool inside = source_context_in_loop(trace, nodes[draft->from].context, loop) &&
                  source_context_in_loop(trace, nodes[draft->to].context, loop);
    for (size_t i = 0; i < draft->between.count && inside; i++)
        inside = source_context_in_loop(trace, draft->between.items[i], loop);
    return inside;
}

static const struct facts_loop *common_loop(const struct builder *builder,
                                            const struct draft_edge *draft, size_t *index);

/* If the edge leads from one number of an ordered hand-over to the next: the loop whose rounds are
 * the steps of one number. It contains both ends, but the edge leads out of it and in again. NULL:
 * none. */
static const struct facts_loop *loop_of_steps(const struct builder *builder,
                                              const struct draft_edge *draft) {
    const struct node *nodes = builder->model->nodes;
    if (nodes[draft->from].kind != NODE_PASS || nodes[draft->to].kind != NODE_DRAW)
        return NULL;
    for (size_t e = 0; e < builder->edges.count; e++) {
        const struct draft_edge *step = &builder->edges.items[e];
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
static const struct facts_loop *common_loop(const struct builder *builder,
                                            const struct draft_edge *draft, size_t *index) {
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

static struct source source_of(const struct builder *builder) {
    return (struct source){builder->in->trace, builder->in->facts, builder->in->sample,
                           builder->loop_is_visible};
}

/* How the number of rounds of the loop that the edge stays in follows the threads. `told` is who
 * gets what of them. */
static struct scaling scale_rounds(const struct builder *builder, const struct draft_edge *draft,
                                   int team, enum rest *told) {
    struct scaling scaling = {.pool = MODEL_NONE};
    const struct draft_node_values *from = &builder->nodes.items[draft->from];
    size_t index = 0;
    const struct facts_loop *loop = common_loop(builder, draft, &index);
    if (!loop || builder->in->streams->loop_is_tokens[index] ||
        (loop->bound == BOUND_SHARE && !builder->loop_is_visible[index]))
        return scaling;
    bool drained = loop->bound == BOUND_SHARED && !builder->in->streams->loop_has_answer[index];
    if (builder->in->pools->pools[from->pool].scales && (loop->bound == BOUND_SHARE || drained))
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

/* In what whole items the rounds of `passes` are shared out among the pool's own threads. */
static void share_items(const struct builder *builder, int pool, const struct passes *passes,
                        enum rest told, struct scaling *scaling) {
    const struct thread_pool *team = &builder->in->pools->pools[pool];
    if (!team->scales)
        return;
    struct rounds_fit fit = rounds_fit(passes, team, told);
    partition_note(&builder->in->evidence[pool], &fit);
    if (fit.rest == REST_NONE)
        return;
    scaling->rest = fit.rest;
    scaling->total = fit.total;
    scaling->pool = pool;
}

/* The demand as it would be if the items had divided evenly. */
static void even_out(const struct builder *builder, const struct draft_edge *draft,
                     const struct scaling *scaling) {
    if (scaling->rest == REST_NONE)
        return;
    double share = builder->in->facts ? scaling->share : 1;
    double items = scaling->total / builder->in->pools->pools[scaling->pool].size;
    for (size_t i = 0; i < draft->cpu_ns.count; i++)
        draft->cpu_ns.items[i] /= 1 - share + share * draft->passes.items[i].rounds / items;
}

/* How the computation on the edge follows the threads. */
static struct scaling scale_cpu(const struct builder *builder, const struct draft_edge *draft,
                                int team) {
    const struct draft_node_values *from = &builder->nodes.items[draft->from];
    const struct draft_node_values *to = &builder->nodes.items[draft->to];
    const struct thread_pool *pool = &builder->in->pools->pools[from->pool];
    struct scaling scaling = {.pool = MODEL_NONE};
    if (team == MODEL_NONE)
        return scaling;
    struct source source = source_of(builder);
    struct source_split split =
        source_split_between(&source, pool->start_routine, from->context, to->context);
    scaling.share = pool->scales ? split.share : 0;
    scaling.growth = split.growth;
    if (scaling.share > 0 || scaling.growth > 0)
        scaling.pool = team;
    if (scaling.share > 0 || !builder->in->facts)
        share_items(builder, from->pool, &draft->passes, split.rest, &scaling);
    return scaling;
}

/* Does the edge lead back to its node without leaving the loop? A way out may begin inside of it.
 */
static bool goes_round(const struct builder *builder, const struct draft_edge *draft,
                       const struct facts_loop *loop) {
    bool *reached = memory_alloc(builder->nodes.count, sizeof *reached);
    reached[draft->to] = true;
    for (bool grows = true; grows && !reached[draft->from];) {
        grows = false;
        for (size_t e = 0; e < builder->edges.count; e++) {
            const struct draft_edge *edge = &builder->edges.items[e];
            if (reached[edge->from] && !reached[edge->to] &&
                source_context_in_loop(builder->in->trace, builder->nodes.items[edge->to].context,
                                       loop))
                grows = reached[edge->to] = true;
        }
    }
    bool round = reached[draft->from];
    free(reached);
    return round;
}

/* Does the edge go round a loop inside of the one that the node's other ways stay in? Else its runs
 * are but one of several ways round the same loop, whose rounds are counted by the stays. */
static bool is_inner_loop(const struct builder *builder, const struct draft_edge *draft) {
    size_t index = 0, other = 0;
    const struct facts_loop *loop = common_loop(builder, draft, &index);
    if (!loop || !goes_round(builder, draft, loop))
        return false;
    for (size_t e = 0; e < builder->edges.count; e++) {
        const struct draft_edge *edge = &builder->edges.items[e];
        if (edge == draft || edge->from != draft->from || edge->when != draft->when || edge->leaves)
            continue;
        if (common_loop(builder, edge, &other) && other == index && goes_round(builder, edge, loop))
            return false;
    }
    return true;
}

static bool is_put_by_others(const struct builder *builder, int pool, int object) {
    for (size_t n = 0; n < builder->nodes.count; n++)
        if (builder->model->nodes[n].kind == NODE_PUT &&
            builder->model->nodes[n].object == object && builder->nodes.items[n].pool != pool)
            return true;
    return false;
}

/* Is this where each thread of the pool goes round once, taking what others put into a queue? More
 * threads find no more there. */
static bool is_shared_supply(const struct builder *builder, int node) {
    const struct draft_node_values *values = &builder->nodes.items[node];
    const struct thread_pool *pool = &builder->in->pools->pools[values->pool];
    const struct node *get = &builder->model->nodes[node];
    if (!pool->scales || values->passes.count != pool->n_threads)
        return false;
    return get->kind == NODE_GET ? is_put_by_others(builder, values->pool, get->object)
                                 : get->kind == NODE_STATEMENTS &&
                                       statements_are_handed(builder->model, (size_t)node);
}

/* Of the loop that the edge stays in: its runs, and how often its node is stayed at. */
static void scale_stays(const struct builder *builder, const struct draft_edge *draft, int team,
                        struct node *node, struct edge *edge) {
    const struct draft_node_values *from = &builder->nodes.items[draft->from];
    edge->runs_scaling.pool = MODEL_NONE;
    if (team == MODEL_NONE || draft->leaves)
        return;
    enum rest told = REST_NONE;
    struct scaling rounds = scale_rounds(builder, draft, team, &told);
    if (edge->runs.kind != DIST_NONE && is_inner_loop(builder, draft))
        edge->runs_scaling = rounds;
    if (node->stays.kind == DIST_NONE)
        return;
    if (rounds.pool == MODEL_NONE && is_shared_supply(builder, draft->from))
        rounds = (struct scaling){.pool = team, .share = 1};
    else if (rounds.share > 0 || !builder->in->facts)
        share_items(builder, from->pool, &from->passes, told, &rounds);
    if (rounds.pool != MODEL_NONE)
        node->stays_scaling = rounds;
    if (rounds.share > 0 && rounds.rest != REST_NONE)
        partition_even_out(&node->stays, &rounds, builder->in->pools->pools[from->pool].size);
}

/* ---- into the model ---- */

static struct dist take_dist(struct values *values) {
    struct dist dist = dist_from_values(values->items, values->count, DIST_LIMIT);
    free(values->items);
    *values = (struct values){0};
    if (dist.kind == DIST_CONSTANT && dist.mean == 0)
        dist.kind = DIST_NONE;
    return dist;
}

/* Edges of the same node and answer that stay in the loop, or that leave it. */
static size_t alternatives(const struct builder *builder, const struct draft_edge *edge,
                           bool leaves) {
    size_t n = 0;
    for (size_t e = 0; e < builder->edges.count; e++)
        n += builder->edges.items[e].from == edge->from &&
             builder->edges.items[e].when == edge->when && builder->edges.items[e].leaves == leaves;
    return n;
}

/* Do threads leave the loop when the queue answers that there is no more? */
static bool ends_by_answer(const struct builder *builder, int node) {
    for (size_t e = 0; e < builder->edges.count; e++) {
        const struct draft_edge *edge = &builder->edges.items[e];
        if (edge->from == node && edge->leaves && edge->when == OUTCOME_NO)
            return builder->model->nodes[node].kind == NODE_GET ||
                   builder->model->nodes[node].kind == NODE_STATEMENTS;
    }
    return false;
}

/* One that left with something, the last of all, could as well have been answered: it is not by
 * counting that threads know when to leave. */
static bool is_farewell(const struct builder *builder, const struct draft_edge *draft) {
    return draft->leaves && draft->when == OUTCOME_YES && alternatives(builder, draft, false) > 0 &&
           ends_by_answer(builder, draft->from);
}

static void write_edge(struct builder *builder, struct draft_edge *draft) {
    const struct thread_pools *pools = builder->in->pools;
    struct node *node = &builder->model->nodes[draft->from];
    int pool = builder->nodes.items[draft->from].pool;
    int team = pools->pools[pool].team     ? MODEL_NONE /* partition.c knows */
               : pools->pools[pool].scales ? pool
                                           : busiest_scaling_pool(pools);
    bool loop = alternatives(builder, draft, false) > 0;
    struct scaling scaling = scale_cpu(builder, draft, team);
    even_out(builder, draft, &scaling);
    struct edge *edge = draft_edge(node, draft->to);
    *edge = (struct edge){.to = draft->to,
                          .when = draft->when,
                          .probability = 1,
                          .leaves = draft->leaves && loop,
                          .cpu_ns = take_dist(&draft->cpu_ns),
                          .cpu_scaling = scaling};
    if (draft->leaves && alternatives(builder, draft, true) > 1)
        edge->probability = draft->decisions;
    if (!draft->leaves && alternatives(builder, draft, false) > 1) {
        edge->probability = draft->starts;
        edge->first = draft->first;
        edge->runs = dist_from_values(draft->runs.items, draft->runs.count, DIST_LIMIT);
    }
    scale_stays(builder, draft, team, node, edge);
}

static void write_edges(struct builder *builder) {
    for (size_t n = 0; n < builder->nodes.count; n++) {
        if (ends_by_answer(builder, (int)n))
            builder->nodes.items[n].stays.count = 0;
        builder->model->nodes[n].stays = take_dist(&builder->nodes.items[n].stays);
    }
    for (size_t e = 0; e < builder->edges.count; e++) {
        struct draft_edge *draft = &builder->edges.items[e];
        if (!is_farewell(builder, draft))
            write_edge(builder, draft);
    }
}

static bool takes_part(const struct node *node) {
    return node->kind == NODE_GET || node->kind == NODE_PUT || node->kind == NODE_ACQUIRE;
}

static bool is_closed(const struct model *model, int object) {
    for (size_t n = 0; n < model->n_nodes; n++)
        if (model->nodes[n].kind == NODE_CLOSE && model->nodes[n].object == object)
            return true;
    return false;
}

/* Copies the edges for `when` from the same pool's node of the same kind on the same object. */
static bool borrow_edges(struct builder *builder, size_t n, enum outcome when) {
    struct model *model = builder->model;
    for (size_t m = 0; m < model->n_nodes; m++) {
        const struct node *from = &model->nodes[m];
        if (m == n || from->kind != model->nodes[n].kind ||
            from->object != model->nodes[n].object || from->section != model->nodes[n].section ||
            builder->nodes.items[m].pool != builder->nodes.items[n].pool)
            continue;
        if (draft_copy_edges(from, when, &model->nodes[n]))
            return true;
    }
    return false;
}

/* An edge for an answer that the trace never showed here: as at a like node, or to the end of the
 * pool's threads. */
static void add_way_out(struct builder *builder, size_t n, enum outcome when) {
    struct model *model = builder->model;
    if (borrow_edges(builder, n, when))
        return;
    for (size_t m = 0; m < model->n_nodes; m++)
        if (model->nodes[m].kind == NODE_END &&
            builder->nodes.items[m].pool == builder->nodes.items[n].pool) {
            draft_edge(&model->nodes[n], (int)m)->when = when;
            return;
        }
}

/* Do the statements that the node carries out decide its outcome? */
static bool is_told(const struct model *model, const struct node *node) {
    return node->kind == NODE_STATEMENTS &&
           statement_section_answers(&model->objects[node->object].sections[node->section]);
}

/* A node whose trace never showed one of its answers still needs a way on for it. */
static void complete_outcomes(struct builder *builder) {
    struct model *model = builder->model;
    for (size_t n = 0; n < model->n_nodes; n++) {
        struct node *node = &model->nodes[n];
        if (node->kind == NODE_END)
            continue;
        /* An answer that a close can give must be told apart from the ordinary one. */
        bool closable = takes_part(node) && is_closed(model, node->object);
        bool yes = false, no = false;
        for (size_t e = 0; e < node->n_edges; e++) {
            struct edge *edge = &node->edges[e];
            if (closable && edge->when == OUTCOME_ANY)
                edge->when = OUTCOME_YES;
            yes |= edge->when != OUTCOME_NO;
            no |= edge->when != OUTCOME_YES;
        }
        bool may_fail = node->timeout_ns >= 0 || closable || is_told(model, node);
        if (!yes)
            add_way_out(builder, n, may_fail ? OUTCOME_YES : OUTCOME_ANY);
        if (!no && may_fail)
            add_way_out(builder, n, OUTCOME_NO);
    }
}

static void write_nodes(struct builder *builder) {
    for (size_t n = 0; n < builder->nodes.count; n++) {
        struct draft_node_values *values = &builder->nodes.items[n];
        struct node *node = &builder->model->nodes[n];
        node->cpu_ns = take_dist(&values->cpu_ns);
        node->wait_ns = take_dist(&values->wait_ns);
        node->operations = take_dist(&values->operations);
    }
}

/* ---- loops and how they end ---- */

/* can_reach[a * n + b]: the graph leads from node a to node b. */
static bool *find_reachable(const struct builder *builder) {
    size_t n = builder->model->n_nodes;
    bool *can_reach = memory_alloc(n * n, sizeof *can_reach);
    int *stack = memory_alloc(n, sizeof *stack);
    for (size_t start = 0; start < n; start++) {
        size_t depth = 0;
        bool *seen = can_reach + start * n;
        stack[depth++] = (int)start;
        while (depth > 0) {
            int node = stack[--depth];
            for (size_t e = 0; e < builder->edges.count; e++) {
                const struct draft_edge *edge = &builder->edges.items[e];
                if (edge->from != node || seen[edge->to])
                    continue;
                seen[edge->to] = true;
                stack[depth++] = edge->to;
            }
        }
    }
    free(stack);
    return can_reach;
}

static void find_edges(struct builder *builder) {
    for (size_t e = 0; e < builder->edges.count; e++)
        drop_edge(&builder->edges.items[e]);
    builder->edges.count = 0;
    map_free(&builder->edge_of);
    for (size_t t = 0; t < builder->in->trace->n_threads; t++) {
        const struct stream *stream = &builder->in->streams->streams[t];
        for (size_t s = 0; s + 1 < stream->n_steps; s++)
            find_edge(builder, builder->node_of[t][s], stream->steps[s].outcome,
                      builder->node_of[t][s + 1]);
    }
}

/* Removes steps [from, to) of a thread; their probes count for the step after. */
static void remove_steps(struct builder *builder, size_t t, size_t from, size_t to) {
    struct stream *stream = &builder->in->streams->streams[t];
    int *node_of = builder->node_of[t];
    for (size_t s = from; s < to; s++)
        stream->steps[to].records += stream->steps[s].records;
    size_t rest = stream->n_steps - to;
    memmove(&stream->steps[from], &stream->steps[to], rest * sizeof *stream->steps);
    memmove(&node_of[from], &node_of[to], rest * sizeof *node_of);
    stream->n_steps = from + rest;
}

/* The only other pool that takes from the queue; -1: none, or several, or not only one thread puts.
 */
static int consumers_of(const struct builder *builder, size_t producer, int queue) {
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
static struct step *replace_step(struct builder *builder, size_t t, size_t s, enum node_kind kind,
                                 const struct step *like) {
    struct step *step = &builder->in->streams->streams[t].steps[s];
    *step = (struct step){.start_ns = like->end_ns,
                          .end_ns = like->end_ns,
                          .kind = kind,
                          .object = MODEL_NONE,
                          .mutex = MODEL_NONE,
                          .target_pool = MODEL_NONE,
                          .timeout_ns = -1,
                          .context = like->context,
                          .records = step->records};
    return step;
}

/* Who is about to end the program waits for what he has put and others have not done yet, whatever
 * he does meanwhile: for the end of those who take it, who find nothing more. Gives the number of
 * steps between the last put and `out` that this needs. */
static size_t wait_for_consumers(struct builder *builder, size_t t, size_t last, size_t out) {
    struct stream *stream = &builder->in->streams->streams[t];
    const struct step put = stream->steps[last];
    int consumers = consumers_of(builder, t, put.object);
    if (consumers < 0 || out < last + 3 || joins_later(stream, out, consumers))
        return 0;
    struct step *close = replace_step(builder, t, last + 1, NODE_CLOSE, &put);
    close->object = put.object;
    struct step *join = replace_step(builder, t, last + 2, NODE_JOIN, &put);
    join->target_pool = consumers;
    int pool = builder->in->pools->pool_of[t];
    builder->node_of[t][last + 1] = new_node(builder, close, pool);
    builder->node_of[t][last + 2] = new_node(builder, join, pool);
    return 2;
}

/* A loop that produces work and retries failed attempts goes round more or less often with
 * other numbers of threads; what stays the same is how much it produces. So it ends with its last
 * put: what the thread did in the loop after that (waiting for what is still under way) is taken
 * out, and the put becomes the place that leaves the loop. `can_reach` is of the first `n` nodes.
 */
static void end_loop_with_last_put(struct builder *builder, size_t t, const bool *can_reach,
                                   size_t n) {
    struct stream *stream = &builder->in->streams->streams[t];
    const int *node_of = builder->node_of[t];
    size_t last = stream->n_steps;
    bool retries = false;
    for (size_t s = 0; s < stream->n_steps; s++)
        retries |= stream->steps[s].retrying;
    for (size_t s = stream->n_steps; retries && s-- > 0;)
        if (stream->steps[s].settles && can_reach[(size_t)node_of[s] * n + (size_t)node_of[s]]) {
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

static void find_leaving_edges(struct builder *builder) {
    find_edges(builder);
    bool *can_reach = find_reachable(builder);
    size_t n_nodes = builder->model->n_nodes;
    for (size_t t = 0; t < builder->in->trace->n_threads; t++)
        end_loop_with_last_put(builder, t, can_reach, n_nodes);
    free(can_reach);
    find_edges(builder);
    can_reach = find_reachable(builder);
    for (size_t e = 0; e < builder->edges.count; e++) {
        struct draft_edge *edge = &builder->edges.items[e];
        edge->leaves = !can_reach[(size_t)edge->to * builder->model->n_nodes + (size_t)edge->from];
    }
    free(can_reach);
}

void peg_build(const struct peg_input *input, struct model *model) {
    struct builder builder = {.in = input, .model = model};
    number_nodes(&builder);
    while (model->n_nodes < input->max_nodes && split_once(&builder))
        continue;
    find_leaving_edges(&builder);
    find_visible_loops(&builder);
    for (size_t t = 0; t < input->trace->n_threads; t++)
        read_thread(&builder, t);
    write_edges(&builder);
    complete_outcomes(&builder);
    write_nodes(&builder);
    for (size_t t = 0; t < input->trace->n_threads; t++)
        free(builder.node_of[t]);
    free(builder.node_of);
    for (size_t n = 0; n < builder.nodes.count; n++)
        free(builder.nodes.items[n].passes.items);
    free(builder.nodes.items);
    free(builder.loop_is_visible);
    free(builder.is_in_share);
    free(builder.counts.items);
    map_free(&builder.sites);
    for (size_t e = 0; e < builder.edges.count; e++)
        drop_edge(&builder.edges.items[e]);
    free(builder.edges.items);
    map_free(&builder.edge_of);
}
