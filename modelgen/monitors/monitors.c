#include "modelgen/monitors/monitors.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "modelgen/monitors/classes.h"
#include "modelgen/monitors/commands.h"
#include "modelgen/monitors/patterns.h"
#include "modelgen/monitors/search.h"
#include "modelgen/monitors/statements.h"
#include "modelgen/scaling/source.h"

#define FEW_CLASSES    4    /* of sections: not much of what they could be fits by accident */
#define CONVINCING     8    /* attempts that succeed, and as many that fail */
#define CONTRADICTED   2    /* often enough to look for what is not */
#define DOUBTS         4    /* contradictions ... */
#define DOUBTFUL_SHARE 0.01 /* ... and their share that make an explanation doubtful */

/* ---- guards ---- */

struct guard_list {
    struct guard *items;
    size_t count, capacity;
};

static struct guard guard_empty(const struct monitors *monitors, const struct sections *sections,
                                int mutex) {
    return (struct guard){.mutex = mutex,
                          .condition = -1,
                          .close_class = -1,
                          .object = -1,
                          .take = 1,
                          .weight = memory_alloc(monitors->n_classes, sizeof(int)),
                          .early = memory_alloc(monitors->n_classes, sizeof(bool)),
                          .waits = memory_alloc(monitors->n_classes, sizeof(bool)),
                          .outcome = memory_alloc(sections->n_sections, sizeof(enum outcome))};
}

static void note_contradiction(struct guard *guard, const struct event *event, double counter) {
    if (guard->n_contradictions < CONTRADICTIONS_SHOWN)
        guard->contradictions[guard->n_contradictions++] = (struct contradiction){
            event->time_ns, event->section, event->kind == EVENT_WAITS, counter};
}

/* One for each instance. The caller frees. */
static double *initial_counters(const struct guard *guard, const struct history *history) {
    double *counters = memory_alloc(history->n_instances, sizeof *counters);
    for (size_t i = 0; i < history->n_instances; i++)
        counters[i] = guard->initial;
    return counters;
}

/* From when on nobody waits any more. */
static uint64_t closed_ns(const struct monitors *monitors, const struct guard *guard) {
    return guard->close_class >= 0 ? monitors->classes[guard->close_class].first_ns : UINT64_MAX;
}

static bool is_guarded(const struct guard *guards, size_t n_guards, size_t class_index) {
    assert(guards || n_guards == 0);
    for (size_t g = 0; g < n_guards; g++)
        if (guards[g].waits[class_index])
            return true;
    return false;
}

/* Replays the whole history with the final weights and writes down how every evaluation ended. A
 * pass at an empty counter is a "no": the queue was closed, or the caller does not wait. */
static void fill_outcomes(const struct monitors *monitors, struct guard *guard,
                          const struct history *history) {
    double *counters = initial_counters(guard, history);
    guard->n_contradictions = 0;
    guard->most = guard->initial;
    uint64_t end_ns = closed_ns(monitors, guard);
    for (size_t i = 0; i < history->count; i++) {
        const struct event *event = &history->items[i];
        int weight = guard->weight[event->class_index];
        bool waiter = guard->waits[event->class_index];
        enum outcome *outcome = &guard->outcome[event->section];
        double counter = counters[event->instance];
        if (event_changes(event, guard->early[event->class_index])) {
            if (!waiter || *outcome == OUTCOME_YES)
                counters[event->instance] += weight;
            guard->most = fmax(guard->most, counters[event->instance]);
        } else if (waiter && event->kind == EVENT_PASSES) {
            bool failed_try = guard->tries && weight == 0;
            bool closed =
                counter < guard->take - 0.5 && (event->time_ns >= end_ns || guard->condition < 0);
            *outcome = failed_try || closed ? OUTCOME_NO : OUTCOME_YES;
            if (*outcome == OUTCOME_YES && counter < guard->take - 0.5)
                note_contradiction(guard, event, counter);
        } else if (waiter && event->kind == EVENT_WAITS) {
            *outcome = OUTCOME_NO; /* unless it goes on */
            if (counter >= guard->take - 0.5 && event->time_ns < end_ns && !guard->together)
                note_contradiction(guard, event, counter);
        }
    }
    free(counters);
}

static bool same_weights(const struct monitors *monitors, const struct guard *a,
                         const struct guard *b) {
    return a->mutex == b->mutex && a->tries == b->tries && a->initial == b->initial &&
           memcmp(a->weight, b->weight, monitors->n_classes * sizeof *a->weight) == 0;
}

static void guard_free(struct guard *guard) {
    free(guard->weight);
    free(guard->early);
    free(guard->waits);
    free(guard->outcome);
}

/* Counts what contradicts the guard if those who wait by `other` wait by it too. */
static double contradictions_with(const struct monitors *monitors, const struct guard *guard,
                                  const struct guard *other, const struct history *history) {
    double *counters = initial_counters(guard, history), wrong = 0;
    uint64_t end_ns = closed_ns(monitors, guard);
    for (size_t i = 0; i < history->count; i++) {
        const struct event *event = &history->items[i];
        int c = event->class_index;
        bool there = counters[event->instance] > guard->take - 0.5;
        if (event_changes(event, guard->early[c]))
            counters[event->instance] += guard->weight[c];
        else if (event_decides(event) && (guard->waits[c] || other->waits[c]) &&
                 event->time_ns < end_ns)
            wrong += there == (event->kind == EVENT_WAITS);
    }
    free(counters);
    return wrong;
}

/* Two call sites that wait for the same thing: equal guards, or the one that says more explains the
 * other's waits at the same condition as well, as what they take. */
static bool is_same_guard(const struct monitors *monitors, const struct guard *known,
                          const struct guard *guard, const struct history *history) {
    if (same_weights(monitors, known, guard))
        return true;
    if (known->mutex != guard->mutex || known->condition < 0 ||
        known->condition != guard->condition || known->kind == GUARD_LEVEL || known->tries ||
        guard->tries)
        return false;
    for (size_t c = 0; c < monitors->n_classes; c++)
        if (guard->waits[c] && known->weight[c] >= 0)
            return false;
    return violations_are_few(contradictions_with(monitors, known, guard, history),
                              known->evaluations + guard->evaluations);
}

/* `guard` stands for what `other` waits for, too. Ends the other one. */
static void join_guard(const struct monitors *monitors, struct guard *guard, struct guard *other) {
    for (size_t c = 0; c < monitors->n_classes; c++)
        guard->waits[c] |= other->waits[c];
    guard->evaluations += other->evaluations;
    guard->waited += other->waited;
    guard->violations += other->violations;
    guard_free(other);
}

/* Adds a guard, or joins it with one that stands for the same thing. */
static void add_guard(struct monitors *monitors, struct guard_list *list, struct guard guard,
                      const struct history *history) {
    for (size_t g = 0; g < list->count; g++) {
        struct guard *known = &list->items[g];
        if (is_same_guard(monitors, known, &guard, history)) {
            join_guard(monitors, known, &guard);
        } else if (is_same_guard(monitors, &guard, known, history)) {
            join_guard(monitors, &guard, known);
            *known = guard;
        } else {
            continue;
        }
        fill_outcomes(monitors, known, history);
        return;
    }
    fill_outcomes(monitors, &guard, history);
    *VECTOR_ADD(list) = guard;
}

static struct guard guard_found(const struct monitors *monitors, const struct sections *sections,
                                const struct search *search, int mutex, int condition,
                                int close_class) {
    struct guard guard = guard_empty(monitors, sections, mutex);
    const struct hypothesis *best = &search->best;
    guard.condition = condition;
    guard.close_class = close_class;
    guard.tries = best->tries;
    guard.take = hypothesis_takes(monitors, best) ? (double)best->take : 1;
    guard.initial = guard.take - 1 - (double)search->best_verdict.threshold;
    for (int i = 0; i < search->n_classes; i++) {
        guard.weight[search->classes[i]] = best->weight[i];
        guard.early[search->classes[i]] = best->early[i];
        guard.waits[search->classes[i]] =
            monitors->classes[search->classes[i]].entry == best->waiter_entry;
    }
    if (!hypothesis_takes(monitors, best))
        guard.kind = GUARD_LEVEL;
    else
        guard.kind = guard.initial > 0 || guard.take > 1 ? GUARD_TOKENS : GUARD_QUEUE;
    guard.evaluations = search->best_verdict.waits + search->best_verdict.passes;
    guard.waited = search->best_verdict.waits;
    guard.violations = verdict_wrong(&search->best_verdict);
    return guard;
}

/* What the code of this class adds by the guard where it is called elsewhere; 0: nothing, or not
 * always the same, or it waits there as well, and what it does may depend on that. */
static int added_elsewhere(const struct monitors *monitors, const struct guard *guard,
                           const struct section_class *class) {
    int added = 0;
    for (size_t c = 0; c < monitors->n_classes; c++) {
        const struct section_class *other = &monitors->classes[c];
        if (other->mutex != class->mutex || !class_is_same_operation(other, class))
            continue;
        bool differs = other->entry != class->entry &&
                       (guard->weight[c] <= 0 || (added > 0 && guard->weight[c] != added));
        if (other->waits > 0 || guard->waits[c] || (int)c == guard->close_class || differs ||
            (other->entry == class->entry && guard->weight[c] != 0))
            return 0;
        added = other->entry != class->entry ? guard->weight[c] : added;
    }
    return added;
}

static void set_weights(const struct monitors *monitors, struct guard *guard, int entry,
                        int weight) {
    for (size_t c = 0; c < monitors->n_classes; c++)
        if (monitors->classes[c].entry == entry)
            guard->weight[c] = weight;
}

/* Whoever adds may signal only where somebody waits: the same code adds as well where it was called
 * and never had to, unless the trace contradicts that. */
static void add_elsewhere(const struct monitors *monitors, const struct history *history,
                          struct guard *guard) {
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

static void add_found(struct monitors *monitors, const struct sections *sections,
                      struct guard_list *list, const struct search *search, int mutex,
                      int condition, int close_class) {
    struct guard guard = guard_found(monitors, sections, search, mutex, condition, close_class);
    if (!guard.tries)
        add_elsewhere(monitors, search->history, &guard);
    add_guard(monitors, list, guard, search->history);
}

static void set_explained(struct monitors *monitors, const struct sections *sections, int condition,
                          bool explained) {
    for (size_t o = 0; o < sections->n_objects; o++)
        if (sections_first_like(sections, (int)o) == condition)
            monitors->condition_explained[o] = explained;
}

/* Of mutexes that are alike the model makes one object. That is true to queues from which each
 * thread takes by a mutex of its own, as the owner of a mailbox: the queue goes to whoever is idle.
 */
static bool are_mailboxes(const struct sections *sections, const struct search *search) {
    const struct history *history = search->history;
    int *owner = memory_alloc(history->n_instances, sizeof *owner); /* thread + 1 */
    bool good = hypothesis_takes(search->monitors, &search->best) && search->best.take == 1 &&
                search->best_verdict.threshold == 0;
    for (size_t i = 0; i < history->count && good; i++) {
        const struct event *event = &history->items[i];
        int thread = sections->sections[event->section].thread + 1;
        if (search->monitors->classes[event->class_index].entry != search->best.waiter_entry)
            continue;
        good = owner[event->instance] == 0 || owner[event->instance] == thread;
        owner[event->instance] = thread;
    }
    for (size_t a = 0; a < history->n_instances; a++)
        for (size_t b = 0; b < a; b++)
            good &= owner[a] == 0 || owner[a] != owner[b];
    free(owner);
    return good;
}

/* ---- several counters that must be there together ---- */

/* Do these two guards say together when the sections of this entry wait, as what they take? */
static bool explain_together(const struct monitors *monitors, const struct guard guards[2],
                             const struct history *history, int entry) {
    double counters[] = {guards[0].initial, guards[1].initial};
    double decisions = 0, wrong = 0;
    for (size_t i = 0; i < history->count; i++) {
        const struct event *event = &history->items[i];
        bool decides = event_decides(event) && monitors->classes[event->class_index].entry == entry;
        bool there = true;
        for (int g = 0; g < 2; g++) {
            int weight = guards[g].weight[event->class_index];
            if (event_changes(event, guards[g].early[event->class_index]))
                counters[g] += weight;
            there &= counters[g] > guards[g].take - 0.5 ||
                     event->time_ns >= closed_ns(monitors, &guards[g]);
            decides &= weight < 0;
        }
        decisions += decides;
        wrong += decides && there == (event->kind == EVENT_WAITS);
    }
    return decisions > 0 && violations_are_few(wrong, decisions);
}

/* All who wait on the condition wait for the same: the last two guards stand for theirs, too, and
 * what few waits elsewhere seemed to tell is dropped. */
static void share_both(struct monitors *monitors, struct guard_list *list,
                       const struct history *history) {
    struct guard *both = &list->items[list->count - 2];
    for (size_t c = 0; c < monitors->n_classes; c++) {
        const struct section_class *class = &monitors->classes[c];
        if (class->waits_on != both->condition || both->waits[c] || class->mixed_waits ||
            !explain_together(monitors, both, history, class->entry))
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
        fill_outcomes(monitors, &list->items[g], history);
}

/* What no counter alone explains, or only with so many contradictions. Whoever needs two things
 * takes first what others give back: the order in which the second are taken is then that in which
 * they are used. True: two guards were added. */
static bool find_both(struct monitors *monitors, const struct sections *sections,
                      const struct section_class *class, double contradictions,
                      const struct history *history, struct guard_list *list) {
    struct search first, second;
    int close_class;
    if (class->mixed_waits || history->n_instances != 1 ||
        !search_both(monitors, history, class, &first, &second, &close_class) ||
        verdict_wrong(&first.best_verdict) + verdict_wrong(&second.best_verdict) >= contradictions)
        return false;
    bool swap = first.best_verdict.threshold == 0 && second.best_verdict.threshold != 0;
    const struct search *order[] = {swap ? &second : &first, swap ? &first : &second};
    for (int i = 0; i < 2; i++) {
        struct guard guard =
            guard_found(monitors, sections, order[i], class->mutex, class->waits_on, close_class);
        guard.together = true;
        if (i == 0 && order[1]->best_verdict.threshold == 0)
            guard.close_class = -1; /* the items' end is the end */
        *VECTOR_ADD(list) = guard;
    }
    share_both(monitors, list, history);
    return true;
}

static bool waits_for_both(const struct monitors *monitors, const struct guard_list *list,
                           int entry) {
    for (size_t g = 0; g < list->count; g++)
        for (size_t c = 0; list->items[g].together && c < monitors->n_classes; c++)
            if (monitors->classes[c].entry == entry && list->items[g].waits[c])
                return true;
    return false;
}

/* What the sections of this class' entry wait for. True: found. */
static bool find_waited_for(struct monitors *monitors, const struct sections *sections,
                            const struct section_class *class, const struct history *history,
                            struct guard_list *list) {
    struct search search = {.monitors = monitors, .success = -1};
    int close_class = -1;
    bool found = !class->mixed_waits && search_waits(&search, history, class, &close_class) &&
                 monitors_prove(monitors, class->mutex, search.best_verdict.turns) &&
                 (sections->objects[class->mutex].alone || are_mailboxes(sections, &search));
    double contradictions = found ? verdict_wrong(&search.best_verdict) : INFINITY;
    if (contradictions >= DOUBTS &&
        find_both(monitors, sections, class, contradictions, history, list))
        return true;
    if (found)
        add_found(monitors, sections, list, &search, class->mutex, class->waits_on, close_class);
    return found;
}

/* Every (entry, condition) of this mutex, or of those like it, that waited. Sets
 * condition_explained. */
static void find_waiting_guards(struct monitors *monitors, const struct sections *sections,
                                int mutex, const struct history *history, struct guard_list *list) {
    bool *tried = memory_alloc(monitors->n_entries, sizeof *tried);
    for (size_t c = 0; c < monitors->n_classes; c++) {
        const struct section_class *class = &monitors->classes[c];
        if (class->mutex != mutex || class->waits == 0 || tried[class->entry] ||
            monitors->condition_in_pattern[class->waits_on])
            continue;
        tried[class->entry] = true;
        if (!waits_for_both(monitors, list, class->entry))
            find_waited_for(monitors, sections, class, history, list);
    }
    for (size_t c = 0; c < monitors->n_classes; c++) /* a later one may have told of an earlier */
        if (tried[monitors->classes[c].entry] && monitors->classes[c].waits > 0 &&
            !is_guarded(list->items, list->count, c))
            set_explained(monitors, sections, monitors->classes[c].waits_on, false);
    free(tried);
}

/* Of an entry, one of whose classes may be the successful attempts. */
struct attempt {
    bool waits, signals; /* any of its sections */
    bool fails;          /* it has another class, which does not signal */
};

static struct attempt attempt_of(const struct monitors *monitors, size_t success) {
    struct attempt attempt = {0};
    for (size_t d = 0; d < monitors->n_classes; d++) {
        const struct section_class *class = &monitors->classes[d];
        if (class->entry != monitors->classes[success].entry)
            continue;
        attempt.waits |= class->waits > 0;
        attempt.signals |= class->n_signals > 0;
        attempt.fails |= d != success && class->n_signals == 0 && class->count >= 2;
    }
    return attempt;
}

/* Does a successful attempt, told by what it signals or by what comes next, add to the guard or
 * take from it, and none that failed does? */
static bool changes_alone(const struct monitors *monitors, const struct guard *guard,
                          size_t success, bool told_by_signal) {
    int sign = told_by_signal ? 1 : -1;
    for (size_t d = 0; d < monitors->n_classes; d++) {
        const struct section_class *class = &monitors->classes[d];
        bool changes = sign * guard->weight[d] > 0;
        bool succeeds = d == success || (told_by_signal && class->n_signals > 0);
        if (class->entry == monitors->classes[success].entry &&
            (guard->waits[d] || (d == success && !changes) || (changes && !succeeds)))
            return false;
    }
    return true;
}

/* Do only other threads add to what the attempts take, which fail exactly when nothing is left, and
 * both often enough? */
static bool is_beyond_doubt(const struct search *search, const struct sections *sections,
                            size_t n_threads) {
    const struct verdict *verdict = &search->best_verdict;
    if (verdict_wrong(verdict) > 0 || verdict->waits < CONVINCING || verdict->passes < CONVINCING)
        return false;
    const struct monitors *monitors = search->monitors;
    bool *tries = memory_alloc(n_threads, sizeof *tries);
    bool *adds = memory_alloc(n_threads, sizeof *adds);
    for (size_t s = 0; s < sections->n_sections; s++)
        for (int i = 0; i < search->n_classes; i++)
            if (search->classes[i] == monitors->class_of[s]) {
                int entry = monitors->classes[search->classes[i]].entry;
                tries[sections->sections[s].thread] |= entry == search->best.waiter_entry;
                adds[sections->sections[s].thread] |= search->best.weight[i] > 0;
            }
    bool apart = true;
    for (size_t t = 0; t < n_threads; t++)
        apart &= !tries[t] || !adds[t];
    free(tries);
    free(adds);
    return apart;
}

/* Entries that never wait but sometimes signal and sometimes do not, or go different ways
 * afterwards: an attempt that can fail. Only believed where the success adds to a guard already
 * found; or, without a signal, takes from one or is beyond doubt. */
static void find_trying_guards(const struct trace *trace, struct monitors *monitors,
                               const struct sections *sections, int mutex,
                               const struct history *history, struct guard_list *list) {
    struct search search = {.monitors = monitors};
    for (size_t c = 0; c < monitors->n_classes; c++) {
        if (monitors->classes[c].mutex != mutex)
            continue;
        struct attempt attempt = attempt_of(monitors, c);
        bool told_by_signal = monitors->classes[c].n_signals > 0;
        if (attempt.waits || !attempt.fails || attempt.signals != told_by_signal)
            continue;
        bool is_known = false;
        for (size_t g = 0; g < list->count && !is_known; g++) {
            const struct guard *guard = &list->items[g];
            is_known = guard->mutex == mutex && changes_alone(monitors, guard, c, told_by_signal);
        }
        search.success = told_by_signal ? -1 : (int)c;
        if ((is_known || !told_by_signal) &&
            search_attempts(&search, history, mutex, monitors->classes[c].entry) &&
            (is_known || is_beyond_doubt(&search, sections, trace->n_threads)))
            add_found(monitors, sections, list, &search, mutex, -1, -1);
    }
}

/* ---- who comes first ---- */

/* Does the section's thread go on to one that adds to the guard, under the same mutex? */
static bool goes_on_to_add(const struct monitors *monitors, const struct sections *sections,
                           const struct guard *guard, size_t s) {
    if (s + 1 >= sections->n_sections)
        return false;
    const struct section *next = &sections->sections[s + 1];
    return next->thread == sections->sections[s].thread &&
           next->mutex == sections->sections[s].mutex &&
           guard->weight[monitors->class_of[s + 1]] > 0;
}

/* The first section that looks at the guard; n_sections: none. */
static size_t first_look(const struct sections *sections, const struct guard *guard,
                         const struct history *history) {
    for (size_t i = 0; i < history->count; i++)
        if (event_decides(&history->items[i]) && guard->waits[history->items[i].class_index])
            return history->items[i].section;
    return sections->n_sections;
}

/* Lazy initialisation: the first thread to look does not wait for the level, though it is not
 * there, but goes and brings it about. Who that is shows at run time only, so an attempt at a
 * permit stands before the look. */
static void find_first_comer(struct monitors *monitors, const struct sections *sections, size_t g,
                             const struct history *history, struct guard_list *list) {
    struct guard *level = &list->items[g];
    size_t maker = first_look(sections, level, history);
    if (level->kind != GUARD_LEVEL || level->initial > level->take - 0.5 ||
        history->n_instances != 1 || maker == sections->n_sections ||
        sections->sections[maker].n_waits > 0 || !goes_on_to_add(monitors, sections, level, maker))
        return;
    struct guard first = guard_empty(monitors, sections, level->mutex);
    first.kind = GUARD_FIRST;
    first.tries = true;
    first.initial = 1;
    for (size_t s = 0; s < sections->n_sections; s++) {
        int class = monitors->class_of[s];
        if (!level->waits[class])
            continue;
        first.waits[class] = true;
        first.outcome[s] = s == maker ? OUTCOME_YES : OUTCOME_NO;
        first.evaluations++;
    }
    first.waited = first.evaluations - 1; /* that failed */
    level->outcome[maker] = OUTCOME_ANY;
    struct guard second = *level;
    *level = first; /* is tried before the level is looked at */
    *VECTOR_ADD(list) = second;
}

/* ---- proposals of the source, for guards that never made anybody wait ---- */

static bool acts_as_put(const struct facts_monitor *proposal, const char *function) {
    return facts_monitor_acts(proposal, FACTS_PUT, function) ||
           facts_monitor_acts(proposal, FACTS_SUBMIT, function);
}

static bool acts_as_get(const struct facts_monitor *proposal, const char *function) {
    return facts_monitor_acts(proposal, FACTS_GET, function) ||
           facts_monitor_acts(proposal, FACTS_RUN, function);
}

/* Does the proposal say that this class' section acts so? One function may have several sections.
 */
static bool acts_at(const struct facts_monitor *proposal, enum facts_role role,
                    const struct section_class *class) {
    bool found = false;
    for (size_t i = 0; i < proposal->n_operations; i++) {
        const struct facts_operation *operation = &proposal->operations[i];
        if (operation->role != role || strcmp(operation->place.function, class->function) != 0)
            continue;
        if (operation->place.line == class->line)
            return true;
        found = true;
    }
    for (size_t i = 0; i < proposal->n_operations && found; i++)
        if (proposal->operations[i].place.line == class->line)
            return false; /* another one is meant */
    return found;
}

/* Does the source say that who takes waits until something is there? */
static bool takers_wait(const struct trace *trace, const struct monitors *monitors,
                        const struct guard *guard) {
    for (size_t c = 0; c < monitors->n_classes; c++) {
        const struct facts_section *commands =
            guard->waits[c] ? commands_section(trace, monitors->classes[c].context, guard->proposal)
                            : NULL;
        for (size_t i = 0; commands && i < commands->n_steps; i++)
            if (commands->steps[i].kind == STEP_WAIT)
                return true;
    }
    return false;
}

/* A queue, by the source's word. True: the trace allows it. */
static bool try_proposed_queue(const struct trace *trace, const struct sections *sections,
                               const struct facts_monitor *proposal, const struct history *history,
                               const struct monitors *monitors, struct guard *result) {
    struct guard guard = *result;
    int mutex = guard.mutex;
    bool puts = false, gets = false;
    for (size_t c = 0; c < monitors->n_classes; c++) {
        const struct section_class *class = &monitors->classes[c];
        if (class->mutex != mutex)
            continue;
        if (acts_as_put(proposal, class->function)) {
            guard.weight[c] = 1;
            puts = true;
        } else if (acts_as_get(proposal, class->function)) {
            guard.weight[c] = -1;
            guard.waits[c] = gets = true;
        } else if (facts_monitor_acts(proposal, FACTS_CLOSE, class->function)) {
            guard.close_class = (int)c;
        }
    }
    guard.kind = GUARD_QUEUE;
    guard.proposal = proposal;
    fill_outcomes(monitors, &guard, history);
    double yes = 0, no = 0;
    for (size_t s = 0; s < sections->n_sections; s++) {
        yes += guard.outcome[s] == OUTCOME_YES;
        no += guard.outcome[s] == OUTCOME_NO;
    }
    /* An attempt at an empty queue that did not wait must be the exception (the end). */
    bool holds = puts && gets && yes > 0 && no <= yes;
    guard.evaluations = yes + no;
    /* Without a close, "empty" itself is the answer: the caller does not wait, unless the source
     * knows better. Where it never was the answer, nothing shows what the caller would do then, so
     * it waits. */
    guard.tries = guard.close_class < 0 && no > 0 && !takers_wait(trace, monitors, &guard);
    *result = guard;
    return holds;
}

/* Tokens: as many as the source says, and never fewer than were out at one time. The same. */
static bool try_proposed_tokens(const struct facts_monitor *proposal, const struct history *history,
                                const struct monitors *monitors, struct guard *result) {
    struct guard guard = *result;
    int mutex = guard.mutex;
    bool takes_some = false, gives = false;
    for (size_t c = 0; c < monitors->n_classes; c++) {
        const struct section_class *class = &monitors->classes[c];
        if (class->mutex != mutex)
            continue;
        if (acts_at(proposal, FACTS_ACQUIRE, class) || acts_at(proposal, FACTS_GET, class)) {
            guard.weight[c] = -1;
            guard.waits[c] = takes_some = true;
        } else if (acts_at(proposal, FACTS_RELEASE, class) || acts_at(proposal, FACTS_PUT, class)) {
            guard.weight[c] = 1;
            gives = true;
        }
    }
    double out = 0, most = 1;
    for (size_t i = 0; i < history->count; i++) {
        out -= history->items[i].kind == EVENT_EFFECT ? guard.weight[history->items[i].class_index]
                                                      : 0;
        most = fmax(most, out);
    }
    const struct facts_amount *amount = &proposal->amount;
    guard.kind = GUARD_TOKENS;
    guard.proposal = proposal;
    guard.initial = amount->constant ? amount->offset : most;
    bool is_known = amount->constant || amount->follows_threads || amount->n_choices > 0;
    fill_outcomes(monitors, &guard, history);
    for (size_t i = 0; i < history->count; i++)
        guard.evaluations +=
            history->items[i].kind == EVENT_PASSES && guard.waits[history->items[i].class_index];
    *result = guard;
    return takes_some && gives && is_known && most <= guard.initial;
}

/* Holds the guard against all decisions of those who wait by it; once it is closed nobody waits any
 * more. True: it explains them. */
static bool judge_guard(const struct monitors *monitors, const struct history *history,
                        struct guard *guard) {
    double *counters = initial_counters(guard, history);
    uint64_t end_ns = closed_ns(monitors, guard);
    guard->evaluations = guard->waited = guard->violations = 0;
    for (size_t i = 0; i < history->count; i++) {
        const struct event *event = &history->items[i];
        int c = event->class_index;
        bool waits = event->kind == EVENT_WAITS;
        bool goes_on = counters[event->instance] > guard->take - 0.5 || event->time_ns >= end_ns;
        if (event_changes(event, guard->early[c])) {
            counters[event->instance] += guard->weight[c];
        } else if (event_decides(event) && guard->waits[c]) {
            guard->evaluations++;
            guard->waited += waits;
            guard->violations += waits == goes_on;
        }
    }
    free(counters);
    return violations_are_few(guard->violations, guard->evaluations);
}

static bool share_waiters(const struct monitors *monitors, const struct guard *a,
                          const struct guard *b) {
    bool share = false;
    for (size_t c = 0; c < monitors->n_classes; c++)
        share |= a->waits[c] && b->waits[c];
    return share;
}

/* Where few had to wait, or few need not, much explains who did. Does what was found say less of
 * the same waiters than the source's word: that they take nothing, or nothing of others that take?
 */
static bool gives_way(const struct monitors *monitors, const struct guard *found,
                      const struct guard *word) {
    double passed = found->evaluations - found->waited;
    bool is_weak = fmin(found->waited, passed) < CONVINCING && found->condition >= 0;
    bool says_less = found->kind == GUARD_LEVEL;
    for (size_t c = 0; c < monitors->n_classes; c++) {
        if (found->waits[c] && !word->waits[c])
            return false;
        says_less |= word->waits[c] && !found->waits[c];
    }
    return is_weak && says_less && !found->together;
}

/* Puts the source's word in the place of what gives way to it, if the trace allows that. True: it
 * does, and `word` is the list's. */
static bool overrule(const struct monitors *monitors, const struct history *history,
                     const struct guard *word, struct guard_list *list) {
    struct guard proposed = *word;
    for (size_t g = 0; g < list->count; g++) {
        if (!share_waiters(monitors, &list->items[g], word))
            continue;
        if (!gives_way(monitors, &list->items[g], word))
            return false;
        proposed.condition = list->items[g].condition;
    }
    proposed.tries = false;
    proposed.by_source = true;
    if (proposed.condition < 0 || !judge_guard(monitors, history, &proposed))
        return false;
    fill_outcomes(monitors, &proposed, history);
    size_t kept = 0;
    for (size_t g = 0; g < list->count; g++)
        if (share_waiters(monitors, &list->items[g], word))
            guard_free(&list->items[g]);
        else
            list->items[kept++] = list->items[g];
    list->count = kept;
    *VECTOR_ADD(list) = proposed;
    return true;
}

/* What the source says, where nobody ever had to wait for it, or too few to tell. */
static void find_proposed_guards(const struct trace *trace, const struct sections *sections,
                                 int mutex, const struct history *history,
                                 struct monitors *monitors, struct guard_list *list) {
    const struct facts_monitor *proposal = monitors->proposal_of[mutex];
    if (!proposal)
        return;
    bool has_items = false, has_any = false; /* the trace already told what it is */
    for (size_t g = 0; g < list->count; g++) {
        has_items |= list->items[g].mutex == mutex && list->items[g].kind == GUARD_QUEUE;
        has_any |= list->items[g].mutex == mutex;
    }
    for (size_t p = 0; p < monitors->n_patterns; p++)
        has_any |= monitors->patterns[p].mutex == mutex;
    struct guard guard = guard_empty(monitors, sections, mutex);
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
        holds = try_proposed_tokens(proposal, history, monitors, &guard);
        break;
    default:
        break;
    }
    if (holds && overrule(monitors, history, &guard, list))
        return;
    if (holds && !is_told)
        *VECTOR_ADD(list) = guard;
    else
        guard_free(&guard);
}

/* How well the place of an operation is that of the class: where it locks, or with its line where
 * it is called from. */
static double match_of(const struct trace *trace, const struct section_class *class,
                       const struct facts_place *place) {
    double match = 0;
    if (class->context == TRACE_NO_CONTEXT)
        return match;
    const struct trace_context *calls = &trace->contexts[class->context];
    for (size_t f = 0; f < calls->n_frames && f < COMMANDS_FRAMES; f++) {
        if (strcmp(calls->frames[f].function, place->function) != 0)
            continue;
        bool same_line = calls->frames[f].line == place->line;
        match = fmax(match, same_line ? 1 : f == 0 ? 0.5 : 0);
    }
    return match;
}

/* The same structure may be of several mutexes; the functions that lock this one tell. */
static double count_operations(const struct trace *trace, const struct monitors *monitors,
                               int mutex, const struct facts_monitor *proposal) {
    double matches = 0;
    for (size_t c = 0; c < monitors->n_classes; c++) {
        double best = 0;
        if (monitors->classes[c].mutex != mutex)
            continue;
        for (size_t i = 0; i < proposal->n_operations; i++)
            best =
                fmax(best, match_of(trace, &monitors->classes[c], &proposal->operations[i].place));
        matches += best;
    }
    return matches;
}

/* Is the place where the mutex is taken in a file that was analysed? */
static bool has_source(const struct trace *trace, const struct monitors *monitors,
                       const struct facts *facts, int mutex) {
    for (size_t c = 0; facts && c < monitors->n_classes; c++) {
        const struct section_class *class = &monitors->classes[c];
        if (class->mutex != mutex || class->context == TRACE_NO_CONTEXT)
            continue;
        const struct trace_context *calls = &trace->contexts[class->context];
        if (calls->n_frames > 0 && source_is_analysed(facts, calls->frames[0].file))
            return true;
    }
    return false;
}

/* A global mutex is one, or an array of those that are alike. Of the objects that match such a
 * proposal, the first that does best; else -1. */
static int find_global(const struct facts_monitor *proposal, const double *matches, size_t n) {
    int global = -1;
    if (!proposal->mutex || strncmp(proposal->mutex, "global:", 7) != 0)
        return -1;
    for (size_t o = 0; o < n; o++)
        if (matches[o] > (global < 0 ? 0 : matches[global]))
            global = (int)o;
    return global;
}

static int class_of_whole(const struct sections *sections, int object) {
    return sections->objects[sections->objects[object].whole].class_id;
}

static void find_proposals(const struct trace *trace, const struct sections *sections,
                           const struct facts *facts, struct monitors *monitors) {
    monitors->proposal_of = memory_alloc(sections->n_objects, sizeof(struct facts_monitor *));
    monitors->unproposed = memory_alloc(sections->n_objects, sizeof(bool));
    double *matches = memory_alloc(sections->n_objects, sizeof *matches);
    double *best = memory_alloc(sections->n_objects, sizeof *best);
    for (size_t m = 0; facts && m < facts->n_monitors; m++) {
        const struct facts_monitor *proposal = &facts->monitors[m];
        for (size_t o = 0; o < sections->n_objects; o++)
            matches[o] = sections->objects[o].kind == ON_MUTEX
                             ? count_operations(trace, monitors, (int)o, proposal)
                             : 0;
        int global = find_global(proposal, matches, sections->n_objects);
        for (size_t o = 0; o < sections->n_objects; o++) {
            bool may_be =
                global < 0 || class_of_whole(sections, (int)o) == class_of_whole(sections, global);
            if (!may_be || matches[o] <= best[o])
                continue;
            monitors->proposal_of[o] = proposal;
            best[o] = matches[o];
        }
    }
    for (size_t o = 0; o < sections->n_objects; o++)
        monitors->unproposed[o] =
            !monitors->proposal_of[o] && has_source(trace, monitors, facts, (int)o);
    free(matches);
    free(best);
}

bool monitors_prove(const struct monitors *monitors, int mutex, double turns) {
    int n = 0;
    for (size_t c = 0; c < monitors->n_classes; c++)
        n += monitors->classes[c].mutex == mutex;
    return n <= FEW_CLASSES || turns >= CONVINCING_TURNS || !monitors->unproposed[mutex];
}

static void find_threads(const struct trace *trace, const struct sections *sections,
                         struct monitors *monitors) {
    monitors->first_of_thread = memory_alloc(trace->n_threads + 1, sizeof(size_t));
    size_t s = 0;
    for (size_t t = 0; t <= trace->n_threads; t++) {
        while (s < sections->n_sections && (size_t)sections->sections[s].thread < t)
            s++;
        monitors->first_of_thread[t] = s;
    }
}

/* Are there waits of the mutexes like this one that nothing explains yet? */
static bool has_unexplained(const struct monitors *monitors, int mutex) {
    for (size_t c = 0; c < monitors->n_classes; c++)
        if (monitors->classes[c].mutex == mutex && monitors->classes[c].waits > 0 &&
            !monitors->condition_explained[monitors->classes[c].waits_on])
            return true;
    return false;
}

static void find_in_mutex(const struct trace *trace, const struct sections *sections, int mutex,
                          struct monitors *monitors, struct guard_list *list) {
    struct history history = history_of(sections, monitors, mutex);
    size_t first = list->count;
    if (history.count) {
        find_waiting_guards(monitors, sections, mutex, &history, list);
        find_proposed_guards(trace, sections, mutex, &history, monitors, list);
        find_trying_guards(trace, monitors, sections, mutex, &history, list);
        for (size_t g = list->count; g-- > first;)
            find_first_comer(monitors, sections, g, &history, list);
    }
    free(history.items);
}

/* Mutexes that are alike, each with an object of its own. */
static void find_in_likes(struct monitors *monitors, const struct sections *sections, int mutex,
                          struct guard_list *list) {
    if (!has_unexplained(monitors, mutex))
        return;
    struct history history = history_of(sections, monitors, mutex);
    for (size_t c = 0; c < monitors->n_classes; c++)
        if (monitors->classes[c].mutex == mutex && monitors->classes[c].waits > 0)
            set_explained(monitors, sections, monitors->classes[c].waits_on, true);
    find_waiting_guards(monitors, sections, mutex, &history, list);
    free(history.items);
}

bool monitors_ignore(const struct monitors *monitors, int mutex) {
    return (monitors->proposal_of[mutex] && monitors->proposal_of[mutex]->ignored) ||
           (monitors->doubted && monitors->doubted[mutex]);
}

bool monitors_doubt(double against, double decisions) {
    return against >= DOUBTS && against > DOUBTFUL_SHARE * decisions;
}

bool guard_is_doubtful(const struct guard *guard) {
    return guard->condition >= 0 && monitors_doubt(guard->violations, guard->evaluations);
}

/* A mutex tells the order of all that happens under it: there is hardly room for contradictions. */
static bool is_contradicted(const struct guard *guard) {
    return guard->condition >= 0 && guard->violations >= CONTRADICTED;
}

/* What is contradicted counts as unexplained while patterns are sought (`sought`). */
static void ask_for_patterns(const struct sections *sections, struct monitors *monitors,
                             bool sought) {
    for (size_t g = 0; g < monitors->n_guards; g++)
        if (is_contradicted(&monitors->guards[g]))
            set_explained(monitors, sections, monitors->guards[g].condition, !sought);
}

void monitors_forget(struct monitors *monitors, int mutex) {
    size_t kept = 0;
    for (size_t g = 0; g < monitors->n_guards; g++)
        if (monitors->guards[g].mutex == mutex)
            guard_free(&monitors->guards[g]);
        else
            monitors->guards[kept++] = monitors->guards[g];
    monitors->n_guards = kept;
    patterns_forget(monitors, mutex);
}

/* The pattern that explains waits for the condition; NULL: none. */
static const struct pattern *pattern_of(const struct monitors *monitors,
                                        const struct sections *sections, int condition) {
    for (size_t p = 0; p < monitors->n_patterns; p++)
        for (size_t s = 0; s < sections->n_sections; s++) {
            const struct section *section = &sections->sections[s];
            for (size_t w = 0; monitors->patterns[p].acts[s] && w < section->n_waits; w++)
                if (sections->waits[section->first_wait + w].condition == condition)
                    return &monitors->patterns[p];
        }
    return NULL;
}

/* Ends the contradicted guards, or the patterns that explain the same waits no better; gives how
 * many guards remain. */
static size_t drop_outdone(const struct sections *sections, struct monitors *monitors) {
    size_t kept = 0;
    for (size_t g = 0; g < monitors->n_guards; g++) {
        struct guard *guard = &monitors->guards[g];
        const struct pattern *pattern =
            is_contradicted(guard) && monitors->condition_in_pattern[guard->condition]
                ? pattern_of(monitors, sections, guard->condition)
                : NULL;
        if (pattern &&
            (guard_is_doubtful(guard) || pattern->tally.violations < guard->violations)) {
            guard_free(guard);
            continue;
        }
        if (pattern) {
            monitors->condition_in_pattern[guard->condition] = false;
            patterns_drop(monitors, (size_t)(pattern - monitors->patterns));
        }
        monitors->guards[kept++] = *guard;
    }
    return monitors->n_guards = kept;
}

/* Nothing has been sought yet where mutexes are alike, or nothing is to be found. Sections of one
 * class may wait on conditions that are not alike. */
static void forget_unsought(const struct sections *sections, struct monitors *monitors) {
    for (size_t s = 0; s < sections->n_sections; s++) {
        const struct section *section = &sections->sections[s];
        bool sought = sections->objects[section->mutex].alone &&
                      !monitors_ignore(monitors, monitors->classes[monitors->class_of[s]].mutex);
        for (size_t w = 0; !sought && w < section->n_waits; w++) {
            int condition = sections->waits[section->first_wait + w].condition;
            monitors->condition_explained[condition] = false;
            monitors->condition_explained[sections_first_like(sections, condition)] = false;
        }
    }
}

static struct monitors find_all(const struct trace *trace, const struct sections *sections,
                                const struct facts *facts, const bool *doubted, const bool *split) {
    struct monitors monitors = {.doubted = doubted};
    classes_find(trace, sections, split, &monitors);
    monitors.condition_explained = memory_alloc(sections->n_objects, sizeof(bool));
    for (size_t o = 0; o < sections->n_objects; o++)
        monitors.condition_explained[o] = sections->objects[o].kind == ON_CONDITION;
    find_threads(trace, sections, &monitors);
    monitors.condition_in_pattern = memory_alloc(sections->n_objects, sizeof(bool));
    find_proposals(trace, sections, facts, &monitors);
    classes_read_order(trace, facts, &monitors);
    patterns_find(trace, sections, &monitors, true);
    struct guard_list list = {0};
    for (size_t o = 0; o < sections->n_objects; o++)
        if (sections->objects[o].kind == ON_MUTEX && sections->objects[o].alone &&
            !monitors_ignore(&monitors, (int)o))
            find_in_mutex(trace, sections, (int)o, &monitors, &list);
    forget_unsought(sections, &monitors);
    monitors.guards = list.items;
    monitors.n_guards = list.count;
    ask_for_patterns(sections, &monitors, true);
    patterns_find(trace, sections, &monitors, false);
    ask_for_patterns(sections, &monitors, false);
    list.count = drop_outdone(sections, &monitors);
    for (size_t o = 0; o < sections->n_objects; o++)
        if (sections->objects[o].kind == ON_MUTEX && !sections->objects[o].alone &&
            sections_first_like(sections, (int)o) == (int)o)
            find_in_likes(&monitors, sections, (int)o, &list);
    monitors.guards = list.items;
    monitors.n_guards = list.count;
    assert(list.items || list.count == 0);
    for (size_t g = 0; g < monitors.n_guards; g++)
        monitors.guards[g].proposal = monitors.proposal_of[monitors.guards[g].mutex];
    return monitors;
}

bool monitors_guard(const struct monitors *monitors, size_t class_index) {
    return is_guarded(monitors->guards, monitors->n_guards, class_index);
}

bool monitors_explain(const struct monitors *monitors, size_t section) {
    if (monitors_guard(monitors, (size_t)monitors->class_of[section]))
        return true;
    for (size_t i = 0; i < monitors->n_statements; i++)
        if (monitors->statements[i].section_of[section] != MODEL_NONE)
            return true;
    for (size_t p = 0; p < monitors->n_patterns; p++)
        if (monitors->patterns[p].acts[section])
            return true;
    return false;
}

static double unexplained_waits(const struct monitors *monitors, const struct sections *sections) {
    double wait_ns = 0;
    for (size_t s = 0; s < sections->n_sections; s++) {
        const struct section *section = &sections->sections[s];
        for (size_t w = 0; w < section->n_waits && !monitors_explain(monitors, s); w++) {
            const struct section_wait *wait = &sections->waits[section->first_wait + w];
            wait_ns += (double)(wait->end_ns - wait->start_ns);
        }
    }
    return wait_ns;
}

static size_t count_attempts(const struct monitors *monitors) {
    size_t count = 0;
    for (size_t g = 0; g < monitors->n_guards; g++)
        count += monitors->guards[g].tries;
    return count;
}

/* Looks again with some entries' sections told apart by what comes next. Kept if that explains more
 * waits; or as many, and more attempts. True: it was. */
static bool look_closer(const struct trace *trace, const struct sections *sections,
                        const struct facts *facts, const bool *split, struct monitors *monitors) {
    struct monitors finer = find_all(trace, sections, facts, monitors->doubted, split);
    double now_ns = unexplained_waits(&finer, sections);
    double before_ns = unexplained_waits(monitors, sections);
    bool better = now_ns < before_ns ||
                  (now_ns <= before_ns && count_attempts(&finer) > count_attempts(monitors));
    monitors_free(better ? monitors : &finer);
    if (better)
        *monitors = finer;
    return better;
}

struct monitors monitors_find(const struct trace *trace, const struct sections *sections,
                              const struct facts *facts, const bool *doubted) {
    struct monitors monitors = find_all(trace, sections, facts, doubted, NULL);
    bool *split = memory_alloc(monitors.n_entries, sizeof *split);
    bool *may_try = memory_alloc(monitors.n_entries, sizeof *may_try);
    bool any_unexplained = false, any_may_try = false;
    classes_mark_attempts(trace, sections, &monitors, may_try);
    for (size_t c = 0; c < monitors.n_classes; c++) {
        const struct section_class *class = &monitors.classes[c];
        bool alone = sections->objects[class->mutex].alone;
        split[class->entry] = alone && has_unexplained(&monitors, class->mutex);
        may_try[class->entry] &= alone;
        any_unexplained |= split[class->entry];
        any_may_try |= may_try[class->entry] && !split[class->entry];
    }
    bool kept = any_unexplained && look_closer(trace, sections, facts, split, &monitors);
    for (size_t e = 0; e < monitors.n_entries; e++)
        split[e] = (kept && split[e]) || may_try[e];
    if (any_may_try)
        look_closer(trace, sections, facts, split, &monitors);
    free(split);
    free(may_try);
    return monitors;
}

void monitors_free(struct monitors *monitors) {
    for (size_t g = 0; g < monitors->n_guards; g++)
        guard_free(&monitors->guards[g]);
    free(monitors->guards);
    patterns_free(monitors);
    statements_free(monitors);
    free(monitors->first_of_thread);
    free(monitors->condition_in_pattern);
    free(monitors->proposal_of);
    free(monitors->unproposed);
    free(monitors->classes);
    free(monitors->class_of);
    free(monitors->condition_explained);
}
