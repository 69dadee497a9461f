#include "modelgen/lower/polling_queues.h"

#include <stdlib.h>

#include "base/memory.h"

struct finder {
    const struct trace *trace;
    const struct sections *sections;
    struct polling_queues *items;
};

/* A change of the number of items in a queue. */
struct change {
    uint64_t time_ns;
    int object;
    int by;
};

static bool is_put(const struct trace_record *record) {
    return trace_op(record) == OP_PUT || trace_op(record) == OP_TRYPUT;
}

static bool is_taking(const struct trace_record *record) {
    return trace_op(record) == OP_GET || trace_op(record) == OP_TRYGET;
}

static bool failed(const struct trace_record *record) {
    return (record->flags & (TRACE_FAILED | TRACE_UNFINISHED)) != 0;
}

static bool is_attempt(const struct trace_record *record) {
    return trace_op(record) == OP_TRYGET || trace_op(record) == OP_TRYPUT;
}

static uint64_t poll_key(size_t thread, size_t record) {
    return map_mix(map_mix(11, thread), record);
}

/* ---- who ends it ---- */

static size_t thread_of_join(const struct trace *trace, size_t t,
                             const struct trace_record *record) {
    for (size_t other = 0; other < trace->n_threads; other++)
        if (trace->threads[other].index == record->value &&
            trace->threads[other].pid == trace->threads[t].pid)
            return other;
    return trace->n_threads;
}

/* After which of its records does the thread know that none of the producers puts any more? After
 * it has joined all but itself, and put its own last. Its number of records: never. */
static size_t knows_the_end(const struct finder *finder, size_t t, int object,
                            const bool *produces) {
    const struct trace_thread *thread = &finder->trace->threads[t];
    bool *ended = memory_alloc(finder->trace->n_threads, sizeof *ended);
    size_t after = thread->n_records;
    ended[t] = true;
    for (size_t r = 0; r < thread->n_records; r++) {
        const struct trace_record *record = &thread->records[r];
        size_t joined = trace_op(record) == OP_JOIN ? thread_of_join(finder->trace, t, record)
                                                    : finder->trace->n_threads;
        if (joined < finder->trace->n_threads && produces[joined]) {
            ended[joined] = true;
            after = r;
        }
        if (is_put(record) && sections_object(finder->sections, record) == object)
            after = r;
    }
    for (size_t other = 0; other < finder->trace->n_threads; other++)
        if (produces[other] && !ended[other])
            after = thread->n_records;
    free(ended);
    return after;
}

/* Who knows that nothing more will be put, unless somebody closes the queue. */
static void find_end(const struct finder *finder, int object) {
    const struct trace *trace = finder->trace;
    struct polling_queue *queue = &finder->items->queues[object];
    bool *produces = memory_alloc(trace->n_threads, sizeof *produces);
    bool closed = false;
    for (size_t t = 0; t < trace->n_threads; t++)
        for (size_t r = 0; r < trace->threads[t].n_records; r++) {
            const struct trace_record *record = &trace->threads[t].records[r];
            if (sections_object(finder->sections, record) != object)
                continue;
            closed |= trace_op(record) == OP_CLOSE;
            if (!is_put(record) || failed(record))
                continue;
            produces[t] = true;
            if (record->start_ns > queue->last_put_ns)
                queue->last_put_ns = record->start_ns;
        }
    for (size_t t = 0; !closed && queue->closer_thread < 0 && t < trace->n_threads; t++) {
        size_t after = knows_the_end(finder, t, object, produces);
        if (after == trace->threads[t].n_records)
            continue;
        queue->closer_thread = (int)t;
        queue->closer_record = after;
    }
    free(produces);
}

/* Only consumers that poll and then give up must be told that nothing more will come. */
static bool gives_up(const struct finder *finder, int object) {
    for (size_t t = 0; t < finder->trace->n_threads; t++)
        for (size_t r = 0; r < finder->trace->threads[t].n_records; r++) {
            const struct trace_record *record = &finder->trace->threads[t].records[r];
            if (sections_object(finder->sections, record) != object || !is_taking(record) ||
                !failed(record))
                continue;
            const struct poll *poll = polling_queues_poll(finder->items, t, r);
            if (poll && !poll->goes_on)
                return true;
        }
    return false;
}

/* ---- runs of attempts ---- */

/* The next attempt of the same kind on the same object with nothing before it but a nap; the
 * thread's number of records when there is none. With naps (or yields) the wait takes no core from
 * others: it is taken for a sleep. */
static size_t next_attempt(const struct trace_thread *thread, size_t record, bool *polite) {
    const struct trace_record *first = &thread->records[record];
    for (size_t r = record + 1; r < thread->n_records; r++) {
        const struct trace_record *next = &thread->records[r];
        if (next->api == first->api && next->object == first->object)
            return r;
        if (!trace_is_nap(next))
            break;
        *polite = true;
    }
    return thread->n_records;
}

static void note_poll(struct finder *finder, size_t thread, size_t record, uint64_t start_ns,
                      bool goes_on) {
    map_put(&finder->items->poll_of, poll_key(thread, record), (int)finder->items->polls.count);
    *VECTOR_ADD(&finder->items->polls) = (struct poll){start_ns, goes_on};
}

static uint64_t site_key(const struct trace_record *record) {
    return map_mix(map_mix(map_mix(12, record->context), record->api), record->object);
}

/* Follows a run from its first attempt; gives its last one. */
static size_t follow_run(const struct finder *finder, size_t t, size_t first, bool *polite) {
    const struct trace_thread *thread = &finder->trace->threads[t];
    size_t last = first;
    while (failed(&thread->records[last])) {
        size_t next = next_attempt(thread, last, polite);
        if (next == thread->n_records)
            break;
        last = next;
    }
    return last;
}

/* Where attempts are repeated at all, each of them is a wait, also one that had not to be. */
static void find_sites(const struct finder *finder, struct map *polling) {
    for (size_t t = 0; t < finder->trace->n_threads; t++)
        for (size_t r = 0; r < finder->trace->threads[t].n_records; r++) {
            const struct trace_record *record = &finder->trace->threads[t].records[r];
            bool polite = false;
            if (!is_attempt(record))
                continue;
            size_t last = follow_run(finder, t, r, &polite);
            if (last == r)
                continue;
            map_put(polling, site_key(record), 1);
            finder->items->queues[sections_object(finder->sections, record)].spins |= !polite;
            r = last;
        }
}

/* Whoever fails before the last put, or tries again later, has not been told that nothing more
 * comes. */
static bool is_told_the_end(const struct finder *finder, const struct trace_thread *thread,
                            size_t record) {
    const struct trace_record *attempt = &thread->records[record];
    const struct polling_queue *queue =
        &finder->items->queues[sections_object(finder->sections, attempt)];
    if (queue->closer_thread < 0 || !is_taking(attempt) ||
        trace_end_ns(attempt) < queue->last_put_ns)
        return false;
    for (size_t r = record + 1; r < thread->n_records; r++)
        if (site_key(&thread->records[r]) == site_key(attempt))
            return false;
    return true;
}

/* Consumers that happened to find something each time, until nothing more came, never had to repeat
 * an attempt. They wait all the same: had the first of them failed early, it would have left for
 * good. */
static void find_sites_of_lucky(const struct finder *finder, struct map *polling) {
    struct map told = MAP_EMPTY; /* site -> were all that failed told? */
    for (int pass = 0; pass < 2; pass++)
        for (size_t t = 0; t < finder->trace->n_threads; t++)
            for (size_t r = 0; r < finder->trace->threads[t].n_records; r++) {
                const struct trace_thread *thread = &finder->trace->threads[t];
                const struct trace_record *record = &thread->records[r];
                if (!is_attempt(record) || !failed(record))
                    continue;
                uint64_t site = site_key(record);
                if (pass == 0)
                    map_put(&told, site,
                            map_get(&told, site, 1) && is_told_the_end(finder, thread, r));
                else if (map_get(&told, site, 0))
                    map_put(polling, site, 1);
            }
    map_free(&told);
}

static void find_runs(struct finder *finder) {
    struct map polling = MAP_EMPTY;
    find_sites(finder, &polling);
    find_sites_of_lucky(finder, &polling);
    for (size_t t = 0; t < finder->trace->n_threads; t++) {
        const struct trace_thread *thread = &finder->trace->threads[t];
        for (size_t r = 0; r < thread->n_records; r++) {
            bool polite;
            if (!is_attempt(&thread->records[r]) ||
                !map_get(&polling, site_key(&thread->records[r]), 0))
                continue;
            uint64_t start_ns = thread->records[r].start_ns;
            size_t last = follow_run(finder, t, r, &polite);
            for (; r < last; r++)
                if (is_attempt(&thread->records[r]))
                    note_poll(finder, t, r, start_ns, true);
            note_poll(finder, t, last, start_ns, false);
        }
    }
    map_free(&polling);
}

/* ---- levels ---- */

static int compare_changes(const void *left, const void *right) {
    const struct change *a = left;
    const struct change *b = right;
    return (a->time_ns > b->time_ns) - (a->time_ns < b->time_ns);
}

/* The levels that the queue must have had, from the changes in the order of time. */
static void follow_levels(const struct finder *finder, struct change *changes, size_t n,
                          bool lowest) {
    if (n > 0)
        qsort(changes, n, sizeof *changes, compare_changes);
    double *level = memory_alloc(finder->sections->n_objects, sizeof *level);
    for (size_t i = 0; i < n; i++) {
        struct polling_queue *queue = &finder->items->queues[changes[i].object];
        double *now = &level[changes[i].object];
        *now += changes[i].by;
        if (lowest && -*now > queue->initial)
            queue->initial = -*now;
        if (!lowest && *now + queue->initial > queue->most)
            queue->most = *now + queue->initial;
    }
    free(level);
}

/* Calls that overlap may have taken effect in any order. How low the level was at least is known
 * with puts as early and takings as late as can be; how high, the other way round. */
static void find_levels(struct finder *finder, bool lowest) {
    struct {
        struct change *items;
        size_t count, capacity;
    } changes = {0};
    for (size_t t = 0; t < finder->trace->n_threads; t++)
        for (size_t r = 0; r < finder->trace->threads[t].n_records; r++) {
            const struct trace_record *record = &finder->trace->threads[t].records[r];
            int object = sections_object(finder->sections, record);
            if (object < 0 || failed(record) || !(is_put(record) || is_taking(record)))
                continue;
            bool late = is_put(record) != lowest;
            *VECTOR_ADD(&changes) =
                (struct change){record->start_ns + (late ? record->duration_ns : 0), object,
                                is_put(record) ? 1 : -1};
        }
    follow_levels(finder, changes.items, changes.count, lowest);
    free(changes.items);
}

/* ---- the whole ---- */

static void count(struct finder *finder, const int *pool_of, int task_pool) {
    for (size_t t = 0; t < finder->trace->n_threads; t++)
        for (size_t r = 0; r < finder->trace->threads[t].n_records; r++) {
            const struct trace_record *record = &finder->trace->threads[t].records[r];
            int object = sections_object(finder->sections, record);
            if (object < 0 || api_catalog[record->api].object != ON_ITEMS)
                continue;
            struct polling_queue *queue = &finder->items->queues[object];
            queue->failures += failed(record) && (is_put(record) || is_taking(record));
            queue->puts += is_put(record) && !failed(record);
            queue->gets += is_taking(record) && !failed(record);
            queue->feeds_tasks |= is_taking(record) && pool_of[t] == task_pool;
            if (is_put(record) && failed(record))
                queue->capacity = -1; /* there is a limit, to be found */
        }
}

struct polling_queues polling_queues_find(const struct trace *trace,
                                          const struct sections *sections, const int *pool_of,
                                          int task_pool) {
    struct polling_queues items = {.poll_of = MAP_EMPTY};
    items.queues = memory_alloc(sections->n_objects, sizeof *items.queues);
    struct finder finder = {trace, sections, &items};
    bool any = false;
    for (size_t o = 0; o < sections->n_objects; o++) {
        items.queues[o].spins = sections->objects[o].spins;
        items.queues[o].closer_thread = -1;
        any |= sections->objects[o].kind == ON_ITEMS;
    }
    if (!any)
        return items;
    count(&finder, pool_of, task_pool);
    for (size_t o = 0; o < sections->n_objects; o++)
        if (items.queues[o].failures > 0) /* else nobody gives up */
            find_end(&finder, (int)o);
    find_runs(&finder);
    find_levels(&finder, true);
    find_levels(&finder, false);
    for (size_t o = 0; o < sections->n_objects; o++) {
        struct polling_queue *queue = &items.queues[o];
        if (sections->objects[o].kind != ON_ITEMS)
            continue;
        if (sections->objects[o].parties > 0)
            queue->capacity = sections->objects[o].parties;
        else if (queue->capacity < 0)
            queue->capacity = queue->most > 1 ? queue->most : 1;
        if (queue->closer_thread >= 0 && !gives_up(&finder, (int)o))
            queue->closer_thread = -1;
        if (queue->closer_thread >= 0)
            *VECTOR_ADD(&items.closed) = o;
    }
    return items;
}

void polling_queues_free(struct polling_queues *items) {
    free(items->queues);
    free(items->closed.items);
    free(items->polls.items);
    map_free(&items->poll_of);
}

const struct poll *polling_queues_poll(const struct polling_queues *items, size_t thread,
                                       size_t record) {
    int index = map_get(&items->poll_of, poll_key(thread, record), -1);
    return index < 0 ? NULL : &items->polls.items[index];
}
