#include "modelgen/sync/ticket_replay.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bisection.h"
#include "base/memory.h"
#include "model/postfix.h"
#include "modelgen/events/source_correlation.h"
#include "modelgen/evidence.h"
#include "modelgen/sync/command_program.h"
#include "modelgen/sync/counter_search.h"
#include "modelgen/sync/monitor.h"
#include "modelgen/sync/operation_classes.h"

/* The last section before `time_ns` of the thread with this entry; n_sections when none. Sections
 * of a thread stand together, in the order of their unlocks. */
static size_t last_before(const struct finder *finder, int thread, int entry, uint64_t after_ns,
                          uint64_t before_ns) {
    const struct sections *all = finder->sections;
    struct bisection at = bisection_of(finder->monitors->first_of_thread[thread],
                                       finder->monitors->first_of_thread[thread + 1]);
    while (bisection_next(&at))
        bisection_tell(&at, all->sections[at.middle].release_ns <= before_ns);
    for (size_t s = at.low; s-- > finder->monitors->first_of_thread[thread];) {
        if (all->sections[s].release_ns < after_ns)
            break;
        if (class_at(finder, s)->entry == entry)
            return s;
    }
    return all->n_sections;
}

/* When the number of passage `i` was drawn, if at a section of `entry`, or with `entry` -1 when
 * its thread passed the last time. UINT64_MAX: not at all. */
static uint64_t drawn_ns(const struct finder *finder, const struct passages *passages, size_t i,
                         int entry, size_t *section) {
    const struct passage *passage = &passages->items[i];
    uint64_t after = finder->trace->threads[passage->thread].start_ns;
    for (size_t j = i; j-- > 0;)
        if (passages->items[j].thread == passage->thread) {
            after = passages->items[j].passed_ns;
            break;
        }
    if (entry < 0)
        return after;
    *section = last_before(finder, passage->thread, entry, after, passage->passed_ns);
    if (*section == finder->sections->n_sections)
        return UINT64_MAX;
    const struct section *drawn = section_at(finder, *section);
    return *section == passage->wait_section ? drawn->acquire_ns
                                             : section_passed_ns(finder->sections, drawn);
}

/* Numbers that were drawn out of order, or not at all, counted until there are more than `limit`.
 * The first of each thread may be late: threads start at about the same time. */
static double count_inversions(const struct finder *finder, const struct passages *passages,
                               int entry, double limit) {
    double wrong = 0;
    uint64_t last = 0;
    bool *seen = memory_alloc(finder->trace->n_threads, sizeof *seen);
    for (size_t i = 0; i < passages->count && wrong <= limit; i++) {
        size_t section;
        uint64_t drawn = drawn_ns(finder, passages, i, entry, &section);
        bool first = !seen[passages->items[i].thread];
        seen[passages->items[i].thread] = true;
        if (first && entry < 0)
            continue;
        wrong += drawn == UINT64_MAX || drawn < last;
        if (drawn != UINT64_MAX && drawn > last)
            last = drawn;
    }
    free(seen);
    return wrong;
}

/* Does the section wait after this step for what the step changes? */
static bool is_waited_for(const struct facts_monitor *proposal, const struct facts_section *section,
                          size_t step) {
    bool found = false;
    for (size_t s = step + 1; s < section->n_steps && !found; s++) {
        struct postfix program;
        if (section->steps[s].kind != STEP_WAIT ||
            postfix_parse(section->steps[s].value.postfix, proposal->n_variables, NULL, &program))
            continue;
        found = postfix_reads(&program, section->steps[step].variable);
        postfix_free(&program);
    }
    return found;
}

/* Does the source say that these sections draw the number, something of the thread's own, whose
 * turn they wait for? Two threads that do the same take turns so strictly that they could as well
 * have had their numbers before. */
static bool is_drawn_where_awaited(const struct finder *finder,
                                   const struct section_class *awaits) {
    const struct facts_monitor *proposal = finder->monitors->proposal_of[finder->mutex];
    const struct facts_section *section =
        proposal ? command_program_section_at(finder->trace, awaits->context, proposal) : NULL;
    for (size_t s = 0; section && s < section->n_steps; s++) {
        const struct facts_step *step = &section->steps[s];
        if (step->kind == STEP_UPDATE && !step->guard.text &&
            proposal->variables[step->variable].local && is_waited_for(proposal, section, s))
            return true;
    }
    return false;
}

/* Where the order is decided: -1 when passing, an entry; -2 when no place explains it. Threads that
 * take numbered work one after the other nearly seem to have their numbers from passing: a place
 * that explains all of the order goes before. */
static int find_drawing_entry(const struct finder *finder, const struct passages *passages,
                              bool of_own) {
    double limit = evidence.violation_share * (double)passages->count;
    const struct section_class *awaits = class_at(finder, passages->items[0].wait_section);
    if (!of_own && is_drawn_where_awaited(finder, awaits) &&
        count_inversions(finder, passages, awaits->entry, limit) <= limit)
        return awaits->entry;
    double unseen = count_inversions(finder, passages, -1, INFINITY);
    if (unseen <= evidence.doubtful_share * (double)passages->count)
        return -1;
    const struct monitors *monitors = finder->monitors;
    for (size_t c = 0; c < monitors->n_classes; c++) {
        int entry = monitors->classes[c].entry;
        if (count_inversions(finder, passages, entry, limit) <= limit)
            return entry;
    }
    return unseen <= evidence.unseen_share * (double)passages->count ? -1 : -2;
}

bool passages_add(const struct finder *finder, const struct passages *passages, bool of_own,
                  struct explanation *pattern) {
    int entry = passages->count >= 3 ? find_drawing_entry(finder, passages, of_own) : -2;
    if (entry > -2)
        pattern->tally = passages_replay(finder, passages, of_own);
    if (entry == -2 || !pattern_holds(pattern)) {
        explanation_free(pattern);
        return false;
    }
    pattern->pattern.draws_when_passing = entry == -1;
    for (size_t i = 0; i < passages->count; i++) {
        size_t drawn = finder->sections->n_sections;
        if (entry >= 0)
            drawn_ns(finder, passages, i, entry, &drawn);
        if (drawn < finder->sections->n_sections)
            pattern->pattern.acts[drawn] |= ACT_DRAW;
        pattern->pattern.acts[passages->items[i].wait_section] |= of_own ? ACT_COLLECT : ACT_TURN;
        pattern->pattern.acts[passages->items[i].pass_section] |= ACT_PASS;
    }
    return pattern_add(finder, *pattern);
}

/* `condition` -1: any. */
static bool class_announces(const struct section_class *class, int condition) {
    if (condition < 0)
        return class->n_signals > 0;
    return class_signals(class, condition);
}

/* Sections of the call site that waits, each with the next one of the same thread that signals. */
static struct passages turns_of(const struct finder *finder, const struct section_class *site) {
    struct passages passages = {0};
    for (size_t i = 0; i < finder->history.count; i++) {
        size_t index = finder->history.items[i];
        if (!class_is_same_operation(class_at(finder, index), site))
            continue;
        const struct section *section = section_at(finder, index);
        size_t pass = finder->sections->n_sections;
        for (size_t s = index; s < finder->monitors->first_of_thread[section->thread + 1]; s++) {
            if (s > index && class_is_same_operation(class_at(finder, s), site) &&
                section_at(finder, s)->mutex == finder->mutex)
                break;
            if (section_at(finder, s)->mutex == finder->mutex &&
                class_announces(class_at(finder, s), site->waits_on)) {
                pass = s;
                break;
            }
        }
        if (pass == finder->sections->n_sections)
            continue;
        *VECTOR_ADD(&passages) =
            (struct passage){index, pass, section->thread, section_at(finder, pass)->release_ns, 0};
    }
    return passages;
}

int passages_compare(const void *a, const void *b) {
    const struct passage *x = a, *y = b;
    return (x->passed_ns > y->passed_ns) - (x->passed_ns < y->passed_ns);
}

/* Does the source say that the class waits for its turn? */
static bool is_proposed_turn(const struct finder *finder, const struct section_class *class) {
    const struct facts_monitor *proposal = finder->monitors->proposal_of[finder->mutex];
    if (!proposal || proposal->kind != MONITOR_HAND_OVER)
        return false;
    if (class->context == TRACE_NO_CONTEXT)
        return false;
    const struct trace_context *calls = &finder->trace->contexts[class->context];
    for (size_t i = 0; i < proposal->n_operations; i++)
        for (size_t f = 0; f < calls->n_frames && f < COMMAND_PROGRAM_FRAMES; f++)
            if (proposal->operations[i].role == FACTS_WAIT &&
                source_frame_is_at(&calls->frames[f], &proposal->operations[i].place))
                return true;
    return false;
}

static bool find(const struct finder *finder, bool is_proposed) {
    for (size_t c = 0; c < finder->monitors->n_classes; c++) {
        const struct section_class *class = &finder->monitors->classes[c];
        if (class->mutex != finder->mutex ||
            (is_proposed ? !is_proposed_turn(finder, class)
                         : class->waits == 0 || finder_knows(finder, class->waits_on) ||
                               monitors_guard(finder->monitors, c)))
            continue;
        struct passages passages = turns_of(finder, class);
        VECTOR_SORT(&passages, passages_compare);
        struct explanation pattern = pattern_empty(finder, HAND_MADE_HAND_OVER);
        pattern.pattern.is_proposed = is_proposed && class->waits == 0;
        bool found = passages_add(finder, &passages, false, &pattern);
        free(passages.items);
        if (found)
            return true;
    }
    return false;
}

bool ticket_replay_find(const struct finder *finder) {
    return find(finder, false);
}

bool ticket_replay_find_proposed(const struct finder *finder) {
    return find(finder, true);
}
