#include "modelgen/calibrate/cache_pollution.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "modelgen/events/thread_states.h"

/* Fewer windows tell nothing. */
#define FEW 5
/* Of the lines, less than this share is hard to tell from none. */
#define LEAST_SURVIVED 0.02

/* Adds what the thread ran in each window. */
static void add_running(const struct trace_thread *thread, size_t role, struct window *windows,
                        size_t n) {
    for (size_t w = 0; w < n; w++) {
        struct window *window = &windows[w];
        size_t s = trace_slice_after(thread, window->from_ns);
        for (; s < thread->n_slices && thread->slices[s].on_ns < window->to_ns; s++) {
            const struct trace_slice *slice = &thread->slices[s];
            double from = fmax((double)slice->on_ns, (double)window->from_ns);
            double to = fmin((double)slice->off_ns, (double)window->to_ns);
            if (slice->cpu == window->cpu)
                window->ran_ns[role] += to - from;
        }
    }
}

void cache_pollution_add(const struct trace *trace, const size_t *role_of, size_t n_roles,
                         struct windows *windows) {
    size_t first = windows->count;
    for (size_t i = 1; i < trace->n_evictions; i++) {
        const struct trace_eviction *put = &trace->evictions[i - 1], *look = &trace->evictions[i];
        if (look->kind == EVICTION_PROBE && put->kind == EVICTION_PRIME && put->cpu == look->cpu)
            *VECTOR_ADD(windows) =
                (struct window){look->cpu, put->to_ns, look->from_ns, look->survived,
                                memory_alloc(n_roles, sizeof(double))};
    }
    for (size_t t = 0; t < trace->n_threads; t++)
        add_running(&trace->threads[t], role_of[t], windows->items + first, windows->count - first);
}

/* Least squares of -ln(survived) over the times that each role ran, none below 0. The share itself
 * is what is measured equally well everywhere, so its logarithm counts by the share's square. */
bool cache_pollution_fit(const struct windows *windows, size_t n_roles, double *per_ns) {
    for (size_t r = 0; r < n_roles; r++)
        per_ns[r] = 0;
    if (windows->count < FEW)
        return false;
    for (int round = 0; round < 100; round++)
        for (size_t r = 0; r < n_roles; r++) {
            double up = 0, down = 0;
            for (size_t w = 0; w < windows->count; w++) {
                const struct window *window = &windows->items[w];
                double share = fmin(fmax(window->survived, LEAST_SURVIVED), 1);
                double rest = -log(share);
                for (size_t other = 0; other < n_roles; other++)
                    if (other != r)
                        rest -= per_ns[other] * window->ran_ns[other];
                up += share * share * window->ran_ns[r] * rest;
                down += share * share * window->ran_ns[r] * window->ran_ns[r];
            }
            per_ns[r] = down > 0 ? fmax(up / down, 0) : 0;
        }
    return true;
}

void cache_pollution_free(struct windows *windows) {
    for (size_t w = 0; w < windows->count; w++)
        free(windows->items[w].ran_ns);
    free(windows->items);
    *windows = (struct windows){0};
}
