#include "modelgen/events/connection_uses.h"

#include "base/memory.h"
#include "modelgen/events/event_cursor.h"

/* False: it is no such call. */
static bool use_of(const struct trace_record *record, struct connection_use *use) {
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
    const struct connection_use *x = a, *y = b;
    return (x->time_ns > y->time_ns) - (x->time_ns < y->time_ns);
}

struct connection_uses connection_uses_find(const struct trace *trace) {
    struct connection_uses uses = {0};
    bool any = false;
    for (struct event_cursor at = event_cursor_of_run(trace); event_cursor_next(&at);) {
        struct connection_use use;
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
