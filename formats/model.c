/* What every user of a model needs besides reading and writing it: values,
 * names, and the end of its life. */
#include "formats/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_sort_double.h>

#include "base/memory.h"

int model_bounded(int threads, int least, int most) {
    if (most > 0 && threads > most)
        return most;
    return threads < least ? least : threads;
}

int model_find_pool(const struct model *model, const char *name) {
    for (size_t p = 0; p < model->n_pools; p++)
        if (strcmp(model->pools[p].name, name) == 0)
            return (int)p;
    return MODEL_NONE;
}

int model_within_cores(const struct pool *pool, int threads, int cores, int recorded_cores) {
    if (pool->cores_factor == 0)
        return threads;
    int counted = pool->cores_online && recorded_cores > cores ? recorded_cores : cores;
    double most = fmax(floor(pool->cores_factor * counted + pool->cores_offset), 1);
    return threads > most ? (int)most : threads;
}

double linear_value(const struct linear *linear, const int *pool_threads) {
    double value = linear->base;
    for (size_t i = 0; i < linear->n_terms; i++)
        value += linear->terms[i].factor * pool_threads[linear->terms[i].pool];
    return value;
}

bool linear_is_known(const struct linear *linear) {
    return !isnan(linear->base);
}

double dist_mean(const struct dist *dist) {
    switch (dist->kind) {
    case DIST_NONE:
        return 0;
    case DIST_UNIFORM:
        return (dist->values[0] + dist->values[1]) / 2;
    case DIST_CONSTANT:
    case DIST_EMPIRICAL:
    case DIST_EXPONENTIAL:
        break;
    }
    return dist->mean;
}

double dist_bin_mean(const double *sorted, double from, double to, size_t n) {
    double sum = 0;
    for (size_t i = (size_t)from; i < n && (double)i < to; i++)
        sum += sorted[i] * (fmin(to, (double)i + 1) - fmax(from, (double)i));
    return sum / (to - from);
}

struct dist dist_from_values(double *values, size_t n, size_t limit) {
    if (n == 0)
        return (struct dist){.kind = DIST_NONE};
    gsl_sort(values, 1, n);
    if (values[0] == values[n - 1])
        return (struct dist){.kind = DIST_CONSTANT, .mean = values[0]};

    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += values[i];
    if (limit < 2)
        return (struct dist){.kind = DIST_CONSTANT, .mean = sum / (double)n};

    struct dist dist = {.kind = DIST_EMPIRICAL, .mean = sum / (double)n};
    dist.n_values = n < limit ? n : limit;
    dist.values = memory_alloc(dist.n_values, sizeof *dist.values);
    if (n <= limit) {
        memcpy(dist.values, values, n * sizeof *values);
        return dist;
    }
    double width = (double)n / (double)limit;
    for (size_t i = 0; i < limit; i++) {
        double end = i + 1 == limit ? (double)n : (double)(i + 1) * width;
        dist.values[i] = dist_bin_mean(values, (double)i * width, end, n);
    }
    /* Rounding must not turn equal neighbours into a descending pair. */
    for (size_t i = 1; i < limit; i++)
        dist.values[i] = fmax(dist.values[i], dist.values[i - 1]);
    return dist;
}

static void free_texts(char **texts, size_t n) {
    for (size_t i = 0; i < n; i++)
        free(texts[i]);
    free(texts);
}

static void free_monitor(struct hand_made *monitor) {
    for (size_t i = 0; i < monitor->n_operations; i++)
        free(monitor->operations[i].function);
    free_texts(monitor->evidence, monitor->n_evidence);
    free(monitor->operations);
    free(monitor->made_of);
    free(monitor->amount.terms);
    free(monitor->name);
    free(monitor->why);
}

bool statement_section_answers(const struct statement_section *section) {
    for (size_t i = 0; i < section->n_statements; i++)
        if (section->statements[i].answers)
            return true;
    return false;
}

static void free_expression(struct expression *expression) {
    free(expression->text);
    free(expression->postfix);
}

static void free_section(struct statement_section *section) {
    for (size_t i = 0; i < section->n_statements; i++) {
        free_expression(&section->statements[i].guard);
        free_expression(&section->statements[i].value);
        free_expression(&section->statements[i].predicate);
    }
    free(section->statements);
    free(section->name);
}

static void free_object(struct object *object) {
    for (size_t i = 0; i < object->n_variables; i++) {
        free(object->variables[i].name);
        free(object->variables[i].initial.terms);
    }
    for (size_t i = 0; i < object->n_sections; i++)
        free_section(&object->sections[i]);
    free_texts(object->conditions, object->n_conditions);
    free(object->variables);
    free(object->sections);
    free(object->name);
    free(object->amount.terms);
    free(object->refilled_after.terms);
    free(object->service_ns.values);
    for (size_t i = 0; i < object->n_distances; i++)
        free(object->distances[i].service_ns.values);
    free(object->distances);
    free(object->alone_ns.values);
    free(object->gaps);
    free(object->interarrival_ns.values);
    free(object->think_ns.values);
    free(object->request_bytes.values);
    free(object->reply_bytes.values);
    free(object->evidence);
}

static void free_pool(struct pool *pool) {
    free(pool->name);
    free(pool->origin);
    free(pool->threads.terms);
    free(pool->rule);
    free(pool->one_thread);
    free(pool->tree);
    free(pool->uncounted);
    free(pool->capped);
    free(pool->remade);
    free(pool->refill);
}

void model_mark_reached(const struct model *model, int from, const bool *may_pass, bool *reached) {
    int *stack = memory_alloc(model->n_nodes + 1, sizeof *stack);
    size_t depth = 0;
    stack[depth++] = from;
    while (depth > 0) {
        const struct node *node = &model->nodes[stack[--depth]];
        for (size_t e = 0; e < node->n_edges; e++) {
            int to = node->edges[e].to;
            if (reached[to] || (may_pass && !may_pass[to]))
                continue;
            reached[to] = true;
            stack[depth++] = to;
        }
    }
    free(stack);
}

/* True: the node leads to one of a pool that is known, and so is in the same one. */
static bool find_pool_behind(struct model *model, struct node *node) {
    for (size_t e = 0; e < node->n_edges && node->pool == MODEL_NONE; e++) {
        node->pool = model->nodes[node->edges[e].to].pool;
        if (node->pool != MODEL_NONE)
            return true;
    }
    return false;
}

void model_find_pools(struct model *model) {
    for (size_t n = 0; n < model->n_nodes; n++)
        model->nodes[n].pool = MODEL_NONE;
    for (size_t p = 0; p < model->n_pools; p++) {
        bool *reached = memory_alloc(model->n_nodes, sizeof *reached);
        reached[model->pools[p].entry] = true;
        model_mark_reached(model, model->pools[p].entry, NULL, reached);
        for (size_t n = 0; n < model->n_nodes; n++)
            if (reached[n])
                model->nodes[n].pool = (int)p;
        free(reached);
    }
    for (bool found = true; found;) {
        found = false;
        for (size_t n = 0; n < model->n_nodes; n++)
            found |= find_pool_behind(model, &model->nodes[n]);
    }
}

void model_free_edge(struct edge *edge) {
    free(edge->runs.values);
    free(edge->cpu_ns.values);
    free(edge->cpu_by_place);
}

void model_forget_course(struct node *node) {
    free(node->course);
    node->course = NULL;
    node->n_course = 0;
}

void model_free_node(struct node *node) {
    free(node->name);
    free(node->course);
    free(node->counts.values);
    free(node->stays.values);
    free(node->cpu_ns.values);
    free(node->wait_ns.values);
    free(node->operations.values);
    free(node->service_ns.values);
    free(node->near_ns.values);
    free(node->calls);
    free(node->reads);
    free(node->goes_on);
    free(node->tasks);
    for (size_t i = 0; i < node->n_edges; i++)
        model_free_edge(&node->edges[i]);
    free(node->edges);
}

void model_free(struct model *model) {
    if (!model)
        return;
    for (size_t i = 0; i < model->n_objects; i++)
        free_object(&model->objects[i]);
    for (size_t i = 0; i < model->n_monitors; i++)
        free_monitor(&model->monitors[i]);
    for (size_t i = 0; i < model->n_waiting; i++)
        free(model->waiting[i].what);
    for (size_t i = 0; i < model->n_pools; i++)
        free_pool(&model->pools[i]);
    for (size_t i = 0; i < model->n_nodes; i++)
        model_free_node(&model->nodes[i]);
    free_texts(model->outside, model->n_outside);
    free_texts(model->notes, model->n_notes);
    for (size_t i = 0; i < model->n_checks; i++)
        free(model->checks[i].what);
    free(model->program);
    free(model->built);
    free(model->host);
    free(model->build_id);
    free(model->asks_cores);
    free(model->file_mix);
    free(model->unpredicted);
    free(model->standstill);
    free(model->page_cache.unknown);
    free(model->page_cache.groups);
    free(model->page_cache.calls);
    free(model->machine.wake_latency_ns.values);
    free(model->machine.brief_latency_ns.values);
    free(model->objects);
    free(model->monitors);
    free(model->waiting);
    free(model->pools);
    free(model->nodes);
    free(model->checks);
    free(model);
}
