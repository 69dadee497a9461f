#include "cli/prediction/model_what_if.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "cli/prediction/change_apply.h"
#include "cli/prediction/changed_parts.h"
#include "cli/prediction/prediction.h"
#include "cli/recording/workspace.h"

/* The mean running time; NAN and `why`: none. */
static double run_time(const struct model *model, int cores, char **why) {
    const struct thread_choice own = {.label = "own"};
    const struct sim_config config = {0};
    struct prediction prediction;
    struct error error;
    if (prediction_make(model, &own, cores, &config, &prediction, &error) != 0) {
        *why = memory_strdup(error.text);
        return NAN;
    }
    double run_ns = prediction.no_figures ? NAN : prediction.result.run_ns.mean;
    *why = memory_strdup(prediction.no_figures);
    prediction_free(&prediction);
    return run_ns;
}

struct model_what_if model_what_if(const char *directory, const struct dependencies *recorded,
                                   const struct changes *changes, int cores) {
    struct model_what_if answer = {NAN, NAN, NULL};
    if (!workspace_has(directory, WORKSPACE_MODEL)) {
        answer.why = memory_strdup("there is none yet: `persik build-model` makes it");
        return answer;
    }
    struct error error;
    struct model *model = prediction_load_model(directory, NULL, &error);
    if (!model) {
        answer.why = memory_strdup(error.text);
        return answer;
    }
    answer.unchanged_ns = run_time(model, 0, &answer.why);
    struct changed_parts parts = {0};
    if (!answer.why && changes_apply(changes, recorded, model, &parts, &error) != 0)
        answer.why = memory_strdup(error.text);
    if (!answer.why)
        answer.run_ns = run_time(model, cores, &answer.why);
    changed_parts_free(&parts);
    model_free(model);
    return answer;
}
