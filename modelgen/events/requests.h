/* The requests that a server answered: what came over a connection that it accepted, and was
 * answered over it.
 *
 * A request begins when a thread takes it, and ends with the last byte of its answer. Where clients
 * connect for each request, it is taken by accept(). Where a thread is told of readable connections
 * (epoll_wait, poll, select), it is taken by the first read() behind that. Connections are told by
 * their descriptors, from the accept() to the close(), whichever threads work on them. Where
 * requests come as datagrams, one is taken by receiving it (datagrams.h).
 *
 * When a request came is not recorded: see arrivals.h. */
#ifndef PERSIK_MODELGEN_EVENTS_REQUESTS_H
#define PERSIK_MODELGEN_EVENTS_REQUESTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/trace.h"
#include "modelgen/events/helped_requests.h"
#include "modelgen/events/request.h"
#include "modelgen/events/request_sources.h"

/* A wait for what comes from outside that no request ended. */
struct request_idle {
    struct request_event event;
    int source;   /* that it waited at; -1: what comes there is no request */
    bool is_last; /* the thread takes no request from there any more */
};

struct requests {
    struct {
        struct request *items; /* by source, then in the order in which they were taken */
        size_t count, capacity;
    } all;
    struct request_sources sources;
    struct {
        struct request_idle *items; /* by thread, then in their order */
        size_t count, capacity;
    } idle;
    struct helped_requests helped; /* empty: no helpers work on requests of a loop */
    uint64_t from_ns, to_ns;       /* the first comes, the last has been answered */
    char *refused;                 /* why there are none though connections were accepted; NULL */
};

/* The run's requests, from its calls as recorded. requests_free() ends them. O(n log n). */
struct requests requests_find(const struct trace *trace);
void requests_free(struct requests *requests);

#endif
