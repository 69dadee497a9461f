/* What a model is about, and what it therefore cannot say. */
#ifndef PERSIK_CLI_ARGUMENTS_SCOPE_H
#define PERSIK_CLI_ARGUMENTS_SCOPE_H

#include <stdbool.h>

#include "formats/model.h"

/* Warns of all that ran, or brought the work, outside of the model, and where it explains little.
 */
void scope_warn(const struct model *model);

/* Has the program one thread only, so that there is none to have more of? */
bool scope_is_single(const struct model *model);

/* Why no queue of the model gets its tasks from outside, for the caller to free; NULL: one does. */
char *scope_no_outside(const struct model *model);

#endif
