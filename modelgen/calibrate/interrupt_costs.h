/* Which wake-ups had to interrupt another core, and where that took its CPU time: of the waker, in
 * the middle of its computing. The simulator charges such wake-ups by themselves. */
#ifndef PERSIK_MODELGEN_CALIBRATE_INTERRUPT_COSTS_H
#define PERSIK_MODELGEN_CALIBRATE_INTERRUPT_COSTS_H

#include "formats/trace.h"
#include "modelgen/events/excluded_time.h"

/* None where the trace does not say what they cost. */
struct excluded_time interrupt_costs_find(const struct trace *trace);

#endif
