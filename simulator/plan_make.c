#include "simulator/plan_make.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "simulator/plan_builder.h"
#include "simulator/plan_nodes.h"
#include "simulator/plan_objects.h"

#define MAX_THREADS   100000
#define MOST_PER_TASK 1000 /* threads of a pool that live at a time, where each has a task */
#define MAX_CORES     100000
#define MAX_CLIENTS   1000000

/* Pool sizes: what the configuration says; else the model's own, in which a pool may follow
 * pools that follow none (model_check() has seen to that), down to no threads at all: "threads - 1
 * helpers" of a main thread that works too. */
static int choose_sizes(struct plan_builder *builder, const struct sim_config *config,
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

static void place_pools(struct plan *plan, const struct plan_builder *builder) {
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

/* Without a horizon some END must be reachable from every pool that the end of the run waits
 * for, or it would never come. */
static int check_end(const struct plan_builder *builder, const struct plan *plan,
                     struct error *error) {
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

static double find_patience(const struct plan_builder *builder, const struct plan *plan) {
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
        is_open |= plan_has_load(&model->objects[i]);
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

static size_t count_tasks(const struct model *model) {
    double last = -1;
    for (size_t n = 0; n < model->n_nodes; n++)
        for (size_t i = 0; i < model->nodes[n].n_tasks; i++)
            last = fmax(last, model->nodes[n].tasks[i]);
    return (size_t)(last + 1);
}

static struct plan *fill_plan(struct plan_builder *builder, const struct sim_config *config,
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
    plan->wake_latency = plan_add_draw(builder, &model->machine.wake_latency_ns);
    plan->brief_latency = plan_add_draw(builder, &model->machine.brief_latency_ns);
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
        status = plan_compile_object(plan, builder, i, config, error);
    plan_share_conditions(plan);
    builder->n_tasks = count_tasks(model);
    plan->n_tasks = (int)builder->n_tasks;
    plan->nodes = memory_alloc(model->n_nodes, sizeof *plan->nodes);
    for (size_t i = 0; i < model->n_nodes; i++)
        plan->nodes[i] = plan_compile_node(builder, plan, &model->nodes[i]);
    for (size_t i = 0; i < model->n_nodes; i++)
        plan->reads_ahead |= model->nodes[i].ahead;
    plan_find_counted(builder, plan);

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
    plan->n_calls = (int)builder->calls.count;
    plan->n_rows = builder->n_rows;
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
    struct plan_builder builder = {.model = model,
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
