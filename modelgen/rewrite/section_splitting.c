#include "modelgen/rewrite/section_splitting.h"

#include <assert.h>
#include <stdlib.h>

#include "base/map.h"
#include "base/memory.h"

#define HELD_LIMIT 16 /* deeper nesting is not followed */
#define NO_RECORD  SIZE_MAX

/* A mutex that a thread has at the moment. */
struct hold {
    size_t lock;     /* record */
    size_t wait;     /* the last one; NO_RECORD: none */
    size_t signal;   /* the last one since that wait; NO_RECORD: none */
    size_t creation; /* of a thread, the same */
};

struct holds {
    const struct trace_thread *thread;
    struct hold items[HELD_LIMIT];
    int count;
};

static bool takes(const struct trace_record *record) {
    return trace_is_lock(record) ||
           (!(record->flags & TRACE_FAILED) && (trace_is_call(record, ON_MUTEX, OP_TRYLOCK) ||
                                                trace_is_call(record, ON_MUTEX, OP_TIMEDLOCK)));
}

static void give_back(struct holds *holds, uint64_t mutex) {
    int at = holds->count - 1;
    while (at >= 0 && holds->thread->records[holds->items[at].lock].object != mutex)
        at--;
    if (at < 0)
        return;
    holds->count--;
    for (; at < holds->count; at++)
        holds->items[at] = holds->items[at + 1];
}

static bool creates(const struct trace_record *record) {
    return trace_is_call(record, ON_THREAD, OP_CREATE) && !(record->flags & TRACE_FAILED);
}

/* Reads on. The hold that a wait, a signal or a creation belongs to; NULL for other records. */
static struct hold *read_record(struct holds *holds, size_t index) {
    const struct trace_record *record = &holds->thread->records[index];
    if (takes(record) && holds->count < HELD_LIMIT)
        holds->items[holds->count++] = (struct hold){index, NO_RECORD, NO_RECORD, NO_RECORD};
    else if (trace_is_call(record, ON_MUTEX, OP_UNLOCK))
        give_back(holds, record->object);
    bool belongs = holds->count > 0 && (trace_is_condition_wait(record) ||
                                        trace_is_condition_signal(record) || creates(record));
    return belongs ? &holds->items[holds->count - 1] : NULL;
}

/* ---- where ---- */

/* Contexts of signals between waits at two places, and of creations before a wait. */
static void find_partings(const struct trace_thread *thread, struct map *partings) {
    struct holds holds = {.thread = thread};
    for (size_t r = 0; r < thread->n_records; r++) {
        struct hold *hold = read_record(&holds, r);
        if (!hold)
            continue;
        if (trace_is_condition_signal(&thread->records[r])) {
            hold->signal = r;
            continue;
        }
        if (creates(&thread->records[r])) {
            hold->creation = r;
            continue;
        }
        if (hold->creation != NO_RECORD)
            map_put(partings, thread->records[hold->creation].context, 1);
        if (hold->wait != NO_RECORD && hold->signal != NO_RECORD &&
            thread->records[hold->wait].context != thread->records[r].context)
            map_put(partings, thread->records[hold->signal].context, 1);
        hold->wait = r;
        hold->signal = hold->creation = NO_RECORD;
    }
}

/* ---- what is shown ---- */

struct insertions {
    struct event_insertion *items;
    size_t count, capacity;
};

/* How each mutex is given back, wherever that was first. */
struct unlocks {
    const struct trace_record **items;
    size_t count, capacity;
    struct map of_mutex; /* address -> index */
};

static struct unlocks find_unlocks(const struct trace *trace) {
    struct unlocks unlocks = {.of_mutex = MAP_EMPTY};
    for (size_t t = 0; t < trace->n_threads; t++)
        for (size_t r = 0; r < trace->threads[t].n_records; r++) {
            const struct trace_record *record = &trace->threads[t].records[r];
            if (!trace_is_call(record, ON_MUTEX, OP_UNLOCK) ||
                map_get(&unlocks.of_mutex, record->object, -1) >= 0)
                continue;
            map_put(&unlocks.of_mutex, record->object, (int)unlocks.count);
            *VECTOR_ADD(&unlocks) = record;
        }
    return unlocks;
}

/* The call, as if it had been made right behind the signal or the creation. */
static struct event_insertion behind(size_t index, const struct trace_record *signal,
                                     const struct trace_record *call) {
    struct trace_record record = *call;
    record.start_ns = trace_end_ns(signal);
    record.duration_ns = 0;
    record.flags = 0;
    record.context = signal->context;
    return (struct event_insertion){index, record};
}

static void part_holds(struct event_log *log, size_t thread, const struct map *partings,
                       const struct unlocks *unlocks) {
    struct insertions added = {0};
    struct holds holds = {.thread = &log->trace.threads[thread]};
    for (size_t r = 0; r < holds.thread->n_records; r++) {
        const struct trace_record *record = &holds.thread->records[r];
        const struct hold *hold = read_record(&holds, r);
        if (!hold || trace_is_condition_wait(record) || map_get(partings, record->context, -1) < 0)
            continue;
        const struct trace_record *lock = &holds.thread->records[hold->lock];
        int unlock = map_get(&unlocks->of_mutex, lock->object, -1);
        if (unlock < 0)
            continue;           /* it never is: nobody else had it */
        assert(unlocks->items); /* the map knows only what is in the list */
        *VECTOR_ADD(&added) = behind(r, record, unlocks->items[unlock]);
        *VECTOR_ADD(&added) = behind(r, record, lock);
    }
    event_log_insert(log, thread, added.items, added.count);
    free(added.items);
}

void section_splitting_apply(struct event_log *log) {
    struct map partings = MAP_EMPTY;
    for (size_t t = 0; t < log->trace.n_threads; t++)
        find_partings(&log->trace.threads[t], &partings);
    if (partings.count > 0) {
        struct unlocks unlocks = find_unlocks(log->recorded);
        for (size_t t = 0; t < log->trace.n_threads; t++)
            part_holds(log, t, &partings, &unlocks);
        map_free(&unlocks.of_mutex);
        free(unlocks.items);
    }
    map_free(&partings);
}
