#include "modelgen/sync/source_guards.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "modelgen/candidates.h"
#include "modelgen/evidence.h"
#include "modelgen/sync/command_program.h"
#include "modelgen/sync/guards.h"
#include "modelgen/sync/monitor.h"
#include "modelgen/sync/observed_amounts.h"
#include "modelgen/sync/source_monitors.h"
#include "modelgen/sync/weighted_units.h"

static bool acts_as_put(const struct facts_monitor *proposal, const char *function) {
    return facts_monitor_acts(proposal, FACTS_PUT, function) ||
           facts_monitor_acts(proposal, FACTS_SUBMIT, function);
}

static bool acts_as_get(const struct facts_monitor *proposal, const char *function) {
    return facts_monitor_acts(proposal, FACTS_GET, function) ||
           facts_monitor_acts(proposal, FACTS_RUN, function);
}

/* Does the source say that who takes waits until something is there? */
static bool takers_wait(const struct trace *trace, const struct monitors *monitors,
                        const struct explanation *guard) {
    for (size_t c = 0; c < monitors->n_classes; c++) {
        const struct facts_section *commands =
            guard->counter.waits[c]
                ? command_program_section_at(trace, monitors->classes[c].context, guard->proposal)
                : NULL;
        for (size_t i = 0; commands && i < commands->n_steps; i++)
            if (commands->steps[i].kind == STEP_WAIT)
                return true;
    }
    return false;
}

/* Was nothing there whenever somebody waited, but for few times? */
static bool explains_waits(const struct monitors *monitors, const struct object_history *history,
                           const struct explanation *guard) {
    struct guard_walk walk = guard_walk_begin(monitors, guard, history);
    double wrong = 0, decisions = 0;
    while (guard_walk_next(&walk)) {
        if (!guard->counter.waits[walk.decision->class_index])
            continue;
        decisions++;
        wrong += walk.decision->kind == EVENT_WAITS && guard_walk_lets_go_on(&walk);
    }
    guard_walk_end(&walk);
    return violations_are_few(wrong, decisions);
}

/* A queue, by the source's word. True: the trace allows it. */
static bool try_proposed_queue(const struct trace *trace, const struct sections *sections,
                               const struct facts_monitor *proposal,
                               const struct object_history *history,
                               const struct monitors *monitors, struct explanation *result) {
    struct explanation guard = *result;
    int mutex = guard.mutex;
    bool puts = false, gets = false;
    for (size_t c = 0; c < monitors->n_classes; c++) {
        const struct section_class *class = &monitors->classes[c];
        if (class->mutex != mutex)
            continue;
        if (acts_as_put(proposal, class->function)) {
            guard.counter.weight[c] = 1;
            puts = true;
        } else if (acts_as_get(proposal, class->function)) {
            guard.counter.weight[c] = -1;
            guard.counter.waits[c] = gets = true;
        } else if (facts_monitor_acts(proposal, FACTS_CLOSE, class->function)) {
            guard.counter.close_class = (int)c;
        }
    }
    guard.counter.kind = GUARD_QUEUE;
    guard.proposal = proposal;
    guard_fill_outcomes(monitors, &guard, history);
    double yes = 0, no = 0;
    for (size_t s = 0; s < sections->n_sections; s++) {
        yes += guard.counter.outcome[s] == OUTCOME_YES;
        no += guard.counter.outcome[s] == OUTCOME_NO;
    }
    /* An attempt at an empty queue that did not wait must be the exception (the end). */
    bool holds = puts && gets && yes > 0 && no <= yes && explains_waits(monitors, history, &guard);
    guard.tally.decisions = yes + no;
    /* Without a close, "empty" itself is the answer: the caller does not wait, unless the source
     * knows better. Where it never was the answer, nothing shows what the caller would do then, so
     * it waits. */
    guard.counter.tries =
        guard.counter.close_class < 0 && no > 0 && !takers_wait(trace, monitors, &guard);
    *result = guard;
    return holds;
}

/* The most that were out at one time. */
static double most_out(const struct explanation *guard, const struct object_history *history) {
    double out = 0, most = 0;
    for (size_t i = 0; i < history->count; i++) {
        const struct history_event *event = &history->items[i];
        double units = guard->counter.units ? guard->counter.units[event->section] : 1;
        out -= event->kind == EVENT_EFFECT ? guard->counter.weight[event->class_index] * units : 0;
        most = fmax(most, out);
    }
    return most;
}

/* As many as the source says, or else a variable held. Where the source tells what it depends on
 * alone, those that were out show the rest, and it is one at least. False: nothing tells. */
static bool tell_tokens(const struct trace *trace, const struct sections *sections,
                        const struct monitors *monitors, double most, struct explanation *guard) {
    const struct facts_amount *said = &guard->proposal->amount;
    const struct facts_amount *own =
        source_monitors_amount(trace, sections, guard->proposal, guard->mutex);
    struct observed_amount seen = {0};
    if (!own->constant && !own->follows_threads)
        seen = observed_amounts_of(trace, sections, monitors, guard);
    guard->counter.seen = seen.value;
    guard->counter.initial = own->constant ? own->offset : seen.value ? seen.number : fmax(most, 1);
    return own->constant || seen.value || said->follows_threads || said->n_choices > 0;
}

/* Tokens, never fewer than were out at one time. The same. */
static bool try_proposed_tokens(const struct trace *trace, const struct sections *sections,
                                const struct facts_monitor *proposal,
                                const struct object_history *history,
                                const struct monitors *monitors, struct explanation *result) {
    struct explanation guard = *result;
    bool takes_some = false, gives = false;
    for (size_t c = 0; c < monitors->n_classes; c++) {
        const struct section_class *class = &monitors->classes[c];
        if (class->mutex != guard.mutex)
            continue;
        if (source_monitors_act(proposal, FACTS_ACQUIRE, class) ||
            source_monitors_act(proposal, FACTS_GET, class)) {
            guard.counter.weight[c] = -1;
            guard.counter.waits[c] = takes_some = true;
            guard.counter.condition =
                class->waits_on >= 0 ? class->waits_on : guard.counter.condition;
        } else if (source_monitors_act(proposal, FACTS_RELEASE, class) ||
                   source_monitors_act(proposal, FACTS_PUT, class)) {
            guard.counter.weight[c] = 1;
            gives = true;
        }
    }
    guard.counter.kind = GUARD_TOKENS;
    guard.proposal = proposal;
    bool in_units = facts_monitor_in_units(proposal);
    guard.counter.units = in_units ? weighted_units_find(trace, sections, monitors, &guard) : NULL;
    guard.counter.unknown_units = in_units && !guard.counter.units;
    double most = most_out(&guard, history);
    bool is_known = tell_tokens(trace, sections, monitors, most, &guard);
    guard_fill_outcomes(monitors, &guard, history);
    bool explains = guard_judge(monitors, history, &guard);
    *result = guard;
    return takes_some && gives && is_known && most <= guard.counter.initial && explains;
}

struct overruling {
    const struct monitors *monitors;
    const struct explanation *word;
};

static bool share_waiters(const struct monitors *monitors, const struct explanation *a,
                          const struct explanation *b) {
    bool share = false;
    for (size_t c = 0; c < monitors->n_classes; c++)
        share |= a->counter.waits[c] && b->counter.waits[c];
    return share;
}

/* Where few had to wait, or few need not, much explains who did. Does what was found say less of
 * the same waiters than the source's word: that they take nothing, or nothing of others that take?
 */
static bool gives_way(const struct monitors *monitors, const struct explanation *found,
                      const struct explanation *word) {
    double passed = found->tally.decisions - found->tally.waited;
    bool is_weak = fmin(found->tally.waited, passed) < evidence.convincing_turns &&
                   found->counter.condition >= 0;
    bool says_less = found->counter.kind == GUARD_LEVEL;
    for (size_t c = 0; c < monitors->n_classes; c++) {
        if (found->counter.waits[c] && !word->counter.waits[c])
            return false;
        says_less |= word->counter.waits[c] && !found->counter.waits[c];
    }
    return is_weak && says_less && !found->counter.conjoined;
}

/* Is it a guard that some wait by who do so by the source's word? */
static bool is_overruled(const struct explanation *guard, const void *context) {
    const struct overruling *overruling = context;
    return guard->by == BY_COUNTER && share_waiters(overruling->monitors, guard, overruling->word);
}

/* Puts the source's word in the place of what gives way to it, if the trace allows that. True: it
 * does, and `word` is the monitors'. */
static bool overrule(struct monitors *monitors, const struct object_history *history,
                     const struct explanation *word) {
    struct explanation proposed = *word;
    for (struct explanation *e = NULL; (e = explanation_next(monitors, BY_COUNTER, e));) {
        if (!share_waiters(monitors, e, word))
            continue;
        if (!gives_way(monitors, e, word))
            return false;
        proposed.counter.condition = e->counter.condition;
    }
    proposed.counter.tries = false;
    proposed.counter.by_source = true;
    if (proposed.counter.condition < 0 || !guard_judge(monitors, history, &proposed))
        return false;
    guard_fill_outcomes(monitors, &proposed, history);
    explanations_drop(monitors, is_overruled, &(struct overruling){monitors, word});
    explanation_add(monitors, proposed);
    return true;
}

/* Did several threads use one each of the mutexes alike, and nobody else's? Then each is its
 * thread's own: nobody waits for somebody else there. */
static bool is_own_of_threads(const struct sections *sections,
                              const struct object_history *history) {
    int *user = memory_alloc(history->n_instances, sizeof *user); /* thread + 1 */
    int first = 0;
    bool own = true, several = false;
    for (size_t i = 0; i < history->count && own; i++) {
        const struct history_event *event = &history->items[i];
        int thread = sections->sections[event->section].thread + 1;
        own = user[event->instance] == 0 || user[event->instance] == thread;
        user[event->instance] = thread;
        first = first ? first : thread;
        several |= thread != first;
    }
    free(user);
    return own && several;
}

void source_guards_find(const struct trace *trace, const struct sections *sections, int mutex,
                        const struct object_history *history, struct monitors *monitors) {
    const struct facts_monitor *proposal = monitors->proposal_of[mutex];
    if (!proposal || left_out.proposals || is_own_of_threads(sections, history))
        return;
    bool has_items = false, has_any = false; /* the trace already told what it is */
    for (size_t i = 0; i < monitors->explanations.count; i++) {
        const struct explanation *known = &monitors->explanations.items[i];
        has_items |=
            known->mutex == mutex && known->by == BY_COUNTER && known->counter.kind == GUARD_QUEUE;
        has_any |= known->mutex == mutex;
    }
    struct explanation guard = guard_empty(monitors, sections, mutex);
    bool holds = false, is_told = has_any;
    switch (proposal->kind) {
    case MONITOR_BOUNDED_QUEUE:
    case MONITOR_UNBOUNDED_QUEUE:
    case MONITOR_THREAD_POOL:
        holds = try_proposed_queue(trace, sections, proposal, history, monitors, &guard);
        is_told = has_items;
        break;
    case MONITOR_SEMAPHORE:
    case MONITOR_TOKEN_POOL:
        holds = try_proposed_tokens(trace, sections, proposal, history, monitors, &guard);
        break;
    default:
        break;
    }
    if (holds && overrule(monitors, history, &guard))
        return;
    if (holds && !is_told)
        explanation_add(monitors, guard);
    else
        explanation_free(&guard);
}

/* ---- capacities that nobody met ---- */

struct room_finder {
    const struct trace *trace;
    const struct sections *sections;
    const struct thread_pools *pools;
    const struct monitors *monitors;
};

/* ---- who takes it and gives it back ---- */

/* Does the source or the user say that these sections wait for room as long as it takes? Others put
 * all the same where there is none, or give up. */
static bool wait_for_room(const struct room_finder *finder, const struct section_class *class,
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
static bool write_sides(const struct room_finder *finder, const struct explanation *items,
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
static double said(const struct room_finder *finder, const struct explanation *room) {
    const struct facts_amount *amount =
        source_monitors_amount(finder->trace, finder->sections, room->proposal, room->mutex);
    if (amount->n_choices > 0)
        return NAN;
    return amount->follows_threads ? amount->factor * threads_of(finder->pools) + amount->offset
           : amount->constant      ? amount->offset
                                   : NAN;
}

static void tell_amount(const struct room_finder *finder, struct explanation *room) {
    room->counter.initial = said(finder, room);
    if (!isnan(room->counter.initial))
        return;
    struct observed_amount seen =
        observed_amounts_of(finder->trace, finder->sections, finder->monitors, room);
    room->counter.seen = seen.value;
    room->counter.initial = seen.value ? seen.number : NAN;
}

/* ---- the guard ---- */

static void evaluate(const struct room_finder *finder, struct explanation *room) {
    struct object_history history =
        object_history_of(finder->sections, finder->monitors, room->mutex);
    guard_fill_outcomes(finder->monitors, room, &history);
    for (size_t i = 0; i < history.count; i++)
        room->tally.decisions += history.items[i].kind == EVENT_PASSES &&
                                 room->counter.waits[history.items[i].class_index];
    free(history.items);
}

/* One queue that stands for several has not the room of one. */
static bool is_one_queue(const struct room_finder *finder, const struct explanation *items) {
    return items->by == BY_COUNTER && items->counter.kind == GUARD_QUEUE && items->proposal &&
           items->proposal->kind == MONITOR_BOUNDED_QUEUE &&
           (items->counter.as_one || finder->sections->objects[items->mutex].alone);
}

/* The room for these items. True: found; explanation_free() ends it. */
static bool find_room(const struct room_finder *finder, const struct explanation *items,
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
    const struct room_finder finder = {trace, sections, pools, monitors};
    size_t n_found = monitors->explanations.count;
    for (size_t i = 0; i < n_found; i++) {
        struct explanation room;
        if (find_room(&finder, &monitors->explanations.items[i], &room))
            explanation_add(monitors, room);
    }
}
