/* Barriers: all but the last of each round wait, and the last wakes them. */
#ifndef PERSIK_MODELGEN_MONITORS_BARRIERS_H
#define PERSIK_MODELGEN_MONITORS_BARRIERS_H

#include "modelgen/monitors/finder.h"

/* True: found, and added to the finder's monitors. */
bool barriers_find(const struct finder *finder);

#endif
