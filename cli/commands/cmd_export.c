/* persik export: the recording or the model in the form of other tools. */
#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "cli/arguments/options.h"
#include "cli/command.h"
#include "cli/prediction/configuration.h"
#include "cli/prediction/prediction.h"
#include "cli/recording/steps.h"
#include "cli/recording/workspace.h"
#include "cli/report/chrome.h"
#include "cli/report/chrome_simulated.h"
#include "cli/report/drawing.h"
#include "cli/text/demangle.h"
#include "modelgen/modelgen.h"

enum { KEY_WHAT = 0x7000, KEY_FORMAT, KEY_FROM, KEY_TO };

struct export_options {
    struct common_options common;
    struct simulation_options simulation;
    struct configuration_options configuration;
    const char *what, *format; /* NULL: not given */
    struct trace_span span;    /* of the trace; CHROME_ALL: not given */
};

static int export_chrome(struct export_options *options, struct error *error);
static int export_csv(struct export_options *options, struct error *error);
static int export_simulated(struct export_options *options, struct error *error);
static int export_stacks(struct export_options *options, struct error *error);
static int export_model_dot(struct export_options *options, struct error *error);
static int export_model_json(struct export_options *options, struct error *error);

/* What there is, the default form of each thing first. */
static const struct exporter {
    const char *what, *format;
    int (*write)(struct export_options *options, struct error *error);
} exporters[] = {
    {"trace", "chrome", export_chrome},        {"trace", "csv", export_csv},
    {"simulated", "chrome", export_simulated}, {"stacks", "folded", export_stacks},
    {"model", "json", export_model_json},      {"model", "dot", export_model_dot},
};

static const struct argp_option options_list[] = {
    {"what", KEY_WHAT, "trace|simulated|stacks|model", 0,
     "what to export; simulated: one run of the model (default: trace)", 1},
    {"format", KEY_FORMAT, "chrome|csv|folded|json|dot", 0,
     "trace: chrome (for Perfetto) or csv; simulated: chrome; stacks: folded; model: json or dot",
     1},
    {"from", KEY_FROM, "TIME", 0,
     "of the trace or the simulated run what lasts beyond that time (default: 0)", 2},
    {"to", KEY_TO, "TIME", 0, "and begins until then, such as 1.5s (default: the end)", 2},
    {0},
};

static uint64_t parse_time(const char *option, const char *text) {
    double time_ns;
    if (quantity_parse(text, UNIT_TIME, &time_ns) < 0 || time_ns < 0 || time_ns > 1e18)
        usage_error("%s %s: give a time of the run, such as 1.5s", option, text);
    return (uint64_t)time_ns;
}

static bool is_simulated(const struct export_options *options) {
    return options->what && strcmp(options->what, "simulated") == 0;
}

static void check_configuration(const struct export_options *options) {
    bool is_given = options->configuration.threads || options->configuration.cores;
    if (is_given && !is_simulated(options))
        usage_error("--threads and --cores are of a simulated run: leave them out, or give --what "
                    "simulated");
}

static void check_span(const struct export_options *options) {
    bool is_given = options->span.from_ns > 0 || options->span.to_ns < UINT64_MAX;
    bool is_run = !options->what || strcmp(options->what, "trace") == 0 || is_simulated(options);
    if (is_given && !is_run)
        usage_error("--from and --to are of a run: leave them out, or give --what trace");
    if (options->span.from_ns > options->span.to_ns)
        usage_error("--from is after --to: nothing lies between");
}

static error_t parse_export(int key, char *argument, struct argp_state *state) {
    struct export_options *options = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        *options = (struct export_options){.span = CHROME_ALL};
        state->child_inputs[0] = &options->common;
        state->child_inputs[1] = &options->simulation;
        state->child_inputs[2] = &options->configuration;
        return 0;
    case KEY_WHAT:
        options->what = argument;
        return 0;
    case KEY_FORMAT:
        options->format = argument;
        return 0;
    case KEY_FROM:
        options->span.from_ns = parse_time("--from", argument);
        return 0;
    case KEY_TO:
        options->span.to_ns = parse_time("--to", argument);
        return 0;
    case ARGP_KEY_END:
        check_span(options);
        check_configuration(options);
        return 0;
    case ARGP_KEY_ARG:
        usage_error("export takes no argument '%s': say --what and --format", argument);
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {{&common_argp, 0, NULL, 0},
                                             {&simulation_argp, 0, NULL, 0},
                                             {&configuration_argp, 0, NULL, 0},
                                             {0}};

static const struct argp export_argp = {
    .options = options_list,
    .parser = parse_export,
    .doc =
        "Prints the trace, one simulated run, the sampled stacks or the model in a form that other "
        "tools read. The simulated run has the tracks, places, objects and arrows of the recorded "
        "one, so that both can be looked at side by side. A configuration without figures has "
        "none: exit status 4.\v"
        "Examples:\n"
        "  persik export > trace.json            # open in https://ui.perfetto.dev\n"
        "  persik export --from 1.2s --to 1.25s > moment.json\n"
        "  persik export --what simulated --threads 8 --cores 4 > simulated.json\n"
        "  persik export --format csv > calls.csv\n"
        "  persik export --what stacks | flamegraph.pl > flame.svg\n"
        "  persik export --what model --format dot | dot -Tpdf > model.pdf\n",
    .children = children,
};

/* ---- the trace ---- */

static bool has_path(const struct dependencies *all) {
    return all && all->n_steps > 0;
}

/* With the critical path as a group of tracks. */
static int export_chrome(struct export_options *options, struct error *error) {
    struct error without;
    struct steps steps;
    if (steps_open(options->common.directory, &steps, &without) != 0)
        steps = (struct steps){0};
    struct trace *trace = workspace_load_trace(options->common.directory, error);
    if (trace) {
        if (!steps.all)
            log_warning("%s; the critical path is not shown", without.text);
        modelgen_name_calls(trace);
        chrome_write(trace, has_path(steps.all) ? steps.all : NULL, options->span, stdout);
        fflush(stdout); /* what is kept for the next time need not be waited for */
        trace_free(trace);
    }
    if (steps.all)
        steps_close(options->common.directory, &steps);
    return trace ? 0 : -1;
}

static void print_record(const struct trace *trace, const struct trace_thread *thread,
                         const struct trace_record *record) {
    const struct trace_frame *frame = NULL;
    if (record->context != TRACE_NO_CONTEXT && trace->contexts[record->context].n_frames > 0)
        frame = &trace->contexts[record->context].frames[0];
    printf("%d,%llu,%llu,%s,0x%llx,%d,%u,", thread->index, (unsigned long long)record->start_ns,
           (unsigned long long)record->duration_ns, api_catalog[record->api].name,
           (unsigned long long)record->object, record->value, (unsigned)record->flags);
    table_print_csv_text(frame && frame->function ? frame->function : "", stdout);
    putchar(',');
    table_print_csv_text(frame && frame->file ? frame->file : "", stdout);
    printf(",%d\n", frame ? frame->line : 0);
}

static int export_csv(struct export_options *options, struct error *error) {
    struct trace *trace = workspace_load_trace(options->common.directory, error);
    if (!trace)
        return -1;
    puts("thread,start_ns,duration_ns,call,object,value,flags,function,file,line");
    for (size_t i = 0; i < trace->n_threads; i++)
        for (size_t j = 0; j < trace->threads[i].n_records; j++) {
            const struct trace_record *record = &trace->threads[i].records[j];
            if (trace_end_ns(record) >= options->span.from_ns &&
                record->start_ns <= options->span.to_ns)
                print_record(trace, &trace->threads[i], record);
        }
    trace_free(trace);
    return 0;
}

/* ---- the simulated run ---- */

static int write_simulated(const struct export_options *options, const struct model *model,
                           const struct configuration *configuration, struct error *error) {
    struct prediction prediction;
    if (prediction_make(model, &configuration->threads.items[0], configuration->cores,
                        &options->simulation.config, &prediction, error) < 0)
        return -1;
    int status = EXIT_NO_FIGURES;
    if (prediction.no_figures) {
        log_error("no simulated run of this configuration: %s", prediction.no_figures);
    } else {
        struct sim_config config = options->simulation.config;
        struct simulated_run run;
        prediction_configure(&prediction, &config);
        status = simulated_run_make(model, &config, &run, error);
        if (status == 0)
            chrome_write_simulated(model, &run, options->span, stdout);
        simulated_run_free(&run);
    }
    prediction_free(&prediction);
    return status;
}

static int export_simulated(struct export_options *options, struct error *error) {
    struct configuration configuration = {0};
    simulation_options_finish(&options->simulation);
    configuration_parse(&options->configuration, &options->simulation, &configuration);
    struct model *model =
        simulation_options_load(&options->simulation, options->common.directory, NULL, error);
    int status = model ? write_simulated(options, model, &configuration, error) : -1;
    model_free(model);
    thread_sweep_free(&configuration.threads);
    return status;
}

/* ---- stacks and model ---- */

static void print_readable(FILE *in) {
    char *line = NULL;
    size_t size = 0;
    while (getline(&line, &size, in) >= 0) {
        char *readable = demangle_words(line);
        fputs(readable, stdout);
        free(readable);
    }
    free(line);
}

static int export_stacks(struct export_options *options, struct error *error) {
    char *path = workspace_path(options->common.directory, WORKSPACE_STACKS);
    FILE *in = fopen(path, "r");
    if (in) {
        print_readable(in);
        fclose(in);
    }
    int status = in ? 0
                    : error_set(error, "cannot read %s: %s: run `persik sample PROGRAM` first",
                                path, strerror(errno));
    free(path);
    return status;
}

static int export_model_dot(struct export_options *options, struct error *error) {
    struct model *model = prediction_load_model(options->common.directory, NULL, error);
    if (!model)
        return -1;
    int status = drawing_write_dot(model, NULL, error);
    model_free(model);
    return status;
}

/* The file as it is, once it has been checked. */
static int export_model_json(struct export_options *options, struct error *error) {
    struct model *model = prediction_load_model(options->common.directory, NULL, error);
    if (!model)
        return -1;
    model_free(model);
    char *path = workspace_path(options->common.directory, WORKSPACE_MODEL);
    json_t *json = json_load_file(path, 0, NULL);
    free(path);
    if (!json)
        return error_set(error, "%s/%s changed while it was read: try again",
                         options->common.directory, WORKSPACE_MODEL);
    table_print_json(json, stdout);
    return 0;
}

static const struct exporter *find_exporter(const char *what, const char *format) {
    for (size_t i = 0; i < sizeof exporters / sizeof *exporters; i++)
        if ((!what || strcmp(exporters[i].what, what) == 0) &&
            (!format || strcmp(exporters[i].format, format) == 0))
            return &exporters[i];
    return NULL;
}

int command_export(int argc, char **argv) {
    struct export_options options;
    argp_parse(&export_argp, argc, argv, 0, NULL, &options);
    const struct exporter *exporter = find_exporter(options.what, options.format);
    if (!exporter)
        usage_error(
            "cannot export %s as %s: give trace as chrome or csv, simulated as chrome, stacks "
            "as folded, model as json or dot",
            options.what ? options.what : "anything", options.format ? options.format : "it is");
    struct error error;
    int status = exporter->write(&options, &error);
    simulation_options_free(&options.simulation);
    return status < 0 ? command_failed(&error) : status;
}
