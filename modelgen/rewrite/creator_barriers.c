#include "modelgen/rewrite/creator_barriers.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/memory.h"

/* A start and an end. */
#define FEWEST 2
/* Each takes a look at all records; threads that meet have one or two such objects, and come to
 * them first. */
#define MOST_OBJECTS 32

bool creator_barriers_arrives_at(const struct trace_record *record, uint64_t object) {
    bool barrier = trace_is_call(record, ON_BARRIER, OP_BARRIER);
    return record->object == object && (barrier || trace_is_lock(record));
}

static size_t times(const struct trace_thread *thread, size_t first, size_t last, uint64_t object) {
    size_t n = 0;
    for (size_t r = first; r < last; r++)
        n += creator_barriers_arrives_at(&thread->records[r], object);
    return n;
}

/* How often the thread waited for a condition under the mutex. */
static size_t waits_under(const struct trace_thread *thread, uint64_t mutex) {
    uint64_t locked = 0;
    size_t n = 0;
    for (size_t r = 0; r < thread->n_records; r++) {
        const struct trace_record *record = &thread->records[r];
        locked = trace_is_lock(record) ? record->object : locked;
        n += trace_is_condition_wait(record) && locked == mutex;
    }
    return n;
}

/* Threads that meet at a mutex wait there for each other: but for the last one, each time. Those
 * that only come to it as often, as they do as much, do not. */
static bool all_meet(const struct trace *trace, const struct trace_thread *creator,
                     const size_t *members, size_t n_members, size_t first, size_t last,
                     const struct trace_record *where) {
    size_t n = times(creator, first, last, where->object);
    if (n < FEWEST)
        return false;
    size_t waits = waits_under(creator, where->object);
    for (size_t m = 0; m < n_members; m++) {
        const struct trace_thread *member = &trace->threads[members[m]];
        if (times(member, 0, member->n_records, where->object) != n)
            return false;
        waits += waits_under(member, where->object);
    }
    return !trace_is_lock(where) || 2 * waits >= n;
}

/* The last record of what was begun there: of a lock, its unlock. */
static size_t end_of(const struct trace_thread *thread, size_t at, size_t last) {
    for (size_t r = at + 1; trace_is_lock(&thread->records[at]) && r < last; r++)
        if (trace_op(&thread->records[r]) == OP_UNLOCK &&
            thread->records[r].object == thread->records[at].object)
            return r;
    return at;
}

struct creator_barriers creator_barriers_find(const struct trace *trace, size_t creator,
                                              const size_t *members, size_t n_members, size_t from,
                                              size_t to) {
    const struct trace_thread *thread = &trace->threads[creator];
    struct map judged = MAP_EMPTY; /* object -> is it a place where all meet? */
    struct creator_barriers barriers = {0};
    size_t n_judged = 0;
    for (size_t r = from; r < to; r++) {
        const struct trace_record *record = &thread->records[r];
        if (!creator_barriers_arrives_at(record, record->object))
            continue;
        int meets = map_get(&judged, record->object, -1);
        if (meets < 0 && n_judged++ >= MOST_OBJECTS)
            continue;
        if (meets < 0) {
            meets = all_meet(trace, thread, members, n_members, from, to, record);
            map_put(&judged, record->object, meets);
            if (meets) {
                barriers.first = barriers.count ? barriers.first : r;
                *VECTOR_ADD(&barriers) = record->object;
            }
        }
        if (meets)
            barriers.last = end_of(thread, r, to) + 1;
    }
    map_free(&judged);
    return barriers;
}

void creator_barriers_free(struct creator_barriers *barriers) {
    free(barriers->items);
}

struct arrivals creator_barriers_arrivals(const struct trace_thread *thread, uint64_t object) {
    struct arrivals arrivals = {0};
    for (size_t r = 0; r < thread->n_records; r++)
        if (creator_barriers_arrives_at(&thread->records[r], object))
            *VECTOR_ADD(&arrivals) = thread->records[r].context;
    return arrivals;
}
