#include "tracer/endings.h"

#include <stddef.h>

#include "base/memory.h"

#define HELD_LIMIT 16 /* deeper nesting is not followed */

struct held {
    const struct trace_record *lock;
    bool tells; /* a condition was signalled since the thread last waited in it */
};

struct held_list {
    struct held items[HELD_LIMIT];
    size_t count;
};

static void unlock(struct held_list *held, uint64_t mutex) {
    for (size_t i = held->count; i-- > 0;)
        if (held->items[i].lock->object == mutex) {
            for (held->count--; i < held->count; i++)
                held->items[i] = held->items[i + 1];
            return;
        }
}

static void follow(struct held_list *held, const struct trace_record *record) {
    struct held *inner = held->count > 0 ? &held->items[held->count - 1] : NULL;
    enum api_object kind = api_catalog[record->api].object;
    switch (trace_op(record)) {
    case OP_LOCK:
    case OP_TRYLOCK:
    case OP_TIMEDLOCK:
        if (kind == ON_MUTEX && !(record->flags & (TRACE_FAILED | TRACE_UNFINISHED)) &&
            held->count < HELD_LIMIT)
            held->items[held->count++] = (struct held){.lock = record};
        break;
    case OP_UNLOCK:
        if (kind == ON_MUTEX)
            unlock(held, record->object);
        break;
    case OP_WAIT:
    case OP_TIMEDWAIT:
        if (kind == ON_CONDITION && inner)
            inner->tells = false;
        break;
    case OP_SIGNAL:
    case OP_BROADCAST:
        if (kind == ON_CONDITION && inner)
            inner->tells = true;
        break;
    default:
        break;
    }
}

/* The unlock of the section that begins with record `r`; NULL: it has none. */
static const struct trace_record *unlock_of(const struct trace_thread *thread, size_t r) {
    uint64_t mutex = thread->records[r].object;
    for (r++; r < thread->n_records; r++)
        if (trace_op(&thread->records[r]) == OP_UNLOCK && thread->records[r].object == mutex)
            return &thread->records[r];
    return NULL;
}

/* How a section that began with the same call ended, the thread's own or another one's; NULL: there
 * was none. */
static const struct trace_record *find_like(const struct trace *trace,
                                            const struct trace_record *lock) {
    for (size_t t = 0; t < trace->n_threads; t++)
        for (size_t r = 0; r < trace->threads[t].n_records; r++) {
            const struct trace_record *record = &trace->threads[t].records[r];
            const struct trace_record *unlock = NULL;
            if (record->context == lock->context && record->api == lock->api)
                unlock = unlock_of(&trace->threads[t], r);
            if (unlock)
                return unlock;
        }
    return NULL;
}

static void end_section(const struct trace *trace, struct trace_thread *thread) {
    struct held_list held = {.count = 0};
    for (size_t r = 0; r < thread->n_records; r++)
        follow(&held, &thread->records[r]);
    struct held inner = held.count > 0 ? held.items[held.count - 1] : (struct held){0};
    if (!inner.tells)
        return;
    const struct trace_record *like = find_like(trace, inner.lock);
    struct trace_record unlock = {.start_ns = thread->end_ns,
                                  .api = like ? like->api : ROLE_unlock,
                                  .object = inner.lock->object,
                                  .flags = TRACE_UNFINISHED,
                                  .context = like ? like->context : inner.lock->context};
    thread->records =
        memory_resize(thread->records, thread->n_records + 1, sizeof *thread->records);
    thread->records[thread->n_records++] = unlock;
}

void endings_unlock(struct trace *trace) {
    for (size_t t = 0; t < trace->n_threads; t++)
        if (!trace->threads[t].end_seen)
            end_section(trace, &trace->threads[t]);
}
