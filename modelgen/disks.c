#include "modelgen/disks.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/memory.h"

#define DIST_LIMIT 64

struct disks disks_find(const struct trace *trace) {
    struct disks disks = {.trace = trace,
                          .requests = memory_alloc(trace->n_threads, sizeof(size_t *)),
                          .n_requests = memory_alloc(trace->n_threads, sizeof(size_t))};
    struct map thread_of = MAP_EMPTY;
    for (size_t t = 0; t < trace->n_threads; t++)
        map_put(&thread_of, (uint64_t)trace->threads[t].tid, (int)t);
    for (int pass = 0; pass < 2; pass++) {
        for (size_t t = 0; pass == 1 && t < trace->n_threads; t++) {
            disks.requests[t] = memory_alloc(disks.n_requests[t], sizeof(size_t));
            disks.n_requests[t] = 0;
        }
        for (size_t b = 0; b < trace->n_blocks; b++) {
            int thread = map_get(&thread_of, (uint64_t)trace->blocks[b].tid, -1);
            if (thread < 0)
                continue;
            if (pass == 1)
                disks.requests[thread][disks.n_requests[thread]] = b;
            disks.n_requests[thread]++;
        }
    }
    map_free(&thread_of);
    return disks;
}

void disks_free(struct disks *disks) {
    for (size_t t = 0; t < disks->trace->n_threads; t++)
        free(disks->requests[t]);
    free(disks->requests);
    free(disks->n_requests);
}

size_t disks_requests(const struct disks *disks, size_t thread, uint64_t from_ns, uint64_t to_ns,
                      uint32_t *device) {
    const size_t *requests = disks->requests[thread];
    size_t low = 0, high = disks->n_requests[thread], n = 0;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (disks->trace->blocks[requests[middle]].queued_ns < from_ns)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low + n < disks->n_requests[thread]; n++) {
        const struct trace_block *block = &disks->trace->blocks[requests[low + n]];
        if (block->queued_ns >= to_ns)
            break;
        if (n == 0)
            *device = block->device;
    }
    return n;
}

struct dist disks_service(const struct disks *disks, uint32_t device) {
    struct {
        double *items;
        size_t count, capacity;
    } times = {0};
    for (size_t b = 0; b < disks->trace->n_blocks; b++) {
        const struct trace_block *block = &disks->trace->blocks[b];
        if (block->device == device && block->issued_ns && block->completed_ns > block->issued_ns)
            *VECTOR_ADD(&times) = (double)(block->completed_ns - block->issued_ns);
    }
    struct dist service = dist_from_values(times.items, times.count, DIST_LIMIT);
    free(times.items);
    return service;
}
