/* Results that one thread fetches in the order in which their numbers were drawn, while others
 * produce them in any order. */
#ifndef PERSIK_MODELGEN_MONITORS_RESULTS_H
#define PERSIK_MODELGEN_MONITORS_RESULTS_H

#include "modelgen/monitors/finder.h"

/* All under one mutex; the numbers are drawn where the producers take their work. True: found, and
 * added to the monitors' patterns. */
bool results_find(const struct finder *finder);

/* Each result has a mutex of its own, of `n_objects` that are alike. */
bool results_find_in_array(const struct finder *finder, size_t n_objects);

#endif
