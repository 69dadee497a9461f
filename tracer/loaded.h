/* The files that a program is loaded from at its start. */
#ifndef PERSIK_TRACER_LOADED_H
#define PERSIK_TRACER_LOADED_H

#include <stddef.h>

struct loaded {
    size_t count, capacity;
    char **items; /* resolved paths, the program first */
};

/* Of the executable file at `path`: itself and the libraries it is linked with, as its dynamic
 * loader finds them; the program is not started. loaded_free() ends it. */
struct loaded loaded_find(const char *path);
void loaded_free(struct loaded *modules);

#endif
