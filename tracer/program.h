/* The program to trace: where it is and whether a library can be preloaded into it. */
#ifndef PERSIK_TRACER_PROGRAM_H
#define PERSIK_TRACER_PROGRAM_H

#include <stdbool.h>

#include "base/error.h"

struct program {
    char *path;     /* as execve wants it: found through PATH when `name` has no slash */
    char *build_id; /* hex; "" without one, or for a script */
};

/* 0, or -1 and `error`: no such program, not executable, not for this processor; with `probed`,
 * nothing can be preloaded into it (preloadable.h). Of a script, its interpreter is what gets
 * examined. */
int program_find(struct program *program, const char *name, bool probed, struct error *error);
void program_free(struct program *program);

#endif
