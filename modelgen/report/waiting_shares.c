#include "modelgen/report/waiting_shares.h"

#include <stdlib.h>

#include "base/memory.h"
#include "modelgen/events/event_cursor.h"
#include "modelgen/lower/object_names.h"
#include "modelgen/sync/monitor.h"

static const char *kind_of(const struct sync_object *object) {
    if ((object->origin == ORIGIN_MAILBOX && object->kind == ON_SEMAPHORE) ||
        object->origin == ORIGIN_COUNTDOWN)
        return "completion";
    return api_object_names[object->kind];
}

/* Waiting for a lock and the like. */
static enum modelled how_of(const struct lower_input *input, int object, const int *object_of) {
    const struct sync_object *is = &input->sections->objects[object];
    if (is->alone || is->kind != ON_MUTEX)
        return object_of[object] >= 0 || object_of[is->class_id] >= 0 ? MODELLED_EXACTLY
                                                                      : MODELLED_NOT;
    return object_of[object] >= 0 ? MODELLED_BY_FALLBACK : MODELLED_NOT;
}

/* Is it told which of the objects that are alike is meant, or does it make no difference? */
static bool is_told_apart(const struct monitors *monitors, size_t section) {
    for (struct explanation *e = NULL; (e = explanation_next(monitors, BY_COUNTER, e));)
        if (e->counter.as_one && e->counter.waits[monitors->class_of[section]])
            return true;
    for (struct explanation *e = NULL; (e = explanation_next(monitors, BY_PATTERN, e));)
        if (e->pattern.in_steps && e->pattern.acts[section])
            return true;
    return false;
}

/* Waiting on a condition. A time limit that ends it makes it a sleep; what stands for several
 * objects that are alike is not any one of them. */
static enum modelled how_of_wait(const struct lower_input *input, size_t section,
                                 const struct section_wait *wait, const bool *is_flag) {
    const struct sections *sections = input->sections;
    bool exact = sections->objects[sections->sections[section].mutex].alone ||
                 is_told_apart(input->monitors, section);
    for (struct explanation *e = NULL; (e = explanation_next(input->monitors, BY_COUNTER, e));)
        exact &=
            !e->counter.waits[input->monitors->class_of[section]] || !explanation_is_doubtful(e);
    const struct explanation *statements =
        statements_of(input->monitors, sections->sections[section].mutex);
    exact &= !statements || !explanation_is_doubtful(statements);
    if (monitors_explain(input->monitors, section))
        return exact ? MODELLED_EXACTLY : MODELLED_BY_FALLBACK;
    if (section_wait_timed_out(input->trace, &sections->sections[section], wait))
        return MODELLED_EXACTLY;
    return is_flag[wait->condition] ? MODELLED_BY_FALLBACK : MODELLED_NOT;
}

static bool waits_in(const struct trace_record *record) {
    switch (trace_op(record)) {
    case OP_INIT:
    case OP_DESTROY:
    case OP_UNLOCK:
    case OP_RWUNLOCK:
    case OP_SIGNAL:
    case OP_BROADCAST:
    case OP_RELEASE:
        return false;
    default:
        return record->duration_ns > 0;
    }
}

static int compare_shares(const void *a, const void *b) {
    const struct waiting_share *x = a, *y = b;
    return (x->wait_ns < y->wait_ns) - (x->wait_ns > y->wait_ns);
}

static void add_share(struct model *model, char *what, enum modelled how, double wait_ns) {
    model->waiting = memory_resize(model->waiting, model->n_waiting + 1, sizeof *model->waiting);
    model->waiting[model->n_waiting++] = (struct waiting_share){what, how, wait_ns};
}

void waiting_shares_write(const struct lower_input *input, const struct lowered_objects *objects,
                          struct model *model) {
    const struct trace *trace = input->trace;
    const struct sections *sections = input->sections;
    double(*wait_ns)[MODELLED_NOT + 1] = memory_alloc(sections->n_objects, sizeof *wait_ns);
    double ends_ns = 0;
    for (struct event_cursor at = event_cursor_of_run(trace); event_cursor_next(&at);) {
        int object = sections_object(sections, at.event);
        if (trace_op(at.event) == OP_JOIN)
            ends_ns += (double)at.event->duration_ns;
        if (object >= 0 && waits_in(at.event) && sections->objects[object].kind != ON_CONDITION)
            wait_ns[sections->objects[object].class_id]
                   [how_of(input, object, objects->object_of)] += (double)at.event->duration_ns;
    }
    for (size_t s = 0; s < sections->n_sections; s++)
        for (size_t w = 0; w < sections->sections[s].n_waits; w++) {
            const struct section_wait *wait =
                &sections->waits[sections->sections[s].first_wait + w];
            enum modelled how = how_of_wait(input, s, wait, objects->is_flag);
            wait_ns[sections->objects[wait->condition].class_id][how] +=
                (double)(wait->end_ns - wait->start_ns);
        }
    for (size_t o = 0; o < sections->n_objects; o++)
        for (enum modelled how = MODELLED_EXACTLY; how <= MODELLED_NOT; how++)
            if (wait_ns[o][how] > 0)
                add_share(model,
                          name_of_object(input, (int)o, kind_of(&sections->objects[o]), NULL), how,
                          wait_ns[o][how]);
    if (ends_ns > 0)
        add_share(model, memory_strdup("ends of threads"), MODELLED_EXACTLY, ends_ns);
    if (model->n_waiting)
        qsort(model->waiting, model->n_waiting, sizeof *model->waiting, compare_shares);
    free(wait_ns);
}
