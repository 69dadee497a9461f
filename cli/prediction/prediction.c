#include "cli/prediction/prediction.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "cli/judgement.h"
#include "cli/prediction/refusal.h"
#include "cli/recording/workspace.h"

struct model *prediction_load_model(const char *directory, const char *path, struct error *error) {
    if (path)
        return model_load(path, error);
    if (!workspace_has(directory, WORKSPACE_MODEL)) {
        error_set(error,
                  "no model in %s: run `persik build-model` first, or name its folder with -i",
                  directory);
        return NULL;
    }
    char *own = workspace_path(directory, WORKSPACE_MODEL);
    struct model *model = model_load(own, error);
    free(own);
    return model;
}

/* ---- one configuration ---- */

double prediction_recorded_cpu_ns(const struct model *model) {
    double run_s = NAN, utilisation = NAN;
    for (size_t i = 0; i < model->n_checks; i++) {
        const struct model_check *check = &model->checks[i];
        if (strcmp(check->what, "running time") == 0)
            run_s = check->measured;
        else if (strcmp(check->what, "CPU utilisation") == 0)
            utilisation = check->measured;
    }
    return run_s * 1e9 * utilisation * model->machine.cores * model->cpu_correction;
}

/* The recorded configuration's run, to judge others by. */
static int simulate_own(const struct model *model, const struct sim_config *base,
                        const int *own_threads, struct sim_result *own, struct error *error) {
    struct sim_config config = *base;
    config.pool_threads = own_threads;
    config.cores = model->machine.cores;
    return sim_predict(model, &config, own, error);
}

/* A model that gets stuck has no figures, for the reason that is in `error`. Gives the status that
 * is left. */
static int refuse_stuck(int status, struct prediction *prediction, const struct error *error) {
    if (status != SIM_STUCK)
        return status;
    prediction->no_figures = memory_strdup(error->text);
    return 0;
}

/* Judges a run that came to a standstill by the recorded configuration's. */
static int judge(const struct model *model, const struct sim_config *base, const int *own_threads,
                 struct prediction *prediction, struct error *error) {
    double recorded_cpu_ns = prediction_recorded_cpu_ns(model);
    size_t bytes = model->n_pools * sizeof *own_threads;
    if (prediction->cores == model->machine.cores &&
        memcmp(own_threads, prediction->pool_threads, bytes) == 0) {
        prediction->no_figures = refusal_of_own_run(model, &prediction->result, recorded_cpu_ns);
        return 0;
    }
    struct sim_result own;
    int status = simulate_own(model, base, own_threads, &own, error);
    if (status < 0)
        return refuse_stuck(status, prediction, error);
    char *refused = refusal_of_own_run(model, &own, recorded_cpu_ns);
    prediction->no_figures = refusal_of_run(model, own_threads, prediction->pool_threads,
                                            &prediction->result, refused ? NULL : &own);
    sim_result_free(&own);
    free(refused);
    return 0;
}

/* Judges one in which less was computed. */
static int judge_loss(const struct model *model, const struct sim_config *base,
                      const int *own_threads, struct prediction *prediction, struct error *error) {
    struct sim_result own;
    int status = simulate_own(model, base, own_threads, &own, error);
    if (status < 0)
        return refuse_stuck(status, prediction, error);
    prediction->no_figures = refusal_of_loss(&prediction->result, &own);
    sim_result_free(&own);
    return 0;
}

/* So that no figure is shown by mistake. */
static void blank(struct sim_result *result) {
    const struct estimate none = {NAN, NAN};
    sim_result_free(result);
    result->run_ns = result->tasks = result->throughput_hz = result->response_ns =
        result->response_p50_ns = result->response_p95_ns = result->response_p99_ns =
            result->cpu_utilisation = result->cpu_ns = result->disk_utilisation = none;
}

/* ---- what the cores cost each other ---- */

/* A demand that comes out as near as this is not simulated again, nor more often than that. */
#define NEAR  0.005
#define TIMES 5

double prediction_busy_cores(const struct prediction *prediction) {
    return prediction->result.cpu_utilisation.mean * prediction->cores;
}

/* CPU demands where so many cores are busy, over those of the model: between one core and as many
 * as in the recorded run they change evenly. */
static double cpu_factor_of(const struct model *model, double busy_cores) {
    double more = model->machine.busy_cores - 1;
    if (model->one_core_cpu == 0 || !(more > 0))
        return 1;
    double fewer = fmin(fmax(model->machine.busy_cores - fmax(busy_cores, 1), 0) / more, 1);
    return 1 + (model->one_core_cpu - 1) * fewer;
}

/* How many cores are busy depends on the demands, and these on how many are. */
static int simulate_demands(const struct model *model, struct sim_config *config,
                            struct prediction *prediction, struct error *error) {
    config->cpu_factor = config->cores == 1 ? cpu_factor_of(model, 1) : 1;
    for (int time = 0; time < TIMES; time++) {
        int status = sim_predict(model, config, &prediction->result, error);
        if (status < 0)
            return status;
        double factor = cpu_factor_of(model, prediction_busy_cores(prediction));
        if (!(fabs(factor - config->cpu_factor) > NEAR) || time == TIMES - 1)
            break;
        sim_result_free(&prediction->result);
        config->cpu_factor = factor;
    }
    prediction->cpu_factor = config->cpu_factor;
    return 0;
}

void prediction_configure(const struct prediction *prediction, struct sim_config *config) {
    config->pool_threads = prediction->pool_threads;
    config->cores = prediction->cores;
    config->cpu_factor = prediction->cpu_factor;
}

/* Threads meet at the kernel's locks only where more than one core is busy. */
static char *refuse_stopped(const struct model *model, double busy) {
    double recorded = model->machine.busy_cores;
    if (model->stopped_share == 0 || !(busy > judgement.busier * fmax(recorded, 1)))
        return NULL;
    return memory_format("%.2g cores would be busy, and in the recorded run %.2g were: threads "
                         "were stopped for %.0f %% of their way outside of every recorded call, as "
                         "by locks of the kernel; how long that takes where more cores are busy is "
                         "not known",
                         busy, recorded, 100 * model->stopped_share);
}

static char *refuse_busier(const struct model *model, double busy) {
    double recorded = model->machine.busy_cores;
    if (model->one_core_cpu == 0 || !(busy > judgement.busier * recorded))
        return NULL;
    return memory_format("%.2g cores would be busy, and in the recorded run %.2g were: these cost "
                         "each other CPU time (one core alone takes %.0f %%), and what more of "
                         "them do is not known",
                         busy, recorded, 100 * model->one_core_cpu);
}

/* What speaks against the configuration before anything is simulated; NULL: nothing. */
static char *refuse_configuration(const struct model *model, const int *own_threads,
                                  const struct prediction *prediction) {
    int asked = prediction->threads->all;
    char *reason = asked > 0 ? refusal_of_count(model, asked) : NULL;
    return reason
               ? reason
               : refusal_of_rules(model, own_threads, prediction->pool_threads, prediction->cores);
}

/* What speaks against the result, which came to no standstill; NULL: nothing. */
static char *refuse_result(const struct model *model, const struct prediction *prediction) {
    /* What fewer cores cost each other less is no smaller share of the work. */
    double recorded_ns = prediction_recorded_cpu_ns(model) * prediction->cpu_factor;
    char *reason = refusal_of_growth(model, &prediction->result, recorded_ns);
    reason = reason ? reason : refusal_of_disks(model, &prediction->result);
    double busy = prediction_busy_cores(prediction);
    reason = reason ? reason : refuse_stopped(model, busy);
    reason = reason ? reason : refuse_busier(model, busy);
    const struct uncertainty uncertainty = prediction_uncertainty(prediction);
    return reason ? reason : uncertainty_refuse(model, &uncertainty);
}

/* A model in which all takes longer by a share is one in which arrivals come faster by it, seen by
 * a clock that runs slower by it. */
int prediction_find_response_share(struct prediction *prediction, const struct sim_config *base,
                                   struct error *error) {
    const struct sim_result *result = &prediction->result;
    if (prediction->no_figures || result->regime != REGIME_ENDING ||
        !(result->response_ns.mean > 0))
        return 0;
    const struct uncertainty parts = prediction_uncertainty(prediction);
    double share = uncertainty_share(&parts);
    prediction->response_share = share;
    if (!(result->offered_hz > 0))
        return 0;
    struct sim_config config = *base;
    struct sim_result later;
    prediction_configure(prediction, &config);
    config.arrival_factor = 1 + share;
    if (sim_predict(prediction->model, &config, &later, error) < 0)
        return -1;
    double longer = (1 + share) * later.response_ns.mean / result->response_ns.mean - 1;
    prediction->response_share = fmax(share, longer);
    sim_result_free(&later);
    return 0;
}

/* What speaks against the configuration when it has been simulated. */
static int judge_result(const struct model *model, const struct sim_config *base,
                        const int *own_threads, struct prediction *prediction,
                        struct error *error) {
    if (refusal_is_due(&prediction->result) &&
        judge(model, base, own_threads, prediction, error) < 0)
        return -1;
    if (!prediction->no_figures)
        prediction->no_figures = refuse_result(model, prediction);
    if (!prediction->no_figures &&
        refusal_of_loss_is_due(model, &prediction->result, prediction_recorded_cpu_ns(model)))
        return judge_loss(model, base, own_threads, prediction, error);
    return 0;
}

static int simulate(const struct model *model, const struct sim_config *base,
                    const int *own_threads, struct prediction *prediction, struct error *error) {
    int status = 0;
    prediction->no_figures = refuse_configuration(model, own_threads, prediction);
    if (!prediction->no_figures) {
        struct sim_config config = *base;
        prediction_configure(prediction, &config);
        status =
            refuse_stuck(simulate_demands(model, &config, prediction, error), prediction, error);
    }
    if (status == 0 && !prediction->no_figures)
        status = judge_result(model, base, own_threads, prediction, error);
    if (prediction->no_figures)
        blank(&prediction->result);
    return status;
}

struct uncertainty prediction_uncertainty(const struct prediction *prediction) {
    double busy_cores = prediction->result.cpu_utilisation.mean * prediction->cores;
    return uncertainty_find(prediction->model, prediction->pool_threads, prediction->cores,
                            busy_cores);
}

int prediction_make(const struct model *model, const struct thread_choice *threads, int cores,
                    const struct sim_config *base, struct prediction *prediction,
                    struct error *error) {
    const struct thread_choice recorded = {0};
    int *pool_threads = thread_choice_resolve(threads, model, error);
    if (!pool_threads)
        return -1;
    for (size_t p = 0; p < model->n_pools; p++)
        pool_threads[p] =
            model_within_cores(&model->pools[p], pool_threads[p],
                               cores ? cores : model->machine.cores, model->machine.cores);
    *prediction = (struct prediction){
        .model = model,
        .threads = threads,
        .cores = cores ? cores : model->machine.cores,
        .pool_threads = pool_threads,
        .load = {base->arrival_rate_hz, base->clients},
    };
    int *own_threads = thread_choice_resolve(&recorded, model, error);
    int status = own_threads ? simulate(model, base, own_threads, prediction, error) : -1;
    free(own_threads);
    if (status == 0)
        return 0;
    int named_cores = prediction->cores;
    prediction_free(prediction);
    return error_prefix(error, "threads %s, cores %d", threads->label, named_cores);
}

void prediction_free(struct prediction *prediction) {
    if (prediction->pool_threads)
        sim_result_free(&prediction->result);
    free(prediction->pool_threads);
    free(prediction->no_figures);
    *prediction = (struct prediction){0};
}

/* ---- what is to be said ---- */

void prediction_add_threads(struct table *table, const struct prediction *prediction) {
    const struct model *model = prediction->model;
    int scaling = 0;
    int threads = prediction->threads->all;
    for (size_t i = 0; i < model->n_pools && !prediction->threads->all; i++) {
        scaling += model->pools[i].scales;
        if (model->pools[i].scales)
            threads = prediction->pool_threads[i];
    }
    if (prediction->threads->all || (prediction->threads->n_named == 0 && scaling == 1))
        table_add_integer(table, threads);
    else
        table_add_text(table, prediction->threads->label);
}

const char *prediction_show_load(const struct prediction *prediction, char text[LOAD_BYTES]) {
    char rate[QUANTITY_BYTES];
    text[0] = '\0';
    if (prediction->load.rate_hz > 0)
        snprintf(text, LOAD_BYTES, ", %s",
                 quantity_show(prediction->load.rate_hz, UNIT_RATE, rate));
    else if (prediction->load.clients > 0)
        snprintf(text, LOAD_BYTES, ", %d clients", prediction->load.clients);
    return text;
}

const struct prediction *prediction_more_stalled(const struct prediction *a,
                                                 const struct prediction *b) {
    return !a || refusal_stalled_share(&b->result) > refusal_stalled_share(&a->result) ? b : a;
}

void prediction_warn_of_stalls(const struct prediction *worst) {
    if (!worst || worst->result.stalls <= 0)
        return;
    const struct sim_result *result = &worst->result;
    log_note("threads %s, cores %d: all simulated threads waited for nothing %.3g times in a run "
             "(%.2g %% of its operations), first at %s: the model is incomplete there; all work is "
             "done all the same",
             worst->threads->label, worst->cores, result->stalls / result->replications,
             100 * refusal_stalled_share(result), result->stalled_at);
}

/* The same reason is told once, of the first such configuration. */
static bool is_told(const struct prediction *const *predictions, size_t i) {
    for (size_t j = 0; j < i; j++)
        if (predictions[j]->no_figures &&
            strcmp(predictions[j]->no_figures, predictions[i]->no_figures) == 0)
            return true;
    return false;
}

static size_t count_alike(const struct prediction *const *predictions, size_t n, size_t i) {
    size_t alike = 0;
    for (size_t j = 0; j < n; j++)
        alike += predictions[j]->no_figures &&
                 strcmp(predictions[j]->no_figures, predictions[i]->no_figures) == 0;
    return alike;
}

size_t prediction_explain_refusals(const struct prediction *const *predictions, size_t n,
                                   FILE *out) {
    size_t refused = 0;
    for (size_t i = 0; i < n; i++) {
        if (!predictions[i]->no_figures)
            continue;
        if (refused++ == 0)
            fputs("\nNo figures (-):\n", out);
        if (is_told(predictions, i))
            continue;
        fprintf(out, "  threads %s, cores %d", predictions[i]->threads->label,
                predictions[i]->cores);
        size_t others = count_alike(predictions, n, i) - 1;
        if (others > 0)
            fprintf(out, " and %zu more", others);
        fprintf(out, ": %s\n", predictions[i]->no_figures);
    }
    return refused;
}

/* By how many the threads outnumber the rounds that they share out, where that is most; `object`
 * gets where. Each thread's first round takes no token: tokens that are owed are such threads. */
static double idle_threads(const struct prediction *prediction, const struct object **object) {
    const struct model *model = prediction->model;
    double most = 0;
    for (size_t o = 0; o < model->n_objects; o++) {
        const struct object *tokens = &model->objects[o];
        double owed = tokens->kind == OBJECT_TOKENS
                          ? -linear_value(&tokens->amount, prediction->pool_threads)
                          : 0;
        if (owed > most) {
            most = owed;
            *object = tokens;
        }
    }
    return most;
}

const struct prediction *prediction_more_crowded(const struct prediction *a,
                                                 const struct prediction *b) {
    const struct object *unused;
    return !a || idle_threads(b, &unused) > idle_threads(a, &unused) ? b : a;
}

void prediction_warn_of_crowd(const struct prediction *worst) {
    const struct object *object = NULL;
    double idle = worst ? idle_threads(worst, &object) : 0;
    if (worst && object)
        log_warning(
            "threads %s: %.0f of them would find nothing to do (%s), but are predicted to do "
            "a round like the others: more work than there is",
            worst->threads->label, idle, object->name);
}
