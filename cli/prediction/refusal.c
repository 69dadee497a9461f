#include "cli/prediction/refusal.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "cli/judgement.h"

char *refusal_of_rules(const struct model *model, const int *own_threads, const int *pool_threads,
                       int cores) {
    const struct pool *pool;
    switch (sim_refusal_of(model, own_threads, pool_threads, cores, &pool)) {
    case SIM_REFUSAL_NONE:
        break;
    case SIM_REFUSAL_STANDSTILL:
        return memory_strdup(model->standstill);
    case SIM_REFUSAL_UNPREDICTED:
        return memory_strdup(model->unpredicted);
    case SIM_REFUSAL_OTHER_CORES:
        return memory_strdup(model->asks_cores);
    case SIM_REFUSAL_GIVEN_TIME:
        return memory_format("%s: its threads go on for a given time, %.3g s: what they do in it "
                             "is not predicted",
                             pool->name, pool->given_ns / 1e9);
    case SIM_REFUSAL_UNKNOWN_RULE:
        return memory_format("%s: how its work follows its threads is unknown: record another "
                             "number of them, too (profile --also-record), or give --partition "
                             "%s=shared|fixed|perthread",
                             pool->name, pool->name);
    case SIM_REFUSAL_CAPPED:
        return memory_format("%s: whether it can have more threads than there are cores is "
                             "not known: %s: give --partition %s=RULE if it can",
                             pool->name, pool->capped, pool->name);
    case SIM_REFUSAL_REMADE:
        return memory_format("%s: %s: what other numbers of them at a time cost is not known "
                             "(stacks, cores that sleep, locks of the kernel): record with as "
                             "many, or give --partition %s=RULE",
                             pool->name, pool->remade, pool->name);
    case SIM_REFUSAL_ONE_THREAD:
        return memory_format("%s: with one thread the program goes another way (%s), which was "
                             "not recorded: record it, too (profile --also-record threads=1), "
                             "or give --partition %s=RULE if it does the same work",
                             pool->name, pool->one_thread, pool->name);
    }
    return NULL;
}

char *refusal_of_count(const struct model *model, int threads) {
    for (size_t p = 0; p < model->n_pools; p++) {
        const struct pool *pool = &model->pools[p];
        bool is_formula = pool->scales && pool->asked_factor > 0 && pool->least_threads < 1;
        if (is_formula && pool->asked_factor * threads + pool->asked_offset < 1)
            return memory_format("%s: with --threads %d there is no thread of it: who does their "
                                 "work then, if anybody does, was not recorded",
                                 pool->name, threads);
        if (pool->scales && model_is_said(pool->uncounted))
            return memory_format("%s: whether its threads are what --threads counts is unknown: "
                                 "%s: give --threads %s=N, or --partition %s=RULE if they are",
                                 pool->name, pool->uncounted, pool->name, pool->name);
    }
    return NULL;
}

/* Is all work that follows the threads a total, and does nothing else make them compute? */
static bool is_total(const struct model *model) {
    bool any = false;
    for (size_t o = 0; o < model->n_objects; o++)
        if (model->objects[o].spins || model->objects[o].kind == OBJECT_SPIN)
            return false;
    for (size_t p = 0; p < model->n_pools; p++) {
        const struct pool *pool = &model->pools[p];
        any |= pool->scales;
        if (pool->awake || pool->per_task ||
            (pool->scales && pool->partition != PARTITION_SHARED &&
             pool->partition != PARTITION_FIXED))
            return false;
    }
    return any;
}

/* Does nothing from outside make it go on? */
static bool ends_by_itself(const struct sim_result *result) {
    return result->regime == REGIME_ENDING && result->offered_hz <= 0 && result->clients <= 0;
}

static double operations_of(const struct sim_result *result) {
    double operations = 0;
    for (size_t o = 0; o < result->n_objects; o++)
        operations += result->objects[o].operations.mean;
    return operations;
}

char *refusal_of_growth(const struct model *model, const struct sim_result *result,
                        double recorded_cpu_ns) {
    double grown = result->cpu_ns.mean / recorded_cpu_ns;
    if (!ends_by_itself(result) || !(grown > judgement.most_done) || !is_total(model))
        return NULL;
    return memory_format("the threads share a total, but would compute %.1f times as long as "
                         "recorded: the model does not tell how it is handed out",
                         grown);
}

bool refusal_of_loss_is_due(const struct model *model, const struct sim_result *result,
                            double recorded_cpu_ns) {
    double alone = model->one_core_cpu > 0 ? fmin(model->one_core_cpu, 1) : 1;
    return ends_by_itself(result) &&
           result->cpu_ns.mean < alone / judgement.most_done * recorded_cpu_ns && is_total(model);
}

char *refusal_of_loss(const struct sim_result *result, const struct sim_result *own) {
    double done = operations_of(result) / operations_of(own);
    if (!(done < 1 / judgement.most_done))
        return NULL;
    return memory_format("the threads share a total, but would do only %.0f %% of what was "
                         "recorded: the model does not tell what ends the run",
                         100 * done);
}

char *refusal_of_disks(const struct model *model, const struct sim_result *result) {
    for (size_t o = 0; o < result->n_objects; o++) {
        const struct object *disk = &model->objects[o];
        double share = result->objects[o].unseen.mean / result->objects[o].operations.mean;
        if (disk->alone_ns.kind != DIST_NONE || !(share > judgement.most_unseen) ||
            result->objects[o].utilisation.mean < judgement.idle_disk)
            continue;
        return memory_format(
            "%s: %.0f %% of the requests would %s, as hardly any did in the recorded run: how long "
            "these take is not known: record this configuration, or give build-model --disk what "
            "`persik calibrate` measures",
            disk->name, 100 * share,
            disk->never_continued  ? "follow one of the same thread"
            : disk->most_depth > 0 ? "find fewer or more others there"
                                   : "find fewer others there");
    }
    return NULL;
}

bool refusal_is_due(const struct sim_result *result) {
    return result->stalls > 0 || result->guessed > 0;
}

/* ---- what went wrong, and what was left undone ---- */

double refusal_stalled_share(const struct sim_result *result) {
    double operations = operations_of(result) * result->replications;
    return operations > 0 ? result->stalls / operations : result->stalls > 0;
}

/* Of all items that were put into the queue: each is an operation, as is each that was taken. */
static double left_share(const struct sim_object_result *queue) {
    double put = (queue->operations.mean + queue->left.mean) / 2;
    return put > 0 ? queue->left.mean / put : 0;
}

/* In which queue most was left; its share above that of `own` (NULL: none). */
static double most_left(const struct sim_result *result, const struct sim_result *own,
                        size_t *queue) {
    double most = 0;
    for (size_t o = 0; o < result->n_objects; o++) {
        double left = left_share(&result->objects[o]) - (own ? left_share(&own->objects[o]) : 0);
        if (left > most) {
            most = left;
            *queue = o;
        }
    }
    return most;
}

char *refusal_beside_others(const struct model *model, char *reason) {
    if (!(model->foreign_share > judgement.foreign))
        return reason;
    char *both = memory_format("%s; other processes had %.0f %% of the CPU time when it was "
                               "recorded: end them and record again",
                               reason, 100 * model->foreign_share);
    free(reason);
    return both;
}

static char *refuse(const struct model *model, const struct sim_result *result, const char *what) {
    return refusal_beside_others(
        model, memory_format("everything waits for nothing at %s%s", result->stalled_at, what));
}

/* By what both kinds of runs are judged; `done` is the share of the work. */
static char *judge(const struct model *model, const struct sim_result *result,
                   const struct sim_result *own, double done) {
    size_t queue = 0;
    double left = most_left(result, own, &queue), stalled = refusal_stalled_share(result);
    char *what = NULL;
    if (left > judgement.most_left)
        what = memory_format(": %.0f items stay in %s", result->objects[queue].left.mean,
                             model->objects[queue].name);
    else if (stalled > judgement.most_stalled)
        what = memory_format(": %.2g %% of the operations go wrong", 100 * stalled);
    else if (!(done >= judgement.least_done))
        what = isnan(done) ? memory_strdup("")
                           : memory_format(": %.0f %% of the work is done", 100 * done);
    if (!what)
        return NULL;
    char *reason = refuse(model, result, what);
    free(what);
    return reason;
}

char *refusal_of_own_run(const struct model *model, const struct sim_result *result,
                         double recorded_cpu_ns) {
    if (!refusal_is_due(result))
        return NULL;
    return judge(model, result, NULL, result->cpu_ns.mean / recorded_cpu_ns);
}

/* Ends of waits were guessed, which skips nothing, and next to no time was lost by them. Then fewer
 * operations are no sign of rounds that are missing: who looks in vain for something to do looks
 * less often where others have it ready sooner. */
static bool costs_nothing(const struct sim_result *result) {
    return result->stalls == 0 && result->guessed_ns < judgement.most_guessed * result->run_ns.mean;
}

/* On the object of which least is done, over what `own` does of it: where none lacks operations, no
 * computation between them is lacking either, and less CPU time is what turns and caches cost less.
 */
static double least_operations(const struct sim_result *result, const struct sim_result *own) {
    double least = INFINITY;
    for (size_t o = 0; o < own->n_objects; o++)
        if (own->objects[o].operations.mean > 0)
            least =
                fmin(least, result->objects[o].operations.mean / own->objects[o].operations.mean);
    return isinf(least) ? 0 : least;
}

/* What of the recorded work there is at least. */
static double least_work(const struct model *model, const int *own_threads,
                         const int *pool_threads) {
    double least = 1;
    for (size_t p = 0; p < model->n_pools; p++)
        if (model->pools[p].partition == PARTITION_PERTHREAD && own_threads[p] > 0)
            least = fmin(least, (double)pool_threads[p] / own_threads[p]);
    return least;
}

/* In a tree of threads the number of results to put together follows the threads, and which of two
 * halves is the last to be ready is different each time. */
static char *refuse_own_standstill(const struct model *model, const struct sim_result *result) {
    for (size_t p = 0; p < model->n_pools; p++)
        if (model_is_said(model->pools[p].tree))
            return memory_format("how threads of %s, which make each other in %s, wait for each "
                                 "other is not understood: everything waits for nothing at %s, as "
                                 "in the recorded configuration",
                                 model->pools[p].name, model->pools[p].tree, result->stalled_at);
    return refuse(model, result, ", as in the recorded configuration");
}

char *refusal_of_run(const struct model *model, const int *own_threads, const int *pool_threads,
                     const struct sim_result *result, const struct sim_result *own) {
    if (!refusal_is_due(result))
        return NULL;
    if (!own)
        return refuse_own_standstill(model, result);
    double least = least_work(model, own_threads, pool_threads);
    double done = result->cpu_ns.mean / (least * own->cpu_ns.mean);
    done = fmax(done, least_operations(result, own) / least);
    if (operations_of(own) > 0 && !costs_nothing(result))
        done = fmin(done, operations_of(result) / (least * operations_of(own)));
    return judge(model, result, own, done);
}
