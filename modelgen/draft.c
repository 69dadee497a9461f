#include "modelgen/draft.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

int draft_object(struct model *model, enum object_kind kind, char *name) {
    model->objects = memory_resize(model->objects, model->n_objects + 1, sizeof *model->objects);
    model->objects[model->n_objects] = (struct object){.kind = kind,
                                                       .name = name,
                                                       .servers = 1,
                                                       .dealt_to = MODEL_NONE,
                                                       .condition_of = MODEL_NONE};
    return (int)model->n_objects++;
}

int draft_pool(struct model *model, char *name) {
    model->pools = memory_resize(model->pools, model->n_pools + 1, sizeof *model->pools);
    model->pools[model->n_pools] = (struct pool){.name = name, .entry = MODEL_NONE};
    return (int)model->n_pools++;
}

int draft_node(struct model *model, enum node_kind kind, char *name) {
    model->nodes = memory_resize(model->nodes, model->n_nodes + 1, sizeof *model->nodes);
    model->nodes[model->n_nodes] = (struct node){.name = name,
                                                 .kind = kind,
                                                 .object = MODEL_NONE,
                                                 .mutex = MODEL_NONE,
                                                 .target_pool = MODEL_NONE,
                                                 .timeout_ns = -1,
                                                 .count_scaling.pool = MODEL_NONE,
                                                 .stays_scaling.pool = MODEL_NONE};
    return (int)model->n_nodes++;
}

struct edge *draft_edge(struct node *node, int to) {
    node->edges = memory_resize(node->edges, node->n_edges + 1, sizeof *node->edges);
    struct edge *edge = &node->edges[node->n_edges++];
    *edge = (struct edge){.to = to,
                          .probability = 1,
                          .runs_scaling.pool = MODEL_NONE,
                          .cpu_scaling.pool = MODEL_NONE};
    return edge;
}

static double *copy_numbers(const double *numbers, size_t n) {
    double *copy = n ? memory_alloc(n, sizeof *copy) : NULL;
    if (n)
        memcpy(copy, numbers, n * sizeof *copy);
    return copy;
}

static struct dist copy_dist(const struct dist *dist) {
    struct dist copy = *dist;
    copy.values = copy_numbers(dist->values, dist->n_values);
    return copy;
}

bool draft_copy_edges(const struct node *from, enum outcome when, struct node *to) {
    bool found = false;
    for (size_t e = 0; e < from->n_edges; e++) {
        if (from->edges[e].when != when || from->edges[e].leaves)
            continue;
        struct edge copy = from->edges[e];
        copy.cpu_ns = copy_dist(&copy.cpu_ns);
        copy.runs = copy_dist(&copy.runs);
        copy.cpu_by_place = copy_numbers(copy.cpu_by_place, copy.n_cpu_by_place);
        *draft_edge(to, copy.to) = copy;
        found = true;
    }
    return found;
}

bool draft_is_closed(const struct model *model, int object) {
    for (size_t n = 0; n < model->n_nodes; n++)
        if (model->nodes[n].kind == NODE_CLOSE && model->nodes[n].object == object)
            return true;
    return false;
}

void draft_remove_unreachable(struct model *model) {
    bool *reachable = memory_alloc(model->n_nodes, sizeof *reachable);
    int *number = memory_alloc(model->n_nodes, sizeof *number);
    for (size_t p = 0; p < model->n_pools; p++) {
        reachable[model->pools[p].entry] = true;
        model_mark_reached(model, model->pools[p].entry, NULL, reachable);
    }
    size_t kept = 0;
    for (size_t n = 0; n < model->n_nodes; n++) {
        number[n] = (int)kept;
        if (reachable[n])
            model->nodes[kept++] = model->nodes[n];
        else
            model_free_node(&model->nodes[n]);
    }
    model->n_nodes = kept;
    for (size_t n = 0; n < kept; n++)
        for (size_t e = 0; e < model->nodes[n].n_edges; e++)
            model->nodes[n].edges[e].to = number[model->nodes[n].edges[e].to];
    for (size_t p = 0; p < model->n_pools; p++)
        model->pools[p].entry = number[model->pools[p].entry];
    free(reachable);
    free(number);
}

bool draft_node_in_pool(const struct node *node, const struct pool *pool) {
    size_t length = strlen(pool->name);
    return strncmp(node->name, pool->name, length) == 0 && node->name[length] == ':';
}

size_t draft_pool_of(const struct model *model, size_t node) {
    size_t p = 0;
    while (p < model->n_pools && !draft_node_in_pool(&model->nodes[node], &model->pools[p]))
        p++;
    return p;
}

/* Takes the text; each is there once. */
static void add_text(char *text, char ***texts, size_t *n) {
    for (size_t i = 0; i < *n; i++)
        if (strcmp((*texts)[i], text) == 0) {
            free(text);
            return;
        }
    *texts = memory_resize(*texts, *n + 1, sizeof **texts);
    (*texts)[(*n)++] = text;
}

void draft_note(struct model *model, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    add_text(memory_vformat(format, arguments), &model->notes, &model->n_notes);
    va_end(arguments);
}

void draft_outside(struct model *model, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    add_text(memory_vformat(format, arguments), &model->outside, &model->n_outside);
    va_end(arguments);
}

struct linear draft_constant(double value) {
    return (struct linear){.base = value};
}

struct linear draft_asked(const struct thread_pools *pools, size_t p, double offset,
                          double factor) {
    const struct thread_pool *pool = &pools->pools[p];
    double each = factor / pool->factor;
    return draft_per_thread(offset - each * pool->offset, (int)p, each);
}

struct linear draft_said(const struct facts_amount *amount, const struct thread_pools *pools) {
    for (size_t p = 0; amount->follows_threads && p < pools->n_pools; p++)
        if (pools_follows(pools, p))
            return draft_asked(pools, p, amount->offset, amount->factor);
    return amount->constant ? draft_constant(amount->offset) : LINEAR_UNKNOWN;
}

struct linear draft_per_thread(double base, int pool, double factor) {
    struct linear amount = {.base = base};
    draft_add_per_thread(&amount, pool, factor);
    return amount;
}

void draft_add_per_thread(struct linear *amount, int pool, double factor) {
    amount->terms = memory_resize(amount->terms, amount->n_terms + 1, sizeof *amount->terms);
    amount->terms[amount->n_terms++] = (struct linear_term){pool, factor};
}
