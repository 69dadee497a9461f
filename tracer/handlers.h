/* Signal handlers of the program that ran: what they do is brought by something that no thread's
 * calls show, such as a timer. */
#ifndef PERSIK_TRACER_HANDLERS_H
#define PERSIK_TRACER_HANDLERS_H

#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "formats/trace.h"
#include "tracer/ftrace.h"
#include "tracer/tracepoint.h"

/* Runs of one handler. */
struct handler_runs {
    uint64_t address;
    int signal;
    uint64_t runs;
};

struct handlers {
    struct {
        size_t count, capacity;
        struct handler_runs *items;
    } items;
    const struct map *threads; /* the program's, by tid */
    struct tracepoint_field signal, address;
};

/* Counts them from now on, where that is permitted: for root. `threads` and `handlers` must stay
 * where they are until ftrace_drain() has been called for the last time. */
void handlers_attach(struct handlers *handlers, struct ftrace *ftrace, const struct map *threads);

/* Gives the trace the handlers in which its calls were made, and a line on that with most of them.
 * `maps`: as in unplaced.h. */
void handlers_describe(const struct handlers *handlers, struct trace *trace, char *const *maps,
                       size_t n_maps);

void handlers_free(struct handlers *handlers);

#endif
