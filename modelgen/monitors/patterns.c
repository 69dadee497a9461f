#include "modelgen/monitors/patterns.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "modelgen/monitors/barriers.h"
#include "modelgen/monitors/finder.h"
#include "modelgen/monitors/groups.h"
#include "modelgen/monitors/progress.h"
#include "modelgen/monitors/results.h"
#include "modelgen/monitors/rounds.h"
#include "modelgen/monitors/rwlocks.h"
#include "modelgen/monitors/turns.h"

/* ---- the sections of one or several mutexes, in the order of their acquire times ---- */

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

/* ---- all mutexes ---- */

static bool has_unexplained_wait(const struct finder *finder) {
    for (size_t i = 0; i < finder->history.count; i++) {
        const struct section *section = section_at(finder, finder->history.items[i]);
        for (size_t w = 0; w < section->n_waits; w++)
            if (!finder->monitors->condition_explained
                     [finder->sections->waits[section->first_wait + w].condition])
                return true;
    }
    return false;
}

static bool has_wait(const struct finder *finder) {
    for (size_t i = 0; i < finder->history.count; i++)
        if (section_at(finder, finder->history.items[i])->n_waits > 0)
            return true;
    return false;
}

static void find_in_mutex(struct finder *finder, bool before_guards) {
    finder->history = in_order(finder->sections, finder->mutex);
    if (before_guards && finder->history.count > 0)
        (void)(barriers_find(finder) || rwlocks_find(finder) ||
               (has_wait(finder) &&
                (groups_find(finder) || turns_find(finder, true) || rounds_find(finder))));
    else if (!before_guards && has_unexplained_wait(finder))
        (void)(turns_find(finder, false) || results_find(finder) || progress_find(finder));
    else if (!before_guards && !has_wait(finder))
        turns_find(finder, true);
    free(finder->history.items);
}

static void find_in_array(struct finder *finder) {
    size_t members = 0;
    for (size_t o = 0; o < finder->sections->n_objects; o++)
        members += sections_first_like(finder->sections, (int)o) == finder->mutex;
    finder->history = in_order(finder->sections, finder->mutex);
    if (members > 1 && has_unexplained_wait(finder))
        (void)(progress_find(finder) || results_find_in_array(finder, members));
    free(finder->history.items);
}

void patterns_find(const struct trace *trace, const struct sections *sections,
                   struct monitors *monitors, bool before_guards) {
    struct finder finder = {.trace = trace, .sections = sections, .monitors = monitors};
    for (size_t o = 0; o < sections->n_objects; o++) {
        const struct sync_object *object = &sections->objects[o];
        if (object->kind != ON_MUTEX || monitors_ignore(monitors, (int)o))
            continue;
        finder.mutex = (int)o;
        if (object->alone)
            find_in_mutex(&finder, before_guards);
        else if (!before_guards && object->class_id == (int)o)
            find_in_array(&finder);
    }
}

static void end_pattern(struct pattern *pattern) {
    free(pattern->acts);
    free(pattern->led);
}

size_t pattern_first(const struct monitors *monitors, const struct pattern *pattern, size_t thread,
                     enum pattern_act act) {
    for (size_t s = monitors->first_of_thread[thread]; s < monitors->first_of_thread[thread + 1];
         s++)
        if (pattern->acts[s] & act)
            return s;
    return PATTERN_NO_SECTION;
}

void patterns_drop(struct monitors *monitors, size_t index) {
    end_pattern(&monitors->patterns[index]);
    monitors->n_patterns--;
    memmove(&monitors->patterns[index], &monitors->patterns[index + 1],
            (monitors->n_patterns - index) * sizeof *monitors->patterns);
}

void patterns_forget(struct monitors *monitors, int mutex) {
    size_t kept = 0;
    for (size_t p = 0; p < monitors->n_patterns; p++)
        if (monitors->patterns[p].mutex == mutex)
            end_pattern(&monitors->patterns[p]);
        else
            monitors->patterns[kept++] = monitors->patterns[p];
    monitors->n_patterns = kept;
}

void patterns_free(struct monitors *monitors) {
    for (size_t p = 0; p < monitors->n_patterns; p++)
        end_pattern(&monitors->patterns[p]);
    free(monitors->patterns);
}
