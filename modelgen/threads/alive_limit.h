/* Threads of which so many may live at a time: before it makes one, their creator takes a permit,
 * which the thread gives back with the last that it does. How many are made in all is the work's;
 * how many live at a time is the limit. */
#ifndef PERSIK_MODELGEN_THREADS_ALIVE_LIMIT_H
#define PERSIK_MODELGEN_THREADS_ALIVE_LIMIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/trace.h"

struct alive_limit {
    int most;        /* that may live at a time; 0: no such limit shows */
    uint64_t object; /* the semaphore that has the permits, or the mutex under which they are
                      * counted */
};

/* The limit of the trace's threads with these indexes, which are of one start routine. */
struct alive_limit alive_limit_of(const struct trace *trace, const size_t *threads, size_t n);

/* Did the thread give its permit back? The end of the program may have come first. */
bool alive_limit_is_given_back(const struct trace_thread *thread, uint64_t object);

#endif
