#include "modelgen/report/recognised_guards.h"

#include <stdlib.h>

#include "base/memory.h"
#include "modelgen/graph/model_builder.h"
#include "modelgen/report/recognised_draft.h"

/* Does one guard's producer take from the other? */
static bool feeds(const struct monitors *monitors, const struct explanation *from,
                  const struct explanation *into) {
    for (size_t c = 0; c < monitors->n_classes; c++)
        if (from->counter.weight[c] < 0 && into->counter.weight[c] > 0)
            return true;
    return false;
}

bool guard_group_are_sides(const struct monitors *monitors, const struct explanation *a,
                           const struct explanation *b) {
    return a != b && a->mutex == b->mutex && a->counter.kind != GUARD_LEVEL &&
           b->counter.kind != GUARD_LEVEL && a->counter.take == 1 && b->counter.take == 1 &&
           feeds(monitors, a, b) && feeds(monitors, b, a);
}

/* One round of everything, or a happening: a level that nobody takes back. */
static bool goes_both_ways(const struct monitors *monitors, const struct explanation *guard) {
    bool up = false, down = false;
    for (size_t c = 0; c < monitors->n_classes; c++) {
        up |= guard->counter.weight[c] > 0;
        down |= guard->counter.weight[c] < 0;
    }
    return up && down;
}

enum hand_made_kind guard_group_kind(const struct monitors *monitors,
                                     const struct guard_group *group) {
    const struct explanation *items = group->items;
    return group->n_rooms                        ? HAND_MADE_BOUNDED_QUEUE
           : items->counter.take > 1             ? HAND_MADE_COMPLETION
           : items->counter.kind == GUARD_QUEUE  ? HAND_MADE_UNBOUNDED_QUEUE
           : items->counter.kind == GUARD_TOKENS ? HAND_MADE_SEMAPHORE
           : goes_both_ways(monitors, items) || items->counter.initial < 0 ? HAND_MADE_COMPLETION
                                                                           : HAND_MADE_EVENT;
}

static void roles_of(enum hand_made_kind kind, enum hand_made_role *adds,
                     enum hand_made_role *takes) {
    switch (kind) {
    case HAND_MADE_BOUNDED_QUEUE:
    case HAND_MADE_UNBOUNDED_QUEUE:
        *adds = AS_PUT;
        *takes = AS_GET;
        break;
    case HAND_MADE_SEMAPHORE:
    case HAND_MADE_TOKEN_POOL:
        *adds = AS_RELEASE;
        *takes = AS_ACQUIRE;
        break;
    case HAND_MADE_THREAD_POOL:
        *adds = AS_SUBMIT;
        *takes = AS_RUN;
        break;
    default:
        *adds = AS_SIGNAL;
        *takes = AS_WAIT;
        break;
    }
}

void guard_group_write_operations(const struct monitors *monitors, const struct explanation *guard,
                                  struct hand_made *monitor) {
    enum hand_made_role adds, takes;
    roles_of(monitor->kind, &adds, &takes);
    for (size_t c = 0; c < monitors->n_classes; c++) {
        const char *function = monitors->classes[c].function;
        if (guard->counter.close_class == (int)c)
            recognised_add_operation(monitor, AS_CLOSE, function);
        else if (guard->counter.waits[c])
            recognised_add_operation(monitor, takes, function);
        else if (guard->counter.weight[c] > 0)
            recognised_add_operation(monitor, adds, function);
        else if (guard->counter.weight[c] < 0 && guard->counter.kind == GUARD_LEVEL)
            recognised_add_operation(monitor, AS_ARRIVE, function);
    }
}

/* Waits that something else would explain as well do not tell. */
static double confidence_in(const struct explanation *guard) {
    return recognised_confidence(guard->tally.decisions,
                                 guard->counter.by_source ? 0 : guard->tally.waited,
                                 guard->tally.violations, guard->proposal);
}

static void write_evidence(const struct lower_input *input, const struct explanation *guard,
                           const char *what, struct hand_made *monitor) {
    const struct monitors *monitors = input->monitors;
    if (guard->counter.units)
        recognised_add_evidence(monitor,
                                "%s: %g at the start; how many each takes and gives back, by what "
                                "%s held at every unlock",
                                what, guard->counter.initial, guard->proposal->count);
    else
        recognised_add_evidence(monitor,
                                "%s: %g at the start; whoever needs %g waits until they are there",
                                what, guard->counter.initial, guard->counter.take);
    if (guard->counter.unknown_units)
        recognised_add_evidence(monitor, "%s: how many each takes differs, and was not seen: one",
                                what);
    if (guard->counter.seen)
        recognised_add_evidence(monitor, "%s: %s%s held %lld when first seen", what,
                                guard->tally.waited > 0 ? "" : "nobody had to wait for it; ",
                                guard->counter.seen->name, (long long)guard->counter.seen->value);
    for (size_t c = 0; c < monitors->n_classes; c++) {
        const struct section_class *class = &monitors->classes[c];
        if (class->mutex != guard->mutex ||
            (guard->counter.weight[c] == 0 && !guard->counter.waits[c]))
            continue;
        recognised_add_evidence(
            monitor, "%s: %+d%s by each of %.0f critical sections of %s (line %d)%s", what,
            guard->counter.weight[c], guard->counter.units ? " times its amount" : "", class->count,
            class->function, class->line, guard->counter.waits[c] ? ", which wait for it" : "");
    }
    recognised_add_evidence(
        monitor, "%s: %.0f decisions replayed, %.0f of them to wait; %.0f contradict it", what,
        guard->tally.decisions, guard->tally.waited, guard->tally.violations);
    recognised_add_contradictions(input, &guard->tally, monitor);
}

static void write_guard(const struct lower_input *input, const struct explanation *guard,
                        const char *what, struct hand_made *monitor) {
    write_evidence(input, guard, what, monitor);
    recognised_add_part(monitor, guard->object);
    monitor->replayed += guard->tally.decisions;
    monitor->violations += guard->tally.violations;
}

void guard_group_write_amount(const struct explanation *guard, const struct model *model,
                              struct hand_made *monitor) {
    monitor->amount = guard->object >= 0 && model->objects[guard->object].kind == OBJECT_TOKENS
                          ? recognised_copy_amount(&model->objects[guard->object].amount)
                          : model_builder_constant(guard->counter.initial);
}

void guard_group_write_found(const struct lower_input *input, const struct guard_group *group,
                             struct hand_made *monitor) {
    write_guard(input, group->items, group->n_rooms ? "items" : "count", monitor);
    double sure = confidence_in(group->items);
    for (size_t i = 0; i < group->n_rooms; i++) {
        write_guard(input, group->rooms[i], "room", monitor);
        double other = confidence_in(group->rooms[i]);
        sure = sure > other ? sure : other;
    }
    monitor->confidence = monitor->confidence > sure ? monitor->confidence : sure;
}

/* Of what the trace shows alone. */
static void write_group(const struct lower_input *input, const struct guard_group *group,
                        struct model *model) {
    struct hand_made monitor = recognised_new(guard_group_kind(input->monitors, group));
    const struct explanation *items = group->items;
    monitor.name = recognised_name(input, items->mutex, NULL, monitor.kind);
    guard_group_write_operations(input->monitors, items, &monitor);
    guard_group_write_found(input, group, &monitor);
    if (group->n_rooms)
        guard_group_write_amount(group->rooms[0], model, &monitor);
    else if (monitor.kind == HAND_MADE_SEMAPHORE)
        guard_group_write_amount(items, model, &monitor);
    monitor.how = MODELLED_EXACTLY;
    monitor.why = memory_strdup("found in the trace");
    recognised_add(model, monitor);
}

void guard_group_write_with_sides(const struct lower_input *input, const struct explanation *first,
                                  bool *done, struct model *model) {
    const struct monitors *monitors = input->monitors;
    struct guard_group group = {
        .items = first,
        .rooms = memory_alloc(monitors->explanations.count, sizeof(struct explanation *))};
    for (const struct explanation *other = first;
         (other = explanation_next(monitors, BY_COUNTER, other));) {
        size_t index = explanation_index(monitors, other);
        if (done[index] || !guard_group_are_sides(monitors, group.items, other))
            continue;
        group.rooms[group.n_rooms++] = other;
        done[index] = true;
    }
    if (group.n_rooms && group.items->counter.initial > group.rooms[0]->counter.initial) {
        const struct explanation *items = group.rooms[0];
        group.rooms[0] = group.items;
        group.items = items;
    }
    write_group(input, &group, model);
    free(group.rooms);
}
