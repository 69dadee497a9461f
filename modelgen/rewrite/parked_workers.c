#include "modelgen/rewrite/parked_workers.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/memory.h"
#include "modelgen/events/source_correlation.h"
#include "modelgen/evidence.h"
#include "modelgen/rewrite/private_semaphores.h"

/* Callers that may tell where work is brought: many programs lock and wake in small functions. */
#define MOST_CALLERS 8
#define NO_GROUP     (-1)

/* Per semaphore: its group, of workers that park at the same place, created alike; NO_GROUP: it is
 * no worker's own. The caller frees. */
static int *find_groups(const struct trace *trace, const struct private_semaphores *semaphores,
                        size_t *n_groups) {
    uint32_t *places = source_places(trace);
    struct map known = MAP_EMPTY;
    int *group_of = memory_alloc(semaphores->count, sizeof *group_of);
    bool *is_other = memory_alloc(semaphores->count, sizeof *is_other);
    for (size_t s = 0; s < semaphores->count; s++)
        group_of[s] = NO_GROUP;
    for (size_t c = 0; c < semaphores->calls.count; c++) {
        const struct call *call = &semaphores->calls.items[c];
        const struct trace_record *record = call_record(trace, call);
        int s = call->semaphore;
        if (semaphores->items[s].is_other || !call->takes)
            continue;
        const struct trace_thread *worker = &trace->threads[semaphores->items[s].waiter];
        uint64_t place =
            record->context == TRACE_NO_CONTEXT ? TRACE_NO_CONTEXT : places[record->context];
        uint64_t key = map_mix(map_mix(41, place), worker->creation_context);
        key = map_mix_text(key, worker->start_routine);
        int group = map_get(&known, key, (int)known.count);
        map_put(&known, key, group);
        is_other[s] |= worker->creator < 0 || (group_of[s] != NO_GROUP && group_of[s] != group);
        group_of[s] = group;
    }
    for (size_t s = 0; s < semaphores->count; s++)
        group_of[s] = is_other[s] ? NO_GROUP : group_of[s];
    *n_groups = known.count;
    free(is_other);
    map_free(&known);
    free(places);
    return group_of;
}

/* ---- who brings work ---- */

struct group {
    const struct trace *trace;
    const struct private_semaphores *semaphores;
    const int *group_of; /* per semaphore */
    int number;
    uint64_t object;          /* of the log, once it is believed */
    bool *is_worker;          /* per thread */
    bool *brings;             /* per thread: it is one of those that bring work */
    struct calls wakes;       /* all releases */
    struct calls dispatched;  /* those by others: of work that had been kept */
    struct trace_record like; /* one of them */
};

static bool is_in_group(const struct group *group, const struct trace_record *record) {
    int semaphore = private_semaphores_of(group->semaphores, record);
    return semaphore >= 0 && group->group_of[semaphore] == group->number;
}

/* Sets the workers. False: there are not several, each with one semaphore. */
static bool find_workers(struct group *group) {
    size_t n_workers = 0;
    for (size_t s = 0; s < group->semaphores->count; s++) {
        size_t worker = group->semaphores->items[s].waiter;
        if (group->group_of[s] != group->number)
            continue;
        if (group->is_worker[worker])
            return false;
        group->is_worker[worker] = true;
        n_workers++;
    }
    return n_workers > 1;
}

/* Sets all releases. False: they are too few to tell anything. */
static bool find_wakes(struct group *group) {
    for (size_t c = 0; c < group->semaphores->calls.count; c++) {
        const struct call *call = &group->semaphores->calls.items[c];
        if (!call->takes && group->group_of[call->semaphore] == group->number)
            *VECTOR_ADD(&group->wakes) = *call;
    }
    return (double)group->wakes.count >= evidence.times_alike;
}

/* Takes threads like the `dispatcher`, and the workers themselves, for those that only wake workers
 * for work that had been kept, and all others for those that bring it. */
static void suppose(struct group *group, size_t dispatcher) {
    const struct trace *trace = group->trace;
    bool any = dispatcher < trace->n_threads;
    group->dispatched.count = 0;
    for (size_t t = 0; t < trace->n_threads; t++)
        group->brings[t] =
            !group->is_worker[t] &&
            !(any && trace_threads_alike(&trace->threads[t], &trace->threads[dispatcher]));
    for (size_t w = 0; w < group->wakes.count; w++)
        if (!group->brings[group->wakes.items[w].thread])
            *VECTOR_ADD(&group->dispatched) = group->wakes.items[w];
}

/* A kind of call by those who bring work, and how often no worker is woken before the next one of
 * it: the work was kept. */
struct kind {
    uint64_t key;
    size_t kept;
};

struct kinds {
    struct kind *items;
    size_t count, capacity;
    struct map of; /* key -> index */
};

static struct kind *kind_of(struct kinds *kinds, uint64_t key) {
    int index = map_get(&kinds->of, key, -1);
    if (index < 0) {
        map_put(&kinds->of, key, (int)kinds->count);
        *VECTOR_ADD(kinds) = (struct kind){.key = key};
        return &kinds->items[kinds->count - 1];
    }
    return &kinds->items[index];
}

/* Which of the thread's calls no waking of a worker follows before the next one of their kind: work
 * may be kept there. The caller frees. */
static bool *find_keeping(const struct group *group, size_t t, const uint32_t *places) {
    const struct trace_thread *thread = &group->trace->threads[t];
    bool *keeps = memory_alloc(thread->n_records, sizeof *keeps);
    struct map next_of = MAP_EMPTY; /* key -> the next record of the kind */
    size_t wakes = thread->n_records;
    for (size_t r = thread->n_records; r-- > 0;) {
        const struct trace_record *record = &thread->records[r];
        uint64_t key = call_kind(record, places);
        size_t next = (size_t)map_get(&next_of, key, (int)thread->n_records);
        keeps[r] = next == thread->n_records ? wakes == next : next < wakes;
        map_put(&next_of, key, (int)r);
        if (private_semaphores_is_release(record) && is_in_group(group, record))
            wakes = r;
    }
    map_free(&next_of);
    return keeps;
}

/* Calls of the kind after which work is kept, in their order. */
static struct calls find_kept(const struct group *group, uint64_t key, const uint32_t *places) {
    const struct trace *trace = group->trace;
    struct calls kept = {0};
    for (size_t t = 0; t < trace->n_threads; t++) {
        if (!group->brings[t])
            continue;
        bool *keeps = find_keeping(group, t, places);
        for (size_t r = 0; r < trace->threads[t].n_records; r++) {
            const struct trace_record *record = &trace->threads[t].records[r];
            if (keeps[r] && call_kind(record, places) == key)
                *VECTOR_ADD(&kept) =
                    (struct call){.time_ns = trace_end_ns(record), .thread = t, .record = r};
        }
        free(keeps);
    }
    calls_sort(&kept);
    return kept;
}

/* Was any of the workers parked then, and not yet woken? */
static bool is_any_parked(const struct group *group, uint64_t time_ns) {
    for (size_t w = 0; w < group->wakes.count; w++)
        if (group->wakes.items[w].waiting_ns < time_ns && time_ns < group->wakes.items[w].time_ns)
            return true;
    return false;
}

/* Was each piece of work kept before a worker was woken for it, because none was parked? Some
 * is though one is: older work had not met it yet. */
static bool are_kept(const struct group *group, const struct calls *kept) {
    size_t in_vain = 0;
    for (size_t i = 0; i < kept->count; i++) {
        if (kept->items[i].time_ns > group->dispatched.items[i].time_ns)
            return false;
        in_vain += is_any_parked(group, kept->items[i].time_ns);
    }
    return (double)in_vain <= evidence.unlike_rounds * (double)kept->count;
}

static void count_kinds(const struct group *group, size_t t, const uint32_t *places,
                        struct kinds *kinds) {
    const struct trace_thread *thread = &group->trace->threads[t];
    bool *keeps = find_keeping(group, t, places);
    for (size_t r = 0; r < thread->n_records; r++)
        kind_of(kinds, call_kind(&thread->records[r], places))->kept += keeps[r];
    free(keeps);
}

/* The calls that keep as many pieces of work as others woke workers for; none: there are no such.
 */
static struct calls find_kept_by_callers(const struct group *group, size_t n_callers) {
    uint32_t *places = source_places_within(group->trace, n_callers);
    struct kinds kinds = {.of = MAP_EMPTY};
    struct calls kept = {0};
    for (size_t t = 0; t < group->trace->n_threads; t++)
        if (group->brings[t])
            count_kinds(group, t, places, &kinds);
    for (size_t k = 0; k < kinds.count && kept.count == 0; k++) {
        if (kinds.items[k].kept != group->dispatched.count)
            continue;
        free(kept.items);
        kept = find_kept(group, kinds.items[k].key, places);
        if (!are_kept(group, &kept))
            kept.count = 0;
    }
    free(kinds.items);
    map_free(&kinds.of);
    free(places);
    return kept;
}

/* ---- what is shown ---- */

static void show_calls(struct event_log *log, const struct group *group) {
    for (size_t t = 0; t < group->trace->n_threads; t++) {
        size_t n = group->trace->threads[t].n_records;
        bool *dropped = memory_alloc(n, sizeof *dropped);
        for (size_t r = 0; r < n; r++) {
            const struct trace_record *record = &group->trace->threads[t].records[r];
            if (!is_in_group(group, record) ||
                !(private_semaphores_is_take(record) || private_semaphores_is_release(record)))
                continue;
            dropped[r] = private_semaphores_is_release(record) && !group->brings[t];
            event_log_change(log, t, r)->object = group->object;
        }
        event_log_drop(log, t, dropped);
        free(dropped);
    }
}

/* A release behind each call that keeps work, as if a worker had been there. */
static void show_kept(struct event_log *log, const struct group *group, const struct calls *kept) {
    struct trace_record release = group->like;
    for (size_t t = 0; t < group->trace->n_threads; t++) {
        struct event_insertion *added = memory_alloc(kept->count, sizeof *added);
        size_t n = 0;
        for (size_t k = 0; k < kept->count; k++) {
            if (kept->items[k].thread != t)
                continue;
            release.start_ns = kept->items[k].time_ns;
            release.context = call_record(group->trace, &kept->items[k])->context;
            release.object = group->object;
            added[n++] = (struct event_insertion){kept->items[k].record, release};
        }
        event_log_insert(log, t, added, n);
        free(added);
    }
}

/* The calls that wake workers all do the same. */
static void find_like(struct group *group) {
    for (size_t t = 0; t < group->trace->n_threads; t++)
        for (size_t r = 0; r < group->trace->threads[t].n_records; r++)
            if (private_semaphores_is_release(&group->trace->threads[t].records[r]) &&
                is_in_group(group, &group->trace->threads[t].records[r]))
                group->like = group->trace->threads[t].records[r];
}

/* How long the thread was on a core between these moments. */
static double on_core_ns(const struct trace_thread *thread, uint64_t from_ns, uint64_t to_ns) {
    double sum_ns = 0;
    for (size_t s = trace_slice_after(thread, from_ns);
         s < thread->n_slices && thread->slices[s].on_ns < to_ns; s++) {
        uint64_t on_ns = thread->slices[s].on_ns, off_ns = thread->slices[s].off_ns;
        sum_ns +=
            (double)(off_ns < to_ns ? off_ns : to_ns) - (double)(on_ns > from_ns ? on_ns : from_ns);
    }
    return sum_ns;
}

/* Do those who bring work wake workers that are parked, or about to be? What comes while a worker
 * still computes waits for it alone: then it matters which of them is meant. */
static bool wake_the_parked(const struct group *group) {
    double computed_ns = 0, lives_ns = 0;
    for (size_t t = 0; t < group->trace->n_threads; t++)
        if (group->is_worker[t])
            lives_ns +=
                (double)(group->trace->threads[t].end_ns - group->trace->threads[t].start_ns);
    for (size_t w = 0; w < group->wakes.count; w++) {
        const struct call *wake = &group->wakes.items[w];
        size_t worker = group->semaphores->items[wake->semaphore].waiter;
        if (group->brings[wake->thread] && wake->waiting_ns > wake->time_ns)
            computed_ns +=
                on_core_ns(&group->trace->threads[worker], wake->time_ns, wake->waiting_ns);
    }
    return computed_ns < evidence.matters * lives_ns;
}

/* Does that explain when workers were woken? Gives the calls after which work was kept. */
static bool is_explained(struct group *group, size_t dispatcher, struct calls *kept) {
    suppose(group, dispatcher);
    size_t n = group->dispatched.count;
    kept->count = 0;
    if (!wake_the_parked(group))
        return false;
    for (size_t callers = 1; callers <= MOST_CALLERS && n > 0 && kept->count == 0; callers++) {
        free(kept->items);
        *kept = find_kept_by_callers(group, callers);
    }
    return n == kept->count;
}

/* Is there a thread that only wakes workers for work that others kept, or do workers do that
 * themselves, or nobody has to? */
static bool find_dispatcher(struct group *group, struct calls *kept) {
    size_t n_threads = group->trace->n_threads;
    for (size_t t = 0; t < n_threads; t++) {
        bool may = !group->is_worker[t];
        for (size_t before = 0; before < t && may; before++)
            may = !trace_threads_alike(&group->trace->threads[before], &group->trace->threads[t]);
        if (may && is_explained(group, t, kept) && kept->count > 0)
            return true;
    }
    return is_explained(group, n_threads, kept);
}

static void show_group(struct event_log *log, struct group *group) {
    group->is_worker = memory_alloc(group->trace->n_threads, sizeof(bool));
    group->brings = memory_alloc(group->trace->n_threads, sizeof(bool));
    struct calls kept = {0};
    if (find_workers(group) && find_wakes(group) && find_dispatcher(group, &kept)) {
        find_like(group);
        group->object = event_log_new_object(log, ORIGIN_PARKING);
        show_kept(log, group, &kept);
        show_calls(log, group);
    }
    free(kept.items);
    free(group->dispatched.items);
    free(group->wakes.items);
    free(group->is_worker);
    free(group->brings);
}

void parked_workers_as_one(struct event_log *log) {
    struct private_semaphores semaphores = private_semaphores_find(&log->trace);
    size_t n_groups = 0;
    int *group_of = find_groups(&log->trace, &semaphores, &n_groups);
    for (size_t g = 0; g < n_groups; g++) {
        struct group group = {.trace = &log->trace,
                              .semaphores = &semaphores,
                              .group_of = group_of,
                              .number = (int)g};
        show_group(log, &group);
    }
    free(group_of);
    private_semaphores_free(&semaphores);
}
