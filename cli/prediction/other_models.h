/* Models of the recordings of the same program with other numbers of threads, which `persik profile
 * --also-record` makes: each knows its own number. */
#ifndef PERSIK_CLI_PREDICTION_OTHER_MODELS_H
#define PERSIK_CLI_PREDICTION_OTHER_MODELS_H

#include <stdbool.h>

#include "cli/prediction/prediction.h"

struct other_model {
    struct model *model;
    bool told; /* it was said that figures are its */
};

struct other_models {
    struct other_model *items;
    size_t count, capacity;
};

/* Those within the recording in `directory` that have a model which can be read. */
struct other_models other_models_load(const char *directory);
void other_models_free(struct other_models *others);

/* prediction_make(); where the model has no figures and the program ends by itself, those of the
 * model that was recorded with so many threads, if there is one that has, which is said once. The
 * models are to live as long as the prediction. */
int other_models_predict(const struct model *model, struct other_models *others,
                         const struct thread_choice *threads, int cores,
                         const struct sim_config *base, struct prediction *prediction,
                         struct error *error);

#endif
