#include "modelgen/scaling/pool_graph.h"

#include <stdlib.h>

#include "base/memory.h"
#include "modelgen/graph/model_builder.h"
#include "modelgen/graph/statement_nodes.h"

/* Is what the node waits for signalled by the pool's own threads? */
static bool is_signalled_inside(const struct pool_graph *graph, size_t n) {
    const struct node *nodes = graph->model->nodes;
    for (size_t m = 0; m < graph->n; m++)
        if (graph->is_own[m] && nodes[m].kind == NODE_SIGNAL && nodes[m].object == nodes[n].object)
            return true;
    return false;
}

bool pool_graph_gives(const struct node *node, int object) {
    return node->object == object && (node->kind == NODE_PUT || node->kind == NODE_RELEASE);
}

bool pool_graph_is_scaled(const struct scaling *scaling) {
    return scaling->share > 0 || scaling->growth > 0;
}

static bool grows(const struct node *node) {
    bool any = node->stays_scaling.growth > 0 || node->count_scaling.growth > 0;
    for (size_t e = 0; e < node->n_edges; e++)
        any |= node->edges[e].runs_scaling.growth > 0;
    return any;
}

/* Is the node in a loop that has more rounds with more threads? That they are created in one says
 * nothing of what they are given later. */
static bool goes_by_threads(const struct pool_graph *graph, size_t node) {
    for (size_t n = 0; n < graph->n; n++)
        if (grows(&graph->model->nodes[n]) &&
            (n == node || pool_graph_same_loop(graph->reaches, graph->n, n, node)))
            return true;
    return false;
}

bool pool_graph_may_follow_threads(const struct pool_graph *graph, int object) {
    const struct model *model = graph->model;
    if (model->objects[object].amount.n_terms > 0)
        return true;
    if (model->objects[object].items_in_all > 0)
        return false;
    for (size_t n = 0; n < graph->n; n++) {
        const struct node *node = &model->nodes[n];
        bool acts = node->kind == NODE_STATEMENTS && node->object == object && !graph->is_own[n];
        if (!acts && !pool_graph_gives(node, object))
            continue;
        if ((node->pool != MODEL_NONE && model->pools[node->pool].scales) ||
            goes_by_threads(graph, n))
            return true;
    }
    return false;
}

/* Is it a queue of commands: does who fills it count what is outstanding, and wait for that? */
static bool is_for_commands(const struct model *model, int object) {
    for (size_t n = 0; n < model->n_nodes; n++) {
        const struct node *node = &model->nodes[n];
        if (node->kind != NODE_RELEASE || node->count >= 0 || node->n_edges != 1)
            continue;
        const struct node *next = &model->nodes[node->edges[0].to];
        if (next->kind == NODE_TASK_BEGIN && next->n_edges == 1)
            next = &model->nodes[next->edges[0].to];
        if (next->kind == NODE_PUT && next->object == object)
            return true;
    }
    return false;
}

bool pool_graph_takes_command(const struct pool_graph *graph, size_t n) {
    const struct node *node = &graph->model->nodes[n];
    return graph->is_own[n] && node->kind == NODE_GET &&
           is_for_commands(graph->model, node->object) &&
           pool_graph_may_follow_threads(graph, node->object);
}

/* Threads that wait for each other here go round equally often: such a loop's rounds are nobody's
 * share. */
static bool is_meeting(const struct pool_graph *graph, size_t n) {
    const struct node *node = &graph->model->nodes[n];
    enum node_kind kind = node->kind;
    return kind == NODE_BARRIER || pool_graph_takes_command(graph, n) ||
           (kind == NODE_TURN && graph->model->objects[node->object].in_rounds) ||
           (kind == NODE_WAIT && is_signalled_inside(graph, n)) ||
           (kind == NODE_STATEMENTS && statement_nodes_meet(graph->model, n));
}

/* Between the nodes that may be passed. */
static void find_paths(const struct model *model, const bool *may_pass, bool *reaches) {
    for (size_t start = 0; start < model->n_nodes; start++)
        if (may_pass[start])
            model_mark_reached(model, (int)start, may_pass, reaches + start * model->n_nodes);
}

bool pool_graph_same_loop(const bool *reaches, size_t n, size_t a, size_t b) {
    return reaches[a * n + b] && reaches[b * n + a];
}

/* Tokens that the pool's own threads give back are a lock rather than a supply. */
static bool gives_back(const struct pool_graph *graph, int object) {
    for (size_t m = 0; m < graph->n; m++)
        if (graph->is_own[m] && graph->model->nodes[m].kind == NODE_RELEASE &&
            graph->model->nodes[m].object == object)
            return true;
    return false;
}

bool pool_graph_takes(const struct node *node, int object) {
    return node->object == object && (node->kind == NODE_GET || node->kind == NODE_ACQUIRE);
}

/* Tokens that come back for what the pool hands on: they bound how much is under way. What is
 * closed when there is no more of it is work. */
static bool is_credit(const struct pool_graph *graph, int object) {
    const struct model *model = graph->model;
    if (model_builder_is_closed(model, object))
        return false;
    for (size_t back = 0; back < graph->n; back++) {
        if (graph->is_own[back] || !pool_graph_gives(&model->nodes[back], object))
            continue;
        for (size_t own = 0; own < graph->n; own++) {
            int handed_on = model->nodes[own].object;
            if (!graph->is_own[own] || handed_on == object ||
                !pool_graph_gives(&model->nodes[own], handed_on))
                continue;
            for (size_t taker = 0; taker < graph->n; taker++)
                if (!graph->is_own[taker] && pool_graph_takes(&model->nodes[taker], handed_on) &&
                    pool_graph_same_loop(graph->reaches, graph->n, taker, back))
                    return true;
        }
    }
    return false;
}

bool pool_graph_takes_by_statements(const struct pool_graph *graph, size_t n) {
    const struct node *node = &graph->model->nodes[n];
    if (node->kind != NODE_STATEMENTS)
        return false;
    for (size_t e = 0; e < node->n_edges; e++)
        if (node->edges[e].when == OUTCOME_NO &&
            !graph->reaches[(size_t)node->edges[e].to * graph->n + n])
            return true;
    return statement_nodes_are_handed(graph->model, n);
}

bool pool_graph_takes_supply(const struct pool_graph *graph, size_t n) {
    const struct node *node = &graph->model->nodes[n];
    return node->kind == NODE_GET || pool_graph_takes_by_statements(graph, n) ||
           (node->kind == NODE_ACQUIRE && !gives_back(graph, node->object) &&
            !is_credit(graph, node->object));
}

struct pool_graph pool_graph_make(struct model *model, int pool) {
    size_t n = model->n_nodes;
    struct pool_graph graph = {.model = model,
                               .n = n,
                               .pool = pool,
                               .is_own = memory_alloc(n, sizeof(bool)),
                               .reaches = memory_alloc(n * n, sizeof(bool)),
                               .loops = memory_alloc(n * n, sizeof(bool)),
                               .supplied = memory_alloc(n, sizeof(bool))};
    bool *all = memory_alloc(n, sizeof *all), *apart = memory_alloc(n, sizeof *apart);
    for (size_t i = 0; i < n; i++) {
        all[i] = true;
        graph.is_own[i] = model->nodes[i].pool == pool;
    }
    find_paths(model, all, graph.reaches);
    for (size_t i = 0; i < n; i++)
        apart[i] = graph.is_own[i] && !is_meeting(&graph, i);
    find_paths(model, apart, graph.loops);
    for (size_t j = 0; j < n; j++)
        if (graph.is_own[j] && pool_graph_takes_supply(&graph, j))
            for (size_t i = 0; i < n; i++)
                graph.supplied[i] |= pool_graph_same_loop(graph.loops, n, i, j);
    free(all);
    free(apart);
    return graph;
}

void pool_graph_free(struct pool_graph *graph) {
    free(graph->is_own);
    free(graph->reaches);
    free(graph->loops);
    free(graph->supplied);
}

bool pool_graph_in_loop(const struct pool_graph *graph, size_t node) {
    return graph->loops[node * graph->n + node];
}

bool pool_graph_stays(const struct pool_graph *graph, size_t node, const struct edge *edge) {
    return pool_graph_same_loop(graph->loops, graph->n, node, (size_t)edge->to);
}

bool pool_graph_has_way_out(const struct pool_graph *graph, size_t n, enum outcome when) {
    const struct node *node = &graph->model->nodes[n];
    for (size_t e = 0; e < node->n_edges; e++)
        if (node->edges[e].when == when && !pool_graph_stays(graph, n, &node->edges[e]))
            return true;
    return false;
}
