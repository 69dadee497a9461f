#include "modelgen/report/proposal_matches.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "modelgen/events/source_correlation.h"
#include "modelgen/report/recognised_guards.h"
#include "modelgen/sync/monitor.h"

static bool is_in(const struct lower_input *input, const struct section_class *class,
                  const struct facts_place *place) {
    if (class->context == TRACE_NO_CONTEXT)
        return false;
    const struct trace_context *calls = &input->trace->contexts[class->context];
    for (size_t i = 0; i < calls->n_frames && i < COMMAND_PROGRAM_FRAMES; i++)
        if (source_frame_is_at(&calls->frames[i], place))
            return true;
    return false;
}

static bool role_waits(const struct facts_monitor *proposal, enum facts_role role) {
    switch (role) {
    case FACTS_CLOSE:
    case FACTS_RELEASE:
    case FACTS_SIGNAL:
    case FACTS_UNLOCK:
        return false;
    case FACTS_ARRIVE:
        return proposal->kind == MONITOR_BARRIER;
    default:
        return true;
    }
}

/* Does the proposal say that these sections act so, waiting if `waits`? */
static bool class_acts(const struct lower_input *input, const struct facts_monitor *proposal,
                       const struct section_class *class, bool waits) {
    for (size_t i = 0; i < proposal->n_operations; i++)
        if ((!waits || role_waits(proposal, proposal->operations[i].role)) &&
            is_in(input, class, &proposal->operations[i].place))
            return true;
    return false;
}

/* Is the mutex locked where the proposal says that somebody may wait? Other functions may be used
 * of what has several. */
static bool is_used(const struct lower_input *input, const struct facts_monitor *proposal,
                    int mutex) {
    for (size_t c = 0; c < input->monitors->n_classes; c++)
        if (input->monitors->classes[c].mutex == mutex &&
            class_acts(input, proposal, &input->monitors->classes[c], true))
            return true;
    return false;
}

/* Do the proposal's statements wait in these sections? One function may wait for another object of
 * the same mutex than it reports to. */
static bool class_waits(const struct lower_input *input, const struct facts_monitor *proposal,
                        const struct section_class *class) {
    const struct facts_section *section =
        command_program_section_at(input->trace, class->context, proposal);
    return section && statements_wait(section);
}

/* How well the proposal says what the guard found: its waiters count most. */
static double fit_of(const struct lower_input *input, const struct facts_monitor *proposal,
                     const struct explanation *guard) {
    double fit = 0;
    for (size_t c = 0; c < input->monitors->n_classes; c++) {
        const struct section_class *class = &input->monitors->classes[c];
        if (class->mutex != guard->mutex)
            continue;
        if (guard->counter.waits[c] && class_acts(input, proposal, class, true))
            fit += class_waits(input, proposal, class) ? 8 : 4;
        else if (guard->counter.weight[c] != 0 && class_acts(input, proposal, class, false))
            fit += 1;
    }
    return fit;
}

static void find_proposed(const struct lower_input *input, int mutex, struct proposed_list *list) {
    const struct facts *facts = input->facts;
    const struct facts_monitor *best = input->monitors->proposal_of[mutex];
    const struct explanation *statements = statements_of(input->monitors, mutex);
    for (size_t m = 0; best && m < facts->n_monitors; m++) {
        const struct facts_monitor *proposal = &facts->monitors[m];
        bool same = facts_same_mutex(proposal, best);
        bool carried_out = statements && statements->proposal == proposal;
        if (!same ||
            (!carried_out && (proposal->kind == MONITOR_OTHER || !is_used(input, proposal, mutex))))
            continue;
        int *roles = source_replay_roles(input->trace, input->sections, proposal, mutex);
        *VECTOR_ADD(list) =
            (struct proposed){.proposal = proposal,
                              .mutex = mutex,
                              .statements = carried_out ? statements : NULL,
                              .verdict = source_replay(input->sections, proposal, mutex, roles,
                                                       thread_pools_count(input->pools), NULL)};
        free(roles);
    }
}

void proposal_matches_waiting(const struct lower_input *input, const struct proposed *proposed,
                              double *waited_ns, double *unexplained_ns) {
    const struct sections *sections = input->sections;
    int class_id = sections->objects[proposed->mutex].class_id;
    for (size_t s = 0; s < sections->n_sections; s++) {
        const struct section *section = &sections->sections[s];
        if (section->n_waits == 0 || sections->objects[section->mutex].class_id != class_id ||
            !class_acts(input, proposed->proposal,
                        &input->monitors->classes[input->monitors->class_of[s]], true))
            continue;
        for (size_t w = 0; w < section->n_waits; w++) {
            const struct section_wait *wait = &sections->waits[section->first_wait + w];
            double time = (double)(wait->end_ns - wait->start_ns);
            *waited_ns += time;
            *unexplained_ns += monitors_explain(input->monitors, s) ? 0 : time;
        }
    }
}

/* Where the statements of one proposal carry out all waits of the mutex, another one that waits
 * with them is a view of it; one that nobody waited for is an object of its own. */
static void join_carried_out(const struct lower_input *input, struct proposed_list *list,
                             size_t first) {
    for (size_t p = first; p < list->count; p++) {
        struct proposed *proposed = &list->items[p];
        if (proposed->statements || !statements_of(input->monitors, proposed->mutex))
            continue;
        double waited_ns = 0, unexplained_ns = 0;
        proposal_matches_waiting(input, proposed, &waited_ns, &unexplained_ns);
        proposed->is_part = waited_ns > 0 && unexplained_ns == 0;
    }
}

/* Gives every finding on this mutex to the proposal that says it best; what no proposal knows stays
 * by itself. */
static void share_findings(const struct lower_input *input, struct proposed_list *list,
                           size_t first, bool *done) {
    const struct monitors *monitors = input->monitors;
    for (struct explanation *guard = NULL;
         (guard = explanation_next(monitors, BY_COUNTER, guard));) {
        if (guard->counter.kind == GUARD_FIRST)
            continue; /* part of what it stands beside */
        struct proposed *best = NULL;
        double best_fit = 0;
        for (size_t p = first; p < list->count; p++) {
            double fit = guard->mutex == list->items[p].mutex
                             ? fit_of(input, list->items[p].proposal, guard)
                             : 0;
            if (fit > best_fit)
                best = &list->items[p];
            best_fit = fit > best_fit ? fit : best_fit;
        }
        if (!best)
            continue;
        *VECTOR_ADD(&best->guards) = guard;
        done[explanation_index(monitors, guard)] = true;
    }
    for (struct explanation *e = NULL; (e = explanation_next(monitors, BY_PATTERN, e));)
        if (list->count > first && e->mutex == list->items[first].mutex) {
            list->items[first].pattern = e;
            done[explanation_index(monitors, e)] = true;
        }
}

/* What the source takes for two objects may be the two sides of one. */
static void join_sides(const struct lower_input *input, struct proposed *a, struct proposed *b) {
    for (size_t i = 0; i < a->guards.count; i++)
        for (size_t j = 0; j < b->guards.count; j++) {
            const struct explanation *mine = a->guards.items[i], *other = b->guards.items[j];
            if (!guard_group_are_sides(input->monitors, mine, other))
                continue;
            struct proposed *items = mine->counter.initial > other->counter.initial ? b : a;
            struct proposed *rooms = items == a ? b : a;
            for (size_t g = 0; g < rooms->guards.count; g++)
                *VECTOR_ADD(&items->guards) = rooms->guards.items[g];
            rooms->guards.count = 0;
            rooms->is_part = true;
            return;
        }
}

static void join_all_sides(const struct lower_input *input, struct proposed_list *list,
                           size_t first) {
    for (size_t a = first; a < list->count; a++)
        for (size_t b = a + 1; b < list->count; b++)
            join_sides(input, &list->items[a], &list->items[b]);
}

/* Do several threads come to where the proposal acts? */
static bool has_company(const struct lower_input *input, const struct proposed *proposed) {
    const struct sections *sections = input->sections;
    int first = -1;
    for (size_t s = 0; s < sections->n_sections; s++) {
        const struct section *section = &sections->sections[s];
        if (section->mutex != proposed->mutex || section->thread == first ||
            !class_acts(input, proposed->proposal,
                        &input->monitors->classes[input->monitors->class_of[s]], true))
            continue;
        if (first >= 0)
            return true;
        first = section->thread;
    }
    return false;
}

/* All but the last one wait at a barrier: one at which nobody had to, though several came, is none.
 * What they waited for there is explained by something else. */
static void drop_unwaited_barriers(const struct lower_input *input, struct proposed_list *list,
                                   size_t first) {
    for (size_t p = first; p < list->count; p++) {
        struct proposed *proposed = &list->items[p];
        if (proposed->proposal->kind != MONITOR_BARRIER || proposed->guards.count > 0 ||
            proposed->statements || list->items[first].pattern)
            continue;
        double waited_ns = 0, unexplained_ns = 0;
        proposal_matches_waiting(input, proposed, &waited_ns, &unexplained_ns);
        proposed->is_part |= unexplained_ns == 0 && has_company(input, proposed);
    }
}

void proposal_matches_share(const struct lower_input *input, int mutex, struct proposed_list *list,
                            bool *done) {
    size_t first = list->count;
    find_proposed(input, mutex, list);
    join_carried_out(input, list, first);
    share_findings(input, list, first, done);
    join_all_sides(input, list, first);
    drop_unwaited_barriers(input, list, first);
}

void proposal_matches_free(struct proposed_list *list) {
    for (size_t i = 0; i < list->count; i++)
        free(list->items[i].guards.items);
    free(list->items);
}
