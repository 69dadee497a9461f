/* What the program reads of the page cache, and what comes into it for the program: by the kernel's
 * tracepoints, which know files by their inodes and pages by their places. A probe would have to
 * ask the kernel for each descriptor's file, which it must not (docs/development.md).
 *
 * In a buffer of its own, for the program's threads alone: who reads small pieces from memory makes
 * more of these events than of all others, and none of the others may be lost for them. */
#ifndef PERSIK_TRACER_PAGES_H
#define PERSIK_TRACER_PAGES_H

#include <stdint.h>

#include "formats/trace.h"
#include "tracer/ftrace.h"
#include "tracer/tracepoint.h"

enum { PAGES_POINTS = 4 };

struct pages {
    struct ftrace *ftrace; /* NULL: not attached, or no more */
    int cause;             /* errno: why not; 0 with `lost` or `ftrace` */
    uint64_t lost;         /* events */
    struct {
        size_t count, capacity;
        struct trace_pages *items; /* CLOCK_MONOTONIC, in no order */
    } seen;
    struct pages_point {
        struct pages *pages;
        enum trace_pages_kind kind;
        struct tracepoint_field device, file, first, last, order;
    } points[PAGES_POINTS];
};

/* Before the program starts; `pages` must stay where it is until it is detached. */
void pages_attach(struct pages *pages, int pid);
void pages_drain(struct pages *pages);
/* The run is over. */
void pages_detach(struct pages *pages);

/* Gives the trace the pages that its threads used, by time from `start_mono_ns` on, and of its meta
 * whether that is all. Behind the conversion of the threads. */
void pages_tell(struct pages *pages, struct trace *trace, uint64_t start_mono_ns);

void pages_free(struct pages *pages);

#endif
