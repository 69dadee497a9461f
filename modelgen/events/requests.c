#include "modelgen/events/requests.h"

#include <assert.h>
#include <stdlib.h>

#include "base/map.h"
#include "base/memory.h"
#include "modelgen/events/connection_uses.h"
#include "modelgen/events/datagrams.h"
#include "modelgen/events/event_cursor.h"
#include "modelgen/events/request_order.h"
#include "modelgen/events/request_times.h"
#include "modelgen/events/unfinished_requests.h"
#include "modelgen/evidence.h"

/* ---- connections ---- */

struct connection {
    struct request_event accept;
    struct request_event poll; /* the wait for descriptors before it; none: there was none */
    uint64_t listener;         /* key of its descriptor */
    int request;               /* the one under way, or answered last: index into the list; -1 */
    bool is_answered;          /* something was written since that was read */
};

struct finder {
    const struct trace *trace;
    struct requests *found;
    struct source_index sources;
    struct map connection_of; /* key of a descriptor -> connection, -1: closed */
    struct {
        struct connection *items;
        size_t count, capacity;
    } connections;
    struct request_event *last_poll; /* per thread */
    uint64_t *slept_ns; /* per thread: when it last woke up in a wait for descriptors; 0: never */
    struct map accepts; /* key of a listener -> how often a connection was accepted ... */
    struct map slept_accepts; /* ... and how often a thread slept in that */
    size_t n_direct, n_told;  /* first requests of connections: taken as they were accepted,
                               * or when a thread was told that there is something to read */
    size_t n_next, n_bound;   /* further ones: of a thread that is told of many connections, or that
                               * waits for one: in read(), or by being told of nothing else */
    int *last_connection;     /* per thread: that its last request came over; -1 */
};

static void note_accept(struct finder *finder, const struct connection_use *use) {
    const struct trace_record *record = request_event_record(finder->trace, use->event);
    if (record->flags & TRACE_FAILED || record->value < 0)
        return;
    uint64_t listener =
        request_sources_descriptor_key(finder->trace, use->event.thread, record->object);
    map_put(&finder->accepts, listener, map_get(&finder->accepts, listener, 0) + 1);
    if (request_event_woken(finder->trace, use->event) > 0)
        map_put(&finder->slept_accepts, listener, map_get(&finder->slept_accepts, listener, 0) + 1);
    map_put(
        &finder->connection_of,
        request_sources_descriptor_key(finder->trace, use->event.thread, (uint64_t)record->value),
        (int)finder->connections.count);
    *VECTOR_ADD(&finder->connections) =
        (struct connection){.accept = use->event,
                            .poll = finder->last_poll[use->event.thread],
                            .listener = listener,
                            .request = -1};
}

/* Was the thread told of something to read since then? */
static bool is_told(const struct finder *finder, size_t thread, uint64_t since_ns) {
    struct request_event poll = finder->last_poll[thread];
    return !request_event_is_none(poll) &&
           trace_end_ns(request_event_record(finder->trace, poll)) > since_ns;
}

/* Was what came over the connection there when its thread was told of that? It has not slept since,
 * though it has asked what there is to read. */
static bool came_with(const struct finder *finder, const struct connection *connection,
                      size_t thread) {
    return connection->accept.thread == thread && !request_event_is_none(connection->poll) &&
           finder->slept_ns[thread] <=
               request_event_record(finder->trace, connection->accept)->start_ns;
}

/* The wait that told of a connection. Where threads sleep in accept() itself there is none; one who
 * was told may sleep there for a lock of the kernel's, now and then. */
static struct request_event poll_before(const struct finder *finder,
                                        const struct connection *connection) {
    double slept = map_get(&finder->slept_accepts, connection->listener, 0);
    bool is_told =
        slept <= evidence.violation_share * map_get(&finder->accepts, connection->listener, 0);
    return is_told ? connection->poll : REQUEST_NO_EVENT;
}

static void begin_first(struct finder *finder, const struct connection *connection,
                        struct request *request) {
    size_t thread = request->take.thread;
    if (is_told(finder, thread,
                trace_end_ns(request_event_record(finder->trace, connection->accept)))) {
        request->told_before = came_with(finder, connection, thread);
        request->wait = finder->last_poll[thread];
        finder->n_told++;
    } else {
        finder->n_direct++;
    }
}

/* Which descriptors poll() and select() wait for is not recorded; who has had no other connection
 * since its last request waits for the next one of that. */
static bool waits_for_one(const struct finder *finder, const struct request *request) {
    enum api api = request_event_record(finder->trace, request->wait)->api;
    return api_catalog[api].object != ON_FILE &&
           finder->last_connection[request->take.thread] == request->source;
}

/* What a loop reads without being told anew was there when it was told last. */
static void begin_next(struct finder *finder, const struct connection *connection,
                       struct request *request) {
    size_t thread = request->take.thread;
    bool told = is_told(finder, thread,
                        trace_end_ns(request_event_record(finder->trace, connection->accept)));
    if (told)
        request->wait = finder->last_poll[thread];
    *(told && !waits_for_one(finder, request) ? &finder->n_next : &finder->n_bound) += 1;
}

/* A request begins: it is told later on where it comes from. */
static void begin_request(struct finder *finder, struct connection *connection,
                          const struct connection_use *use) {
    struct request request = {.source = (int)(connection - finder->connections.items),
                              .take = use->event,
                              .wait = REQUEST_NO_EVENT,
                              .end = REQUEST_NO_EVENT,
                              .behind = REQUEST_NO_EVENT,
                              .is_first = connection->request < 0};
    if (request.is_first)
        begin_first(finder, connection, &request);
    else
        begin_next(finder, connection, &request);
    finder->last_connection[use->event.thread] = request.source;
    connection->request = (int)finder->found->all.count;
    connection->is_answered = false;
    *VECTOR_ADD(&finder->found->all) = request;
}

static void note_use(struct finder *finder, const struct connection_use *use) {
    const struct trace_record *record = request_event_record(finder->trace, use->event);
    uint64_t key = request_sources_descriptor_key(finder->trace, use->event.thread, record->object);
    int index = map_get(&finder->connection_of, key, -1);
    if (index < 0)
        return;
    assert(finder->connections.items); /* the map knows only what is in the list */
    struct connection *connection = &finder->connections.items[index];
    if (use->kind == USE_CLOSE) {
        map_put(&finder->connection_of, key, -1);
    } else if (use->kind == USE_READ) {
        if (connection->request < 0 || connection->is_answered)
            begin_request(finder, connection, use);
        finder->found->all.items[connection->request].bytes += request_bytes_of(record);
    } else if (connection->request >= 0) {
        struct request *request = &finder->found->all.items[connection->request];
        connection->is_answered = true;
        request->end = use->event;
        request->end_ns = trace_end_ns(record);
        request->answer_bytes += request_bytes_of(record);
    }
}

static void note_poll(struct finder *finder, const struct connection_use *use) {
    uint64_t woken_ns = request_event_woken(finder->trace, use->event);
    finder->last_poll[use->event.thread] = use->event;
    if (woken_ns > 0)
        finder->slept_ns[use->event.thread] = woken_ns;
}

static void follow_connections(struct finder *finder) {
    struct connection_uses uses = connection_uses_find(finder->trace);
    for (size_t u = 0; u < uses.count; u++) {
        const struct connection_use *use = &uses.items[u];
        if (use->kind == USE_ACCEPT)
            note_accept(finder, use);
        else if (use->kind == USE_POLL)
            note_poll(finder, use);
        else
            note_use(finder, use);
    }
    free(uses.items);
}

/* ---- where requests come from ---- */

/* Clients that connect for each request: the connection is the request. */
static void take_by_accept(struct finder *finder) {
    for (size_t r = 0; r < finder->found->all.count; r++) {
        struct request *request = &finder->found->all.items[r];
        const struct connection *connection = &finder->connections.items[request->source];
        struct request_event poll = poll_before(finder, connection);
        request->take = request->wait = connection->accept;
        request->source = request_sources_of_listener(&finder->sources, connection->listener,
                                                      connection->accept.thread);
        if (!request_event_is_none(poll)) {
            request->wait = poll;
            request_sources_tell(&finder->sources, poll, request->source);
        }
    }
}

/* Of a first request that its thread read as soon as it had accepted the connection: what told of
 * one told of both. */
static void tell_of_both(const struct finder *finder, struct request *request) {
    const struct connection *connection = &finder->connections.items[request->source];
    if (request_event_is_none(request->wait) && connection->accept.thread == request->take.thread)
        request->wait = poll_before(finder, connection);
    else if (!request_event_is_none(request->wait) && !request->told_before)
        request->from_ns = trace_end_ns(request_event_record(finder->trace, connection->accept));
}

static void take_by_read(struct finder *finder) {
    struct requests *found = finder->found;
    size_t kept = 0;
    for (size_t r = 0; r < found->all.count; r++) {
        struct request request = found->all.items[r];
        assert(finder->connections.items); /* the request is of one of them */
        tell_of_both(finder, &request);
        if (request_event_is_none(request.wait))
            continue; /* it was there when its connection was accepted */
        request.source =
            request_sources_of_poll(&finder->sources, request.wait, request.take.thread);
        if (request.told_before)
            request.wait = finder->connections.items[found->all.items[r].source].poll;
        found->all.items[kept++] = request;
    }
    found->all.count = kept;
}

/* ---- datagrams ---- */

static void take_datagram(struct finder *finder, struct request request,
                          const struct datagram_socket *socket) {
    struct requests *found = finder->found;
    uint64_t descriptor =
        request_sources_descriptor_key(finder->trace, request.take.thread, socket->descriptor);
    request.source = request_sources_of_socket(&finder->sources, descriptor, request.take.thread);
    if (request.wait.number != request.take.number)
        request_sources_tell(&finder->sources, request.wait, request.source);
    *VECTOR_ADD(&found->all) = request;
}

/* Whoever asks through other sockets as often as it is asked may be asking itself. */
static const char *datagram_refusal(const struct finder *finder,
                                    const struct datagrams *datagrams) {
    if (!finder->trace->meta.has_wakes)
        return "scheduling was not recorded, which tells when a thread was woken for a datagram";
    if (datagrams->n_asked >= datagrams->requests.count)
        return "the program sends as many datagrams of its own as it gets, perhaps to itself";
    return NULL;
}

/* A server of datagrams that also has a few connections which are not understood remains one. */
static void take_datagrams(struct finder *finder) {
    struct requests *found = finder->found;
    struct datagrams datagrams = datagrams_find(finder->trace);
    size_t n = datagrams.requests.count, n_before = found->sources.count;
    const char *refused = n > 0 ? datagram_refusal(finder, &datagrams) : NULL;
    if (found->refused && n <= finder->n_direct + finder->n_told + finder->n_next + finder->n_bound)
        n = 0;
    if (refused && n > 0 && found->all.count == 0) {
        free(found->refused);
        found->refused = memory_strdup(refused);
    }
    for (size_t r = 0; !refused && r < n; r++)
        take_datagram(finder, datagrams.requests.items[r],
                      &datagrams.sockets.items[datagrams.requests.items[r].source]);
    if (found->sources.count == n_before + 1)
        found->sources.items[n_before].is_shared = true; /* more threads would share it */
    if (found->sources.count > n_before) {
        free(found->refused);
        found->refused = NULL;
    }
    datagrams_free(&datagrams);
}

/* ---- a thread for each connection, which is kept ---- */

static bool has_several_takers(const struct requests *found) {
    for (size_t r = 1; r < found->all.count; r++)
        if (found->all.items[r].take.thread != found->all.items[0].take.thread)
            return true;
    return false;
}

/* Do threads wait for the next request of one connection each? Of one thread that had one
 * connection nobody can tell. */
static bool is_bound(const struct finder *finder) {
    return finder->n_bound > finder->n_told + finder->n_direct + finder->n_next &&
           (has_several_takers(finder->found) || finder->n_told == 0);
}

/* Was a thread made for each connection? Else connections wait for a thread to be free. */
static bool made_for_connections(const struct finder *finder) {
    const struct requests *found = finder->found;
    for (size_t r = 0; r < found->all.count; r++) {
        const struct request *request = &found->all.items[r];
        const struct connection *connection = &finder->connections.items[request->source];
        if (finder->trace->threads[request->take.thread].start_ns <
            request_event_record(finder->trace, connection->accept)->start_ns)
            return false;
    }
    return true;
}

/* Clients have one request under way on each connection: what comes is for a thread that waits. */
static void take_by_bound_read(struct finder *finder) {
    for (size_t r = 0; r < finder->found->all.count; r++) {
        struct request *request = &finder->found->all.items[r];
        const struct connection *connection = &finder->connections.items[request->source];
        request->from_ns = trace_end_ns(request_event_record(finder->trace, connection->accept));
        bool told = !request_event_is_none(request->wait);
        if (!told)
            request->wait = request->take;
        request->source =
            request_sources_of_connections(&finder->sources, connection->listener, request->take);
        if (told)
            request_sources_tell(&finder->sources, request->wait, request->source);
    }
}

/* What was never answered, such as a connection that the program's end cut off. */
static void drop_unanswered(struct requests *found) {
    size_t kept = 0;
    for (size_t r = 0; r < found->all.count; r++)
        if (!request_event_is_none(found->all.items[r].end))
            found->all.items[kept++] = found->all.items[r];
    found->all.count = kept;
}

/* ---- waits without a request ---- */

/* Waits and calls that have a request. */
static struct map find_used(const struct requests *found) {
    struct map used = MAP_EMPTY;
    for (size_t r = 0; r < found->all.count; r++) {
        const struct request *request = &found->all.items[r];
        map_put(&used, request_event_key(request->take), 1);
        if (!request_event_is_none(request->wait))
            map_put(&used, request_event_key(request->wait), 1);
    }
    for (size_t i = 0; i < found->helped.returns.count; i++)
        map_put(&used, request_event_key(found->helped.returns.items[i].wait), 1);
    return used;
}

/* The thread's last wait at a source of requests. */
static void mark_last(struct finder *finder, struct request_idle *wait) {
    const struct trace_record *record = request_event_record(finder->trace, wait->event);
    struct request_source *source = &finder->found->sources.items[wait->source];
    wait->is_last = true;
    if (trace_end_ns(record) >= finder->found->to_ns && record->start_ns < source->idle_ns)
        source->idle_ns = record->start_ns;
}

static void find_idle(struct finder *finder) {
    struct requests *found = finder->found;
    struct map used = find_used(found);
    for (size_t s = 0; s < found->sources.count; s++)
        found->sources.items[s].idle_ns = UINT64_MAX;
    for (size_t t = 0; t < finder->trace->n_threads; t++) {
        size_t last = SIZE_MAX;
        for (struct event_cursor at = event_cursor_of_thread(&finder->trace->threads[t]);
             event_cursor_next(&at);) {
            struct request_event event = {t, at.number};
            if (!request_sources_is_wait(&finder->sources, event) ||
                map_get(&used, request_event_key(event), 0))
                continue;
            int source = request_sources_of_wait(&finder->sources, event);
            last = source >= 0 ? found->idle.count : last;
            *VECTOR_ADD(&found->idle) = (struct request_idle){event, source, false};
        }
        if (last != SIZE_MAX)
            mark_last(finder, &found->idle.items[last]);
    }
    map_free(&used);
}

/* ---- the whole ---- */

/* Often enough to be the other end of all that it accepted. */
static bool may_connect_to_itself(const struct finder *finder) {
    size_t n = 0;
    for (struct event_cursor at = event_cursor_of_run(finder->trace); event_cursor_next(&at);)
        n += trace_op(at.event) == OP_CONNECT;
    return n >= finder->connections.count;
}

static char *refusal(const struct finder *finder) {
    const struct requests *found = finder->found;
    if (finder->connections.count == 0)
        return NULL;
    if (!finder->trace->meta.has_wakes)
        return memory_strdup("scheduling was not recorded, which tells when a thread was woken "
                             "for a request");
    if (found->all.count == 0)
        return memory_strdup("nothing that was read from a connection was answered over it by "
                             "recorded calls");
    if (may_connect_to_itself(finder))
        return memory_strdup("the program makes as many connections as it accepts, perhaps to "
                             "itself");
    if (is_bound(finder) && !made_for_connections(finder))
        return memory_strdup(
            "threads that are there for any connection wait for the next request of "
            "one each, which is not modelled");
    return NULL;
}

static void refuse_unfinished(struct finder *finder) {
    struct requests *found = finder->found;
    if (found->all.count == 0 || found->helped.returns.count > 0)
        return;
    char *refused = unfinished_requests_refusal(finder->trace, found->all.items, found->all.count);
    if (!refused)
        return;
    found->all.count = 0;
    found->refused = refused; /* it was NULL: there were requests */
}

static void measure(struct requests *found) {
    found->from_ns = UINT64_MAX;
    for (size_t r = 0; r < found->all.count; r++) {
        const struct request *request = &found->all.items[r];
        found->sources.items[request->source].n_requests++;
        found->sources.items[request->source].n_first += request->is_first;
        found->from_ns = request->to_ns < found->from_ns ? request->to_ns : found->from_ns;
        found->to_ns = request->end_ns > found->to_ns ? request->end_ns : found->to_ns;
    }
}

struct requests requests_find(const struct trace *trace) {
    struct requests found = {0};
    struct finder finder = {
        .trace = trace, .found = &found, .sources = {.trace = trace, .found = &found.sources}};
    finder.last_poll = memory_alloc(trace->n_threads, sizeof *finder.last_poll);
    finder.slept_ns = memory_alloc(trace->n_threads, sizeof *finder.slept_ns);
    finder.last_connection = memory_alloc(trace->n_threads, sizeof *finder.last_connection);
    for (size_t t = 0; t < trace->n_threads; t++) {
        finder.last_poll[t] = REQUEST_NO_EVENT;
        finder.last_connection[t] = -1;
    }
    follow_connections(&finder);
    drop_unanswered(&found);
    found.refused = refusal(&finder);
    if (found.refused)
        found.all.count = 0;
    if (is_bound(&finder))
        take_by_bound_read(&finder);
    else if (finder.n_direct > finder.n_told + finder.n_next)
        take_by_accept(&finder);
    else
        take_by_read(&finder);
    take_datagrams(&finder);
    drop_unanswered(&found);
    found.helped = helped_requests_find(trace, found.all.items, found.all.count);
    refuse_unfinished(&finder);
    if (found.all.count) {
        request_times_find(trace, found.all.items, found.all.count, &found.helped);
        if (found.helped.returns.count == 0)
            request_order_find(found.all.items, found.all.count);
        measure(&found);
        find_idle(&finder);
    }
    map_free(&finder.connection_of);
    map_free(&finder.sources.source_of);
    map_free(&finder.accepts);
    map_free(&finder.slept_accepts);
    free(finder.connections.items);
    free(finder.last_poll);
    free(finder.slept_ns);
    free(finder.last_connection);
    return found;
}

void requests_free(struct requests *requests) {
    free(requests->all.items);
    free(requests->sources.items);
    free(requests->idle.items);
    free(requests->refused);
    helped_requests_free(&requests->helped);
    *requests = (struct requests){0};
}
