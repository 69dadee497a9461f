/* How many threads live at one time, from when they are made until they end. */
#ifndef PERSIK_MODELGEN_EVENTS_PEAK_THREADS_H
#define PERSIK_MODELGEN_EVENTS_PEAK_THREADS_H

#include <stddef.h>

#include "formats/trace.h"

/* The most of the `n` threads, by their index in the trace, that live at one time. */
int peak_threads(const struct trace *trace, const size_t *threads, size_t n);

#endif
