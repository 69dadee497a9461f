#include "modelgen/sync/queue_capacities.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "modelgen/sync/command_program.h"
#include "modelgen/sync/guards.h"
#include "modelgen/sync/monitor.h"
#include "modelgen/sync/observed_amounts.h"
#include "modelgen/sync/source_monitors.h"

struct finder {
    const struct trace *trace;
    const struct sections *sections;
    const struct thread_pools *pools;
    const struct monitors *monitors;
};

/* ---- who takes it and gives it back ---- */

/* Does the source or the user say that these sections wait for room as long as it takes? Others put
 * all the same where there is none, or give up. */
static bool wait_for_room(const struct finder *finder, const struct section_class *class,
                          const struct facts_monitor *proposal) {
    const struct facts_section *commands =
        command_program_section_at(finder->trace, class->context, proposal);
    bool waits = proposal->users_word;
    for (size_t i = 0; commands && i < commands->n_steps; i++) {
        if (commands->steps[i].kind == STEP_WAIT && commands->steps[i].timed)
            return false;
        waits |= commands->steps[i].kind == STEP_WAIT;
    }
    return waits;
}

/* Whoever puts an item takes room, one for each, and whoever gets it gives that back. False: it is
 * not as simple as that. */
static bool write_sides(const struct finder *finder, const struct explanation *items,
                        struct explanation *room) {
    const struct monitors *monitors = finder->monitors;
    bool any = false;
    for (size_t c = 0; c < monitors->n_classes; c++) {
        const struct section_class *class = &monitors->classes[c];
        int weight = items->counter.weight[c];
        bool puts = weight > 0 || source_monitors_act(items->proposal, FACTS_PUT, class);
        if (class->mutex != items->mutex || (weight == 0 && !puts))
            continue;
        if (weight != (puts ? 1 : -1) ||
            (puts && (items->counter.waits[c] || !wait_for_room(finder, class, items->proposal))))
            return false;
        room->counter.weight[c] = -weight;
        room->counter.waits[c] = puts;
        any |= puts;
    }
    return any;
}

/* Did anybody wait who puts, or is it known already what for? */
static bool is_met(const struct monitors *monitors, const struct explanation *room) {
    for (size_t c = 0; c < monitors->n_classes; c++)
        if (room->counter.waits[c] &&
            (monitors->classes[c].waits > 0 || monitors_guard(monitors, c)))
            return true;
    for (struct explanation *e = NULL; (e = explanation_next(monitors, BY_PATTERN, e));)
        if (e->mutex == room->mutex)
            return true;
    return false;
}

/* ---- how much there is ---- */

/* In this run; NAN: not known. */
static double threads_of(const struct thread_pools *pools) {
    for (size_t p = 0; p < pools->n_pools; p++)
        if (thread_pools_follows(pools, p))
            return pools->pools[p].size;
    return NAN;
}

/* NAN: the source does not tell, or not which of several it is. */
static double said(const struct finder *finder, const struct explanation *room) {
    const struct facts_amount *amount =
        source_monitors_amount(finder->trace, finder->sections, room->proposal, room->mutex);
    if (amount->n_choices > 0)
        return NAN;
    return amount->follows_threads ? amount->factor * threads_of(finder->pools) + amount->offset
           : amount->constant      ? amount->offset
                                   : NAN;
}

static void tell_amount(const struct finder *finder, struct explanation *room) {
    room->counter.initial = said(finder, room);
    if (!isnan(room->counter.initial))
        return;
    struct observed_amount seen =
        observed_amounts_of(finder->trace, finder->sections, finder->monitors, room);
    room->counter.seen = seen.value;
    room->counter.initial = seen.value ? seen.number : NAN;
}

/* ---- the guard ---- */

static void evaluate(const struct finder *finder, struct explanation *room) {
    struct object_history history =
        object_history_of(finder->sections, finder->monitors, room->mutex);
    guard_fill_outcomes(finder->monitors, room, &history);
    for (size_t i = 0; i < history.count; i++)
        room->tally.decisions += history.items[i].kind == EVENT_PASSES &&
                                 room->counter.waits[history.items[i].class_index];
    free(history.items);
}

/* One queue that stands for several has not the room of one. */
static bool is_one_queue(const struct finder *finder, const struct explanation *items) {
    return items->by == BY_COUNTER && items->counter.kind == GUARD_QUEUE && items->proposal &&
           items->proposal->kind == MONITOR_BOUNDED_QUEUE &&
           (items->counter.as_one || finder->sections->objects[items->mutex].alone);
}

/* The room for these items. True: found; explanation_free() ends it. */
static bool find_room(const struct finder *finder, const struct explanation *items,
                      struct explanation *room) {
    if (!is_one_queue(finder, items))
        return false;
    *room = guard_empty(finder->monitors, finder->sections, items->mutex);
    room->counter.kind = GUARD_TOKENS;
    room->proposal = items->proposal;
    bool found = write_sides(finder, items, room) && !is_met(finder->monitors, room);
    if (found)
        tell_amount(finder, room);
    found &= items->counter.most - items->counter.initial <=
             room->counter.initial; /* not if that is not known */
    if (found)
        evaluate(finder, room);
    else
        explanation_free(room);
    return found;
}

void queue_capacities_find(const struct trace *trace, const struct sections *sections,
                           const struct thread_pools *pools, struct monitors *monitors) {
    const struct finder finder = {trace, sections, pools, monitors};
    size_t n_found = monitors->explanations.count;
    for (size_t i = 0; i < n_found; i++) {
        struct explanation room;
        if (find_room(&finder, &monitors->explanations.items[i], &room))
            explanation_add(monitors, room);
    }
}
