#include "modelgen/sync/object_history.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/memory.h"

/* Within one moment a thread's events are in the order of their kinds. */
static int compare_events(const void *a, const void *b) {
    const struct history_event *x = a, *y = b;
    if (x->time_ns != y->time_ns)
        return x->time_ns < y->time_ns ? -1 : 1;
    if (x->section != y->section)
        return x->section < y->section ? -1 : 1;
    return (x->kind > y->kind) - (x->kind < y->kind);
}

void object_history_add(struct object_history *history, const struct sections *sections,
                        struct history_event event) {
    const struct section *section = &sections->sections[event.section];
    event.time_ns = section->acquire_ns;
    event.kind = EVENT_EARLY_EFFECT;
    *VECTOR_ADD(history) = event;
    event.kind = EVENT_WAITS;
    for (size_t w = 0; w < section->n_waits; w++) {
        *VECTOR_ADD(history) = event;
        event.time_ns = sections->waits[section->first_wait + w].end_ns;
    }
    if (section->cut)
        return;
    event.kind = EVENT_PASSES;
    *VECTOR_ADD(history) = event;
    event.kind = EVENT_EFFECT;
    *VECTOR_ADD(history) = event;
}

void object_history_bind(struct object_history *history, const int *roles) {
    for (size_t i = 0; i < history->count; i++)
        history->items[i].role = (short)roles[history->items[i].section];
}

/* At one moment in the order of the roles. */
static int compare_roles(const void *a, const void *b) {
    const struct history_event *x = a, *y = b;
    if (x->time_ns == y->time_ns && x->role != y->role)
        return x->role < y->role ? -1 : 1;
    return compare_events(a, b);
}

void object_history_add_effect(struct object_history *history, struct history_event event) {
    event.kind = EVENT_EARLY_EFFECT;
    *VECTOR_ADD(history) = event;
    event.kind = EVENT_PASSES;
    *VECTOR_ADD(history) = event;
}

void object_history_sort(struct object_history *history) {
    VECTOR_SORT(history, compare_roles);
}

static struct object_history in_order(struct object_history history) {
    VECTOR_SORT(&history, compare_events);
    return history;
}

struct object_history object_history_of(const struct sections *sections,
                                        const struct monitors *monitors, int mutex) {
    struct object_history history = {0};
    struct map instance_of = MAP_EMPTY;
    size_t n;
    const size_t *of_mutex = sections_of(sections, mutex, &n);
    for (size_t i = 0; i < n; i++) {
        uint64_t own_mutex = (uint64_t)sections->sections[of_mutex[i]].mutex;
        int instance = map_get(&instance_of, own_mutex, -1);
        if (instance < 0) {
            instance = (int)history.n_instances++;
            map_put(&instance_of, own_mutex, instance);
        }
        object_history_add(&history, sections,
                           (struct history_event){.class_index = monitors->class_of[of_mutex[i]],
                                                  .section = (unsigned)of_mutex[i],
                                                  .instance = (unsigned)instance});
    }
    map_free(&instance_of);
    return in_order(history);
}

struct object_history object_history_of_one(const struct sections *sections, int mutex) {
    struct object_history history = {.n_instances = 1};
    size_t n;
    const size_t *of_class = sections_of(sections, sections_first_like(sections, mutex), &n);
    for (size_t i = 0; i < n; i++)
        if (sections->sections[of_class[i]].mutex == mutex)
            object_history_add(&history, sections,
                               (struct history_event){.section = (unsigned)of_class[i]});
    return in_order(history);
}
