/* What of a model became other than it was, and what of its prediction that makes: one thing of the
 * later model at a time is put into the earlier one. */
#ifndef PERSIK_CLI_DIFFERENCE_MODEL_CHANGES_H
#define PERSIK_CLI_DIFFERENCE_MODEL_CHANGES_H

#include <stddef.h>

#include "base/error.h"
#include "cli/prediction/prediction.h"
#include "formats/model.h"

struct model_change {
    char *what;    /* "worker computes", "queue jobs: 8 became 64" */
    double factor; /* later over earlier */
    double effect; /* on the main figure, 0.1 is 10 % more */
};

struct model_changes {
    struct model_change *items; /* the largest change first */
    size_t count, capacity;
};

/* A model in one configuration, and what it predicts there: it has figures. */
struct predicted_model {
    const struct model *model;
    const struct prediction *prediction;
};

/* The earlier model again, for each change. NULL and `error`: it cannot be read any more. */
struct model_source {
    struct model *(*load)(const void *context, struct error *error);
    const void *context;
};

/* What each pool computes, and the limits of queues and semaphores, where they differ. Pools and
 * objects are the same that have the same name, but for lines, and are the only ones of it.
 * `config` is what both were simulated with, but for threads and cores. -1 and `error`: it cannot
 * be simulated. model_changes_free() ends the list in any case. */
int model_changes_find(const struct predicted_model *before, const struct predicted_model *after,
                       const struct model_source *source, const struct sim_config *config,
                       struct model_changes *changes, struct error *error);
void model_changes_free(struct model_changes *changes);

/* What a run is judged by: its running time; of a load without an end the mean response time. */
double model_changes_figure(const struct sim_result *result);

/* "worker: use (bank.c:40)" as "worker: use (bank.c)": what stays when lines are added. The caller
 * frees. */
char *name_without_line(const char *name);

#endif
