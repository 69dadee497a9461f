#include "cli/arguments/scope.h"

#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "cli/judgement.h"

void scope_warn(const struct model *model) {
    for (size_t i = 0; i < model->n_outside; i++)
        log_warning("%s", model->outside[i]);
    if (model->explained_share < judgement.little_explained)
        log_warning("the model explains %.1f %% of what ran: the rest follows neither threads nor "
                    "cores in these figures",
                    100 * model->explained_share);
}

bool scope_is_single(const struct model *model) {
    return model->n_pools == 1 && !model->pools[0].scales && model->pools[0].profiled_threads == 1;
}

char *scope_no_outside(const struct model *model) {
    for (size_t i = 0; i < model->n_objects; i++)
        if (model->objects[i].interarrival_ns.kind != DIST_NONE || model->objects[i].clients > 0)
            return NULL;
    const char *cause = NULL;
    for (size_t i = 0; i < model->n_notes; i++)
        if (strncmp(model->notes[i], MODEL_NO_REQUESTS, strlen(MODEL_NO_REQUESTS)) == 0)
            cause = model->notes[i];
    return memory_format("no queue of the model gets its tasks from outside%s%s",
                         cause ? ", as " : "", cause ? cause : "");
}
