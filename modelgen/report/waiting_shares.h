/* Where the threads of the traced run waited for each other, and how well the model does that. */
#ifndef PERSIK_MODELGEN_REPORT_WAITING_SHARES_H
#define PERSIK_MODELGEN_REPORT_WAITING_SHARES_H

#include "modelgen/lower/lower_input.h"

/* Fills `model->waiting`, the longest first. Per synchronisation object: `object_of`, its object of
 * the model or negative; `is_flag`, a condition with a signal's memory in place of its predicate.
 * Both may be told by the first object of a class. */
void waiting_shares_write(const struct lower_input *input, const int *object_of,
                          const bool *is_flag, struct model *model);

#endif
