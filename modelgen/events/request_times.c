#include "modelgen/events/request_times.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/memory.h"

static int compare_requests(const void *a, const void *b) {
    const struct request *x = a, *y = b;
    if (x->source != y->source)
        return (x->source > y->source) - (x->source < y->source);
    return (x->to_ns > y->to_ns) - (x->to_ns < y->to_ns);
}

/* Who was woken for it tells when it came; it was there when a thread took it without a wait. Of
 * several that a thread is told of at once, the first has woken it. */
static void find_times(const struct trace *trace, struct request *requests, size_t n,
                       const struct helped_requests *helped) {
    struct map woken = MAP_EMPTY; /* waits that have a request, or that a helper ended */
    for (size_t i = 0; i < helped->returns.count; i++)
        map_put(&woken, request_event_key(helped->returns.items[i].wait), 1);
    for (size_t r = 0; r < n; r++) {
        struct request *request = &requests[r];
        uint64_t woken_ns = request_event_woken(trace, request->wait);
        uint64_t key = request_event_key(request->wait);
        request->to_ns = request_event_record(trace, request->wait)->start_ns;
        if (request->wait.number != request->take.number)
            request->to_ns = trace_end_ns(request_event_record(trace, request->wait));
        if (woken_ns > 0 && !map_get(&woken, key, 0))
            request->from_ns = request->to_ns = woken_ns;
        else
            request->wait = REQUEST_NO_EVENT;
        map_put(&woken, key, 1);
    }
    map_free(&woken);
    memory_sort(requests, n, sizeof *requests, compare_requests);
}

/* A time at which a thread waited at a source: nothing was there. */
struct wait {
    int source;
    uint64_t from_ns, to_ns;
};

static int compare_waits(const void *a, const void *b) {
    const struct wait *x = a, *y = b;
    if (x->source != y->source)
        return (x->source > y->source) - (x->source < y->source);
    return (x->from_ns > y->from_ns) - (x->from_ns < y->from_ns);
}

struct waits {
    struct wait *items;
    size_t count, capacity;
};

static struct waits find_waits(const struct trace *trace, const struct request *requests, size_t n,
                               const struct helped_requests *helped) {
    struct waits waits = {0};
    for (size_t r = 0; r < n; r++) {
        const struct request *request = &requests[r];
        if (!request_event_is_none(request->wait))
            *VECTOR_ADD(&waits) =
                (struct wait){request->source, request_event_record(trace, request->wait)->start_ns,
                              request->to_ns};
    }
    for (size_t i = 0; i < helped->returns.count; i++) {
        const struct request_return *back = &helped->returns.items[i];
        if (!request_event_is_none(back->wait)) /* nothing came until a helper ended it */
            *VECTOR_ADD(&waits) =
                (struct wait){requests[0].source, request_event_record(trace, back->wait)->start_ns,
                              back->woken_ns};
    }
    VECTOR_SORT(&waits, compare_waits);
    return waits;
}

static uint64_t later(uint64_t a_ns, uint64_t b_ns, uint64_t most_ns) {
    uint64_t later_ns = a_ns > b_ns ? a_ns : b_ns;
    return later_ns < most_ns ? later_ns : most_ns;
}

/* What nobody waited for came after the last moment at which a thread did, and after its connection
 * or, where there is none or that is the request, the first call that could take it. */
static void bound_times(const struct trace *trace, struct request *requests, size_t n,
                        const struct helped_requests *helped) {
    struct waits waits = find_waits(trace, requests, n, helped);
    size_t w = 0;
    uint64_t empty_ns = 0;
    for (size_t r = 0; r < n; r++) {
        struct request *request = &requests[r];
        if (r == 0 || request->source != requests[r - 1].source)
            empty_ns = request->from_ns == 0 ? request->to_ns : 0;
        for (; w < waits.count && (waits.items[w].source < request->source ||
                                   (waits.items[w].source == request->source &&
                                    waits.items[w].from_ns < request->to_ns));
             w++)
            if (waits.items[w].source == request->source && waits.items[w].to_ns > empty_ns)
                empty_ns = waits.items[w].to_ns;
        if (request_event_is_none(request->wait))
            request->from_ns = later(request->from_ns, empty_ns, request->to_ns);
    }
    free(waits.items);
}

void request_times_find(const struct trace *trace, struct request *requests, size_t n,
                        const struct helped_requests *helped) {
    find_times(trace, requests, n, helped);
    bound_times(trace, requests, n, helped);
}
