#include "modelgen/rewrite/repeated_waits.h"

#include <assert.h>
#include <stdlib.h>

#include "base/map.h"
#include "base/memory.h"
#include "modelgen/evidence.h"

/* A critical section with nothing in it but waits, or nothing. */
struct visit {
    size_t lock, unlock; /* numbers of records */
    uint64_t wait_ns;
    bool waits;
    bool comes_again; /* the next call locks the same mutex at the same place */
};

/* A way through a section: a place that locks, and one that unlocks. */
struct way {
    bool finds_nothing;           /* so do all that were seen */
    uint64_t wait_ns, between_ns; /* in all: until it was woken, and until it came again */
};

struct ways {
    struct {
        struct way *items;
        size_t count, capacity;
    } all;
    struct map of;      /* key of both places -> index */
    struct map succeed; /* place that locks -> there is a way that finds something: 1 */
    struct map last;    /* thread and mutex -> number of its last lock */
};

static uint64_t way_key(const struct trace_record *lock, const struct trace_record *unlock) {
    return map_mix(map_mix(map_mix(3, lock->object), lock->context), unlock->context);
}

static uint64_t lock_key(const struct trace_record *lock) {
    return map_mix(map_mix(5, lock->object), lock->context);
}

static uint64_t thread_key(size_t thread, uint64_t mutex) {
    return map_mix(map_mix(7, thread), mutex);
}

/* The visit that begins with this call. False: it is none. */
static bool visit_at(const struct trace_thread *thread, size_t lock, struct visit *visit) {
    const struct trace_record *records = thread->records;
    *visit = (struct visit){.lock = lock};
    size_t r = lock + 1;
    if (!trace_is_call(&records[lock], ON_MUTEX, OP_LOCK))
        return false;
    for (; r < thread->n_records && trace_is_call(&records[r], ON_CONDITION, OP_WAIT); r++)
        visit->wait_ns += records[r].duration_ns;
    if (r == thread->n_records || !trace_is_call(&records[r], ON_MUTEX, OP_UNLOCK) ||
        records[r].object != records[lock].object)
        return false;
    visit->waits = r > lock + 1;
    visit->unlock = r;
    if (r + 1 < thread->n_records) {
        const struct trace_record *next = &records[r + 1];
        visit->comes_again = trace_is_call(next, ON_MUTEX, OP_LOCK) &&
                             next->object == records[lock].object &&
                             next->context == records[lock].context;
    }
    return true;
}

static struct way *way_of(struct ways *ways, const struct trace_thread *thread,
                          const struct visit *visit) {
    const struct trace_record *lock = &thread->records[visit->lock];
    uint64_t key = way_key(lock, &thread->records[visit->unlock]);
    int index = map_get(&ways->of, key, -1);
    if (index < 0) {
        index = (int)ways->all.count;
        map_put(&ways->of, key, index);
        *VECTOR_ADD(&ways->all) = (struct way){.finds_nothing = true};
    }
    assert(ways->all.items);
    return &ways->all.items[index];
}

/* How long the thread was elsewhere before it came again. */
static uint64_t between(const struct trace_thread *thread, const struct visit *visit) {
    const struct trace_record *records = thread->records;
    return visit->comes_again
               ? records[visit->unlock + 1].start_ns - trace_end_ns(&records[visit->unlock])
               : 0;
}

static void note_last_locks(struct ways *ways, const struct trace *trace) {
    for (size_t t = 0; t < trace->n_threads; t++)
        for (size_t r = 0; r < trace->threads[t].n_records; r++)
            if (trace_is_call(&trace->threads[t].records[r], ON_MUTEX, OP_LOCK))
                map_put(&ways->last, thread_key(t, trace->threads[t].records[r].object), (int)r);
}

static void note_visits(struct ways *ways, const struct trace *trace) {
    for (size_t t = 0; t < trace->n_threads; t++) {
        const struct trace_thread *thread = &trace->threads[t];
        struct visit visit;
        for (size_t r = 0; r < thread->n_records; r++) {
            if (!visit_at(thread, r, &visit))
                continue;
            const struct trace_record *lock = &thread->records[r];
            bool is_last = map_get(&ways->last, thread_key(t, lock->object), -1) == (int)r;
            struct way *way = way_of(ways, thread, &visit);
            way->finds_nothing &= visit.waits && (visit.comes_again || is_last);
            way->wait_ns += visit.wait_ns;
            way->between_ns += between(thread, &visit);
            if (!way->finds_nothing)
                map_put(&ways->succeed, lock_key(lock), 1);
        }
    }
}

static bool is_repeated(struct ways *ways, const struct trace_thread *thread,
                        const struct visit *visit) {
    const struct way *way = way_of(ways, thread, visit);
    return visit->comes_again && way->finds_nothing &&
           (double)way->between_ns <= evidence.negligible * (double)way->wait_ns &&
           map_get(&ways->succeed, lock_key(&thread->records[visit->lock]), 0);
}

void repeated_waits_as_one(struct event_log *log) {
    struct ways ways = {.of = MAP_EMPTY, .succeed = MAP_EMPTY, .last = MAP_EMPTY};
    const struct trace *trace = &log->trace;
    note_last_locks(&ways, trace);
    note_visits(&ways, trace);
    bool **dropped = event_log_flags(log);
    for (size_t t = 0; t < trace->n_threads; t++) {
        struct visit visit;
        for (size_t r = 0; r < trace->threads[t].n_records; r++)
            if (visit_at(&trace->threads[t], r, &visit) &&
                is_repeated(&ways, &trace->threads[t], &visit))
                dropped[t][visit.unlock] = dropped[t][visit.unlock + 1] = true;
    }
    event_log_drop_all(log, dropped);
    map_free(&ways.of);
    map_free(&ways.succeed);
    map_free(&ways.last);
    free(ways.all.items);
}
