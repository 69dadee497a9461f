/* Which of the trace's threads had a number of the kernel's at a time: that which a creator's part
 * has become (rewrite/participating_creator.h) has the creator's number while it lasts. */
#ifndef PERSIK_MODELGEN_EVENTS_THREAD_NUMBERS_H
#define PERSIK_MODELGEN_EVENTS_THREAD_NUMBERS_H

#include <stdint.h>

#include "base/map.h"
#include "formats/trace.h"

struct thread_numbers {
    const struct trace *trace;
    struct map last_of; /* number -> the last thread in the trace that has it */
    int *before;        /* per thread: the one before it that has the same number; -1: none */
};

/* `trace` must outlive it. thread_numbers_free() ends it. */
struct thread_numbers thread_numbers_find(const struct trace *trace);
void thread_numbers_free(struct thread_numbers *numbers);

/* -1: none of them. */
int thread_numbers_owner(const struct thread_numbers *numbers, int tid, uint64_t time_ns);

#endif
