#include "modelgen/scaling/pool_contents.h"

#include "modelgen/evidence.h"
#include "modelgen/scaling/pool_graph.h"

struct pool_contents pool_contents_find(struct model *model, int pool, double cpu_ns) {
    struct pool_contents found = {0};
    bool met = false; /* shares of what is done again and again between two barriers */
    struct pool_graph graph = pool_graph_make(model, pool);
    double least_ns = evidence.negligible * cpu_ns;
    for (size_t n = 0; n < model->n_nodes; n++) {
        const struct node *node = &model->nodes[n];
        if (!graph.is_own[n])
            continue;
        found.supply |=
            (node->kind == NODE_GET && pool_graph_in_loop(&graph, n) &&
             !pool_graph_takes_command(&graph, n)) ||
            (node->kind == NODE_ACQUIRE &&
             (node->timeout_ns == 0 ||
              (pool_graph_in_loop(&graph, n) && pool_graph_has_way_out(&graph, n, OUTCOME_NO)))) ||
            pool_graph_takes_by_statements(&graph, n);
        found.share |= node->stays_scaling.share > 0 && node->stays_scaling.pool == pool;
        for (size_t e = 0; e < node->n_edges; e++) {
            const struct edge *edge = &node->edges[e];
            bool between_meetings =
                pool_graph_same_loop(graph.reaches, graph.n, n, (size_t)edge->to);
            bool own = edge->cpu_scaling.pool == pool &&
                       (pool_graph_stays(&graph, n, edge) || dist_mean(&edge->cpu_ns) >= least_ns);
            met |= edge->cpu_scaling.pool == pool && between_meetings &&
                   edge->cpu_scaling.share >= 1 - evidence.negligible;
            found.share |= (own && edge->cpu_scaling.share > 0) ||
                           (edge->runs_scaling.pool == pool && edge->runs_scaling.share > 0);
            found.part |= own && edge->cpu_scaling.share > evidence.negligible &&
                          edge->cpu_scaling.share < 1 - evidence.negligible;
        }
    }
    pool_graph_free(&graph);
    found.share |= met && !found.supply;
    return found;
}

/* Does the pool take from the object in a loop of so many rounds, however many threads there are?
 * One that goes round until the object is closed takes whatever there is. */
static bool takes_so_many(const struct pool_graph *graph, int pool, int object) {
    const struct model *model = graph->model;
    for (size_t n = 0; n < graph->n; n++) {
        if (!pool_graph_takes(&model->nodes[n], object) || model->nodes[n].pool != pool)
            continue;
        bool counted = false; /* but not where it takes one from each thread */
        for (size_t m = 0; m < graph->n && !pool_graph_is_scaled(&model->nodes[n].count_scaling);
             m++)
            counted |= pool_graph_same_loop(graph->reaches, graph->n, n, m) &&
                       model->nodes[m].stays.kind != DIST_NONE &&
                       model->nodes[m].stays_scaling.pool == MODEL_NONE;
        if (!counted)
            return false;
    }
    return true;
}

int pool_contents_fixed_taker(struct model *model, int pool) {
    int who = MODEL_NONE;
    struct pool_graph graph = pool_graph_make(model, pool);
    for (size_t n = 0; n < model->n_nodes && who == MODEL_NONE; n++) {
        const struct node *node = &model->nodes[n];
        if (!graph.is_own[n] || !pool_graph_gives(node, node->object) ||
            !pool_graph_in_loop(&graph, n) || graph.supplied[n])
            continue;
        bool fits = true;
        for (size_t m = 0; m < model->n_nodes; m++) {
            if (!pool_graph_takes(&model->nodes[m], node->object) ||
                model->nodes[m].pool == MODEL_NONE)
                continue;
            who = model->nodes[m].pool;
            fits &= !model->pools[who].scales && takes_so_many(&graph, who, node->object);
        }
        who = fits ? who : MODEL_NONE;
    }
    pool_graph_free(&graph);
    return who;
}

static bool is_signalled_elsewhere(const struct model *model, int flag) {
    for (size_t n = 0; n < model->n_nodes; n++) {
        const struct node *node = &model->nodes[n];
        if (node->kind == NODE_SIGNAL && node->object == flag && node->pool != MODEL_NONE &&
            !model->pools[node->pool].scales)
            return true;
    }
    return false;
}

int pool_contents_awaited_flag(const struct model *model, int pool) {
    for (size_t n = 0; n < model->n_nodes; n++) {
        const struct node *node = &model->nodes[n];
        if (node->kind == NODE_WAIT && node->pool == pool &&
            model->objects[node->object].kind == OBJECT_FLAG &&
            is_signalled_elsewhere(model, node->object))
            return node->object;
    }
    return MODEL_NONE;
}

bool pool_contents_share_supply(const struct model *model, int pool, int other) {
    for (size_t n = 0; n < model->n_nodes; n++) {
        const struct node *node = &model->nodes[n];
        if (node->pool != pool || node->object == MODEL_NONE ||
            !pool_graph_takes(node, node->object))
            continue;
        for (size_t m = 0; m < model->n_nodes; m++)
            if (model->nodes[m].pool == other && pool_graph_takes(&model->nodes[m], node->object))
                return true;
    }
    return false;
}

bool pool_contents_is_amount(const struct model *model, int pool) {
    for (size_t o = 0; o < model->n_objects; o++)
        for (size_t t = 0; t < model->objects[o].amount.n_terms; t++)
            if (model->objects[o].amount.terms[t].pool == pool)
                return true;
    return false;
}
