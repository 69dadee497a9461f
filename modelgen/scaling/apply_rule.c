#include "modelgen/scaling/apply_rule.h"

#include <stdlib.h>

#include "base/memory.h"
#include "modelgen/graph/model_builder.h"

/* A total of rounds where loops show, else of computation. */
static void split_node(struct pool_graph *graph, size_t n) {
    struct node *node = &graph->model->nodes[n];
    int threads = graph->model->pools[graph->pool].profiled_threads;
    if (graph->supplied[n])
        return;
    bool loop = pool_graph_in_loop(graph, n);
    for (size_t e = 0; e < node->n_edges; e++) {
        struct edge *edge = &node->edges[e];
        if (!loop || !pool_graph_stays(graph, n, edge)) {
            model_builder_make_share(&edge->cpu_scaling, graph->pool, 0);
            continue;
        }
        model_builder_make_own(&edge->cpu_scaling);
        bool counted = node->stays.kind != DIST_NONE;
        if (edge->runs.kind != DIST_NONE && !counted &&
            pool_graph_has_way_out(graph, n, edge->when))
            model_builder_make_share(&edge->runs_scaling, graph->pool, 1);
    }
    if (!loop || node->stays.kind == DIST_NONE)
        return;
    model_builder_make_share(&node->stays_scaling, graph->pool, 1);
    if (node->stays_scaling.rest != REST_NONE)
        model_builder_even_out(&node->stays, &node->stays_scaling, threads);
}

static void own_node(struct pool_graph *graph, size_t n) {
    struct node *node = &graph->model->nodes[n];
    model_builder_make_own(&node->stays_scaling);
    for (size_t e = 0; e < node->n_edges; e++) {
        model_builder_make_own(&node->edges[e].cpu_scaling);
        model_builder_make_own(&node->edges[e].runs_scaling);
    }
}

/* Only a supply that is there from the start can be as large as the team. */
static bool is_initial_supply(const struct model *model, int object) {
    for (size_t n = 0; n < model->n_nodes; n++)
        if (pool_graph_gives(&model->nodes[n], object))
            return false;
    return model->objects[object].kind == OBJECT_TOKENS &&
           model->objects[object].amount.n_terms == 0;
}

static int own_supplies(struct pool_graph *graph, struct error *error) {
    struct model *model = graph->model;
    const struct pool *pool = &model->pools[graph->pool];
    for (size_t n = 0; n < model->n_nodes; n++)
        if (graph->is_own[n] && pool_graph_takes_supply(graph, n) &&
            !is_initial_supply(model, model->nodes[n].object))
            return error_set(error,
                             "%s=perthread: its work comes from %s, which other threads fill: only "
                             "shared fits",
                             pool->name, model->objects[model->nodes[n].object].name);
    for (size_t n = 0; n < model->n_nodes; n++) {
        if (!graph->is_own[n] || !pool_graph_takes_supply(graph, n))
            continue;
        struct linear *amount = &model->objects[model->nodes[n].object].amount;
        if (amount->n_terms == 0)
            *amount =
                model_builder_per_thread(0, graph->pool, amount->base / pool->profiled_threads);
    }
    return 0;
}

/* What the node must answer for its thread to decide whether to go round again. */
static enum outcome outcome_of_rounds(const struct node *node) {
    for (size_t e = 0; e < node->n_edges; e++)
        if (node->edges[e].leaves)
            return node->edges[e].when;
    return OUTCOME_ANY;
}

/* How often all threads together went round again. Where several edges do, they were counted; else
 * each thread did as those of which the end is known. */
static double count_rounds(const struct node *decider, int threads) {
    double counted = 0;
    int n = 0;
    for (size_t e = 0; e < decider->n_edges; e++) {
        const struct edge *edge = &decider->edges[e];
        if (edge->leaves || edge->when != outcome_of_rounds(decider))
            continue; /* a way out by another answer is no round */
        n++;
        counted += edge->probability * (edge->runs.kind == DIST_NONE ? 1 : dist_mean(&edge->runs));
    }
    return n > 1 ? counted : dist_mean(&decider->stays) * threads;
}

/* A node that takes a token for one more round, or tells that there is none. */
static int draft_taker(struct model *model, int pool, int object) {
    int taker = model_add_node(model, pool, NODE_ACQUIRE,
                               memory_format("%s: next round", model->pools[pool].name));
    model->nodes[taker].object = object;
    model->nodes[taker].timeout_ns = 0;
    return taker;
}

/* Appends `from`'s edges for the outcome to those of `to`, and leaves it without. */
static void move_edges(struct node *from, enum outcome when, struct node *to) {
    size_t kept = 0;
    for (size_t e = 0; e < from->n_edges; e++)
        if (from->edges[e].when == when)
            *model_add_edge(to, from->edges[e].to) = from->edges[e];
        else
            from->edges[kept++] = from->edges[e];
    from->n_edges = kept;
    model_forget_course(from);
}

/* Each round but a thread's first takes a token: the place that decides whether to go round again
 * is followed by one that asks for it, which is given. */
static int supply_rounds(struct pool_graph *graph, size_t n) {
    struct model *model = graph->model;
    const struct pool *pool = &model->pools[graph->pool];
    const struct node *decider = &model->nodes[n];
    double known = decider->stays_scaling.rest != REST_NONE ? decider->stays_scaling.total : 0;
    int threads = pool->profiled_threads;
    double rounds = known > 0 ? known : count_rounds(decider, threads) + threads;
    int object =
        model_add_object(model, OBJECT_TOKENS, memory_format("rounds at %s", decider->name));
    model->objects[object].amount = model_builder_per_thread(rounds, graph->pool, -1);
    model->objects[object].evidence = memory_strdup("rounds of the pool, which its threads share");
    int taker = draft_taker(model, graph->pool, object);
    struct node *node = &model->nodes[n], *take = &model->nodes[taker];
    enum outcome answer = outcome_of_rounds(node);
    move_edges(node, answer, take);
    for (size_t e = 0; e < take->n_edges; e++) {
        take->edges[e].when = take->edges[e].leaves ? OUTCOME_NO : OUTCOME_YES;
        take->edges[e].leaves = false;
        model_builder_make_own(&take->edges[e].cpu_scaling);
    }
    free(node->stays.values);
    node->stays = (struct dist){0};
    node->stays_scaling = (struct scaling){.pool = MODEL_NONE};
    model_add_edge(node, taker)->when = answer;
    return taker;
}

/* A thread's first round takes no token, at one of its loop's places: at the others all rounds do.
 */
static void count_first_rounds_elsewhere(struct pool_graph *graph, int object) {
    struct linear *amount = &graph->model->objects[object].amount;
    if (amount->n_terms == 0)
        return;
    double rounds = amount->base - graph->model->pools[graph->pool].profiled_threads;
    free(amount->terms);
    *amount = model_builder_constant(rounds);
}

/* A loop whose threads decide at several places whether to go round again is done when the rounds
 * of all of them are: who finds none left at one goes on with those of another. */
static void join_rounds(struct pool_graph *graph, const int *taker_at) {
    struct model *model = graph->model;
    for (size_t n = 0; n < graph->n; n++) {
        int last = taker_at[n];
        for (size_t m = 0; m < graph->n && last != MODEL_NONE; m++) {
            if (m == n || taker_at[m] == MODEL_NONE ||
                !pool_graph_same_loop(graph->loops, graph->n, n, m))
                continue;
            int next = draft_taker(model, graph->pool, model->nodes[taker_at[m]].object);
            model_builder_copy_edges(&model->nodes[taker_at[m]], OUTCOME_YES, &model->nodes[next]);
            move_edges(&model->nodes[last], OUTCOME_NO, &model->nodes[next]);
            model_add_edge(&model->nodes[last], next)->when = OUTCOME_NO;
            last = next;
            if (m > n)
                count_first_rounds_elsewhere(graph, model->nodes[next].object);
        }
    }
}

/* May its rounds become a supply: a loop that a thread passes once, with this one way out? */
static bool can_supply(const struct pool_graph *graph, size_t n) {
    const struct node *node = &graph->model->nodes[n];
    size_t total = graph->n;
    if (!pool_graph_in_loop(graph, n) || graph->supplied[n] || node->stays.kind == DIST_NONE)
        return false;
    for (size_t e = 0; e < node->n_edges; e++)
        if (node->edges[e].when != outcome_of_rounds(node) &&
            pool_graph_stays(graph, n, &node->edges[e]))
            return false;
    for (size_t m = 0; m < total; m++)
        if (pool_graph_same_loop(graph->reaches, total, n, m) &&
            !pool_graph_same_loop(graph->loops, total, n, m))
            return false;
    return true;
}

/* First come, first served: all get done at about the same time, whoever did how much. */
static void level_node(struct pool_graph *graph, size_t n) {
    struct node *node = &graph->model->nodes[n];
    split_node(graph, n);
    for (size_t e = 0; e < node->n_edges; e++) {
        struct edge *edge = &node->edges[e];
        if (edge->cpu_scaling.share == 0)
            continue;
        edge->cpu_scaling.rest = REST_NONE;
        double mean = dist_mean(&edge->cpu_ns);
        free(edge->cpu_ns.values);
        edge->cpu_ns = (struct dist){.kind = mean > 0 ? DIST_CONSTANT : DIST_NONE, .mean = mean};
    }
    node->stays_scaling.rest = REST_NONE;
}

/* Who takes what there is has no place in it, and goes on as long as there is more. */
static void forget_place(struct node *node) {
    model_forget_course(node);
    for (size_t e = 0; e < node->n_edges; e++)
        node->edges[e].n_cpu_by_place = 0;
}

int apply_rule(struct pool_graph *graph, enum partition rule, struct error *error) {
    size_t n_nodes = graph->model->n_nodes;
    if (rule == PARTITION_PERTHREAD && own_supplies(graph, error) < 0)
        return -1;
    int *taker_at = memory_alloc(n_nodes, sizeof *taker_at);
    for (size_t n = 0; n < n_nodes; n++) {
        taker_at[n] = MODEL_NONE;
        if (!graph->is_own[n])
            continue;
        if (rule == PARTITION_SHARED)
            forget_place(&graph->model->nodes[n]);
        if (rule == PARTITION_PERTHREAD)
            own_node(graph, n);
        else if (rule == PARTITION_FIXED)
            split_node(graph, n);
        else if (can_supply(graph, n))
            taker_at[n] = supply_rounds(graph, n);
        else
            level_node(graph, n);
    }
    join_rounds(graph, taker_at);
    free(taker_at);
    return 0;
}
