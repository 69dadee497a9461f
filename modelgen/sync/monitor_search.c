#include "modelgen/sync/monitor_search.h"

#include <assert.h>
#include <stdlib.h>

#include "base/memory.h"
#include "modelgen/candidates.h"
#include "modelgen/evidence.h"
#include "modelgen/sync/explanations.h"
#include "modelgen/sync/guards.h"
#include "modelgen/sync/operation_classes.h"
#include "modelgen/sync/pattern_search.h"
#include "modelgen/sync/source_guards.h"
#include "modelgen/sync/source_monitors.h"
#include "modelgen/sync/statements.h"
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
static bool has_unexplained(const struct monitors *monitors, int mutex) {
    for (size_t c = 0; c < monitors->n_classes; c++)
        if (monitors->classes[c].mutex == mutex && monitors->classes[c].waits > 0 &&
            !monitors->condition_explained[monitors->classes[c].waits_on])
            return true;
    return false;
}

static void find_in_mutex(const struct trace *trace, const struct sections *sections, int mutex,
                          struct monitors *monitors, struct guard_list *list) {
    struct object_history history = object_history_of(sections, monitors, mutex);
    size_t first = list->count;
    if (history.count) {
        wait_loops_find(monitors, sections, mutex, &history, list);
        source_guards_find(trace, sections, mutex, &history, monitors, list);
        if (!left_out.attempts)
            try_operations_find(trace, monitors, sections, mutex, &history, list);
        for (size_t g = list->count; g-- > first && !left_out.attempts;)
            try_operations_find_once(monitors, sections, g, &history, list);
    }
    free(history.items);
}

/* Mutexes that are alike, each with an object of its own. */
static void find_in_likes(const struct trace *trace, const struct sections *sections, int mutex,
                          struct monitors *monitors, struct guard_list *list) {
    struct object_history history = object_history_of(sections, monitors, mutex);
    if (has_unexplained(monitors, mutex)) {
        for (size_t c = 0; c < monitors->n_classes; c++)
            if (monitors->classes[c].mutex == mutex && monitors->classes[c].waits > 0)
                wait_loops_set_explained(monitors, sections, monitors->classes[c].waits_on, true);
        wait_loops_find(monitors, sections, mutex, &history, list);
    }
    if (history.count && !monitors_ignore(monitors, mutex))
        source_guards_find(trace, sections, mutex, &history, monitors, list);
    free(history.items);
}

/* A mutex tells the order of all that happens under it: there is hardly room for contradictions. */
static bool is_contradicted(const struct guard *guard) {
    return guard->condition >= 0 && guard->tally.violations >= evidence.contradicted;
}

/* What is contradicted counts as unexplained while patterns are sought (`sought`). */
static void ask_for_patterns(const struct sections *sections, struct monitors *monitors,
                             bool sought) {
    for (size_t g = 0; g < monitors->n_guards; g++)
        if (is_contradicted(&monitors->guards[g]))
            wait_loops_set_explained(monitors, sections, monitors->guards[g].condition, !sought);
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
            (guard_is_doubtful(guard) || pattern->tally.violations < guard->tally.violations)) {
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
    operation_classes_find(trace, sections, split, &monitors);
    monitors.condition_explained = memory_alloc(sections->n_objects, sizeof(bool));
    for (size_t o = 0; o < sections->n_objects; o++)
        monitors.condition_explained[o] = sections->objects[o].kind == ON_CONDITION;
    find_threads(trace, sections, &monitors);
    monitors.condition_in_pattern = memory_alloc(sections->n_objects, sizeof(bool));
    source_monitors_find(trace, sections, facts, &monitors);
    operation_classes_read_order(trace, facts, &monitors);
    pattern_search_find(trace, sections, &monitors, true);
    struct guard_list list = {0};
    for (size_t o = 0; o < sections->n_objects; o++)
        if (sections->objects[o].kind == ON_MUTEX && sections->objects[o].alone &&
            !monitors_ignore(&monitors, (int)o))
            find_in_mutex(trace, sections, (int)o, &monitors, &list);
    forget_unsought(sections, &monitors);
    monitors.guards = list.items;
    monitors.n_guards = list.count;
    ask_for_patterns(sections, &monitors, true);
    pattern_search_find(trace, sections, &monitors, false);
    ask_for_patterns(sections, &monitors, false);
    list.count = drop_outdone(sections, &monitors);
    for (size_t o = 0; o < sections->n_objects; o++)
        if (sections->objects[o].kind == ON_MUTEX && !sections->objects[o].alone &&
            sections_first_like(sections, (int)o) == (int)o)
            find_in_likes(trace, sections, (int)o, &monitors, &list);
    monitors.guards = list.items;
    monitors.n_guards = list.count;
    assert(list.items || list.count == 0);
    for (size_t g = 0; g < monitors.n_guards; g++)
        monitors.guards[g].proposal = monitors.proposal_of[monitors.guards[g].mutex];
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
    operation_classes_mark_attempts(trace, sections, &monitors, may_try);
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
    free(monitors->rejected.items);
    free(monitors->first_of_thread);
    free(monitors->condition_in_pattern);
    free(monitors->proposal_of);
    free(monitors->unproposed);
    free(monitors->own_numbers);
    free(monitors->classes);
    free(monitors->class_of);
    free(monitors->condition_explained);
}
