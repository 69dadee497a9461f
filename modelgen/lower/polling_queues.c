#include "modelgen/lower/polling_queues.h"

#include <stdlib.h>

#include "base/memory.h"
#include "modelgen/events/event_cursor.h"

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

/* After which of its records does the thread know that none of the producers puts any more? After
 * it has joined all but itself, and put its own last. Its number of records: never. */
static size_t knows_the_end(const struct finder *finder, size_t t, int object,
                            const bool *produces) {
    const struct trace_thread *thread = &finder->trace->threads[t];
    bool *ended = memory_alloc(finder->trace->n_threads, sizeof *ended);
    size_t after = thread->n_records;
    ended[t] = true;
    for (struct event_cursor at = event_cursor_of_thread(thread); event_cursor_next(&at);) {
        size_t joined = trace_op(at.event) == OP_JOIN
                            ? trace_thread_by_index(finder->trace, thread->pid, at.event->value)
                            : finder->trace->n_threads;
        if (joined < finder->trace->n_threads && produces[joined]) {
            ended[joined] = true;
            after = at.number;
        }
        if (is_put(at.event) && sections_object(finder->sections, at.event) == object)
            after = at.number;
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
    for (struct event_cursor at = event_cursor_of_run(trace); event_cursor_next(&at);) {
        if (sections_object(finder->sections, at.event) != object)
            continue;
        closed |= trace_op(at.event) == OP_CLOSE;
        if (!is_put(at.event) || failed(at.event))
            continue;
        produces[at.thread] = true;
        if (at.event->start_ns > queue->last_put_ns)
            queue->last_put_ns = at.event->start_ns;
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
    for (struct event_cursor at = event_cursor_of_run(finder->trace); event_cursor_next(&at);) {
        if (sections_object(finder->sections, at.event) != object || !is_taking(at.event) ||
            !failed(at.event))
            continue;
        const struct poll *poll = polling_queues_poll(finder->items, at.thread, at.number);
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
    for (struct event_cursor at = event_cursor_from(thread, record + 1); event_cursor_next(&at);) {
        if (at.event->api == first->api && at.event->object == first->object)
            return at.number;
        if (!trace_is_nap(at.event))
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
    for (struct event_cursor at = event_cursor_of_run(finder->trace); event_cursor_next(&at);) {
        bool polite = false;
        if (!is_attempt(at.event))
            continue;
        size_t last = follow_run(finder, at.thread, at.number, &polite);
        if (last == at.number)
            continue;
        map_put(polling, site_key(at.event), 1);
        finder->items->queues[sections_object(finder->sections, at.event)].spins |= !polite;
        event_cursor_skip(&at, last);
    }
}

/* Whoever fails before the last put, or tries again later, has not been told that nothing more
 * comes. */
static bool is_told_the_end(const struct finder *finder, size_t t, size_t record) {
    const struct trace_thread *thread = &finder->trace->threads[t];
    const struct trace_record *attempt = &thread->records[record];
    const struct polling_queue *queue =
        &finder->items->queues[sections_object(finder->sections, attempt)];
    if (queue->closer_thread < 0 || !is_taking(attempt) ||
        trace_end_ns(attempt) < queue->last_put_ns)
        return false;
    for (struct event_cursor at = event_cursor_from(thread, record + 1); event_cursor_next(&at);)
        if (site_key(at.event) == site_key(attempt))
            return false;
    return true;
}

/* Consumers that happened to find something each time, until nothing more came, never had to repeat
 * an attempt. They wait all the same: had the first of them failed early, it would have left for
 * good. */
static void find_sites_of_lucky(const struct finder *finder, struct map *polling) {
    struct map told = MAP_EMPTY; /* site -> were all that failed told? */
    for (int pass = 0; pass < 2; pass++)
        for (struct event_cursor at = event_cursor_of_run(finder->trace); event_cursor_next(&at);) {
            if (!is_attempt(at.event) || !failed(at.event))
                continue;
            uint64_t site = site_key(at.event);
            if (pass == 0)
                map_put(&told, site,
                        map_get(&told, site, 1) && is_told_the_end(finder, at.thread, at.number));
            else if (map_get(&told, site, 0))
                map_put(polling, site, 1);
        }
    map_free(&told);
}

static void find_runs(struct finder *finder) {
    struct map polling = MAP_EMPTY;
    find_sites(finder, &polling);
    find_sites_of_lucky(finder, &polling);
    for (struct event_cursor at = event_cursor_of_run(finder->trace); event_cursor_next(&at);) {
        bool polite;
        if (!is_attempt(at.event) || !map_get(&polling, site_key(at.event), 0))
            continue;
        uint64_t start_ns = at.event->start_ns;
        size_t last = follow_run(finder, at.thread, at.number, &polite);
        for (; at.number < last; event_cursor_next(&at))
            if (is_attempt(at.event))
                note_poll(finder, at.thread, at.number, start_ns, true);
        note_poll(finder, at.thread, last, start_ns, false);
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
    for (struct event_cursor at = event_cursor_of_run(finder->trace); event_cursor_next(&at);) {
        const struct trace_record *record = at.event;
        int object = sections_object(finder->sections, record);
        if (object < 0 || failed(record) || !(is_put(record) || is_taking(record)))
            continue;
        bool late = is_put(record) != lowest;
        *VECTOR_ADD(&changes) = (struct change){record->start_ns + (late ? record->duration_ns : 0),
                                                object, is_put(record) ? 1 : -1};
    }
    follow_levels(finder, changes.items, changes.count, lowest);
    free(changes.items);
}

/* ---- the whole ---- */

static void count(struct finder *finder, const int *pool_of, int task_pool) {
    for (struct event_cursor at = event_cursor_of_run(finder->trace); event_cursor_next(&at);) {
        const struct trace_record *record = at.event;
        int object = sections_object(finder->sections, record);
        if (object < 0 || api_catalog[record->api].object != ON_ITEMS)
            continue;
        struct polling_queue *queue = &finder->items->queues[object];
        queue->failures += failed(record) && (is_put(record) || is_taking(record));
        queue->puts += is_put(record) && !failed(record);
        queue->gets += is_taking(record) && !failed(record);
        queue->feeds_tasks |= is_taking(record) && pool_of[at.thread] == task_pool;
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
