/* The configuration that a model was recorded in, as `persik validate` would write it. */
#ifndef PERSIK_CLI_PREDICTION_RECORDED_H
#define PERSIK_CLI_PREDICTION_RECORDED_H

#include "cli/arguments/sweep.h"

/* Does the choice give each pool the threads that it was recorded with? */
bool recorded_is(const struct thread_choice *choice, const struct model *model);

/* The label of the choice that does and is like `like`: one number, the same pools by name, or the
 * program's own. Freed by the caller; NULL: there is none. */
char *recorded_label(const struct thread_choice *like, const struct model *model);

#endif
