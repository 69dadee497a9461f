#include "formats/model_check.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "formats/model_fields.h"
#include "model/postfix.h"

#define MAX_INITIAL_ITEMS 1e7 /* each has a birth time in the simulator's memory */
#define MAX_CLIENTS       1e6
#define MAX_SERVERS       1e6
#define N_OBJECT_KINDS    ((int)OBJECT_LINK + 1)

/* ---- monitors' statements ---- */

static int check_expression(const struct object *monitor, const struct expression *expression,
                            const bool *is_own, const struct place *place, struct error *error) {
    struct postfix program;
    const char *text = expression->postfix ? expression->postfix : "";
    const char *wrong = postfix_parse(text, monitor->n_variables, is_own, &program);
    if (!wrong && postfix_has_unknown(&program))
        wrong = "\"?\", which cannot be simulated";
    postfix_free(&program);
    if (wrong)
        return model_violation(PLACE_KEY(place, "postfix"), error, "\"%s\" has %s", text, wrong);
    return 0;
}

static bool is_given(const struct expression *expression) {
    return expression->text || expression->postfix;
}

static int check_statement(const struct object *monitor, const struct statement *statement,
                           const bool *is_own, const struct place *place, struct error *error) {
    bool updates = statement->kind == STATEMENT_UPDATE, waits = statement->kind == STATEMENT_WAIT;
    const char *kind = model_statement_kinds[statement->kind];
    if (is_given(&statement->guard) &&
        check_expression(monitor, &statement->guard, is_own, PLACE_KEY(place, "if"), error))
        return -1;
    if (statement->answers && !is_given(&statement->guard))
        return model_violation(PLACE_KEY(place, "answers"), error,
                               "without \"if\" there is no answer");
    if (updates != (statement->variable != MODEL_NONE) || updates != is_given(&statement->value))
        return model_violation(
            place, error,
            updates ? "%s: needs variable and value" : "%s: has no variable and no value", kind);
    if (updates == (statement->condition != MODEL_NONE))
        return model_violation(place, error,
                               updates ? "%s: has no condition" : "%s: needs a condition", kind);
    if (waits != is_given(&statement->predicate))
        return model_violation(place, error, waits ? "%s: needs \"while\"" : "%s: has no \"while\"",
                               kind);
    if (updates)
        return model_check_index(statement->variable, monitor->n_variables, "a variable",
                                 PLACE_KEY(place, "variable"), error) ||
                       check_expression(monitor, &statement->value, is_own,
                                        PLACE_KEY(place, "value"), error)
                   ? -1
                   : 0;
    if (model_check_index(statement->condition, monitor->n_conditions, "a condition",
                          PLACE_KEY(place, "condition"), error))
        return -1;
    return waits ? check_expression(monitor, &statement->predicate, is_own,
                                    PLACE_KEY(place, "while"), error)
                 : 0;
}

static int check_section(const struct object *monitor, const struct statement_section *section,
                         const bool *is_own, const struct place *place, struct error *error) {
    int answers = 0;
    if (!section->name)
        return model_violation(PLACE_KEY(place, "name"), error, "missing");
    for (size_t i = 0; i < section->n_statements; i++) {
        const struct statement *statement = &section->statements[i];
        const struct place *here = PLACE_INDEX(PLACE_KEY(place, "statements"), i);
        if ((int)statement->kind < 0 || (int)statement->kind > (int)STATEMENT_BROADCAST)
            return model_violation(PLACE_KEY(here, "do"), error, "an unknown kind");
        if (check_statement(monitor, statement, is_own, here, error))
            return -1;
        answers += statement->answers;
        if (answers > 1)
            return model_violation(PLACE_KEY(here, "answers"), error,
                                   "another statement answers already");
    }
    return 0;
}

static int check_statements(const struct model *model, const struct object *monitor,
                            const struct place *place, struct error *error) {
    bool *is_own = memory_alloc(monitor->n_variables, sizeof *is_own);
    int status = 0;
    for (size_t v = 0; v < monitor->n_variables && status == 0; v++) {
        const struct place *here = PLACE_INDEX(PLACE_KEY(place, "variables"), v);
        is_own[v] = monitor->variables[v].per_thread;
        if (!monitor->variables[v].name)
            status = model_violation(PLACE_KEY(here, "name"), error, "missing");
        else
            status =
                model_check_linear(model, &monitor->variables[v].initial, "initial", here, error);
    }
    for (size_t s = 0; s < monitor->n_sections && status == 0; s++)
        status = check_section(monitor, &monitor->sections[s], is_own,
                               PLACE_INDEX(PLACE_KEY(place, "sections"), s), error);
    free(is_own);
    return status;
}

/* What only monitors have. */
static int check_monitor_parts(const struct model *model, const struct object *object,
                               const struct place *place, struct error *error) {
    if (object->kind == OBJECT_MONITOR)
        return check_statements(model, object, place, error);
    if (object->n_variables || object->n_conditions || object->n_sections)
        return model_violation(place, error, "a %s has no variables, conditions and sections",
                               object_kind_name(object->kind));
    return 0;
}

static bool is_store(const struct object *object) {
    return object->kind == OBJECT_TOKENS || object->kind == OBJECT_QUEUE;
}

static int check_condition(const struct model *model, const struct object *object,
                           const struct place *place, struct error *error) {
    if (object->condition_of == MODEL_NONE)
        return 0;
    if (model_check_index(object->condition_of, model->n_objects, "an object",
                          PLACE_KEY(place, "condition_of"), error))
        return -1;
    const struct object *owner = &model->objects[object->condition_of];
    if (!is_store(object) || !is_store(owner))
        return model_violation(PLACE_KEY(place, "condition_of"), error,
                               "only tokens and queues share a condition");
    if (owner->condition_of != MODEL_NONE)
        return model_violation(PLACE_KEY(place, "condition_of"), error,
                               "object %d waits on another's condition itself",
                               object->condition_of);
    return 0;
}

static bool ends_tasks(const struct model *model) {
    for (size_t i = 0; i < model->n_nodes; i++)
        if (model->nodes[i].kind == NODE_TASK_END)
            return true;
    return false;
}

static int check_arrivals(const struct object *object, const struct place *place,
                          struct error *error) {
    if (object->interarrival_ns.kind != DIST_NONE && object->kind != OBJECT_QUEUE)
        return model_violation(PLACE_KEY(place, "interarrival_ns"), error,
                               "only a queue has arrivals from outside");
    if (model_check_dist(&object->interarrival_ns, "interarrival_ns", place, error))
        return -1;
    if (object->interarrival_ns.kind != DIST_NONE && dist_mean(&object->interarrival_ns) <= 0)
        return model_violation(PLACE_KEY(place, "interarrival_ns"), error,
                               "arrivals without time between them never end");
    if (object->item_kind < 0 || (object->item_kind > 0 && object->kind != OBJECT_QUEUE))
        return model_violation(PLACE_KEY(place, "item_kind"), error,
                               "not a positive number of a queue");
    return model_check_amount(object->arrivals, "arrivals", place, error);
}

static int check_clients(const struct model *model, const struct object *object,
                         const struct place *place, struct error *error) {
    if (model_check_amount(object->clients, "clients", place, error) ||
        model_check_dist(&object->think_ns, "think_ns", place, error))
        return -1;
    if (object->clients == 0 && object->think_ns.kind != DIST_NONE)
        return model_violation(PLACE_KEY(place, "think_ns"), error,
                               "there are no clients who think");
    if (object->clients == 0)
        return 0;
    if (object->kind != OBJECT_QUEUE)
        return model_violation(PLACE_KEY(place, "clients"), error, "only a queue has clients");
    if (object->clients > MAX_CLIENTS || object->clients != floor(object->clients))
        return model_violation(PLACE_KEY(place, "clients"), error,
                               "%g is no number of clients: give a whole one up to %g",
                               object->clients, MAX_CLIENTS);
    if (object->interarrival_ns.kind != DIST_NONE)
        return model_violation(PLACE_KEY(place, "clients"), error,
                               "a queue has either clients or arrivals from outside");
    if (!ends_tasks(model))
        return model_violation(PLACE_KEY(place, "clients"), error,
                               "clients wait until their task ends, but no node is a task_end");
    return 0;
}

static int check_distances(const struct object *object, const struct place *above,
                           struct error *error) {
    const struct place *place = PLACE_KEY(above, "distances");
    if (object->n_distances > 0 && (object->kind != OBJECT_DISK || object->servers != 1))
        return model_violation(place, error, "only a disk with one server has them");
    for (size_t i = 0; i < object->n_distances; i++) {
        const struct disk_distance *distance = &object->distances[i];
        bool is_sound = i == 0 ? distance->least == 0
                               : isfinite(distance->least) && distance->least > distance[-1].least;
        if (!is_sound)
            return model_violation(PLACE_INDEX(place, i), error,
                                   "least distances must ascend, and the first be 0");
        if (distance->service_ns.kind == DIST_NONE ||
            model_check_dist(&distance->service_ns, "service_ns", PLACE_INDEX(place, i), error))
            return model_violation(PLACE_INDEX(place, i), error, "a distance needs service times");
    }
    return 0;
}

static int check_alone(const struct object *object, const struct place *above,
                       struct error *error) {
    bool any = object->least_depth > 0 || object->most_depth > 0 || object->never_continued;
    if (any && object->kind != OBJECT_DISK)
        return model_violation(PLACE_KEY(above, "least_depth"), error, "only a disk can be");
    if (!any && object->alone_ns.kind != DIST_NONE)
        return model_violation(PLACE_KEY(above, "alone_ns"), error,
                               "of requests that the recorded run had as well");
    return model_check_dist(&object->alone_ns, "alone_ns", above, error);
}

static int check_gaps(const struct object *object, const struct place *above, struct error *error) {
    const struct place *place = PLACE_KEY(above, "gaps");
    double sum = 0;
    for (size_t i = 0; i < object->n_gaps; i++) {
        if (!(object->gaps[i] >= 0 && isfinite(object->gaps[i])))
            return model_violation(PLACE_INDEX(place, i), error, "%g is no time", object->gaps[i]);
        sum += object->gaps[i];
    }
    if (object->n_gaps > 0 && (!(sum > 0) || object->interarrival_ns.kind == DIST_NONE))
        return model_violation(place, error, "times between arrivals of a queue without any");
    return 0;
}

static int check_way(const struct model *model, const struct object *object, int link,
                     const struct dist *bytes, const struct place *place, struct error *error) {
    if (link == MODEL_NONE)
        return 0;
    if (object->kind != OBJECT_QUEUE)
        return model_violation(place, error, "only what comes to a queue from outside has a way");
    if (model_check_index(link, model->n_objects, "an object", place, error))
        return -1;
    if (model->objects[link].kind != OBJECT_LINK)
        return model_violation(place, error, "object %d is no link", link);
    if (model->objects[link].bytes_per_s > 0 && bytes->kind == DIST_NONE)
        return model_violation(place, error,
                               "the link has a bandwidth, but how many bytes go over it is not "
                               "known");
    return 0;
}

static int check_network(const struct model *model, const struct object *object,
                         const struct place *place, struct error *error) {
    if (object->kind != OBJECT_LINK && (object->latency_ns > 0 || object->bytes_per_s > 0))
        return model_violation(place, error, "only a link has a latency and a bandwidth");
    return model_check_amount(object->latency_ns, "latency_ns", place, error) ||
                   model_check_amount(object->bytes_per_s, "bytes_per_s", place, error) ||
                   model_check_dist(&object->request_bytes, "request_bytes", place, error) ||
                   model_check_dist(&object->reply_bytes, "reply_bytes", place, error) ||
                   check_way(model, object, object->comes_by, &object->request_bytes,
                             PLACE_KEY(place, "comes_by"), error) ||
                   check_way(model, object, object->goes_by, &object->reply_bytes,
                             PLACE_KEY(place, "goes_by"), error)
               ? -1
               : 0;
}

int model_check_object(const struct model *model, size_t i, struct error *error) {
    const struct object *object = &model->objects[i];
    const struct place *place = PLACE_INDEX(PLACE_KEY(NULL, "objects"), i);
    if (!object->name)
        return model_violation(PLACE_KEY(place, "name"), error, "missing");
    if ((int)object->kind < 0 || (int)object->kind >= N_OBJECT_KINDS)
        return model_violation(PLACE_KEY(place, "kind"), error, "an unknown kind");
    if (object->kind == OBJECT_DISK && object->service_ns.kind == DIST_NONE)
        return model_violation(PLACE_KEY(place, "service_ns"), error, "a disk needs service times");
    if (object->room_ns > 0 && (object->kind != OBJECT_DISK || object->servers != 1))
        return model_violation(PLACE_KEY(place, "room_ns"), error,
                               "only a disk with one server has room");
    if (object->kind == OBJECT_DISK && !(object->servers >= 0 && object->servers <= MAX_SERVERS))
        return model_violation(PLACE_KEY(place, "servers"), error,
                               "%g is no number of servers: at least 1, or 0 for no limit",
                               object->servers);
    if (object->initial_items > MAX_INITIAL_ITEMS)
        return model_violation(PLACE_KEY(place, "initial_items"), error, "%g is more than %g",
                               object->initial_items, MAX_INITIAL_ITEMS);
    if (check_condition(model, object, place, error))
        return -1;
    if (model_check_linear(model, &object->amount, "amount", place, error) ||
        model_check_linear(model, &object->refilled_after, "refilled_after", place, error) ||
        model_check_amount(object->initial_items, "initial_items", place, error) ||
        model_check_amount(object->items_in_all, "items_in_all", place, error) ||
        model_check_amount(object->room_ns, "room_ns", place, error) ||
        model_check_amount(object->least_depth, "least_depth", place, error) ||
        model_check_amount(object->most_depth, "most_depth", place, error) ||
        check_arrivals(object, place, error) || check_clients(model, object, place, error) ||
        check_network(model, object, place, error) ||
        model_check_dist(&object->service_ns, "service_ns", place, error) ||
        check_distances(object, place, error) || check_alone(object, place, error) ||
        check_gaps(object, place, error) || check_monitor_parts(model, object, place, error))
        return -1;
    return 0;
}
