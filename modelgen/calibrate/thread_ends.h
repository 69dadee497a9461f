/* What it takes to make and to end threads, where a program does so again and again. The kernel
 * clears up behind a thread after the last that is recorded of it: all that it accounts to the
 * program beyond the threads' recorded times then is that. Of threads that are made once it is not
 * told from what starts and ends a process. */
#ifndef PERSIK_MODELGEN_CALIBRATE_THREAD_ENDS_H
#define PERSIK_MODELGEN_CALIBRATE_THREAD_ENDS_H

#include "formats/trace.h"

struct thread_ends {
    double created; /* threads that others made anew again and again; 0: there are none */
    double
        end_ns; /* CPU time behind the recorded end of each, on average; 0: little, or not known */
    double share; /* of the run's CPU time, in all: to create them, and behind their ends */
};

/* Of the run as it was recorded. */
struct thread_ends thread_ends_find(const struct trace *trace);

#endif
