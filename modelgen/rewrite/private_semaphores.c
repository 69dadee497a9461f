#include "modelgen/rewrite/private_semaphores.h"

#include <assert.h>
#include <stdlib.h>

#include "base/memory.h"

#define NO_THREAD SIZE_MAX

static int compare_calls(const void *a, const void *b) {
    const struct call *x = a, *y = b;
    return (x->time_ns > y->time_ns) - (x->time_ns < y->time_ns);
}

void calls_sort(struct calls *calls) {
    if (calls->count)
        qsort(calls->items, calls->count, sizeof *calls->items, compare_calls);
}

static bool is_on_semaphore(const struct trace_record *record) {
    return api_catalog[record->api].object == ON_SEMAPHORE;
}

bool private_semaphores_is_release(const struct trace_record *record) {
    return is_on_semaphore(record) && trace_op(record) == OP_RELEASE;
}

bool private_semaphores_is_take(const struct trace_record *record) {
    return is_on_semaphore(record) && trace_op(record) == OP_ACQUIRE;
}

int private_semaphores_of(const struct private_semaphores *semaphores,
                          const struct trace_record *record) {
    return is_on_semaphore(record) ? map_get(&semaphores->of, record->object, -1) : -1;
}

static void note_call(struct private_semaphores *semaphores, size_t thread,
                      const struct trace_record *record) {
    int index = private_semaphores_of(semaphores, record);
    if (index < 0) {
        map_put(&semaphores->of, record->object, (int)semaphores->count);
        *VECTOR_ADD(semaphores) =
            (struct private_semaphore){.address = record->object, .waiter = NO_THREAD};
        index = (int)semaphores->count - 1;
    }
    assert(semaphores->items); /* the map knows only what is in the list */
    struct private_semaphore *is = &semaphores->items[index];
    enum api_op op = trace_op(record);
    if (op == OP_ACQUIRE) {
        is->is_other |= is->waiter != NO_THREAD && is->waiter != thread;
        is->waiter = thread;
    } else if (op == OP_INIT) {
        is->is_other |= record->value != 0;
    } else {
        is->is_other |= op != OP_RELEASE && op != OP_DESTROY;
    }
}

static void find_calls(const struct trace *trace, struct private_semaphores *semaphores) {
    for (size_t t = 0; t < trace->n_threads; t++)
        for (size_t r = 0; r < trace->threads[t].n_records; r++) {
            const struct trace_record *record = &trace->threads[t].records[r];
            if (!is_on_semaphore(record))
                continue;
            note_call(semaphores, t, record);
            bool takes = private_semaphores_is_take(record) && !(record->flags & TRACE_UNFINISHED);
            if (takes || private_semaphores_is_release(record))
                *VECTOR_ADD(&semaphores->calls) =
                    (struct call){.time_ns = takes ? trace_end_ns(record) : record->start_ns,
                                  .thread = t,
                                  .record = r,
                                  .semaphore = private_semaphores_of(semaphores, record),
                                  .takes = takes};
        }
    calls_sort(&semaphores->calls);
}

struct private_semaphores private_semaphores_find(const struct trace *trace) {
    struct private_semaphores semaphores = {.of = MAP_EMPTY};
    find_calls(trace, &semaphores);
    for (size_t s = 0; s < semaphores.count; s++)
        semaphores.items[s].is_other |= semaphores.items[s].waiter == NO_THREAD;
    size_t *released = memory_alloc(semaphores.count, sizeof *released); /* the last call + 1 */
    for (size_t c = 0; c < semaphores.calls.count; c++) {
        struct call *call = &semaphores.calls.items[c];
        struct private_semaphore *is = &semaphores.items[call->semaphore];
        is->waiting += call->takes ? -1 : 1;
        is->is_other |= is->waiting > 1 || is->waiting < 0;
        if (!call->takes)
            released[call->semaphore] = c + 1;
        else if (released[call->semaphore] > 0)
            semaphores.calls.items[released[call->semaphore] - 1].waiting_ns =
                call_record(trace, call)->start_ns;
    }
    free(released);
    return semaphores;
}

void private_semaphores_free(struct private_semaphores *semaphores) {
    free(semaphores->items);
    free(semaphores->calls.items);
    map_free(&semaphores->of);
}
