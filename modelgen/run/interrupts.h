/* Which wake-ups had to interrupt another core, and where that took its CPU time: of the waker, in
 * the middle of its computing. The simulator charges such wake-ups by themselves. */
#ifndef PERSIK_MODELGEN_RUN_INTERRUPTS_H
#define PERSIK_MODELGEN_RUN_INTERRUPTS_H

#include "formats/trace.h"
#include "modelgen/run/losses.h"

/* None where the trace does not say what they cost. */
struct losses interrupts_find(const struct trace *trace);

#endif
