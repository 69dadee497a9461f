/* How far away the clients of a server are: the options that say so, and the model with such a
 * network between them and it. */
#ifndef PERSIK_CLI_PREDICTION_NETWORK_H
#define PERSIK_CLI_PREDICTION_NETWORK_H

#include <argp.h>

#include "base/error.h"
#include "formats/model.h"
#include "simulator/simulator.h"

struct network {
    double latency_ns;  /* one way */
    double bytes_per_s; /* each way; 0: no limit */
};

/* Parses into a struct network, which is all 0 where no option is given: the clients are where the
 * requests come to the program. Bad values end the command with its usage's status. */
extern const struct argp network_argp;

bool network_is_given(const struct network *network);

/* Adds a link in each direction, which all have in common that get their tasks from outside;
 * nothing where the network is all 0. -1 and `error`: the model has no such queue, links of its
 * own, or does not know the bytes that a bandwidth needs. */
int network_apply(const struct network *network, struct model *model, struct error *error);

/* The link that was sending for nearly all of the simulated time; NULL: there is none. */
const struct object *network_full_link(const struct model *model, const struct sim_result *result);

#endif
