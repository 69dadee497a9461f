/* Which wake-ups had to interrupt another core, and where that took its CPU time: of the waker, in
 * the middle of its computing. The simulator charges such wake-ups by themselves. */
#ifndef PERSIK_MODELGEN_RUN_INTERRUPTS_H
#define PERSIK_MODELGEN_RUN_INTERRUPTS_H

#include <stddef.h>
#include <stdint.h>

#include "formats/trace.h"

struct interrupt {
    uint64_t at_ns;
    uint32_t cpu; /* the waker's */
};

struct interrupts {
    struct interrupt *items; /* by cpu, then by at_ns */
    size_t count, capacity;
    double each_ns; /* CPU of the waker */
};

/* None where the trace does not say what they cost. interrupts_free() ends it. */
struct interrupts interrupts_find(const struct trace *trace);
void interrupts_free(struct interrupts *interrupts);

#endif
