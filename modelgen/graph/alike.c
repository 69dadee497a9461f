#include "modelgen/graph/alike.h"

#include <stdlib.h>

#include "base/memory.h"

/* Decisions of each thread, until it is no chance that they are the same; where all meet, fewer do.
 */
#define CONVINCING 8

/* What the threads of one number in a pool decided at a node. */
struct decided {
    uint64_t edges; /* in their order, hashed */
    size_t count;
};

/* Are there different ways to go from the node, of which none is told by an answer, the thread's
 * place or the number of threads? */
static bool is_open(const struct node *node) {
    size_t stay = 0, leave = 0;
    bool takes = node->kind == NODE_GET || node->kind == NODE_PUT || node->kind == NODE_ACQUIRE ||
                 node->kind == NODE_WAIT || node->kind == NODE_STATEMENTS;
    if (takes || node->stays_scaling.pool != MODEL_NONE)
        return false;
    for (size_t e = 0; e < node->n_edges; e++) {
        const struct edge *edge = &node->edges[e];
        if (edge->when != OUTCOME_ANY || edge->taker != TAKER_ANY ||
            edge->runs_scaling.pool != MODEL_NONE)
            return false;
        stay += !edge->leaves;
        leave += edge->leaves;
    }
    return stay > 1 || leave > 1 || (stay && leave && node->stays.kind == DIST_EMPIRICAL);
}

/* `all`: by node and number of the thread, pool->size of them. */
static void read_thread(const struct builder *builder, size_t t, size_t number, size_t size,
                        struct decided *all) {
    const struct stream *stream = &builder->in->streams->streams[t];
    const int *node_of = builder->node_of[t];
    for (size_t s = 0; s + 1 < stream->n_steps; s++) {
        struct decided *decided = &all[(size_t)node_of[s] * size + number];
        decided->edges = map_mix(decided->edges, (uint64_t)node_of[s + 1]);
        decided->count++;
    }
}

static bool are_same(const struct decided *decided, size_t size, bool meet) {
    for (size_t k = 1; k < size; k++)
        if (decided[k].edges != decided[0].edges || decided[k].count != decided[0].count)
            return false;
    return size > 1 ? decided[0].count >= (meet ? 2 : CONVINCING) : meet;
}

static void find_in_pool(const struct builder *builder, size_t p) {
    const struct thread_pool *pool = &builder->in->pools->pools[p];
    size_t size = (size_t)pool->size;
    if (!pool->scales || size == 0 || pool->n_threads % size != 0)
        return;
    struct decided *all = memory_alloc(builder->nodes.count * size, sizeof *all);
    for (size_t i = 0; i < pool->n_threads; i++)
        read_thread(builder, pool->threads[i], i % size, size, all);
    for (size_t n = 0; n < builder->nodes.count; n++) {
        struct node *node = &builder->model->nodes[n];
        node->common = builder->nodes.items[n].pool == (int)p && is_open(node) &&
                       are_same(&all[n * size], size, node->kind == NODE_BARRIER);
    }
    free(all);
}

void alike_find(const struct builder *builder) {
    for (size_t p = 0; p < builder->in->pools->n_pools; p++)
        find_in_pool(builder, p);
}
