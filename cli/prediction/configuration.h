/* The one configuration that a command is about: --threads, --cores and the load, each given once.
 */
#ifndef PERSIK_CLI_PREDICTION_CONFIGURATION_H
#define PERSIK_CLI_PREDICTION_CONFIGURATION_H

#include "cli/arguments/sweep.h"
#include "cli/prediction/simulation_options.h"

struct configuration {
    struct thread_sweep threads; /* of one item */
    int cores;                   /* 0: the model's own */
};

/* Of the options' texts (NULL: not given). Takes the one load into simulation->config. Several of
 * any end the command with its usage's status. End it with thread_sweep_free(). */
void configuration_parse(const char *threads, const char *cores,
                         struct simulation_options *simulation,
                         struct configuration *configuration);

#endif
