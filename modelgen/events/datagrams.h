/* Requests that come as datagrams, one each: received from a socket that belongs to no connection,
 * answered from the same one.
 *
 * Who answers is either the thread that received it, before it waits again or later, or one that it
 * was handed to. Which answer belongs to which request is not recorded: a thread answers in the
 * order in which it received, and of what was handed over the first one is answered first. Another
 * order changes the response times of single requests, not their mean. */
#ifndef PERSIK_MODELGEN_EVENTS_DATAGRAMS_H
#define PERSIK_MODELGEN_EVENTS_DATAGRAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/trace.h"
#include "modelgen/events/request.h"

/* What sockets without connections are used for. */
struct datagrams {
    struct {
        struct request *items; /* source: index into `sockets`; wait: always a call; no times but
                                * end_ns; without an answer: no end */
        size_t count, capacity;
    } requests;
    struct {
        struct datagram_socket *items;
        size_t count, capacity;
    } sockets;
    size_t n_asked; /* what the program sends of itself, from sockets on which it waits for answers
                     * rather than for requests */
};

struct datagram_socket {
    int pid;
    uint64_t descriptor;
    bool serves;     /* it received before it sent, and is not connected */
    bool hands_over; /* others answer than those who receive */
};

/* O(n log n) in the trace's records. datagrams_free() ends it. */
struct datagrams datagrams_find(const struct trace *trace);
void datagrams_free(struct datagrams *datagrams);

#endif
