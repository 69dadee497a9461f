/* What threads that take turns on a core cost each other: each finds its data displaced by the
 * others', and brings them back in CPU time. No record tells that from computation, but a run that
 * had one core only took more CPU time than one in which threads mostly had a core each. */
#ifndef PERSIK_CLI_PREDICTION_TURN_COSTS_H
#define PERSIK_CLI_PREDICTION_TURN_COSTS_H

#include <stdbool.h>

#include "base/error.h"
#include "formats/model.h"

/* Gives the threads that follow --threads, where there are several, a cost of coming back to a core
 * (`refill`, by the rule of model/refill.h), or makes the one that was measured larger, so that the
 * simulated run with one core takes model->one_core_cpu times the CPU time that it takes now. The
 * recorded configuration goes on to take what it takes: what is in it of such costs is taken out of
 * the demands. `one_core_threads`: per pool, with one core.
 *
 * 1: done, model->one_core_cpu explained and 0; 0: no such cost explains it, the model is as it
 * was; -1 and `error`. */
int turn_costs_fit(struct model *model, const int *one_core_threads, struct error *error);

#endif
