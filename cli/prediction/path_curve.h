/* The causal profile of a part of a recorded run: by how much the run gains if that part takes
 * less. What Coz (Curtsinger and Berger, SOSP 2015) finds out by experiments, one recording
 * answers. */
#ifndef PERSIK_CLI_PREDICTION_PATH_CURVE_H
#define PERSIK_CLI_PREDICTION_PATH_CURVE_H

#include "cli/prediction/recorded_change.h"
#include "cli/text/table.h"

/* `name` as --scale takes it, without "=FACTOR". A row for each factor; table_free() ends it. NULL
 * and `error`, one line: no such name. */
struct table *path_curve(const struct dependencies *all, const char *name, struct error *error);

#endif
