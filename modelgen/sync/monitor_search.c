#include "modelgen/sync/monitor_search.h"

#include <stdlib.h>

#include "base/memory.h"
#include "modelgen/candidates.h"
#include "modelgen/evidence.h"
#include "modelgen/sync/guards.h"
#include "modelgen/sync/in_order_completion_replay.h"
#include "modelgen/sync/monitor.h"
#include "modelgen/sync/operation_classes.h"
#include "modelgen/sync/pattern_replay.h"
#include "modelgen/sync/select.h"
#include "modelgen/sync/source_guards.h"
#include "modelgen/sync/source_monitors.h"
#include "modelgen/sync/template_search.h"
#include "modelgen/sync/templates.h"
#include "modelgen/sync/ticket_replay.h"
#include "modelgen/sync/try_operations.h"
#include "modelgen/sync/wait_loops.h"
#include "modelgen/sync/wavefront_replay.h"

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

/* ---- patterns ---- */

static int compare_sections(const void *a, const void *b, void *context) {
    const struct section *sections = context;
    const struct section *x = &sections[*(const size_t *)a], *y = &sections[*(const size_t *)b];
    return (x->acquire_ns > y->acquire_ns) - (x->acquire_ns < y->acquire_ns);
}

/* Of the mutex and of those that it stands for. */
static struct order_list in_order(const struct sections *sections, int mutex) {
    struct order_list list = {0};
    size_t n;
    const size_t *of_mutex = sections_of(sections, mutex, &n);
    for (size_t i = 0; i < n; i++)
        if (!sections->sections[of_mutex[i]].cut)
            *VECTOR_ADD(&list) = of_mutex[i];
    if (list.count)
        qsort_r(list.items, list.count, sizeof *list.items, compare_sections, sections->sections);
    return list;
}

static bool has_unknown_wait(const struct finder *finder) {
    for (size_t i = 0; i < finder->history.count; i++) {
        const struct section *section = section_at(finder, finder->history.items[i]);
        for (size_t w = 0; w < section->n_waits; w++)
            if (!finder_knows(finder, finder->sections->waits[section->first_wait + w].condition))
                return true;
    }
    return false;
}

/* A way to explain a mutex without a counter: a template, or what looks for one. */
struct pattern_row {
    const bool *is_left_out;
    const struct template_row *template;
    bool (*find)(const struct finder *finder); /* NULL: the template is tried */
};

/* These cannot be mistaken, and are tried before the counters. */
static const struct pattern_row plain_patterns[] = {
    {&left_out.barrier, &template_barrier, NULL},
    {&left_out.rwlock, &template_rwlock, NULL},
    {&left_out.group_commit, &template_group_commit, NULL},
    {&left_out.tickets, NULL, ticket_replay_find_proposed},
    {&left_out.generations, &template_generation, NULL},
};

/* Where no counter explains the waits. */
static const struct pattern_row ordered_patterns[] = {
    {&left_out.tickets, NULL, ticket_replay_find},
    {&left_out.in_order_completion, NULL, in_order_completion_replay_find},
    {&left_out.wavefront, NULL, wavefront_replay_find},
};

/* Of mutexes that are alike. */
static const struct pattern_row array_patterns[] = {
    {&left_out.wavefront, NULL, wavefront_replay_find},
    {&left_out.in_order_completion, NULL, in_order_completion_replay_find_in_array},
};

/* Where nobody waits. */
static const struct pattern_row unmet_patterns[] = {
    {&left_out.tickets, NULL, ticket_replay_find_proposed},
};

static void find_patterns(const struct finder *finder, const struct pattern_row *rows,
                          size_t n_rows) {
    struct selection selection = select_begin(finder->monitors, finder->sections, finder->mutex);
    for (size_t i = 0; i < n_rows; i++) {
        if (*rows[i].is_left_out)
            continue;
        if (rows[i].template)
            template_search_find(finder, rows[i].template);
        else
            rows[i].find(finder);
        select_offer(&selection);
    }
    select_end(&selection);
}

#define FIND_PATTERNS(finder, rows) find_patterns(finder, rows, sizeof(rows) / sizeof *(rows))

/* ---- one mutex ---- */

static void find_counters(const struct finder *finder) {
    struct monitors *monitors = finder->monitors;
    const struct sections *sections = finder->sections;
    struct object_history history = object_history_of(sections, monitors, finder->mutex);
    size_t first = monitors->explanations.count;
    if (history.count) {
        wait_loops_find(monitors, sections, finder->mutex, &history);
        source_guards_find(finder->trace, sections, finder->mutex, &history, monitors);
        if (!left_out.attempts)
            try_operations_find(finder->trace, monitors, sections, finder->mutex, &history);
        for (size_t g = monitors->explanations.count; g-- > first && !left_out.attempts;)
            try_operations_find_once(monitors, sections, g, &history);
    }
    free(history.items);
}

static void explain_mutex(const struct finder *finder) {
    bool waits = finder_has_wait(finder);
    if (waits)
        FIND_PATTERNS(finder, plain_patterns);
    find_counters(finder);
    size_t first = finder->monitors->explanations.count;
    if (!waits)
        FIND_PATTERNS(finder, unmet_patterns);
    else if (has_unknown_wait(finder))
        FIND_PATTERNS(finder, ordered_patterns);
    select_settle(finder->monitors, finder->sections, first);
}

/* Mutexes that are alike, each with an object of its own. */
static void explain_likes(const struct finder *finder) {
    struct monitors *monitors = finder->monitors;
    struct object_history history = object_history_of(finder->sections, monitors, finder->mutex);
    bool is_sought = !monitors_ignore(monitors, finder->mutex);
    if (is_sought && history.n_instances > 1 && has_unknown_wait(finder))
        FIND_PATTERNS(finder, array_patterns);
    if (has_unexplained(monitors, finder->sections, finder->mutex))
        wait_loops_find(monitors, finder->sections, finder->mutex, &history);
    if (history.count && is_sought)
        source_guards_find(finder->trace, finder->sections, finder->mutex, &history, monitors);
    free(history.items);
}

/* `alone`: those, or those of which there are several that are alike. */
static void explain_all(const struct trace *trace, const struct sections *sections, bool alone,
                        struct monitors *monitors) {
    for (size_t o = 0; o < sections->n_objects; o++) {
        if (sections->objects[o].kind != ON_MUTEX || sections->objects[o].alone != alone ||
            sections_first_like(sections, (int)o) != (int)o ||
            (alone && monitors_ignore(monitors, (int)o)))
            continue;
        struct object_history events = {0};
        const struct finder finder = {.trace = trace,
                                      .sections = sections,
                                      .monitors = monitors,
                                      .mutex = (int)o,
                                      .history = in_order(sections, (int)o),
                                      .events = &events};
        if (alone)
            explain_mutex(&finder);
        else
            explain_likes(&finder);
        free(finder.history.items);
        free(events.items);
    }
}

/* ---- all of them ---- */

static struct monitors find_all(const struct trace *trace, const struct sections *sections,
                                const struct facts *facts, const bool *doubted, const bool *split) {
    struct monitors monitors = {.facts = facts, .doubted = doubted};
    operation_classes_find(trace, sections, split, &monitors);
    find_threads(trace, sections, &monitors);
    source_monitors_find(trace, sections, facts, &monitors);
    operation_classes_read_order(trace, facts, &monitors);
    explain_all(trace, sections, true, &monitors);
    explain_all(trace, sections, false, &monitors);
    for (struct explanation *e = NULL; (e = explanation_next(&monitors, BY_COUNTER, e));) {
        e->proposal = monitors.proposal_of[e->mutex];
        e->score.contradictions = e->tally.violations;
        e->score.is_said = e->proposal;
    }
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
