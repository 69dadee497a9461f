#include "modelgen/report/recognised_objects.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "modelgen/events/event_cursor.h"
#include "modelgen/lower/object_names.h"
#include "modelgen/notes.h"
#include "modelgen/report/proposal_matches.h"
#include "modelgen/report/recognised_draft.h"
#include "modelgen/report/recognised_guards.h"
#include "modelgen/report/recognised_patterns.h"
#include "modelgen/report/recognised_proposals.h"

/* What the records on the slots say; those that stand for the creator's own part of the work do not
 * count. */
static void write_slot_records(const struct lower_input *input, uint64_t address, double *waited,
                               struct hand_made *monitor) {
    const struct trace *trace = input->trace;
    for (size_t t = 0; t < trace->n_threads; t++) {
        if (thread_pools_is_creators(input->pools, t))
            continue;
        for (struct event_cursor at = event_cursor_of_thread(&trace->threads[t]);
             event_cursor_next(&at);) {
            const struct trace_record *record = at.event;
            enum api_op op = trace_op(record);
            if (record->object != address || record->context == TRACE_NO_CONTEXT ||
                trace->contexts[record->context].n_frames == 0 ||
                (op != OP_PUT && op != OP_GET && op != OP_ACQUIRE))
                continue;
            enum hand_made_role as = op == OP_PUT ? AS_SUBMIT : op == OP_GET ? AS_RUN : AS_WAIT;
            recognised_add_operation(monitor, as,
                                     trace->contexts[record->context].frames[0].function);
            monitor->replayed += op != OP_PUT;
            *waited += op != OP_PUT && record->duration_ns > 0;
        }
    }
}

static int object_named(const struct model *model, const char *name) {
    for (size_t o = 0; o < model->n_objects; o++)
        if (strcmp(model->objects[o].name, name) == 0)
            return (int)o;
    return MODEL_NONE;
}

/* The threads with their slots are a pool that carries out commands. */
static void write_slots(const struct lower_input *input, struct model *model) {
    const struct sections *sections = input->sections;
    for (size_t o = 0; o < sections->n_objects; o++) {
        if (sections->objects[o].origin != ORIGIN_MAILBOX || sections->objects[o].kind != ON_ITEMS)
            continue;
        struct hand_made monitor = recognised_new(HAND_MADE_THREAD_POOL);
        monitor.how = MODELLED_EXACTLY;
        double waited = 0;
        monitor.name =
            name_of_object(input, (int)o, hand_made_kind_name(HAND_MADE_THREAD_POOL), NULL);
        write_slot_records(input, sections->objects[o].address, &waited, &monitor);
        monitor.confidence = recognised_confidence(monitor.replayed, waited, 0, false);
        for (size_t other = 0; other < sections->n_objects; other++) {
            if (sections->objects[other].address != sections->objects[o].address)
                continue;
            const char *what = other == o ? "queue" : "completion";
            char *name = name_of_object(input, (int)other, what, NULL);
            recognised_add_part(&monitor, object_named(model, name));
            free(name);
        }
        monitor.why = memory_strdup(
            "each thread has a slot of its own, a mutex or semaphore, in which its creator leaves "
            "it "
            "a command, and waits until it is done; the traced run followed that step by step");
        recognised_add(model, monitor);
    }
}

static bool has_part(const struct model *model, const struct hand_made *monitor,
                     enum object_kind kind) {
    for (size_t i = 0; i < monitor->n_made_of; i++)
        if (model->objects[monitor->made_of[i].object].kind == kind)
            return true;
    return false;
}

/* A limit that nobody met in this run may be met with other numbers. */
static void tell_unmet_limits(struct model *model) {
    for (size_t i = 0; i < model->n_monitors; i++) {
        const struct hand_made *monitor = &model->monitors[i];
        bool is_queue = monitor->kind == HAND_MADE_BOUNDED_QUEUE;
        bool limits = is_queue || monitor->kind == HAND_MADE_SEMAPHORE ||
                      monitor->kind == HAND_MADE_TOKEN_POOL;
        if (limits && monitor->how == MODELLED_NOT && monitor->replayed > 0)
            notes_add(
                model,
                "%s: nobody had to wait for it, so nothing tells how much of it there is, and "
                "the model has no limit there: profile where it is short if it may get so",
                monitor->name);
        if (is_queue && monitor->how == MODELLED_EXACTLY &&
            has_part(model, monitor, OBJECT_QUEUE) && !has_part(model, monitor, OBJECT_TOKENS))
            notes_add(model,
                      "%s: nobody had to wait for room in it, and the model has no limit there: "
                      "profile where it is short if it may get so",
                      monitor->name);
    }
}

void recognised_objects_write(const struct lower_input *input, struct model *model) {
    const struct monitors *monitors = input->monitors;
    bool *done = memory_alloc(monitors->explanations.count, sizeof *done);
    struct proposed_list list = {0};
    for (size_t o = 0; o < input->sections->n_objects; o++) {
        const struct sync_object *object = &input->sections->objects[o];
        if (object->kind != ON_MUTEX || object->class_id != (int)o)
            continue;
        proposal_matches_share(input, (int)o, &list, done);
    }
    for (size_t i = 0; i < list.count; i++)
        if (!list.items[i].is_part)
            recognised_write_proposed(input, &list.items[i], model);
    proposal_matches_free(&list);
    for (struct explanation *e = NULL; (e = explanation_next(monitors, BY_PATTERN, e));)
        if (!done[explanation_index(monitors, e)])
            recognised_write_pattern(input, e, model);
    for (struct explanation *e = NULL; (e = explanation_next(monitors, BY_COUNTER, e));)
        if (!done[explanation_index(monitors, e)] && e->counter.kind != GUARD_FIRST)
            guard_group_write_with_sides(input, e, done, model);
    write_slots(input, model);
    tell_unmet_limits(model);
    free(done);
}
