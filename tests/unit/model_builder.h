/* Models written by hand, for tests and benchmarks: a few calls per pool instead of a page of
 * initialisers. Indices are returned; pointers stay valid until the next call that adds. */
#ifndef PERSIK_TESTS_MODEL_BUILDER_H
#define PERSIK_TESTS_MODEL_BUILDER_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "formats/model.h"

static inline struct dist constant(double value) {
    return (struct dist){.kind = DIST_CONSTANT, .mean = value};
}

static inline struct dist exponential(double mean) {
    return (struct dist){.kind = DIST_EXPONENTIAL, .mean = mean};
}

/* An empty model of a machine whose scheduling costs nothing. */
static inline struct model *build_model(int cores) {
    struct model *model = memory_alloc(1, sizeof *model);
    model->version = MODEL_VERSION;
    model->program = memory_strdup("test");
    model->built = memory_strdup("");
    model->host = memory_strdup("");
    model->build_id = memory_strdup("");
    model->perturbation = NAN;
    model->machine = (struct machine){.cores = cores, .quantum_ns = 4e6, .pull_share = 1};
    return model;
}

static inline int build_object(struct model *model, enum object_kind kind, double amount) {
    int object = model_add_object(
        model, kind, memory_format("%s-%zu", object_kind_name(kind), model->n_objects));
    model->objects[object].amount.base = amount;
    return object;
}

/* A node without edges; `object` may be MODEL_NONE. */
static inline int build_node(struct model *model, enum node_kind kind, int object) {
    int node = model_add_node(model, 0, kind,
                              memory_format("%s-%zu", node_kind_name(kind), model->n_nodes));
    model->nodes[node].object = object;
    return node;
}

static inline struct edge *build_edge(struct model *model, int from, int to) {
    return model_add_edge(&model->nodes[from], to);
}

/* A node that follows `from`, with `cpu` computed on the way. */
static inline int build_next(struct model *model, int from, struct dist cpu, enum node_kind kind,
                             int object) {
    int node = build_node(model, kind, object);
    build_edge(model, from, node)->cpu_ns = cpu;
    return node;
}

/* The same with a pause. */
static inline int build_sleep(struct model *model, int from, struct dist cpu, struct dist wait) {
    int sleep = build_next(model, from, cpu, NODE_SLEEP, MODEL_NONE);
    model->nodes[sleep].wait_ns = wait;
    return sleep;
}

/* A pool with its start node; returns the pool. */
static inline int build_pool(struct model *model, int threads, bool at_start) {
    int entry = build_node(model, NODE_START, MODEL_NONE);
    int pool = model_add_pool(model, memory_format("pool-%zu", model->n_pools));
    struct pool *made = &model->pools[pool];
    made->origin = memory_strdup("");
    made->rule = memory_strdup("");
    made->threads.base = threads;
    made->profiled_threads = threads;
    made->scales = true;
    made->at_start = at_start;
    made->entry = entry;
    return pool;
}

/* A loop at `head`: its body, starting at the node returned, is taken `times` times in a row,
 * then `*exit_to` once. Both nodes are steps; the body is to lead back to `head`. */
static inline int build_loop(struct model *model, int head, struct dist times, int *exit_to) {
    int body = build_node(model, NODE_STEP, MODEL_NONE);
    *exit_to = build_node(model, NODE_STEP, MODEL_NONE);
    struct edge *enter = build_edge(model, head, body);
    enter->runs = times;
    enter->first = 1;
    build_edge(model, head, *exit_to)->runs = constant(1);
    return body;
}

/* ---- monitors of statements ---- */

static inline int build_variable(struct model *model, int monitor, double initial,
                                 bool per_thread) {
    struct object *object = &model->objects[monitor];
    object->variables =
        memory_resize(object->variables, object->n_variables + 1, sizeof *object->variables);
    object->variables[object->n_variables] =
        (struct monitor_variable){.name = memory_format("v%zu", object->n_variables),
                                  .initial.base = initial,
                                  .per_thread = per_thread};
    return (int)object->n_variables++;
}

static inline int build_condition(struct model *model, int monitor) {
    struct object *object = &model->objects[monitor];
    object->conditions =
        memory_resize(object->conditions, object->n_conditions + 1, sizeof *object->conditions);
    object->conditions[object->n_conditions] = memory_format("c%zu", object->n_conditions);
    return (int)object->n_conditions++;
}

/* A section without statements yet. */
static inline int build_statements(struct model *model, int monitor) {
    struct object *object = &model->objects[monitor];
    object->sections =
        memory_resize(object->sections, object->n_sections + 1, sizeof *object->sections);
    object->sections[object->n_sections] =
        (struct statement_section){.name = memory_format("section-%zu", object->n_sections)};
    return (int)object->n_sections++;
}

static inline struct expression build_expression(const char *postfix) {
    return (struct expression){memory_strdup(postfix), memory_strdup(postfix)};
}

/* To the monitor's last section. The texts are postfix; `guard` may be NULL. */
static inline struct statement *build_statement(struct model *model, int monitor, const char *guard,
                                                enum statement_kind kind) {
    struct object *object = &model->objects[monitor];
    struct statement_section *section = &object->sections[object->n_sections - 1];
    section->statements =
        memory_resize(section->statements, section->n_statements + 1, sizeof *section->statements);
    struct statement *statement = &section->statements[section->n_statements++];
    *statement = (struct statement){.kind = kind, .variable = MODEL_NONE, .condition = MODEL_NONE};
    if (guard)
        statement->guard = build_expression(guard);
    return statement;
}

static inline struct statement *build_update(struct model *model, int monitor, const char *guard,
                                             int variable, const char *value) {
    struct statement *statement = build_statement(model, monitor, guard, STATEMENT_UPDATE);
    statement->variable = variable;
    statement->value = build_expression(value);
    return statement;
}

static inline void build_wait(struct model *model, int monitor, const char *guard, int condition,
                              const char *predicate) {
    struct statement *statement = build_statement(model, monitor, guard, STATEMENT_WAIT);
    statement->condition = condition;
    statement->predicate = build_expression(predicate);
}

static inline void build_telling(struct model *model, int monitor, const char *guard,
                                 enum statement_kind kind, int condition) {
    build_statement(model, monitor, guard, kind)->condition = condition;
}

#endif
