/* Says what a person would call the objects that the program made itself: which guards of one
 * mutex are one bounded queue, how many it holds, which functions put and get, how sure we are. */
#ifndef PERSIK_MODELGEN_MONITORS_HAND_MADE_H
#define PERSIK_MODELGEN_MONITORS_HAND_MADE_H

#include "formats/model.h"
#include "modelgen/graph/stream.h"

/* Appends the hand-made objects to `model`; the streams have given the guards their objects. */
void hand_made_write(const struct stream_input *input, struct model *model);

#endif
