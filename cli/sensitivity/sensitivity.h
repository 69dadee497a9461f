/* What each variation of a model changes of its prediction.
 *
 * The model as it is and the varied one are simulated in pairs that have the same random numbers
 * (common random numbers: Law, Simulation Modeling and Analysis, section 11.2), so that chance is
 * mostly the same in both, and small effects show. */
#ifndef PERSIK_CLI_SENSITIVITY_SENSITIVITY_H
#define PERSIK_CLI_SENSITIVITY_SENSITIVITY_H

#include <stdbool.h>

#include "base/error.h"
#include "cli/sensitivity/variation.h"
#include "simulator/simulator.h"

enum effect_metric { EFFECT_RUN, EFFECT_THROUGHPUT, EFFECT_RESPONSE, N_EFFECT_METRICS };

/* Changes are shares of what the model itself predicts, 0.1 is 10 % more; half widths are of 99 %
 * confidence intervals over the pairs. NaN: there is no such figure. */
struct effect {
    struct estimate change[N_EFFECT_METRICS];
    int pairs;
    char *no_figures; /* why there are none; NULL: there are */
};

/* Does the change stand out from the simulation's noise, and would be shown as other than 0.0 %? */
bool effect_is_seen(struct estimate change);

struct sensitivity {
    struct model *(*load)(const void *context, struct error *error); /* the model, anew */
    const void *context;
    struct sim_config config; /* pool_threads and cores are given; precision: of an effect */
    struct sim_result *base;  /* of the pairs so far, in their order */
    size_t n_base;
};

/* Simulates the model with the variation, until the change of the running time is known to
 * config.precision or so many pairs have not sufficed. -1 and `error`: the model is not the same
 * any more. A variation that comes to nothing has no figures. */
int sensitivity_find(struct sensitivity *sensitivity, const struct model *model,
                     const struct variation *variation, struct effect *effect, struct error *error);

void effect_free(struct effect *effect);
void sensitivity_free(struct sensitivity *sensitivity);

/* Effects by the size of the change, the largest first: of the running time, then of the others.
 * Those that are not seen come behind them, those without figures last, each in the order given.
 * The order is one of indices, as many as there are effects; the caller frees it. */
size_t *sensitivity_order(const struct effect *effects, size_t n);

#endif
