/* What the probe library is to do besides its own, left for it in its folder before the program
 * starts (tracer/raw.h). */
#ifndef PERSIK_TRACER_ORDERS_H
#define PERSIK_TRACER_ORDERS_H

#include <stddef.h>

#include "base/error.h"

/* Writes the new file DIRECTORY/NAME, an array of `n_bytes`, for the user alone; none where that is
 * 0. */
int orders_save(const char *directory, const char *name, const void *items, size_t n_bytes,
                struct error *error);

#endif
