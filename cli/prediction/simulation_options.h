/* Options that all who simulate share: which model, and how it is simulated. */
#ifndef PERSIK_CLI_PREDICTION_SIMULATION_OPTIONS_H
#define PERSIK_CLI_PREDICTION_SIMULATION_OPTIONS_H

#include <argp.h>

#include "cli/arguments/change.h"
#include "cli/arguments/repartition.h"
#include "cli/arguments/sweep.h"
#include "cli/prediction/changed_parts.h"
#include "cli/prediction/network.h"
#include "cli/text/quantity.h"
#include "simulator/simulator.h"

struct simulation_options {
    const char *model;        /* NULL: the recording's */
    struct sim_config config; /* seed, workers, think time, kind of arrivals, horizon, warm-up */
    const char *arrivals, *clients; /* as given; NULL: not */
    bool has_kind;                  /* of arrivals */
    struct load_sweep loads;        /* simulation_options_finish() reads them */
    struct repartitions repartitions;
    struct changes changes;
    struct network network;
};

/* Parses into a struct simulation_options. Bad values end the command with its usage's status. */
extern const struct argp simulation_argp;

/* After the last option: reads the loads; what contradicts itself ends the command. */
void simulation_options_finish(struct simulation_options *options);

void simulation_options_free(struct simulation_options *options);

/* A value above 0 of that unit, or the end of the command: `example` shows how it is given. */
double simulation_option_positive(const char *option, const char *text, enum unit unit,
                                  const char *example);

/* The model, from `directory` unless the options name another, made to follow the options;
 * `changed` (NULL: unasked) gets what --scale and --set made other than recorded, and
 * changed_parts_free() ends it in any case. NULL and `error`: there is none, or it cannot follow
 * them. The caller frees: model_free(). */
struct model *simulation_options_load(const struct simulation_options *options,
                                      const char *directory, struct changed_parts *changed,
                                      struct error *error);

#endif
