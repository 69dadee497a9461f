/* Rows without figures: a simulated run in which everything came to wait for nothing, and a number
 * of threads of which nobody knows how the work follows it, are no results. */
#ifndef PERSIK_CLI_PREDICTION_REFUSAL_H
#define PERSIK_CLI_PREDICTION_REFUSAL_H

#include <stdbool.h>

#include "formats/model.h"
#include "simulator/simulator.h"

/* Thread counts have one number per pool of the model; `own_threads` are the recorded ones. */

/* NULL: nothing speaks against this configuration. Else, allocated, why it has no figures: it has
 * another number of threads than the recorded run, in a pool whose rule is unknown, or another
 * number of cores, and threads that go on for a given time. */
char *refusal_of_rules(const struct model *model, const int *own_threads, const int *pool_threads,
                       int cores);

/* The same where a number of threads was asked for by --threads N: why that need not be the number
 * of a pool's, or leaves it none. */
char *refusal_of_count(const struct model *model, int threads);

/* The same of a run whose threads computed much more than the recorded ones, for `recorded_cpu_ns`
 * (NaN: not known), though all pools have parts of a total by their rules: the model contradicts
 * them. */
char *refusal_of_growth(const struct model *model, const struct sim_result *result,
                        double recorded_cpu_ns);

/* Did they compute so much less that the run must be held against the recorded configuration's? */
bool refusal_of_loss_is_due(const struct model *model, const struct sim_result *result,
                            double recorded_cpu_ns);

/* The same of such a run where its threads also did fewer operations on objects than in `own`, the
 * simulated run of the recorded configuration: else they only waited less, which saves CPU time. */
char *refusal_of_loss(const struct sim_result *result, const struct sim_result *own);

/* The same of a run that asks a disk for what the recorded run never did, more often than that the
 * time of it would not matter. */
char *refusal_of_disks(const struct model *model, const struct sim_result *result);

/* The reason, which it takes over; where others disturbed the recording, a better one comes first,
 * and it says so. */
char *refusal_beside_others(const struct model *model, char *reason);

/* Did the simulated run come to a standstill at all? Then it must be judged. */
bool refusal_is_due(const struct sim_result *result);

/* What part of the operations on objects went wrong in it. */
double refusal_stalled_share(const struct sim_result *result);

/* The same of a simulated run of the recorded configuration, in which all threads computed for
 * `recorded_cpu_ns` (NaN: not known). A standstill is harmless where at most 1 % of the operations
 * on objects went wrong, at most 1 % of the items put into a queue were left there, and the threads
 * had at least 90 % of that CPU time. */
char *refusal_of_own_run(const struct model *model, const struct sim_result *result,
                         double recorded_cpu_ns);

/* The same of another configuration's, against the simulated run of the recorded one (NULL: that
 * has no figures itself): no more items may be left than there, and the operations and the CPU time
 * must be 90 % of that run's; of less where each thread does its own work and there are fewer. */
char *refusal_of_run(const struct model *model, const int *own_threads, const int *pool_threads,
                     const struct sim_result *result, const struct sim_result *own);

#endif
