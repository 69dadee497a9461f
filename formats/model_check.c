/* Is a model whole? Everything that the simulator relies on, so that it need not look again.
 * Each violation is named by its place in model.json. */
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "formats/json_place.h"
#include "formats/model.h"
#include "formats/model_fields.h"
#include "model/postfix.h"

/* What a node of this kind must be given. */
struct node_rule {
    unsigned objects; /* bit set of the object kinds it works on; 0 = none */
    bool may_lack_object;
    bool may_hold_mutex; /* `mutex` allowed */
    bool needs_pool;     /* `target_pool` needed */
    bool may_time_out;   /* `timeout_ns` allowed */
};

#define ON(kind) (1U << OBJECT_##kind)
#define WAITS    .may_hold_mutex = true, .may_time_out = true

static const struct node_rule node_rules[] = {
    [NODE_START] = {0},
    [NODE_END] = {0},
    [NODE_STEP] = {0},
    [NODE_LOCK] = {.objects = ON(MUTEX) | ON(SPIN), .may_time_out = true},
    [NODE_UNLOCK] = {.objects = ON(MUTEX) | ON(SPIN)},
    [NODE_RDLOCK] = {.objects = ON(RWLOCK), WAITS},
    [NODE_WRLOCK] = {.objects = ON(RWLOCK), WAITS},
    [NODE_RWUNLOCK] = {.objects = ON(RWLOCK)},
    [NODE_ACQUIRE] = {.objects = ON(TOKENS), WAITS},
    [NODE_RELEASE] = {.objects = ON(TOKENS)},
    [NODE_PUT] = {.objects = ON(QUEUE), WAITS},
    [NODE_GET] = {.objects = ON(QUEUE), WAITS},
    [NODE_CLOSE] = {.objects = ON(QUEUE) | ON(TOKENS)},
    [NODE_WAIT] = {.objects = ON(FLAG), WAITS},
    [NODE_SIGNAL] = {.objects = ON(FLAG)},
    [NODE_BARRIER] = {.objects = ON(BARRIER), .may_hold_mutex = true},
    [NODE_DRAW] = {.objects = ON(ORDER)},
    [NODE_TURN] = {.objects = ON(ORDER), .may_hold_mutex = true},
    [NODE_ADVANCE] = {.objects = ON(ORDER)},
    [NODE_PASS] = {.objects = ON(ORDER)},
    [NODE_COLLECT] = {.objects = ON(ORDER), .may_hold_mutex = true},
    [NODE_STATEMENTS] = {.objects = ON(MONITOR), .may_hold_mutex = true},
    [NODE_CREATE] = {.needs_pool = true},
    [NODE_JOIN] = {.needs_pool = true},
    [NODE_SLEEP] = {0},
    [NODE_IO] = {.objects = ON(DISK), .may_lack_object = true},
    [NODE_TASK_BEGIN] = {0},
    [NODE_TASK_END] = {0},
};

bool model_works_on(enum node_kind kind, enum object_kind object) {
    return node_rules[kind].objects & 1U << object;
}

#define MAX_INITIAL_ITEMS 1e7 /* each has a birth time in the simulator's memory */
#define MAX_CLIENTS       1e6

#define N_NODE_KINDS   ((int)(sizeof node_rules / sizeof *node_rules))
#define MAX_SERVERS    1e6
#define N_OBJECT_KINDS ((int)OBJECT_MONITOR + 1)

__attribute__((format(printf, 3, 4))) static int
violation(const struct place *place, struct error *error, const char *format, ...) {
    char what[512];
    char where[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    place_text(place, where, sizeof where);
    return error_set(error, "%s: %s: correct it, or run `persik build-model` again", where, what);
}

static int check_amount(double value, const char *key, const struct place *above,
                        struct error *error) {
    if (isfinite(value) && value >= 0)
        return 0;
    return violation(PLACE_KEY(above, key), error, "%g is not a finite number from 0 up", value);
}

static int check_index(int index, size_t n, const char *what, const struct place *place,
                       struct error *error) {
    if (index >= 0 && (size_t)index < n)
        return 0;
    return violation(place, error, "%d is not the index of %s (there are %zu)", index, what, n);
}

static int check_values(const struct dist *dist, const struct place *place, struct error *error) {
    bool is_range = dist->kind == DIST_UNIFORM;
    if (!dist->values || dist->n_values == 0 || (is_range && dist->n_values != 2))
        return violation(place, error, "needs %s", is_range ? "two values" : "values");
    for (size_t i = 0; i < dist->n_values; i++) {
        const struct place *here = PLACE_INDEX(place, i);
        if (!isfinite(dist->values[i]) || dist->values[i] < 0)
            return violation(here, error, "%g is not a finite number from 0 up", dist->values[i]);
        if (i > 0 && dist->values[i] < dist->values[i - 1])
            return violation(here, error, "the values are not ascending");
    }
    return 0;
}

static int check_dist(const struct dist *dist, const char *key, const struct place *above,
                      struct error *error) {
    const struct place *place = PLACE_KEY(above, key);
    switch (dist->kind) {
    case DIST_NONE:
        return 0;
    case DIST_CONSTANT:
    case DIST_EXPONENTIAL:
        return check_amount(dist->mean, "mean", place, error);
    case DIST_EMPIRICAL:
        if (check_amount(dist->mean, "mean", place, error))
            return -1;
        if (!(dist->common >= 0 && dist->common <= 1))
            return violation(PLACE_KEY(place, "common"), error, "%g is no share from 0 to 1",
                             dist->common);
        if (dist->common > 0 && dist->sharers < 1)
            return violation(PLACE_KEY(place, "sharers"), error, "a number of threads is missing");
        return check_values(dist, PLACE_KEY(place, "values"), error);
    case DIST_UNIFORM:
        return check_values(dist, PLACE_KEY(place, "values"), error);
    }
    return violation(PLACE_KEY(place, "kind"), error, "an unknown kind");
}

static int check_linear(const struct model *model, const struct linear *linear, const char *key,
                        const struct place *above, struct error *error) {
    const struct place *place = PLACE_KEY(above, key);
    if (!isfinite(linear->base))
        return violation(PLACE_KEY(place, "base"), error, "not a finite number");
    for (size_t i = 0; i < linear->n_terms; i++) {
        const struct place *here = PLACE_INDEX(PLACE_KEY(place, "per_thread"), i);
        if (check_index(linear->terms[i].pool, model->n_pools, "a pool", PLACE_KEY(here, "pool"),
                        error))
            return -1;
        if (!isfinite(linear->terms[i].factor))
            return violation(PLACE_KEY(here, "factor"), error, "not a finite number");
    }
    return 0;
}

static int check_scaling(const struct model *model, const struct scaling *scaling, const char *key,
                         const struct place *above, struct error *error) {
    const struct place *place = PLACE_KEY(above, key);
    if (!(scaling->share >= 0 && scaling->share <= 1))
        return violation(PLACE_KEY(place, "share"), error, "%g is not between 0 and 1",
                         scaling->share);
    if (!(scaling->growth >= 0 && scaling->share + scaling->growth <= 1 + 1e-9))
        return violation(PLACE_KEY(place, "growth"), error, "%g is not between 0 and 1 - share",
                         scaling->growth);
    if (!(scaling->less >= 0 && isfinite(scaling->less)))
        return violation(PLACE_KEY(place, "less"), error, "%g is not 0 or more", scaling->less);
    if (scaling->rest != REST_NONE && !(scaling->total >= 1 && isfinite(scaling->total)))
        return violation(PLACE_KEY(place, "total"), error, "%g items cannot be shared out",
                         scaling->total);
    if (scaling->share == 0 && scaling->growth == 0 && scaling->rest == REST_NONE)
        return 0;
    const struct place *pool = PLACE_KEY(place, "pool");
    if (check_index(scaling->pool, model->n_pools, "a pool", pool, error))
        return -1;
    if (model->pools[scaling->pool].profiled_threads < 1)
        return violation(pool, error,
                         "pool %d was profiled with no threads, so nothing can be "
                         "scaled by it",
                         scaling->pool);
    return 0;
}

static int check_machine(const struct machine *machine, struct error *error) {
    const struct place *place = PLACE_KEY(NULL, "machine");
    if (machine->cores < 1)
        return violation(PLACE_KEY(place, "cores"), error, "%d cores cannot run anything",
                         machine->cores);
    if (!isfinite(machine->quantum_ns) || machine->quantum_ns <= 0)
        return violation(PLACE_KEY(place, "quantum_ns"), error, "%g is not a time slice",
                         machine->quantum_ns);
    if (check_amount(machine->tick_ns, "tick_ns", place, error) ||
        check_amount(machine->switch_cpu_ns, "switch_cpu_ns", place, error) ||
        check_amount(machine->block_cpu_ns, "block_cpu_ns", place, error) ||
        check_amount(machine->wake_cpu_ns, "wake_cpu_ns", place, error) ||
        check_amount(machine->preempt_ns, "preempt_ns", place, error) ||
        check_amount(machine->busy_cores, "busy_cores", place, error))
        return -1;
    if (!(machine->pull_share >= 0 && machine->pull_share <= 1))
        return violation(PLACE_KEY(place, "pull_share"), error, "%g is not a share",
                         machine->pull_share);
    if (check_amount(machine->brief_idle_ns, "brief_idle_ns", place, error) ||
        check_dist(&machine->brief_latency_ns, "brief_latency_ns", place, error))
        return -1;
    return check_dist(&machine->wake_latency_ns, "wake_latency_ns", place, error);
}

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
        return violation(PLACE_KEY(place, "postfix"), error, "\"%s\" has %s", text, wrong);
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
        return violation(PLACE_KEY(place, "answers"), error, "without \"if\" there is no answer");
    if (updates != (statement->variable != MODEL_NONE) || updates != is_given(&statement->value))
        return violation(
            place, error,
            updates ? "%s: needs variable and value" : "%s: has no variable and no value", kind);
    if (updates == (statement->condition != MODEL_NONE))
        return violation(place, error, updates ? "%s: has no condition" : "%s: needs a condition",
                         kind);
    if (waits != is_given(&statement->predicate))
        return violation(place, error, waits ? "%s: needs \"while\"" : "%s: has no \"while\"",
                         kind);
    if (updates)
        return check_index(statement->variable, monitor->n_variables, "a variable",
                           PLACE_KEY(place, "variable"), error) ||
                       check_expression(monitor, &statement->value, is_own,
                                        PLACE_KEY(place, "value"), error)
                   ? -1
                   : 0;
    if (check_index(statement->condition, monitor->n_conditions, "a condition",
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
        return violation(PLACE_KEY(place, "name"), error, "missing");
    for (size_t i = 0; i < section->n_statements; i++) {
        const struct statement *statement = &section->statements[i];
        const struct place *here = PLACE_INDEX(PLACE_KEY(place, "statements"), i);
        if ((int)statement->kind < 0 || (int)statement->kind > (int)STATEMENT_BROADCAST)
            return violation(PLACE_KEY(here, "do"), error, "an unknown kind");
        if (check_statement(monitor, statement, is_own, here, error))
            return -1;
        answers += statement->answers;
        if (answers > 1)
            return violation(PLACE_KEY(here, "answers"), error,
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
            status = violation(PLACE_KEY(here, "name"), error, "missing");
        else
            status = check_linear(model, &monitor->variables[v].initial, "initial", here, error);
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
        return violation(place, error, "a %s has no variables, conditions and sections",
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
    if (check_index(object->condition_of, model->n_objects, "an object",
                    PLACE_KEY(place, "condition_of"), error))
        return -1;
    const struct object *owner = &model->objects[object->condition_of];
    if (!is_store(object) || !is_store(owner))
        return violation(PLACE_KEY(place, "condition_of"), error,
                         "only tokens and queues share a condition");
    if (owner->condition_of != MODEL_NONE)
        return violation(PLACE_KEY(place, "condition_of"), error,
                         "object %d waits on another's condition itself", object->condition_of);
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
        return violation(PLACE_KEY(place, "interarrival_ns"), error,
                         "only a queue has arrivals from outside");
    if (check_dist(&object->interarrival_ns, "interarrival_ns", place, error))
        return -1;
    if (object->interarrival_ns.kind != DIST_NONE && dist_mean(&object->interarrival_ns) <= 0)
        return violation(PLACE_KEY(place, "interarrival_ns"), error,
                         "arrivals without time between them never end");
    return check_amount(object->arrivals, "arrivals", place, error);
}

static int check_clients(const struct model *model, const struct object *object,
                         const struct place *place, struct error *error) {
    if (check_amount(object->clients, "clients", place, error) ||
        check_dist(&object->think_ns, "think_ns", place, error))
        return -1;
    if (object->clients == 0 && object->think_ns.kind != DIST_NONE)
        return violation(PLACE_KEY(place, "think_ns"), error, "there are no clients who think");
    if (object->clients == 0)
        return 0;
    if (object->kind != OBJECT_QUEUE)
        return violation(PLACE_KEY(place, "clients"), error, "only a queue has clients");
    if (object->clients > MAX_CLIENTS || object->clients != floor(object->clients))
        return violation(PLACE_KEY(place, "clients"), error,
                         "%g is no number of clients: give a whole one up to %g", object->clients,
                         MAX_CLIENTS);
    if (object->interarrival_ns.kind != DIST_NONE)
        return violation(PLACE_KEY(place, "clients"), error,
                         "a queue has either clients or arrivals from outside");
    if (!ends_tasks(model))
        return violation(PLACE_KEY(place, "clients"), error,
                         "clients wait until their task ends, but no node is a task_end");
    return 0;
}

static int check_distances(const struct object *object, const struct place *above,
                           struct error *error) {
    const struct place *place = PLACE_KEY(above, "distances");
    if (object->n_distances > 0 && (object->kind != OBJECT_DISK || object->servers != 1))
        return violation(place, error, "only a disk with one server has them");
    for (size_t i = 0; i < object->n_distances; i++) {
        const struct disk_distance *distance = &object->distances[i];
        bool is_sound = i == 0 ? distance->least == 0
                               : isfinite(distance->least) && distance->least > distance[-1].least;
        if (!is_sound)
            return violation(PLACE_INDEX(place, i), error,
                             "least distances must ascend, and the first be 0");
        if (distance->service_ns.kind == DIST_NONE ||
            check_dist(&distance->service_ns, "service_ns", PLACE_INDEX(place, i), error))
            return violation(PLACE_INDEX(place, i), error, "a distance needs service times");
    }
    return 0;
}

static int check_gaps(const struct object *object, const struct place *above, struct error *error) {
    const struct place *place = PLACE_KEY(above, "gaps");
    double sum = 0;
    for (size_t i = 0; i < object->n_gaps; i++) {
        if (!(object->gaps[i] >= 0 && isfinite(object->gaps[i])))
            return violation(PLACE_INDEX(place, i), error, "%g is no time", object->gaps[i]);
        sum += object->gaps[i];
    }
    if (object->n_gaps > 0 && (!(sum > 0) || object->interarrival_ns.kind == DIST_NONE))
        return violation(place, error, "times between arrivals of a queue without any");
    return 0;
}

static int check_object(const struct model *model, size_t i, struct error *error) {
    const struct object *object = &model->objects[i];
    const struct place *place = PLACE_INDEX(PLACE_KEY(NULL, "objects"), i);
    if (!object->name)
        return violation(PLACE_KEY(place, "name"), error, "missing");
    if ((int)object->kind < 0 || (int)object->kind >= N_OBJECT_KINDS)
        return violation(PLACE_KEY(place, "kind"), error, "an unknown kind");
    if (object->kind == OBJECT_DISK && object->service_ns.kind == DIST_NONE)
        return violation(PLACE_KEY(place, "service_ns"), error, "a disk needs service times");
    if (object->room_ns > 0 && (object->kind != OBJECT_DISK || object->servers != 1))
        return violation(PLACE_KEY(place, "room_ns"), error,
                         "only a disk with one server has room");
    if (object->kind == OBJECT_DISK && !(object->servers >= 0 && object->servers <= MAX_SERVERS))
        return violation(PLACE_KEY(place, "servers"), error,
                         "%g is no number of servers: at least 1, or 0 for no limit",
                         object->servers);
    if (object->initial_items > MAX_INITIAL_ITEMS)
        return violation(PLACE_KEY(place, "initial_items"), error, "%g is more than %g",
                         object->initial_items, MAX_INITIAL_ITEMS);
    if (check_condition(model, object, place, error))
        return -1;
    if (check_linear(model, &object->amount, "amount", place, error) ||
        check_linear(model, &object->refilled_after, "refilled_after", place, error) ||
        check_amount(object->initial_items, "initial_items", place, error) ||
        check_amount(object->items_in_all, "items_in_all", place, error) ||
        check_amount(object->room_ns, "room_ns", place, error) ||
        check_arrivals(object, place, error) || check_clients(model, object, place, error) ||
        check_dist(&object->service_ns, "service_ns", place, error) ||
        check_distances(object, place, error) || check_gaps(object, place, error) ||
        check_monitor_parts(model, object, place, error))
        return -1;
    return 0;
}

/* A pool whose size follows another's must not be followed in turn: sizes are found in one step. */
static int check_pool_size(const struct model *model, size_t i, const struct place *place,
                           struct error *error) {
    const struct linear *threads = &model->pools[i].threads;
    if (check_linear(model, threads, "threads", place, error))
        return -1;
    for (size_t k = 0; k < threads->n_terms; k++) {
        int other = threads->terms[k].pool;
        if (model->pools[other].threads.n_terms > 0)
            return violation(PLACE_KEY(place, "threads"), error,
                             "follows pool %d, whose size follows a pool itself", other);
    }
    return 0;
}

static int check_bounds(const struct pool *pool, const struct place *place, struct error *error) {
    if (!(pool->asked_factor >= 0) || isinf(pool->asked_factor))
        return violation(PLACE_KEY(place, "asked_factor"), error, "not a positive number");
    if (!isfinite(pool->asked_offset) || (pool->asked_factor == 0 && pool->asked_offset != 0))
        return violation(PLACE_KEY(place, "asked_offset"), error,
                         "not a finite number that goes with asked_factor");
    if (!(pool->cores_factor >= 0) || isinf(pool->cores_factor) || !isfinite(pool->cores_offset))
        return violation(PLACE_KEY(place, "cores_factor"), error, "not a positive number");
    if (pool->most_threads < 0)
        return violation(PLACE_KEY(place, "most_threads"), error, "%d threads", pool->most_threads);
    if (pool->least_threads < 0 ||
        (pool->most_threads > 0 && pool->least_threads > pool->most_threads))
        return violation(PLACE_KEY(place, "least_threads"), error, "%d threads, at most %d",
                         pool->least_threads, pool->most_threads);
    return 0;
}

static int check_refill(const struct pool *pool, const struct place *place, struct error *error) {
    const struct place *points = PLACE_KEY(place, "refill");
    if (check_amount(pool->given_ns, "given_ns", place, error) ||
        check_amount(pool->displaces_per_ns, "displaces_per_ns", place, error))
        return -1;
    for (size_t i = 0; i < pool->n_refill; i++) {
        const struct refill_point *point = &pool->refill[i];
        const struct place *here = PLACE_INDEX(points, i);
        if (check_amount(point->away_ns, "away_ns", here, error) ||
            check_amount(point->cpu_ns, "cpu_ns", here, error))
            return -1;
        if (i > 0 && (point->away_ns <= point[-1].away_ns || point->cpu_ns < point[-1].cpu_ns))
            return violation(here, error, "longer away costs no less, and points go by away_ns");
    }
    if (pool->n_refill && pool->refill[pool->n_refill - 1].cpu_ns <= 0)
        return violation(points, error, "costs nothing: leave it out");
    return 0;
}

static int check_pool(const struct model *model, size_t i, struct error *error) {
    const struct pool *pool = &model->pools[i];
    const struct place *place = PLACE_INDEX(PLACE_KEY(NULL, "pools"), i);
    const struct place *entry = PLACE_KEY(place, "entry");
    if (!pool->name)
        return violation(PLACE_KEY(place, "name"), error, "missing");
    if (pool->per_task && (pool->at_start || pool->with_creator))
        return violation(PLACE_KEY(place, "per_task"), error,
                         "threads that are made for tasks are not there from the start");
    if (pool->profiled_threads < 0)
        return violation(PLACE_KEY(place, "profiled_threads"), error, "%d threads",
                         pool->profiled_threads);
    if (check_bounds(pool, place, error) || check_refill(pool, place, error) ||
        check_index(pool->entry, model->n_nodes, "a node", entry, error))
        return -1;
    if (model->nodes[pool->entry].kind != NODE_START)
        return violation(entry, error, "node %d is not a start node", pool->entry);
    return check_pool_size(model, i, place, error);
}

static int check_by_place(const struct edge *edge, const struct place *place, struct error *error) {
    double sum = 0;
    for (size_t i = 0; i < edge->n_cpu_by_place; i++) {
        double part = edge->cpu_by_place[i];
        if (!isfinite(part) || part < 0)
            return violation(PLACE_INDEX(place, i), error, "%g is not a finite number from 0 up",
                             part);
        sum += part;
    }
    if (edge->n_cpu_by_place > 0 && fabs(sum / (double)edge->n_cpu_by_place - 1) > 1e-6)
        return violation(place, error, "the mean is %g, not 1", sum / (double)edge->n_cpu_by_place);
    return 0;
}

static int check_edge(const struct model *model, const struct edge *edge, const struct place *place,
                      struct error *error) {
    if (check_index(edge->to, model->n_nodes, "a node", PLACE_KEY(place, "to"), error))
        return -1;
    if ((int)edge->when < OUTCOME_ANY || (int)edge->when > OUTCOME_NO)
        return violation(PLACE_KEY(place, "when"), error, "an unknown outcome");
    if ((int)edge->taker < TAKER_ANY || (int)edge->taker > TAKER_LEADER)
        return violation(PLACE_KEY(place, "taker"), error, "an unknown taker");
    if (edge->taker != TAKER_ANY && edge->leaves)
        return violation(PLACE_KEY(place, "taker"), error,
                         "a loop is left by all threads, not by one in each round");
    if (check_amount(edge->probability, "probability", place, error) ||
        check_amount(edge->first, "first", place, error) ||
        check_dist(&edge->runs, "runs", place, error) ||
        check_scaling(model, &edge->runs_scaling, "runs_scaling", place, error) ||
        check_dist(&edge->cpu_ns, "cpu_ns", place, error) ||
        check_by_place(edge, PLACE_KEY(place, "cpu_by_place"), error))
        return -1;
    return check_scaling(model, &edge->cpu_scaling, "cpu_scaling", place, error);
}

/* For each object whether some node closes it. */
static bool *find_closed(const struct model *model) {
    bool *closed = memory_alloc(model->n_objects, sizeof *closed);
    for (size_t i = 0; i < model->n_nodes; i++) {
        const struct node *node = &model->nodes[i];
        if (node->kind == NODE_CLOSE && node->object >= 0 &&
            (size_t)node->object < model->n_objects)
            closed[node->object] = true;
    }
    return closed;
}

/* Whether the node's outcome is told by what it carries out. */
static bool is_told(const struct model *model, const struct node *node) {
    return node->kind == NODE_STATEMENTS &&
           statement_section_answers(&model->objects[node->object].sections[node->section]);
}

/* Whether the node's object may be closed under it. */
static bool is_closable(const bool *closed, const struct node *node) {
    return (node->kind == NODE_ACQUIRE || node->kind == NODE_PUT || node->kind == NODE_GET) &&
           closed[node->object];
}

static bool says_no(const struct node *node) {
    for (size_t i = 0; i < node->n_edges; i++) {
        if (node->edges[i].when == OUTCOME_NO && node->edges[i].probability > 0)
            return true;
    }
    return false;
}

static double edge_weight(const struct node *node, enum outcome outcome) {
    double sum = 0;
    for (size_t i = 0; i < node->n_edges; i++) {
        if (node->edges[i].when == OUTCOME_ANY || node->edges[i].when == outcome)
            sum += node->edges[i].probability;
    }
    return sum;
}

static int check_course(const struct node *node, const struct place *place, struct error *error) {
    if (node->n_course % 2 != 0)
        return violation(place, error, "no pairs of an edge and how often it is taken");
    for (size_t i = 0; i < node->n_course; i += 2) {
        double edge = node->course[i], times = node->course[i + 1];
        if (!(edge >= 0 && edge < (double)node->n_edges && edge == floor(edge)))
            return violation(PLACE_INDEX(place, i), error, "the node has no edge %g", edge);
        if (!(times >= 1 && times == floor(times) && isfinite(times)))
            return violation(PLACE_INDEX(place, i + 1), error,
                             "an edge is not taken %g times in a row", times);
    }
    return 0;
}

/* "How many requests, then first sector, sectors and whether it comes with the one before" of each
 * call. */
static int check_calls(const struct node *node, const struct place *place, struct error *error) {
    if (node->n_calls > 0 && (node->kind != NODE_IO || node->object == MODEL_NONE))
        return violation(place, error, "only an io node with a disk has them");
    for (size_t i = 0; i < node->n_calls;) {
        double n = node->calls[i++];
        if (!(n >= 0 && n == floor(n) && n <= (double)(node->n_calls - i) / 3))
            return violation(PLACE_INDEX(place, i - 1), error, "%g is no number of requests", n);
        for (size_t r = 0; r < (size_t)n; r++, i += 3)
            if (!(node->calls[i] >= 0 && isfinite(node->calls[i]) && node->calls[i + 1] >= 0 &&
                  isfinite(node->calls[i + 1])))
                return violation(PLACE_INDEX(place, i), error, "no place on a disk");
    }
    return 0;
}

static int check_edges(const struct model *model, const bool *closed, const struct node *node,
                       const struct place *above, struct error *error) {
    const struct place *place = PLACE_KEY(above, "edges");
    if (node->kind == NODE_END)
        return node->n_edges ? violation(place, error, "an end node has no edges") : 0;
    for (size_t i = 0; i < node->n_edges; i++) {
        const struct edge *edge = &node->edges[i];
        if (check_edge(model, edge, PLACE_INDEX(place, i), error))
            return -1;
        if (node->n_course > 0 && (edge->when != OUTCOME_ANY || edge->taker != TAKER_ANY))
            return violation(PLACE_INDEX(place, i), error,
                             "the node has a course: which edge is taken cannot depend on %s",
                             edge->taker != TAKER_ANY ? "who takes it" : "the outcome");
    }
    double yes = edge_weight(node, OUTCOME_YES);
    if (!(yes > 0) || !isfinite(yes))
        return violation(place, error, "no edge to go on by (probabilities add up to %g)", yes);
    if (is_closable(closed, node) && !says_no(node))
        return violation(place, error,
                         "no edge for outcome \"no\", although object %d is closed by some node",
                         node->object);
    double no = edge_weight(node, OUTCOME_NO);
    if (is_told(model, node) && !(no > 0))
        return violation(place, error, "no edge for outcome \"no\", which its statements may give");
    if (node_rules[node->kind].may_time_out && node->timeout_ns >= 0 && !(no > 0))
        return violation(place, error, "no edge for outcome \"no\", which a timeout gives");
    if (!isfinite(no))
        return violation(place, error, "probabilities add up to %g", no);
    return 0;
}

static int check_node_object(const struct model *model, const struct node *node,
                             const struct place *above, struct error *error) {
    const struct node_rule *rule = &node_rules[node->kind];
    const struct place *place = PLACE_KEY(above, "object");
    const char *kind = node_kind_name(node->kind);
    if (!rule->objects)
        return node->object == MODEL_NONE
                   ? 0
                   : violation(place, error, "a %s node has no object", kind);
    if (node->object == MODEL_NONE && rule->may_lack_object)
        return 0;
    if (check_index(node->object, model->n_objects, "an object", place, error))
        return -1;
    enum object_kind object = model->objects[node->object].kind;
    if (!(rule->objects & (1U << object)))
        return violation(place, error, "a %s node cannot work on a %s (object %d)", kind,
                         object_kind_name(object), node->object);
    if (node->kind == NODE_STATEMENTS)
        return check_index(node->section, model->objects[node->object].n_sections,
                           "a section of its monitor", PLACE_KEY(above, "section"), error);
    return 0;
}

/* Statements wait by giving up the mutex under which their monitor is. */
static int check_statements_mutex(const struct model *model, const struct node *node,
                                  const struct place *place, struct error *error) {
    if (node->kind != NODE_STATEMENTS || node->mutex != MODEL_NONE)
        return 0;
    const struct statement_section *section = &model->objects[node->object].sections[node->section];
    for (size_t i = 0; i < section->n_statements; i++)
        if (section->statements[i].kind == STATEMENT_WAIT)
            return violation(PLACE_KEY(place, "mutex"), error,
                             "its statements wait, but there is no mutex to give up");
    return 0;
}

static int check_node_references(const struct model *model, const struct node *node,
                                 const struct place *place, struct error *error) {
    const struct node_rule *rule = &node_rules[node->kind];
    const char *kind = node_kind_name(node->kind);
    if (check_node_object(model, node, place, error))
        return -1;
    const struct place *mutex = PLACE_KEY(place, "mutex");
    if (node->mutex != MODEL_NONE) {
        if (!rule->may_hold_mutex)
            return violation(mutex, error, "a %s node gives up no mutex", kind);
        if (check_index(node->mutex, model->n_objects, "an object", mutex, error))
            return -1;
        if (model->objects[node->mutex].kind != OBJECT_MUTEX)
            return violation(mutex, error, "object %d is not a mutex", node->mutex);
    }
    if (check_statements_mutex(model, node, place, error))
        return -1;
    const struct place *pool = PLACE_KEY(place, "target_pool");
    if (rule->needs_pool)
        return check_index(node->target_pool, model->n_pools, "a pool", pool, error);
    if (node->target_pool != MODEL_NONE)
        return violation(pool, error, "a %s node has no target pool", kind);
    return 0;
}

static int check_monitor(const struct model *model, size_t i, struct error *error) {
    const struct hand_made *monitor = &model->monitors[i];
    const struct place *place = PLACE_INDEX(PLACE_KEY(NULL, "monitors"), i);
    if (!monitor->name)
        return violation(PLACE_KEY(place, "name"), error, "missing");
    for (size_t k = 0; k < monitor->n_made_of; k++) {
        const struct place *part = PLACE_INDEX(PLACE_KEY(place, "made_of"), k);
        if (check_index(monitor->made_of[k].object, model->n_objects, "an object",
                        PLACE_KEY(part, "object"), error))
            return -1;
    }
    if (!(monitor->confidence >= 0 && monitor->confidence <= 1))
        return violation(PLACE_KEY(place, "confidence"), error, "%g is not between 0 and 1",
                         monitor->confidence);
    if (check_amount(monitor->replayed, "replayed", place, error) ||
        check_amount(monitor->violations, "violations", place, error))
        return -1;
    return linear_is_known(&monitor->amount)
               ? check_linear(model, &monitor->amount, "amount", place, error)
               : 0;
}

static int check_waiting(const struct model *model, size_t i, struct error *error) {
    const struct place *place = PLACE_INDEX(PLACE_KEY(NULL, "waiting"), i);
    if (!model->waiting[i].what)
        return violation(PLACE_KEY(place, "what"), error, "missing");
    return check_amount(model->waiting[i].wait_ns, "wait_ns", place, error);
}

static int check_node(const struct model *model, const bool *closed, size_t i,
                      struct error *error) {
    const struct node *node = &model->nodes[i];
    const struct place *place = PLACE_INDEX(PLACE_KEY(NULL, "nodes"), i);
    if (!node->name)
        return violation(PLACE_KEY(place, "name"), error, "missing");
    if ((int)node->kind < 0 || (int)node->kind >= N_NODE_KINDS)
        return violation(PLACE_KEY(place, "kind"), error, "an unknown kind");
    if (check_node_references(model, node, place, error))
        return -1;
    const struct place *timeout = PLACE_KEY(place, "timeout_ns");
    if (isnan(node->timeout_ns) || isinf(node->timeout_ns))
        return violation(timeout, error, "not a finite number (-1 waits for ever)");
    if (node->timeout_ns > 0 && !node_rules[node->kind].may_time_out)
        return violation(timeout, error, "a %s node cannot time out", node_kind_name(node->kind));
    bool may_subtract = node->kind == NODE_RELEASE && isfinite(node->count);
    if (node->kind == NODE_PUT && node->count > 1 && model->objects[node->object].bounded)
        return violation(PLACE_KEY(place, "count"), error,
                         "more than one item at once into a bounded queue");
    if (node->counts.kind != DIST_NONE && node->kind != NODE_ACQUIRE)
        return violation(PLACE_KEY(place, "counts"), error, "only an acquire node has them");
    if (node->gives_back && node->kind != NODE_RELEASE)
        return violation(PLACE_KEY(place, "gives_back"), error, "only a release node does");
    if (node->stream < 0 || (node->stream > 0 && node->kind != NODE_IO))
        return violation(PLACE_KEY(place, "stream"), error, "not a positive number of an io node");
    if (node->item_kind < 0 ||
        (node->item_kind > 0 && node->kind != NODE_PUT && node->kind != NODE_STEP))
        return violation(PLACE_KEY(place, "item_kind"), error,
                         "not a positive number of a put or a step");
    if ((!may_subtract && check_amount(node->count, "count", place, error)) ||
        check_scaling(model, &node->count_scaling, "count_scaling", place, error) ||
        check_dist(&node->counts, "counts", place, error) ||
        check_dist(&node->stays, "stays", place, error) ||
        check_scaling(model, &node->stays_scaling, "stays_scaling", place, error) ||
        check_dist(&node->cpu_ns, "cpu_ns", place, error) ||
        check_dist(&node->wait_ns, "wait_ns", place, error) ||
        check_dist(&node->operations, "operations", place, error) ||
        check_dist(&node->service_ns, "service_ns", place, error) ||
        check_dist(&node->near_ns, "near_ns", place, error))
        return -1;
    return check_edges(model, closed, node, place, error) ||
                   check_course(node, PLACE_KEY(place, "course"), error) ||
                   check_calls(node, PLACE_KEY(place, "calls"), error)
               ? -1
               : 0;
}

static int check_head(const struct model *model, struct error *error) {
    if (model->version != MODEL_VERSION)
        return violation(PLACE_KEY(NULL, "version"), error, "%d is not version %d", model->version,
                         MODEL_VERSION);
    const struct {
        const char *key;
        double value;
    } numbers[] = {
        {"measured_run_ns", model->measured_run_ns},
        {"explained_share", model->explained_share},
        {"probe_ns", model->probe_ns},
        {"lost_events", model->lost_events},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        if (check_amount(numbers[i].value, numbers[i].key, NULL, error))
            return -1;
    }
    if (isinf(model->perturbation))
        return violation(PLACE_KEY(NULL, "perturbation"), error, "not finite");
    for (size_t i = 0; i < model->n_checks; i++) {
        const struct model_check *check = &model->checks[i];
        const struct place *place = PLACE_INDEX(PLACE_KEY(NULL, "checks"), i);
        if (!check->what || !isfinite(check->measured) || !isfinite(check->simulated))
            return violation(place, error, "needs a name and two finite numbers");
    }
    return check_machine(&model->machine, error);
}

int model_check(const struct model *model, struct error *error) {
    if (check_head(model, error))
        return -1;
    for (size_t i = 0; i < model->n_objects; i++) {
        if (check_object(model, i, error))
            return -1;
    }
    for (size_t i = 0; i < model->n_monitors; i++) {
        if (check_monitor(model, i, error))
            return -1;
    }
    for (size_t i = 0; i < model->n_waiting; i++) {
        if (check_waiting(model, i, error))
            return -1;
    }
    bool has_start = false;
    for (size_t i = 0; i < model->n_pools; i++) {
        if (check_pool(model, i, error))
            return -1;
        has_start |= model->pools[i].at_start;
    }
    if (!has_start)
        return violation(PLACE_KEY(NULL, "pools"), error,
                         "no pool is marked at_start, so nothing would ever run");
    bool *closed = find_closed(model);
    int status = 0;
    for (size_t i = 0; i < model->n_nodes && status == 0; i++)
        status = check_node(model, closed, i, error);
    free(closed);
    return status;
}
