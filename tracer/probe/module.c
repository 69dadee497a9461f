/* Which loaded module is which file. */
#include <stdlib.h>

#include "tracer/probe/inside.h"

bool module_is(const char *name, const char *path) {
    char resolved[4096];
    if (name == NULL || *name == '\0')
        name = "/proc/self/exe";
    return realpath(name, resolved) != NULL && strcmp(resolved, path) == 0;
}
