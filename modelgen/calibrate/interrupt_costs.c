#include "modelgen/calibrate/interrupt_costs.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/memory.h"
#include "modelgen/events/scheduling_events.h"

/* The waker is in a call that began no longer before than this; or woke somebody then, as a call
 * may wake many. */
#define CALL_NS 50000

#define NOBODY SIZE_MAX

/* A thread that comes to a busy core. */
struct woken {
    size_t thread; /* NOBODY: none has since another one began to run */
    uint64_t at_ns;
    uint32_t from;  /* the waker's core */
    bool took_over; /* the running thread has left for it */
};

struct search {
    const struct trace *trace;
    size_t *next_record;  /* of each thread: the first one that begins later */
    uint64_t *last_woken; /* when each thread last woke one on another core; 0: never */
    uint32_t n_cores;
    size_t running[SCHEDULING_CORES];
    int threads[SCHEDULING_CORES]; /* that run on the core or are ready to */
    struct woken woken[SCHEDULING_CORES];
    struct excluded_time found;
};

/* How long before `now_ns` the thread did something that may wake another one. */
static uint64_t since_call(struct search *search, size_t t, uint64_t now_ns) {
    const struct trace_thread *thread = &search->trace->threads[t];
    size_t *next = &search->next_record[t];
    while (*next < thread->n_records && thread->records[*next].start_ns <= now_ns)
        (*next)++;
    uint64_t last = search->last_woken[t];
    if (*next > 0) {
        const struct trace_record *record = &thread->records[*next - 1];
        uint64_t end = trace_end_ns(record) < now_ns ? trace_end_ns(record) : now_ns;
        last = end > last ? end : last;
    }
    return now_ns - last;
}

/* The core of the waker: that of another core's thread that has just called something. `cpu`: the
 * waker is on the same core, or none of ours. */
static uint32_t waker_core(struct search *search, uint32_t cpu, uint64_t now_ns) {
    uint64_t least = CALL_NS;
    uint32_t from = cpu;
    for (uint32_t other = 0; other < search->n_cores; other++) {
        if (search->running[other] == NOBODY)
            continue;
        uint64_t since = since_call(search, search->running[other], now_ns);
        if (since < least) {
            least = since;
            from = other;
        }
    }
    if (from != cpu)
        search->last_woken[search->running[from]] = now_ns;
    return from;
}

static void charge(struct search *search, uint32_t cpu, uint64_t at_ns) {
    uint64_t cost_ns = (uint64_t)search->trace->meta.wake_cpu_ns;
    *VECTOR_ADD(&search->found) = (struct excluded_interval){at_ns, at_ns + cost_ns, 1, cpu};
}

static void see_woken(struct search *search, const struct scheduling_event *ready) {
    uint32_t from = waker_core(search, ready->cpu, ready->time_ns);
    if (from == ready->cpu)
        return;
    if (search->threads[ready->cpu] == 0)
        charge(search, from, ready->time_ns);
    else
        search->woken[ready->cpu] = (struct woken){ready->thread, ready->time_ns, from, false};
}

static void see(struct search *search, const struct scheduling_event *moment) {
    uint32_t cpu = moment->cpu;
    struct woken *woken = &search->woken[cpu];
    double limit_ns = 2 * search->trace->meta.preempt_ns;
    switch (moment->kind) {
    case SCHEDULING_READY:
        if (!moment->preempted)
            see_woken(search, moment);
        search->threads[cpu]++;
        break;
    case SCHEDULING_OFF:
        woken->took_over =
            moment->preempted && (double)(moment->time_ns - woken->at_ns) <= limit_ns;
        search->running[cpu] = NOBODY;
        search->threads[cpu]--;
        break;
    case SCHEDULING_ON:
        if (woken->took_over && woken->thread == moment->thread)
            charge(search, woken->from, woken->at_ns);
        woken->thread = NOBODY;
        search->running[cpu] = moment->thread;
        search->threads[cpu] += moment->ready_ns == 0;
        break;
    }
}

struct excluded_time interrupt_costs_find(const struct trace *trace) {
    if (!trace->meta.has_wakes || trace->meta.wake_cpu_ns <= 0)
        return (struct excluded_time){0};
    struct search *search = memory_alloc(1, sizeof *search);
    *search = (struct search){.trace = trace};
    search->next_record = memory_alloc(trace->n_threads, sizeof *search->next_record);
    search->last_woken = memory_alloc(trace->n_threads, sizeof *search->last_woken);
    for (size_t cpu = 0; cpu < SCHEDULING_CORES; cpu++)
        search->running[cpu] = search->woken[cpu].thread = NOBODY;
    struct scheduling_events moments = scheduling_events_collect(trace);
    for (size_t i = 0; i < moments.count; i++) {
        const struct scheduling_event *moment = &moments.items[i];
        if (moment->cpu >= SCHEDULING_CORES)
            continue;
        if (moment->cpu >= search->n_cores)
            search->n_cores = moment->cpu + 1;
        see(search, moment);
    }
    scheduling_events_free(&moments);
    struct excluded_time found = search->found;
    free(search->next_record);
    free(search->last_woken);
    free(search);
    excluded_time_sort(&found);
    return found;
}
