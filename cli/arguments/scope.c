#include "cli/arguments/scope.h"

#include "base/log.h"
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
