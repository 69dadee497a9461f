/* How often the program takes locks that several of its threads take. On one core that costs next
 * to nothing; where the threads run on several, each may have to fetch the lock, and what it
 * protects, from another core's cache. */
#ifndef PERSIK_MODELGEN_CALIBRATE_SHARED_LOCKS_H
#define PERSIK_MODELGEN_CALIBRATE_SHARED_LOCKS_H

#include "formats/trace.h"

/* In a second of its CPU time, without that of the probes; 0: never, or not known. O(records). */
double shared_locks_hz(const struct trace *trace);

#endif
