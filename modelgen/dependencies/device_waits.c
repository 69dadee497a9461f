#include "modelgen/dependencies/device_waits.h"

#include <stdlib.h>

#include "base/bisection.h"
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
    waits.blocks = memory_alloc(trace->n_blocks, sizeof(struct trace_block *));
    for (size_t b = 0; b < trace->n_blocks; b++)
        waits.blocks[b] = &trace->blocks[b];
    if (waits.count > 0)
        qsort(waits.blocks, waits.count, sizeof(struct trace_block *), compare);
    return waits;
}

void device_waits_free(struct device_waits *waits) {
    free(waits->blocks);
}

bool device_waits_has(const struct device_waits *waits, int tid, uint64_t from_ns, uint64_t to_ns) {
    struct bisection at = bisection_of(0, waits->count);
    while (bisection_next(&at)) {
        const struct trace_block *block = waits->blocks[at.middle];
        bisection_tell(&at,
                       block->tid < tid || (block->tid == tid && block->completed_ns < from_ns));
    }
    return at.low < waits->count && waits->blocks[at.low]->tid == tid &&
           waits->blocks[at.low]->completed_ns <= to_ns;
}
