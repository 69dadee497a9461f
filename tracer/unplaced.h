/* Traced calls of which no source line is known, and why. */
#ifndef PERSIK_TRACER_UNPLACED_H
#define PERSIK_TRACER_UNPLACED_H

#include "formats/trace.h"
#include "tracer/lacks.h"

/* Adds a line for each module with such calls. A call in a library is placed when one of its
 * callers is. `maps`: of the traced processes, texts like /proc/PID/maps, which tell where modules
 * are. */
void unplaced_tell(const struct trace *trace, char *const *maps, size_t n_maps,
                   struct lacks *lacks);

#endif
