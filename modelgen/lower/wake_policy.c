#include "modelgen/lower/wake_policy.h"

#include <stdlib.h>

#include "base/memory.h"
#include "modelgen/evidence.h"
#include "modelgen/sync/object_history.h"

void wake_policy_count(const struct sections *sections, const struct section *section,
                       int condition, struct wake_counts *told) {
    for (size_t i = 0; i < section->n_signals; i++) {
        const struct section_signal *signal = &sections->signals[section->first_signal + i];
        if (condition == MODEL_NONE ||
            sections_first_like(sections, signal->condition) == condition)
            *(signal->broadcast ? &told->broadcasts : &told->signals) += 1;
    }
}

static bool adds(const struct writer *writer, const struct explanation *guard, size_t section) {
    return guard->counter.weight[writer->in->monitors->class_of[section]] > 0;
}

/* Where nobody waited it is not known on which condition one would, nor whether who added in
 * silence had somebody to tell: then all must tell, any condition. */
static bool all_broadcast(const struct writer *writer, const struct explanation *guard) {
    const struct sections *sections = writer->in->sections;
    bool any = false;
    for (size_t s = 0; s < sections->n_sections; s++) {
        struct wake_counts told = {0};
        if (!adds(writer, guard, s))
            continue;
        wake_policy_count(sections, &sections->sections[s], MODEL_NONE, &told);
        if (told.broadcasts == 0)
            return false;
        any = true;
    }
    return any;
}

bool wake_policy_is_broadcast(const struct writer *writer, const struct explanation *guard) {
    const struct sections *sections = writer->in->sections;
    struct wake_counts told = {0};
    if (guard->counter.condition < 0)
        return all_broadcast(writer, guard);
    for (size_t s = 0; s < sections->n_sections; s++)
        if (adds(writer, guard, s))
            wake_policy_count(sections, &sections->sections[s], guard->counter.condition, &told);
    return told.broadcasts > told.signals;
}

/* ---- into what is empty ---- */

/* Puts into an empty queue, and into others: those that were told by broadcast, and the rest. */
struct puts {
    double told, silent;
};

static void count_put(const struct writer *writer, const struct explanation *guard,
                      const struct history_event *event, struct puts *puts) {
    const struct sections *sections = writer->in->sections;
    struct wake_counts told = {0};
    wake_policy_count(sections, &sections->sections[event->section],
                      guard->counter.condition < 0 ? MODEL_NONE : guard->counter.condition, &told);
    puts->told += told.broadcasts > 0;
    puts->silent += told.broadcasts + told.signals == 0;
}

bool wake_policy_when_empty(const struct writer *writer, const struct explanation *guard) {
    if (guard->by != BY_COUNTER || guard->counter.kind != GUARD_QUEUE)
        return false;
    const struct monitors *monitors = writer->in->monitors;
    struct object_history history = object_history_of(writer->in->sections, monitors, guard->mutex);
    double *items = memory_alloc(history.n_instances, sizeof *items);
    struct puts into_empty = {0}, into_others = {0};
    for (size_t i = 0; i < history.count; i++) {
        const struct history_event *event = &history.items[i];
        int weight = guard->counter.weight[event->class_index];
        double *there = &items[event->instance];
        if (!event_changes(event, guard->counter.early[event->class_index]) ||
            (guard->counter.waits[event->class_index] &&
             guard->counter.outcome[event->section] == OUTCOME_NO))
            continue;
        if (weight > 0)
            count_put(writer, guard, event, *there < 0.5 ? &into_empty : &into_others);
        *there += weight;
    }
    free(items);
    free(history.items);
    return into_empty.told > 0 && into_empty.silent == 0 && into_others.told == 0 &&
           into_others.silent >= evidence.times_seen;
}

/* ---- who waits when ---- */

struct waiting {
    int mutex;
    uint64_t start_ns, end_ns;
};

struct waits {
    struct waiting *items;
    size_t count, capacity;
};

/* By mutex, then by start. */
static int compare_waiting(const void *left, const void *right) {
    const struct waiting *a = left, *b = right;
    if (a->mutex != b->mutex)
        return a->mutex < b->mutex ? -1 : 1;
    return (a->start_ns > b->start_ns) - (a->start_ns < b->start_ns);
}

/* All waits for the guard, ordered. Each ends as late as the latest that began before it at the
 * same mutex: whether one goes on at a moment is then told by the last that has begun. The caller
 * frees the items. */
static struct waits find_waits(const struct writer *writer, const struct explanation *guard) {
    const struct sections *sections = writer->in->sections;
    struct waits waits = {0};
    for (size_t s = 0; s < sections->n_sections; s++) {
        const struct section *section = &sections->sections[s];
        for (size_t w = 0; w < section->n_waits; w++) {
            const struct section_wait *wait = &sections->waits[section->first_wait + w];
            if (sections_first_like(sections, wait->condition) == guard->counter.condition)
                *VECTOR_ADD(&waits) =
                    (struct waiting){section->mutex, wait->start_ns, wait->end_ns};
        }
    }
    if (waits.count > 0)
        qsort(waits.items, waits.count, sizeof *waits.items, compare_waiting);
    for (size_t i = 1; i < waits.count; i++) {
        const struct waiting *before = &waits.items[i - 1];
        struct waiting *wait = &waits.items[i];
        if (wait->mutex == before->mutex && wait->end_ns < before->end_ns)
            wait->end_ns = before->end_ns;
    }
    return waits;
}

static bool somebody_waits(const struct waits *waits, const struct section *section) {
    size_t low = 0, high = waits->count; /* how many began before */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct waiting *wait = &waits->items[middle];
        bool before = wait->mutex != section->mutex ? wait->mutex < section->mutex
                                                    : wait->start_ns < section->acquire_ns;
        if (before)
            low = middle + 1;
        else
            high = middle;
    }
    const struct waiting *last = low > 0 ? &waits->items[low - 1] : NULL;
    return last && last->mutex == section->mutex && last->end_ns > section->release_ns;
}

bool wake_policy_when_enough(const struct writer *writer, const struct explanation *guard) {
    const struct sections *sections = writer->in->sections;
    struct waits waits = find_waits(writer, guard);
    bool found = false;
    for (size_t s = 0; s < sections->n_sections && !found; s++) {
        const struct section *section = &sections->sections[s];
        struct wake_counts told = {0};
        if (!adds(writer, guard, s))
            continue;
        wake_policy_count(sections, section, guard->counter.condition, &told);
        found = told.broadcasts + told.signals == 0 && somebody_waits(&waits, section);
    }
    free(waits.items);
    return found;
}
