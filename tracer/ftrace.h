/* Tracepoints of the whole machine through ftrace, for root: an instance of our own in tracefs, so
 * that nobody's tracing is disturbed, stamped with CLOCK_MONOTONIC and read as binary pages.
 *
 * Not through perf_event_open: where the recursion guard of a CPU's idle task is stuck (seen on
 * Linux 6.18), perf drops tracepoints that fire in interrupts of that CPU while it idles, and with
 * them most completions of block requests. */
#ifndef PERSIK_TRACER_FTRACE_H
#define PERSIK_TRACER_FTRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tracer/tracepoint.h"

struct ftrace;

struct ftrace_event {
    uint64_t mono_ns;
    uint32_t cpu;
    int tid;           /* in whose context it happened: whom it came upon, in an interrupt */
    bool in_interrupt; /* hard, soft or not to be masked */
    uint32_t bytes;
    const void *data; /* the tracepoint's fields; valid during the call */
};

typedef void ftrace_handler(const struct ftrace_event *event, void *context);

/* Makes an instance, by a name of the process and `purpose` (a few letters, none for the first).
 * Always gives an object; where ftrace cannot be used, ftrace_add() tells. */
struct ftrace *ftrace_open(const char *purpose);

/* Records only what happens in threads of that process, and in those that they make. 0 or an errno.
 */
int ftrace_follow(struct ftrace *ftrace, int pid);

/* Has `handler` called, from ftrace_drain(), for every event of `tracepoint`. Returns 0 or an
 * errno: EACCES or EPERM for users without rights, ENOENT where the kernel has no ftrace. */
int ftrace_add(struct ftrace *ftrace, const struct tracepoint *tracepoint, ftrace_handler *handler,
               void *context);

/* Hands over what the kernel has recorded, in order for each CPU. */
void ftrace_drain(struct ftrace *ftrace);

/* Events that were overwritten before we read them. */
uint64_t ftrace_lost(const struct ftrace *ftrace);

/* Removes the instance. */
void ftrace_close(struct ftrace *ftrace);

/* One page as the kernel hands it out ("header_page" in tracefs); apart for tests. `event` is
 * called with all but `cpu` set. */
void ftrace_parse_page(const void *page, size_t bytes, ftrace_handler *event, void *context);

#endif
