#include "modelgen/sync/wait_loops.h"

#include <math.h>
#include <stdlib.h>

#include "base/map.h"
#include "base/memory.h"
#include "modelgen/candidates.h"
#include "modelgen/evidence.h"
#include "modelgen/sync/conjunctions.h"
#include "modelgen/sync/counter_search.h"

void wait_loops_set_explained(struct monitors *monitors, const struct sections *sections,
                              int condition, bool explained) {
    for (size_t o = 0; o < sections->n_objects; o++)
        if (sections_first_like(sections, (int)o) == condition)
            monitors->condition_explained[o] = explained;
}

/* Of mutexes that are alike the model makes one object. That is true where they are in use one
 * after the other, and to queues from which each thread takes by a mutex of its own, as the owner
 * of a mailbox: the queue goes to whoever is idle. */
static bool are_mailboxes(const struct sections *sections, const struct counter_search *search) {
    const struct object_history *history = search->history;
    int *owner = memory_alloc(history->n_instances, sizeof *owner); /* thread + 1 */
    bool good = hypothesis_takes(search->monitors, &search->best) && search->best.take == 1 &&
                search->best_verdict.threshold == 0;
    for (size_t i = 0; i < history->count && good; i++) {
        const struct history_event *event = &history->items[i];
        int thread = sections->sections[event->section].thread + 1;
        if (search->monitors->classes[event->class_index].entry != search->best.waiter_entry)
            continue;
        good = owner[event->instance] == 0 || owner[event->instance] == thread;
        owner[event->instance] = thread;
    }
    struct map owns = MAP_EMPTY;
    for (size_t i = 0; i < history->n_instances && good; i++) {
        uint64_t thread = (uint64_t)owner[i];
        good = thread == 0 || map_get(&owns, thread, 0) == 0;
        map_put(&owns, thread, 1);
    }
    map_free(&owns);
    free(owner);
    return good;
}

/* The counter that explains most of what the class waits for does not explain enough. */
static void reject(struct monitors *monitors, int mutex, const struct verdict *verdict) {
    const struct tally tally = {.decisions = verdict->waits + verdict->passes,
                                .waited = verdict->waits,
                                .violations = verdict_wrong(verdict),
                                .wrong_waits = verdict->wrong_waits};
    if (verdict->waits > 0)
        *VECTOR_ADD(&monitors->rejected) =
            (struct rejected){.mutex = mutex, .name = "counter", .tally = tally};
}

/* What the sections of this class' entry wait for. True: found. */
static bool find_waited_for(struct monitors *monitors, const struct sections *sections,
                            const struct section_class *class, const struct object_history *history,
                            struct guard_list *list) {
    struct counter_search search = {.monitors = monitors, .success = -1};
    int close_class = -1;
    bool found = !left_out.counter && !class->mixed_waits &&
                 counter_search_waits(&search, history, class, &close_class) &&
                 monitors_prove(monitors, class->mutex, search.best_verdict.turns);
    if (found && !sections->objects[class->mutex].alone) {
        search.as_one = counter_search_holds_as_one(&search, sections);
        found = search.as_one || are_mailboxes(sections, &search);
    }
    double contradictions = found ? verdict_wrong(&search.best_verdict) : INFINITY;
    if (!left_out.conjunctions && contradictions >= evidence.doubts &&
        conjunctions_find(monitors, sections, class, contradictions, history, list))
        return true;
    if (found)
        guards_add_found(monitors, sections, list, &search, class->mutex, class->waits_on,
                         close_class);
    else
        reject(monitors, class->mutex, &search.best_verdict);
    return found;
}

void wait_loops_find(struct monitors *monitors, const struct sections *sections, int mutex,
                     const struct object_history *history, struct guard_list *list) {
    bool *tried = memory_alloc(monitors->n_entries, sizeof *tried);
    for (size_t c = 0; c < monitors->n_classes; c++) {
        const struct section_class *class = &monitors->classes[c];
        if (class->mutex != mutex || class->waits == 0 || tried[class->entry] ||
            monitors->condition_in_pattern[class->waits_on])
            continue;
        tried[class->entry] = true;
        if (!conjunctions_waits(monitors, list, class->entry) &&
            !guards_explain(list->items, list->count, c))
            find_waited_for(monitors, sections, class, history, list);
    }
    for (size_t c = 0; c < monitors->n_classes; c++) /* a later one may have told of an earlier */
        if (tried[monitors->classes[c].entry] && monitors->classes[c].waits > 0 &&
            !guards_explain(list->items, list->count, c))
            wait_loops_set_explained(monitors, sections, monitors->classes[c].waits_on, false);
    free(tried);
}
