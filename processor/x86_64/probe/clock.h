/* The time stamp: the TSC. 10-15 ns here where clock_gettime costs 40. */
#ifndef PERSIK_PROCESSOR_X86_64_PROBE_CLOCK_H
#define PERSIK_PROCESSOR_X86_64_PROBE_CLOCK_H

#include <stdint.h>

#include "processor/processor.h"

/* For a moment before something takes effect. What follows is a store or a locked operation, and
 * neither becomes visible before the instructions ahead of it have retired. */
static inline uint64_t clock_before(void) {
    return processor_ticks();
}

/* For a moment after. Without the fence the processor reads the counter while a lock's cache line
 * is still on its way, and a critical section seems to start before the last one ended. */
static inline uint64_t clock_after(void) {
    __asm__ volatile("lfence"
                     :
                     :
                     : "memory"); /* not the builtin: which needs vector registers allowed */
    return processor_ticks();
}

#endif
