#include "modelgen/events/thread_numbers.h"

#include <stdlib.h>

#include "base/memory.h"

struct thread_numbers thread_numbers_find(const struct trace *trace) {
    struct thread_numbers numbers = {trace, MAP_EMPTY, memory_alloc(trace->n_threads, sizeof(int))};
    for (size_t t = 0; t < trace->n_threads; t++) {
        uint64_t tid = (uint64_t)trace->threads[t].tid;
        numbers.before[t] = map_get(&numbers.last_of, tid, -1);
        map_put(&numbers.last_of, tid, (int)t);
    }
    return numbers;
}

int thread_numbers_owner(const struct thread_numbers *numbers, int tid, uint64_t time_ns) {
    const struct trace_thread *threads = numbers->trace->threads;
    int thread = map_get(&numbers->last_of, (uint64_t)tid, -1);
    while (thread >= 0 && numbers->before[thread] >= 0 &&
           (time_ns < threads[thread].start_ns || time_ns >= threads[thread].end_ns))
        thread = numbers->before[thread];
    return thread;
}

void thread_numbers_free(struct thread_numbers *numbers) {
    map_free(&numbers->last_of);
    free(numbers->before);
}
