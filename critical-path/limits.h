/* Objects of which there is only so much: room in bounded queues, permits. Private to this room. */
#ifndef PERSIK_CRITICAL_PATH_LIMITS_H
#define PERSIK_CRITICAL_PATH_LIMITS_H

#include <stdbool.h>

#include "critical-path/longest_path.h"
#include "formats/dependencies.h"

/* Per object: how much of it there is at first; NAN: it has no limit. The caller frees. */
double *limits_recorded(const struct dependencies *all);

/* Per object: how often the path came to a thread that waited for room, or for a permit: who gave
 * that back waited for a thing in turn, so that a loop is closed. The caller frees. */
uint64_t *limits_reached(const struct longest_path *path, const double *limits);

#endif
