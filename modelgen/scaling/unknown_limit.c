#include "modelgen/scaling/unknown_limit.h"

/* One permit is a lock: no unit of it can be unknown. */
static bool is_unknown(const struct hand_made *monitor) {
    bool limits = monitor->kind == HAND_MADE_SEMAPHORE || monitor->kind == HAND_MADE_BOUNDED_QUEUE;
    return limits && monitor->how == MODELLED_BY_FALLBACK && linear_is_known(&monitor->amount) &&
           monitor->amount.base > 1;
}

/* Do threads of another pool wait for what those of the pool signal? */
static bool lets_others_go(const struct model *model, int pool) {
    for (size_t n = 0; n < model->n_nodes; n++) {
        const struct node *signal = &model->nodes[n];
        if (signal->kind != NODE_SIGNAL || signal->pool != pool)
            continue;
        for (size_t m = 0; m < model->n_nodes; m++)
            if (model->nodes[m].kind == NODE_WAIT && model->nodes[m].object == signal->object &&
                model->nodes[m].pool != pool)
                return true;
    }
    return false;
}

const struct hand_made *unknown_limit_of(const struct model *model, int pool) {
    for (size_t i = 0; i < model->n_monitors; i++)
        if (is_unknown(&model->monitors[i]) && lets_others_go(model, pool))
            return &model->monitors[i];
    return NULL;
}
