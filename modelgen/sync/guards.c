#include "modelgen/sync/guards.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "modelgen/sync/operation_classes.h"

struct explanation guard_empty(const struct monitors *monitors, const struct sections *sections,
                               int mutex) {
    return (struct explanation){
        .by = BY_COUNTER,
        .mutex = mutex,
        .object = MODEL_NONE,
        .counter = {.condition = -1,
                    .close_class = -1,
                    .take = 1,
                    .weight = memory_alloc(monitors->n_classes, sizeof(int)),
                    .early = memory_alloc(monitors->n_classes, sizeof(bool)),
                    .waits = memory_alloc(monitors->n_classes, sizeof(bool)),
                    .outcome = memory_alloc(sections->n_sections, sizeof(enum outcome))}};
}

static void note_contradiction(struct explanation *guard, const struct history_event *event,
                               double counter) {
    if (guard->tally.n_contradictions < CONTRADICTIONS_SHOWN)
        guard->tally.contradictions[guard->tally.n_contradictions++] = (struct contradiction){
            event->time_ns, event->section, event->kind == EVENT_WAITS, counter};
}

/* How many the section changes the counter by ... */
static double added_by(const struct explanation *guard, const struct history_event *event) {
    double units = guard->counter.units ? guard->counter.units[event->section] : 1;
    return guard->counter.weight[event->class_index] * units;
}

/* ... and are there enough for it? */
static bool is_enough(const struct explanation *guard, const struct history_event *event,
                      double counter) {
    double wanted =
        guard->counter.units ? guard->counter.units[event->section] : guard->counter.take;
    return counter > wanted - 0.5;
}

/* One for each instance. The caller frees. */
static double *initial_counters(const struct explanation *guard,
                                const struct object_history *history) {
    double *counters = memory_alloc(history->n_instances, sizeof *counters);
    for (size_t i = 0; i < history->n_instances; i++)
        counters[i] = guard->counter.initial;
    return counters;
}

/* From when on nobody waits any more; UINT64_MAX: never. */
static uint64_t closed_ns(const struct monitors *monitors, const struct explanation *guard) {
    return guard->counter.close_class >= 0 ? monitors->classes[guard->counter.close_class].first_ns
                                           : UINT64_MAX;
}

#define NO_SECTION ((size_t)-1)

/* What the thread that closes did right before. Where those who take also put, the last one to come
 * does not wait: it finds that nobody is left who could put anything, and closes. NO_SECTION: it
 * did nothing, or nobody closes. */
static size_t last_look(const struct monitors *monitors, const struct explanation *guard,
                        const struct object_history *history) {
    for (size_t i = 0; i < history->count && guard->counter.close_class >= 0; i++) {
        size_t closer = history->items[i].section;
        if (history->items[i].class_index != guard->counter.close_class)
            continue;
        const size_t *first = monitors->first_of_thread;
        while (*first < closer)
            first++;
        return *first == closer ? NO_SECTION : closer - 1;
    }
    return NO_SECTION;
}

void guard_fill_outcomes(const struct monitors *monitors, struct explanation *guard,
                         const struct object_history *history) {
    double *counters = initial_counters(guard, history);
    guard->tally.n_contradictions = 0;
    guard->counter.most = guard->counter.initial;
    uint64_t end_ns = closed_ns(monitors, guard);
    size_t closes_next = last_look(monitors, guard, history);
    for (size_t i = 0; i < history->count; i++) {
        const struct history_event *event = &history->items[i];
        int weight = guard->counter.weight[event->class_index];
        bool waiter = guard->counter.waits[event->class_index];
        enum outcome *outcome = &guard->counter.outcome[event->section];
        double counter = counters[event->instance];
        if (event_changes(event, guard->counter.early[event->class_index])) {
            if (!waiter || *outcome == OUTCOME_YES)
                counters[event->instance] += added_by(guard, event);
            guard->counter.most = fmax(guard->counter.most, counters[event->instance]);
        } else if (waiter && event->kind == EVENT_PASSES) {
            bool failed_try = guard->counter.tries && weight == 0;
            bool is_short = !is_enough(guard, event, counter);
            bool closed = is_short && (event->time_ns >= end_ns || guard->counter.condition < 0 ||
                                       event->section == closes_next);
            *outcome = failed_try || closed ? OUTCOME_NO : OUTCOME_YES;
            if (*outcome == OUTCOME_YES && is_short)
                note_contradiction(guard, event, counter);
        } else if (waiter && event->kind == EVENT_WAITS) {
            *outcome = OUTCOME_NO; /* unless it goes on */
            if (is_enough(guard, event, counter) && event->time_ns < end_ns &&
                !guard->counter.conjoined)
                note_contradiction(guard, event, counter);
        }
    }
    free(counters);
}

struct guard_walk guard_walk_begin(const struct monitors *monitors, const struct explanation *guard,
                                   const struct object_history *history) {
    return (struct guard_walk){.guard = guard,
                               .history = history,
                               .counters = initial_counters(guard, history),
                               .closed_ns = closed_ns(monitors, guard)};
}

bool guard_walk_next(struct guard_walk *walk) {
    const struct explanation *guard = walk->guard;
    for (walk->decision = NULL; walk->next < walk->history->count && !walk->decision;
         walk->next++) {
        const struct history_event *event = &walk->history->items[walk->next];
        if (event_changes(event, guard->counter.early[event->class_index]))
            walk->counters[event->instance] += added_by(guard, event);
        else if (event_decides(event))
            walk->decision = event;
    }
    return walk->decision;
}

bool guard_walk_lets_go_on(const struct guard_walk *walk) {
    return is_enough(walk->guard, walk->decision, walk->counters[walk->decision->instance]) ||
           walk->decision->time_ns >= walk->closed_ns;
}

void guard_walk_end(struct guard_walk *walk) {
    free(walk->counters);
}

bool guard_judge(const struct monitors *monitors, const struct object_history *history,
                 struct explanation *guard) {
    struct guard_walk walk = guard_walk_begin(monitors, guard, history);
    guard->tally.decisions = guard->tally.waited = guard->tally.violations = 0;
    while (guard_walk_next(&walk)) {
        bool waits = walk.decision->kind == EVENT_WAITS;
        if (!guard->counter.waits[walk.decision->class_index])
            continue;
        guard->tally.decisions++;
        guard->tally.waited += waits;
        guard->tally.violations += waits == guard_walk_lets_go_on(&walk);
    }
    guard_walk_end(&walk);
    return violations_are_few(guard->tally.violations, guard->tally.decisions);
}

/* Counts what contradicts the guard if those who wait by `other` wait by it too. */
static double contradictions_with(const struct monitors *monitors, const struct explanation *guard,
                                  const struct explanation *other,
                                  const struct object_history *history) {
    struct guard_walk walk = guard_walk_begin(monitors, guard, history);
    double wrong = 0;
    while (guard_walk_next(&walk)) {
        const struct history_event *event = walk.decision;
        if ((guard->counter.waits[event->class_index] ||
             other->counter.waits[event->class_index]) &&
            event->time_ns < walk.closed_ns)
            wrong += guard_walk_lets_go_on(&walk) == (event->kind == EVENT_WAITS);
    }
    guard_walk_end(&walk);
    return wrong;
}

static bool same_weights(const struct monitors *monitors, const struct explanation *a,
                         const struct explanation *b) {
    return a->mutex == b->mutex && a->counter.tries == b->counter.tries &&
           a->counter.initial == b->counter.initial &&
           memcmp(a->counter.weight, b->counter.weight,
                  monitors->n_classes * sizeof *a->counter.weight) == 0;
}

/* Two call sites that wait for the same thing: equal guards, or the one that says more explains the
 * other's waits at the same condition as well, as what they take. */
static bool is_same_guard(const struct monitors *monitors, const struct explanation *known,
                          const struct explanation *guard, const struct object_history *history) {
    if (same_weights(monitors, known, guard))
        return true;
    if (known->mutex != guard->mutex || known->counter.condition < 0 ||
        known->counter.condition != guard->counter.condition ||
        known->counter.kind == GUARD_LEVEL || known->counter.tries || guard->counter.tries)
        return false;
    for (size_t c = 0; c < monitors->n_classes; c++)
        if (guard->counter.waits[c] && known->counter.weight[c] >= 0)
            return false;
    return violations_are_few(contradictions_with(monitors, known, guard, history),
                              known->tally.decisions + guard->tally.decisions);
}

/* `guard` stands for what `other` waits for, too. Ends the other one. */
static void join_guard(const struct monitors *monitors, struct explanation *guard,
                       struct explanation *other) {
    for (size_t c = 0; c < monitors->n_classes; c++)
        guard->counter.waits[c] |= other->counter.waits[c];
    guard->tally.decisions += other->tally.decisions;
    guard->tally.waited += other->tally.waited;
    guard->tally.violations += other->tally.violations;
    guard->counter.as_one &= other->counter.as_one;
    guard->counter.worked_out |= other->counter.worked_out;
    explanation_free(other);
}

/* Adds a guard, or joins it with one that stands for the same thing. */
static void add_guard(struct monitors *monitors, struct explanation guard,
                      const struct object_history *history) {
    for (struct explanation *known = NULL;
         (known = explanation_next(monitors, BY_COUNTER, known));) {
        if (is_same_guard(monitors, known, &guard, history)) {
            join_guard(monitors, known, &guard);
        } else if (is_same_guard(monitors, &guard, known, history)) {
            join_guard(monitors, &guard, known);
            *known = guard;
        } else {
            continue;
        }
        guard_fill_outcomes(monitors, known, history);
        return;
    }
    guard_fill_outcomes(monitors, &guard, history);
    explanation_add(monitors, guard);
}

/* Do sections that never wait for it take what is not there yet? Work that is handed out is owed so
 * until it is done: nobody could take that from a queue. */
static bool is_owed(const struct explanation *guard, const struct object_history *history) {
    double *counters = initial_counters(guard, history);
    double takes = 0, owed = 0;
    for (size_t i = 0; i < history->count; i++) {
        const struct history_event *event = &history->items[i];
        if (!event_changes(event, guard->counter.early[event->class_index]))
            continue;
        double *counter = &counters[event->instance];
        *counter += added_by(guard, event);
        if (guard->counter.weight[event->class_index] >= 0 ||
            guard->counter.waits[event->class_index])
            continue;
        takes++;
        owed += *counter < -0.5;
    }
    free(counters);
    return !violations_are_few(owed, takes);
}

struct explanation guard_found(const struct monitors *monitors, const struct sections *sections,
                               const struct counter_search *search, int mutex, int condition,
                               int close_class) {
    struct explanation guard = guard_empty(monitors, sections, mutex);
    const struct hypothesis *best = &search->best;
    guard.score = search->best_score;
    guard.counter.condition = condition;
    guard.counter.close_class = close_class;
    guard.counter.tries = best->tries;
    guard.counter.as_one = search->as_one;
    guard.counter.worked_out = search->by_operation;
    guard.counter.take = hypothesis_takes(monitors, best) ? (double)best->take : 1;
    guard.counter.initial = guard.counter.take - 1 - (double)search->best_verdict.threshold;
    for (int i = 0; i < search->n_classes; i++) {
        guard.counter.weight[search->classes[i]] = best->weight[i];
        guard.counter.early[search->classes[i]] = best->early[i];
    }
    for (size_t c = 0; c < monitors->n_classes; c++)
        guard.counter.waits[c] =
            monitors->classes[c].mutex == mutex && counter_search_is_waiter(search, (int)c);
    if (!hypothesis_takes(monitors, best))
        guard.counter.kind = GUARD_LEVEL;
    else
        guard.counter.kind =
            guard.counter.initial > 0 || guard.counter.take > 1 || is_owed(&guard, search->history)
                ? GUARD_TOKENS
                : GUARD_QUEUE;
    guard.tally.decisions = search->best_verdict.waits + search->best_verdict.passes;
    guard.tally.waited = search->best_verdict.waits;
    guard.tally.violations = verdict_wrong(&search->best_verdict);
    return guard;
}

/* What the code of this class adds by the guard where it is called elsewhere; 0: nothing, or not
 * always the same, or it waits there as well, and what it does may depend on that. */
static int added_elsewhere(const struct monitors *monitors, const struct explanation *guard,
                           const struct section_class *class) {
    int added = 0;
    for (size_t c = 0; c < monitors->n_classes; c++) {
        const struct section_class *other = &monitors->classes[c];
        if (other->mutex != class->mutex || !class_is_same_operation(other, class))
            continue;
        bool differs =
            other->entry != class->entry &&
            (guard->counter.weight[c] <= 0 || (added > 0 && guard->counter.weight[c] != added));
        if (other->waits > 0 || guard->counter.waits[c] || (int)c == guard->counter.close_class ||
            differs || (other->entry == class->entry && guard->counter.weight[c] != 0))
            return 0;
        added = other->entry != class->entry ? guard->counter.weight[c] : added;
    }
    return added;
}

static void set_weights(const struct monitors *monitors, struct explanation *guard, int entry,
                        int weight) {
    for (size_t c = 0; c < monitors->n_classes; c++)
        if (monitors->classes[c].entry == entry)
            guard->counter.weight[c] = weight;
}

/* Whoever adds may signal only where somebody waits: the same code adds as well where it was called
 * and never had to, unless the trace contradicts that. */
static void add_elsewhere(const struct monitors *monitors, const struct object_history *history,
                          struct explanation *guard) {
    for (size_t c = 0; c < monitors->n_classes; c++) {
        const struct section_class *class = &monitors->classes[c];
        int added = class->mutex == guard->mutex ? added_elsewhere(monitors, guard, class) : 0;
        if (added == 0)
            continue;
        double before = contradictions_with(monitors, guard, guard, history);
        set_weights(monitors, guard, class->entry, added);
        if (contradictions_with(monitors, guard, guard, history) > before)
            set_weights(monitors, guard, class->entry, 0);
    }
}

void guards_add_found(struct monitors *monitors, const struct sections *sections,
                      const struct counter_search *search, int mutex, int condition,
                      int close_class) {
    struct explanation guard =
        guard_found(monitors, sections, search, mutex, condition, close_class);
    if (!guard.counter.tries)
        add_elsewhere(monitors, search->history, &guard);
    add_guard(monitors, guard, search->history);
}
