/* persik graph: what the model consists of, as tables or as a drawing. */
#include <argp.h>

#include "cli/arguments/options.h"
#include "cli/command.h"
#include "cli/prediction/prediction.h"
#include "cli/report/drawing.h"
#include "cli/report/model_tables.h"

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

static void print_graph(const struct model *model, enum table_format format) {
    if (format == FORMAT_JSON) {
        table_print_json(model_tables_json(model), stdout);
        return;
    }
    struct table *pools = model_pool_table(model);
    struct table *objects = model_object_table(model);
    struct table *monitors = model_monitor_table(model);
    table_print_text(pools, stdout);
    if (model->n_objects > 0) {
        putchar('\n');
        table_print_text(objects, stdout);
    }
    if (model->n_monitors > 0) {
        putchar('\n');
        table_print_text(monitors, stdout);
    }
    model_tables_print_notes(model);
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
