#include "modelgen/events/peak_threads.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/memory.h"

static int compare_times(const void *left, const void *right) {
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

int peak_threads(const struct trace *trace, const size_t *threads, size_t n) {
    if (n == 0)
        return 0;
    uint64_t *starts = memory_alloc(n, sizeof *starts), *ends = memory_alloc(n, sizeof *ends);
    for (size_t i = 0; i < n; i++) {
        starts[i] = trace->threads[threads[i]].start_ns;
        ends[i] = trace->threads[threads[i]].end_ns;
    }
    qsort(starts, n, sizeof *starts, compare_times);
    qsort(ends, n, sizeof *ends, compare_times);
    int most = 0;
    size_t ended = 0;
    for (size_t i = 0; i < n; i++) {
        while (ended < n && ends[ended] <= starts[i])
            ended++;
        int alive = (int)(i + 1) - (int)ended;
        most = alive > most ? alive : most;
    }
    free(starts);
    free(ends);
    return most;
}
