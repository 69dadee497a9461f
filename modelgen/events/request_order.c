#include "modelgen/events/request_order.h"

#include <stdlib.h>

#include "base/memory.h"

struct request_end {
    struct request_event event;
    uint64_t end_ns;
};

struct taken {
    struct request *request;
};

static int compare_takes(const void *a, const void *b) {
    struct request_event x = ((const struct taken *)a)->request->take;
    struct request_event y = ((const struct taken *)b)->request->take;
    if (x.thread != y.thread)
        return (x.thread > y.thread) - (x.thread < y.thread);
    return (x.number > y.number) - (x.number < y.number);
}

static int compare_ends(const void *a, const void *b) {
    const struct request_end *x = a, *y = b;
    return (x->event.number > y->event.number) - (x->event.number < y->event.number);
}

/* Of one thread, in the order in which it took them. */
static void order(const struct taken *taken, size_t n) {
    struct request_end *ends = memory_alloc(n, sizeof *ends);
    for (size_t i = 0; i < n; i++)
        ends[i] = (struct request_end){taken[i].request->end, taken[i].request->end_ns};
    if (n)
        qsort(ends, n, sizeof *ends, compare_ends);
    for (size_t i = 0; i < n; i++) {
        struct request *request = taken[i].request;
        request->end = ends[i].event;
        request->end_ns = ends[i].end_ns;
        if (i > 0 && ends[i - 1].event.number > request->take.number)
            request->behind = ends[i - 1].event;
    }
    free(ends);
}

void request_order_find(struct request *requests, size_t n) {
    struct taken *taken = memory_alloc(n, sizeof *taken);
    size_t n_taken = 0, next;
    for (size_t r = 0; r < n; r++) {
        requests[r].behind = REQUEST_NO_EVENT;
        if (requests[r].take.thread == requests[r].end.thread)
            taken[n_taken++].request = &requests[r];
    }
    if (n_taken)
        qsort(taken, n_taken, sizeof *taken, compare_takes);
    for (size_t first = 0; first < n_taken; first = next) {
        next = first + 1;
        while (next < n_taken &&
               taken[next].request->take.thread == taken[first].request->take.thread)
            next++;
        order(&taken[first], next - first);
    }
    free(taken);
}
