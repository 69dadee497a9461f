/* What the probes shall look at: the variables that tell how much there is of what threads wait for
 * under a mutex. A limit that nobody met in the traced run does not show in who waited. */
#ifndef PERSIK_TRACER_LOOKS_H
#define PERSIK_TRACER_LOOKS_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "formats/facts.h"
#include "tracer/image.h"
#include "tracer/raw.h"

struct look_name {
    char *variable; /* access path */
    unsigned bytes;
    bool is_signed;
};

struct looks {
    size_t count, capacity;
    struct raw_look *items; /* as the probes get them */
    struct {
        size_t count, capacity;
        struct look_name *items;
    } names; /* by raw_look.name */
};

/* Finds what the facts (NULL: none) say is to be looked at, with the debug information of the
 * executable file at `path` and of what it loads at its start. looks_free() ends it. */
struct looks looks_find(const char *path, const struct facts *facts);
void looks_free(struct looks *looks);

/* Writes DIRECTORY/looks for the probe library. */
int looks_save(const struct looks *looks, const char *directory, struct error *error);

/* What was found there, as a number. `*name`: of the variable, the looks' own. False: the value is
 * of no look. */
bool looks_read_value(const struct looks *looks, const struct image_value *raw, const char **name,
                      int64_t *value);

#endif
