#include "modelgen/report/recognised_draft.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "modelgen/lower/object_names.h"

char *recognised_name(const struct lower_input *input, int mutex,
                      const struct facts_monitor *proposal, enum hand_made_kind kind) {
    return name_of_object(input, mutex, hand_made_kind_name(kind),
                          proposal ? proposal->name : NULL);
}

struct hand_made recognised_new(enum hand_made_kind kind) {
    return (struct hand_made){.kind = kind, .amount = LINEAR_UNKNOWN};
}

void recognised_add_operation(struct hand_made *monitor, enum hand_made_role as,
                              const char *function) {
    for (size_t i = 0; i < monitor->n_operations; i++)
        if (monitor->operations[i].as == as &&
            strcmp(monitor->operations[i].function, function) == 0)
            return;
    monitor->operations =
        memory_resize(monitor->operations, monitor->n_operations + 1, sizeof *monitor->operations);
    monitor->operations[monitor->n_operations++] =
        (struct hand_made_operation){as, memory_strdup(function)};
}

void recognised_add_part(struct hand_made *monitor, int object) {
    for (size_t i = 0; i < monitor->n_made_of; i++)
        if (monitor->made_of[i].object == object)
            return;
    if (object < 0)
        return;
    monitor->made_of =
        memory_resize(monitor->made_of, monitor->n_made_of + 1, sizeof *monitor->made_of);
    monitor->made_of[monitor->n_made_of++] = (struct hand_made_part){object};
}

void recognised_add_evidence(struct hand_made *monitor, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    char *text = memory_vformat(format, arguments);
    va_end(arguments);
    monitor->evidence =
        memory_resize(monitor->evidence, monitor->n_evidence + 1, sizeof *monitor->evidence);
    monitor->evidence[monitor->n_evidence++] = text;
}

char *recognised_contradiction(const struct lower_input *input, const struct contradiction *at) {
    const struct section *section = &input->sections->sections[at->section];
    const struct trace_thread *thread = &input->trace->threads[section->thread];
    const struct section_class *class =
        &input->monitors->classes[input->monitors->class_of[at->section]];
    return memory_format("at %.6f s thread %d (%s) %s in %s (line %d)", (double)at->time_ns / 1e9,
                         thread->index, thread->start_routine, at->waited ? "waited" : "went on",
                         class->function, class->line);
}

void recognised_add_contradictions(const struct lower_input *input, const struct tally *tally,
                                   struct hand_made *monitor) {
    for (size_t i = 0; i < tally->n_contradictions; i++) {
        char *text = recognised_contradiction(input, &tally->contradictions[i]);
        recognised_add_evidence(monitor, "against it: %s", text);
        free(text);
    }
}

double recognised_confidence(double replayed, double waited, double violations, bool is_proposed) {
    double passed = replayed - waited;
    double telling = waited < passed ? waited : passed;
    double doubt = 1 / (1 + telling);
    if (is_proposed)
        doubt /= 2;
    double agreement = replayed > 0 ? 1 - violations / replayed : 0;
    return agreement * (1 - doubt);
}

struct linear recognised_copy_amount(const struct linear *from) {
    struct linear copy = *from;
    copy.terms = NULL;
    if (from->n_terms) {
        copy.terms = memory_alloc(from->n_terms, sizeof *copy.terms);
        memcpy(copy.terms, from->terms, from->n_terms * sizeof *copy.terms);
    }
    return copy;
}

static int compare_operations(const void *a, const void *b) {
    const struct hand_made_operation *x = a, *y = b;
    if (x->as != y->as)
        return (x->as > y->as) - (x->as < y->as);
    return strcmp(x->function, y->function);
}

void recognised_add(struct model *model, struct hand_made monitor) {
    if (monitor.n_operations)
        qsort(monitor.operations, monitor.n_operations, sizeof *monitor.operations,
              compare_operations);
    model->monitors =
        memory_resize(model->monitors, model->n_monitors + 1, sizeof *model->monitors);
    model->monitors[model->n_monitors++] = monitor;
}
