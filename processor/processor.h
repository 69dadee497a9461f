/* What persik knows of the processor that it was built for. Each has a folder here, and a header
 * with:
 *
 *   PROCESSOR_NAME        for people
 *   PROCESSOR_ELF         e_machine of its programs
 *   PROCESSOR_HAS_PROBES  whether the probe library exists for it: programs can be recorded
 *   processor_ticks()     a counter at a constant rate, the same on all cores. Not ordered with the
 *                         instructions around it
 *   processor_ticks_after_loads()   the same, when all that was read before has arrived
 *   processor_throw_out(line)       takes the cache line out of all caches, where programs may
 *
 * The probe library alone, which is injected, has more of its own: processor/x86_64/probe/. */
#ifndef PERSIK_PROCESSOR_PROCESSOR_H
#define PERSIK_PROCESSOR_PROCESSOR_H

#if defined(__x86_64__)
#include "processor/x86_64/x86_64.h"
#elif defined(__aarch64__)
#include "processor/aarch64/aarch64.h"
#else
#error "persik knows x86-64 and aarch64: add a folder beside these"
#endif

#endif
