#include "cli/prediction.h"

#include <stdlib.h>

#include "base/log.h"
#include "base/memory.h"
#include "cli/workspace.h"

/* Operations that went wrong: with less, the figures are hardly touched. */
#define STALLS_THAT_MATTER 0.01

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

int prediction_make(const struct model *model, const struct thread_choice *threads, int cores,
                    const struct sim_config *base, struct prediction *prediction,
                    struct error *error) {
    int *pool_threads = thread_choice_resolve(threads, model, error);
    if (!pool_threads)
        return -1;
    *prediction = (struct prediction){
        .threads = threads,
        .cores = cores ? cores : model->machine.cores,
        .pool_threads = pool_threads,
    };
    struct sim_config config = *base;
    config.pool_threads = pool_threads;
    config.cores = prediction->cores;
    if (sim_predict(model, &config, &prediction->result, error) == 0)
        return 0;
    free(pool_threads);
    *prediction = (struct prediction){0};
    return error_prefix(error, "threads %s, cores %d", threads->label,
                        cores ? cores : model->machine.cores);
}

void prediction_free(struct prediction *prediction) {
    if (prediction->pool_threads)
        sim_result_free(&prediction->result);
    free(prediction->pool_threads);
    *prediction = (struct prediction){0};
}

/* Stalls for each operation on an object of the model: what part of them went wrong. */
static double stalled_share(const struct sim_result *result) {
    double operations = 0;
    for (size_t i = 0; i < result->n_objects; i++)
        operations += result->objects[i].operations.mean * result->replications;
    return operations > 0 ? result->stalls / operations : result->stalls > 0;
}

const struct prediction *prediction_more_stalled(const struct prediction *a,
                                                 const struct prediction *b) {
    return !a || stalled_share(&b->result) > stalled_share(&a->result) ? b : a;
}

void prediction_warn_of_stalls(const struct prediction *worst) {
    if (!worst || worst->result.stalls <= 0)
        return;
    const struct sim_result *result = &worst->result;
    double share = stalled_share(result);
    bool matters = share >= STALLS_THAT_MATTER;
    (matters ? log_warning : log_note)(
        "threads %s, cores %d: all simulated threads waited for nothing %.3g times in a run "
        "(%.2g %% of its operations), first at %s: the model is incomplete there%s",
        worst->threads->label, worst->cores, result->stalls / result->replications, 100 * share,
        result->stalled_at, matters ? ", take the figures with care" : "");
}

/* By how many the threads outnumber the rounds that they share out, where that is most; `object`
 * gets where. Each thread's first round takes no token: tokens that are owed are such threads. */
static double idle_threads(const struct model *model, const struct prediction *prediction,
                           const struct object **object) {
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

const struct prediction *prediction_more_crowded(const struct model *model,
                                                 const struct prediction *a,
                                                 const struct prediction *b) {
    const struct object *unused;
    return !a || idle_threads(model, b, &unused) > idle_threads(model, a, &unused) ? b : a;
}

void prediction_warn_of_crowd(const struct model *model, const struct prediction *worst) {
    const struct object *object = NULL;
    double idle = worst ? idle_threads(model, worst, &object) : 0;
    if (worst && object)
        log_warning(
            "threads %s: %.0f of them would find nothing to do (%s), but are predicted to do "
            "a round like the others: more work than there is",
            worst->threads->label, idle, object->name);
}
