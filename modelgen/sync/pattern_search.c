#include "modelgen/sync/pattern_search.h"

#include <stdlib.h>

#include "base/memory.h"
#include "modelgen/candidates.h"
#include "modelgen/sync/in_order_completion_replay.h"
#include "modelgen/sync/pattern_replay.h"
#include "modelgen/sync/template_search.h"
#include "modelgen/sync/templates.h"
#include "modelgen/sync/ticket_replay.h"
#include "modelgen/sync/wavefront_replay.h"

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

static bool find_template(const struct finder *finder, const struct template_row *row,
                          bool is_left_out) {
    return !is_left_out && template_search_find(finder, row);
}

static bool find_tickets(const struct finder *finder, bool is_proposed) {
    return !left_out.tickets && ticket_replay_find(finder, is_proposed);
}

static bool find_in_order_completion(const struct finder *finder) {
    return !left_out.in_order_completion && in_order_completion_replay_find(finder);
}

static bool find_wavefront(const struct finder *finder) {
    return !left_out.wavefront && wavefront_replay_find(finder);
}

static void find_in_mutex(struct finder *finder, bool before_guards) {
    struct object_history events = {0};
    finder->history = in_order(finder->sections, finder->mutex);
    finder->events = &events;
    if (before_guards && finder->history.count > 0)
        (void)(find_template(finder, &template_barrier, left_out.barrier) ||
               find_template(finder, &template_rwlock, left_out.rwlock) ||
               (finder_has_wait(finder) &&
                (find_template(finder, &template_group_commit, left_out.group_commit) ||
                 find_tickets(finder, true) ||
                 find_template(finder, &template_generation, left_out.generations))));
    else if (!before_guards && has_unexplained_wait(finder))
        (void)(find_tickets(finder, false) || find_in_order_completion(finder) ||
               find_wavefront(finder));
    else if (!before_guards && !finder_has_wait(finder))
        find_tickets(finder, true);
    free(finder->history.items);
    free(events.items);
}

static void find_in_array(struct finder *finder) {
    size_t members = 0;
    for (size_t o = 0; o < finder->sections->n_objects; o++)
        members += sections_first_like(finder->sections, (int)o) == finder->mutex;
    finder->history = in_order(finder->sections, finder->mutex);
    if (members > 1 && has_unexplained_wait(finder))
        (void)(find_wavefront(finder) ||
               (!left_out.in_order_completion &&
                in_order_completion_replay_find_in_array(finder, members)));
    free(finder->history.items);
}

void pattern_search_find(const struct trace *trace, const struct sections *sections,
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
