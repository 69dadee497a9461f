/* Requests of an event loop with helper threads: the loop takes a request, has a helper do what
 * would block (read a file), and goes on with it when that is done, of which the helper tells it by
 * writing to a descriptor that the loop polls: an eventfd, a pipe. Meanwhile it takes others.
 *
 * Which request the helper had is not recorded, nor need it be: the calls on a request's own
 * connection show when the loop goes on with it. */
#ifndef PERSIK_MODELGEN_EVENTS_HELPED_REQUESTS_H
#define PERSIK_MODELGEN_EVENTS_HELPED_REQUESTS_H

#include <stdbool.h>
#include <stddef.h>

#include "formats/trace.h"
#include "modelgen/events/request.h"

/* The loop goes on with a request that it had handed to a helper. */
struct request_return {
    struct request_event event; /* its first call on the request's connection since then */
    struct request_event wait;  /* the wait for descriptors that the helper ended; none: the loop
                                 * came to the request without having slept */
    uint64_t woken_ns;          /* in that */
};

struct helped_requests {
    struct {
        struct request_return *items; /* in their order; all of one thread */
        size_t count, capacity;
    } returns;
    struct {
        struct request_event *items; /* by which helpers told the loop, in the order of time */
        size_t count, capacity;
    } calls;
    bool one_a_round; /* the loop takes one new request each time it polls, however many are there:
                       * so it comes to all that helpers have done between two of these */
};

/* Empty: one loop has not taken and ended all of these requests, or it was not told once by its
 * helpers for each time that it went on with one. Needs `take` and `end` of the requests.
 * helped_requests_free() ends it. O(n log n) in the trace's records. */
struct helped_requests helped_requests_find(const struct trace *trace,
                                            const struct request *requests, size_t n);
void helped_requests_free(struct helped_requests *helped);

#endif
