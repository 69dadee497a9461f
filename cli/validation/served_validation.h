/* persik validate --load: a server is run for real in each configuration, asked by its load, and
 * what the clients measured stands beside what the model predicts. */
#ifndef PERSIK_CLI_VALIDATION_SERVED_VALIDATION_H
#define PERSIK_CLI_VALIDATION_SERVED_VALIDATION_H

#include "base/error.h"
#include "cli/prediction/sweep_options.h"
#include "cli/text/table.h"
#include "formats/model.h"
#include "host/served_run.h"
#include "simulator/simulator.h"

struct served_validation {
    char *const *program; /* with placeholders, as the load in `plan` */
    struct served_plan plan;
    struct sweep_options sweep;
    const char *rates, *clients; /* lists; NULL: none */
    int runs;
    struct sim_config config;
    enum table_format format;
};

/* Bad lists end the command with its usage's status. Prints to standard output. -1 and `error`: a
 * run failed, or the model cannot be asked at a rate. `*no_figures`: some configuration has no
 * prediction. */
int served_validation_run(const struct served_validation *validation, const struct model *model,
                          bool *no_figures, struct error *error);

#endif
