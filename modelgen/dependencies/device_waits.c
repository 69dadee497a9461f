#include "modelgen/dependencies/device_waits.h"

#include <stdlib.h>

#include "base/memory.h"

static int compare(const void *left, const void *right) {
    const struct trace_block *a = *(const struct trace_block *const *)left;
    const struct trace_block *b = *(const struct trace_block *const *)right;
    if (a->tid != b->tid)
        return a->tid < b->tid ? -1 : 1;
    return (a->completed_ns > b->completed_ns) - (a->completed_ns < b->completed_ns);
}

struct device_waits device_waits_of(const struct trace *trace) {
    struct device_waits waits = {.count = trace->n_blocks};
    waits.blocks = memory_alloc(trace->n_blocks, sizeof *waits.blocks);
    for (size_t b = 0; b < trace->n_blocks; b++)
        waits.blocks[b] = &trace->blocks[b];
    if (waits.count > 0)
        qsort(waits.blocks, waits.count, sizeof *waits.blocks, compare);
    return waits;
}

void device_waits_free(struct device_waits *waits) {
    free(waits->blocks);
}

bool device_waits_has(const struct device_waits *waits, int tid, uint64_t from_ns, uint64_t to_ns) {
    size_t low = 0, high = waits->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct trace_block *block = waits->blocks[middle];
        if (block->tid < tid || (block->tid == tid && block->completed_ns < from_ns))
            low = middle + 1;
        else
            high = middle;
    }
    return low < waits->count && waits->blocks[low]->tid == tid &&
           waits->blocks[low]->completed_ns <= to_ns;
}
