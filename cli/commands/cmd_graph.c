/* persik graph: what the model consists of, as tables or as a drawing. */
#include <argp.h>
#include <stdlib.h>

#include "base/memory.h"
#include "cli/arguments/options.h"
#include "cli/command.h"
#include "cli/prediction/explanation.h"
#include "cli/prediction/prediction.h"
#include "cli/report/drawing.h"

enum { KEY_DOT = 0x6000, KEY_SVG, KEY_MODEL };

struct graph_options {
    struct common_options common;
    enum table_format format;
    const char *model;
    bool dot, svg;
};

static const struct argp_option options_list[] = {
    {"dot", KEY_DOT, NULL, 0, "print the drawing's Graphviz source", 1},
    {"svg", KEY_SVG, NULL, 0, "print the drawing as SVG", 1},
    {"model", KEY_MODEL, "FILE", 0, "model to use (default: DIR/model.json)", 2},
    {0},
};

static error_t parse_graph(int key, char *argument, struct argp_state *state) {
    struct graph_options *options = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        *options = (struct graph_options){0};
        state->child_inputs[0] = &options->common;
        state->child_inputs[1] = &options->format;
        return 0;
    case KEY_DOT:
        options->dot = true;
        return 0;
    case KEY_SVG:
        options->svg = true;
        return 0;
    case KEY_MODEL:
        options->model = argument;
        return 0;
    case ARGP_KEY_ARG:
        usage_error("graph takes no argument '%s': name the model's folder with -i", argument);
    case ARGP_KEY_END:
        if (options->format == FORMAT_CSV)
            usage_error("--format csv: the graph is several tables: give table or json");
        if (options->dot && options->svg)
            usage_error("--dot and --svg exclude each other: give one");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {
    {&common_argp, 0, NULL, 0}, {&format_argp, 0, NULL, 0}, {0}};

static const struct argp graph_argp = {
    .options = options_list,
    .parser = parse_graph,
    .doc = "Lists the model's thread pools (the names that --threads POOL=N takes), its shared "
           "objects with how persik knows what they are, the objects that the program made itself "
           "from mutexes and conditions, and what is not modelled exactly.\v"
           "Examples:\n"
           "  persik graph\n"
           "  persik graph --svg > model.svg\n",
    .children = children,
};

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

static struct table *pool_table(const struct model *model) {
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

static struct table *object_table(const struct model *model) {
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

static struct table *monitor_table(const struct model *model) {
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

/* ---- printing ---- */

static json_t *notes_json(const struct model *model) {
    json_t *notes = json_array();
    for (size_t i = 0; i < model->n_outside; i++)
        json_array_append_new(notes, json_string(model->outside[i]));
    for (size_t i = 0; i < model->n_notes; i++)
        json_array_append_new(notes, json_string(model->notes[i]));
    return notes;
}

static void print_graph(const struct model *model, enum table_format format) {
    struct table *pools = pool_table(model);
    struct table *objects = object_table(model);
    struct table *monitors = monitor_table(model);
    if (format == FORMAT_JSON) {
        table_print_json(json_pack("{s:s, s:o, s:o, s:o, s:o}", "program",
                                   model->program ? model->program : "", "pools", table_json(pools),
                                   "objects", table_json(objects), "monitors", table_json(monitors),
                                   "notes", notes_json(model)),
                         stdout);
    } else {
        table_print_text(pools, stdout);
        if (model->n_objects > 0) {
            putchar('\n');
            table_print_text(objects, stdout);
        }
        if (model->n_monitors > 0) {
            putchar('\n');
            table_print_text(monitors, stdout);
        }
        if (model->n_notes + model->n_outside > 0)
            printf("\nNot modelled exactly:\n");
        for (size_t i = 0; i < model->n_outside; i++)
            printf("  %s\n", model->outside[i]);
        for (size_t i = 0; i < model->n_notes; i++)
            printf("  %s\n", model->notes[i]);
    }
    table_free(pools);
    table_free(objects);
    table_free(monitors);
}

int command_graph(int argc, char **argv) {
    struct graph_options options;
    argp_parse(&graph_argp, argc, argv, 0, NULL, &options);
    struct error error;
    struct model *model = prediction_load_model(options.common.directory, options.model, &error);
    if (!model)
        return command_failed(&error);
    int status = 0;
    if (options.svg)
        status = drawing_write_svg(model, NULL, &error);
    else if (options.dot)
        status = drawing_write_dot(model, NULL, &error);
    else
        print_graph(model, options.format);
    model_free(model);
    return status < 0 ? command_failed(&error) : 0;
}
