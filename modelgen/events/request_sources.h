/* Where a server's requests come from, as its threads' waits and calls tell. */
#ifndef PERSIK_MODELGEN_EVENTS_REQUEST_SOURCES_H
#define PERSIK_MODELGEN_EVENTS_REQUEST_SOURCES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "formats/trace.h"
#include "modelgen/events/request.h"

/* A socket that connections are accepted from, or one without connections, or a set of connections
 * that threads wait for together. What comes is taken in the order in which it comes. */
struct request_source {
    bool accepts;   /* accept() takes from it */
    bool datagrams; /* it is a socket without connections */
    bool is_shared; /* by several threads; else it is `thread`'s own */
    size_t thread;
    size_t n_requests;
    size_t n_first;   /* of these, the first ones of their connections */
    uint64_t idle_ns; /* a thread waited in vain from then on until the end; UINT64_MAX: none */
};

struct request_sources {
    struct request_source *items;
    size_t count, capacity;
};

/* Finds sources by what is waited for. Who makes it ends `source_of` with map_free(). */
struct source_index {
    const struct trace *trace;
    struct request_sources *found; /* to which new ones are appended */
    struct map source_of;          /* key of what is waited for -> source */
};

/* Of the file that a thread's process knows by a descriptor. */
uint64_t request_sources_descriptor_key(const struct trace *trace, size_t thread,
                                        uint64_t descriptor);

/* These make the source at the first call; `thread` takes from it. They give its index in `found`.
 * From a listener (key of its descriptor) connections are accepted, each of them a request. */
int request_sources_of_listener(struct source_index *index, uint64_t listener, size_t thread);
/* The connections of whose requests a wait for descriptors tells. */
int request_sources_of_poll(struct source_index *index, struct request_event wait, size_t thread);
/* A socket of datagrams (key of its descriptor). */
int request_sources_of_socket(struct source_index *index, uint64_t descriptor, size_t thread);
/* All connections of a listener, one of which `read` reads from: its thread waits for that one. */
int request_sources_of_connections(struct source_index *index, uint64_t listener,
                                   struct request_event read);

/* A wait for descriptors whose requests are known to come from a source. */
void request_sources_tell(struct source_index *index, struct request_event wait, int source);

/* A wait for what comes from outside: also the reading call in which the thread slept, or would
 * have slept if the other side had taken longer to end the connection. */
bool request_sources_is_wait(const struct source_index *index, struct request_event event);

/* The source that such a wait waits at. The connections of a loop that never got a request are
 * those of loops like it. -1: no source. */
int request_sources_of_wait(const struct source_index *index, struct request_event event);

#endif
