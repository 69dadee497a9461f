#include "modelgen/scaling/pool_shares.h"

#include "modelgen/graph/model_builder.h"
#include "modelgen/notes.h"
#include "modelgen/scaling/pool_graph.h"

/* The supply that the node's loop takes from; MODEL_NONE when it may follow the threads. */
static int steady_supply(const struct pool_graph *graph, size_t n) {
    const struct model *model = graph->model;
    int found = MODEL_NONE;
    for (size_t m = 0; m < graph->n; m++) {
        if (!graph->is_own[m] || !pool_graph_same_loop(graph->loops, graph->n, n, m) ||
            !pool_graph_takes_supply(graph, m))
            continue;
        found = model->nodes[m].object;
        if (pool_graph_may_follow_threads(graph, found))
            return MODEL_NONE;
    }
    return found;
}

void pool_shares_keep_items(struct model *model, int pool) {
    struct pool_graph graph = pool_graph_make(model, pool);
    for (size_t n = 0; n < graph.n; n++) {
        struct node *node = &model->nodes[n];
        if (!graph.is_own[n] || !graph.supplied[n] || steady_supply(&graph, n) == MODEL_NONE)
            continue;
        for (size_t e = 0; e < node->n_edges; e++)
            if (pool_graph_stays(&graph, n, &node->edges[e]))
                model_builder_make_no_share(&node->edges[e].cpu_scaling);
    }
    pool_graph_free(&graph);
}

void pool_shares_keep_outside(struct model *model, int pool, double outside_ns) {
    struct pool_graph graph = pool_graph_make(model, pool);
    double split_ns = 0; /* per thread */
    for (int apply = 0; apply < 2; apply++)
        for (size_t n = 0; n < model->n_nodes; n++)
            for (size_t e = 0; graph.is_own[n] && e < model->nodes[n].n_edges; e++) {
                struct edge *edge = &model->nodes[n].edges[e];
                if (edge->cpu_scaling.share == 0)
                    continue;
                if (!apply)
                    split_ns += dist_mean(&edge->cpu_ns);
                else if (outside_ns < split_ns)
                    edge->cpu_scaling.share = 1 - outside_ns / split_ns;
                else
                    model_builder_make_own(&edge->cpu_scaling);
            }
    pool_graph_free(&graph);
}

/* Does the number of rounds of a loop around the node follow the threads, or what is there to be
 * taken? */
static bool follows_already(const struct pool_graph *graph, size_t n) {
    if (graph->supplied[n])
        return true;
    for (size_t m = 0; m < graph->n; m++) {
        const struct node *node = &graph->model->nodes[m];
        if (!pool_graph_same_loop(graph->loops, graph->n, n, m))
            continue;
        if (pool_graph_is_scaled(&node->stays_scaling))
            return true;
        for (size_t e = 0; e < node->n_edges; e++)
            if (pool_graph_stays(graph, m, &node->edges[e]) &&
                pool_graph_is_scaled(&node->edges[e].runs_scaling))
                return true;
    }
    return false;
}

bool pool_shares_split_commands(struct model *model, int pool) {
    bool any = false, guessed = false;
    struct pool_graph graph = pool_graph_make(model, pool);
    for (size_t n = 0; n < graph.n; n++)
        any |= pool_graph_takes_command(&graph, n);
    for (size_t n = 0; any && n < graph.n; n++) {
        if (!graph.is_own[n] || follows_already(&graph, n))
            continue;
        for (size_t e = 0; e < model->nodes[n].n_edges; e++) {
            struct scaling *scaling = &model->nodes[n].edges[e].cpu_scaling;
            if (pool_graph_is_scaled(scaling))
                continue;
            guessed |= dist_mean(&model->nodes[n].edges[e].cpu_ns) > 0;
            model_builder_make_share(scaling, pool, 0);
        }
    }
    pool_graph_free(&graph);
    if (guessed)
        notes_add(model,
                  "%s: each round there is a command for each thread; what the source does not say "
                  "of their computation is taken as a part of the round's total",
                  model->pools[pool].name);
    return any;
}

static bool is_taken_by(const struct pool_graph *graph, int object) {
    for (size_t n = 0; n < graph->n; n++)
        if (graph->is_own[n] && pool_graph_takes(&graph->model->nodes[n], object))
            return true;
    return false;
}

/* Does the node decide how often its loop goes round, the less often the more threads there are? */
static bool decides_rounds(const struct node *node, int pool) {
    bool decides = node->stays_scaling.share > 0 && node->stays_scaling.pool == pool;
    for (size_t e = 0; e < node->n_edges; e++)
        decides |=
            node->edges[e].runs_scaling.share > 0 && node->edges[e].runs_scaling.pool == pool;
    return decides;
}

bool pool_shares_grow_handed_out(struct model *model, int pool) {
    bool follows = false;
    struct pool_graph graph = pool_graph_make(model, pool);
    for (size_t c = 0; c < model->n_nodes; c++) {
        if (model->nodes[c].kind != NODE_CREATE || model->nodes[c].target_pool != pool)
            continue;
        for (size_t n = 0; n < model->n_nodes; n++)
            if (pool_graph_same_loop(graph.reaches, graph.n, c, n))
                follows |= decides_rounds(&model->nodes[n], pool);
        for (size_t n = 0; n < model->n_nodes && follows; n++)
            if (model->nodes[n].kind == NODE_RELEASE && model->nodes[n].count > 1 &&
                pool_graph_same_loop(graph.reaches, graph.n, c, n) &&
                is_taken_by(&graph, model->nodes[n].object))
                model->nodes[n].count_scaling = (struct scaling){.pool = pool, .growth = 1};
    }
    pool_graph_free(&graph);
    return follows;
}
