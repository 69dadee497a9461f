#include "modelgen/calibrate/write_back.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/bisection.h"
#include "base/map.h"
#include "base/memory.h"

/* The kernel's writes that are no part of a commit. */
static bool *find_written_back(const struct disk_service *disks, const struct commits *commits) {
    const struct trace *trace = disks->trace;
    bool *is_written_back = memory_alloc(trace->n_blocks, sizeof *is_written_back);
    for (size_t i = 0; i < disks->n_kernel; i++) {
        const struct trace_block *block = &trace->blocks[disks->kernel[i]];
        is_written_back[disks->kernel[i]] = block->kind == BLOCK_WRITE && block->completed_ns;
    }
    for (size_t i = 0; i < commits->n_requests; i++)
        is_written_back[commits->requests[i]] = false;
    return is_written_back;
}

/* The device with most bytes of these. False: there are none. */
static bool busiest_device(const struct trace *trace, const bool *counts, uint32_t *device) {
    struct map number = MAP_EMPTY;
    double *bytes = memory_alloc(trace->n_blocks, sizeof *bytes);
    int n = 0, best = -1;
    for (size_t b = 0; b < trace->n_blocks; b++) {
        if (!counts[b])
            continue;
        int at = map_get(&number, trace->blocks[b].device, -1);
        if (at < 0)
            map_put(&number, trace->blocks[b].device, at = n++);
        bytes[at] += trace->blocks[b].bytes;
        if (best < 0 || bytes[at] >= bytes[best]) {
            best = at;
            *device = trace->blocks[b].device;
        }
    }
    map_free(&number);
    free(bytes);
    return best >= 0;
}

static int compare_completions(const void *left, const void *right, void *blocks) {
    const struct trace_block *a = (const struct trace_block *)blocks + *(const size_t *)left;
    const struct trace_block *b = (const struct trace_block *)blocks + *(const size_t *)right;
    return (a->completed_ns > b->completed_ns) - (a->completed_ns < b->completed_ns);
}

struct write_back write_back_find(const struct disk_service *disks, const struct commits *commits) {
    const struct trace *trace = disks->trace;
    struct write_back found = {.requests = memory_alloc(disks->n_kernel, sizeof(size_t)),
                               .done = memory_alloc(disks->n_kernel, sizeof(double))};
    bool *counts = find_written_back(disks, commits);
    if (busiest_device(trace, counts, &found.device))
        for (size_t b = 0; b < trace->n_blocks; b++)
            if (counts[b] && trace->blocks[b].device == found.device)
                found.requests[found.n++] = b;
    free(counts);
    qsort_r(found.requests, found.n, sizeof *found.requests, compare_completions, trace->blocks);
    for (size_t i = 0; i < found.n; i++)
        found.done[i] = found.bytes += trace->blocks[found.requests[i]].bytes;
    return found;
}

void write_back_free(struct write_back *write_back) {
    free(write_back->requests);
    free(write_back->done);
}

/* Position of the first request that was done after the time. */
static size_t first_after(const struct write_back *write_back, const struct disk_service *disks,
                          uint64_t time_ns) {
    struct bisection at = bisection_of(0, write_back->n);
    while (bisection_next(&at))
        bisection_tell(&at, disks->trace->blocks[write_back->requests[at.middle]].completed_ns <=
                                time_ns);
    return at.low;
}

double write_back_done(const struct write_back *write_back, const struct disk_service *disks,
                       uint64_t time_ns) {
    size_t after = first_after(write_back, disks, time_ns);
    return after > 0 ? write_back->done[after - 1] : 0;
}

double write_back_covers(const struct write_back *write_back, const struct disk_service *disks,
                         uint64_t from_ns, uint64_t to_ns) {
    double sum_ns = 0;
    uint64_t counted_ns = from_ns; /* all until here */
    for (size_t i = first_after(write_back, disks, from_ns); i < write_back->n; i++) {
        const struct trace_block *block = &disks->trace->blocks[write_back->requests[i]];
        uint64_t begin_ns = block->issued_ns > counted_ns ? block->issued_ns : counted_ns;
        uint64_t end_ns = block->completed_ns < to_ns ? block->completed_ns : to_ns;
        if (begin_ns >= to_ns)
            break;
        if (begin_ns >= end_ns)
            continue;
        sum_ns += (double)(end_ns - begin_ns);
        counted_ns = end_ns;
    }
    return sum_ns;
}
