/* Threads of which so many may live at a time: before it makes one, their creator takes a permit,
 * which the thread gives back with the last that it does. How many are made in all is the work's;
 * how many live at a time is the limit. */
#ifndef PERSIK_MODELGEN_THREADS_ALIVE_LIMIT_H
#define PERSIK_MODELGEN_THREADS_ALIVE_LIMIT_H

#include "formats/trace.h"

struct alive_limit {
    int most;        /* that may live at a time; 0: no such limit shows */
    uint64_t object; /* the semaphore that has the permits, or the mutex under which they are
                      * counted */
};

/* The limit of the trace's threads with these indexes, which are of one start routine. */
struct alive_limit alive_limit_of(const struct trace *trace, const size_t *threads, size_t n);

#endif
