/* How each function of the user's catalog will be seen: decided before the program starts, from the
 * code of the program and of the libraries it is linked with. */
#ifndef PERSIK_TRACER_WRAPS_H
#define PERSIK_TRACER_WRAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "formats/user_catalog.h"
#include "processor/entry.h"
#include "tracer/lacks.h"
#include "tracer/raw.h"

struct wrap_plan {
    struct raw_wrap raw;
    struct entry entry;
    bool throws;         /* exceptions may pass through it */
    uint64_t file_shift; /* address - file_shift = offset in the file */
};

struct wraps {
    size_t count;
    struct wrap_plan *items; /* as in the catalog */
};

/* Finds the catalog's functions in the executable file at `path` and what it loads at its start.
 * -1 and `error` when one is nowhere to be found. */
int wraps_find(struct wraps *wraps, const char *path, const struct user_catalog *catalog,
               struct error *error);
void wraps_free(struct wraps *wraps);

/* Writes DIRECTORY/wraps for the probe library. */
int wraps_save(const struct wraps *wraps, const char *directory, struct error *error);

/* After the run: tells of what could not be put in place. */
void wraps_tell(const char *directory, struct lacks *lacks);

#endif
