#include "modelgen/rewrite/counted_semaphores.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/memory.h"
#include "modelgen/decision_log.h"
#include "modelgen/evidence.h"

/* A critical section. */
struct visit {
    size_t lock, unlock; /* numbers of records */
    size_t wait;         /* the first wait, NO_RECORD: none */
    size_t signal;       /* the first signal, the same */
    bool is_other;       /* it has other calls in it, or both of these */
};

#define NO_RECORD SIZE_MAX

/* One side of a semaphore: what is done to it at one place. */
struct side {
    uint64_t place; /* key of the calls that lock there; 0: none seen */
    uint64_t next;  /* key of the call that follows each; 0: none seen */
    size_t n;       /* visits */
};

/* What may be the mutex of a semaphore. */
struct candidate {
    uint64_t mutex;
    struct side takes, gives;
    bool is_other; /* it is something else */
};

struct candidates {
    struct candidate *items;
    size_t count, capacity;
};

/* A call on the semaphore, or what must have been done to its count without one. */
struct operation {
    size_t thread, record;      /* the lock; without one: the call that it must have come before */
    uint64_t early_ns, late_ns; /* when: in between */
    bool takes, was_called;
};

struct operations {
    struct operation *items;
    size_t count, capacity;
};

static uint64_t place_of(const struct trace_record *record) {
    return map_mix(map_mix(3, record->api), record->context);
}

static struct visit visit_at(const struct trace_thread *thread, size_t lock) {
    const struct trace_record *records = thread->records;
    struct visit visit = {.lock = lock, .wait = NO_RECORD, .signal = NO_RECORD};
    size_t r = lock + 1;
    for (; r < thread->n_records; r++) {
        const struct trace_record *record = &records[r];
        if (trace_is_call(record, ON_MUTEX, OP_UNLOCK) && record->object == records[lock].object)
            break;
        if (trace_is_call(record, ON_CONDITION, OP_WAIT) && visit.wait == NO_RECORD)
            visit.wait = r;
        else if (trace_is_call(record, ON_CONDITION, OP_SIGNAL) && visit.signal == NO_RECORD)
            visit.signal = r;
        else if (!trace_is_call(record, ON_CONDITION, OP_WAIT))
            visit.is_other = true;
    }
    visit.unlock = r;
    visit.is_other |=
        r == thread->n_records || (visit.wait == NO_RECORD) == (visit.signal == NO_RECORD);
    return visit;
}

/* ---- which mutexes they may be ---- */

static struct candidate *candidate_of(struct candidates *candidates, struct map *index_of,
                                      uint64_t mutex) {
    int index = map_get(index_of, mutex, -1);
    if (index >= 0)
        return &candidates->items[index];
    map_put(index_of, mutex, (int)candidates->count);
    struct candidate *added = VECTOR_ADD(candidates);
    *added = (struct candidate){.mutex = mutex};
    return added;
}

/* False: this is not as it was at the last visit. */
static bool note_side(struct side *side, const struct trace_thread *thread,
                      const struct visit *visit) {
    uint64_t place = place_of(&thread->records[visit->lock]);
    if (side->n++ > 0 && side->place != place)
        return false;
    side->place = place;
    if (visit->unlock + 1 == thread->n_records)
        return true; /* the thread has ended */
    uint64_t next = place_of(&thread->records[visit->unlock + 1]);
    if (side->next && side->next != next)
        return false;
    side->next = next;
    return true;
}

/* What is neither of both, such as a visit that tells all threads to end, comes but once. */
static void note_visit(struct candidate *candidate, const struct trace_thread *thread,
                       const struct visit *visit, struct map *others) {
    if (!visit->is_other) {
        bool takes = visit->wait != NO_RECORD;
        candidate->is_other |=
            !note_side(takes ? &candidate->takes : &candidate->gives, thread, visit);
        return;
    }
    uint64_t key = map_mix(candidate->mutex, place_of(&thread->records[visit->lock]));
    candidate->is_other |= map_get(others, key, 0);
    map_put(others, key, 1);
}

static bool may_be_semaphore(const struct candidate *candidate) {
    const struct side *takes = &candidate->takes, *gives = &candidate->gives;
    size_t more = takes->n > gives->n ? takes->n - gives->n : gives->n - takes->n;
    return !candidate->is_other && takes->next && gives->next && takes->place != gives->place &&
           takes->next != gives->next && (double)takes->n >= evidence.times_alike && more <= 1;
}

static struct candidates find_candidates(const struct trace *trace) {
    struct candidates candidates = {0};
    struct map index_of = MAP_EMPTY, others = MAP_EMPTY;
    for (size_t t = 0; t < trace->n_threads; t++)
        for (size_t r = 0; r < trace->threads[t].n_records; r++) {
            const struct trace_thread *thread = &trace->threads[t];
            if (!trace_is_call(&thread->records[r], ON_MUTEX, OP_LOCK))
                continue;
            struct candidate *candidate =
                candidate_of(&candidates, &index_of, thread->records[r].object);
            if (candidate->is_other)
                continue;
            struct visit visit = visit_at(thread, r);
            note_visit(candidate, thread, &visit, &others);
        }
    map_free(&index_of);
    map_free(&others);
    return candidates;
}

/* ---- all that was done to one ---- */

static uint64_t end_before(const struct trace_thread *thread, size_t record) {
    return record > 0 ? trace_end_ns(&thread->records[record - 1]) : thread->start_ns;
}

/* Of one thread. Each call that follows a side of the semaphore has it in front: a visit, or what
 * was done to the count alone. */
static void find_operations(const struct trace *trace, size_t t, const struct candidate *candidate,
                            struct operations *operations) {
    const struct trace_thread *thread = &trace->threads[t];
    bool came[2] = {false, false};
    for (size_t r = 0; r < thread->n_records; r++) {
        const struct trace_record *record = &thread->records[r];
        for (int takes = 0; takes < 2; takes++) {
            const struct side *side = takes ? &candidate->takes : &candidate->gives;
            uint64_t place = place_of(record);
            bool visits = record->object == candidate->mutex && place == side->place;
            if (!visits && place != side->next)
                continue;
            if (visits || !came[takes])
                *VECTOR_ADD(operations) = (struct operation){.thread = t,
                                                             .record = r,
                                                             .early_ns = end_before(thread, r),
                                                             .late_ns = record->start_ns,
                                                             .takes = takes,
                                                             .was_called = visits};
            came[takes] = visits;
        }
    }
}

static int compare_times(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* The times of one side's operations in order, the earliest or the latest possible ones. */
static uint64_t *times_of(const struct operations *operations, bool takes, bool late, size_t *n) {
    uint64_t *times = memory_alloc(operations->count + 1, sizeof *times);
    *n = 0;
    for (size_t i = 0; i < operations->count; i++)
        if (operations->items[i].takes == takes)
            times[(*n)++] = late ? operations->items[i].late_ns : operations->items[i].early_ns;
    qsort(times, *n, sizeof *times, compare_times);
    return times;
}

static size_t n_before(const uint64_t *times, size_t n, uint64_t time_ns) {
    size_t low = 0, high = n;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (times[middle] < time_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The share of the takes for which the count, from 0 on, says the opposite of what was done: one
 * that waited must have found nothing there, one that did not, something. What may have come
 * before it or behind it speaks for it. */
static double contradicted_share(const struct operations *operations) {
    size_t n_gives, n_takes, contradicted = 0;
    uint64_t *given_early = times_of(operations, false, false, &n_gives);
    uint64_t *given_late = times_of(operations, false, true, &n_gives);
    uint64_t *taken_early = times_of(operations, true, false, &n_takes);
    uint64_t *taken_late = times_of(operations, true, true, &n_takes);
    for (size_t i = 0; i < operations->count; i++) {
        const struct operation *take = &operations->items[i];
        if (!take->takes)
            continue;
        if (take->was_called)
            contradicted += n_before(given_late, n_gives, take->early_ns) >
                            n_before(taken_early, n_takes, take->late_ns);
        else
            contradicted += n_before(given_early, n_gives, take->late_ns + 1) <=
                            n_before(taken_late, n_takes, take->early_ns);
    }
    free(given_early);
    free(given_late);
    free(taken_early);
    free(taken_late);
    return n_takes ? (double)contradicted / (double)n_takes : 1;
}

/* ---- showing it ---- */

static void show_visit(struct event_log *log, const struct operation *operation, uint64_t object,
                       bool *dropped) {
    struct visit visit = visit_at(&log->trace.threads[operation->thread], operation->record);
    size_t shown = operation->takes ? visit.wait : visit.signal;
    for (size_t r = visit.lock; r <= visit.unlock; r++)
        dropped[r] = r != shown;
    uint64_t end_ns = end_before(&log->trace.threads[operation->thread], visit.unlock);
    struct trace_record *record = event_log_change(log, operation->thread, shown);
    record->api = operation->takes ? ROLE_acquire : ROLE_release;
    record->object = object;
    record->value = 0;
    if (operation->takes) {
        record->duration_ns = end_ns - record->start_ns;
        record->flags |= TRACE_WAITED;
    }
}

/* `operations` are by thread, then in their order. */
static void show(struct event_log *log, const struct operations *operations) {
    uint64_t object = event_log_new_object(log, ORIGIN_COUNTED);
    struct event_insertion *added = memory_alloc(operations->count + 1, sizeof *added);
    for (size_t i = 0; i < operations->count;) {
        size_t t = operations->items[i].thread, n = 0;
        bool *dropped = memory_alloc(log->trace.threads[t].n_records + 1, sizeof *dropped);
        const struct trace_record *records = log->trace.threads[t].records;
        for (; i < operations->count && operations->items[i].thread == t; i++) {
            const struct operation *operation = &operations->items[i];
            if (operation->was_called) {
                show_visit(log, operation, object, dropped);
                records = log->trace.threads[t].records;
                continue;
            }
            const struct trace_record *next = &records[operation->record];
            added[n++] = (struct event_insertion){
                .after = operation->record > 0 ? operation->record - 1 : EVENT_LOG_BEGIN,
                .record = {.start_ns = next->start_ns,
                           .api = operation->takes ? ROLE_acquire : ROLE_release,
                           .object = object,
                           .context = next->context}};
        }
        bool *all = memory_alloc(log->trace.threads[t].n_records + n + 1, sizeof *all);
        event_log_insert(log, t, added, n);
        for (size_t r = 0, from = 0, a = 0; r < log->trace.threads[t].n_records; r++) {
            size_t after = from > 0 ? from - 1 : EVENT_LOG_BEGIN;
            if (a < n && added[a].after == after)
                a++;
            else
                all[r] = dropped[from++];
        }
        event_log_drop(log, t, all);
        free(all);
        free(dropped);
    }
    free(added);
}

/* Does it do anything without a call? Else it is any counter under a mutex. */
static bool has_uncalled(const struct operations *operations) {
    size_t n = 0;
    for (size_t i = 0; i < operations->count; i++)
        n += !operations->items[i].was_called;
    return (double)n >= evidence.times_seen;
}

static void try_candidate(struct event_log *log, const struct candidate *candidate) {
    struct operations operations = {0};
    for (size_t t = 0; t < log->trace.n_threads; t++)
        find_operations(&log->trace, t, candidate, &operations);
    double contradicted = contradicted_share(&operations);
    if (has_uncalled(&operations)) {
        bool holds = contradicted <= evidence.violation_share;
        decision("counted_semaphores", "mutex", holds ? "the rest of a semaphore" : "no semaphore",
                 "%zu waits, %zu signals; with what must have been done to an atomic count %zu "
                 "operations, which contradict %.1f %% of the takes",
                 candidate->takes.n, candidate->gives.n, operations.count, 100 * contradicted);
        if (holds)
            show(log, &operations);
    }
    free(operations.items);
}

void counted_semaphores_as_semaphores(struct event_log *log) {
    struct candidates candidates = find_candidates(&log->trace);
    for (size_t i = 0; i < candidates.count; i++)
        if (may_be_semaphore(&candidates.items[i]))
            try_candidate(log, &candidates.items[i]);
    free(candidates.items);
}
