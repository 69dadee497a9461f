/* The one configuration that a command is about: --threads, --cores and the load, each given once.
 */
#ifndef PERSIK_CLI_PREDICTION_CONFIGURATION_H
#define PERSIK_CLI_PREDICTION_CONFIGURATION_H

#include <argp.h>

#include "cli/arguments/sweep.h"
#include "cli/prediction/simulation_options.h"

struct configuration_options {
    const char *threads, *cores; /* as given; NULL: not */
};

/* Parses into a struct configuration_options. */
extern const struct argp configuration_argp;

struct configuration {
    struct thread_sweep threads; /* of one item */
    int cores;                   /* 0: the model's own */
};

/* Takes the one load into simulation->config. Several of any end the command with its usage's
 * status. End it with thread_sweep_free(). */
void configuration_parse(const struct configuration_options *options,
                         struct simulation_options *simulation,
                         struct configuration *configuration);

#endif
