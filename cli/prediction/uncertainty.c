#include "cli/prediction/uncertainty.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "cli/judgement.h"
#include "cli/prediction/refusal.h"

/* Of /proc/stat. */
#define TICK_NS 1e7

/* Of what was measured; NAN: it was not. */
static double error_of(const struct model *model, const char *what) {
    for (size_t i = 0; i < model->n_checks; i++) {
        const struct model_check *check = &model->checks[i];
        if (strcmp(check->what, what) == 0 && check->measured > 0)
            return check->simulated / check->measured - 1;
    }
    return NAN;
}

static double miss(const struct model *model, const char *what) {
    return fabs(error_of(model, what));
}

/* By how much the model misses the CPU time, which others do not add to; where the threads hardly
 * compute, by what that can be of the running time. */
static double miss_of_cpu(const struct model *model) {
    double time = NAN, utilisation = NAN, measured_cores = NAN;
    for (size_t i = 0; i < model->n_checks; i++) {
        const struct model_check *check = &model->checks[i];
        if (strcmp(check->what, "running time") == 0)
            time = check->simulated / check->measured;
        if (strcmp(check->what, "CPU utilisation") == 0) {
            utilisation = check->simulated / check->measured;
            measured_cores = check->measured * model->machine.cores;
        }
    }
    double missed = fabs(time * utilisation - 1);
    return fmin(missed, missed * measured_cores);
}

/* By how much the running time is missed beyond what was taken from the program: at most as long as
 * others would have kept one core for themselves, and a quota stopped it. */
static double miss_beyond_others(const struct model *model) {
    double missed = miss(model, "running time");
    double longest = fmin(model->foreign_share * model->machine.cores + model->throttled_share, 1);
    return missed > longest ? missed - longest : 0;
}

/* What others had of the cores is known to a tick at each end of the run, on each core: a short run
 * may have been disturbed by so much more of its time than is known. */
static double unknown_share(const struct model *model) {
    double unknown_ns = 2 * TICK_NS * model->machine.cores;
    return model->measured_run_ns > 0 ? unknown_ns / model->measured_run_ns : 0;
}

/* By how much the model misses the runs without probes, which are what it predicts, beyond what
 * runs differ by: that is no odd run. Not where others had the cores, or a quota held the program
 * back. */
static double miss_beyond_chance(const struct model *model) {
    double missed = miss(model, "without probes") - model->cpu_spread;
    bool disturbed = model->foreign_share > 0 || model->throttled_share > 0;
    return !disturbed && missed > 0 ? missed : 0;
}

/* Others, and a quota, make a run longer, never shorter: by how much the model takes longer than
 * any of its runs, beyond what runs differ by, it is wrong, whoever had the cores. */
static double miss_upwards(const struct model *model) {
    double most = fmax(error_of(model, "running time"), error_of(model, "without probes"));
    return fmax(most - model->cpu_spread, 0);
}

/* One of the runs may have been the odd one: then the other one tells. fmin() and fmax() take the
 * number where one is unknown. But what nobody had the cores for is not odd: the probes may have
 * kept threads out of each other's way. While others had the cores, or a quota held the program
 * back, the running time checks less. */
static double self_check(const struct model *model) {
    if (model->foreign_share > 0 || model->throttled_share > 0)
        return fmax(fmax(miss_of_cpu(model), judgement.unchecked),
                    fmax(miss_beyond_others(model), miss_upwards(model)));
    double least = fmin(miss(model, "running time"), miss(model, "without probes"));
    return isnan(least) ? judgement.unchecked
                        : fmax(least, miss_beyond_chance(model) - unknown_share(model));
}

/* Of all thread time. */
static double not_modelled(const struct model *model) {
    double threads = 0, alike_ns = 0, not_ns = 0;
    for (size_t p = 0; p < model->n_pools; p++)
        threads += model->pools[p].profiled_threads;
    for (size_t i = 0; i < model->n_waiting; i++) {
        const struct waiting_share *share = &model->waiting[i];
        alike_ns += share->how == MODELLED_BY_FALLBACK ? share->wait_ns : 0;
        not_ns += share->how == MODELLED_NOT ? share->wait_ns : 0;
    }
    double life_ns = threads * model->measured_run_ns;
    double waits =
        life_ns > 0 ? (judgement.alike * alike_ns + judgement.not_modelled * not_ns) / life_ns : 0;
    double explained = model->explained_share > 0 ? model->explained_share : 1; /* 0: by hand */
    return waits + judgement.not_modelled * (1 - explained);
}

/* How many e-foldings a number is from the recorded one. */
static double distance(double number, double recorded) {
    return number > 0 && recorded > 0 ? fabs(log(number / recorded)) : 0;
}

/* 0: a model written by hand says nothing of it. */
static double confidence_of(const struct pool *pool) {
    if (pool->partition == PARTITION_UNKNOWN && pool->rule && *pool->rule)
        return 0;
    return pool->confidence > 0 ? pool->confidence : 1;
}

/* The worst of the pools whose threads are others than recorded. */
static double doubt_of_rules(const struct model *model, const int *pool_threads) {
    double worst = 0;
    for (size_t p = 0; p < model->n_pools; p++) {
        const struct pool *pool = &model->pools[p];
        if (pool->scales)
            worst = fmax(worst, (1 - confidence_of(pool)) *
                                    distance(pool_threads[p], pool->profiled_threads));
    }
    return judgement.unknown_rules * worst / M_LN2;
}

/* Of the CPU time: what locks may cost that move from core to core, where the recorded run had one
 * core. Not scaled: it is as much as it can be. */
static double moved_locks(const struct model *model, int cores) {
    return cores > 1 ? judgement.moved_lock_s * model->machine.shared_locks_hz : 0;
}

/* Of what is computed. Not scaled: it is as much as was seen. */
static double doubt_of_pace(const struct model *model, double busy_cores) {
    return model->slowed_share * fmin(busy_cores, 1);
}

bool uncertainty_knows_spread(const struct model *model) {
    return model->cpu_spread > 0 && model->plain_cpu_spread > 0;
}

/* What the cores of the recorded run cost each other, of its CPU time. */
static double shared_cost(const struct model *model) {
    bool known = model->one_core_cpu > 0 && model->one_core_cpu < 1;
    return known ? 1 - model->one_core_cpu : 0;
}

/* How far towards one core, in parts of what more were busy in the recorded run. */
static double fewer_cores(const struct model *model, double busy_cores) {
    double more = model->machine.busy_cores - 1;
    return more > 0 ? fmin(fmax(model->machine.busy_cores - fmax(busy_cores, 1), 0) / more, 1) : 0;
}

/* Of what is computed. Not scaled: it is as much as was seen. */
static double doubt_of_placement(const struct model *model, double busy_cores) {
    double busy = isnan(busy_cores) ? model->machine.busy_cores : busy_cores;
    return judgement.placement * shared_cost(model) * (1 - fewer_cores(model, busy));
}

/* Threads that share a core, one core or several, pay for their turns; fewer cores cost each other
 * less. Not scaled: it is as much as was seen. */
static double unsure_one_core(const struct model *model, double busy_cores, double more_threads) {
    return model->one_core_doubt * (more_threads > 0 ? 1 : fewer_cores(model, busy_cores));
}

/* Several cores do not save CPU time, and what turns on a core cost is in the model
 * (cli/prediction/turn_costs.h): what is left says that one of the runs was odd. It is held against
 * all that keeps fewer cores busy than the recorded one. */
static double doubt_of_one_core(const struct model *model, double busy_cores) {
    if (!(model->one_core_cpu > 1))
        return 0;
    return judgement.dearer * (model->one_core_cpu - 1) * fewer_cores(model, busy_cores);
}

struct uncertainty uncertainty_find(const struct model *model, const int *pool_threads, int cores,
                                    double busy_cores) {
    double cpu_spread =
        judgement.spread * (uncertainty_knows_spread(model)
                                ? model->cpu_spread
                                : fmax(model->cpu_spread, judgement.unknown_spread));
    double threads = 0, more_threads = 0;
    for (size_t p = 0; p < model->n_pools; p++) {
        int recorded = model->pools[p].profiled_threads;
        threads = fmax(threads, distance(pool_threads[p], recorded));
        if (pool_threads[p] > recorded)
            more_threads = fmax(more_threads, distance(pool_threads[p], recorded));
    }
    return (struct uncertainty){
        .machine = judgement.machine,
        .self_check = self_check(model),
        /* Computing is at most this share of any path through the run. */
        .spread = cpu_spread * fmin(busy_cores, 1),
        .cpu_spread = cpu_spread,
        .rules = doubt_of_rules(model, pool_threads),
        .not_modelled = not_modelled(model),
        .threads = judgement.more_threads * threads,
        .cores = judgement.more_cores * distance(cores, model->machine.cores),
        .sharing =
            hypot(judgement.more_sharing * shared_cost(model) * (cores > 1 ? more_threads : 0),
                  doubt_of_one_core(model, busy_cores)),
        .placement = cores > 1 ? doubt_of_placement(model, busy_cores) : 0,
        .moved_locks = moved_locks(model, cores),
        .one_core = unsure_one_core(model, busy_cores, more_threads),
        .pace = doubt_of_pace(model, busy_cores),
    };
}

double uncertainty_share_of_cpu(const struct uncertainty *uncertainty) {
    struct uncertainty of_cpu = *uncertainty;
    of_cpu.spread = uncertainty->cpu_spread;
    of_cpu.pace = 0;
    return uncertainty_share(&of_cpu);
}

double uncertainty_share(const struct uncertainty *uncertainty) {
    const double parts[] = {
        uncertainty->machine, uncertainty->self_check,   uncertainty->spread, uncertainty->rules,
        uncertainty->threads, uncertainty->not_modelled, uncertainty->cores,  uncertainty->sharing};
    double squares = 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        squares += parts[i] * parts[i];
    double unscaled = hypot(hypot(uncertainty->moved_locks, uncertainty->one_core),
                            hypot(uncertainty->pace, uncertainty->placement));
    return hypot(judgement.scale * sqrt(squares), unscaled);
}

char *uncertainty_refuse(const struct model *model, const struct uncertainty *uncertainty) {
    struct uncertainty sure = *uncertainty;
    sure.self_check = fmax(uncertainty->self_check, miss_beyond_chance(model));
    sure.self_check = fmax(sure.self_check - unknown_share(model), 0);
    sure.one_core = sure.pace = 0;
    if (uncertainty_share(&sure) < judgement.widest)
        return NULL;
    if (uncertainty->moved_locks >= judgement.widest)
        return memory_format(
            "the threads share locks, which may cost up to %.0f %% more CPU time on several cores: "
            "the recorded run had one, and shows nothing of it: record with several",
            100 * uncertainty->moved_locks);
    const struct {
        double share;
        const char *what;
    } causes[] = {
        {sure.self_check, "the model misses its own recorded run by %.0f %%"},
        {sure.not_modelled, "waits and times worth %.0f %% are not modelled"},
        {sure.spread, "runs of the recorded configuration differ by %.0f %%"},
        {sure.placement,
         "several cores cost each other %.0f %% of the CPU time, which changes with "
         "where the host puts them"},
        {sure.rules, "how the work follows the threads is a guess worth %.0f %%"},
    };
    size_t most = 0;
    for (size_t i = 1; i < sizeof causes / sizeof *causes; i++)
        if (causes[i].share > causes[most].share)
            most = i;
    char *cause = memory_format(causes[most].what, 100 * causes[most].share);
    char *reason = memory_format("the uncertainty would be as large as the figure: %s", cause);
    free(cause);
    return most == 0 ? refusal_beside_others(model, reason) : reason;
}

double uncertainty_share_of_open_response(double share, double busy) {
    double left = 1 - busy * (1 + share);
    return share < judgement.widest * left ? share / left : INFINITY;
}

double uncertainty_share_of_closed_response(double share, double busy, double cycle) {
    return share * (1 + busy * fmax(cycle - 1, 0));
}

double uncertainty_share_of_open_throughput(double share, double busy) {
    return fmax(0, 1 - 1 / (busy * (1 + share)));
}

struct estimate uncertainty_widen(struct estimate estimate, double share) {
    estimate.half_width = hypot(estimate.half_width, share * estimate.mean);
    return estimate;
}

struct estimate uncertainty_widen_utilisation(struct estimate estimate, double share) {
    return uncertainty_widen(estimate, fmin(judgement.of_utilisation * share, 1));
}

json_t *uncertainty_json(const struct uncertainty *uncertainty) {
    return json_pack("{s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f}",
                     "machine", uncertainty->machine, "self_check", uncertainty->self_check,
                     "spread", uncertainty->spread, "cpu_spread", uncertainty->cpu_spread, "rules",
                     uncertainty->rules, "not_modelled", uncertainty->not_modelled, "threads",
                     uncertainty->threads, "cores", uncertainty->cores, "sharing",
                     uncertainty->sharing, "placement", uncertainty->placement, "moved_locks",
                     uncertainty->moved_locks, "one_core", uncertainty->one_core, "pace",
                     uncertainty->pace, "scale", judgement.scale);
}
