#include "modelgen/graph/graph_check.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/memory.h"

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

static const char *wrong_amount(const struct step_amount *amount) {
    bool sound = isfinite(amount->count) && amount->item_kind >= 0;
    return sound ? NULL : "has no sound amount or kind of item";
}

static const char *wrong_time(const struct step_time *time) {
    bool sound = is_amount(time->cpu_ns) && is_amount(time->wait_ns) &&
                 is_amount(time->operations) && is_amount(time->service_ns) &&
                 is_amount(time->near_ns);
    return sound ? NULL : "takes no sound time";
}

/* By its kind, what the step has. `is_used`: per object of the model, does any step work on it, or
 * give it up? NULL: nothing is wrong. */
static const char *wrong_of_kind(const struct model *model, const struct step *step,
                                 bool *is_used) {
    enum node_kind kind = step->kind;
    const struct step_use *use = &step->use;
    if (step_has_use(kind)) {
        int section = kind == NODE_STATEMENTS ? use->section : 0;
        const char *wrong = wrong_use(model, kind, use->object, use->mutex, section);
        if (wrong)
            return wrong;
        is_used[use->object] = true;
        if (use->mutex != MODEL_NONE)
            is_used[use->mutex] = true;
        if (isnan(use->timeout_ns))
            return "has no sound limit to its wait";
        return step_has_amount(kind) ? wrong_amount(&use->amount) : NULL;
    }
    if (step_has_time(kind)) {
        const char *wrong = wrong_use(model, kind, step->time.disk, MODEL_NONE, 0);
        if (!wrong && step->time.disk != MODEL_NONE)
            is_used[step->time.disk] = true;
        return wrong ? wrong : wrong_time(&step->time);
    }
    if (kind == NODE_STEP && step->item_kind < 0)
        return "has no sound kind of item";
    return wrong_target(model, kind, step_target_pool(step));
}

/* What is wrong with step `s` of the stream. */
static const char *wrong_step(const struct stream *stream, size_t s, const struct trace *trace,
                              const struct model *model, bool *is_used) {
    const struct step *step = &stream->steps[s];
    if ((step->kind == NODE_START) != (s == 0) ||
        (step->kind == NODE_END) != (s + 1 == stream->n_steps))
        return "is not where a thread's START or END belongs";
    if (step->end_ns < step->start_ns)
        return "ends before it starts";
    if (step->context != TRACE_NO_CONTEXT && step->context >= trace->n_contexts)
        return "has a calling context that the trace does not have";
    if (step->outcome > OUTCOME_NO || step->within > OUTCOME_NO)
        return "has an unknown outcome";
    return wrong_of_kind(model, step, is_used);
}

static int check_stream(const struct stream *stream, size_t t, const struct trace *trace,
                        const struct model *model, bool *is_used, struct error *error) {
    size_t records = 0;
    if (stream->n_steps < 2)
        return error_set(error, "thread %zu: does not both start and end", t);
    for (size_t s = 0; s < stream->n_steps; s++) {
        const char *wrong = wrong_step(stream, s, trace, model, is_used);
        if (wrong)
            return error_set(error, "thread %zu, step %zu (%s): %s", t, s,
                             node_kind_name(stream->steps[s].kind), wrong);
        records += stream->steps[s].records + stream->steps[s].left_out;
    }
    if (records != trace->threads[t].n_records)
        return error_set(error, "thread %zu: its steps count %zu of its %zu records", t, records,
                         trace->threads[t].n_records);
    return 0;
}

/* An object is used by who works on it, and by who waits on its condition. */
static int check_all_used(const struct model *model, bool *is_used, struct error *error) {
    for (size_t o = 0; o < model->n_objects; o++)
        if (is_index(model->objects[o].condition_of, model->n_objects))
            is_used[model->objects[o].condition_of] = true;
    for (size_t o = 0; o < model->n_objects; o++)
        if (!is_used[o])
            return error_set(error, "object %zu (%s): no step works on it", o,
                             model->objects[o].name);
    return 0;
}

int steps_check(const struct stream *streams, const struct trace *trace, const struct model *model,
                struct error *error) {
    bool *is_used = memory_alloc(model->n_objects, sizeof *is_used);
    int status = 0;
    for (size_t t = 0; t < trace->n_threads && status == 0; t++)
        status = check_stream(&streams[t], t, trace, model, is_used, error);
    if (status == 0)
        status = check_all_used(model, is_used, error);
    free(is_used);
    return status;
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

int objects_check(const struct model *model, struct error *error) {
    for (size_t o = 0; o < model->n_objects; o++) {
        const struct object *object = &model->objects[o];
        const char *wrong = wrong_object(model, object);
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

/* Its pools have entries. Gives a node that no thread comes to; n_nodes: there is none. */
static size_t find_unreached(const struct model *model) {
    bool *reached = memory_alloc(model->n_nodes, sizeof *reached);
    for (size_t p = 0; p < model->n_pools; p++) {
        reached[model->pools[p].entry] = true;
        model_mark_reached(model, model->pools[p].entry, NULL, reached);
    }
    size_t n = 0;
    while (n < model->n_nodes && reached[n])
        n++;
    free(reached);
    return n;
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
    size_t unreached = find_unreached(model);
    if (unreached < model->n_nodes)
        return error_set(error, "node %zu (%s): no thread comes to it", unreached,
                         model->nodes[unreached].name);
    return 0;
}
