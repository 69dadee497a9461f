/* Limits whose units the recording does not have, as a number of bytes that may be under way. */
#ifndef PERSIK_MODELGEN_SCALING_UNKNOWN_LIMIT_H
#define PERSIK_MODELGEN_SCALING_UNKNOWN_LIMIT_H

#include "formats/model.h"

/* A hand-made limit that the source knows and that nothing recorded confirms, so that who waits
 * for it waits for a flag in the model, and threads of the pool are those that let others go on by
 * such a flag. Of a flag, signals that come before somebody waits are lost, which are the more the
 * more threads there are. NULL: none. Belongs to the model. */
const struct hand_made *unknown_limit_of(const struct model *model, int pool);

#endif
