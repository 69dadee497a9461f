#include "modelgen/sync/wait_loops.h"

#include <math.h>
#include <stdlib.h>

#include "base/map.h"
#include "base/memory.h"
#include "modelgen/candidates.h"
#include "modelgen/evidence.h"
#include "modelgen/sync/counter_search.h"

/* ---- several counters that must all be positive, such as a job and room for its result ---- */

/* Do these two guards say together when the sections of this entry wait, as what they take? */
static bool explain_by_both(const struct monitors *monitors, const struct explanation guards[2],
                            const struct object_history *history, int entry) {
    struct guard_walk first = guard_walk_begin(monitors, &guards[0], history);
    struct guard_walk second = guard_walk_begin(monitors, &guards[1], history);
    double decisions = 0, wrong = 0;
    while (guard_walk_next(&first) && guard_walk_next(&second)) { /* they come to the same ones */
        const struct history_event *event = first.decision;
        int class = event->class_index;
        if (monitors->classes[class].entry != entry || guards[0].counter.weight[class] >= 0 ||
            guards[1].counter.weight[class] >= 0)
            continue;
        bool there = guard_walk_lets_go_on(&first) && guard_walk_lets_go_on(&second);
        decisions++;
        wrong += there == (event->kind == EVENT_WAITS);
    }
    guard_walk_end(&first);
    guard_walk_end(&second);
    return decisions > 0 && violations_are_few(wrong, decisions);
}

struct both {
    const struct monitors *monitors;
    const struct explanation *guards; /* two in a row */
};

/* Does everybody who waits by this one wait by both? */
static bool is_outdone(const struct explanation *guard, const void *context) {
    const struct both *both = context;
    bool outdone = guard->by == BY_COUNTER && guard != &both->guards[0] &&
                   guard != &both->guards[1] && guard->mutex == both->guards->mutex &&
                   guard->counter.condition == both->guards->counter.condition;
    for (size_t c = 0; outdone && c < both->monitors->n_classes; c++)
        outdone = !guard->counter.waits[c] || both->guards->counter.waits[c];
    return outdone;
}

/* All who wait on the condition wait for the same: the last two guards stand for theirs, too, and
 * what few waits elsewhere seemed to tell is dropped. */
static void share_both(struct monitors *monitors, const struct object_history *history) {
    struct explanation *both = &monitors->explanations.items[monitors->explanations.count - 2];
    for (size_t c = 0; c < monitors->n_classes; c++) {
        const struct section_class *class = &monitors->classes[c];
        if (class->waits_on != both->counter.condition || both->counter.waits[c] ||
            class->mixed_waits || !explain_by_both(monitors, both, history, class->entry))
            continue;
        for (size_t d = 0; d < monitors->n_classes; d++)
            if (monitors->classes[d].entry == class->entry)
                both[0].counter.waits[d] = both[1].counter.waits[d] = true;
    }
    explanations_drop(monitors, is_outdone, &(struct both){monitors, both});
    both = &monitors->explanations.items[monitors->explanations.count - 2];
    for (size_t g = 0; g < 2; g++)
        guard_fill_outcomes(monitors, &both[g], history);
}

/* What no counter alone explains, or only with so many contradictions. Whoever needs two things
 * takes first what others give back: the order in which the second are taken is then that in which
 * they are used. True: two guards were added. */
static bool find_conjunction(struct monitors *monitors, const struct sections *sections,
                             const struct section_class *class, double contradictions,
                             const struct object_history *history) {
    struct counter_search first, second;
    int close_class;
    if (class->mixed_waits || history->n_instances != 1 ||
        !counter_search_both(monitors, history, class, &first, &second, &close_class) ||
        verdict_wrong(&first.best_verdict) + verdict_wrong(&second.best_verdict) >= contradictions)
        return false;
    bool swap = first.best_verdict.threshold == 0 && second.best_verdict.threshold != 0;
    const struct counter_search *order[] = {swap ? &second : &first, swap ? &first : &second};
    for (int i = 0; i < 2; i++) {
        struct explanation guard =
            guard_found(monitors, sections, order[i], class->mutex, class->waits_on, close_class);
        guard.counter.conjoined = true;
        if (i == 0 && order[1]->best_verdict.threshold == 0)
            guard.counter.close_class = -1; /* the items' end is the end */
        explanation_add(monitors, guard);
    }
    share_both(monitors, history);
    return true;
}

/* Do the sections of this entry wait by two guards together? */
static bool waits_by_both(const struct monitors *monitors, int entry) {
    for (struct explanation *e = NULL; (e = explanation_next(monitors, BY_COUNTER, e));)
        for (size_t c = 0; e->counter.conjoined && c < monitors->n_classes; c++)
            if (monitors->classes[c].entry == entry && e->counter.waits[c])
                return true;
    return false;
}

/* ---- one wait loop ---- */

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

/* What the sections of this class' entry wait for. */
static void find_waited_for(struct monitors *monitors, const struct sections *sections,
                            const struct section_class *class,
                            const struct object_history *history) {
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
    if (!left_out.conjunctions && contradictions >= evidence.several &&
        find_conjunction(monitors, sections, class, contradictions, history))
        return;
    if (found)
        guards_add_found(monitors, sections, &search, class->mutex, class->waits_on, close_class);
    else
        reject(monitors, class->mutex, &search.best_verdict);
}

void wait_loops_find(struct monitors *monitors, const struct sections *sections, int mutex,
                     const struct object_history *history) {
    bool *tried = memory_alloc(monitors->n_entries, sizeof *tried);
    for (size_t c = 0; c < monitors->n_classes; c++) {
        const struct section_class *class = &monitors->classes[c];
        if (class->mutex != mutex || class->waits == 0 || tried[class->entry] ||
            monitors_pattern_at(monitors, class->waits_on))
            continue;
        tried[class->entry] = true;
        if (!waits_by_both(monitors, class->entry) && !monitors_guard(monitors, c))
            find_waited_for(monitors, sections, class, history);
    }
    free(tried);
}
