/* What a user would change, carried out on a model. */
#ifndef PERSIK_CLI_PREDICTION_CHANGE_APPLY_H
#define PERSIK_CLI_PREDICTION_CHANGE_APPLY_H

#include "cli/arguments/change.h"
#include "cli/prediction/changed_parts.h"
#include "formats/dependencies.h"
#include "formats/model.h"

/* Makes the model follow all changes, in their order. Parts whose name is the one given; if there
 * are none, all that have it as whole words (whole_words_stand_in). Where no call place is named
 * so, io: and sleep: are of the pool of that name. --scale NAME is of the pool of that name, else
 * of the function, which the steps of the recorded run know (function_change.h; NULL: there are
 * none), else of the call place. Appends what was changed to `parts`.
 *
 * -1 and `error`: a name has nothing to change; the nearest ones that do are listed. */
int changes_apply(const struct changes *changes, const struct dependencies *recorded,
                  struct model *model, struct changed_parts *parts, struct error *error);

#endif
