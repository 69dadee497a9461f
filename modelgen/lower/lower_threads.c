#include "modelgen/lower/lower_threads.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "modelgen/events/event_cursor.h"

static size_t thread_by_index(const struct trace *trace, int pid, int index) {
    size_t usual = (size_t)index; /* where a trace of one process has it */
    if (index >= 0 && usual < trace->n_threads && trace->threads[usual].index == index &&
        trace->threads[usual].pid == pid)
        return usual;
    for (size_t t = 0; t < trace->n_threads; t++)
        if (trace->threads[t].index == index && trace->threads[t].pid == pid)
            return t;
    return trace->n_threads;
}

/* The creation that stands for all, at `creation` in the list, has been found to be in a loop: what
 * has been written since then stands just before it as well. It moves before the loop, which then
 * may go round as often as it likes. */
static void move_before_loop(struct writer *writer, size_t creation) {
    struct step *steps = writer->list.items;
    if (creation >= writer->list.count || steps[creation].kind != NODE_CREATE)
        return; /* another thread's */
    size_t n = writer->list.count - creation - 1;
    if (n == 0 || n > creation)
        return;
    for (size_t i = 0; i < n; i++) {
        const struct step *before = &steps[creation - n + i], *after = &steps[creation + 1 + i];
        if (before->kind != after->kind || before->context != after->context)
            return;
    }
    struct step moved = steps[creation];
    memmove(&steps[creation - n + 1], &steps[creation - n], n * sizeof *steps);
    moved.start_ns = moved.end_ns = steps[creation - n + 1].start_ns;
    steps[creation - n] = moved;
}

static bool waits_for(const struct lower_input *in, size_t thread, int object) {
    const struct trace_thread *waiter = &in->trace->threads[thread];
    for (struct event_cursor at = event_cursor_of_thread(waiter); event_cursor_next(&at);) {
        enum api_op op = trace_op(at.event);
        if ((op == OP_WAIT || op == OP_TIMEDWAIT || op == OP_ACQUIRE || op == OP_TIMEDACQUIRE) &&
            sections_object(in->sections, at.event) == object)
            return true;
    }
    return false;
}

/* Do those who are joined later need what the joining thread gives after this first join? Often
 * each thread is told to end and joined before the next one is. */
static bool gives_between_joins(const struct writer *writer, size_t first, int pool) {
    const struct lower_input *in = writer->in;
    const struct trace_thread *joiner = &in->trace->threads[writer->thread];
    int joined = 0;
    bool gives = false, *asked = memory_alloc(in->sections->n_objects, sizeof *asked);
    struct event_cursor at = event_cursor_from(joiner, first);
    while (joined < in->pools->pools[pool].size && event_cursor_next(&at)) {
        enum api_op op = trace_op(at.event);
        if (op == OP_JOIN) {
            size_t other = thread_by_index(in->trace, joiner->pid, at.event->value);
            joined += other < in->trace->n_threads && in->pools->pool_of[other] == pool;
        } else if (op == OP_SIGNAL || op == OP_BROADCAST || op == OP_RELEASE) {
            int object = sections_object(in->sections, at.event);
            bool known = object < 0 || asked[object];
            for (size_t t = 0; !known && !gives && t < in->trace->n_threads; t++)
                gives = in->pools->pool_of[t] == pool && waits_for(in, t, object);
            if (!known)
                asked[object] = true;
        }
    }
    free(asked);
    return gives && joined == in->pools->pools[pool].size;
}

void lower_threads_write(struct writer *writer, size_t index, const struct trace_record *record,
                         enum node_kind kind) {
    const struct trace *trace = writer->in->trace;
    size_t other = thread_by_index(trace, trace->threads[writer->thread].pid, record->value);
    uint64_t end = trace_end_ns(record);
    if (other == trace->n_threads || record->flags & TRACE_FAILED)
        return;
    int pool = writer->in->pools->pool_of[other];
    int size = writer->in->pools->pools[pool].size;
    int *count = kind == NODE_CREATE ? writer->created : writer->joined;
    int number = count[pool]++ % size;
    if (kind == NODE_JOIN && number == 0)
        writer->join_standing[pool] = gives_between_joins(writer, index, pool) ? size - 1 : 0;
    struct step *last = writer->list.count ? &writer->list.items[writer->list.count - 1] : NULL;
    if (number == (kind == NODE_JOIN ? writer->join_standing[pool] : 0)) {
        struct step *step = writer_add_step(writer, kind, index, record->start_ns, end);
        step->target_pool = pool;
        if (kind == NODE_CREATE)
            writer->creation[pool] = writer->list.count - 1;
    } else if (kind == NODE_CREATE && number == 1) {
        move_before_loop(writer, writer->creation[pool]);
    } else if (kind == NODE_JOIN && last && last->kind == kind && last->target_pool == pool) {
        last->end_ns = end;
    }
}
