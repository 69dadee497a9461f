#include "modelgen/events/critical_sections.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "modelgen/events/monitor_decomposition.h"

/* ---- objects ---- */

static uint64_t object_key(enum api_object kind, uint64_t address) {
    return map_mix(map_mix(1, kind), address);
}

bool sections_is_object(enum api_object kind) {
    return kind == ON_MUTEX || kind == ON_RWLOCK || kind == ON_CONDITION || kind == ON_SEMAPHORE ||
           kind == ON_BARRIER || kind == ON_SPIN || kind == ON_ITEMS || kind == ON_EVENT;
}

int sections_object(const struct sections *sections, const struct trace_record *record) {
    enum api_object kind = api_catalog[record->api].object;
    if (!sections_is_object(kind))
        return -1;
    return map_get(&sections->object_of, object_key(kind, record->object), -1);
}

struct object_list {
    struct sync_object *items;
    size_t count, capacity;
};

static void note_operation(struct sync_object *object, const struct trace_record *record) {
    const struct api_info *info = &api_catalog[record->api];
    object->spins |= (record->flags & TRACE_SPINS) != 0;
    if (record->api == ROLE_barrier && record->value > 0)
        object->parties = record->value;
    if (info->op == OP_INIT) {
        object->parties = record->value;
        return;
    }
    if (object->used_context == TRACE_NO_CONTEXT)
        object->used_context = record->context;
    if (info->op == OP_DESTROY || info->op == OP_UNLOCK || info->op == OP_RWUNLOCK ||
        info->op == OP_SIGNAL || info->op == OP_BROADCAST || info->op == OP_RELEASE)
        return;
    object->operations++;
    if (record->flags & TRACE_WAITED || record->duration_ns > 0) {
        object->waits++;
        object->wait_ns += (double)record->duration_ns;
    }
}

static bool is_of_libc(const struct trace_record *record) {
    return strncmp(api_catalog[record->api].name, "g_", 2) != 0;
}

/* Keys of the objects on which there are calls that do more than make or end them: a program may
 * make a lock for each piece of its data, and never need most of them. */
static struct map find_used(const struct trace *trace) {
    struct map used = MAP_EMPTY;
    for (size_t t = 0; t < trace->n_threads; t++)
        for (size_t r = 0; r < trace->threads[t].n_records; r++) {
            const struct trace_record *record = &trace->threads[t].records[r];
            const struct api_info *info = &api_catalog[record->api];
            if (sections_is_object(info->object) && info->op != OP_INIT && info->op != OP_DESTROY)
                map_put(&used, object_key(info->object, record->object), 1);
        }
    return used;
}

static void find_objects(const struct trace *trace, struct sections *sections) {
    struct object_list list = {0};
    struct map used = find_used(trace);
    for (size_t t = 0; t < trace->n_threads; t++)
        for (size_t r = 0; r < trace->threads[t].n_records; r++) {
            const struct trace_record *record = &trace->threads[t].records[r];
            enum api_object kind = api_catalog[record->api].object;
            if (!sections_is_object(kind))
                continue;
            uint64_t key = object_key(kind, record->object);
            if (!map_get(&used, key, 0))
                continue;
            int index = map_get(&sections->object_of, key, -1);
            if (index < 0) {
                index = (int)list.count;
                map_put(&sections->object_of, key, index);
                *VECTOR_ADD(&list) = (struct sync_object){.kind = kind,
                                                          .address = record->object,
                                                          .of_libc = is_of_libc(record),
                                                          .class_id = index,
                                                          .whole = index,
                                                          .context = record->context,
                                                          .used_context = TRACE_NO_CONTEXT,
                                                          .parties = -1};
            }
            assert(list.items); /* the map knows only what is in the list */
            note_operation(&list.items[index], record);
        }
    map_free(&used);
    sections->objects = list.items;
    sections->n_objects = list.count;
}

/* ---- sections ---- */

struct section_list {
    struct section *items;
    size_t count, capacity;
};
struct wait_list {
    struct section_wait *items;
    size_t count, capacity;
};
struct signal_list {
    struct section_signal *items;
    size_t count, capacity;
};

#define HELD_LIMIT 16

/* A section that is still open, with the waits and signals seen so far. */
struct open_section {
    struct section section;
    struct wait_list waits;
    struct signal_list signals;
};

struct finder {
    struct sections *result;
    struct section_list sections;
    struct wait_list waits;
    struct signal_list signals;
    struct open_section held[HELD_LIMIT];
    int n_held;
    bool signal_may_follow; /* the last record closed a section: a signal now belongs to it */
    int32_t *waited_with;   /* find_waited_with() */
};

/* Per object: of a condition, what waits for it tell of their mutex (trace_mutex_value()); 0:
 * nothing. */
static int32_t *find_waited_with(const struct trace *trace, const struct sections *sections) {
    int32_t *with = memory_alloc(sections->n_objects, sizeof *with);
    for (size_t t = 0; t < trace->n_threads; t++)
        for (size_t r = 0; r < trace->threads[t].n_records; r++) {
            const struct trace_record *record = &trace->threads[t].records[r];
            if (trace_is_condition_wait(record) && record->value != 0)
                with[sections_object(sections, record)] = record->value;
        }
    return with;
}

static void close_section(struct finder *finder, int held) {
    struct open_section *open = &finder->held[held];
    open->section.first_wait = finder->waits.count;
    open->section.n_waits = open->waits.count;
    for (size_t i = 0; i < open->waits.count; i++)
        *VECTOR_ADD(&finder->waits) = open->waits.items[i];
    open->section.first_signal = finder->signals.count;
    open->section.n_signals = open->signals.count;
    for (size_t i = 0; i < open->signals.count; i++)
        *VECTOR_ADD(&finder->signals) = open->signals.items[i];
    double hold = (double)(open->section.release_ns - open->section.acquire_ns);
    for (size_t i = 0; i < open->waits.count; i++)
        hold -= (double)(open->waits.items[i].end_ns - open->waits.items[i].start_ns);
    finder->result->objects[open->section.mutex].hold_ns += hold > 0 ? hold : 0;
    finder->result->section_of_lock[open->section.thread][open->section.lock_record] =
        (int)finder->sections.count;
    *VECTOR_ADD(&finder->sections) = open->section;
    free(open->waits.items);
    free(open->signals.items);
    for (int i = held; i + 1 < finder->n_held; i++)
        finder->held[i] = finder->held[i + 1];
    finder->n_held--;
}

static void open_one(struct finder *finder, int thread, size_t record_index,
                     const struct trace_record *record, int object) {
    if (finder->n_held == HELD_LIMIT)
        return; /* deeper nesting is not followed: its sections stay unknown */
    finder->held[finder->n_held++] =
        (struct open_section){.section = {.thread = thread,
                                          .mutex = object,
                                          .lock_record = record_index,
                                          .acquire_ns = trace_end_ns(record)}};
}

static int find_held(const struct finder *finder, int object) {
    for (int i = finder->n_held - 1; i >= 0; i--)
        if (finder->held[i].section.mutex == object)
            return i;
    return -1;
}

/* Do threads wait for the condition with the mutex whose section was closed last? */
static bool is_waited_with_last(const struct finder *finder, int condition) {
    int mutex = finder->sections.items[finder->sections.count - 1].mutex;
    return finder->waited_with[condition] ==
           trace_mutex_value(finder->result->objects[mutex].address);
}

static void note_signal(struct finder *finder, size_t record_index, int condition, bool broadcast) {
    struct section_signal signal = {record_index, condition, broadcast};
    bool follows = finder->signal_may_follow && is_waited_with_last(finder, condition);
    if (finder->n_held > 0 && !follows) {
        *VECTOR_ADD(&finder->held[finder->n_held - 1].signals) = signal;
    } else if (finder->signal_may_follow) {
        /* The last closed section's signals are the newest ones, so it can still grow. */
        finder->sections.items[finder->sections.count - 1].n_signals++;
        *VECTOR_ADD(&finder->signals) = signal;
    }
}

static void read_record(struct finder *finder, int thread, size_t index,
                        const struct trace_record *record) {
    const struct api_info *info = &api_catalog[record->api];
    int object = sections_object(finder->result, record);
    bool closed = false;
    if (object < 0)
        return;
    switch (info->op) {
    case OP_LOCK:
    case OP_TRYLOCK:
    case OP_TIMEDLOCK:
        if ((info->object == ON_MUTEX || info->object == ON_SPIN) &&
            !(record->flags & TRACE_FAILED))
            open_one(finder, thread, index, record, object);
        break;
    case OP_UNLOCK: {
        int held = find_held(finder, object);
        if (held >= 0) {
            finder->held[held].section.unlock_record = index;
            finder->held[held].section.release_ns = record->start_ns;
            close_section(finder, held);
            closed = true;
        }
        break;
    }
    case OP_WAIT:
    case OP_TIMEDWAIT:
        if (info->object == ON_CONDITION && finder->n_held > 0)
            *VECTOR_ADD(&finder->held[finder->n_held - 1].waits) =
                (struct section_wait){index, object, record->start_ns, trace_end_ns(record)};
        break;
    case OP_SIGNAL:
    case OP_BROADCAST:
        if (info->object != ON_CONDITION)
            break;
        note_signal(finder, index, object, info->op == OP_BROADCAST);
        closed = finder->signal_may_follow; /* several signals may follow one unlock */
        break;
    default:
        break;
    }
    finder->signal_may_follow = closed;
}

/* Never unlocked: the program ended. Who waited then belongs to what is waited for. */
static void cut_section(struct finder *finder, const struct trace_thread *thread, int held) {
    struct open_section *open = &finder->held[held];
    size_t n = open->waits.count;
    bool waits = n > 0 && thread->records[open->waits.items[n - 1].record].flags & TRACE_UNFINISHED;
    if (!waits) {
        free(open->waits.items);
        free(open->signals.items);
        finder->n_held--;
        return;
    }
    open->section.cut = true;
    open->section.unlock_record = thread->n_records;
    open->section.release_ns = open->waits.items[n - 1].end_ns;
    close_section(finder, held);
}

/* ---- classes of objects ---- */

static int class_root(const struct sections *sections, int object) {
    assert(sections->objects);
    while (sections->objects[object].class_id != object)
        object = sections->objects[object].class_id;
    return object;
}

/* What threads wait for until others do something; nobody's users tell plain locks apart. */
static bool *find_awaited(const struct sections *sections) {
    bool *awaited = memory_alloc(sections->n_objects + 1, sizeof *awaited);
    for (size_t o = 0; o < sections->n_objects; o++) {
        enum api_object kind = sections->objects[o].kind;
        awaited[o] = kind != ON_MUTEX && kind != ON_RWLOCK && kind != ON_SPIN;
    }
    for (size_t s = 0; s < sections->n_sections; s++)
        awaited[sections->sections[s].mutex] |= sections->sections[s].n_waits > 0;
    return awaited;
}

/* Objects that one call site works on are of one class: the locks of an array's elements. Creation
 * sites do not count: an initialiser function serves unrelated objects. */
static void find_classes(const struct trace *trace, const int *pool_of, size_t n_pools,
                         struct sections *sections) {
    struct map first_of_site = MAP_EMPTY;
    sections->users = object_users_of(sections->n_objects, n_pools);
    bool *awaited = find_awaited(sections);
    for (size_t t = 0; t < trace->n_threads; t++)
        for (size_t r = 0; r < trace->threads[t].n_records; r++) {
            const struct trace_record *record = &trace->threads[t].records[r];
            const struct api_info *info = &api_catalog[record->api];
            int object = sections_object(sections, record);
            if (object < 0 || info->op == OP_INIT || info->op == OP_DESTROY)
                continue;
            if (awaited[object])
                object_users_note(&sections->users, object, pool_of[t]);
            uint64_t site =
                map_mix(map_mix(map_mix(2, record->context), record->api), (uint64_t)pool_of[t]);
            int first = map_get(&first_of_site, site, -1);
            if (first < 0) {
                map_put(&first_of_site, site, object);
                continue;
            }
            int a = class_root(sections, first), b = class_root(sections, object);
            assert(sections->objects); /* there is this one */
            if (a != b)
                sections->objects[a > b ? a : b].class_id = a < b ? a : b;
        }
    map_free(&first_of_site);
    assert(sections->objects || sections->n_objects == 0);
    int *roots = memory_alloc(sections->n_objects, sizeof *roots);
    for (size_t i = 0; i < sections->n_objects; i++)
        roots[i] = class_root(sections, (int)i);
    int *own = object_users_tell_apart(&sections->users, roots, sections->n_objects);
    for (size_t i = 0; i < sections->n_objects; i++) {
        bool told = own[i] >= 0 && sections->objects[i].kind != ON_CONDITION;
        sections->objects[i].own_pool = told ? own[i] : -1;
        sections->objects[i].class_id = told ? (int)i : roots[i];
    }
    free(awaited);
    free(own);
    free(roots);
}

/* Which objects are the only ones of their classes. */
static void find_alone(struct sections *sections) {
    int *members = memory_alloc(sections->n_objects, sizeof *members);
    for (size_t i = 0; i < sections->n_objects; i++)
        members[sections->objects[i].class_id]++;
    for (size_t i = 0; i < sections->n_objects; i++)
        sections->objects[i].alone = members[sections->objects[i].class_id] == 1;
    free(members);
}

static void group_by_mutex(struct sections *sections) {
    size_t *first = memory_alloc(sections->n_objects + 1, sizeof *first);
    for (size_t s = 0; s < sections->n_sections; s++)
        first[sections_first_like(sections, sections->sections[s].mutex) + 1]++;
    for (size_t o = 0; o < sections->n_objects; o++)
        first[o + 1] += first[o];
    size_t *next = memory_alloc(sections->n_objects, sizeof *next);
    if (sections->n_objects > 0)
        memcpy(next, first, sections->n_objects * sizeof *next);
    sections->of_mutex = memory_alloc(sections->n_sections, sizeof *sections->of_mutex);
    for (size_t s = 0; s < sections->n_sections; s++)
        sections->of_mutex[next[sections_first_like(sections, sections->sections[s].mutex)]++] = s;
    sections->first_of_mutex = first;
    free(next);
}

const size_t *sections_of(const struct sections *sections, int mutex, size_t *n) {
    size_t first = sections->first_of_mutex[mutex];
    *n = sections->first_of_mutex[mutex + 1] - first;
    return sections->of_mutex + first;
}

struct sections sections_find(const struct trace *trace, const int *pool_of) {
    struct sections sections = {.object_of = MAP_EMPTY};
    find_objects(trace, &sections);
    size_t n_pools = 0;
    for (size_t t = 0; t < trace->n_threads; t++)
        n_pools = (size_t)pool_of[t] >= n_pools ? (size_t)pool_of[t] + 1 : n_pools;
    sections.section_of_lock = memory_alloc(trace->n_threads, sizeof(int *));
    struct finder finder = {.result = &sections, .waited_with = find_waited_with(trace, &sections)};
    for (size_t t = 0; t < trace->n_threads; t++) {
        const struct trace_thread *thread = &trace->threads[t];
        sections.section_of_lock[t] = memory_alloc(thread->n_records, sizeof(int));
        for (size_t r = 0; r < thread->n_records; r++)
            sections.section_of_lock[t][r] = -1;
        finder.signal_may_follow = false;
        for (size_t r = 0; r < thread->n_records; r++)
            read_record(&finder, (int)t, r, &thread->records[r]);
        while (finder.n_held > 0)
            cut_section(&finder, thread, finder.n_held - 1);
    }
    free(finder.waited_with);
    sections.sections = finder.sections.items;
    sections.n_sections = finder.sections.count;
    sections.waits = finder.waits.items;
    sections.signals = finder.signals.items;
    find_classes(trace, pool_of, n_pools, &sections);
    find_alone(&sections);
    monitor_decomposition_split(trace, pool_of, n_pools, &sections);
    find_alone(&sections);
    group_by_mutex(&sections);
    return sections;
}

void sections_set_origins(struct sections *sections, const struct object_origins *origins) {
    for (size_t o = 0; o < sections->n_objects; o++) {
        struct sync_object *object = &sections->objects[o];
        object->origin = object_origins_get(origins, object->address);
    }
}

void sections_free(struct sections *sections, const struct trace *trace) {
    for (size_t t = 0; t < trace->n_threads; t++)
        free(sections->section_of_lock[t]);
    free(sections->section_of_lock);
    free(sections->objects);
    free(sections->sections);
    free(sections->of_mutex);
    free(sections->first_of_mutex);
    free(sections->waits);
    free(sections->signals);
    object_users_free(&sections->users);
    map_free(&sections->object_of);
}

uint64_t section_passed_ns(const struct sections *sections, const struct section *section) {
    if (section->n_waits == 0)
        return section->acquire_ns;
    return sections->waits[section->first_wait + section->n_waits - 1].end_ns;
}

bool section_wait_timed_out(const struct trace *trace, const struct section *section,
                            const struct section_wait *wait) {
    return trace->threads[section->thread].records[wait->record].flags & TRACE_TIMEDOUT;
}

int sections_first_like(const struct sections *sections, int object) {
    return sections->objects[object].class_id;
}
