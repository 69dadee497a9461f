#include "modelgen/graph/graph_check.h"

#include <math.h>

static bool is_index(int index, size_t n) {
    return index >= 0 && (size_t)index < n;
}

/* Finite, and from 0 up. */
static bool is_amount(double value) {
    return isfinite(value) && value >= 0;
}

/* What a step or a node of the kind works on. NULL: nothing is wrong. */
static const char *wrong_use(const struct model *model, enum node_kind kind, int object, int mutex,
                             int section) {
    bool has_object = is_index(object, model->n_objects);
    if (has_object ? !model_works_on(kind, model->objects[object].kind)
                   : object != MODEL_NONE || step_has_use(kind))
        return "works on no object of its kind";
    if (mutex != MODEL_NONE &&
        (!is_index(mutex, model->n_objects) || model->objects[mutex].kind != OBJECT_MUTEX))
        return "gives up what is no mutex of the model";
    if (kind == NODE_STATEMENTS && !is_index(section, model->objects[object].n_sections))
        return "carries out a section that its monitor does not have";
    return NULL;
}

/* Which pool it creates or joins. */
static const char *wrong_target(const struct model *model, enum node_kind kind, int pool) {
    bool needs_one = kind == NODE_CREATE || kind == NODE_JOIN;
    return needs_one            ? is_index(pool, model->n_pools) ? NULL : "creates or joins no pool"
           : pool == MODEL_NONE ? NULL
                                : "creates or joins a pool, which is not of its kind";
}

/* ---- steps ---- */

static bool is_amount_sound(const struct step *step) {
    struct step_amount amount = step_amount(step);
    return isfinite(amount.count) && amount.item_kind >= 0 && !isnan(step_timeout_ns(step));
}

static bool is_time_sound(const struct step_time *time) {
    return is_amount(time->cpu_ns) && is_amount(time->wait_ns) && is_amount(time->operations);
}

/* NULL: nothing is. */
static const char *wrong_step(const struct step *step, const struct trace *trace,
                              const struct model *model) {
    if (step->end_ns < step->start_ns)
        return "ends before it starts";
    if (step->context != TRACE_NO_CONTEXT && step->context >= trace->n_contexts)
        return "has a calling context that the trace does not have";
    if (step->outcome > OUTCOME_NO || step->within > OUTCOME_NO)
        return "has an unknown outcome";
    const char *wrong =
        wrong_use(model, step->kind, step_object(step), step_mutex(step), step_section(step));
    if (wrong)
        return wrong;
    if (!is_amount_sound(step) || step_item_kind(step) < 0)
        return "has no sound amount, kind of item or limit";
    if (step_has_time(step->kind) && !is_time_sound(&step->time))
        return "takes no sound time";
    return wrong_target(model, step->kind, step_target_pool(step));
}

/* What is wrong with step `s`, also between those beside it. */
static const char *wrong_in_stream(const struct stream *stream, size_t s, const struct trace *trace,
                                   const struct model *model) {
    const struct step *step = &stream->steps[s];
    if ((step->kind == NODE_START) != (s == 0) ||
        (step->kind == NODE_END) != (s + 1 == stream->n_steps))
        return "is not where a thread's START or END belongs";
    return wrong_step(step, trace, model);
}

int steps_check(const struct stream *streams, const struct trace *trace, const struct model *model,
                struct error *error) {
    for (size_t t = 0; t < trace->n_threads; t++) {
        const struct stream *stream = &streams[t];
        size_t records = 0;
        if (stream->n_steps < 2)
            return error_set(error, "thread %zu: does not both start and end", t);
        for (size_t s = 0; s < stream->n_steps; s++) {
            const char *wrong = wrong_in_stream(stream, s, trace, model);
            if (wrong)
                return error_set(error, "thread %zu, step %zu (%s): %s", t, s,
                                 node_kind_name(stream->steps[s].kind), wrong);
            records += stream->steps[s].records;
        }
        if (records != trace->threads[t].n_records)
            return error_set(error, "thread %zu: its steps count %zu of its %zu records", t,
                             records, trace->threads[t].n_records);
    }
    return 0;
}

/* ---- objects ---- */

static bool is_sound(const struct linear *linear, size_t n_pools) {
    bool sound = isfinite(linear->base);
    for (size_t i = 0; i < linear->n_terms && sound; i++)
        sound = is_index(linear->terms[i].pool, n_pools) && isfinite(linear->terms[i].factor);
    return sound;
}

/* An object whose condition others wait on, too, is no such one itself. */
static bool shares_condition(const struct model *model, const struct object *object) {
    if (object->condition_of == MODEL_NONE)
        return true;
    if (!is_index(object->condition_of, model->n_objects))
        return false;
    const struct object *owner = &model->objects[object->condition_of];
    return owner != object && owner->condition_of == MODEL_NONE;
}

/* NULL: nothing is. */
static const char *wrong_object(const struct model *model, const struct object *object) {
    if (object->kind > OBJECT_MONITOR)
        return "has an unknown kind";
    if (!object->name)
        return "has no name";
    if (!is_sound(&object->amount, model->n_pools) ||
        !is_sound(&object->refilled_after, model->n_pools))
        return "has no sound amount";
    if (object->kind == OBJECT_BARRIER && object->amount.base <= 0 && object->amount.n_terms == 0)
        return "is a barrier without parties";
    if (object->bounded && object->kind != OBJECT_QUEUE)
        return "is bounded, but no queue";
    if (!is_amount(object->initial_items) || !is_amount(object->items_in_all) ||
        !is_amount(object->servers))
        return "has no sound number of items or servers";
    if (object->dealt_to != MODEL_NONE && !is_index(object->dealt_to, model->n_pools))
        return "deals numbers to a pool that the model does not have";
    if (!shares_condition(model, object))
        return "waits on the condition of no object that has one";
    bool has_parts = object->n_variables || object->n_conditions || object->n_sections;
    if (has_parts != (object->kind == OBJECT_MONITOR))
        return "has the parts of a monitor, or is one without";
    return NULL;
}

int objects_check(const struct model *model, const bool *is_used, struct error *error) {
    for (size_t o = 0; o < model->n_objects; o++) {
        const struct object *object = &model->objects[o];
        const char *wrong = wrong_object(model, object);
        if (!wrong && !is_used[o])
            wrong = "is used by nobody";
        if (wrong)
            return error_set(error, "object %zu (%s): %s", o, object->name ? object->name : "?",
                             wrong);
    }
    return 0;
}

/* ---- the graph ---- */

static const char *wrong_edge(const struct model *model, const struct node *node,
                              const struct edge *edge) {
    if (!is_index(edge->to, model->n_nodes))
        return "leads nowhere";
    if (model->nodes[edge->to].pool != node->pool)
        return "leads into another pool";
    if (edge->when > OUTCOME_NO)
        return "has an unknown outcome";
    if (!is_amount(edge->probability) || !is_amount(edge->first))
        return "has no sound weight";
    if (edge->runs.kind != DIST_NONE && dist_mean(&edge->runs) < 1)
        return "is taken less than once in a row";
    if (edge->leaves && edge->runs.kind != DIST_NONE)
        return "both leaves its loop and goes on in it";
    return is_amount(dist_mean(&edge->cpu_ns)) ? NULL : "has no sound computation";
}

/* Of the edges for an outcome: is there a way on, and at most one that one thread takes for all? */
static const char *wrong_choice(const struct node *node, enum outcome outcome) {
    double weight = 0;
    size_t n_fitting = 0, n_of_one = 0;
    for (size_t e = 0; e < node->n_edges; e++) {
        const struct edge *edge = &node->edges[e];
        if (edge->when != outcome)
            continue;
        n_fitting++;
        n_of_one += edge->taker != TAKER_ANY;
        weight += edge->probability;
    }
    return n_of_one > 1                     ? "has several edges that one thread takes for all"
           : n_fitting > 0 && !(weight > 0) ? "has edges that are never taken"
                                            : NULL;
}

/* A course names edges of its node, and how often each is taken. */
static const char *wrong_course(const struct node *node) {
    for (size_t i = 0; i < node->n_course; i++)
        if (i % 2 == 0 ? !(node->course[i] >= 0 && node->course[i] < (double)node->n_edges)
                       : !(node->course[i] >= 1))
            return "has a course by edges that it does not have";
    return node->n_course % 2 ? "has a course that ends in the middle" : NULL;
}

static const char *wrong_node(const struct model *model, const struct node *node) {
    if (!is_index(node->pool, model->n_pools))
        return "is in no pool";
    if ((node->kind == NODE_END) != (node->n_edges == 0))
        return "ends there, or ends its threads and goes on";
    for (size_t e = 0; e < node->n_edges; e++) {
        const char *wrong = wrong_edge(model, node, &node->edges[e]);
        if (wrong)
            return wrong;
    }
    for (enum outcome outcome = OUTCOME_ANY; outcome <= OUTCOME_NO; outcome++) {
        const char *wrong = wrong_choice(node, outcome);
        if (wrong)
            return wrong;
    }
    const char *wrong = wrong_use(model, node->kind, node->object, node->mutex, node->section);
    if (!wrong)
        wrong = wrong_target(model, node->kind, node->target_pool);
    return wrong ? wrong : wrong_course(node);
}

static bool has_entry(const struct model *model, size_t pool) {
    int entry = model->pools[pool].entry;
    return is_index(entry, model->n_nodes) && model->nodes[entry].kind == NODE_START &&
           model->nodes[entry].pool == (int)pool;
}

int graph_check(const struct model *model, struct error *error) {
    for (size_t n = 0; n < model->n_nodes; n++) {
        const char *wrong = wrong_node(model, &model->nodes[n]);
        if (wrong)
            return error_set(error, "node %zu (%s): %s", n, model->nodes[n].name, wrong);
    }
    for (size_t p = 0; p < model->n_pools; p++)
        if (!has_entry(model, p))
            return error_set(error, "pool %zu (%s): does not begin with a START of its own", p,
                             model->pools[p].name);
    return 0;
}
