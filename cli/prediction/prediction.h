/* Simulated configurations, as predict and validate both print them. */
#ifndef PERSIK_CLI_PREDICTION_PREDICTION_H
#define PERSIK_CLI_PREDICTION_PREDICTION_H

#include <stdio.h>

#include "base/error.h"
#include "cli/arguments/sweep.h"
#include "cli/prediction/uncertainty.h"
#include "cli/text/table.h"
#include "formats/model.h"
#include "simulator/simulator.h"

/* The columns (cli/text/table.h) of a figure, of its half width by the model's uncertainty, and of
 * that of the simulation alone. Without a title it is not in tables for people. */
#define FIGURE_COLUMNS(key, title)                                                                 \
    {key, title}, {key "_half_width", NULL}, {                                                     \
        key "_simulation_half_width", NULL                                                         \
    }

struct prediction {
    const struct model *model; /* that made it: its pools and objects are the result's */
    const struct thread_choice *threads;
    int cores; /* never 0: the model's own number filled in */
    int *pool_threads;
    double cpu_factor; /* of the model's CPU demands with so many cores busy (struct sim_config) */
    struct load_choice load;
    double response_share;    /* prediction_find_response_share() sets it; 0: nobody has */
    char *no_figures;         /* why there are none; NULL: there are */
    struct sim_result result; /* without figures: all of them NaN, no objects, no pools */
};

/* DIRECTORY/model.json, or `path` if not NULL. Says `persik build-model` when there is none. */
struct model *prediction_load_model(const char *directory, const char *path, struct error *error);

/* Of all threads in the recorded run, as the model has it; NaN: not known. */
double prediction_recorded_cpu_ns(const struct model *model);

/* Simulates one configuration, unless its rules are unknown; `base` gives everything but the pool
 * sizes and cores, the load too. `cores` 0 is the model's own number. 0, or -1 and `error`;
 * prediction_free() frees what it holds. The model is to live as long. */
int prediction_make(const struct model *model, const struct thread_choice *threads, int cores,
                    const struct sim_config *base, struct prediction *prediction,
                    struct error *error);
void prediction_free(struct prediction *prediction);

/* The same threads, cores and demands for further runs of the model or one like it. `config` points
 * into the prediction. */
void prediction_configure(const struct prediction *prediction, struct sim_config *config);

/* How many cores it keeps busy on average. */
double prediction_busy_cores(const struct prediction *prediction);

/* How far the real run may be from it. */
struct uncertainty prediction_uncertainty(const struct prediction *prediction);

/* How far the real response times of a run that ends may be, in parts of them: by at least the
 * uncertainty, and by what they are longer where all takes longer by it, which a second simulation
 * tells. Where queues do not empty for a while, as with a cold cache, that is much. Sets
 * prediction->response_share; does nothing without figures, responses or an end. `base` as for
 * prediction_make(). 0, or -1 and `error`. */
int prediction_find_response_share(struct prediction *prediction, const struct sim_config *base,
                                   struct error *error);

/* The one number of threads, where there is one; else its label. */
void prediction_add_threads(struct table *table, const struct prediction *prediction);

/* ", 500 /s", ", 64 clients", or nothing where the load is the model's own. Returns `text`. */
enum { LOAD_BYTES = QUANTITY_BYTES + 8 };
const char *prediction_show_load(const struct prediction *prediction, char text[LOAD_BYTES]);

/* In which of both more of what the simulated threads did went wrong; `a` may be NULL: b. */
const struct prediction *prediction_more_stalled(const struct prediction *a,
                                                 const struct prediction *b);

/* Says on stderr when the simulated threads came to wait for nothing, harmlessly, in the worst of
 * the predictions (NULL: there are none): the model is then incomplete. */
void prediction_warn_of_stalls(const struct prediction *worst);

/* Prints to `out`, with a blank line before, for which of them there are no figures and why.
 * Returns how many. */
size_t prediction_explain_refusals(const struct prediction *const *predictions, size_t n,
                                   FILE *out);

/* In which of both more threads find nothing to do where they share out rounds; `a` may be NULL: b.
 */
const struct prediction *prediction_more_crowded(const struct prediction *a,
                                                 const struct prediction *b);

/* Says on stderr that there are such threads in the worst of the predictions (NULL: there are
 * none): in the model each does a round all the same. */
void prediction_warn_of_crowd(const struct prediction *worst);

#endif
