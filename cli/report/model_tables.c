#include "cli/report/model_tables.h"

#include <stdlib.h>

#include "base/memory.h"
#include "cli/prediction/explanation.h"

/* ---- pools ---- */

/* Nodes that the pool's threads can come to. */
static size_t count_nodes(const struct model *model, const struct pool *pool) {
    bool *reached = memory_alloc(model->n_nodes, sizeof *reached);
    int *found = memory_alloc(model->n_nodes, sizeof *found);
    size_t count = 0;
    reached[pool->entry] = true;
    found[count++] = pool->entry;
    for (size_t i = 0; i < count; i++) {
        const struct node *node = &model->nodes[found[i]];
        for (size_t j = 0; j < node->n_edges; j++) {
            int next = node->edges[j].to;
            if (!reached[next])
                found[count++] = next;
            reached[next] = true;
        }
    }
    free(reached);
    free(found);
    return count;
}

static const struct table_column pool_columns[] = {
    {"pool", "pool"},   {"threads", "threads"}, {"scales", "scales"},
    {"nodes", "nodes"}, {"origin", "created"},  {"rule", "rule"},
};

struct table *model_pool_table(const struct model *model) {
    struct table *table = table_new(pool_columns, sizeof pool_columns / sizeof *pool_columns);
    TABLE_SPARE(table, "nodes", "origin");
    for (size_t i = 0; i < model->n_pools; i++) {
        const struct pool *pool = &model->pools[i];
        table_add_text(table, pool->name);
        table_add_integer(table, pool->profiled_threads);
        table_add_text(table, pool->scales ? "yes" : "no");
        table_add_integer(table, (long)count_nodes(model, pool));
        table_add_text(table, pool->origin ? pool->origin : "");
        table_add_text(table, pool->rule ? pool->rule : "");
    }
    return table;
}

/* ---- objects ---- */

static const struct table_column object_columns[] = {
    {"object", "object"},
    {"kind", "kind"},
    {"parameters", "parameters"},
    {"evidence", "known from"},
};

struct table *model_object_table(const struct model *model) {
    struct table *table = table_new(object_columns, sizeof object_columns / sizeof *object_columns);
    TABLE_SPARE(table, "evidence");
    for (size_t i = 0; i < model->n_objects; i++) {
        const struct object *object = &model->objects[i];
        char *amount = explanation_of_parameters(model, object);
        table_add_text(table, object->name);
        table_add_text(table, object_kind_name(object->kind));
        table_add_text(table, amount);
        table_add_text(table, object->evidence ? object->evidence : "");
        free(amount);
    }
    return table;
}

/* ---- hand-made objects ---- */

static const struct table_column monitor_columns[] = {
    {"monitor", "hand-made object"}, {"kind", "kind"},         {"amount", "amount"},
    {"operations", "operations"},    {"replayed", "replayed"}, {"violations", "violations"},
    {"confidence", "confidence"},    {"how", "modelled"},      {"why", "why"},
};

struct table *model_monitor_table(const struct model *model) {
    struct table *table =
        table_new(monitor_columns, sizeof monitor_columns / sizeof *monitor_columns);
    TABLE_SPARE(table, "violations", "replayed", "why", "confidence", "amount");
    for (size_t i = 0; i < model->n_monitors; i++) {
        const struct hand_made *monitor = &model->monitors[i];
        char *amount = linear_is_known(&monitor->amount)
                           ? explanation_of_amount(model, &monitor->amount)
                           : memory_strdup("");
        char *operations = explanation_of_operations(monitor);
        table_add_text(table, monitor->name);
        table_add_text(table, hand_made_kind_name(monitor->kind));
        table_add_text(table, amount);
        table_add_text(table, operations);
        table_add_integer(table, (long)monitor->replayed);
        table_add_integer(table, (long)monitor->violations);
        table_add_number(table, monitor->confidence, UNIT_NONE);
        table_add_text(table, modelled_name(monitor->how));
        table_add_text(table, monitor->why);
        free(amount);
        free(operations);
    }
    return table;
}

/* ---- as JSON ---- */

static json_t *notes_json(const struct model *model) {
    json_t *notes = json_array();
    for (size_t i = 0; i < model->n_outside; i++)
        json_array_append_new(notes, json_string(model->outside[i]));
    for (size_t i = 0; i < model->n_notes; i++)
        json_array_append_new(notes, json_string(model->notes[i]));
    return notes;
}

json_t *model_tables_json(const struct model *model) {
    struct table *pools = model_pool_table(model);
    struct table *objects = model_object_table(model);
    struct table *monitors = model_monitor_table(model);
    json_t *json =
        json_pack("{s:s, s:o, s:o, s:o, s:o}", "program", model->program ? model->program : "",
                  "pools", table_json(pools), "objects", table_json(objects), "monitors",
                  table_json(monitors), "notes", notes_json(model));
    table_free(pools);
    table_free(objects);
    table_free(monitors);
    return json;
}

void model_tables_print_notes(const struct model *model) {
    if (model->n_notes + model->n_outside > 0)
        printf("\nNot modelled exactly:\n");
    for (size_t i = 0; i < model->n_outside; i++)
        printf("  %s\n", model->outside[i]);
    for (size_t i = 0; i < model->n_notes; i++)
        printf("  %s\n", model->notes[i]);
}

/* ---- its own run ---- */

static const struct table_column check_columns[] = {{"what", "self-check"},
                                                    {"measured", "measured"},
                                                    {"simulated", "simulated"},
                                                    {"error_share", "error"}};

struct table *model_check_table(const struct model *model) {
    struct table *table = table_new(check_columns, sizeof check_columns / sizeof *check_columns);
    for (size_t i = 0; i < model->n_checks; i++) {
        const struct model_check *check = &model->checks[i];
        table_add_text(table, check->what);
        table_add_number(table, check->measured, UNIT_NONE);
        table_add_number(table, check->simulated, UNIT_NONE);
        table_add_signed_share(table, check->simulated / check->measured - 1);
    }
    return table;
}

char *model_waiting_text(const struct model *model) {
    double wait_ns[MODELLED_NOT + 1] = {0}, total_ns = 0;
    for (size_t i = 0; i < model->n_waiting; i++) {
        wait_ns[model->waiting[i].how] += model->waiting[i].wait_ns;
        total_ns += model->waiting[i].wait_ns;
    }
    if (total_ns <= 0)
        return NULL;
    return memory_format("%.1f %% modelled exactly, %.1f %% alike, %.1f %% not",
                         100 * wait_ns[MODELLED_EXACTLY] / total_ns,
                         100 * wait_ns[MODELLED_BY_FALLBACK] / total_ns,
                         100 * wait_ns[MODELLED_NOT] / total_ns);
}
