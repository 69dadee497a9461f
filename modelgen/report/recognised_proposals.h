/* What is said of an object that the source proposes, held against the trace. */
#ifndef PERSIK_MODELGEN_REPORT_RECOGNISED_PROPOSALS_H
#define PERSIK_MODELGEN_REPORT_RECOGNISED_PROPOSALS_H

#include "formats/model.h"
#include "modelgen/lower/lower_input.h"
#include "modelgen/report/proposal_matches.h"

/* Appends it to the model. */
void recognised_write_proposed(const struct lower_input *input, const struct proposed *proposed,
                               struct model *model);

#endif
