#include "modelgen/graph/state_splitting.h"

#include <assert.h>
#include <stdlib.h>

#include "base/memory.h"
#include "modelgen/evidence.h"

/* How far back the steps lie that a node is split by. More ways lie further back, and more would
 * fit by accident: those must decide it all but alone, and be seen more often. */
#define DEEP_STEPS 4

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

static struct passages count_passages(const struct peg_builder *builder, size_t depth) {
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
static void split_node(struct peg_builder *builder, int node, int before, size_t depth) {
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
                    copy = peg_builder_new_node(builder, &stream->steps[s - back],
                                                builder->nodes.items[old].pool);
                    builder->nodes.items[copy].has_single = builder->nodes.items[old].has_single;
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
static bool split_at_depth(struct peg_builder *builder, size_t depth, double best) {
    struct passages passages = count_passages(builder, depth);
    int best_node = -1, best_before = 0;
    for (size_t i = 0; i < passages.count;) {
        size_t n = 1;
        while (i + n < passages.count && passages.items[i + n].node == passages.items[i].node)
            n++;
        const struct passage *from = &passages.items[i];
        bool stays_whole = /* see end_loop_with_last_put() in natural_loops.c, and single_sections.c
                            */
            builder->model->nodes[from->node].kind == NODE_PUT ||
            builder->nodes.items[from->node].has_single;
        for (size_t j = 0; j < n && !stays_whole; j++) {
            if (j > 0 && from[j].before == from[j - 1].before)
                continue;
            double distance = history_distance(
                from, n, from[j].before, depth > 1 ? evidence.deep_seen : evidence.times_seen);
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

bool state_splitting_split(struct peg_builder *builder) {
    if (split_at_depth(builder, 1, evidence.ways_distance))
        return true;
    for (size_t depth = 2; depth <= DEEP_STEPS; depth++)
        if (split_at_depth(builder, depth, evidence.deep_distance))
            return true;
    return false;
}
