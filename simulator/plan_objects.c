#include "simulator/plan_objects.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"

/* ---- monitors ---- */

/* model_check() has seen to it that the expressions parse. */
static struct command compile_statement(const struct object *monitor, const bool *is_own,
                                        const struct statement *statement) {
    static const enum command_kind kinds[] = {[STATEMENT_UPDATE] = COMMAND_UPDATE,
                                              [STATEMENT_WAIT] = COMMAND_WAIT,
                                              [STATEMENT_SIGNAL] = COMMAND_SIGNAL,
                                              [STATEMENT_BROADCAST] = COMMAND_BROADCAST};
    struct command compiled = {.kind = kinds[statement->kind],
                               .variable = statement->variable,
                               .condition = statement->condition,
                               .answers = statement->answers};
    const struct expression *value =
        statement->kind == STATEMENT_WAIT ? &statement->predicate : &statement->value;
    postfix_parse(statement->guard.postfix, monitor->n_variables, is_own, &compiled.guard);
    postfix_parse(value->postfix, monitor->n_variables, is_own, &compiled.value);
    if (statement->kind == STATEMENT_UPDATE)
        compiled.is_own = is_own[statement->variable];
    return compiled;
}

static void compile_section(struct plan_builder *builder, const struct object *monitor,
                            const bool *is_own, const struct statement_section *section) {
    struct plan_section *compiled = VECTOR_ADD(&builder->sections);
    *compiled = (struct plan_section){(int)builder->commands.count, (int)section->n_statements};
    const char *last_guard = NULL;
    int branch = COMMAND_ALWAYS;
    for (size_t i = 0; i < section->n_statements; i++) {
        const struct statement *statement = &section->statements[i];
        struct command *next = VECTOR_ADD(&builder->commands);
        *next = compile_statement(monitor, is_own, statement);
        branch = command_branch((int)i, statement->guard.postfix, last_guard, branch);
        next->branch = branch;
        last_guard = statement->guard.postfix;
    }
}

static void compile_monitor(struct plan_builder *builder, const struct object *monitor,
                            struct plan_object *compiled) {
    bool *is_own = memory_alloc(monitor->n_variables, sizeof *is_own);
    compiled->first_variable = (int)builder->variables.count;
    compiled->first_section = (int)builder->sections.count;
    for (size_t v = 0; v < monitor->n_variables; v++) {
        const struct monitor_variable *variable = &monitor->variables[v];
        is_own[v] = variable->per_thread;
        *VECTOR_ADD(&builder->variables) =
            value_of(nearbyint(linear_value(&variable->initial, builder->pool_threads)));
    }
    for (size_t s = 0; s < monitor->n_sections; s++)
        compile_section(builder, monitor, is_own, &monitor->sections[s]);
    free(is_own);
}

/* Links the objects that have one condition variable. */
void plan_share_conditions(struct plan *plan) {
    for (int i = 0; i < plan->n_objects; i++) {
        int owner = plan->model->objects[i].condition_of;
        if (owner == MODEL_NONE)
            continue;
        plan->objects[i].condition_side = plan->objects[owner].first_side;
        plan->objects[i].condition_next = plan->objects[owner].condition_next;
        plan->objects[owner].condition_next = i;
    }
}

/* ---- networks ---- */

/* Whether clients are far away or near, the most throughput is the same, if they are many enough:
 * where that is asked they are near. */
static void compile_network(struct plan_builder *builder, const struct object *object,
                            struct plan_object *compiled, const struct sim_config *config) {
    compiled->comes_by = object->comes_by;
    compiled->goes_by = object->goes_by;
    compiled->request_bytes = compiled->reply_bytes = PLAN_NONE;
    if (object->comes_by != MODEL_NONE) /* else they are in nobody's way */
        compiled->request_bytes = plan_add_draw(builder, &object->request_bytes);
    if (object->goes_by != MODEL_NONE)
        compiled->reply_bytes = plan_add_draw(builder, &object->reply_bytes);
    compiled->returned_first = object->returned_first;
    compiled->connects = object->connects;
    compiled->latency_ns = config->is_saturated ? 0 : object->latency_ns;
    compiled->bytes_per_ns = object->bytes_per_s * 1e-9;
}

/* ---- load from outside ---- */

/* As many as keep every thread busy, and enough of them at the bottleneck that it never idles. */
#define SATURATING_CLIENTS(threads) (500 + 20 * (threads))

bool plan_has_load(const struct object *object) {
    return object->interarrival_ns.kind != DIST_NONE || object->clients > 0;
}

/* The model's own times between arrivals, at another rate. */
static int add_scaled_draw(struct plan_builder *builder, const struct dist *dist, double mean) {
    struct dist scaled = plan_multiplied(dist, mean / dist_mean(dist));
    int draw = plan_add_draw(builder, &scaled);
    free(scaled.values);
    return draw;
}

/* Of all that comes to the model from outside; of loads whose rate is not known each has the same.
 */
static double share_of_load(const struct model *model, const struct object *object) {
    double all = 0, own = 0, n = 0;
    bool known = true;
    for (size_t i = 0; i < model->n_objects; i++) {
        const struct object *other = &model->objects[i];
        if (!plan_has_load(other))
            continue;
        n++;
        known &= other->interarrival_ns.kind != DIST_NONE;
        double rate = 1 / dist_mean(&other->interarrival_ns);
        all += rate;
        if (other == object)
            own = rate;
    }
    return known ? own / all : 1 / n;
}

static double arrival_factor(const struct sim_config *config) {
    return config->arrival_factor > 0 ? config->arrival_factor : 1;
}

/* Of the queue's own arrivals; 0: as many as in the recorded run. */
static double rate_asked_for(const struct plan_builder *builder, const struct object *object,
                             const struct sim_config *config) {
    return config->arrival_rate_hz * share_of_load(builder->model, object);
}

/* As in the recorded run, one after the other, and as far apart, or so far on average that so many
 * come (0: as in that run). */
static void use_gaps(struct plan_object *compiled, const struct object *object, double rate_hz) {
    double sum = 0;
    for (size_t i = 0; i < object->n_gaps; i++)
        sum += object->gaps[i];
    compiled->gaps = object->gaps;
    compiled->n_gaps = object->n_gaps;
    compiled->gap_factor = rate_hz > 0 ? 1e9 / rate_hz * (double)object->n_gaps / sum : 1;
}

static int add_arrivals(struct plan_builder *builder, const struct object *object,
                        const struct sim_config *config) {
    double rate_hz = rate_asked_for(builder, object, config);
    double mean = rate_hz > 0 ? 1e9 / rate_hz : dist_mean(&object->interarrival_ns);
    mean /= arrival_factor(config);
    if (!(rate_hz > 0) || config->arrivals == ARRIVALS_RECORDED)
        return add_scaled_draw(builder, &object->interarrival_ns, mean);
    bool is_constant = config->arrivals == ARRIVALS_CONSTANT;
    struct dist dist = {.kind = is_constant ? DIST_CONSTANT : DIST_EXPONENTIAL, .mean = mean};
    return plan_add_draw(builder, &dist);
}

static int compile_clients(struct plan *plan, struct plan_builder *builder,
                           const struct object *object, struct plan_object *compiled,
                           const struct sim_config *config, struct error *error) {
    struct dist think = {.kind = DIST_EXPONENTIAL, .mean = config->think_ns};
    compiled->first_client = plan->n_clients;
    compiled->n_clients = config->is_saturated  ? SATURATING_CLIENTS(plan->n_threads)
                          : config->clients > 0 ? config->clients
                                                : (int)object->clients;
    compiled->think = config->is_saturated   ? PLAN_NONE
                      : config->think_ns > 0 ? plan_add_draw(builder, &think)
                                             : plan_add_draw(builder, &object->think_ns);
    plan->n_clients += compiled->n_clients;
    plan->is_steady |= !(config->horizon_ns > 0);
    if (plan->has_tasks)
        return 0;
    return error_set(error, "clients wait until their task ends, but the model marks no tasks: "
                            "give a rate of arrivals instead");
}

static int compile_load(struct plan *plan, struct plan_builder *builder,
                        const struct object *object, struct plan_object *compiled,
                        const struct sim_config *config, struct error *error) {
    compiled->interarrival = compiled->think = PLAN_NONE;
    if (!plan_has_load(object))
        return 0;
    plan->is_open = true;
    bool is_closed = object->clients > 0 && !(config->arrival_rate_hz > 0);
    if (config->clients > 0 || config->is_saturated || is_closed)
        return compile_clients(plan, builder, object, compiled, config, error);
    compiled->interarrival = add_arrivals(builder, object, config);
    if (config->arrival_rate_hz > 0) /* another load than the recorded one */
        compiled->arrivals = config->requests > 0 ? config->requests : INFINITY;
    if (config->requests > 0 && plan->has_tasks)
        plan->tasks_in_all =
            (isinf(plan->tasks_in_all) ? 0 : plan->tasks_in_all) + config->requests;
    if (config->arrivals == ARRIVALS_RECORDED && object->n_gaps > 0) {
        use_gaps(compiled, object, rate_asked_for(builder, object, config));
        compiled->gap_factor /= arrival_factor(config);
    }
    plan->offered_hz += 1e9 / builder->draws.items[compiled->interarrival].mean;
    plan->is_steady |= isinf(compiled->arrivals) && !(config->horizon_ns > 0);
    return 0;
}

int plan_compile_object(struct plan *plan, struct plan_builder *builder, int i,
                        const struct sim_config *config, struct error *error) {
    const struct object *object = &builder->model->objects[i];
    struct plan_object *compiled = &plan->objects[i];
    *compiled = (struct plan_object){
        .kind = object->kind,
        .amount = nearbyint(linear_value(&object->amount, builder->pool_threads)),
        .refilled_after = linear_value(&object->refilled_after, builder->pool_threads),
        .spins = object->spins,
        .initial_items = lround(object->initial_items),
        .item_kind = object->item_kind,
        .items_in_all = object->items_in_all > 0 ? nearbyint(object->items_in_all) : INFINITY,
        .arrivals = object->arrivals > 0 ? nearbyint(object->arrivals) : INFINITY,
        .room_ns = object->room_ns,
        .servers = object->servers > 0 ? fmax(1, nearbyint(object->servers)) : INFINITY,
        .writers_first = object->writers_first,
        .in_steps = object->in_steps,
        .distance = fmax(1, nearbyint(object->distance)),
        .lead = object->lead,
        .in_rounds = object->in_rounds,
        .in_groups = object->in_groups,
        .by_kernel = object->by_kernel,
        .led_cpu_ns = builder->cpu_factor * object->led_cpu_ns,
        .dealt_to = object->dealt_to,
        .condition = object->condition && !object->spins,
        .wakes_all = object->wakes_all,
        .when_enough = object->when_enough,
        .when_empty = object->when_empty,
        .handed = object->handed,
        .order = object->kind == OBJECT_ORDER ? plan->n_orders++ : PLAN_NONE,
        .service = plan_add_draw(builder, &object->service_ns),
        .least_depth = object->least_depth,
        .most_depth = object->most_depth,
        .never_continued = object->never_continued,
        .alone = plan_add_draw(builder, &object->alone_ns),
    };
    compiled->first_side = compiled->condition_side = plan->n_sides;
    compiled->condition_next = i;
    compiled->n_sides = object->n_conditions > 2 ? (int)object->n_conditions : 2;
    plan->n_sides += compiled->n_sides;
    compile_monitor(builder, object, compiled);
    compile_network(builder, object, compiled, config);
    compiled->first_distance = (int)builder->distances.count;
    compiled->n_distances = (int)object->n_distances;
    for (size_t k = 0; k < object->n_distances; k++)
        *VECTOR_ADD(&builder->distances) = (struct plan_distance){
            object->distances[k].least, plan_add_draw(builder, &object->distances[k].service_ns)};
    if (compiled->refilled_after <= 0)
        compiled->refilled_after = INFINITY;
    if (object->kind == OBJECT_BARRIER && compiled->amount < 1)
        return error_set(error, "barrier %s would have %.0f parties: use more threads",
                         object->name, compiled->amount);
    if (object->kind == OBJECT_QUEUE && !object->bounded)
        compiled->amount = INFINITY;
    else if (object->kind == OBJECT_QUEUE && compiled->amount < 1)
        return error_set(error, "queue %s would have room for %.0f items: give it at least 1",
                         object->name, compiled->amount);
    return compile_load(plan, builder, object, compiled, config, error);
}
