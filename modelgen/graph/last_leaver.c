#include "modelgen/graph/last_leaver.h"

#include <stdbool.h>

/* The queue that is closed behind the edge, where there is one way, under a mutex perhaps;
 * MODEL_NONE: none. */
static int closed_behind(const struct model *model, const struct edge *edge) {
    size_t left = model->n_nodes;
    for (int at = edge->to; left-- > 0; at = model->nodes[at].edges[0].to) {
        const struct node *node = &model->nodes[at];
        if (node->kind == NODE_CLOSE)
            return node->object;
        if (node->n_edges != 1 || (node->kind != NODE_LOCK && node->kind != NODE_UNLOCK))
            return MODEL_NONE;
    }
    return MODEL_NONE;
}

static bool puts_into(const struct model *model, int pool, int queue) {
    for (size_t n = 0; n < model->n_nodes; n++)
        if (model->nodes[n].kind == NODE_PUT && model->nodes[n].object == queue &&
            model->nodes[n].pool == pool)
            return true;
    return false;
}

/* Did each thread of the pool come to the node once, with this edge as one's way on? Weights are
 * counts there. */
static bool is_one_of_all(const struct node *node, size_t one, int threads) {
    double all = 0;
    for (size_t e = 0; e < node->n_edges; e++) {
        if (node->edges[e].leaves || node->edges[e].runs.kind != DIST_NONE ||
            node->edges[e].when != node->edges[one].when)
            return false;
        all += node->edges[e].probability;
    }
    return threads > 1 && all == threads && node->edges[one].probability == 1;
}

void last_leaver_settle(struct model *model) {
    for (size_t n = 0; n < model->n_nodes; n++) {
        struct node *node = &model->nodes[n];
        int threads = model->pools[node->pool].profiled_threads;
        for (size_t e = 0; e < node->n_edges; e++) {
            int queue = closed_behind(model, &node->edges[e]);
            if (queue != MODEL_NONE && is_one_of_all(node, e, threads) &&
                puts_into(model, node->pool, queue))
                node->edges[e].taker = TAKER_LAST;
        }
    }
}
