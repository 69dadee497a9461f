/* The kernel's clocks in nanoseconds. */
#ifndef PERSIK_BASE_CLOCK_H
#define PERSIK_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* What clock_gettime(2) says now: of CLOCK_MONOTONIC, with which the trace is stamped, or of the
 * CPU time that the calling thread or all of persik has used, CLOCK_THREAD_CPUTIME_ID and
 * CLOCK_PROCESS_CPUTIME_ID. */
uint64_t clock_now_ns(clockid_t clock);

#endif
