/* Threads that go on until another one, which has slept for a given time, tells them to end: their
 * running time is given, and what they do in it is what changes. */
#ifndef PERSIK_MODELGEN_SCALING_GIVEN_TIME_H
#define PERSIK_MODELGEN_SCALING_GIVEN_TIME_H

#include "formats/trace.h"
#include "modelgen/threads/thread_pools.h"

/* For how long that thread slept, ns; 0: the pool's threads do not end by such a sleep. */
double given_time_of(const struct trace *trace, const struct thread_pool *pool);

/* Where nobody is seen to sleep: the seconds that the command names and every run took, ns; 0: it
 * names none of that. */
double given_time_named(const struct trace_meta *meta);

#endif
