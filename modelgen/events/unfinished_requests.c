#include "modelgen/events/unfinished_requests.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/bisection.h"
#include "base/memory.h"
#include "modelgen/events/event_cursor.h"
#include "modelgen/events/thread_states.h"
#include "modelgen/evidence.h"

/* The sleep in a wait for descriptors. */
struct sleep {
    size_t number;              /* of the thread's event */
    double before_ns, slept_ns; /* of all earlier sleeps, of this one */
    size_t ended_before;        /* earlier ones that another of the program's threads ended */
    bool ended_by_thread;
};

struct sleeps {
    struct sleep *items; /* in their order; the last one stands behind all */
    size_t count, capacity;
};

/* What happened to requests from when they were taken until they were ended. */
struct tally {
    size_t n, n_slept, n_ended_by_thread;
    double open_ns, slept_ns;
};

static bool ended_by_thread(const struct trace_thread *thread, uint64_t woken_ns) {
    size_t slice = trace_slice_after(thread, woken_ns);
    return slice < thread->n_slices && thread->slices[slice].waker > 0;
}

static void add(struct sleeps *sleeps, size_t number, double slept_ns, bool by_thread) {
    const struct sleep *last = sleeps->count ? &sleeps->items[sleeps->count - 1] : NULL;
    struct sleep sleep = {.number = number, .slept_ns = slept_ns, .ended_by_thread = by_thread};
    if (last) {
        sleep.before_ns = last->before_ns + last->slept_ns;
        sleep.ended_before = last->ended_before + last->ended_by_thread;
    }
    *VECTOR_ADD(sleeps) = sleep;
}

static struct sleeps find_sleeps(const struct trace_thread *thread) {
    struct sleeps sleeps = {0};
    for (struct event_cursor at = event_cursor_of_thread(thread); event_cursor_next(&at);) {
        if (trace_op(at.event) != OP_POLL)
            continue;
        uint64_t woken_ns = thread_states_woken(thread, at.event->start_ns, trace_end_ns(at.event));
        if (woken_ns > 0)
            add(&sleeps, at.number, (double)(woken_ns - at.event->start_ns),
                ended_by_thread(thread, woken_ns));
    }
    add(&sleeps, SIZE_MAX, 0, false);
    return sleeps;
}

/* The first sleep at or behind the event with this number. */
static const struct sleep *sleep_from(const struct sleeps *sleeps, size_t number) {
    struct bisection at = bisection_of(0, sleeps->count - 1);
    while (bisection_next(&at))
        bisection_tell(&at, sleeps->items[at.middle].number < number);
    return &sleeps->items[at.low];
}

static void count(struct tally *tally, const struct trace_thread *thread,
                  const struct sleeps *sleeps, const struct request *request) {
    const struct sleep *first = sleep_from(sleeps, request->take.number + 1);
    const struct sleep *behind = sleep_from(sleeps, request->end.number);
    tally->n++;
    tally->n_slept += behind > first;
    tally->n_ended_by_thread += behind->ended_before > first->ended_before;
    tally->slept_ns += behind->before_ns - first->before_ns;
    tally->open_ns +=
        (double)request->end_ns - (double)trace_end_ns(&thread->records[request->take.number]);
}

/* Of those that the thread both takes and ends. */
static struct tally tally_all(const struct trace *trace, const struct request *requests, size_t n) {
    struct tally tally = {0};
    struct sleeps *sleeps = memory_alloc(trace->n_threads, sizeof *sleeps);
    for (size_t r = 0; r < n; r++) {
        size_t t = requests[r].take.thread;
        if (requests[r].end.thread != t)
            continue;
        if (sleeps[t].count == 0)
            sleeps[t] = find_sleeps(&trace->threads[t]);
        count(&tally, &trace->threads[t], &sleeps[t], &requests[r]);
    }
    for (size_t t = 0; t < trace->n_threads; t++)
        free(sleeps[t].items);
    free(sleeps);
    return tally;
}

/* Other threads' work is missing from the model wherever it takes a time that matters. Where nobody
 * of the program works meanwhile, only the response times lack that time, as the self-check says,
 * unless they are most of it. */
char *unfinished_requests_refusal(const struct trace *trace, const struct request *requests,
                                  size_t n) {
    struct tally tally = tally_all(trace, requests, n);
    double most = evidence.majority * (double)n;
    bool by_threads = (double)tally.n_ended_by_thread >= most;
    double share = by_threads ? evidence.matters : evidence.majority;
    if ((double)tally.n_slept < most || tally.slept_ns < share * tally.open_ns)
        return NULL;
    return memory_format(
        "%.0f %% are ended by a thread that sleeps after it has taken them, %s: for %.0f %% of "
        "their time it does; several under way in one thread are not modelled",
        100 * (double)tally.n_slept / (double)n,
        by_threads ? "until another thread has worked on them"
                   : "until the client sends their rest or takes the answer, or another server "
                     "answers",
        100 * tally.slept_ns / tally.open_ns);
}
