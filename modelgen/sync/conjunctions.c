#include "modelgen/sync/conjunctions.h"

#include "base/memory.h"
#include "modelgen/sync/counter_search.h"

/* Do these two guards say together when the sections of this entry wait, as what they take? */
static bool explain_by_both(const struct monitors *monitors, const struct guard guards[2],
                            const struct object_history *history, int entry) {
    struct guard_walk first = guard_walk_begin(monitors, &guards[0], history);
    struct guard_walk second = guard_walk_begin(monitors, &guards[1], history);
    double decisions = 0, wrong = 0;
    while (guard_walk_next(&first) && guard_walk_next(&second)) { /* they come to the same ones */
        const struct history_event *event = first.decision;
        int class = event->class_index;
        if (monitors->classes[class].entry != entry || guards[0].weight[class] >= 0 ||
            guards[1].weight[class] >= 0)
            continue;
        bool there = guard_walk_lets_go_on(&first) && guard_walk_lets_go_on(&second);
        decisions++;
        wrong += there == (event->kind == EVENT_WAITS);
    }
    guard_walk_end(&first);
    guard_walk_end(&second);
    return decisions > 0 && violations_are_few(wrong, decisions);
}

/* All who wait on the condition wait for the same: the last two guards stand for theirs, too, and
 * what few waits elsewhere seemed to tell is dropped. */
static void share_both(struct monitors *monitors, struct guard_list *list,
                       const struct object_history *history) {
    struct guard *both = &list->items[list->count - 2];
    for (size_t c = 0; c < monitors->n_classes; c++) {
        const struct section_class *class = &monitors->classes[c];
        if (class->waits_on != both->condition || both->waits[c] || class->mixed_waits ||
            !explain_by_both(monitors, both, history, class->entry))
            continue;
        for (size_t d = 0; d < monitors->n_classes; d++)
            if (monitors->classes[d].entry == class->entry)
                both[0].waits[d] = both[1].waits[d] = true;
    }
    size_t kept = 0;
    for (size_t g = 0; g < list->count; g++) {
        struct guard *guard = &list->items[g];
        bool outdone = g + 2 < list->count && guard->mutex == both->mutex &&
                       guard->condition == both->condition;
        for (size_t c = 0; outdone && c < monitors->n_classes; c++)
            outdone = !guard->waits[c] || both->waits[c];
        if (outdone)
            guard_free(guard);
        else
            list->items[kept++] = *guard;
    }
    list->count = kept;
    for (size_t g = kept - 2; g < kept; g++)
        guard_fill_outcomes(monitors, &list->items[g], history);
}

bool conjunctions_find(struct monitors *monitors, const struct sections *sections,
                       const struct section_class *class, double contradictions,
                       const struct object_history *history, struct guard_list *list) {
    struct counter_search first, second;
    int close_class;
    if (class->mixed_waits || history->n_instances != 1 ||
        !counter_search_both(monitors, history, class, &first, &second, &close_class) ||
        verdict_wrong(&first.best_verdict) + verdict_wrong(&second.best_verdict) >= contradictions)
        return false;
    bool swap = first.best_verdict.threshold == 0 && second.best_verdict.threshold != 0;
    const struct counter_search *order[] = {swap ? &second : &first, swap ? &first : &second};
    for (int i = 0; i < 2; i++) {
        struct guard guard =
            guard_found(monitors, sections, order[i], class->mutex, class->waits_on, close_class);
        guard.conjoined = true;
        if (i == 0 && order[1]->best_verdict.threshold == 0)
            guard.close_class = -1; /* the items' end is the end */
        *VECTOR_ADD(list) = guard;
    }
    share_both(monitors, list, history);
    return true;
}

bool conjunctions_waits(const struct monitors *monitors, const struct guard_list *list, int entry) {
    for (size_t g = 0; g < list->count; g++)
        for (size_t c = 0; list->items[g].conjoined && c < monitors->n_classes; c++)
            if (monitors->classes[c].entry == entry && list->items[g].waits[c])
                return true;
    return false;
}
