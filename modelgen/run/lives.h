/* How many threads live at one time. */
#ifndef PERSIK_MODELGEN_RUN_LIVES_H
#define PERSIK_MODELGEN_RUN_LIVES_H

#include <stddef.h>

#include "formats/trace.h"

/* The most of the `n` threads, by their index in the trace, that live at one time. */
int lives_at_once(const struct trace *trace, const size_t *threads, size_t n);

#endif
