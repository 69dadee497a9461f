#include "modelgen/sync/monitor_search.h"

#include <stdlib.h>

#include "base/memory.h"
#include "modelgen/evidence.h"
#include "modelgen/sync/guards.h"
#include "modelgen/sync/monitor.h"
#include "modelgen/sync/operation_classes.h"
#include "modelgen/sync/pattern_search.h"
#include "modelgen/sync/source_guards.h"
#include "modelgen/sync/source_monitors.h"
#include "modelgen/sync/try_operations.h"
#include "modelgen/sync/wait_loops.h"

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
static bool has_unexplained(const struct monitors *monitors, const struct sections *sections,
                            int mutex) {
    for (size_t c = 0; c < monitors->n_classes; c++)
        if (monitors->classes[c].mutex == mutex && monitors->classes[c].waits > 0 &&
            !monitors_explain_condition(monitors, sections, monitors->classes[c].waits_on, false))
            return true;
    return false;
}

static void find_in_mutex(const struct trace *trace, const struct sections *sections, int mutex,
                          struct monitors *monitors) {
    struct object_history history = object_history_of(sections, monitors, mutex);
    size_t first = monitors->explanations.count;
    if (history.count) {
        wait_loops_find(monitors, sections, mutex, &history);
        source_guards_find(trace, sections, mutex, &history, monitors);
        try_operations_find(trace, monitors, sections, mutex, &history);
        for (size_t g = monitors->explanations.count; g-- > first;)
            try_operations_find_once(monitors, sections, g, &history);
    }
    free(history.items);
}

/* Mutexes that are alike, each with an object of its own. */
static void find_in_likes(const struct trace *trace, const struct sections *sections, int mutex,
                          struct monitors *monitors) {
    struct object_history history = object_history_of(sections, monitors, mutex);
    if (has_unexplained(monitors, sections, mutex))
        wait_loops_find(monitors, sections, mutex, &history);
    if (history.count && !monitors_ignore(monitors, mutex))
        source_guards_find(trace, sections, mutex, &history, monitors);
    free(history.items);
}

static bool is_that(const struct explanation *explanation, const void *that) {
    return explanation == that;
}

/* Ends the contradicted guards, or the patterns that explain the same waits no better. */
static void drop_outdone(struct monitors *monitors) {
    for (size_t g = 0; g < monitors->explanations.count;) {
        struct explanation *guard = &monitors->explanations.items[g];
        const struct explanation *pattern =
            guard->by == BY_COUNTER && explanation_is_contradicted(guard)
                ? monitors_pattern_at(monitors, guard->counter.condition)
                : NULL;
        g++;
        if (!pattern)
            continue;
        bool is_outdone =
            explanation_is_doubtful(guard) || pattern->tally.violations < guard->tally.violations;
        g -= is_outdone || pattern < guard;
        explanations_drop(monitors, is_that, is_outdone ? guard : pattern);
    }
}

static struct monitors find_all(const struct trace *trace, const struct sections *sections,
                                const struct facts *facts, const bool *doubted, const bool *split) {
    struct monitors monitors = {.doubted = doubted};
    operation_classes_find(trace, sections, split, &monitors);
    find_threads(trace, sections, &monitors);
    source_monitors_find(trace, sections, facts, &monitors);
    operation_classes_read_order(trace, facts, &monitors);
    pattern_search_find(trace, sections, &monitors, true);
    for (size_t o = 0; o < sections->n_objects; o++)
        if (sections->objects[o].kind == ON_MUTEX && sections->objects[o].alone &&
            !monitors_ignore(&monitors, (int)o))
            find_in_mutex(trace, sections, (int)o, &monitors);
    pattern_search_find(trace, sections, &monitors, false);
    drop_outdone(&monitors);
    for (size_t o = 0; o < sections->n_objects; o++)
        if (sections->objects[o].kind == ON_MUTEX && !sections->objects[o].alone &&
            sections_first_like(sections, (int)o) == (int)o)
            find_in_likes(trace, sections, (int)o, &monitors);
    for (struct explanation *e = NULL; (e = explanation_next(&monitors, BY_COUNTER, e));)
        e->proposal = monitors.proposal_of[e->mutex];
    return monitors;
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
    for (struct explanation *e = NULL; (e = explanation_next(monitors, BY_COUNTER, e));)
        count += e->counter.tries;
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
    operation_classes_mark_attempts(trace, sections, &monitors, may_try);
    for (size_t c = 0; c < monitors.n_classes; c++) {
        const struct section_class *class = &monitors.classes[c];
        bool alone = sections->objects[class->mutex].alone;
        split[class->entry] = alone && has_unexplained(&monitors, sections, class->mutex);
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
    for (size_t i = 0; i < monitors->explanations.count; i++)
        explanation_free(&monitors->explanations.items[i]);
    free(monitors->explanations.items);
    free(monitors->rejected.items);
    free(monitors->first_of_thread);
    free(monitors->proposal_of);
    free(monitors->unproposed);
    free(monitors->own_numbers);
    free(monitors->classes);
    free(monitors->class_of);
}
