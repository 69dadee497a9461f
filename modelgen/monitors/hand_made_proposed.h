/* What is said of an object that the source proposes, held against the trace. */
#ifndef PERSIK_MODELGEN_MONITORS_HAND_MADE_PROPOSED_H
#define PERSIK_MODELGEN_MONITORS_HAND_MADE_PROPOSED_H

#include "formats/model.h"
#include "modelgen/graph/stream.h"
#include "modelgen/monitors/findings.h"

/* Appends it to the model. */
void hand_made_write_proposed(const struct stream_input *input, const struct proposed *proposed,
                              struct model *model);

#endif
