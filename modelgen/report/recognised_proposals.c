#include "modelgen/report/recognised_proposals.h"

#include <assert.h>
#include <stdlib.h>

#include "base/memory.h"
#include "modelgen/graph/model_builder.h"
#include "modelgen/report/recognised_draft.h"
#include "modelgen/report/recognised_guards.h"
#include "modelgen/report/recognised_patterns.h"
#include "modelgen/sync/counter_replay.h"
#include "modelgen/sync/source_monitors.h"

#define UNEXPLAINED_SHARE 0.05 /* of an object's waiting may stay unexplained */
#define ABOUT_AS_MANY     0.95 /* of the most waits that a guard tells: which tells most is chance */
/* Confidence in what the source alone says: of what the trace could not confirm ... */
#define UNCONFIRMED 0.3
#define UNWAITED    0.5 /* ... or had no reason to */

static const enum hand_made_kind kinds_of_source[] = {
    [MONITOR_BOUNDED_QUEUE] = HAND_MADE_BOUNDED_QUEUE,
    [MONITOR_UNBOUNDED_QUEUE] = HAND_MADE_UNBOUNDED_QUEUE,
    [MONITOR_SEMAPHORE] = HAND_MADE_SEMAPHORE,
    [MONITOR_BARRIER] = HAND_MADE_BARRIER,
    [MONITOR_EVENT] = HAND_MADE_EVENT,
    [MONITOR_COMPLETION] = HAND_MADE_COMPLETION,
    [MONITOR_RWLOCK] = HAND_MADE_RWLOCK,
    [MONITOR_TOKEN_POOL] = HAND_MADE_TOKEN_POOL,
    [MONITOR_HAND_OVER] = HAND_MADE_HAND_OVER,
    [MONITOR_THREAD_POOL] = HAND_MADE_THREAD_POOL,
    [MONITOR_OTHER] = HAND_MADE_OTHER,
};

/* What may look alike in a trace, so that the source decides: counters that are added to and taken
 * from; and states that are waited for but not taken. */
static bool is_counter(enum hand_made_kind kind) {
    return kind == HAND_MADE_BOUNDED_QUEUE || kind == HAND_MADE_UNBOUNDED_QUEUE ||
           kind == HAND_MADE_SEMAPHORE || kind == HAND_MADE_TOKEN_POOL ||
           kind == HAND_MADE_THREAD_POOL;
}

static bool is_state(enum hand_made_kind kind) {
    return kind == HAND_MADE_EVENT || kind == HAND_MADE_COMPLETION;
}

/* What the trace found and what the source said, as one kind. A queue whose putters never waited
 * for room may be bounded all the same, but one with room that ran out is not unbounded.
 * `is_confirmed`: the source's own commands explain the traced run. `most` items were there at
 * once: what is more than one at a time has happened or not is no event. */
static enum hand_made_kind kind_with_source(const struct facts_monitor *proposal,
                                            enum hand_made_kind found, bool is_confirmed,
                                            double most) {
    enum hand_made_kind said = proposal ? kinds_of_source[proposal->kind] : HAND_MADE_OTHER;
    if (proposal && proposal->users_word)
        return said;
    if (said == HAND_MADE_OTHER ||
        (found == HAND_MADE_BOUNDED_QUEUE && said == HAND_MADE_UNBOUNDED_QUEUE))
        return found;
    bool queue_of_one = found == HAND_MADE_UNBOUNDED_QUEUE && most < 2;
    if (is_confirmed || (is_counter(said) && is_counter(found)) ||
        (is_state(said) && (is_state(found) || queue_of_one)))
        return said;
    return found;
}

static bool is_confirmed(const struct tally *verdict) {
    return verdict->decisions >= 3 && violations_are_few(verdict->violations, verdict->decisions);
}

static void write_verdict(const struct lower_input *input, const struct proposed *proposed,
                          struct hand_made *monitor) {
    const struct tally *verdict = &proposed->verdict;
    if (proposed->proposal->why)
        recognised_add_evidence(monitor, "the source: %s", proposed->proposal->why);
    if (verdict->decisions == 0)
        return;
    recognised_add_evidence(
        monitor,
        "its statements carried out in the order of the run: %.0f decisions known, %.0f to "
        "wait; %.0f contradict it",
        verdict->decisions, verdict->waited, verdict->violations);
    if (!is_confirmed(verdict))
        recognised_add_contradictions(input, verdict, monitor);
    double sure =
        recognised_confidence(verdict->decisions, verdict->waited, verdict->violations, true);
    monitor->confidence = monitor->confidence > sure ? monitor->confidence : sure;
}

/* There is so much of it, and may be more or less of it in another configuration. */
static bool is_limit(const struct explanation *guard) {
    return guard->counter.kind == GUARD_TOKENS && guard->counter.take == 1;
}

/* The one with the most evidence; of those that tell about as much, a limit. NULL: there is none.
 */
static const struct explanation *naming_guard(const struct proposed *proposed) {
    const struct explanation **guards = proposed->guards.items, *found = NULL;
    double most = 0;
    for (size_t i = 0; i < proposed->guards.count; i++)
        most = guards[i]->tally.waited > most ? guards[i]->tally.waited : most;
    for (size_t i = 0; i < proposed->guards.count; i++) {
        if (guards[i]->tally.waited < ABOUT_AS_MANY * most)
            continue;
        bool differ = found && is_limit(guards[i]) != is_limit(found);
        if (!found ||
            (differ ? is_limit(guards[i]) : guards[i]->tally.waited > found->tally.waited))
            found = guards[i];
    }
    return found;
}

/* One of the guards names the object; another one that feeds it and is fed by it is its other side.
 */
static struct guard_group group_of(const struct lower_input *input,
                                   const struct proposed *proposed) {
    struct guard_group group = {
        .rooms = memory_alloc(proposed->guards.count + 1, sizeof(struct explanation *))};
    const struct explanation **guards = proposed->guards.items;
    for (size_t a = 0; a < proposed->guards.count && group.n_rooms == 0; a++)
        for (size_t b = a + 1; b < proposed->guards.count; b++)
            if (guard_group_are_sides(input->monitors, guards[a], guards[b])) {
                bool swap = guards[a]->counter.initial > guards[b]->counter.initial;
                group.items = guards[swap ? b : a];
                group.rooms[group.n_rooms++] = guards[swap ? a : b];
                break;
            }
    if (group.n_rooms == 0)
        group.items = naming_guard(proposed);
    return group;
}

static bool is_what_the_source_says(const struct hand_made *monitor,
                                    const struct facts_monitor *proposal) {
    return monitor->kind == kinds_of_source[proposal->kind];
}

static enum hand_made_kind kind_of_proposed(const struct lower_input *input,
                                            const struct proposed *proposed,
                                            const struct guard_group *group) {
    const struct facts_monitor *proposal = proposed->proposal;
    bool confirmed = is_confirmed(&proposed->verdict);
    if (proposed->pattern)
        return kind_with_source(proposal, proposed->pattern->pattern.kind, confirmed, 0);
    if (group->items)
        return kind_with_source(proposal, guard_group_kind(input->monitors, group),
                                confirmed || explanation_is_doubtful(group->items),
                                group->items->counter.most);
    return kinds_of_source[proposal->kind];
}

static void write_proposed_operations(const struct lower_input *input,
                                      const struct proposed *proposed,
                                      const struct guard_group *group, struct hand_made *monitor) {
    const struct facts_monitor *proposal = proposed->proposal;
    if (is_what_the_source_says(monitor, proposal))
        for (size_t i = 0; i < proposal->n_operations; i++)
            recognised_add_operation(monitor, (enum hand_made_role)proposal->operations[i].role,
                                     proposal->operations[i].place.function);
    else if (proposed->pattern)
        recognised_write_acts(input, proposed->pattern, monitor);
    else if (group->items)
        guard_group_write_operations(input->monitors, group->items, monitor);
}

/* Unless the pattern had one. */
static void write_proposed_amount(const struct lower_input *input, const struct proposed *proposed,
                                  const struct guard_group *group, const struct model *model,
                                  struct hand_made *monitor) {
    if (linear_is_known(&monitor->amount))
        return;
    if (group->n_rooms)
        guard_group_write_amount(group->rooms[0], model, monitor);
    else if (group->items &&
             (monitor->kind == HAND_MADE_SEMAPHORE || monitor->kind == HAND_MADE_TOKEN_POOL))
        guard_group_write_amount(group->items, model, monitor);
    else if (is_what_the_source_says(monitor, proposed->proposal))
        monitor->amount =
            model_builder_said(source_monitors_amount(input->trace, input->sections,
                                                      proposed->proposal, proposed->mutex),
                               input->pools);
}

/* How well it is modelled, why, and how sure that is. */
static void write_trust(const struct lower_input *input, const struct proposed *proposed,
                        const struct guard_group *group, struct hand_made *monitor) {
    const struct tally *verdict = &proposed->verdict;
    double waited_ns = 0, unexplained_ns = 0;
    proposal_matches_waiting(input, proposed, &waited_ns, &unexplained_ns);
    bool unexplained = unexplained_ns > UNEXPLAINED_SHARE * waited_ns;
    bool found = proposed->pattern || group->items || proposed->statements;
    bool doubtful = proposed->statements ? explanation_is_doubtful(proposed->statements)
                                         : group->items && explanation_is_doubtful(group->items);
    monitor->how = unexplained || doubtful ? MODELLED_BY_FALLBACK
                   : found                 ? MODELLED_EXACTLY
                                           : MODELLED_NOT;
    monitor->why = memory_strdup(
        proposed->statements && proposed->proposal->statements
            ? "by the user's word its statements are simulated"
        : proposed->statements
            ? "no counter or pattern that the model knows: its statements are simulated"
        : unexplained ? "proposed by the source; its waits follow no counter and no pattern that "
                        "the model knows"
        : group->items && group->items->counter.unknown_units
            ? "proposed by the source; how many each takes differs, and is not known"
        : doubtful ? "proposed by the source; a counter tells most of its waits, not all"
        : found || is_confirmed(verdict)
            ? "proposed by the source, confirmed by the trace"
            : "proposed by the source; nobody waited for it in the traced run");
    if (!found || proposed->statements) {
        monitor->replayed = verdict->decisions;
        monitor->violations = verdict->violations;
    }
    if (!found && verdict->decisions == 0)
        monitor->confidence = waited_ns > 0 ? UNCONFIRMED : UNWAITED;
}

void recognised_write_proposed(const struct lower_input *input, const struct proposed *proposed,
                               struct model *model) {
    struct guard_group group = group_of(input, proposed);
    assert(group.items || proposed->guards.count == 0);
    struct hand_made monitor = recognised_new(kind_of_proposed(input, proposed, &group));
    monitor.name = recognised_name(input, proposed->mutex, proposed->proposal, monitor.kind);
    if (proposed->pattern)
        recognised_write_replayed(input, proposed->pattern, model, true, &monitor);
    if (group.items)
        guard_group_write_found(input, &group, &monitor);
    for (size_t i = 0; i < proposed->guards.count; i++)
        recognised_add_part(&monitor, proposed->guards.items[i]->object);
    if (proposed->statements)
        recognised_add_part(&monitor, proposed->statements->object);
    write_verdict(input, proposed, &monitor);
    write_proposed_operations(input, proposed, &group, &monitor);
    write_proposed_amount(input, proposed, &group, model, &monitor);
    write_trust(input, proposed, &group, &monitor);
    free(group.rooms);
    recognised_add(model, monitor);
}
