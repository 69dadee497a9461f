/* Turns: numbers are drawn at one place and go through in their order at another. */
#ifndef PERSIK_MODELGEN_MONITORS_TURNS_H
#define PERSIK_MODELGEN_MONITORS_TURNS_H

#include "modelgen/monitors/finder.h"

/* Where nobody had to wait for his turn, or two threads only, which could as well share one permit,
 * the source and the order of the passages tell. */
bool turns_find(const struct finder *finder, bool is_proposed);

#endif
