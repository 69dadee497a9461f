#include "cli/explanation.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

char *explanation_of_amount(const struct model *model, const struct linear *amount) {
    char *text = memory_format("%g", amount->base);
    for (size_t i = 0; i < amount->n_terms; i++) {
        const struct linear_term *term = &amount->terms[i];
        char *longer =
            memory_format("%s + %g*%s", text, term->factor, model->pools[term->pool].name);
        free(text);
        text = longer;
    }
    return text;
}

char *explanation_of_variables(const struct model *model, const struct object *monitor) {
    char *text = memory_strdup("");
    for (size_t i = 0; i < monitor->n_variables; i++) {
        const struct monitor_variable *variable = &monitor->variables[i];
        char *initial = explanation_of_amount(model, &variable->initial);
        char *longer = memory_format("%s%s%s%s%s", text, i ? ", " : "", variable->name,
                                     variable->per_thread ? " of each thread" : " = ",
                                     variable->per_thread ? "" : initial);
        free(initial);
        free(text);
        text = longer;
    }
    return text;
}

char *explanation_of_operations(const struct hand_made *monitor) {
    char *text = memory_strdup("");
    for (size_t i = 0; i < monitor->n_operations; i++) {
        const struct hand_made_operation *operation = &monitor->operations[i];
        bool same = i > 0 && monitor->operations[i - 1].as == operation->as;
        char *longer = memory_format("%s%s%s%s%s", text,
                                     i == 0 ? ""
                                     : same ? ", "
                                            : "; ",
                                     same ? "" : hand_made_role_name(operation->as),
                                     same ? "" : " ", operation->function);
        free(text);
        text = longer;
    }
    return text;
}

static void print_lines(const char *title, char *const *lines, size_t n) {
    if (n > 0)
        printf("%s\n", title);
    for (size_t i = 0; i < n; i++)
        printf("  %s\n", lines[i]);
}

static const char *text_of(const struct expression *expression) {
    return expression->text ? expression->text : expression->postfix;
}

static void print_statement(const struct object *monitor, const struct statement *statement) {
    const char *condition =
        statement->condition >= 0 ? monitor->conditions[statement->condition] : "";
    switch (statement->kind) {
    case STATEMENT_UPDATE:
        printf("    %s = %s", monitor->variables[statement->variable].name,
               text_of(&statement->value));
        break;
    case STATEMENT_WAIT:
        printf("    wait for %s while %s", condition, text_of(&statement->predicate));
        break;
    case STATEMENT_SIGNAL:
        printf("    signal %s", condition);
        break;
    case STATEMENT_BROADCAST:
        printf("    broadcast %s", condition);
        break;
    }
    bool says_more = text_of(&statement->guard) &&
                     !(statement->kind == STATEMENT_WAIT &&
                       strcmp(text_of(&statement->guard), text_of(&statement->predicate)) == 0);
    if (says_more)
        printf(" if %s", text_of(&statement->guard));
    printf("%s\n", statement->answers ? " (tells which way the thread goes on)" : "");
}

static void print_statements(const struct object *monitor) {
    for (size_t s = 0; s < monitor->n_sections; s++) {
        printf("  %s\n", monitor->sections[s].name);
        for (size_t i = 0; i < monitor->sections[s].n_statements; i++)
            print_statement(monitor, &monitor->sections[s].statements[i]);
    }
}

static void print_monitor(const struct model *model, const struct hand_made *monitor) {
    char *operations = explanation_of_operations(monitor);
    printf("%s\n", monitor->name);
    printf("is a        %s", hand_made_kind_name(monitor->kind));
    if (linear_is_known(&monitor->amount)) {
        char *amount = explanation_of_amount(model, &monitor->amount);
        printf(" of %s", amount);
        free(amount);
    }
    printf("\noperations  %s\n", operations);
    printf("confidence  %.0f %%: %s\n", 100 * monitor->confidence, monitor->why);
    printf("replayed    %.0f decisions, %.0f of them against it\n", monitor->replayed,
           monitor->violations);
    printf("modelled    %s%s\n", modelled_name(monitor->how), monitor->n_made_of ? " by" : "");
    for (size_t i = 0; i < monitor->n_made_of; i++) {
        const struct object *object = &model->objects[monitor->made_of[i].object];
        printf("  %s (%s)\n", object->name, object_kind_name(object->kind));
        if (object->n_sections > 0)
            printf("statements\n");
        print_statements(object);
    }
    print_lines("evidence", monitor->evidence, monitor->n_evidence);
    print_lines("rejected", monitor->rejected, monitor->n_rejected);
    free(operations);
}

static bool is_meant(const struct model *model, const struct hand_made *monitor, const char *name) {
    bool found = strstr(monitor->name, name) != NULL;
    for (size_t i = 0; i < monitor->n_made_of; i++)
        found |= strstr(model->objects[monitor->made_of[i].object].name, name) != NULL;
    for (size_t i = 0; i < monitor->n_operations; i++)
        found |= strcmp(monitor->operations[i].function, name) == 0;
    return found;
}

int explanation_print(const struct model *model, const char *name, struct error *error) {
    size_t found = 0;
    for (size_t i = 0; i < model->n_monitors; i++) {
        if (!is_meant(model, &model->monitors[i], name))
            continue;
        if (found++)
            putchar('\n');
        print_monitor(model, &model->monitors[i]);
    }
    if (found)
        return 0;
    char known[400] = "";
    size_t used = 0;
    for (size_t i = 0; i < model->n_monitors && used < sizeof known; i++)
        used += (size_t)snprintf(known + used, sizeof known - used, "%s'%s'", i ? ", " : "",
                                 model->monitors[i].name);
    return error_set(error, "--explain %s: no such hand-made object: %s%s", name,
                     model->n_monitors ? "there are " : "this program has none", known);
}
