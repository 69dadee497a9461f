/* Says what a person would call the objects that the program made itself: which guards of one
 * mutex are one bounded queue, how many it holds, which functions put and get, how sure we are. */
#ifndef PERSIK_MODELGEN_REPORT_RECOGNISED_OBJECTS_H
#define PERSIK_MODELGEN_REPORT_RECOGNISED_OBJECTS_H

#include "formats/model.h"
#include "modelgen/lower/lower_input.h"

/* Appends the hand-made objects to `model`; the streams have given the guards their objects. */
void recognised_objects_write(const struct lower_input *input, struct model *model);

#endif
