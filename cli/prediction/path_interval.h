/* How far what is predicted from a recorded run may be off. */
#ifndef PERSIK_CLI_PREDICTION_PATH_INTERVAL_H
#define PERSIK_CLI_PREDICTION_PATH_INTERVAL_H

#include "cli/prediction/model_what_if.h"
#include "critical-path/critical_path.h"

/* Half the width of the rescheduled answer's interval, ns: what the method is off by where nothing
 * is changed, and half of what the farther one of the other two ways to predict differs from it.
 * The model's figure is taken relative to its own unchanged one; NULL: it was not asked. To that
 * comes all that may be computed in callers of what is changed. Never less than what counts as no
 * difference: where all agree, real runs were off by up to 3.4 % (docs/critical-path.md). */
double path_half_width(const struct path_checks *checks, const struct what_if *predicted,
                       const struct model_what_if *model);

#endif
