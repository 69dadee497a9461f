#include "cli/prediction/other_models.h"

#include <stdlib.h>

#include "base/log.h"
#include "base/memory.h"
#include "cli/prediction/recorded.h"
#include "cli/recording/workspace.h"

struct other_models other_models_load(const char *directory) {
    struct other_models others = {0};
    int *threads;
    size_t n = workspace_others(directory, &threads);
    for (size_t i = 0; i < n; i++) {
        struct error error;
        char *folder = workspace_other(directory, threads[i]);
        struct model *model = prediction_load_model(folder, NULL, &error);
        if (model)
            *VECTOR_ADD(&others) = (struct other_model){model, false};
        else
            log_warning("threads %d: %s", threads[i], error.text);
        free(folder);
    }
    free(threads);
    return others;
}

void other_models_free(struct other_models *others) {
    for (size_t i = 0; i < others->count; i++)
        model_free(others->items[i].model);
    free(others->items);
    *others = (struct other_models){0};
}

/* The prediction of the other model in the place of the model's own, if it has figures. */
static int try_other(struct other_model *other, const struct sim_config *base,
                     struct prediction *prediction, struct error *error) {
    struct prediction instead;
    if (prediction_make(other->model, prediction->threads, prediction->cores, base, &instead,
                        error) < 0)
        return -1;
    if (instead.no_figures || instead.result.regime != REGIME_ENDING) {
        prediction_free(&instead);
        return 0;
    }
    if (!other->told)
        log_note("threads %s: from the recording with as many", prediction->threads->label);
    other->told = true;
    prediction_free(prediction);
    *prediction = instead;
    return 0;
}

int other_models_predict(const struct model *model, struct other_models *others,
                         const struct thread_choice *threads, int cores,
                         const struct sim_config *base, struct prediction *prediction,
                         struct error *error) {
    int status = prediction_make(model, threads, cores, base, prediction, error);
    for (size_t i = 0; status == 0 && i < others->count && prediction->no_figures; i++)
        if (threads->all > 0 && recorded_is(threads, others->items[i].model))
            status = try_other(&others->items[i], base, prediction, error);
    return status;
}
