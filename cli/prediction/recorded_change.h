/* Changes, as a user words them, of a recorded run. */
#ifndef PERSIK_CLI_PREDICTION_RECORDED_CHANGE_H
#define PERSIK_CLI_PREDICTION_RECORDED_CHANGE_H

#include "base/error.h"
#include "cli/arguments/change.h"
#include "critical-path/critical_path.h"

/* The same for critical-path/; the name stays the change's. */
struct scale recorded_change(const struct change *change);

/* Has it met something (scale->n_steps)? -1 and `error`, one line: nothing; what it may have meant.
 */
int recorded_change_check(const struct change *change, const struct scale *scale,
                          const struct dependencies *all, struct error *error);

#endif
