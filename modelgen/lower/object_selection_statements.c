#include "modelgen/lower/object_selection.h"

#include <string.h>

#include "base/memory.h"
#include "base/path.h"
#include "modelgen/graph/model_builder.h"
#include "modelgen/lower/object_names.h"

static struct expression copy_expression(const struct facts_expression *from) {
    return (struct expression){memory_strdup(from->text), memory_strdup(from->postfix)};
}

static struct expression new_value(const struct facts_monitor *proposal,
                                   const struct facts_step *step) {
    if (step->change == CHANGE_OTHER)
        return copy_expression(&step->value);
    const char *name = proposal->variables[step->variable].name;
    if (step->change == CHANGE_SET)
        return (struct expression){step->value.text ? memory_strdup(step->value.text)
                                                    : memory_format("%.15g", step->by),
                                   memory_format("%.15g", step->by)};
    return (struct expression){step->value.text ? memory_strdup(step->value.text)
                                                : memory_format("%s + %.15g", name, step->by),
                               memory_format("$%zu %.15g +", step->variable, step->by)};
}

static int condition_number(struct object *object, const char *path) {
    for (size_t i = 0; i < object->n_conditions; i++)
        if (strcmp(object->conditions[i], path) == 0)
            return (int)i;
    object->conditions =
        memory_resize(object->conditions, object->n_conditions + 1, sizeof *object->conditions);
    object->conditions[object->n_conditions] = memory_strdup(path);
    return (int)object->n_conditions++;
}

static struct statement make_statement(const struct facts_monitor *proposal,
                                       const struct facts_step *step, struct object *object) {
    static const enum statement_kind kinds[] = {[STEP_UPDATE] = STATEMENT_UPDATE,
                                                [STEP_WAIT] = STATEMENT_WAIT,
                                                [STEP_SIGNAL] = STATEMENT_SIGNAL,
                                                [STEP_BROADCAST] = STATEMENT_BROADCAST};
    struct statement made = {
        .kind = kinds[step->kind], .variable = MODEL_NONE, .condition = MODEL_NONE};
    if (step->guard.text)
        made.guard = copy_expression(&step->guard);
    if (step->kind == STEP_UPDATE) {
        made.variable = (int)step->variable;
        made.value = new_value(proposal, step);
        return made;
    }
    made.condition = condition_number(object, step->condition);
    if (step->kind == STEP_WAIT)
        made.predicate = copy_expression(&step->value);
    return made;
}

static void write_section(const struct explanation *statements, size_t index,
                          struct object *object) {
    int number = statements->statements.number[index];
    if (number == MODEL_NONE)
        return; /* the run never came there */
    object->n_sections++;
    const struct facts_section *from = &statements->proposal->sections[index];
    struct statement_section *section = &object->sections[number];
    section->name =
        memory_format("%s (%s:%d)", from->place.function,
                      from->place.file ? path_name(from->place.file) : "?", from->place.line);
    section->statements = memory_alloc(from->n_steps, sizeof *section->statements);
    for (size_t i = 0; i < from->n_steps; i++) {
        if (!statements_matter(&statements->statements, &from->steps[i]))
            continue;
        struct statement *made = &section->statements[section->n_statements++];
        *made = make_statement(statements->proposal, &from->steps[i], object);
        made->answers = statements->statements.answer[index] == (int)i;
    }
}

/* Variables that the source does not set begin as 0. */
static struct linear initial_value(const struct writer *writer,
                                   const struct facts_variable *variable) {
    struct linear said = model_builder_said(&variable->initial, writer->in->pools);
    return linear_is_known(&said) ? said : model_builder_constant(0);
}

int objects_statements(struct writer *writer, struct explanation *statements) {
    if (statements->object != MODEL_NONE)
        return statements->object;
    const struct facts_monitor *proposal = statements->proposal;
    const struct tally *verdict = &statements->tally;
    char *name = name_of_object(writer->in, statements->mutex, "monitor", proposal->name);
    statements->object = model_add_object(writer->model, OBJECT_MONITOR, name);
    struct object *object = &writer->model->objects[statements->object];
    object->condition = writer->in->sections->objects[statements->mutex].of_libc;
    object->n_variables = proposal->n_variables;
    object->variables = memory_alloc(proposal->n_variables, sizeof *object->variables);
    for (size_t v = 0; v < proposal->n_variables; v++)
        object->variables[v] =
            (struct monitor_variable){.name = memory_strdup(proposal->variables[v].name),
                                      .initial = initial_value(writer, &proposal->variables[v]),
                                      .per_thread = proposal->variables[v].local};
    object->sections = memory_alloc(proposal->n_sections, sizeof *object->sections);
    for (size_t s = 0; s < proposal->n_sections; s++)
        write_section(statements, s, object);
    object->evidence =
        memory_format("source statements replayed: %.0f decisions, %.0f waits, %.0f violations",
                      verdict->decisions, verdict->waited, verdict->violations + verdict->untold);
    return statements->object;
}
