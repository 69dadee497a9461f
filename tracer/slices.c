#include "tracer/slices.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/bisection.h"
#include "base/memory.h"

static int compare(const void *left, const void *right) {
    const struct sched_event *a = left;
    const struct sched_event *b = right;
    if (a->tid != b->tid)
        return a->tid < b->tid ? -1 : 1;
    if (a->mono_ns != b->mono_ns)
        return a->mono_ns < b->mono_ns ? -1 : 1;
    return (a->kind > b->kind) - (a->kind < b->kind);
}

void sched_sort(struct sched_event *events, size_t n) {
    if (n > 0)
        qsort(events, n, sizeof *events, compare);
}

const struct sched_event *sched_find(const struct sched_event *events, size_t n_events,
                                     uint32_t tid, size_t *n) {
    struct bisection at = bisection_of(0, n_events);
    while (bisection_next(&at))
        bisection_tell(&at, events[at.middle].tid < tid);
    for (*n = 0; at.low + *n < n_events && events[at.low + *n].tid == tid; ++*n)
        ;
    return *n > 0 ? events + at.low : NULL;
}

#define MOST_TID ((1u << 30) - 1) /* the kernel's own limit is lower */

struct waker {
    uint32_t tid;
    bool in_interrupt;
};

/* Where the thread is while its events go by. */
struct walk {
    struct slices *slices;
    bool on;
    bool alive; /* it may be on a core without our having seen it get there */
    uint64_t since_ns;
    uint64_t wake_ns;               /* of the time on a core, or of the next one; 0 unknown */
    bool woken_early;               /* a wake-up came while it was on a core, or on its way off */
    struct waker waker, next_waker; /* for the time on a core, and for the next one */
    uint64_t off_ns;                /* when it left a core last */
    uint32_t cpu;
};

static void get_on(struct walk *walk, const struct sched_event *event) {
    if (walk->on)
        walk->slices->unpaired++; /* when it left is lost, so this slice is too */
    if (walk->wake_ns == 0 && walk->woken_early)
        walk->wake_ns = walk->off_ns; /* it was runnable again before it had quite left */
    walk->woken_early = false;
    walk->waker = walk->next_waker;
    walk->next_waker = (struct waker){0};
    walk->on = true;
    walk->alive = false;
    walk->since_ns = event->mono_ns;
    walk->cpu = event->cpu;
}

static void remember_waker(struct walk *walk, const struct sched_event *event) {
    walk->next_waker.in_interrupt = event->in_interrupt;
    walk->next_waker.tid = event->in_interrupt ? 0 : event->waker;
}

static void get_off(struct walk *walk, uint64_t off_ns, uint32_t cpu, bool preempted) {
    if (!walk->on && !walk->alive) {
        walk->slices->unpaired++;
        return;
    }
    if (off_ns > walk->since_ns)
        *VECTOR_ADD(walk->slices) = (struct trace_slice){.wake_ns = walk->wake_ns,
                                                         .on_ns = walk->since_ns,
                                                         .off_ns = off_ns,
                                                         .cpu = cpu,
                                                         .preempted = preempted,
                                                         .in_interrupt = walk->waker.in_interrupt,
                                                         .waker = walk->waker.tid & MOST_TID};
    if (preempted) /* then nobody wakes it */
        walk->next_waker = (struct waker){0};
    walk->on = false;
    walk->alive = false;
    walk->off_ns = off_ns;
    walk->wake_ns = preempted ? off_ns : 0;
}

static void walk_event(struct walk *walk, const struct sched_event *event) {
    switch (event->kind) {
    case SCHED_BORN:
        walk->alive = false;
        walk->wake_ns = event->mono_ns;
        break;
    case SCHED_IN:
        get_on(walk, event);
        break;
    case SCHED_OUT:
    case SCHED_PREEMPTED:
        get_off(walk, event->mono_ns, event->cpu, event->kind == SCHED_PREEMPTED);
        break;
    case SCHED_WAKING:
        if (walk->on || walk->wake_ns == 0) /* while it is off, the first one counts */
            remember_waker(walk, event);
        if (walk->on)
            walk->woken_early = true;
        if (!walk->on && walk->wake_ns == 0) {
            walk->wake_ns = event->mono_ns;
            if (walk->alive)
                walk->since_ns = event->mono_ns;
        }
        break;
    case SCHED_EXIT:
        if (walk->on || walk->alive)
            get_off(walk, event->mono_ns, event->cpu, false);
        break;
    }
}

void slices_build(struct slices *slices, const struct sched_event *events, size_t n,
                  uint64_t start_ns, uint64_t end_ns) {
    struct walk walk = {.slices = slices, .alive = true, .since_ns = start_ns};
    for (size_t i = 0; i < n; i++)
        walk_event(&walk, &events[i]);
    if (walk.on)
        get_off(&walk, end_ns, walk.cpu, false);
}
