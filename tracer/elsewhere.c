#include "tracer/elsewhere.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/map.h"

static struct map recorded_threads(const struct trace *trace) {
    struct map recorded = MAP_EMPTY;
    for (size_t t = 0; t < trace->n_threads; t++)
        map_put(&recorded, (uint64_t)trace->threads[t].tid, 1);
    return recorded;
}

static uint64_t time_on_cores(const struct sched_event *events, size_t n,
                              const struct launch *launch) {
    struct slices slices = {0};
    uint64_t ns = 0;
    slices_build(&slices, events, n, launch->start_mono_ns, launch->end_mono_ns);
    for (size_t i = 0; i < slices.count; i++)
        ns += slices.items[i].off_ns - slices.items[i].on_ns;
    free(slices.items);
    return ns;
}

static size_t events_of_thread(const struct sched_event *events, size_t n) {
    size_t count = 1;
    while (count < n && events[count].tid == events->tid)
        count++;
    return count;
}

/* Counts each key once. */
static int count_once(struct map *counted, int key) {
    bool is_new = !map_get(counted, (uint64_t)key, 0);
    map_put(counted, (uint64_t)key, 1);
    return is_new;
}

static struct trace_elsewhere find_in_events(const struct trace *trace, const struct sched *sched,
                                             const struct launch *launch) {
    struct trace_elsewhere elsewhere = {0};
    struct map recorded = recorded_threads(trace), children = MAP_EMPTY, left = MAP_EMPTY;
    const struct sched_event *events = sched->events.items;
    for (size_t at = 0, n; at < sched->events.count; at += n) {
        n = events_of_thread(&events[at], sched->events.count - at);
        int pid = map_get(&sched->processes, events[at].tid, launch->pid);
        if (pid != launch->pid && events[at + n - 1].kind != SCHED_EXIT)
            elsewhere.left_running += count_once(&left, pid);
        if (map_get(&recorded, events[at].tid, 0))
            continue;
        uint64_t ns = time_on_cores(&events[at], n, launch);
        if (pid == launch->pid) {
            elsewhere.threads_cpu_ns += ns;
            continue;
        }
        elsewhere.children_cpu_ns += ns;
        elsewhere.children += count_once(&children, pid);
    }
    map_free(&recorded);
    map_free(&children);
    map_free(&left);
    return elsewhere;
}

struct trace_elsewhere elsewhere_find(const struct trace *trace, const struct sched *sched,
                                      const struct launch *launch) {
    if (sched->has_switches)
        return find_in_events(trace, sched, launch);
    bool follows = false; /* then the children are recorded, and their time is their threads' */
    for (size_t t = 0; t < trace->n_threads; t++)
        follows |= trace->threads[t].pid != launch->pid;
    return (struct trace_elsewhere){.children_cpu_ns = follows ? 0 : launch->children_cpu_ns};
}

uint64_t elsewhere_all_cpu_ns(struct sched *sched, const struct launch *launch) {
    uint64_t ns = 0;
    sched_sort(sched->events.items, sched->events.count);
    const struct sched_event *events = sched->events.items;
    for (size_t at = 0, n; at < sched->events.count; at += n) {
        n = events_of_thread(&events[at], sched->events.count - at);
        ns += time_on_cores(&events[at], n, launch);
    }
    return ns > launch->cpu_ns ? ns : launch->cpu_ns;
}
