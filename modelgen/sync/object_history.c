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

struct object_history object_history_of(const struct sections *sections,
                                        const struct monitors *monitors, int mutex) {
    struct object_history history = {0};
    struct map instance_of = MAP_EMPTY;
    size_t n;
    const size_t *of_mutex = sections_of(sections, mutex, &n);
    for (size_t i = 0; i < n; i++) {
        size_t s = of_mutex[i];
        const struct section *section = &sections->sections[s];
        int instance = map_get(&instance_of, (uint64_t)section->mutex, -1);
        if (instance < 0) {
            instance = (int)history.n_instances++;
            map_put(&instance_of, (uint64_t)section->mutex, instance);
        }
        int class_index = monitors->class_of[s];
        struct history_event event = {section->acquire_ns, EVENT_EARLY_EFFECT, class_index, s,
                                      (size_t)instance};
        *VECTOR_ADD(&history) = event;
        event.kind = EVENT_WAITS;
        for (size_t w = 0; w < section->n_waits; w++) {
            *VECTOR_ADD(&history) = event;
            event.time_ns = sections->waits[section->first_wait + w].end_ns;
        }
        if (section->cut)
            continue;
        event.kind = EVENT_PASSES;
        *VECTOR_ADD(&history) = event;
        event.kind = EVENT_EFFECT;
        *VECTOR_ADD(&history) = event;
    }
    map_free(&instance_of);
    if (history.count)
        qsort(history.items, history.count, sizeof *history.items, compare_events);
    return history;
}
