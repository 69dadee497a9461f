#include "modelgen/sync/source_monitors.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "modelgen/events/source_correlation.h"
#include "modelgen/sync/command_program.h"

/* How well the place of an operation is that of the class: where it locks, or with its line where
 * it is called from. */
static double match_of(const struct trace *trace, const struct section_class *class,
                       const struct facts_place *place) {
    double match = 0;
    if (class->context == TRACE_NO_CONTEXT)
        return match;
    const struct trace_context *calls = &trace->contexts[class->context];
    for (size_t f = 0; f < calls->n_frames && f < COMMAND_PROGRAM_FRAMES; f++) {
        if (!source_frame_is_in(&calls->frames[f], place))
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

/* Does somebody wait until what all see has come to a number of the thread's own? */
static bool waits_for_own_number(const struct facts_monitor *proposal) {
    bool own = false;
    for (size_t v = 0; v < proposal->n_variables; v++)
        own |= proposal->variables[v].local;
    return own && proposal->kind == MONITOR_EVENT;
}

static void find_own_numbers(const struct trace *trace, const struct facts_monitor *proposal,
                             int mutex, struct monitors *monitors) {
    for (size_t c = 0; c < monitors->n_classes; c++)
        for (size_t i = 0; i < proposal->n_operations; i++)
            monitors->own_numbers[c] |=
                monitors->classes[c].mutex == mutex && proposal->operations[i].role == FACTS_WAIT &&
                match_of(trace, &monitors->classes[c], &proposal->operations[i].place) > 0;
}

void source_monitors_find(const struct trace *trace, const struct sections *sections,
                          const struct facts *facts, struct monitors *monitors) {
    monitors->proposal_of = memory_alloc(sections->n_objects, sizeof(struct facts_monitor *));
    monitors->unproposed = memory_alloc(sections->n_objects, sizeof(bool));
    monitors->own_numbers = memory_alloc(monitors->n_classes, sizeof(bool));
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
            if (may_be && matches[o] > 0 && waits_for_own_number(proposal))
                find_own_numbers(trace, proposal, (int)o, monitors);
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

bool source_monitors_act(const struct facts_monitor *proposal, enum facts_role role,
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

/* How many of the choices are of calls on the frame's line. */
static size_t count_on_line(const struct facts_amount *amount, const struct trace_frame *frame) {
    size_t n = 0;
    for (size_t c = 0; c < amount->n_choices; c++)
        n += amount->choices[c].place.file && source_frame_is_at(frame, &amount->choices[c].place);
    return n;
}

bool source_monitors_made_by(const struct trace *trace, uint32_t context,
                             const struct facts_amount *amount, size_t choice) {
    const struct facts_place *place = &amount->choices[choice].place;
    if (context == TRACE_NO_CONTEXT || !place->file)
        return false;
    const struct trace_context *calls = &trace->contexts[context];
    for (size_t f = 0; f < calls->n_frames; f++) {
        const struct trace_frame *frame = &calls->frames[f];
        if (source_frame_is_at(frame, place) &&
            (frame->column == place->column || count_on_line(amount, frame) == 1))
            return true;
    }
    return false;
}

/* NULL: it is made by none of the calls that are known. */
static const struct facts_amount *amount_made_with(const struct trace *trace,
                                                   const struct facts_amount *amount,
                                                   const struct sync_object *mutex) {
    for (size_t c = 0; c < amount->n_choices; c++)
        if (source_monitors_made_by(trace, mutex->context, amount, c))
            return &amount->choices[c].amount;
    return NULL;
}

const struct facts_amount *source_monitors_amount(const struct trace *trace,
                                                  const struct sections *sections,
                                                  const struct facts_monitor *proposal, int mutex) {
    const struct facts_amount *amount = &proposal->amount;
    const struct sync_object *objects = sections->objects;
    const struct facts_amount *own = amount_made_with(trace, amount, &objects[mutex]);
    for (size_t o = 0; own && o < sections->n_objects; o++)
        if (objects[o].class_id == objects[mutex].class_id &&
            amount_made_with(trace, amount, &objects[o]) != own)
            own = NULL;
    return own ? own : amount;
}
