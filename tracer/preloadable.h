/* Whether a library can be preloaded into a program, from its file: said before anything is run. */
#ifndef PERSIK_TRACER_PRELOADABLE_H
#define PERSIK_TRACER_PRELOADABLE_H

#include <stdbool.h>

#include "base/error.h"

/* Examines the open `file`, which is `path`. 0 and its `build_id` (hex, allocated; "": none), or -1
 * and `error`: not a program of this machine, damaged; with `probed` also static, linked with
 * musl, built with a sanitizer that must be loaded first, or run with other rights than ours. */
int preloadable_check(int file, const char *path, bool probed, char **build_id,
                      struct error *error);

#endif
