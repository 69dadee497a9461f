#include "formats/model_check.h"

#include <math.h>
#include <stdlib.h>

/* A microsecond, below which a simulation is of nothing but ticks. */
#define LEAST_TICK_NS 1e3

static int check_machine(const struct machine *machine, struct error *error) {
    const struct place *place = PLACE_KEY(NULL, "machine");
    if (machine->cores < 1)
        return model_violation(PLACE_KEY(place, "cores"), error, "%d cores cannot run anything",
                               machine->cores);
    if (!isfinite(machine->quantum_ns) || machine->quantum_ns <= 0)
        return model_violation(PLACE_KEY(place, "quantum_ns"), error, "%g is not a time slice",
                               machine->quantum_ns);
    if (machine->tick_ns > 0 && machine->tick_ns < LEAST_TICK_NS)
        return model_violation(PLACE_KEY(place, "tick_ns"), error,
                               "%g is no tick: give 0, or %g and more", machine->tick_ns,
                               LEAST_TICK_NS);
    if (model_check_amount(machine->tick_ns, "tick_ns", place, error) ||
        model_check_amount(machine->switch_cpu_ns, "switch_cpu_ns", place, error) ||
        model_check_amount(machine->block_cpu_ns, "block_cpu_ns", place, error) ||
        model_check_amount(machine->wake_cpu_ns, "wake_cpu_ns", place, error) ||
        model_check_amount(machine->preempt_ns, "preempt_ns", place, error) ||
        model_check_amount(machine->busy_cores, "busy_cores", place, error) ||
        model_check_amount(machine->shared_locks_hz, "shared_locks_hz", place, error))
        return -1;
    if (!(machine->pull_share >= 0 && machine->pull_share <= 1))
        return model_violation(PLACE_KEY(place, "pull_share"), error, "%g is not a share",
                               machine->pull_share);
    if (model_check_amount(machine->brief_idle_ns, "brief_idle_ns", place, error) ||
        model_check_dist(&machine->brief_latency_ns, "brief_latency_ns", place, error))
        return -1;
    return model_check_dist(&machine->wake_latency_ns, "wake_latency_ns", place, error);
}

/* A pool whose size follows another's must not be followed in turn: sizes are found in one step. */
static int check_pool_size(const struct model *model, size_t i, const struct place *place,
                           struct error *error) {
    const struct linear *threads = &model->pools[i].threads;
    if (model_check_linear(model, threads, "threads", place, error))
        return -1;
    for (size_t k = 0; k < threads->n_terms; k++) {
        int other = threads->terms[k].pool;
        if (model->pools[other].threads.n_terms > 0)
            return model_violation(PLACE_KEY(place, "threads"), error,
                                   "follows pool %d, whose size follows a pool itself", other);
    }
    return 0;
}

static int check_bounds(const struct pool *pool, const struct place *place, struct error *error) {
    if (!(pool->asked_factor >= 0) || isinf(pool->asked_factor))
        return model_violation(PLACE_KEY(place, "asked_factor"), error, "not a positive number");
    if (!isfinite(pool->asked_offset) || (pool->asked_factor == 0 && pool->asked_offset != 0))
        return model_violation(PLACE_KEY(place, "asked_offset"), error,
                               "not a finite number that goes with asked_factor");
    if (!(pool->cores_factor >= 0) || isinf(pool->cores_factor) || !isfinite(pool->cores_offset))
        return model_violation(PLACE_KEY(place, "cores_factor"), error, "not a positive number");
    if (pool->most_threads < 0)
        return model_violation(PLACE_KEY(place, "most_threads"), error, "%d threads",
                               pool->most_threads);
    if (pool->least_threads < 0 ||
        (pool->most_threads > 0 && pool->least_threads > pool->most_threads))
        return model_violation(PLACE_KEY(place, "least_threads"), error, "%d threads, at most %d",
                               pool->least_threads, pool->most_threads);
    return 0;
}

static int check_refill(const struct pool *pool, const struct place *place, struct error *error) {
    const struct place *points = PLACE_KEY(place, "refill");
    if (model_check_amount(pool->given_ns, "given_ns", place, error) ||
        model_check_amount(pool->displaces_per_ns, "displaces_per_ns", place, error) ||
        model_check_amount(pool->cold_cpu_ns, "cold_cpu_ns", place, error) ||
        model_check_amount(pool->cold_pace_ns, "cold_pace_ns", place, error))
        return -1;
    if (pool->cold_cpu_ns > 0 && pool->cold_pace_ns <= 0)
        return model_violation(PLACE_KEY(place, "cold_pace_ns"), error,
                               "missing: by it the cost follows the sleep");
    for (size_t i = 0; i < pool->n_refill; i++) {
        const struct refill_point *point = &pool->refill[i];
        const struct place *here = PLACE_INDEX(points, i);
        if (model_check_amount(point->away_ns, "away_ns", here, error) ||
            model_check_amount(point->cpu_ns, "cpu_ns", here, error))
            return -1;
        if (i > 0 && (point->away_ns <= point[-1].away_ns || point->cpu_ns < point[-1].cpu_ns))
            return model_violation(here, error,
                                   "longer away costs no less, and points go by away_ns");
    }
    if (pool->n_refill && pool->refill[pool->n_refill - 1].cpu_ns <= 0)
        return model_violation(points, error, "costs nothing: leave it out");
    return 0;
}

static int check_pool(const struct model *model, size_t i, struct error *error) {
    const struct pool *pool = &model->pools[i];
    const struct place *place = PLACE_INDEX(PLACE_KEY(NULL, "pools"), i);
    const struct place *entry = PLACE_KEY(place, "entry");
    if (!pool->name)
        return model_violation(PLACE_KEY(place, "name"), error, "missing");
    if (pool->per_task && (pool->at_start || pool->with_creator))
        return model_violation(PLACE_KEY(place, "per_task"), error,
                               "threads that are made for tasks are not there from the start");
    if (pool->profiled_threads < 0)
        return model_violation(PLACE_KEY(place, "profiled_threads"), error, "%d threads",
                               pool->profiled_threads);
    if (check_bounds(pool, place, error) || check_refill(pool, place, error) ||
        model_check_index(pool->entry, model->n_nodes, "a node", entry, error))
        return -1;
    if (model->nodes[pool->entry].kind != NODE_START)
        return model_violation(entry, error, "node %d is not a start node", pool->entry);
    return check_pool_size(model, i, place, error);
}

static int check_monitor(const struct model *model, size_t i, struct error *error) {
    const struct hand_made *monitor = &model->monitors[i];
    const struct place *place = PLACE_INDEX(PLACE_KEY(NULL, "monitors"), i);
    if (!monitor->name)
        return model_violation(PLACE_KEY(place, "name"), error, "missing");
    for (size_t k = 0; k < monitor->n_made_of; k++) {
        const struct place *part = PLACE_INDEX(PLACE_KEY(place, "made_of"), k);
        if (model_check_index(monitor->made_of[k].object, model->n_objects, "an object",
                              PLACE_KEY(part, "object"), error))
            return -1;
    }
    if (!(monitor->confidence >= 0 && monitor->confidence <= 1))
        return model_violation(PLACE_KEY(place, "confidence"), error, "%g is not between 0 and 1",
                               monitor->confidence);
    if (model_check_amount(monitor->replayed, "replayed", place, error) ||
        model_check_amount(monitor->violations, "violations", place, error))
        return -1;
    return linear_is_known(&monitor->amount)
               ? model_check_linear(model, &monitor->amount, "amount", place, error)
               : 0;
}

static int check_waiting(const struct model *model, size_t i, struct error *error) {
    const struct place *place = PLACE_INDEX(PLACE_KEY(NULL, "waiting"), i);
    if (!model->waiting[i].what)
        return model_violation(PLACE_KEY(place, "what"), error, "missing");
    return model_check_amount(model->waiting[i].wait_ns, "wait_ns", place, error);
}

static int check_head(const struct model *model, struct error *error) {
    if (model->version != MODEL_VERSION)
        return model_violation(PLACE_KEY(NULL, "version"), error, "%d is not version %d",
                               model->version, MODEL_VERSION);
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
        if (model_check_amount(numbers[i].value, numbers[i].key, NULL, error))
            return -1;
    }
    if (isinf(model->perturbation))
        return model_violation(PLACE_KEY(NULL, "perturbation"), error, "not finite");
    for (size_t i = 0; i < model->n_checks; i++) {
        const struct model_check *check = &model->checks[i];
        const struct place *place = PLACE_INDEX(PLACE_KEY(NULL, "checks"), i);
        if (!check->what || !isfinite(check->measured) || !isfinite(check->simulated))
            return model_violation(place, error, "needs a name and two finite numbers");
    }
    return check_machine(&model->machine, error);
}

int model_check(const struct model *model, struct error *error) {
    if (check_head(model, error))
        return -1;
    for (size_t i = 0; i < model->n_objects; i++) {
        if (model_check_object(model, i, error))
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
        return model_violation(PLACE_KEY(NULL, "pools"), error,
                               "no pool is marked at_start, so nothing would ever run");
    bool *closed = model_find_closed(model);
    int status = 0;
    for (size_t i = 0; i < model->n_nodes && status == 0; i++)
        status = model_check_node(model, closed, i, error);
    free(closed);
    return status ? status : model_check_page_cache(model, error);
}
