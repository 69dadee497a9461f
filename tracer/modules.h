/* The files that a program is loaded from at its start. */
#ifndef PERSIK_TRACER_MODULES_H
#define PERSIK_TRACER_MODULES_H

#include <stddef.h>

struct modules {
    size_t count, capacity;
    char **items; /* resolved paths, the program first */
};

/* Of the executable file at `path`: itself and the libraries it is linked with, as its dynamic
 * loader finds them; the program is not started. modules_free() ends it. */
struct modules modules_find(const char *path);
void modules_free(struct modules *modules);

#endif
