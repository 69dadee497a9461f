/* Where the threads of an unfolded trace come from: a recorded thread does its own work and, at
 * times, a part of that of the threads that it creates. Each part is shown as a thread. */
#ifndef PERSIK_MODELGEN_EVENTS_THREAD_ORIGIN_H
#define PERSIK_MODELGEN_EVENTS_THREAD_ORIGIN_H

#include <stddef.h>

struct thread_origin {
    int recorded; /* index, in the recorded trace, of the thread that ran it */
    int part_of; /* index, in the same trace, of its creator, if that ran it; -1: another one did */
};

/* One for each thread; `origins` may be NULL: all are as they were recorded. */
static inline struct thread_origin thread_origin_of(const struct thread_origin *origins,
                                                    size_t thread) {
    return origins ? origins[thread] : (struct thread_origin){(int)thread, -1};
}

#endif
