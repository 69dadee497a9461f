#include "modelgen/events/request_sources.h"

#include <assert.h>

#include "base/memory.h"

uint64_t request_sources_descriptor_key(const struct trace *trace, size_t thread,
                                        uint64_t descriptor) {
    return map_mix(map_mix(31, (uint64_t)trace->threads[thread].pid), descriptor);
}

/* Of a wait for descriptors: those of one epoll instance are one source, else the thread's. */
static uint64_t poll_key(const struct source_index *index, struct request_event wait) {
    const struct trace_record *record = request_event_record(index->trace, wait);
    bool has_object = api_catalog[record->api].object == ON_FILE;
    return has_object ? map_mix(37, request_sources_descriptor_key(index->trace, wait.thread,
                                                                   record->object))
                      : map_mix(41, wait.thread);
}

/* Of a socket that connections are accepted from: they come from there. */
static uint64_t listener_key(uint64_t listener) {
    return map_mix(43, listener);
}

/* Of a socket without connections. */
static uint64_t socket_key(uint64_t descriptor) {
    return map_mix(53, descriptor);
}

/* Of a read from a connection for which a thread waits. */
static uint64_t bound_key(const struct source_index *index, struct request_event event) {
    uint64_t descriptor = request_event_record(index->trace, event)->object;
    return map_mix(map_mix(71, event.thread), descriptor);
}

static int source_with_key(struct source_index *index, uint64_t key, bool accepts, size_t thread) {
    int source = map_get(&index->source_of, key, -1);
    if (source < 0) {
        source = (int)index->found->count;
        map_put(&index->source_of, key, source);
        *VECTOR_ADD(index->found) = (struct request_source){.accepts = accepts, .thread = thread};
    }
    assert(index->found->items);
    index->found->items[source].is_shared |= index->found->items[source].thread != thread;
    return source;
}

int request_sources_of_listener(struct source_index *index, uint64_t listener, size_t thread) {
    return source_with_key(index, listener_key(listener), true, thread);
}

int request_sources_of_poll(struct source_index *index, struct request_event wait, size_t thread) {
    return source_with_key(index, poll_key(index, wait), false, thread);
}

int request_sources_of_socket(struct source_index *index, uint64_t descriptor, size_t thread) {
    int source = source_with_key(index, socket_key(descriptor), false, thread);
    index->found->items[source].datagrams = true;
    return source;
}

int request_sources_of_connections(struct source_index *index, uint64_t listener,
                                   struct request_event read) {
    int source = source_with_key(index, map_mix(59, listener), false, read.thread);
    index->found->items[source].is_shared = true;
    map_put(&index->source_of, bound_key(index, read), source);
    return source;
}

void request_sources_tell(struct source_index *index, struct request_event wait, int source) {
    uint64_t key = poll_key(index, wait);
    if (map_get(&index->source_of, key, -1) < 0)
        map_put(&index->source_of, key, source);
}

/* What a reading call waits for: a datagram, or what comes over a thread's own connection. -1: no
 * request. */
static int source_of_read(const struct source_index *index, struct request_event event) {
    uint64_t descriptor = request_sources_descriptor_key(
        index->trace, event.thread, request_event_record(index->trace, event)->object);
    int bound = map_get(&index->source_of, bound_key(index, event), -1);
    return bound >= 0 ? bound : map_get(&index->source_of, socket_key(descriptor), -1);
}

static bool reads(const struct trace_record *record) {
    return trace_op(record) == OP_RECEIVE || trace_op(record) == OP_READ;
}

/* Nothing more will come: the other side has ended the connection, before or while this was asked.
 */
static bool reads_the_end(const struct trace_record *record) {
    return record->value == 0 && !(record->flags & TRACE_FAILED);
}

bool request_sources_is_wait(const struct source_index *index, struct request_event event) {
    const struct trace_record *record = request_event_record(index->trace, event);
    enum api_op op = trace_op(record);
    return op == OP_ACCEPT || op == OP_POLL ||
           (reads(record) && source_of_read(index, event) >= 0 &&
            (record->flags & TRACE_UNFINISHED || reads_the_end(record) ||
             request_event_woken(index->trace, event) > 0));
}

int request_sources_of_wait(const struct source_index *index, struct request_event event) {
    const struct trace_record *record = request_event_record(index->trace, event);
    const struct trace_thread *threads = index->trace->threads;
    if (trace_op(record) == OP_ACCEPT) {
        uint64_t listener =
            request_sources_descriptor_key(index->trace, event.thread, record->object);
        return map_get(&index->source_of, listener_key(listener), -1);
    }
    if (reads(record))
        return source_of_read(index, event);
    int source = map_get(&index->source_of, poll_key(index, event), -1);
    for (size_t s = 0; source < 0 && s < index->found->count; s++)
        if (!index->found->items[s].accepts &&
            (!index->found->items[s].is_shared || index->found->items[s].datagrams) &&
            trace_threads_alike(&threads[index->found->items[s].thread], &threads[event.thread]))
            source = (int)s;
    return source;
}
