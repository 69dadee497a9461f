#include "modelgen/events/requests.h"

#include <assert.h>
#include <stdlib.h>

#include "base/map.h"
#include "base/memory.h"
#include "modelgen/events/datagrams.h"
#include "modelgen/events/event_cursor.h"
#include "modelgen/events/request_order.h"
#include "modelgen/events/thread_states.h"
#include "modelgen/events/unfinished_requests.h"
#include "modelgen/evidence.h"

/* ---- calls on connections, and waits for them ---- */

enum use_kind { USE_ACCEPT, USE_POLL, USE_READ, USE_WRITE, USE_CLOSE };

struct use {
    enum use_kind kind;
    uint64_t time_ns; /* when it took effect */
    struct request_event event;
};

struct uses {
    struct use *items;
    size_t count, capacity;
};

/* False: it is no such call. */
static bool use_of(const struct trace_record *record, struct use *use) {
    bool on_file =
        api_catalog[record->api].object == ON_FILE || api_catalog[record->api].object == ON_SOCKET;
    use->time_ns = trace_end_ns(record);
    switch (trace_op(record)) {
    case OP_ACCEPT:
        use->kind = USE_ACCEPT;
        return true;
    case OP_POLL:
        use->kind = USE_POLL;
        return true;
    case OP_READ:
    case OP_RECEIVE:
        use->kind = USE_READ;
        return on_file && record->value > 0 && !(record->flags & TRACE_FAILED);
    case OP_WRITE:
    case OP_SEND:
        use->kind = USE_WRITE;
        use->time_ns = record->start_ns;
        return on_file && record->value > 0 && !(record->flags & TRACE_FAILED);
    case OP_CLOSE:
        use->kind = USE_CLOSE;
        use->time_ns = record->start_ns;
        return on_file;
    default:
        return false;
    }
}

static int compare_uses(const void *a, const void *b) {
    const struct use *x = a, *y = b;
    return (x->time_ns > y->time_ns) - (x->time_ns < y->time_ns);
}

static struct uses find_uses(const struct trace *trace) {
    struct uses uses = {0};
    bool any = false;
    for (struct event_cursor at = event_cursor_of_run(trace); event_cursor_next(&at);) {
        struct use use;
        if (!use_of(at.event, &use))
            continue;
        use.event = (struct request_event){at.thread, at.number};
        any |= use.kind == USE_ACCEPT;
        *VECTOR_ADD(&uses) = use;
    }
    if (any)
        VECTOR_SORT(&uses, compare_uses);
    else
        uses.count = 0;
    return uses;
}

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
    struct map connection_of; /* key of a descriptor -> connection, -1: closed */
    struct {
        struct connection *items;
        size_t count, capacity;
    } connections;
    struct request_event *last_poll; /* per thread */
    uint64_t *slept_ns;   /* per thread: when it last woke up in a wait for descriptors; 0: never */
    struct map source_of; /* key -> source */
    struct map accepts;   /* key of a listener -> how often a connection was accepted ... */
    struct map slept_accepts; /* ... and how often a thread slept in that */
    size_t n_direct, n_told;  /* first requests of connections: taken as they were accepted,
                               * or when a thread was told that there is something to read */
    size_t n_next, n_bound;   /* further ones: of a thread that is told of many connections, or that
                               * waits for one: in read(), or by being told of nothing else */
    int *last_connection;     /* per thread: that its last request came over; -1 */
};

static const struct trace_record *record_of(const struct finder *finder,
                                            struct request_event event) {
    return &finder->trace->threads[event.thread].records[event.number];
}

static uint64_t descriptor_key(const struct finder *finder, size_t thread, uint64_t descriptor) {
    return map_mix(map_mix(31, (uint64_t)finder->trace->threads[thread].pid), descriptor);
}

static uint64_t event_key(size_t thread, size_t number) {
    return map_mix(map_mix(47, thread), number);
}

/* When the thread was woken in the call; 0: it did not sleep. */
static uint64_t woken_in(const struct finder *finder, struct request_event event) {
    const struct trace_record *record = record_of(finder, event);
    return thread_states_woken(&finder->trace->threads[event.thread], record->start_ns,
                               trace_end_ns(record));
}

static void note_accept(struct finder *finder, const struct use *use) {
    const struct trace_record *record = record_of(finder, use->event);
    if (record->flags & TRACE_FAILED || record->value < 0)
        return;
    uint64_t listener = descriptor_key(finder, use->event.thread, record->object);
    map_put(&finder->accepts, listener, map_get(&finder->accepts, listener, 0) + 1);
    if (woken_in(finder, use->event) > 0)
        map_put(&finder->slept_accepts, listener, map_get(&finder->slept_accepts, listener, 0) + 1);
    map_put(&finder->connection_of,
            descriptor_key(finder, use->event.thread, (uint64_t)record->value),
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
    return !request_event_is_none(poll) && trace_end_ns(record_of(finder, poll)) > since_ns;
}

/* Was what came over the connection there when its thread was told of that? It has not slept since,
 * though it has asked what there is to read. */
static bool came_with(const struct finder *finder, const struct connection *connection,
                      size_t thread) {
    return connection->accept.thread == thread && !request_event_is_none(connection->poll) &&
           finder->slept_ns[thread] <= record_of(finder, connection->accept)->start_ns;
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
    if (is_told(finder, thread, trace_end_ns(record_of(finder, connection->accept)))) {
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
    enum api api = record_of(finder, request->wait)->api;
    return api_catalog[api].object != ON_FILE &&
           finder->last_connection[request->take.thread] == request->source;
}

/* What a loop reads without being told anew was there when it was told last. */
static void begin_next(struct finder *finder, const struct connection *connection,
                       struct request *request) {
    size_t thread = request->take.thread;
    bool told = is_told(finder, thread, trace_end_ns(record_of(finder, connection->accept)));
    if (told)
        request->wait = finder->last_poll[thread];
    *(told && !waits_for_one(finder, request) ? &finder->n_next : &finder->n_bound) += 1;
}

/* A request begins: it is told later on where it comes from. */
static void begin_request(struct finder *finder, struct connection *connection,
                          const struct use *use) {
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

static void note_use(struct finder *finder, const struct use *use) {
    const struct trace_record *record = record_of(finder, use->event);
    uint64_t key = descriptor_key(finder, use->event.thread, record->object);
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

static void note_poll(struct finder *finder, const struct use *use) {
    uint64_t woken_ns = woken_in(finder, use->event);
    finder->last_poll[use->event.thread] = use->event;
    if (woken_ns > 0)
        finder->slept_ns[use->event.thread] = woken_ns;
}

static void follow_connections(struct finder *finder) {
    struct uses uses = find_uses(finder->trace);
    for (size_t u = 0; u < uses.count; u++) {
        const struct use *use = &uses.items[u];
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

static int source_with_key(struct finder *finder, uint64_t key, bool accepts, size_t thread) {
    struct requests *found = finder->found;
    int source = map_get(&finder->source_of, key, -1);
    if (source < 0) {
        source = (int)found->sources.count;
        map_put(&finder->source_of, key, source);
        *VECTOR_ADD(&found->sources) =
            (struct request_source){.accepts = accepts, .thread = thread};
    }
    assert(found->sources.items);
    found->sources.items[source].is_shared |= found->sources.items[source].thread != thread;
    return source;
}

/* Of a wait for descriptors: those of one epoll instance are one source, else the thread's. */
static uint64_t poll_key(const struct finder *finder, struct request_event wait) {
    const struct trace_record *record = record_of(finder, wait);
    bool has_object = api_catalog[record->api].object == ON_FILE;
    return has_object ? map_mix(37, descriptor_key(finder, wait.thread, record->object))
                      : map_mix(41, wait.thread);
}

/* A wait for descriptors whose requests are known to come from a source. */
static void tell_source(struct finder *finder, struct request_event wait, int source) {
    uint64_t key = poll_key(finder, wait);
    if (map_get(&finder->source_of, key, -1) < 0)
        map_put(&finder->source_of, key, source);
}

/* Clients that connect for each request: the connection is the request. */
static void take_by_accept(struct finder *finder) {
    for (size_t r = 0; r < finder->found->all.count; r++) {
        struct request *request = &finder->found->all.items[r];
        const struct connection *connection = &finder->connections.items[request->source];
        struct request_event poll = poll_before(finder, connection);
        request->take = request->wait = connection->accept;
        request->source = source_with_key(finder, map_mix(43, connection->listener), true,
                                          connection->accept.thread);
        if (!request_event_is_none(poll)) {
            request->wait = poll;
            tell_source(finder, poll, request->source);
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
        request->from_ns = trace_end_ns(record_of(finder, connection->accept));
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
            source_with_key(finder, poll_key(finder, request.wait), false, request.take.thread);
        if (request.told_before)
            request.wait = finder->connections.items[found->all.items[r].source].poll;
        found->all.items[kept++] = request;
    }
    found->all.count = kept;
}

/* ---- datagrams ---- */

static uint64_t socket_key(uint64_t descriptor) {
    return map_mix(53, descriptor);
}

static void take_datagram(struct finder *finder, struct request request,
                          const struct datagram_socket *socket) {
    struct requests *found = finder->found;
    uint64_t descriptor = descriptor_key(finder, request.take.thread, socket->descriptor);
    request.source = source_with_key(finder, socket_key(descriptor), false, request.take.thread);
    found->sources.items[request.source].datagrams = true;
    if (request.wait.number != request.take.number)
        tell_source(finder, request.wait, request.source);
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
            record_of(finder, connection->accept)->start_ns)
            return false;
    }
    return true;
}

static uint64_t bound_key(const struct finder *finder, struct request_event event) {
    uint64_t descriptor = record_of(finder, event)->object;
    return map_mix(map_mix(71, event.thread), descriptor);
}

/* Clients have one request under way on each connection: what comes is for a thread that waits. */
static void take_by_bound_read(struct finder *finder) {
    for (size_t r = 0; r < finder->found->all.count; r++) {
        struct request *request = &finder->found->all.items[r];
        const struct connection *connection = &finder->connections.items[request->source];
        request->from_ns = trace_end_ns(record_of(finder, connection->accept));
        bool told = !request_event_is_none(request->wait);
        if (!told)
            request->wait = request->take;
        request->source =
            source_with_key(finder, map_mix(59, connection->listener), false, request->take.thread);
        finder->found->sources.items[request->source].is_shared = true;
        map_put(&finder->source_of, bound_key(finder, request->take), request->source);
        if (told)
            tell_source(finder, request->wait, request->source);
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

static int compare_requests(const void *a, const void *b) {
    const struct request *x = a, *y = b;
    if (x->source != y->source)
        return (x->source > y->source) - (x->source < y->source);
    return (x->to_ns > y->to_ns) - (x->to_ns < y->to_ns);
}

/* ---- when they came ---- */

/* Who was woken for it tells when it came; it was there when a thread took it without a wait. Of
 * several that a thread is told of at once, the first has woken it. */
static void find_times(struct finder *finder) {
    struct requests *found = finder->found;
    struct map woken = MAP_EMPTY; /* waits that have a request, or that a helper ended */
    for (size_t i = 0; i < found->helped.returns.count; i++) {
        struct request_event wait = found->helped.returns.items[i].wait;
        map_put(&woken, event_key(wait.thread, wait.number), 1);
    }
    for (size_t r = 0; r < found->all.count; r++) {
        struct request *request = &found->all.items[r];
        uint64_t woken_ns = woken_in(finder, request->wait);
        uint64_t key = event_key(request->wait.thread, request->wait.number);
        request->to_ns = record_of(finder, request->wait)->start_ns;
        if (request->wait.number != request->take.number)
            request->to_ns = trace_end_ns(record_of(finder, request->wait));
        if (woken_ns > 0 && !map_get(&woken, key, 0))
            request->from_ns = request->to_ns = woken_ns;
        else
            request->wait = REQUEST_NO_EVENT;
        map_put(&woken, key, 1);
    }
    map_free(&woken);
    VECTOR_SORT(&found->all, compare_requests);
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

static struct waits find_waits(const struct finder *finder) {
    const struct requests *found = finder->found;
    struct waits waits = {0};
    for (size_t r = 0; r < found->all.count; r++) {
        const struct request *request = &found->all.items[r];
        if (!request_event_is_none(request->wait))
            *VECTOR_ADD(&waits) = (struct wait){
                request->source, record_of(finder, request->wait)->start_ns, request->to_ns};
    }
    for (size_t i = 0; i < found->helped.returns.count; i++) {
        const struct request_return *back = &found->helped.returns.items[i];
        if (!request_event_is_none(back->wait)) /* nothing came until a helper ended it */
            *VECTOR_ADD(&waits) =
                (struct wait){found->all.items[0].source, record_of(finder, back->wait)->start_ns,
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
static void bound_times(struct finder *finder) {
    struct requests *found = finder->found;
    struct waits waits = find_waits(finder);
    size_t w = 0;
    uint64_t empty_ns = 0;
    for (size_t r = 0; r < found->all.count; r++) {
        struct request *request = &found->all.items[r];
        if (r == 0 || request->source != found->all.items[r - 1].source)
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

/* ---- waits without a request ---- */

/* What a reading call waits for: a datagram, or what comes over a thread's own connection. -1: no
 * request. */
static int source_of_read(const struct finder *finder, struct request_event event) {
    uint64_t descriptor = descriptor_key(finder, event.thread, record_of(finder, event)->object);
    int bound = map_get(&finder->source_of, bound_key(finder, event), -1);
    return bound >= 0 ? bound : map_get(&finder->source_of, socket_key(descriptor), -1);
}

static bool reads(const struct trace_record *record) {
    return trace_op(record) == OP_RECEIVE || trace_op(record) == OP_READ;
}

/* Nothing more will come: the other side has ended the connection, before or while this was asked.
 */
static bool reads_the_end(const struct trace_record *record) {
    return record->value == 0 && !(record->flags & TRACE_FAILED);
}

/* A wait for what comes from outside: also the reading call in which the thread slept, or would
 * have slept if the other side had taken longer to end the connection. */
static bool is_wait(const struct finder *finder, struct request_event event) {
    const struct trace_record *record = record_of(finder, event);
    enum api_op op = trace_op(record);
    return op == OP_ACCEPT || op == OP_POLL ||
           (reads(record) && source_of_read(finder, event) >= 0 &&
            (record->flags & TRACE_UNFINISHED || reads_the_end(record) ||
             woken_in(finder, event) > 0));
}

/* The connections of a loop that never got a request are those of loops like it. -1: no source. */
static int source_of_wait(const struct finder *finder, struct request_event event) {
    const struct trace_record *record = record_of(finder, event);
    const struct requests *found = finder->found;
    const struct trace_thread *threads = finder->trace->threads;
    if (trace_op(record) == OP_ACCEPT) {
        uint64_t listener = descriptor_key(finder, event.thread, record->object);
        return map_get(&finder->source_of, map_mix(43, listener), -1);
    }
    if (reads(record))
        return source_of_read(finder, event);
    int source = map_get(&finder->source_of, poll_key(finder, event), -1);
    for (size_t s = 0; source < 0 && s < found->sources.count; s++)
        if (!found->sources.items[s].accepts &&
            (!found->sources.items[s].is_shared || found->sources.items[s].datagrams) &&
            trace_threads_alike(&threads[found->sources.items[s].thread], &threads[event.thread]))
            source = (int)s;
    return source;
}

/* Waits and calls that have a request. */
static struct map find_used(const struct requests *found) {
    struct map used = MAP_EMPTY;
    for (size_t r = 0; r < found->all.count; r++) {
        const struct request *request = &found->all.items[r];
        map_put(&used, event_key(request->take.thread, request->take.number), 1);
        if (!request_event_is_none(request->wait))
            map_put(&used, event_key(request->wait.thread, request->wait.number), 1);
    }
    for (size_t i = 0; i < found->helped.returns.count; i++) {
        struct request_event wait = found->helped.returns.items[i].wait;
        map_put(&used, event_key(wait.thread, wait.number), 1);
    }
    return used;
}

/* The thread's last wait at a source of requests. */
static void mark_last(struct finder *finder, struct request_idle *wait) {
    const struct trace_record *record = record_of(finder, wait->event);
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
            if (!is_wait(finder, event) || map_get(&used, event_key(t, at.number), 0))
                continue;
            int source = source_of_wait(finder, event);
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
    struct finder finder = {.trace = trace, .found = &found};
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
        find_times(&finder);
        bound_times(&finder);
        if (found.helped.returns.count == 0)
            request_order_find(found.all.items, found.all.count);
        measure(&found);
        find_idle(&finder);
    }
    map_free(&finder.connection_of);
    map_free(&finder.source_of);
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
