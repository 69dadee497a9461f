/* Whether other processes disturbed a measured run. */
#ifndef PERSIK_CLI_RECORDING_DISTURBANCE_H
#define PERSIK_CLI_RECORDING_DISTURBANCE_H

#include <stdbool.h>

#include "cli/recording/programs.h"

/* The share of the run's cores that others had; 0 where that is no more than the kernel's counts
 * may be wrong by. */
double disturbance_share(const struct program_run *run, int cores);

/* Others had more than a twentieth of the run's cores, and more than the kernel's counts may be
 * wrong by. */
bool disturbance_matters(const struct program_run *run, int cores);

#endif
