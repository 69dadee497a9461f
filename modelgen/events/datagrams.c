#include "modelgen/events/datagrams.h"

#include <assert.h>
#include <stdlib.h>

#include "base/map.h"
#include "base/memory.h"
#include "modelgen/events/event_cursor.h"

/* ---- calls ---- */

enum use_kind { USE_RECEIVE, USE_SEND, USE_WAIT, USE_CONNECT, USE_ACCEPT, USE_CLOSE };

struct use {
    enum use_kind kind;
    uint64_t time_ns; /* when it took effect */
    struct request_event event;
    int socket; /* index into the sockets; -1: none */
};

struct finder {
    const struct trace *trace;
    struct datagrams *found;
    struct {
        struct use *items; /* by time */
        size_t count, capacity;
    } uses;
};

/* Calls that tell where a datagram is from, or where it is to go. Others need a connection. */
static bool use_of(const struct trace_record *record, struct use *use) {
    use->time_ns = trace_end_ns(record);
    switch (record->api) {
    case API_recvfrom:
    case API_recvmsg:
    case API_recvmmsg:
        use->kind = USE_RECEIVE;
        return true;
    case API_sendto:
    case API_sendmsg:
    case API_sendmmsg:
        use->kind = USE_SEND;
        use->time_ns = record->start_ns;
        return record->value > 0 && !(record->flags & TRACE_FAILED);
    default:
        break;
    }
    switch (trace_op(record)) {
    case OP_POLL:
        use->kind = USE_WAIT;
        return true;
    case OP_CONNECT:
        use->kind = USE_CONNECT;
        return true;
    case OP_ACCEPT:
        use->kind = USE_ACCEPT;
        return !(record->flags & TRACE_FAILED) && record->value >= 0;
    case OP_CLOSE:
        use->kind = USE_CLOSE;
        use->time_ns = record->start_ns;
        return api_catalog[record->api].object == ON_FILE;
    default:
        return false;
    }
}

static int compare_uses(const void *a, const void *b) {
    const struct use *x = a, *y = b;
    return (x->time_ns > y->time_ns) - (x->time_ns < y->time_ns);
}

/* None where nothing was received. */
static void find_uses(struct finder *finder) {
    bool any = false;
    for (struct event_cursor at = event_cursor_of_run(finder->trace); event_cursor_next(&at);) {
        struct use use = {.event = {at.thread, at.number}, .socket = -1};
        if (!use_of(at.event, &use))
            continue;
        any |= use.kind == USE_RECEIVE;
        *VECTOR_ADD(&finder->uses) = use;
    }
    if (!any)
        finder->uses.count = 0;
    else
        VECTOR_SORT(&finder->uses, compare_uses);
}

/* ---- sockets ---- */

struct socket_uses {
    bool is_connected;
    size_t sent;
    size_t handed_over; /* sent by threads that never receive from it */
};

static uint64_t key_of(int pid, uint64_t descriptor) {
    return map_mix(map_mix(61, (uint64_t)pid), descriptor);
}

static uint64_t receiver_key(int socket, size_t thread) {
    return map_mix(map_mix(67, (uint64_t)socket), thread);
}

/* The socket that a descriptor stands for from the first use on until it is closed. */
static int socket_of(struct finder *finder, struct map *open, int pid, uint64_t descriptor) {
    int socket = map_get(open, key_of(pid, descriptor), -1);
    if (socket >= 0)
        return socket;
    socket = (int)finder->found->sockets.count;
    *VECTOR_ADD(&finder->found->sockets) =
        (struct datagram_socket){.pid = pid, .descriptor = descriptor};
    map_put(open, key_of(pid, descriptor), socket);
    return socket;
}

/* Tells all uses which socket they are of. */
static void find_sockets(struct finder *finder) {
    struct map open = MAP_EMPTY;
    for (size_t u = 0; u < finder->uses.count; u++) {
        struct use *use = &finder->uses.items[u];
        const struct trace_record *record = request_event_record(finder->trace, use->event);
        int pid = finder->trace->threads[use->event.thread].pid;
        if (use->kind == USE_CLOSE) {
            if (map_get(&open, key_of(pid, record->object), -1) >= 0)
                map_put(&open, key_of(pid, record->object), -1);
        } else if (use->kind == USE_ACCEPT) {
            use->socket = socket_of(finder, &open, pid, (uint64_t)record->value);
        } else if (use->kind != USE_WAIT) {
            use->socket = socket_of(finder, &open, pid, record->object);
        }
    }
    map_free(&open);
}

static struct map find_receivers(const struct finder *finder) {
    struct map receivers = MAP_EMPTY;
    for (size_t u = 0; u < finder->uses.count; u++)
        if (finder->uses.items[u].kind == USE_RECEIVE)
            map_put(&receivers,
                    receiver_key(finder->uses.items[u].socket, finder->uses.items[u].event.thread),
                    1);
    return receivers;
}

/* A socket on which the program first asks is a client's: what it receives there are answers. */
static void judge_sockets(struct finder *finder) {
    struct map receivers = find_receivers(finder);
    struct datagram_socket *sockets = finder->found->sockets.items;
    size_t n = finder->found->sockets.count;
    struct socket_uses *of = memory_alloc(n, sizeof *of);
    for (size_t u = 0; u < finder->uses.count; u++) {
        const struct use *use = &finder->uses.items[u];
        if (use->socket < 0)
            continue;
        struct socket_uses *uses = &of[use->socket];
        if (use->kind == USE_CONNECT || use->kind == USE_ACCEPT) {
            uses->is_connected = true;
        } else if (use->kind == USE_RECEIVE) {
            sockets[use->socket].serves |= uses->sent == 0;
        } else {
            uses->sent++;
            uses->handed_over +=
                !map_get(&receivers, receiver_key(use->socket, use->event.thread), 0);
        }
    }
    for (size_t s = 0; s < n; s++) {
        sockets[s].serves &= !of[s].is_connected && of[s].sent > 0;
        sockets[s].hands_over = 2 * of[s].handed_over > of[s].sent;
        finder->found->n_asked += sockets[s].serves ? 0 : of[s].sent;
    }
    free(of);
    map_free(&receivers);
}

/* ---- requests and their answers ---- */

/* Received and not answered. */
struct pending {
    size_t request, round;
};

struct pending_list {
    struct pending *items;
    size_t count, capacity;
    size_t next; /* those before have been answered, or are late */
};

struct pending_lists {
    struct pending_list *items;
    size_t count, capacity;
};

struct matcher {
    struct finder *finder;
    struct map list_of; /* socket and thread -> list of what the thread received */
    struct pending_lists lists;
    struct pending_list *late;  /* per socket: what its thread did not answer before it waited */
    size_t *rounds;             /* per thread: how often it has waited */
    struct request_event *told; /* per thread: the wait for descriptors whose news it deals with */
};

static struct pending_list *list_for(struct matcher *matcher, int socket, size_t thread) {
    bool of_all = matcher->finder->found->sockets.items[socket].hands_over;
    uint64_t key = receiver_key(socket, of_all ? SIZE_MAX : thread);
    int list = map_get(&matcher->list_of, key, -1);
    if (list < 0) {
        list = (int)matcher->lists.count;
        map_put(&matcher->list_of, key, list);
        *VECTOR_ADD(&matcher->lists) = (struct pending_list){0};
    }
    assert(matcher->lists.items);
    return &matcher->lists.items[list];
}

/* The first request of a socket that a thread receives after it was told of descriptors is what it
 * was told of, unless it waits in the receiving call itself. What it receives then was there. */
static struct request_event wait_for(struct matcher *matcher, const struct use *use) {
    struct request_event told = matcher->told[use->event.thread];
    matcher->told[use->event.thread] = REQUEST_NO_EVENT;
    if (request_event_is_none(told) || request_event_woken(matcher->finder->trace, use->event) > 0)
        return use->event;
    return told;
}

static void note_received(struct matcher *matcher, const struct use *use) {
    struct datagrams *found = matcher->finder->found;
    const struct trace_record *record = request_event_record(matcher->finder->trace, use->event);
    struct request_event wait = wait_for(matcher, use);
    if (request_event_woken(matcher->finder->trace, use->event) > 0)
        matcher->rounds[use->event.thread]++;
    if (record->flags & TRACE_FAILED || record->value <= 0)
        return;
    struct pending_list *list = list_for(matcher, use->socket, use->event.thread);
    *VECTOR_ADD(list) = (struct pending){found->requests.count, matcher->rounds[use->event.thread]};
    *VECTOR_ADD(&found->requests) = (struct request){.source = use->socket,
                                                     .take = use->event,
                                                     .wait = wait,
                                                     .end = REQUEST_NO_EVENT,
                                                     .bytes = request_bytes_of(record)};
}

static bool next_pending(struct pending_list *list, size_t *request) {
    if (list->next == list->count)
        return false;
    *request = list->items[list->next++].request;
    return true;
}

/* Which request is answered by a thread? First what it received since it last waited. */
static bool find_answered(struct matcher *matcher, const struct use *use, size_t *request) {
    struct pending_list *list = list_for(matcher, use->socket, use->event.thread);
    if (!matcher->finder->found->sockets.items[use->socket].hands_over)
        while (list->next < list->count &&
               list->items[list->next].round < matcher->rounds[use->event.thread])
            *VECTOR_ADD(&matcher->late[use->socket]) = list->items[list->next++];
    return next_pending(list, request) || next_pending(&matcher->late[use->socket], request);
}

static void note_sent(struct matcher *matcher, const struct use *use) {
    size_t request;
    if (!find_answered(matcher, use, &request))
        return;
    struct request *answered = &matcher->finder->found->requests.items[request];
    answered->end = use->event;
    answered->end_ns = trace_end_ns(request_event_record(matcher->finder->trace, use->event));
    answered->answer_bytes =
        request_bytes_of(request_event_record(matcher->finder->trace, use->event));
}

static void match(struct finder *finder) {
    size_t n_threads = finder->trace->n_threads;
    struct matcher matcher = {.finder = finder};
    matcher.late = memory_alloc(finder->found->sockets.count, sizeof *matcher.late);
    matcher.rounds = memory_alloc(n_threads, sizeof *matcher.rounds);
    matcher.told = memory_alloc(n_threads, sizeof *matcher.told);
    for (size_t t = 0; t < n_threads; t++)
        matcher.told[t] = REQUEST_NO_EVENT;
    for (size_t u = 0; u < finder->uses.count; u++) {
        const struct use *use = &finder->uses.items[u];
        if (use->kind == USE_WAIT) {
            matcher.told[use->event.thread] = use->event;
            matcher.rounds[use->event.thread]++;
        } else if (use->socket >= 0 && finder->found->sockets.items[use->socket].serves) {
            if (use->kind == USE_RECEIVE)
                note_received(&matcher, use);
            else if (use->kind == USE_SEND)
                note_sent(&matcher, use);
        }
    }
    for (size_t l = 0; l < matcher.lists.count; l++)
        free(matcher.lists.items[l].items);
    for (size_t s = 0; s < finder->found->sockets.count; s++)
        free(matcher.late[s].items);
    free(matcher.lists.items);
    free(matcher.late);
    free(matcher.rounds);
    free(matcher.told);
    map_free(&matcher.list_of);
}

/* ---- the whole ---- */

struct datagrams datagrams_find(const struct trace *trace) {
    struct datagrams found = {0};
    struct finder finder = {.trace = trace, .found = &found};
    find_uses(&finder);
    find_sockets(&finder);
    judge_sockets(&finder);
    match(&finder);
    free(finder.uses.items);
    return found;
}

void datagrams_free(struct datagrams *datagrams) {
    free(datagrams->requests.items);
    free(datagrams->sockets.items);
    *datagrams = (struct datagrams){0};
}
