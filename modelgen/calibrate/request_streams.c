#include "modelgen/calibrate/request_streams.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/memory.h"
#include "modelgen/events/event_cursor.h"

static void number_calls(struct request_streams *streams, const struct disk_service *disks,
                         const uint32_t *places) {
    const struct trace *trace = disks->trace;
    struct map stream_of = MAP_EMPTY;
    int last = STREAM_OF_JOURNAL;
    for (struct event_cursor at = event_cursor_of_run(trace); event_cursor_next(&at);) {
        struct disk_requests queued =
            disk_service_queued(disks, at.thread, at.event->start_ns, trace_end_ns(at.event));
        if (queued.n == 0 || at.event->context == TRACE_NO_CONTEXT)
            continue;
        uint64_t key = map_mix(map_mix(29, places[at.event->context]), at.event->api);
        int stream = map_get(&stream_of, key, 0);
        if (!stream)
            map_put(&stream_of, key, stream = ++last);
        for (size_t i = 0; i < queued.n; i++)
            streams->stream[queued.items[i]] = stream;
    }
    map_free(&stream_of);
}

struct order {
    size_t block;
    uint32_t device;
    uint64_t completed_ns;
};

static int compare_orders(const void *left, const void *right) {
    const struct order *a = left, *b = right;
    if (a->device != b->device)
        return (a->device > b->device) - (a->device < b->device);
    return (a->completed_ns > b->completed_ns) - (a->completed_ns < b->completed_ns);
}

/* Devices may work on requests in an order of their own: that in which they complete them. */
static void find_near(struct request_streams *streams, const struct trace *trace) {
    struct order *orders = memory_alloc(trace->n_blocks, sizeof *orders);
    size_t n = 0;
    for (size_t b = 0; b < trace->n_blocks; b++)
        if (trace->blocks[b].kind == BLOCK_FLUSH)
            streams->stream[b] = 0;
        else
            orders[n++] = (struct order){b, trace->blocks[b].device, trace->blocks[b].completed_ns};
    if (n > 0)
        qsort(orders, n, sizeof *orders, compare_orders);
    for (size_t i = 1; i < n; i++) {
        int stream = streams->stream[orders[i].block];
        streams->is_near[orders[i].block] = stream > 0 &&
                                            orders[i].device == orders[i - 1].device &&
                                            stream == streams->stream[orders[i - 1].block];
    }
    free(orders);
}

struct request_streams request_streams_find(const struct disk_service *disks,
                                            const struct commits *commits, const uint32_t *places) {
    size_t n = disks->trace->n_blocks;
    struct request_streams streams = {.stream = memory_alloc(n, sizeof *streams.stream),
                                      .is_near = memory_alloc(n, sizeof *streams.is_near),
                                      .alike = memory_alloc(n, sizeof *streams.alike),
                                      .service_ns = memory_alloc(n, sizeof *streams.service_ns)};
    if (n == 0)
        return streams;
    number_calls(&streams, disks, places);
    for (size_t i = 0; i < commits->n_requests; i++)
        streams.stream[commits->requests[i]] = STREAM_OF_JOURNAL;
    find_near(&streams, disks->trace);
    for (size_t b = 0; b < n; b++)
        if (disks->trace->blocks[b].kind >= BLOCK_WRITE)
            streams.alike[b] = 1 + 2 * streams.stream[b] + streams.is_near[b];
    return streams;
}

void request_streams_free(struct request_streams *streams) {
    free(streams->stream);
    free(streams->is_near);
    free(streams->alike);
    free(streams->service_ns);
}
