#include "modelgen/rewrite/sysv_semaphores.h"

#include <assert.h>
#include <stdlib.h>

#include "base/map.h"
#include "base/memory.h"
#include "formats/sysv_value.h"
#include "modelgen/events/event_cursor.h"

/* A call on a set, in the order of which nothing depends. */
struct call {
    size_t thread, record;
    uint64_t set;
    enum api role;
};

struct calls {
    struct call *items;
    size_t count, capacity;
    struct map other; /* sets with other operations: these are not understood */
};

static bool is_operation(const struct trace_record *record) {
    return record->api == API_semop || record->api == API_semtimedop;
}

/* What the semaphore of the log does in the call's place; API_semop: none of it. */
static enum api role_of(const struct trace_record *record) {
    if (record->api == API_semctl)
        return ROLE_create_semaphore;
    if (record->value == SYSV_SEVERAL)
        return API_semop;
    switch (sysv_added(record->value)) {
    case -1:
        return ROLE_acquire;
    case 1:
        return ROLE_release;
    default:
        return API_semop;
    }
}

/* A call that has failed changed nothing: it stays the time that it took. */
static struct calls find_calls(const struct trace *trace) {
    struct calls calls = {0};
    for (struct event_cursor at = event_cursor_of_run(trace); event_cursor_next(&at);) {
        const struct trace_record *record = at.event;
        if ((record->api != API_semctl && !is_operation(record)) || (record->flags & TRACE_FAILED))
            continue;
        enum api role = role_of(record);
        if (role == API_semop)
            map_put(&calls.other, record->object, 1);
        *VECTOR_ADD(&calls) = (struct call){at.thread, at.number, record->object, role};
    }
    return calls;
}

/* The semaphores that the log has for those of the sets. */
struct semaphores {
    struct map number_of; /* of the set and the number in it: index into items */
    uint64_t *items;
    size_t count, capacity;
};

static uint64_t semaphore_of(struct event_log *log, struct semaphores *semaphores,
                             const struct trace_record *record) {
    uint64_t key = map_mix(map_mix(0, record->object), (uint64_t)sysv_number(record->value));
    int index = map_get(&semaphores->number_of, key, -1);
    if (index < 0) {
        index = (int)semaphores->count;
        map_put(&semaphores->number_of, key, index);
        *VECTOR_ADD(semaphores) = event_log_new_object(log, ORIGIN_SYSV_SEMAPHORE);
    }
    assert(semaphores->items); /* the map knows only what is in the list */
    return semaphores->items[index];
}

static void show_as(struct event_log *log, const struct call *call, struct semaphores *semaphores) {
    struct trace_record *record = event_log_change(log, call->thread, call->record);
    record->object = semaphore_of(log, semaphores, record);
    record->api = call->role;
    record->value = call->role == ROLE_create_semaphore ? sysv_added(record->value) : 0;
}

size_t sysv_semaphores_as_semaphores(struct event_log *log) {
    struct calls calls = find_calls(&log->trace);
    struct semaphores semaphores = {.number_of = MAP_EMPTY};
    size_t left = 0;
    for (size_t c = 0; c < calls.count; c++) {
        const struct call *call = &calls.items[c];
        if (map_get(&calls.other, call->set, 0))
            left += call->role != ROLE_create_semaphore;
        else
            show_as(log, call, &semaphores);
    }
    map_free(&semaphores.number_of);
    free(semaphores.items);
    map_free(&calls.other);
    free(calls.items);
    return left;
}
