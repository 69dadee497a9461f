#include "modelgen/pools/parking.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/memory.h"
#include "modelgen/scaling/source.h"

/* Times that workers were woken, until it is believed what for. */
#define CONVINCING 8
/* Callers that may tell where work is brought: many programs lock and wake in small functions. */
#define MOST_CALLERS 8
#define NO_THREAD    SIZE_MAX

/* A semaphore and what happens to it. */
struct semaphore {
    size_t worker; /* the only thread that waits on it; NO_THREAD: none, or several */
    bool is_other; /* used in other ways */
    int waiting;   /* releases that are not yet taken */
    size_t group;  /* of workers that park at the same place */
};

struct semaphores {
    struct semaphore *items;
    size_t count, capacity;
    struct map of; /* address -> index */
};

/* A call, in the order of time. */
struct call {
    uint64_t time_ns;
    size_t thread, record;
};

struct calls {
    struct call *items;
    size_t count, capacity;
};

static int compare_calls(const void *a, const void *b) {
    const struct call *x = a, *y = b;
    return (x->time_ns > y->time_ns) - (x->time_ns < y->time_ns);
}

static void sort_calls(struct calls *calls) {
    if (calls->count)
        qsort(calls->items, calls->count, sizeof *calls->items, compare_calls);
}

static const struct trace_record *record_of(const struct trace *trace, const struct call *call) {
    return &trace->threads[call->thread].records[call->record];
}

/* ---- which semaphores are a worker's own ---- */

static bool is_on_semaphore(const struct trace_record *record) {
    return api_catalog[record->api].object == ON_SEMAPHORE;
}

static bool is_release(const struct trace_record *record) {
    return is_on_semaphore(record) && trace_op(record) == OP_RELEASE;
}

static bool is_take(const struct trace_record *record) {
    return is_on_semaphore(record) && trace_op(record) == OP_ACQUIRE;
}

static struct semaphore *semaphore_of(const struct semaphores *semaphores,
                                      const struct trace_record *record) {
    int index = is_on_semaphore(record) ? map_get(&semaphores->of, record->object, -1) : -1;
    return index < 0 ? NULL : &semaphores->items[index];
}

static void note_semaphore(struct semaphores *semaphores, size_t thread,
                           const struct trace_record *record) {
    struct semaphore *is = semaphore_of(semaphores, record);
    if (!is) {
        map_put(&semaphores->of, record->object, (int)semaphores->count);
        is = VECTOR_ADD(semaphores);
        *is = (struct semaphore){.worker = NO_THREAD};
    }
    enum api_op op = trace_op(record);
    if (is_take(record)) {
        is->is_other |= is->worker != NO_THREAD && is->worker != thread;
        is->worker = thread;
    } else if (op == OP_INIT) {
        is->is_other |= record->value != 0;
    } else {
        is->is_other |= op != OP_RELEASE && op != OP_DESTROY;
    }
}

/* All calls that release or take semaphores, in their order. */
static struct calls find_semaphores(const struct trace *trace, struct semaphores *semaphores) {
    struct calls calls = {0};
    for (size_t t = 0; t < trace->n_threads; t++)
        for (size_t r = 0; r < trace->threads[t].n_records; r++) {
            const struct trace_record *record = &trace->threads[t].records[r];
            if (!is_on_semaphore(record))
                continue;
            note_semaphore(semaphores, t, record);
            if (is_release(record) || (is_take(record) && !(record->flags & TRACE_UNFINISHED)))
                *VECTOR_ADD(&calls) =
                    (struct call){is_take(record) ? trace_end_ns(record) : record->start_ns, t, r};
        }
    sort_calls(&calls);
    return calls;
}

/* A worker is not woken again before it has gone on: work that waits does so elsewhere. */
static void find_counting(const struct trace *trace, const struct calls *calls,
                          struct semaphores *semaphores) {
    for (size_t c = 0; c < calls->count; c++) {
        const struct trace_record *record = record_of(trace, &calls->items[c]);
        struct semaphore *is = semaphore_of(semaphores, record);
        is->waiting += is_release(record) ? 1 : -1;
        is->is_other |= is->waiting > 1 || is->waiting < 0;
    }
}

/* Workers that park at the same place, of threads created alike, are one group. Gives their number.
 */
static size_t find_groups(const struct trace *trace, const struct calls *calls,
                          const uint32_t *places, struct semaphores *semaphores) {
    struct map group_of = MAP_EMPTY;
    size_t n_groups = 0;
    bool *is_known = memory_alloc(semaphores->count, sizeof *is_known);
    for (size_t c = 0; c < calls->count; c++) {
        const struct trace_record *record = record_of(trace, &calls->items[c]);
        struct semaphore *is = semaphore_of(semaphores, record);
        if (!is_take(record) || is->is_other)
            continue;
        const struct trace_thread *worker = &trace->threads[is->worker];
        uint64_t place =
            record->context == TRACE_NO_CONTEXT ? TRACE_NO_CONTEXT : places[record->context];
        uint64_t key = map_mix(map_mix(41, place), worker->creation_context);
        key = map_mix_text(key, worker->start_routine);
        int group = map_get(&group_of, key, -1);
        if (group < 0) {
            group = (int)n_groups++;
            map_put(&group_of, key, group);
        }
        is->is_other |=
            worker->creator < 0 || (is_known[is - semaphores->items] && is->group != (size_t)group);
        is->group = (size_t)group;
        is_known[is - semaphores->items] = true;
    }
    for (size_t s = 0; s < semaphores->count; s++)
        semaphores->items[s].is_other |= !is_known[s];
    free(is_known);
    map_free(&group_of);
    return n_groups;
}

/* ---- who brings work ---- */

struct group {
    const struct trace *trace;
    const struct semaphores *semaphores;
    size_t number;
    bool *is_worker; /* per thread */
    size_t n_workers;
    bool *brings;                    /* per thread: it is one of those that bring work */
    struct calls kept_woken;         /* releases by others: of work that had been kept */
    size_t brought;                  /* releases by those who bring work */
    const struct trace_record *like; /* one of these; NULL: there are none */
};

static bool is_in_group(const struct group *group, const struct trace_record *record) {
    const struct semaphore *is = semaphore_of(group->semaphores, record);
    return is && !is->is_other && is->group == group->number;
}

/* Sets the workers. False: there are not several, each with one semaphore. */
static bool find_workers(struct group *group) {
    for (size_t s = 0; s < group->semaphores->count; s++) {
        const struct semaphore *is = &group->semaphores->items[s];
        if (is->is_other || is->group != group->number)
            continue;
        if (group->is_worker[is->worker])
            return false;
        group->is_worker[is->worker] = true;
        group->n_workers++;
    }
    return group->n_workers > 1;
}

static bool are_alike(const struct trace_thread *a, const struct trace_thread *b) {
    return a->creator < 0 || b->creator < 0 ? a == b
                                            : a->creation_context == b->creation_context &&
                                                  strcmp(a->start_routine, b->start_routine) == 0;
}

/* Takes the threads like this one for those that bring work. */
static void suppose(struct group *group, size_t bringer) {
    const struct trace *trace = group->trace;
    group->brought = 0;
    group->like = NULL;
    group->kept_woken.count = 0;
    for (size_t t = 0; t < trace->n_threads; t++) {
        group->brings[t] =
            !group->is_worker[t] && are_alike(&trace->threads[t], &trace->threads[bringer]);
        for (size_t r = 0; r < trace->threads[t].n_records; r++) {
            const struct trace_record *record = &trace->threads[t].records[r];
            if (!is_release(record) || !is_in_group(group, record))
                continue;
            if (group->brings[t]) {
                group->brought++;
                group->like = record;
            } else {
                *VECTOR_ADD(&group->kept_woken) = (struct call){record->start_ns, t, r};
            }
        }
    }
    sort_calls(&group->kept_woken);
}

/* What tells a call, of its context the innermost callers; per context. */
static uint64_t *hash_callers(const struct trace *trace, size_t n_callers) {
    uint64_t *hashes = memory_alloc(trace->n_contexts, sizeof *hashes);
    for (size_t c = 0; c < trace->n_contexts; c++) {
        const struct trace_context *context = &trace->contexts[c];
        hashes[c] = 43;
        for (size_t f = 0; f < context->n_frames && f < n_callers; f++)
            hashes[c] = map_mix_text(map_mix(hashes[c], (uint64_t)context->frames[f].line),
                                     context->frames[f].function);
    }
    return hashes;
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

static uint64_t key_of(const struct trace_record *record, const uint64_t *hashes) {
    return map_mix(record->context == TRACE_NO_CONTEXT ? 0 : hashes[record->context], record->api);
}

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
static bool *find_keeping(const struct group *group, size_t t, const uint64_t *hashes) {
    const struct trace_thread *thread = &group->trace->threads[t];
    bool *keeps = memory_alloc(thread->n_records, sizeof *keeps);
    struct map next_of = MAP_EMPTY; /* key -> the next record of the kind */
    size_t wakes = thread->n_records;
    for (size_t r = thread->n_records; r-- > 0;) {
        const struct trace_record *record = &thread->records[r];
        uint64_t key = key_of(record, hashes);
        size_t next = (size_t)map_get(&next_of, key, (int)thread->n_records);
        keeps[r] = next == thread->n_records ? wakes == next : next < wakes;
        map_put(&next_of, key, (int)r);
        if (is_release(record) && is_in_group(group, record))
            wakes = r;
    }
    map_free(&next_of);
    return keeps;
}

/* Calls of the kind after which work is kept, in their order. */
static struct calls find_kept(const struct group *group, uint64_t key, const uint64_t *hashes) {
    const struct trace *trace = group->trace;
    struct calls kept = {0};
    for (size_t t = 0; t < trace->n_threads; t++) {
        if (!group->brings[t])
            continue;
        bool *keeps = find_keeping(group, t, hashes);
        for (size_t r = 0; r < trace->threads[t].n_records; r++) {
            const struct trace_record *record = &trace->threads[t].records[r];
            if (keeps[r] && key_of(record, hashes) == key)
                *VECTOR_ADD(&kept) = (struct call){trace_end_ns(record), t, r};
        }
        free(keeps);
    }
    sort_calls(&kept);
    return kept;
}

/* Was each piece of work kept before a worker was woken for it? */
static bool come_first(const struct calls *kept, const struct calls *woken) {
    for (size_t i = 0; i < kept->count; i++)
        if (kept->items[i].time_ns > woken->items[i].time_ns)
            return false;
    return true;
}

static void count_kinds(const struct group *group, size_t t, const uint64_t *hashes,
                        struct kinds *kinds) {
    const struct trace_thread *thread = &group->trace->threads[t];
    bool *keeps = find_keeping(group, t, hashes);
    for (size_t r = 0; r < thread->n_records; r++)
        kind_of(kinds, key_of(&thread->records[r], hashes))->kept += keeps[r];
    free(keeps);
}

/* The calls that keep as many pieces of work as others woke workers for; none: there are no such.
 */
static struct calls find_kept_by_callers(const struct group *group, size_t n_callers) {
    uint64_t *hashes = hash_callers(group->trace, n_callers);
    struct kinds kinds = {.of = MAP_EMPTY};
    struct calls kept = {0};
    for (size_t t = 0; t < group->trace->n_threads; t++)
        if (group->brings[t])
            count_kinds(group, t, hashes, &kinds);
    for (size_t k = 0; k < kinds.count && kept.count == 0; k++) {
        if (kinds.items[k].kept != group->kept_woken.count)
            continue;
        free(kept.items);
        kept = find_kept(group, kinds.items[k].key, hashes);
        if (!come_first(&kept, &group->kept_woken))
            kept.count = 0;
    }
    free(kinds.items);
    map_free(&kinds.of);
    free(hashes);
    return kept;
}

/* ---- what is shown ---- */

static uint64_t object_of(const struct group *group) {
    return VIEW_PARKING + group->number;
}

static void show_calls(struct view *view, const struct group *group) {
    for (size_t t = 0; t < group->trace->n_threads; t++) {
        size_t n = group->trace->threads[t].n_records;
        bool *dropped = memory_alloc(n, sizeof *dropped);
        for (size_t r = 0; r < n; r++) {
            const struct trace_record *record = &group->trace->threads[t].records[r];
            if (!is_in_group(group, record) || !(is_take(record) || is_release(record)))
                continue;
            dropped[r] = is_release(record) && !group->brings[t];
            view_record(view, t, r)->object = object_of(group);
        }
        view_drop(view, t, dropped);
        free(dropped);
    }
}

/* A release behind each call that keeps work, as if a worker had been there. */
static void show_kept(struct view *view, const struct group *group, const struct calls *kept) {
    struct trace_record release = *group->like;
    for (size_t t = 0; t < group->trace->n_threads; t++) {
        struct view_insertion *added = memory_alloc(kept->count, sizeof *added);
        size_t n = 0;
        for (size_t k = 0; k < kept->count; k++) {
            if (kept->items[k].thread != t)
                continue;
            release.start_ns = kept->items[k].time_ns;
            release.context = record_of(group->trace, &kept->items[k])->context;
            release.object = object_of(group);
            added[n++] = (struct view_insertion){kept->items[k].record, release};
        }
        view_insert(view, t, added, n);
        free(added);
    }
}

/* Do threads like this one bring all work of the group? Gives the calls that kept some. */
static bool is_brought_by(struct group *group, size_t bringer, struct calls *kept) {
    suppose(group, bringer);
    size_t n_kept = group->kept_woken.count;
    if (group->brought == 0 || group->brought + n_kept < CONVINCING)
        return false;
    for (size_t n = 1; n <= MOST_CALLERS && n_kept > 0 && kept->count == 0; n++) {
        free(kept->items);
        *kept = find_kept_by_callers(group, n);
    }
    return n_kept == kept->count;
}

static void show_group(struct view *view, const struct semaphores *semaphores, size_t number) {
    const struct trace *trace = &view->trace;
    struct group group = {.trace = trace,
                          .semaphores = semaphores,
                          .number = number,
                          .is_worker = memory_alloc(trace->n_threads, sizeof(bool)),
                          .brings = memory_alloc(trace->n_threads, sizeof(bool))};
    struct calls kept = {0};
    size_t bringer = find_workers(&group) ? 0 : trace->n_threads;
    while (bringer < trace->n_threads &&
           (group.is_worker[bringer] || !is_brought_by(&group, bringer, &kept)))
        bringer++;
    if (bringer < trace->n_threads) {
        show_kept(view, &group, &kept);
        show_calls(view, &group);
    }
    free(kept.items);
    free(group.kept_woken.items);
    free(group.is_worker);
    free(group.brings);
}

void parking_as_one(struct view *view) {
    struct semaphores semaphores = {.of = MAP_EMPTY};
    struct calls calls = find_semaphores(&view->trace, &semaphores);
    uint32_t *places = source_places(&view->trace);
    find_counting(&view->trace, &calls, &semaphores);
    size_t n_groups = find_groups(&view->trace, &calls, places, &semaphores);
    for (size_t g = 0; g < n_groups; g++)
        show_group(view, &semaphores, g);
    free(places);
    free(calls.items);
    free(semaphores.items);
    map_free(&semaphores.of);
}

bool parking_is_object(uint64_t address) {
    return address >= VIEW_PARKING && address < VIEW_PARKING + UINT32_MAX;
}
