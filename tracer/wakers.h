/* Who woke a thread: from the kernel's numbers of threads to indices in the trace. */
#ifndef PERSIK_TRACER_WAKERS_H
#define PERSIK_TRACER_WAKERS_H

#include "formats/trace.h"

/* The `waker` of each slice is a thread's number; from now on it is what trace_slice says. */
void wakers_number(struct trace *trace);

#endif
