/* Calls on a server's connections, and waits for them. */
#ifndef PERSIK_MODELGEN_EVENTS_CONNECTION_USES_H
#define PERSIK_MODELGEN_EVENTS_CONNECTION_USES_H

#include "formats/trace.h"
#include "modelgen/events/request.h"

enum use_kind { USE_ACCEPT, USE_POLL, USE_READ, USE_WRITE, USE_CLOSE };

struct connection_use {
    enum use_kind kind;
    uint64_t time_ns; /* when it took effect */
    struct request_event event;
};

struct connection_uses {
    struct connection_use *items;
    size_t count, capacity;
};

/* Those of the run, by time; none where nothing is accepted. The caller frees the items.
 * O(n log n). */
struct connection_uses connection_uses_find(const struct trace *trace);

#endif
