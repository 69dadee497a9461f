#include "cli/prediction/explanation.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "cli/text/nearest.h"

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

/* "struct ring.count = 0, local:take.ticket of each thread"; the caller frees. */
static char *variables_of(const struct model *model, const struct object *monitor) {
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

char *explanation_of_parameters(const struct model *model, const struct object *object) {
    if (object->kind == OBJECT_MONITOR)
        return variables_of(model, object);
    const char *what = object->kind == OBJECT_TOKENS                     ? "count"
                       : object->kind == OBJECT_BARRIER                  ? "parties"
                       : object->kind == OBJECT_QUEUE && object->bounded ? "capacity"
                                                                         : NULL;
    if (!what)
        return memory_strdup(object->kind == OBJECT_QUEUE ? "unbounded" : "");
    char *amount = explanation_of_amount(model, &object->amount);
    char *text = memory_format("%s %s", what, amount);
    free(amount);
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
    free(operations);
}

/* ---- decisions and notes ---- */

/* Under another subject than the one that is explained, that is told first. */
static void print_decision(const struct decision *decision, const char *name,
                           const char **subject) {
    bool is_own = strcmp(decision->subject, name) == 0;
    if (!is_own && strcmp(decision->subject, *subject) != 0)
        printf("  on %s\n", decision->subject);
    *subject = decision->subject;
    printf("  %s%s: %s: %s\n", is_own ? "" : "  ", decision->pass, decision->verdict,
           decision->evidence);
}

/* What was decided on any of these names, in the order of the passes; the first is explained. */
static void print_decisions(const struct decision_log *decisions, const char *const *names,
                            size_t n) {
    bool *on = memory_alloc(decisions->count + 1, sizeof *on);
    for (size_t i = 0; i < n; i++)
        decision_log_mark(decisions, names[i], on);
    const char *subject = NULL;
    for (size_t i = 0; i < decisions->count; i++) {
        if (!on[i])
            continue;
        if (!subject)
            printf("decided\n");
        if (!subject)
            subject = names[0];
        print_decision(&decisions->items[i], names[0], &subject);
    }
    free(on);
}

/* Names of pools are short, and words of notes on others: those notes begin with them. */
static bool is_note_on(const char *note, const char *name, bool is_pool) {
    size_t length = strlen(name);
    return is_pool ? strncmp(note, name, length) == 0 && strchr(": ", note[length])
                   : strstr(note, name) != NULL;
}

static void print_notes(const struct model *model, const char *name, bool is_pool) {
    bool any = false;
    for (size_t i = 0; i < model->n_notes; i++) {
        if (!is_note_on(model->notes[i], name, is_pool))
            continue;
        if (!any)
            printf("not modelled exactly\n");
        any = true;
        printf("  %s\n", model->notes[i]);
    }
}

/* ---- hand-made objects, objects, pools ---- */

static void explain_monitor(const struct model *model, const struct decision_log *decisions,
                            size_t index) {
    const struct hand_made *monitor = &model->monitors[index];
    const char **names = memory_alloc(monitor->n_made_of + 1, sizeof *names);
    names[0] = monitor->name;
    for (size_t i = 0; i < monitor->n_made_of; i++)
        names[i + 1] = model->objects[monitor->made_of[i].object].name;
    print_monitor(model, monitor);
    print_decisions(decisions, names, monitor->n_made_of + 1);
    print_notes(model, monitor->name, false);
    free(names);
}

/* Which pools' threads come to the object. */
static void print_users(const struct model *model, int object) {
    bool *uses = memory_alloc(model->n_pools + 1, sizeof *uses);
    bool any = false;
    for (size_t n = 0; n < model->n_nodes; n++)
        if (model->nodes[n].object == object && model->nodes[n].pool >= 0)
            uses[model->nodes[n].pool] = true;
    for (size_t p = 0; p < model->n_pools; p++) {
        if (!uses[p])
            continue;
        printf("%s%s", any ? ", " : "used by     ", model->pools[p].name);
        any = true;
    }
    if (any)
        putchar('\n');
    free(uses);
}

static void print_waiting(const struct model *model, const char *name) {
    for (size_t i = 0; i < model->n_waiting; i++)
        if (strcmp(model->waiting[i].what, name) == 0)
            printf("waited for  %.3g s in all threads together, modelled %s\n",
                   model->waiting[i].wait_ns / 1e9, modelled_name(model->waiting[i].how));
}

static bool is_made_of(const struct hand_made *monitor, int object) {
    for (size_t i = 0; i < monitor->n_made_of; i++)
        if (monitor->made_of[i].object == object)
            return true;
    return false;
}

static void explain_object(const struct model *model, const struct decision_log *decisions,
                           size_t index) {
    const struct object *object = &model->objects[index];
    char *parameters = explanation_of_parameters(model, object);
    printf("%s\nis a        %s%s%s\n", object->name, object_kind_name(object->kind),
           *parameters ? ", " : "", parameters);
    if (object->evidence)
        printf("known from  %s\n", object->evidence);
    print_users(model, (int)index);
    print_waiting(model, object->name);
    for (size_t m = 0; m < model->n_monitors; m++)
        if (is_made_of(&model->monitors[m], (int)index))
            printf("part of     %s\n", model->monitors[m].name);
    if (object->n_sections > 0)
        printf("statements\n");
    print_statements(object);
    print_decisions(decisions, (const char *const *)&object->name, 1);
    print_notes(model, object->name, false);
    free(parameters);
}

static void explain_pool(const struct model *model, const struct decision_log *decisions,
                         size_t index) {
    const struct pool *pool = &model->pools[index];
    char *threads = explanation_of_amount(model, &pool->threads);
    printf("%s\nis a        thread pool of %s%s\n", pool->name, threads,
           pool->scales ? ", which follows --threads" : "");
    if (pool->origin && *pool->origin)
        printf("origin      %s\n", pool->origin);
    printf("rule        %s", partition_names[pool->partition]);
    if (pool->confidence > 0)
        printf(", confidence %.0f %%", 100 * pool->confidence);
    printf("%s%s\n", pool->rule && *pool->rule ? ": " : "", pool->rule ? pool->rule : "");
    if (pool->uncounted && *pool->uncounted)
        printf("threads     may be others than --threads counts: %s\n", pool->uncounted);
    if (pool->capped && *pool->capped)
        printf("cores       may be the most that it has threads: %s\n", pool->capped);
    if (pool->remade && *pool->remade)
        printf("threads     cost much to make: %s\n", pool->remade);
    if (pool->one_thread && *pool->one_thread)
        printf("one thread  goes another way: %s\n", pool->one_thread);
    print_decisions(decisions, (const char *const *)&pool->name, 1);
    print_notes(model, pool->name, true);
    free(threads);
}

/* ---- which of them ---- */

/* All that can be explained, under one numbering: hand-made objects, objects, pools. */
struct thing {
    const char *name;
    void (*explain)(const struct model *model, const struct decision_log *decisions, size_t index);
    size_t index;
};

struct things {
    struct thing *items;
    size_t count, capacity;
};

static struct things things_of(const struct model *model) {
    struct things things = {0};
    for (size_t m = 0; m < model->n_monitors; m++)
        *VECTOR_ADD(&things) = (struct thing){model->monitors[m].name, explain_monitor, m};
    for (size_t o = 0; o < model->n_objects; o++)
        *VECTOR_ADD(&things) = (struct thing){model->objects[o].name, explain_object, o};
    for (size_t p = 0; p < model->n_pools; p++)
        *VECTOR_ADD(&things) = (struct thing){model->pools[p].name, explain_pool, p};
    return things;
}

static bool is_called(const struct thing *thing, const char *name) {
    return strcmp(thing->name, name) == 0;
}

static bool monitor_is_like(const struct model *model, const struct hand_made *monitor,
                            const char *name) {
    bool found = strstr(monitor->name, name) != NULL;
    for (size_t i = 0; i < monitor->n_made_of; i++)
        found |= strstr(model->objects[monitor->made_of[i].object].name, name) != NULL;
    for (size_t i = 0; i < monitor->n_operations; i++)
        found |= strcmp(monitor->operations[i].function, name) == 0;
    return found;
}

/* Objects that a hand-made one is made of are explained with that. */
static bool is_part(const struct model *model, const struct thing *thing) {
    for (size_t m = 0; thing->explain == explain_object && m < model->n_monitors; m++)
        if (is_made_of(&model->monitors[m], (int)thing->index))
            return true;
    return false;
}

static bool is_like(const struct model *model, const struct thing *thing, const char *name) {
    if (thing->explain == explain_monitor)
        return monitor_is_like(model, &model->monitors[thing->index], name);
    return strstr(thing->name, name) && !is_part(model, thing);
}

static int refuse(const struct things *things, const char *name, struct error *error) {
    const char **names = memory_alloc(things->count + 1, sizeof *names);
    for (size_t i = 0; i < things->count; i++)
        names[i] = things->items[i].name;
    char *nearest = nearest_list(name, names, things->count);
    error_set(error, "--explain %s: the model has no such object or pool: there are %s", name,
              nearest);
    free(nearest);
    free(names);
    return -1;
}

int explanation_print(const struct model *model, const struct decision_log *decisions,
                      const char *name, struct error *error) {
    struct things things = things_of(model);
    bool exact = false, any = false;
    for (size_t i = 0; i < things.count; i++)
        exact |= is_called(&things.items[i], name);
    for (size_t i = 0; i < things.count; i++) {
        const struct thing *thing = &things.items[i];
        if (exact ? !is_called(thing, name) : !is_like(model, thing, name))
            continue;
        if (any)
            putchar('\n');
        any = true;
        thing->explain(model, decisions, thing->index);
    }
    int status = any ? 0 : refuse(&things, name, error);
    free(things.items);
    return status;
}
