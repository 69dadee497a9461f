#include "cli/prediction/variation_graph.h"

#include <stdlib.h>

#include "base/memory.h"

void variation_graph_scale_dist(struct dist *dist, double factor) {
    dist->mean *= factor;
    for (size_t i = 0; i < dist->n_values; i++)
        dist->values[i] *= factor;
}

/* ---- computing and waiting ---- */

bool variation_graph_has_cpu(const struct model *model, int pool) {
    for (size_t n = 0; n < model->n_nodes; n++) {
        const struct node *node = &model->nodes[n];
        if (node->pool != pool)
            continue;
        if (dist_mean(&node->cpu_ns) > 0)
            return true;
        for (size_t e = 0; e < node->n_edges; e++)
            if (dist_mean(&node->edges[e].cpu_ns) > 0)
                return true;
    }
    return false;
}

void variation_graph_scale_cpu(struct model *model, int pool, double factor) {
    for (size_t n = 0; n < model->n_nodes; n++) {
        struct node *node = &model->nodes[n];
        if (node->pool != pool)
            continue;
        variation_graph_scale_dist(&node->cpu_ns, factor);
        for (size_t e = 0; e < node->n_edges; e++)
            variation_graph_scale_dist(&node->edges[e].cpu_ns, factor);
    }
}

static bool waits_so(const struct node *node, int pool, enum node_kind kind) {
    return node->pool == pool && node->kind == kind && node->object == MODEL_NONE;
}

bool variation_graph_has_waits(const struct model *model, int pool, enum node_kind kind) {
    for (size_t n = 0; n < model->n_nodes; n++)
        if (waits_so(&model->nodes[n], pool, kind) && dist_mean(&model->nodes[n].wait_ns) > 0)
            return true;
    return false;
}

void variation_graph_scale_waits(struct model *model, int pool, enum node_kind kind,
                                 double factor) {
    for (size_t n = 0; n < model->n_nodes; n++)
        if (waits_so(&model->nodes[n], pool, kind))
            variation_graph_scale_dist(&model->nodes[n].wait_ns, factor);
}

/* ---- locks ---- */

static bool gets(const struct node *node, int lock) {
    return node->object == lock &&
           (node->kind == NODE_LOCK || node->kind == NODE_RDLOCK || node->kind == NODE_WRLOCK);
}

static bool gives_back(const struct node *node, int lock) {
    return node->object == lock && (node->kind == NODE_UNLOCK || node->kind == NODE_RWUNLOCK);
}

/* Nodes that a thread leaves with the lock in its hands. */
static bool *nodes_with_lock(const struct model *model, int lock) {
    bool *held = memory_alloc(model->n_nodes + 1, sizeof *held);
    for (bool more = true; more;) {
        more = false;
        for (size_t n = 0; n < model->n_nodes; n++) {
            const struct node *node = &model->nodes[n];
            if (!held[n] && !gets(node, lock))
                continue;
            more |= !held[n];
            held[n] = true;
            for (size_t e = 0; e < node->n_edges; e++) {
                const struct edge *edge = &node->edges[e];
                bool passes = gets(node, lock) ? edge->when != OUTCOME_NO : true;
                if (!passes || gives_back(&model->nodes[edge->to], lock) || held[edge->to])
                    continue;
                held[edge->to] = more = true;
            }
        }
    }
    return held;
}

void variation_graph_scale_hold(struct model *model, int lock, double factor) {
    bool *held = nodes_with_lock(model, lock);
    for (size_t n = 0; n < model->n_nodes; n++) {
        struct node *node = &model->nodes[n];
        if (!held[n])
            continue;
        if (!gets(node, lock)) { /* what getting it costs is no part of holding it */
            variation_graph_scale_dist(&node->cpu_ns, factor);
            variation_graph_scale_dist(&node->wait_ns, factor);
        }
        for (size_t e = 0; e < node->n_edges; e++)
            if (!gets(node, lock) || node->edges[e].when != OUTCOME_NO)
                variation_graph_scale_dist(&node->edges[e].cpu_ns, factor);
    }
    free(held);
}

/* ---- left out, put in ---- */

bool variation_graph_can_leave_out(const struct model *model, int object) {
    for (size_t n = 0; n < model->n_nodes; n++) {
        const struct node *node = &model->nodes[n];
        if (node->object != object)
            continue;
        if (node->kind == NODE_GET || node->kind == NODE_PUT || node->kind == NODE_CLOSE)
            return false;
        for (size_t e = 0; e < node->n_edges; e++)
            if (node->edges[e].when == OUTCOME_NO)
                return false;
    }
    return true;
}

void variation_graph_leave_out(struct model *model, int object) {
    for (size_t n = 0; n < model->n_nodes; n++) {
        struct node *node = &model->nodes[n];
        if (node->object != object)
            continue;
        node->kind = NODE_STEP;
        node->object = node->mutex = MODEL_NONE;
        node->section = 0;
        node->timeout_ns = -1;
        node->count = 0;
        node->count_scaling = (struct scaling){.pool = MODEL_NONE};
        node->gives_back = false;
        free(node->counts.values);
        node->counts = (struct dist){0};
        for (size_t e = 0; e < node->n_edges; e++)
            node->edges[e].when = OUTCOME_ANY;
    }
}

/* Where not getting it leads is never gone, if there is another way. */
static void forget_failure(struct node *node) {
    size_t kept = 0, others = 0;
    for (size_t e = 0; e < node->n_edges; e++)
        others += node->edges[e].when != OUTCOME_NO;
    for (size_t e = 0; e < node->n_edges && others > 0; e++) {
        if (node->edges[e].when == OUTCOME_NO)
            model_free_edge(&node->edges[e]);
        else
            node->edges[kept++] = node->edges[e];
    }
    if (others > 0 && kept < node->n_edges) {
        node->n_edges = kept;
        model_forget_course(node);
    }
}

void variation_graph_unlock(struct model *model, int lock) {
    for (size_t n = 0; n < model->n_nodes; n++) {
        struct node *node = &model->nodes[n];
        if (node->mutex == lock)
            node->mutex = MODEL_NONE;
        if (node->object == lock)
            forget_failure(node);
    }
    variation_graph_leave_out(model, lock);
}

static void become_mean(struct dist *dist) {
    double mean = dist_mean(dist);
    if (dist->kind == DIST_NONE)
        return;
    free(dist->values);
    *dist = (struct dist){.kind = DIST_CONSTANT, .mean = mean};
}

static void even_out(struct edge *edge) {
    become_mean(&edge->cpu_ns);
    become_mean(&edge->runs);
    free(edge->cpu_by_place);
    edge->cpu_by_place = NULL;
    edge->n_cpu_by_place = 0;
}

void variation_graph_even(struct model *model, int pool) {
    for (size_t n = 0; n < model->n_nodes; n++) {
        struct node *node = &model->nodes[n];
        if (node->pool != pool)
            continue;
        become_mean(&node->cpu_ns);
        become_mean(&node->stays);
        for (size_t e = 0; e < node->n_edges; e++)
            even_out(&node->edges[e]);
    }
}

/* Is the pool created where its creator comes by again? */
static bool is_created_over_and_over(const struct model *model, int pool) {
    bool again = false;
    for (size_t n = 0; n < model->n_nodes; n++) {
        if (model->nodes[n].kind != NODE_CREATE || model->nodes[n].target_pool != pool)
            continue;
        bool *reached = memory_alloc(model->n_nodes, sizeof *reached);
        model_mark_reached(model, (int)n, NULL, reached);
        again |= reached[n];
        free(reached);
    }
    return again;
}

/* A sleep right behind the pool's start. */
static void add_sleep(struct model *model, int pool, double wait_ns) {
    int index =
        model_add_node(model, pool, NODE_SLEEP,
                       memory_format("%s: waits that were left out", model->pools[pool].name));
    struct node *start = &model->nodes[model->pools[pool].entry], *sleep = &model->nodes[index];
    sleep->wait_ns = (struct dist){.kind = DIST_CONSTANT, .mean = wait_ns};
    sleep->n_edges = start->n_edges;
    sleep->edges = start->edges;
    start->edges = NULL;
    start->n_edges = 0;
    model_add_edge(start, index);
}

void variation_graph_add_wait(struct model *model, double wait_ns) {
    bool *waits = memory_alloc(model->n_pools + 1, sizeof *waits);
    double threads = 0;
    for (size_t p = 0; p < model->n_pools; p++) {
        waits[p] = !model->pools[p].at_start && !is_created_over_and_over(model, (int)p);
        threads += waits[p] ? model->pools[p].profiled_threads : 0;
    }
    for (size_t p = 0; p < model->n_pools && threads == 0; p++)
        if (model->pools[p].at_start) {
            waits[p] = true;
            threads = model->pools[p].profiled_threads;
        }
    for (size_t p = 0; p < model->n_pools; p++)
        if (waits[p])
            add_sleep(model, (int)p, wait_ns / threads);
    free(waits);
}
