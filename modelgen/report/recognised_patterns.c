#include "modelgen/report/recognised_patterns.h"

#include "base/memory.h"
#include "modelgen/graph/model_builder.h"
#include "modelgen/report/recognised_draft.h"

static enum hand_made_role role_of(enum pattern_act act) {
    switch (act) {
    case ACT_ARRIVE:
        return AS_ARRIVE;
    case ACT_READ:
        return AS_READ_LOCK;
    case ACT_WRITE:
        return AS_WRITE_LOCK;
    case ACT_UNLOCK:
        return AS_UNLOCK;
    case ACT_PASS:
    case ACT_ADVANCE:
        return AS_SIGNAL;
    default:
        return AS_WAIT;
    }
}

void recognised_write_acts(const struct lower_input *input, const struct explanation *pattern,
                           struct hand_made *monitor) {
    const unsigned told = ~(unsigned)ACT_DRAW; /* that is no operation of the object */
    for (size_t s = 0; s < input->sections->n_sections; s++) {
        const struct section_class *class = &input->monitors->classes[input->monitors->class_of[s]];
        for (unsigned act = 1; act <= ACT_ADVANCE; act *= 2)
            if (pattern->pattern.acts[s] & act & told)
                recognised_add_operation(monitor, role_of(act), class->function);
    }
}

void recognised_write_replayed(const struct lower_input *input, const struct explanation *pattern,
                               const struct model *model, bool is_proposed,
                               struct hand_made *monitor) {
    const struct tally *tally = &pattern->tally;
    monitor->replayed += tally->decisions;
    monitor->violations += tally->violations;
    monitor->confidence =
        recognised_confidence(tally->decisions, tally->waited, tally->violations, is_proposed);
    recognised_add_part(monitor, pattern->object);
    if (pattern->pattern.kind == HAND_MADE_BARRIER)
        monitor->amount = pattern->object >= 0
                              ? recognised_copy_amount(&model->objects[pattern->object].amount)
                              : model_builder_constant(pattern->pattern.parties);
    if (pattern_has_pieces(&pattern->pattern))
        recognised_add_evidence(monitor,
                                "pieces of work that go through the same steps; in each of them "
                                "number n follows number n - %d",
                                pattern->pattern.distance);
    else if (pattern->pattern.in_steps)
        recognised_add_evidence(
            monitor,
            "%zu of them, each with a mutex of its own; number n follows number n - %d, which "
            "must be %d steps ahead or have passed",
            pattern->pattern.n_objects, pattern->pattern.distance, pattern->pattern.lead);
    else if (pattern->pattern.in_rounds)
        recognised_add_evidence(
            monitor, "each signal lets every thread go on once: the n-th one for its n-th time");
    else if (pattern->pattern.in_groups)
        recognised_add_evidence(
            monitor,
            "whose turn it is does the work of all who have come by then, each of "
            "which costs it %.0f ns of CPU time; the others find it done",
            pattern->pattern.led_cpu_ns);
    else if (pattern->pattern.n_objects > 1)
        recognised_add_evidence(
            monitor,
            "%zu of them, each with a mutex of its own; one thread waits for one after the "
            "other",
            pattern->pattern.n_objects);
    recognised_add_evidence(
        monitor, "%.0f critical sections replayed, %.0f of them waited; %.0f contradict it",
        tally->decisions, tally->waited, tally->violations);
    recognised_add_contradictions(input, tally, monitor);
}

void recognised_write_pattern(const struct lower_input *input, const struct explanation *pattern,
                              struct model *model) {
    struct hand_made monitor = recognised_new(pattern->pattern.kind);
    monitor.how = MODELLED_EXACTLY;
    monitor.name = recognised_name(input, pattern->mutex, NULL, monitor.kind);
    recognised_write_acts(input, pattern, &monitor);
    recognised_write_replayed(input, pattern, model, false, &monitor);
    monitor.why = memory_strdup("found in the trace");
    recognised_add(model, monitor);
}
