#include "modelgen/events/monitor_decomposition.h"

#include <stdlib.h>

#include "base/memory.h"
#include "modelgen/events/object_users.h"
#include "modelgen/evidence.h"

/* Conditions that are waited for, joined where one section deals with both: one monitor's. Others
 * join the only monitor whose sections signal them. */
struct splitter {
    struct sections *sections;
    const int *pool_of;
    int *joined;   /* per object: one of its monitor nearer to the first; itself: the first */
    int *mutex_of; /* per object: of a condition of a monitor; else -1 */
};

static int first_of(const struct splitter *splitter, int condition) {
    while (splitter->joined[condition] != condition)
        condition = splitter->joined[condition];
    return condition;
}

static size_t n_conditions(const struct section *section) {
    return section->n_waits + section->n_signals;
}

static int condition_at(const struct sections *sections, const struct section *section, size_t i) {
    return i < section->n_waits
               ? sections->waits[section->first_wait + i].condition
               : sections->signals[section->first_signal + i - section->n_waits].condition;
}

/* The first condition of the monitor the section belongs to; -1: it does not say. */
static int told_by(const struct splitter *splitter, const struct section *section) {
    for (size_t i = 0; i < n_conditions(section); i++) {
        int condition = condition_at(splitter->sections, section, i);
        if (splitter->mutex_of[condition] == section->mutex)
            return first_of(splitter, condition);
    }
    return -1;
}

static void join_conditions(struct splitter *splitter) {
    struct sections *sections = splitter->sections;
    for (size_t o = 0; o < sections->n_objects; o++) {
        splitter->joined[o] = (int)o;
        splitter->mutex_of[o] = -1;
    }
    for (size_t s = 0; s < sections->n_sections; s++)
        for (size_t i = 0; i < sections->sections[s].n_waits; i++)
            splitter->mutex_of[condition_at(sections, &sections->sections[s], i)] =
                sections->sections[s].mutex;
    for (size_t s = 0; s < sections->n_sections; s++) {
        const struct section *section = &sections->sections[s];
        int own = told_by(splitter, section);
        for (size_t i = 0; own >= 0 && i < n_conditions(section); i++) {
            int condition = condition_at(sections, section, i);
            if (splitter->mutex_of[condition] != section->mutex)
                continue;
            int other = first_of(splitter, condition);
            splitter->joined[own > other ? own : other] = own < other ? own : other;
            own = own < other ? own : other;
        }
    }
}

/* What nobody happened to wait for still tells whose section it is signalled in, where that is
 * always the same monitor's. */
static void join_unwaited(struct splitter *splitter) {
    enum { NOBODY = -1, SEVERAL = -2 };
    const struct sections *sections = splitter->sections;
    int *owner = memory_alloc(sections->n_objects + 1, sizeof *owner);
    for (size_t o = 0; o < sections->n_objects; o++)
        owner[o] = NOBODY;
    for (size_t s = 0; s < sections->n_sections; s++) {
        const struct section *section = &sections->sections[s];
        int own = told_by(splitter, section);
        for (size_t i = 0; own >= 0 && i < n_conditions(section); i++) {
            int *of = &owner[condition_at(sections, section, i)];
            *of = *of == NOBODY || *of == own ? own : SEVERAL;
        }
    }
    for (size_t o = 0; o < sections->n_objects; o++)
        if (splitter->mutex_of[o] < 0 && owner[o] >= 0) {
            splitter->mutex_of[o] = splitter->mutex_of[owner[o]];
            splitter->joined[o] = owner[o];
        }
    free(owner);
}

static bool is_first(const struct splitter *splitter, size_t condition) {
    return splitter->mutex_of[condition] >= 0 && splitter->joined[condition] == (int)condition;
}

/* Is there a mutex with more than one monitor? */
static bool has_several(const struct splitter *splitter) {
    size_t n = splitter->sections->n_objects;
    int *monitors = memory_alloc(n + 1, sizeof *monitors);
    bool several = false;
    for (size_t o = 0; o < n; o++)
        if (is_first(splitter, o))
            several |= ++monitors[splitter->mutex_of[o]] > 1;
    free(monitors);
    return several;
}

/* Per section: the first condition of its monitor. What does not say it belongs where its thread
 * was before, with this mutex; else where it comes next. -1: there is no such. */
static int *tell_sections(const struct splitter *splitter) {
    const struct sections *sections = splitter->sections;
    int *told = memory_alloc(sections->n_sections + 1, sizeof *told);
    int *last = memory_alloc(sections->n_objects + 1, sizeof *last);
    for (int way = 0; way < 2; way++) {
        int thread = -1;
        for (size_t i = 0; i < sections->n_sections; i++) {
            size_t s = way == 0 ? i : sections->n_sections - 1 - i;
            const struct section *section = &sections->sections[s];
            for (size_t o = 0; section->thread != thread && o < sections->n_objects; o++)
                last[o] = -1;
            thread = section->thread;
            if (way == 0)
                told[s] = told_by(splitter, section);
            if (told[s] < 0)
                told[s] = last[section->mutex];
            last[section->mutex] = told[s];
        }
    }
    free(last);
    return told;
}

/* Per condition that is the first of its monitor: the pool that tells this from the others under
 * the mutex, if it is hardly ever left open which of them is meant; else -1. */
static int *find_owners(const struct splitter *splitter, const int *told, size_t n_pools) {
    const struct sections *sections = splitter->sections;
    size_t n = sections->n_objects;
    struct object_users users = object_users_of(n, n_pools);
    int *class_of = memory_alloc(n + 1, sizeof *class_of);
    size_t *all = memory_alloc(n + 1, sizeof *all), *untold = memory_alloc(n + 1, sizeof *untold);
    for (size_t s = 0; s < sections->n_sections; s++) {
        const struct section *section = &sections->sections[s];
        all[section->mutex]++;
        untold[section->mutex] += told_by(splitter, section) < 0;
        if (told[s] >= 0)
            object_users_note(&users, told[s], splitter->pool_of[section->thread]);
    }
    for (size_t o = 0; o < n; o++)
        class_of[o] = is_first(splitter, o) ? splitter->mutex_of[o] : (int)n; /* n: all the rest */
    int *own = object_users_tell_apart(&users, class_of, n + 1);
    for (size_t o = 0; o < n; o++) {
        int mutex = class_of[o];
        if (mutex == (int)n || !sections->objects[mutex].alone ||
            (double)untold[mutex] > evidence.violation_share * (double)all[mutex])
            own[o] = -1;
    }
    object_users_free(&users);
    free(class_of);
    free(all);
    free(untold);
    return own;
}

/* A part of the mutex for the monitor whose first section this is: its use begins there. What is
 * counted stays the mutex' own. */
static int add_part(const struct trace *trace, struct sections *sections,
                    const struct section *first, int own_pool) {
    size_t n = sections->n_objects;
    sections->objects = memory_resize(sections->objects, n + 1, sizeof *sections->objects);
    const struct sync_object *mutex = &sections->objects[first->mutex];
    sections->objects[n] = (struct sync_object){
        .kind = mutex->kind,
        .address = mutex->address,
        .of_libc = mutex->of_libc,
        .class_id = (int)n,
        .whole = first->mutex,
        .own_pool = own_pool,
        .alone = true,
        .context = mutex->context,
        .used_context = trace->threads[first->thread].records[first->lock_record].context,
        .parties = -1,
    };
    sections->n_objects = n + 1;
    return (int)n;
}

/* Of each class, the conditions of monitors that are told apart become classes of their own. */
static void part_conditions(struct sections *sections) {
    int *monitor_of = memory_alloc(sections->n_objects + 1, sizeof *monitor_of);
    struct map first_of = MAP_EMPTY;
    for (size_t o = 0; o < sections->n_objects; o++)
        monitor_of[o] = -1;
    for (size_t s = 0; s < sections->n_sections; s++) {
        const struct section *section = &sections->sections[s];
        if (sections->objects[section->mutex].own_pool < 0)
            continue;
        for (size_t i = 0; i < n_conditions(section); i++)
            monitor_of[condition_at(sections, section, i)] = section->mutex;
    }
    for (size_t o = 0; o < sections->n_objects; o++) {
        struct sync_object *object = &sections->objects[o];
        if (monitor_of[o] < 0)
            continue;
        uint64_t key = map_mix(map_mix(6, (uint64_t)object->class_id), (uint64_t)monitor_of[o]);
        int first = map_get(&first_of, key, (int)o);
        map_put(&first_of, key, first);
        object->class_id = first;
        object->own_pool = sections->objects[monitor_of[o]].own_pool;
    }
    map_free(&first_of);
    free(monitor_of);
}

void monitor_decomposition_split(const struct trace *trace, const int *pool_of, size_t n_pools,
                                 struct sections *sections) {
    size_t n = sections->n_objects;
    struct splitter splitter = {.sections = sections,
                                .pool_of = pool_of,
                                .joined = memory_alloc(n + 1, sizeof(int)),
                                .mutex_of = memory_alloc(n + 1, sizeof(int))};
    join_conditions(&splitter);
    join_unwaited(&splitter);
    int *told = has_several(&splitter) ? tell_sections(&splitter) : NULL;
    int *own = told ? find_owners(&splitter, told, n_pools) : NULL;
    int *part_of = memory_alloc(n + 1, sizeof *part_of); /* per first condition; 0: none yet */
    for (size_t s = 0; told && s < sections->n_sections; s++) {
        struct section *section = &sections->sections[s];
        if (told[s] < 0 || own[told[s]] < 0)
            continue;
        if (part_of[told[s]] == 0)
            part_of[told[s]] = add_part(trace, sections, section, own[told[s]]);
        section->mutex = part_of[told[s]];
    }
    free(part_of);
    free(own);
    free(told);
    free(splitter.joined);
    free(splitter.mutex_of);
    part_conditions(sections);
}
