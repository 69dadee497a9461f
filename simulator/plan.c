#include "simulator/plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define MAX_THREADS   100000
#define MOST_PER_TASK 1000 /* threads of a pool that live at a time, where each has a task */
#define MAX_CORES     100000
#define MAX_CLIENTS   1000000

/* The arrays of a plan while they grow. */
struct builder {
    const struct model *model;
    int *pool_threads;
    struct {
        struct plan_draw *items;
        size_t count, capacity;
    } draws;
    struct {
        double *items;
        size_t count, capacity;
    } values;
    struct {
        struct plan_edge *items;
        size_t count, capacity;
    } edges;
    struct {
        struct plan_choice *items;
        size_t count, capacity;
    } choices;
    struct {
        struct plan_leg *items;
        size_t count, capacity;
    } legs;
    struct {
        struct plan_call *items;
        size_t count, capacity;
    } calls;
    struct {
        struct plan_request *items;
        size_t count, capacity;
    } requests;
    struct {
        struct plan_distance *items;
        size_t count, capacity;
    } distances;
    struct {
        struct value *items;
        size_t count, capacity;
    } variables;
    struct {
        struct plan_section *items;
        size_t count, capacity;
    } sections;
    struct {
        struct command *items;
        size_t count, capacity;
    } commands;
    int n_runs, n_cards, n_rounds, n_courses;
    double cpu_factor; /* of all CPU demands */
};

/* As many rounds as there were. */
static void add_rounds(struct builder *builder, const struct dist *dist, struct plan_draw *draw) {
    double *values = memory_alloc(dist->n_values, sizeof *values);
    memcpy(values, dist->values, dist->n_values * sizeof *values);
    struct dist rounds =
        dist_from_values(values, dist->n_values, dist->n_values / (size_t)dist->sharers);
    draw->common = dist->common;
    draw->rounds = builder->n_rounds++;
    draw->first_round = builder->values.count;
    draw->n_round_values = rounds.n_values > 0 ? rounds.n_values : 1;
    for (size_t i = 0; i < draw->n_round_values; i++)
        *VECTOR_ADD(&builder->values) = rounds.n_values > 0 ? rounds.values[i] : rounds.mean;
    free(rounds.values);
    free(values);
}

static int add_draw(struct builder *builder, const struct dist *dist) {
    if (dist->kind == DIST_NONE)
        return PLAN_NONE;
    struct plan_draw draw = {.kind = dist->kind, .mean = dist_mean(dist), .rounds = PLAN_NONE};
    if (dist->kind == DIST_UNIFORM) {
        draw.low = dist->values[0];
        draw.high = dist->values[1];
    } else if (dist->kind == DIST_EMPIRICAL) {
        draw.first_value = builder->values.count;
        draw.n_values = dist->n_values;
        for (size_t i = 0; i < dist->n_values; i++)
            *VECTOR_ADD(&builder->values) = dist->values[i];
        if (dist->common > 0)
            add_rounds(builder, dist, &draw);
    }
    *VECTOR_ADD(&builder->draws) = draw;
    return (int)builder->draws.count - 1;
}

/* Where so many are drawn or to be drawn from, decks need not come out even: the rest is little. */
#define MANY_VALUES 256

/* Of a total that threads split: each gets a part, so other numbers of threads make another number
 * of parts out of what was measured. The parts' sum stays, and so do the differences between them;
 * a few values drawn as they are would be the total by chance alone. */
static int add_draw_of_parts(struct builder *builder, const struct dist *dist,
                             const struct scaling *scaling) {
    if (dist->kind != DIST_EMPIRICAL || dist->common > 0 || scaling->share == 0 ||
        scaling->rest != REST_NONE)
        return add_draw(builder, dist);
    double threads = builder->pool_threads[scaling->pool];
    double profiled = builder->model->pools[scaling->pool].profiled_threads;
    size_t n = (size_t)fmax(1, round((double)dist->n_values * threads / profiled));
    if (n >= MANY_VALUES || dist->n_values >= MANY_VALUES)
        return add_draw(builder, dist);
    struct dist parts = {.kind = DIST_EMPIRICAL, .n_values = n};
    parts.values = memory_alloc(n, sizeof *parts.values);
    double width = (double)dist->n_values / (double)n; /* of a part, in measured values */
    for (size_t i = 0; i < n; i++)
        parts.values[i] =
            dist_bin_mean(dist->values, (double)i * width, (double)(i + 1) * width, dist->n_values);
    int draw = add_draw(builder, &parts);
    free(parts.values);
    return draw;
}

/* The same distribution, `factor` times as long. The caller frees its values. */
static struct dist multiplied(const struct dist *dist, double factor) {
    struct dist scaled = *dist;
    scaled.mean *= factor;
    scaled.values = memory_alloc(dist->n_values, sizeof *scaled.values);
    for (size_t i = 0; i < dist->n_values; i++)
        scaled.values[i] = dist->values[i] * factor;
    return scaled;
}

/* A CPU demand; `scaling` NULL: it is no part of anything. */
static int add_cpu_draw(struct builder *builder, const struct dist *dist,
                        const struct scaling *scaling) {
    struct dist scaled = multiplied(dist, builder->cpu_factor);
    int draw = scaling ? add_draw_of_parts(builder, &scaled, scaling) : add_draw(builder, &scaled);
    free(scaled.values);
    return draw;
}

static struct plan_factor make_factor(const struct builder *builder,
                                      const struct scaling *scaling) {
    struct plan_factor factor = {.whole = 1};
    if (scaling->share == 0 && scaling->growth == 0)
        return factor;
    double profiled = builder->model->pools[scaling->pool].profiled_threads;
    int configured = builder->pool_threads[scaling->pool];
    if (configured < 1)
        configured = 1; /* nobody to split with: as if alone */
    factor.less = scaling->less;
    factor.whole = (1 - scaling->share - scaling->growth) + scaling->growth * configured / profiled;
    if (scaling->share == 0)
        return factor;
    if (scaling->rest == REST_NONE) {
        factor.whole += scaling->share * profiled / configured;
        return factor;
    }
    factor.rest = scaling->rest;
    factor.total = scaling->total;
    factor.per_item = scaling->share * profiled / scaling->total;
    factor.threads = configured;
    for (int i = 0; i < scaling->pool; i++)
        factor.first_thread += builder->pool_threads[i];
    return factor;
}

/* The choices that fit `outcome`, as a group. */
static bool fits(const struct edge *edge, enum outcome outcome) {
    return edge->when == OUTCOME_ANY || edge->when == outcome;
}

static int add_choice(struct builder *builder, const struct node *node, const struct edge *edge,
                      int index) {
    const struct node *to = &builder->model->nodes[edge->to];
    int item_kind = node->kind == NODE_GET && to->kind == NODE_STEP ? to->item_kind : 0;
    *VECTOR_ADD(&builder->choices) = (struct plan_choice){
        .edge = index,
        .item_kind = item_kind,
        .weight = edge->probability,
        .first_weight = edge->first,
    };
    return item_kind;
}

/* Does a thread come to the node no more than once in its life? */
static bool comes_once(const struct model *model, const struct node *node) {
    size_t index = (size_t)(node - model->nodes);
    bool *after = memory_alloc(model->n_nodes, sizeof *after);
    model_mark_reached(model, (int)index, NULL, after);
    bool once = !after[index];
    free(after);
    return once;
}

/* Whole numbers as the smallest ones of the same proportions. */
static void reduce_weights(struct plan_choice *choices, struct plan_group *group) {
    double divisor = 0;
    for (int i = 0; i < group->n; i++)
        for (double rest = choices[i].weight; rest > 0;) {
            double next = fmod(divisor, rest);
            divisor = rest;
            rest = next;
        }
    for (int i = 0; i < group->n; i++)
        choices[i].weight /= divisor;
    group->weight /= divisor;
}

/* Which way threads go is dealt where it was counted, and they keep runs, or choose but once: of
 * two threads of which one went one way and one the other, the same is true in every run. */
static void deal(struct builder *builder, const struct node *node, struct plan_group *group) {
    if (group->run == PLAN_NONE) {
        if (group->n < 2 || group->for_one != PLAN_NONE || group->by_item ||
            !comes_once(builder->model, node))
            return;
        reduce_weights(&builder->choices.items[group->first], group);
    }
    group->deck = builder->n_cards;
    builder->n_cards += group->n;
}

static struct plan_group add_group(struct builder *builder, const struct node *node, int first_edge,
                                   enum outcome outcome) {
    struct plan_group group = {.first = (int)builder->choices.count,
                               .run = PLAN_NONE,
                               .stay = PLAN_NONE,
                               .deck = PLAN_NONE,
                               .for_one = PLAN_NONE};
    bool has_runs = false, has_counts = true;
    for (size_t i = 0; i < node->n_edges; i++) {
        const struct edge *edge = &node->edges[i];
        if (!fits(edge, outcome) || edge->leaves)
            continue;
        group.by_item |= add_choice(builder, node, edge, first_edge + (int)i) > 0;
        if (edge->taker != TAKER_ANY) {
            group.for_one = group.n;
            group.taker = edge->taker;
        }
        group.n++;
        group.weight += edge->probability;
        group.first_weight += edge->first;
        has_runs |= edge->runs.kind != DIST_NONE;
        has_counts &= edge->probability >= 1 && edge->probability == floor(edge->probability);
    }
    for (size_t i = 0; i < node->n_edges; i++) {
        const struct edge *edge = &node->edges[i];
        if (!fits(edge, outcome) || !edge->leaves)
            continue;
        add_choice(builder, node, edge, first_edge + (int)i);
        group.n_leaving++;
    }
    if (has_runs)
        group.run = builder->n_runs++;
    if (group.n_leaving > 0)
        group.stay = builder->n_runs++;
    if (has_counts)
        deal(builder, node, &group);
    return group;
}

static bool can_time_out(enum node_kind kind) {
    return kind == NODE_LOCK || kind == NODE_RDLOCK || kind == NODE_WRLOCK ||
           kind == NODE_ACQUIRE || kind == NODE_PUT || kind == NODE_GET || kind == NODE_WAIT;
}

static double scale_count(const struct builder *builder, const struct node *node) {
    struct plan_factor factor = make_factor(builder, &node->count_scaling);
    double count = node->count == 0 ? 1 : node->count;
    return (count + factor.less) * factor.whole - factor.less;
}

static void compile_calls(struct builder *builder, const struct node *node,
                          struct plan_node *compiled) {
    compiled->first_call = (int)builder->calls.count;
    for (size_t i = 0; i < node->n_calls;) {
        int n = (int)node->calls[i++];
        *VECTOR_ADD(&builder->calls) = (struct plan_call){(int)builder->requests.count, n};
        for (int r = 0; r < n; r++, i += 3)
            *VECTOR_ADD(&builder->requests) = (struct plan_request){
                node->calls[i], node->calls[i + 1], r > 0 && node->calls[i + 2] > 0};
    }
    compiled->n_calls = (int)builder->calls.count - compiled->first_call;
}

static struct plan_node compile_node(struct builder *builder, const struct plan *plan,
                                     const struct node *node) {
    struct plan_node compiled = {
        .kind = node->kind,
        .object = node->object,
        .mutex = node->mutex,
        .target_pool = node->target_pool,
        .item_kind = node->item_kind,
        .count = scale_count(builder, node),
        .counts = add_draw(builder, &node->counts),
        .by_clock = node->by_clock,
        .gives_back = node->gives_back,
        .timeout_ns = node->timeout_ns,
        .cpu = add_cpu_draw(builder, &node->cpu_ns, NULL),
        .wait = add_draw(builder, &node->wait_ns),
        .operations = add_draw(builder, &node->operations),
        .service = add_draw(builder, &node->service_ns),
        .near = add_draw(builder, &node->near_ns),
        .stream = node->stream,
        .stays = add_draw_of_parts(builder, &node->stays, &node->stays_scaling),
        .stays_factor = make_factor(builder, &node->stays_scaling),
        .course = node->n_course > 0 ? builder->n_courses++ : PLAN_NONE,
        .first_leg = (int)builder->legs.count,
        .n_legs = (int)node->n_course / 2,
    };
    compile_calls(builder, node, &compiled);
    if (node->kind == NODE_STATEMENTS)
        compiled.section = plan->objects[node->object].first_section + node->section;
    int first_edge = (int)builder->edges.count;
    bool depends = false; /* on the outcome */
    if (!can_time_out(node->kind))
        compiled.timeout_ns = -1;
    for (size_t i = 0; i < node->n_edges; i++) {
        const struct edge *edge = &node->edges[i];
        *VECTOR_ADD(&builder->edges) = (struct plan_edge){
            .to = edge->to,
            .cpu = add_cpu_draw(builder, &edge->cpu_ns, &edge->cpu_scaling),
            .runs = add_draw_of_parts(builder, &edge->runs, &edge->runs_scaling),
            .cpu_factor = make_factor(builder, &edge->cpu_scaling),
            .runs_factor = make_factor(builder, &edge->runs_scaling),
            .n_cpu_by_place = edge->n_cpu_by_place,
            .cpu_by_place = edge->cpu_by_place,
        };
        depends |= edge->when != OUTCOME_ANY;
        compiled.says_no |= edge->when == OUTCOME_NO;
    }
    for (size_t i = 0; i < node->n_course; i += 2)
        *VECTOR_ADD(&builder->legs) =
            (struct plan_leg){first_edge + (int)node->course[i], node->course[i + 1]};
    compiled.yes = add_group(builder, node, first_edge, OUTCOME_YES);
    compiled.no = depends ? add_group(builder, node, first_edge, OUTCOME_NO) : compiled.yes;
    return compiled;
}

/* Pool sizes: what the configuration says; else the model's own, in which a pool may follow
 * pools that follow none (model_check() has seen to that), down to no threads at all: "threads - 1
 * helpers" of a main thread that works too. */
static int choose_sizes(struct builder *builder, const struct sim_config *config,
                        struct error *error) {
    const struct model *model = builder->model;
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < model->n_pools; i++) {
            const struct pool *pool = &model->pools[i];
            int wanted = config->pool_threads ? config->pool_threads[i] : 0;
            if ((pool->threads.n_terms > 0) != (pass == 1))
                continue;
            double size =
                wanted ? wanted : nearbyint(linear_value(&pool->threads, builder->pool_threads));
            int least = pass == 1 && !pool->at_start ? 0 : 1;
            if (!(size >= least && size <= MAX_THREADS))
                return error_set(error,
                                 "pool %s would have %.0f threads: give it between %d and %d",
                                 pool->name, size, least, MAX_THREADS);
            builder->pool_threads[i] = (int)size;
        }
    }
    return 0;
}

static void place_pools(struct plan *plan, const struct builder *builder) {
    plan->pools = memory_alloc((size_t)plan->n_pools, sizeof *plan->pools);
    for (int i = 0; i < plan->n_pools; i++) {
        const struct pool *pool = &builder->model->pools[i];
        int threads = builder->pool_threads[i];
        if (pool->per_task && threads < MOST_PER_TASK)
            threads = MOST_PER_TASK;
        plan->pools[i] = (struct plan_pool){
            .threads = threads,
            .first_thread = plan->n_threads,
            .entry = pool->entry,
            .at_start = pool->at_start,
            .with_creator = pool->with_creator,
            .per_task = pool->per_task,
            .is_kept = pool->kept || pool->awake,
            .awake = pool->awake && builder->pool_threads[i] <= plan->cores,
            .sleep_ns = builder->pool_threads[i] <= plan->cores ? 0 : pool->sleep_cpu_ns,
            .displaces_per_ns = pool->displaces_per_ns,
            .refill = {pool->n_refill, pool->refill},
            .cold_ns = pool->cold_cpu_ns,
            .cold_pace_ns = pool->cold_pace_ns,
        };
        plan->n_threads += threads;
    }
}

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

static void compile_section(struct builder *builder, const struct object *monitor,
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

static void compile_monitor(struct builder *builder, const struct object *monitor,
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
static void share_conditions(struct plan *plan) {
    for (int i = 0; i < plan->n_objects; i++) {
        int owner = plan->model->objects[i].condition_of;
        if (owner == MODEL_NONE)
            continue;
        plan->objects[i].condition_side = plan->objects[owner].first_side;
        plan->objects[i].condition_next = plan->objects[owner].condition_next;
        plan->objects[owner].condition_next = i;
    }
}

/* ---- load from outside ---- */

/* As many as keep every thread busy, and enough of them at the bottleneck that it never idles. */
#define SATURATING_CLIENTS(threads) (500 + 20 * (threads))

static bool has_load(const struct object *object) {
    return object->interarrival_ns.kind != DIST_NONE || object->clients > 0;
}

/* The model's own times between arrivals, at another rate. */
static int add_scaled_draw(struct builder *builder, const struct dist *dist, double mean) {
    struct dist scaled = multiplied(dist, mean / dist_mean(dist));
    int draw = add_draw(builder, &scaled);
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
        if (!has_load(other))
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

/* As in the recorded run, one after the other. */
static void use_gaps(struct plan_object *compiled, const struct object *object, double mean) {
    double sum = 0;
    for (size_t i = 0; i < object->n_gaps; i++)
        sum += object->gaps[i];
    compiled->gaps = object->gaps;
    compiled->n_gaps = object->n_gaps;
    compiled->gap_factor = mean * (double)object->n_gaps / sum;
}

static int add_arrivals(struct builder *builder, const struct object *object,
                        const struct sim_config *config) {
    if (config->arrival_rate_hz <= 0)
        return add_draw(builder, &object->interarrival_ns);
    double mean = 1e9 / (config->arrival_rate_hz * share_of_load(builder->model, object));
    if (config->arrivals == ARRIVALS_RECORDED)
        return add_scaled_draw(builder, &object->interarrival_ns, mean);
    bool is_constant = config->arrivals == ARRIVALS_CONSTANT;
    struct dist dist = {.kind = is_constant ? DIST_CONSTANT : DIST_EXPONENTIAL, .mean = mean};
    return add_draw(builder, &dist);
}

static int compile_clients(struct plan *plan, struct builder *builder, const struct object *object,
                           struct plan_object *compiled, const struct sim_config *config,
                           struct error *error) {
    struct dist think = {.kind = DIST_EXPONENTIAL, .mean = config->think_ns};
    compiled->first_client = plan->n_clients;
    compiled->n_clients = config->is_saturated  ? SATURATING_CLIENTS(plan->n_threads)
                          : config->clients > 0 ? config->clients
                                                : (int)object->clients;
    compiled->think = config->is_saturated   ? PLAN_NONE
                      : config->think_ns > 0 ? add_draw(builder, &think)
                                             : add_draw(builder, &object->think_ns);
    plan->n_clients += compiled->n_clients;
    plan->is_steady |= !(config->horizon_ns > 0);
    if (plan->has_tasks)
        return 0;
    return error_set(error, "clients wait until their task ends, but the model marks no tasks: "
                            "give a rate of arrivals instead");
}

static int compile_load(struct plan *plan, struct builder *builder, const struct object *object,
                        struct plan_object *compiled, const struct sim_config *config,
                        struct error *error) {
    compiled->interarrival = compiled->think = PLAN_NONE;
    if (!has_load(object))
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
    if (config->arrival_rate_hz > 0 && config->arrivals == ARRIVALS_RECORDED && object->n_gaps > 0)
        use_gaps(compiled, object,
                 1e9 / (config->arrival_rate_hz * share_of_load(builder->model, object)));
    plan->offered_hz += 1e9 / builder->draws.items[compiled->interarrival].mean;
    plan->is_steady |= isinf(compiled->arrivals) && !(config->horizon_ns > 0);
    return 0;
}

static int compile_object(struct plan *plan, struct builder *builder, int i,
                          const struct sim_config *config, struct error *error) {
    const struct object *object = &builder->model->objects[i];
    struct plan_object *compiled = &plan->objects[i];
    *compiled = (struct plan_object){
        .kind = object->kind,
        .amount = nearbyint(linear_value(&object->amount, builder->pool_threads)),
        .refilled_after = linear_value(&object->refilled_after, builder->pool_threads),
        .spins = object->spins,
        .initial_items = lround(object->initial_items),
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
        .service = add_draw(builder, &object->service_ns),
        .least_depth = object->least_depth,
        .never_continued = object->never_continued,
        .alone = add_draw(builder, &object->alone_ns),
    };
    compiled->first_side = compiled->condition_side = plan->n_sides;
    compiled->condition_next = i;
    compiled->n_sides = object->n_conditions > 2 ? (int)object->n_conditions : 2;
    plan->n_sides += compiled->n_sides;
    compile_monitor(builder, object, compiled);
    compiled->first_distance = (int)builder->distances.count;
    compiled->n_distances = (int)object->n_distances;
    for (size_t k = 0; k < object->n_distances; k++)
        *VECTOR_ADD(&builder->distances) = (struct plan_distance){
            object->distances[k].least, add_draw(builder, &object->distances[k].service_ns)};
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

/* Which nodes are in a loop that one with `stays` decides to leave. */
static void find_counted(const struct builder *builder, struct plan *plan) {
    const struct model *model = builder->model;
    for (size_t decider = 0; decider < model->n_nodes; decider++) {
        if (model->nodes[decider].stays.kind == DIST_NONE)
            continue;
        bool *after = memory_alloc(model->n_nodes, sizeof *after);
        after[decider] = true;
        model_mark_reached(model, (int)decider, NULL, after);
        for (size_t n = 0; n < model->n_nodes; n++) {
            struct plan_node *node = &plan->nodes[n];
            if (!after[n] || node->yes.counted ||
                (node->yes.deck == PLAN_NONE && node->no.deck == PLAN_NONE))
                continue;
            bool *seen = memory_alloc(model->n_nodes, sizeof *seen);
            model_mark_reached(model, (int)n, NULL, seen);
            node->yes.counted = node->no.counted = seen[decider] || n == decider;
            free(seen);
        }
        free(after);
    }
}

/* Without a horizon some END must be reachable from every pool that the end of the run waits
 * for, or it would never come. */
static int check_end(const struct builder *builder, const struct plan *plan, struct error *error) {
    if (isfinite(plan->horizon_ns) || plan->is_open)
        return 0;
    const struct model *model = builder->model;
    for (size_t i = 0; i < model->n_pools; i++) {
        if (!model->pools[i].at_start)
            continue;
        bool *seen = memory_alloc(model->n_nodes, sizeof *seen);
        model_mark_reached(model, model->pools[i].entry, NULL, seen);
        bool has_end = false;
        for (size_t k = 0; k < model->n_nodes; k++)
            has_end |= seen[k] && model->nodes[k].kind == NODE_END;
        free(seen);
        if (!has_end)
            return error_set(error, "pool %s never ends: give the length of the run (horizon)",
                             model->pools[i].name);
    }
    return 0;
}

/* How often the time that the recorded run would take with so many threads on so few cores, were
 * all their work done anew by each thread, a simulated run may take. */
#define PATIENCE 100

static double find_patience(const struct builder *builder, const struct plan *plan) {
    const struct model *model = builder->model;
    if (isfinite(plan->horizon_ns) || plan->is_open || model->measured_run_ns <= 0)
        return INFINITY;
    double growth = 1;
    for (size_t i = 0; i < model->n_pools; i++)
        growth = fmax(growth,
                      (double)builder->pool_threads[i] / fmax(1, model->pools[i].profiled_threads));
    return PATIENCE * growth * fmax(1, (double)model->machine.cores / plan->cores) *
           model->measured_run_ns;
}

static int check_config(const struct model *model, const struct sim_config *config,
                        struct error *error) {
    bool is_open = false, has_recorded = true;
    for (size_t i = 0; i < model->n_objects; i++) {
        is_open |= has_load(&model->objects[i]);
        has_recorded &= !(model->objects[i].clients > 0);
    }
    int cores = config->cores ? config->cores : model->machine.cores;
    if (cores < 1 || cores > MAX_CORES)
        return error_set(error, "a machine with %d cores: give it between 1 and %d", cores,
                         MAX_CORES);
    if (config->arrival_rate_hz < 0 || !isfinite(config->arrival_rate_hz))
        return error_set(error, "the arrival rate must be a number above 0");
    if (config->clients < 0 || config->clients > MAX_CLIENTS || config->think_ns < 0 ||
        !isfinite(config->think_ns))
        return error_set(error, "%d clients who think for %g ns: give up to %d of them",
                         config->clients, config->think_ns, MAX_CLIENTS);
    if (config->requests < 0 || !isfinite(config->requests) ||
        (config->requests > 0 && !(config->arrival_rate_hz > 0)))
        return error_set(error, "a number of requests goes with a rate of arrivals: give both");
    if (config->arrival_rate_hz > 0 && config->clients > 0)
        return error_set(error, "a load is either clients or a rate of arrivals: leave one out");
    if (config->arrival_rate_hz > 0 && config->arrivals == ARRIVALS_RECORDED && !has_recorded)
        return error_set(error, "the model has clients, no recorded arrivals: say how they come");
    if ((config->arrival_rate_hz > 0 || config->clients > 0 || config->is_saturated) && !is_open)
        return error_set(error, "an arrival rate was given, but the model has no arrivals from "
                                "outside: leave it out");
    if (config->warmup_ns < 0 || config->horizon_ns < 0 ||
        (config->horizon_ns > 0 && config->warmup_ns >= config->horizon_ns))
        return error_set(error, "the warm-up must end before the run: give a shorter one");
    return 0;
}

static struct plan *fill_plan(struct builder *builder, const struct sim_config *config,
                              struct error *error) {
    const struct model *model = builder->model;
    struct plan *plan = memory_alloc(1, sizeof *plan);
    plan->model = model;
    plan->cores = config->cores ? config->cores : model->machine.cores;
    plan->n_objects = (int)model->n_objects;
    plan->n_pools = (int)model->n_pools;
    plan->n_nodes = (int)model->n_nodes;
    plan->quantum_ns = model->machine.quantum_ns;
    plan->tick_ns = model->machine.tick_ns;
    plan->pull_share = model->machine.pull_share;
    plan->signals_wait = model->machine.signals_wait;
    plan->switch_cpu_ns = model->machine.switch_cpu_ns;
    plan->block_cpu_ns = model->machine.block_cpu_ns;
    plan->wake_cpu_ns = model->machine.wake_cpu_ns;
    plan->preempt_ns = model->machine.preempt_ns;
    plan->wake_latency = add_draw(builder, &model->machine.wake_latency_ns);
    plan->brief_latency = add_draw(builder, &model->machine.brief_latency_ns);
    plan->brief_idle_ns = model->machine.brief_idle_ns;
    plan->horizon_ns = config->horizon_ns > 0 ? config->horizon_ns : INFINITY;
    plan->warmup_ns = config->warmup_ns;
    plan->tasks_in_all = INFINITY;
    place_pools(plan, builder);
    for (size_t i = 0; i < model->n_nodes; i++)
        plan->has_tasks |= model->nodes[i].kind == NODE_TASK_END;

    int status = 0;
    plan->objects = memory_alloc(model->n_objects, sizeof *plan->objects);
    for (int i = 0; i < plan->n_objects && status == 0; i++)
        status = compile_object(plan, builder, i, config, error);
    share_conditions(plan);
    plan->nodes = memory_alloc(model->n_nodes, sizeof *plan->nodes);
    for (size_t i = 0; i < model->n_nodes; i++)
        plan->nodes[i] = compile_node(builder, plan, &model->nodes[i]);
    find_counted(builder, plan);

    plan->n_runs = builder->n_runs;
    plan->n_cards = builder->n_cards;
    plan->n_rounds = builder->n_rounds;
    plan->n_courses = builder->n_courses;
    plan->n_draws = (int)builder->draws.count;
    plan->n_values = builder->values.count;
    plan->n_variables = (int)builder->variables.count;
    plan->n_commands = builder->commands.count;
    plan->variables = builder->variables.items;
    plan->sections = builder->sections.items;
    plan->commands = builder->commands.items;
    plan->draws = builder->draws.items;
    plan->values = builder->values.items;
    plan->edges = builder->edges.items;
    plan->choices = builder->choices.items;
    plan->legs = builder->legs.items;
    plan->calls = builder->calls.items;
    plan->requests = builder->requests.items;
    plan->distances = builder->distances.items;
    plan->patience_ns = find_patience(builder, plan);
    if (status == 0)
        status = check_end(builder, plan, error);
    if (status == 0)
        return plan;
    plan_free(plan);
    return NULL;
}

struct plan *plan_make(const struct model *model, const struct sim_config *config,
                       struct error *error) {
    if (model_check(model, error) || check_config(model, config, error))
        return NULL;
    struct builder builder = {.model = model,
                              .cpu_factor = config->cpu_factor > 0 ? config->cpu_factor : 1};
    builder.pool_threads = memory_alloc(model->n_pools, sizeof *builder.pool_threads);
    struct plan *plan = NULL;
    if (choose_sizes(&builder, config, error) == 0)
        plan = fill_plan(&builder, config, error);
    free(builder.pool_threads);
    return plan;
}

void plan_free(struct plan *plan) {
    if (!plan)
        return;
    free(plan->nodes);
    free(plan->edges);
    free(plan->choices);
    free(plan->legs);
    free(plan->calls);
    free(plan->requests);
    free(plan->distances);
    free(plan->objects);
    free(plan->pools);
    free(plan->draws);
    free(plan->values);
    commands_free(plan->commands, plan->n_commands);
    free(plan->commands);
    free(plan->sections);
    free(plan->variables);
    free(plan);
}
