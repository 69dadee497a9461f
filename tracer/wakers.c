#include "tracer/wakers.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/memory.h"

/* The kernel gives a number again after a while: threads that had the same one are chained, the
 * last one first. */
struct owners {
    struct map last; /* number -> index of the last thread that had it */
    int *earlier;    /* per thread: the one that had its number before; -1: none */
};

static struct owners find_owners(const struct trace *trace) {
    struct owners owners = {.earlier = memory_alloc(trace->n_threads, sizeof *owners.earlier)};
    for (size_t t = 0; t < trace->n_threads; t++) {
        uint64_t number = (uint64_t)trace->threads[t].tid;
        owners.earlier[t] = map_get(&owners.last, number, -1);
        map_put(&owners.last, number, (int)t);
    }
    return owners;
}

/* Index of the thread that had the number at that time; -1: none of the program's. A thread that
 * ends wakes who waits for that a few us after the last that is recorded of it. */
static int owner_at(const struct owners *owners, const struct trace *trace, uint32_t number,
                    uint64_t time_ns) {
    int owner = map_get(&owners->last, number, -1);
    while (owner >= 0 && trace->threads[owner].start_ns > time_ns)
        owner = owners->earlier[owner];
    return owner;
}

void wakers_number(struct trace *trace) {
    struct owners owners = find_owners(trace);
    for (size_t t = 0; t < trace->n_threads; t++)
        for (size_t s = 0; s < trace->threads[t].n_slices; s++) {
            struct trace_slice *slice = &trace->threads[t].slices[s];
            if (slice->waker > 0)
                slice->waker =
                    (uint32_t)(owner_at(&owners, trace, slice->waker, slice->wake_ns) + 1);
        }
    map_free(&owners.last);
    free(owners.earlier);
}
