#include "modelgen/scaling/scaling_check.h"

#include <math.h>
#include <stdbool.h>

#define ROUNDING 1e-9

static bool is_share(double value) {
    return value >= -ROUNDING && value <= 1 + ROUNDING;
}

static bool is_evidence(const struct partition_evidence *evidence) {
    double most = evidence->cpu_ns * (1 + ROUNDING);
    return isfinite(evidence->cpu_ns) && evidence->cpu_ns >= 0 && evidence->undecided_ns <= most &&
           evidence->most_undecided_ns <= most && is_share(evidence->hidden_share) &&
           evidence->total >= 0;
}

/* NULL: nothing is. */
static const char *wrong_pool(const struct pool *pool, const struct partition_evidence *evidence) {
    if (pool->partition > PARTITION_UNKNOWN)
        return "has an unknown rule";
    if ((pool->partition == PARTITION_NONE) == pool->scales)
        return pool->scales ? "follows --threads, but has no rule"
                            : "has a rule, but does not follow --threads";
    if (!pool->rule)
        return "does not say its rule";
    if (!(pool->confidence >= 0 && pool->confidence <= 1))
        return "has a confidence that is not between 0 and 1";
    return is_evidence(evidence) ? NULL : "has no sound evidence";
}

static bool is_scaling(const struct model *model, const struct scaling *scaling) {
    bool scales = scaling->share != 0 || scaling->growth != 0 || scaling->rest != REST_NONE;
    return is_share(scaling->share) && is_share(scaling->growth) &&
           is_share(scaling->share + scaling->growth) &&
           (!scales || (scaling->pool >= 0 && (size_t)scaling->pool < model->n_pools)) &&
           (scaling->rest == REST_NONE || scaling->total >= 1);
}

static bool is_scaled_soundly(const struct model *model, const struct node *node) {
    bool sound = is_scaling(model, &node->count_scaling) && is_scaling(model, &node->stays_scaling);
    for (size_t e = 0; e < node->n_edges && sound; e++)
        sound = is_scaling(model, &node->edges[e].cpu_scaling) &&
                is_scaling(model, &node->edges[e].runs_scaling);
    return sound;
}

int scaling_check(const struct model *model, const struct partition_evidence *evidence,
                  struct error *error) {
    for (size_t p = 0; p < model->n_pools; p++) {
        const char *wrong = wrong_pool(&model->pools[p], &evidence[p]);
        if (wrong)
            return error_set(error, "pool %zu (%s): %s", p, model->pools[p].name, wrong);
    }
    for (size_t n = 0; n < model->n_nodes; n++)
        if (!is_scaled_soundly(model, &model->nodes[n]))
            return error_set(error, "node %zu (%s): has no sound share of a pool's work", n,
                             model->nodes[n].name);
    return 0;
}
