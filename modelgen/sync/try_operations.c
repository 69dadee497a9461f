#include "modelgen/sync/try_operations.h"

#include <stdlib.h>

#include "base/memory.h"
#include "modelgen/evidence.h"
#include "modelgen/sync/counter_search.h"

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
static bool changes_alone(const struct monitors *monitors, const struct explanation *guard,
                          size_t success, bool told_by_signal) {
    int sign = told_by_signal ? 1 : -1;
    for (size_t d = 0; d < monitors->n_classes; d++) {
        const struct section_class *class = &monitors->classes[d];
        bool changes = sign * guard->counter.weight[d] > 0;
        bool succeeds = d == success || (told_by_signal && class->n_signals > 0);
        if (class->entry == monitors->classes[success].entry &&
            (guard->counter.waits[d] || (d == success && !changes) || (changes && !succeeds)))
            return false;
    }
    return true;
}

/* Do only other threads add to what the attempts take, which fail exactly when nothing is left, and
 * both often enough? */
static bool is_beyond_doubt(const struct counter_search *search, const struct sections *sections,
                            size_t n_threads) {
    const struct verdict *verdict = &search->best_verdict;
    if (verdict_wrong(verdict) > 0 || verdict->waits < evidence.convincing_turns ||
        verdict->passes < evidence.convincing_turns)
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

void try_operations_find(const struct trace *trace, struct monitors *monitors,
                         const struct sections *sections, int mutex,
                         const struct object_history *history) {
    struct counter_search search = {.monitors = monitors};
    for (size_t c = 0; c < monitors->n_classes; c++) {
        if (monitors->classes[c].mutex != mutex)
            continue;
        struct attempt attempt = attempt_of(monitors, c);
        bool told_by_signal = monitors->classes[c].n_signals > 0;
        if (attempt.waits || !attempt.fails || attempt.signals != told_by_signal)
            continue;
        bool is_known = false;
        for (struct explanation *e = NULL;
             !is_known && (e = explanation_next(monitors, BY_COUNTER, e));)
            is_known = e->mutex == mutex && changes_alone(monitors, e, c, told_by_signal);
        search.success = told_by_signal ? -1 : (int)c;
        if ((is_known || !told_by_signal) &&
            counter_search_attempts(&search, history, mutex, monitors->classes[c].entry) &&
            (is_known || is_beyond_doubt(&search, sections, trace->n_threads)))
            guards_add_found(monitors, sections, &search, mutex, -1, -1);
    }
}

/* Does the section's thread go on to one that adds to the guard, under the same mutex? */
static bool goes_on_to_add(const struct monitors *monitors, const struct sections *sections,
                           const struct explanation *guard, size_t s) {
    if (s + 1 >= sections->n_sections)
        return false;
    const struct section *next = &sections->sections[s + 1];
    return next->thread == sections->sections[s].thread &&
           next->mutex == sections->sections[s].mutex &&
           guard->counter.weight[monitors->class_of[s + 1]] > 0;
}

/* The first section that looks at the guard; n_sections: none. */
static size_t first_look(const struct sections *sections, const struct explanation *guard,
                         const struct object_history *history) {
    for (size_t i = 0; i < history->count; i++)
        if (event_decides(&history->items[i]) &&
            guard->counter.waits[history->items[i].class_index])
            return history->items[i].section;
    return sections->n_sections;
}

void try_operations_find_once(struct monitors *monitors, const struct sections *sections, size_t g,
                              const struct object_history *history) {
    struct explanation *level = &monitors->explanations.items[g];
    if (level->by != BY_COUNTER || level->counter.kind != GUARD_LEVEL ||
        level->counter.initial > level->counter.take - 0.5 || history->n_instances != 1)
        return;
    size_t maker = first_look(sections, level, history);
    if (maker == sections->n_sections || sections->sections[maker].n_waits > 0 ||
        !goes_on_to_add(monitors, sections, level, maker))
        return;
    struct explanation first = guard_empty(monitors, sections, level->mutex);
    first.counter.kind = GUARD_FIRST;
    first.counter.tries = true;
    first.counter.initial = 1;
    for (size_t s = 0; s < sections->n_sections; s++) {
        int class = monitors->class_of[s];
        if (!level->counter.waits[class])
            continue;
        first.counter.waits[class] = true;
        first.counter.outcome[s] = s == maker ? OUTCOME_YES : OUTCOME_NO;
        first.tally.decisions++;
    }
    first.tally.waited = first.tally.decisions - 1; /* that failed */
    level->counter.outcome[maker] = OUTCOME_ANY;
    struct explanation second = *level;
    *level = first; /* is tried before the level is looked at */
    explanation_add(monitors, second);
}
