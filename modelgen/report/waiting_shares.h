/* Where the threads of the traced run waited for each other, and how well the model does that. */
#ifndef PERSIK_MODELGEN_REPORT_WAITING_SHARES_H
#define PERSIK_MODELGEN_REPORT_WAITING_SHARES_H

#include "modelgen/lower/lower.h"

/* Fills `model->waiting`, the longest first. `objects`: what the model has for them. */
void waiting_shares_write(const struct lower_input *input, const struct lowered_objects *objects,
                          struct model *model);

#endif
