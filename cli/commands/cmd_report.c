/* persik report: one screen on what the recording says. */
#include <argp.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/run_end.h"
#include "cli/arguments/options.h"
#include "cli/command.h"
#include "cli/recording/workspace.h"
#include "cli/report/predict_report.h"
#include "cli/report/tally_table.h"
#include "formats/recorded_speed.h"
#include "modelgen/modelgen.h"

enum { KEY_HTML = 0x7000, KEY_MEASUREMENTS };

struct report_options {
    struct common_options common;
    const char *html, *measurements; /* NULL: none */
    enum table_format format;
};

static const struct argp_option options_list[] = {
    {"html", KEY_HTML, "FILE", 0,
     "write the report to FILE, as one page with plots of what the model predicts", 1},
    {"measurements", KEY_MEASUREMENTS, "FILE", 0,
     "with --html: mark the runs that persik validate --measurements wrote to FILE", 1},
    {0},
};

static error_t parse_report(int key, char *argument, struct argp_state *state) {
    struct report_options *options = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        *options = (struct report_options){0};
        state->child_inputs[0] = &options->common;
        state->child_inputs[1] = &options->format;
        return 0;
    case KEY_HTML:
        options->html = argument;
        return 0;
    case KEY_MEASUREMENTS:
        options->measurements = argument;
        return 0;
    case ARGP_KEY_ARG:
        usage_error("report takes no argument '%s': name the recording's folder with -i", argument);
    case ARGP_KEY_END:
        if (options->format == FORMAT_CSV)
            usage_error("--format csv: the report is several tables: give table or json");
        if (options->html && options->format != FORMAT_TABLE)
            usage_error("--html and --format exclude each other: give one");
        if (options->measurements && !options->html)
            usage_error("--measurements are for a page: give --html, too");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {
    {&common_argp, 0, NULL, 0}, {&format_argp, 0, NULL, 0}, {0}};

static const struct argp report_argp = {
    .options = options_list,
    .parser = parse_report,
    .doc = "Prints what was run, what the probes cost and lost, which locks and queues threads "
           "waited for and where. With --html it writes one page that needs nothing else, neither "
           "network nor script: this, a timeline, and what the model predicts of configurations "
           "around the recorded one.\v"
           "Examples:\n"
           "  persik report\n"
           "  persik report -i run1\n"
           "  persik report --format json | jq '.call_sites[0]'\n"
           "  persik report --html report.html\n"
           "  persik report --html report.html --measurements runs.csv\n",
    .children = children,
};

/* ---- head ---- */

static void print_program(const struct trace_meta *meta) {
    char *line = trace_command_line(meta);
    printf("program    %s\nrecorded   %s on %s\n", line, meta->date ? meta->date : "?",
           meta->host ? meta->host : "?");
    free(line);
}

static void print_run(const struct trace *trace) {
    char time[QUANTITY_BYTES];
    char status[128];
    run_end_describe(trace->meta.exit_status, status, sizeof status);
    printf("run        %s with %zu threads on %d cores, %s%s\n",
           quantity_show((double)trace->meta.run_ns, UNIT_TIME, time), trace->n_threads,
           trace->meta.cores, status, trace->meta.complete ? "" : "; the trace is incomplete");
}

static void print_probes(const struct trace_meta *meta) {
    char rate[QUANTITY_BYTES];
    double per_second = (double)meta->records / ((double)meta->run_ns / 1e9);
    printf("probes     %llu records, %s, %.0f ns each; ", (unsigned long long)meta->records,
           quantity_show(per_second, UNIT_RATE, rate), meta->probe_ns);
    if (meta->untraced_run_ns)
        printf("running time %+.1f %%\n", 100 * recorded_perturbation(meta));
    else
        printf("running time without them not measured\n");
    printf("lost       %llu records, %llu scheduling events\n",
           (unsigned long long)meta->lost_records, (unsigned long long)meta->lost_events);
    for (size_t i = 0; i < meta->n_lacks; i++)
        printf("lacks      %s\n", meta->lacks[i]);
}

/* Known only once there is a model. */
static void print_explained(const char *directory) {
    char *path = workspace_path(directory, WORKSPACE_MODEL);
    struct model *model = model_load(path, NULL);
    if (model)
        printf("explained  %.1f %% of the threads' time, by a model of %zu nodes\n",
               100 * model->explained_share, model->n_nodes);
    else
        printf("explained  no model yet: run `persik build-model`\n");
    model_free(model);
    free(path);
}

/* ---- tables ---- */

enum { SHOWN_ROWS = 10 };

static void print_tally(const struct trace *trace, struct tally *tally, enum tally_of of) {
    struct table *table = tally_table(trace, tally, of, SHOWN_ROWS);
    if (tally->count > 0) {
        putchar('\n');
        table_print_text(table, stdout);
    }
    if (tally->count > SHOWN_ROWS)
        printf("... and %zu more\n", tally->count - SHOWN_ROWS);
    table_free(table);
    free(tally->items);
}

static void print_report(const struct trace *trace, const char *directory) {
    print_program(&trace->meta);
    print_run(trace);
    print_probes(&trace->meta);
    print_explained(directory);
    struct tally objects = tally_objects(trace);
    struct tally sites = tally_sites(trace);
    print_tally(trace, &objects, TALLY_OF_OBJECTS);
    print_tally(trace, &sites, TALLY_OF_SITES);
}

/* ---- for programs ---- */

/* What is not UTF-8 becomes "?". */
static json_t *text_json(const char *text) {
    json_t *json = json_string(text ? text : "");
    return json ? json : json_string("?");
}

static json_t *texts_json(char *const *texts, size_t n) {
    json_t *array = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(array, text_json(texts[i]));
    return array;
}

/* All of them, however many. */
static json_t *tally_json(const struct trace *trace, struct tally tally, enum tally_of of) {
    struct table *table = tally_table(trace, &tally, of, tally.count);
    json_t *rows = table_json(table);
    table_free(table);
    free(tally.items);
    return rows;
}

static void print_json(const struct trace *trace) {
    const struct trace_meta *meta = &trace->meta;
    char *line = trace_command_line(meta);
    json_t *json = json_pack(
        "{s:o, s:o, s:o, s:i, s:b, s:I, s:o, s:i, s:i, s:I, s:f, s:I, s:I, s:o}", "program",
        text_json(line), "date", text_json(meta->date), "host", text_json(meta->host),
        "exit_status", meta->exit_status, "complete", meta->complete, "run_ns",
        (json_int_t)meta->run_ns, "run_without_probes_ns",
        meta->untraced_run_ns ? json_integer((json_int_t)meta->untraced_run_ns) : json_null(),
        "threads", (int)trace->n_threads, "cores", meta->cores, "records",
        (json_int_t)meta->records, "probe_ns", meta->probe_ns, "lost_records",
        (json_int_t)meta->lost_records, "lost_events", (json_int_t)meta->lost_events, "lacks",
        texts_json(meta->lacks, meta->n_lacks));
    json_object_set_new(json, "objects", tally_json(trace, tally_objects(trace), TALLY_OF_OBJECTS));
    json_object_set_new(json, "call_sites", tally_json(trace, tally_sites(trace), TALLY_OF_SITES));
    table_print_json(json, stdout);
    free(line);
}

int command_report(int argc, char **argv) {
    struct report_options options;
    argp_parse(&report_argp, argc, argv, 0, NULL, &options);
    const char *directory = options.common.directory;
    struct error error;
    if (options.html && html_report_check(options.html, &error) < 0)
        return command_failed(&error);
    struct trace *trace = workspace_load_trace(directory, &error);
    if (!trace)
        return command_failed(&error);
    modelgen_name_calls(trace);
    const struct html_report report = {.trace = trace};
    int status = 0;
    if (options.html)
        status = predict_report(options.html, directory, options.measurements, &report, &error);
    else if (options.format == FORMAT_JSON)
        print_json(trace);
    else
        print_report(trace, directory);
    trace_free(trace);
    return status < 0 ? command_failed(&error) : 0;
}
