#include "modelgen/events/helped_requests.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/memory.h"
#include "modelgen/events/event_cursor.h"
#include "modelgen/events/thread_states.h"
#include "modelgen/evidence.h"

struct finder {
    const struct trace *trace;
    const struct request *requests;
    size_t n, loop;
    struct helped_requests *found;
};

static bool writes(const struct trace_record *record) {
    enum api_op op = trace_op(record);
    return (op == OP_WRITE || op == OP_SEND) && record->value > 0 &&
           !(record->flags & TRACE_FAILED);
}

/* To a descriptor that the loop may poll. eventfd_write() returns 0. */
static bool tells(const struct trace_record *record) {
    bool counts = record->api == API_eventfd_write && !(record->flags & TRACE_FAILED);
    return counts || writes(record);
}

static bool is_one_loop(const struct finder *finder) {
    for (size_t r = 0; r < finder->n; r++)
        if (finder->requests[r].take.thread != finder->loop ||
            finder->requests[r].end.thread != finder->loop ||
            finder->requests[r].source != finder->requests[0].source)
            return false;
    return finder->n > 0;
}

/* ---- when the loop goes on with a request ---- */

/* Who ended the sleep in the call: 1 + the thread; 0: nobody of the program, or it did not sleep.
 */
static uint32_t waker_in(const struct trace_thread *thread, const struct trace_record *record,
                         uint64_t *woken_ns) {
    *woken_ns = thread_states_woken(thread, record->start_ns, trace_end_ns(record));
    size_t slice = *woken_ns > 0 ? trace_slice_after(thread, *woken_ns) : thread->n_slices;
    return slice < thread->n_slices ? thread->slices[slice].waker : 0;
}

/* The wait for descriptors before the event, if a helper ended it and no return has it yet. */
static void find_wait(struct finder *finder, struct request_return *added, size_t poll) {
    const struct trace_thread *thread = &finder->trace->threads[finder->loop];
    size_t n = finder->found->returns.count;
    added->wait = REQUEST_NO_EVENT;
    if (poll == SIZE_MAX || (n > 0 && finder->found->returns.items[n - 1].wait.number == poll) ||
        waker_in(thread, &thread->records[poll], &added->woken_ns) == 0)
        return;
    added->wait = (struct request_event){finder->loop, poll};
}

/* Per event of the loop: 1 + the request that it takes, 0: none. */
static int *requests_by_take(const struct finder *finder) {
    int *taken = memory_alloc(finder->trace->threads[finder->loop].n_records, sizeof *taken);
    for (size_t r = 0; r < finder->n; r++)
        taken[finder->requests[r].take.number] = (int)r + 1;
    return taken;
}

/* Between two waits the loop works on one request until it takes another, or makes a call on the
 * connection of another. A listening socket is one of the descriptors that it polls, and gives one
 * connection each time. False: requests share a descriptor, as datagrams do. */
static bool find_returns(struct finder *finder) {
    const struct trace_thread *thread = &finder->trace->threads[finder->loop];
    int *taken = requests_by_take(finder);
    struct map open = MAP_EMPTY; /* descriptor -> request that is not ended yet */
    int current = -1;
    size_t poll = SIZE_MAX, of_a_round = 0, more = 0; /* requests taken in one; behind its first */
    bool is_shared = false;
    for (struct event_cursor at = event_cursor_of_thread(thread); event_cursor_next(&at);) {
        if (trace_op(at.event) == OP_POLL) {
            current = -1;
            poll = at.number;
            of_a_round = 0;
        }
        int request = taken[at.number] - 1;
        if (request >= 0) {
            more += ++of_a_round > 1;
            uint64_t connection = thread->records[finder->requests[request].end.number].object;
            is_shared |= map_get(&open, connection, -1) >= 0;
            map_put(&open, connection, request);
        } else if (writes(at.event)) {
            request = map_get(&open, at.event->object, -1);
        }
        if (request < 0)
            continue;
        if (request != current && taken[at.number] == 0) {
            struct request_return added = {.event = {finder->loop, at.number}};
            find_wait(finder, &added, poll);
            *VECTOR_ADD(&finder->found->returns) = added;
        }
        current = request;
        if (at.number == finder->requests[request].end.number)
            map_put(&open, at.event->object, -1);
    }
    map_free(&open);
    free(taken);
    finder->found->one_a_round = (double)more <= evidence.violation_share * (double)finder->n;
    return !is_shared;
}

/* ---- when it was told ---- */

/* The descriptor through which helpers woke the loop most often. False: they did through none. */
static bool find_descriptor(const struct finder *finder, uint64_t *descriptor) {
    const struct trace_thread *loop = &finder->trace->threads[finder->loop];
    struct map times = MAP_EMPTY;
    int most = 0;
    for (struct event_cursor at = event_cursor_of_thread(loop); event_cursor_next(&at);) {
        uint64_t woken_ns;
        uint32_t waker = trace_op(at.event) == OP_POLL ? waker_in(loop, at.event, &woken_ns) : 0;
        if (waker == 0)
            continue;
        const struct trace_thread *helper = &finder->trace->threads[waker - 1];
        size_t begun = trace_records_begun(helper, woken_ns);
        if (begun == 0 || !tells(&helper->records[begun - 1]) ||
            trace_end_ns(&helper->records[begun - 1]) < woken_ns)
            continue;
        uint64_t object = helper->records[begun - 1].object;
        int n = map_get(&times, object, 0) + 1;
        map_put(&times, object, n);
        if (n > most) {
            most = n;
            *descriptor = object;
        }
    }
    map_free(&times);
    return most > 0;
}

struct told {
    uint64_t time_ns;
    struct request_event event;
};

static int compare_told(const void *a, const void *b) {
    const struct told *x = a, *y = b;
    return (x->time_ns > y->time_ns) - (x->time_ns < y->time_ns);
}

static void find_calls(struct finder *finder, uint64_t descriptor) {
    const struct trace_thread *loop = &finder->trace->threads[finder->loop];
    struct {
        struct told *items;
        size_t count, capacity;
    } told = {0};
    for (struct event_cursor at = event_cursor_of_run(finder->trace); event_cursor_next(&at);)
        if (at.thread != finder->loop && finder->trace->threads[at.thread].pid == loop->pid &&
            tells(at.event) && at.event->object == descriptor)
            *VECTOR_ADD(&told) = (struct told){at.event->start_ns, {at.thread, at.number}};
    VECTOR_SORT(&told, compare_told);
    for (size_t i = 0; i < told.count; i++)
        *VECTOR_ADD(&finder->found->calls) = told.items[i].event;
    free(told.items);
}

/* Has the loop been told once for each return, and before it? */
static bool are_matched(const struct finder *finder) {
    const struct trace *trace = finder->trace;
    const struct helped_requests *found = finder->found;
    size_t n = found->returns.count;
    double most = evidence.violation_share * (double)n, late = 0;
    if (n == 0 || found->calls.count < n || (double)(found->calls.count - n) > most)
        return false;
    for (size_t i = 0; i < n; i++) {
        struct request_event call = found->calls.items[i], back = found->returns.items[i].event;
        late += trace->threads[call.thread].records[call.number].start_ns >
                trace->threads[back.thread].records[back.number].start_ns;
    }
    return late <= most;
}

struct helped_requests helped_requests_find(const struct trace *trace,
                                            const struct request *requests, size_t n) {
    struct helped_requests found = {0};
    struct finder finder = {.trace = trace, .requests = requests, .n = n, .found = &found};
    finder.loop = n > 0 ? requests[0].take.thread : 0;
    uint64_t descriptor = 0;
    if (!is_one_loop(&finder) || !find_descriptor(&finder, &descriptor))
        return found;
    find_calls(&finder, descriptor);
    if (!find_returns(&finder) || !are_matched(&finder))
        helped_requests_free(&found);
    return found;
}

void helped_requests_free(struct helped_requests *helped) {
    free(helped->returns.items);
    free(helped->calls.items);
    *helped = (struct helped_requests){0};
}
