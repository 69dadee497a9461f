/* What synchronisation objects of the trace are called. */
#ifndef PERSIK_MODELGEN_LOWER_OBJECT_NAMES_H
#define PERSIK_MODELGEN_LOWER_OBJECT_NAMES_H

#include "modelgen/lower/lower_input.h"

/* "queue struct pool.lock, pool_create (pool.c:31)": `what` it is, its access path in the source
 * when that is known, and where it is used first. Where several objects would be called the same,
 * the caller tells them apart: ", in writer_open". `path` NULL: as the source names the object. The
 * caller frees. */
char *name_of_object(const struct lower_input *input, int object, const char *what,
                     const char *path);

#endif
