/* persik diff: what changed between two recordings of a program, and what that means. */
#include <argp.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/log.h"
#include "base/memory.h"
#include "cli/arguments/assertion.h"
#include "cli/arguments/options.h"
#include "cli/arguments/scope.h"
#include "cli/command.h"
#include "cli/difference/costs.h"
#include "cli/difference/difference_tables.h"
#include "cli/difference/model_changes.h"
#include "cli/prediction/configuration.h"
#include "cli/prediction/prediction.h"
#include "cli/prediction/simulation_options.h"
#include "cli/recording/workspace.h"
#include "cli/text/links.h"
#include "cli/text/text_page.h"

/* ---- options ---- */

enum { KEY_MARKDOWN = 0xd000, KEY_ASSERT };

struct bounds {
    struct assertion *items;
    size_t count, capacity;
};

struct diff_options {
    struct common_options common;
    struct simulation_options simulation;
    enum table_format format;
    bool is_markdown;
    struct configuration_options configuration;
    struct bounds bounds;
    const char *paths[2]; /* before, after */
    int n_paths;          /* as given */
    char *kept;           /* the recording before the last one; NULL: another one was named */
};

static const struct argp_option options_list[] = {
    {"markdown", KEY_MARKDOWN, NULL, 0, "print the tables in Markdown, for a pull request", 2},
    {"assert", KEY_ASSERT, "BOUND", 0,
     "exit 3 unless what is predicted of AFTER keeps it, in per cent of BEFORE, such as "
     "'run<105%', "
     "'p99<=110%', 'throughput>95%'",
     3},
    {0},
};

static void add_bound(struct diff_options *options, const char *text) {
    struct error error;
    if (assertion_parse_ratio("--assert", text, VECTOR_ADD(&options->bounds), &error) < 0)
        usage_error("%s", error.text);
}

static void add_path(struct diff_options *options, const char *path) {
    if (options->n_paths == 2)
        usage_error("diff '%s': two recordings are compared: BEFORE and AFTER", path);
    options->paths[options->n_paths++] = path;
}

/* A new recording leaves the one before as DIR.old. */
static void complete_paths(struct diff_options *options) {
    if (options->n_paths < 2)
        options->paths[1] = options->common.directory;
    if (options->n_paths == 0) {
        options->kept = memory_format("%s.old", options->common.directory);
        options->paths[0] = options->kept;
    }
    links_directory(options->paths[1]);
}

static void check_options(const struct diff_options *options) {
    if (options->simulation.model)
        usage_error("--model %s: the models to compare are named without an option",
                    options->simulation.model);
    if (options->format == FORMAT_CSV)
        usage_error("--format csv: these are several tables: give table or json");
    if (options->is_markdown && options->format != FORMAT_TABLE)
        usage_error("--markdown and --format exclude each other: give one");
}

static error_t parse_diff(int key, char *argument, struct argp_state *state) {
    struct diff_options *options = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        *options = (struct diff_options){0};
        state->child_inputs[0] = &options->common;
        state->child_inputs[1] = &options->format;
        state->child_inputs[2] = &options->simulation;
        state->child_inputs[3] = &options->configuration;
        return 0;
    case KEY_MARKDOWN:
        options->is_markdown = true;
        return 0;
    case KEY_ASSERT:
        add_bound(options, argument);
        return 0;
    case ARGP_KEY_ARG:
        add_path(options, argument);
        return 0;
    case ARGP_KEY_END:
        check_options(options);
        complete_paths(options);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {{&common_argp, 0, NULL, 0},
                                             {&format_argp, 0, NULL, 0},
                                             {&simulation_argp, 0, NULL, 0},
                                             {&configuration_argp, 0, NULL, 0},
                                             {0}};

static const struct argp diff_argp = {
    .options = options_list,
    .parser = parse_diff,
    .args_doc = "[BEFORE [AFTER]]",
    .doc =
        "Compares two recordings (their folders) or models (their files) of one program: what is "
        "predicted of both in one configuration, which pools and limits of the later one change "
        "that, put into the earlier model one at a time, and, of recordings, what functions "
        "computed and calls waited. Without AFTER it is the last recording (-i), without BEFORE "
        "the one that this replaced. Where BEFORE or AFTER has no figures, neither has the "
        "comparison: exit status 4.\v"
        "Examples:\n"
        "  persik diff\n"
        "  persik diff main.data branch.data\n"
        "  persik diff main.data branch.data --threads 16 --cores 8\n"
        "  persik diff main.data branch.data --markdown --assert 'run<105%'\n",
    .children = children,
};

/* ---- both sides ---- */

struct comparison {
    struct version before, after;
    struct changed_parts changed; /* by --scale and --set, in both */
    struct model_changes changes;
};

struct source_context {
    const struct diff_options *options;
    const struct version *version;
};

static struct model *load_model(const struct diff_options *options, const struct version *version,
                                struct changed_parts *changed, struct error *error) {
    struct simulation_options simulation = options->simulation;
    simulation.model = version->is_recording ? NULL : version->path;
    struct model *model = simulation_options_load(&simulation, version->path, changed, error);
    if (!model)
        error_prefix(error, "%s", version->path);
    return model;
}

static struct model *load_again(const void *context, struct error *error) {
    const struct source_context *source = context;
    return load_model(source->options, source->version, NULL, error);
}

/* What was not recorded (the samples of persik trace) is not compared. */
static int load_costs(struct version *version, struct error *error) {
    if (!version->is_recording)
        return 0;
    if (workspace_has(version->path, WORKSPACE_SAMPLE)) {
        char *path = workspace_path(version->path, WORKSPACE_SAMPLE);
        struct sample *sample = sample_load(path, error);
        free(path);
        if (!sample)
            return -1;
        version->functions = costs_of_functions(sample);
        sample_free(sample);
    }
    struct trace *trace = workspace_load_trace(version->path, error);
    if (!trace)
        return -1;
    version->calls = costs_of_calls(trace);
    trace_free(trace);
    return 0;
}

static int open_version(const struct diff_options *options, const char *path,
                        struct version *version, struct changed_parts *changed,
                        struct error *error) {
    struct stat status;
    version->path = path;
    if (stat(path, &status) < 0) {
        error_set(error, "%s: there is no such recording or model", path);
        return -1;
    }
    version->is_recording = S_ISDIR(status.st_mode);
    version->model = load_model(options, version, changed, error);
    return version->model ? load_costs(version, error) : -1;
}

static int predict(const struct diff_options *options, const struct configuration *configuration,
                   struct version *version, struct error *error) {
    if (prediction_make(version->model, &configuration->threads.items[0], configuration->cores,
                        &options->simulation.config, &version->prediction, error) == 0)
        return 0;
    return error_prefix(error, "%s", version->path);
}

static void close_version(struct version *version) {
    prediction_free(&version->prediction);
    costs_free(&version->functions);
    costs_free(&version->calls);
    model_free(version->model);
}

static int find_changes(const struct diff_options *options, struct comparison *comparison,
                        struct error *error) {
    const struct version *before = &comparison->before, *after = &comparison->after;
    const struct predicted_model old = {before->model, &before->prediction};
    const struct predicted_model new = {after->model, &after->prediction};
    const struct source_context context = {options, before};
    const struct model_source source = {load_again, &context};
    return model_changes_find(&old, &new, &source, &options->simulation.config,
                              &comparison->changes, error);
}

/* ---- printing ---- */

enum { SHOWN_ROWS = 10 };

/* Ends the table. Nothing, where it has no rows. */
static void print_table(const struct diff_options *options, struct table *table, size_t left_out) {
    if (table_rows(table) > 0) {
        putchar('\n');
        if (options->is_markdown)
            table_print_markdown(table, stdout);
        else
            table_print_text(table, stdout);
        if (left_out > 0)
            printf("%s... and %zu more\n", options->is_markdown ? "\n" : "", left_out);
    }
    table_free(table);
}

/* People are spared what did not change: it stands last. */
static size_t count_changed(const struct cost_pairs *pairs) {
    size_t n = 0;
    while (n < pairs->count && fabs(pairs->items[n].change_ns) > 0)
        n++;
    return n;
}

static size_t least(size_t a, size_t b) {
    return a < b ? a : b;
}

static bool is_endless(const struct comparison *comparison) {
    return comparison->before.prediction.result.regime != REGIME_ENDING;
}

static void print_for_people(const struct diff_options *options,
                             const struct comparison *comparison,
                             const struct cost_pairs *functions, const struct cost_pairs *calls) {
    const struct prediction *prediction = &comparison->before.prediction;
    changed_parts_print(&comparison->changed, stdout);
    printf("threads %s, cores %d\n", prediction->threads->label, prediction->cores);
    print_table(options, difference_figures(&comparison->before, &comparison->after), 0);
    print_table(options, difference_causes(&comparison->changes, is_endless(comparison)), 0);
    size_t rows[] = {count_changed(functions), count_changed(calls)};
    size_t shown[] = {least(rows[0], SHOWN_ROWS), least(rows[1], SHOWN_ROWS)};
    print_table(options, difference_functions(functions, shown[0]), rows[0] - shown[0]);
    print_table(options, difference_calls(calls, shown[1]), rows[1] - shown[1]);
}

static json_t *taken_json(struct table *table) {
    json_t *json = table_json(table);
    table_free(table);
    return json;
}

static void print_json(const struct comparison *comparison, const struct cost_pairs *functions,
                       const struct cost_pairs *calls) {
    const struct prediction *prediction = &comparison->before.prediction;
    table_print_json(
        json_pack("{s:s, s:s, s:s, s:i, s:o, s:o, s:o, s:o}", "before", comparison->before.path,
                  "after", comparison->after.path, "threads", prediction->threads->label, "cores",
                  prediction->cores, "figures",
                  taken_json(difference_figures(&comparison->before, &comparison->after)), "causes",
                  taken_json(difference_causes(&comparison->changes, is_endless(comparison))),
                  "functions", taken_json(difference_functions(functions, functions->count)),
                  "calls", taken_json(difference_calls(calls, calls->count))),
        stdout);
}

static void print_comparison(const struct diff_options *options,
                             const struct comparison *comparison) {
    struct cost_pairs functions =
        costs_pair(&comparison->before.functions, &comparison->after.functions);
    struct cost_pairs calls = costs_pair(&comparison->before.calls, &comparison->after.calls);
    if (options->format == FORMAT_JSON)
        print_json(comparison, &functions, &calls);
    else
        print_for_people(options, comparison, &functions, &calls);
    free(functions.items);
    free(calls.items);
}

/* ---- the command ---- */

/* Of the later prediction in parts of the earlier one. */
static bool keeps(const struct assertion *bound, const struct comparison *comparison) {
    const struct sim_result *before = &comparison->before.prediction.result;
    const struct sim_result *after = &comparison->after.prediction.result;
    const char *lack = assertion_lacks(bound, before);
    lack = lack ? lack : assertion_lacks(bound, after);
    double ratio = assertion_estimate(bound, after).mean / assertion_estimate(bound, before).mean;
    if (lack)
        fprintf(stderr, "persik: assertion '%s' cannot be checked: a model has %s\n", bound->text,
                lack);
    else if (!assertion_allows(bound, ratio))
        fprintf(stderr, "persik: assertion '%s' fails: %.1f %%\n", bound->text, 100 * ratio);
    else
        return true;
    return false;
}

static int check_bounds(const struct bounds *bounds, const struct comparison *comparison) {
    int status = 0;
    for (size_t i = 0; i < bounds->count; i++)
        if (!keeps(&bounds->items[i], comparison))
            status = EXIT_ASSERTION;
    return status;
}

static bool has_figures(const struct version *version) {
    const struct prediction *prediction = &version->prediction;
    if (prediction->no_figures)
        log_error("%s: threads %s, cores %d: no figures: %s", version->path,
                  prediction->threads->label, prediction->cores, prediction->no_figures);
    return !prediction->no_figures;
}

/* Without --threads each has its own. */
static void warn(const struct diff_options *options, const struct comparison *comparison) {
    const struct prediction *before = &comparison->before.prediction;
    const struct prediction *after = &comparison->after.prediction;
    size_t n = comparison->before.model->n_pools;
    if (!options->configuration.threads &&
        (n != comparison->after.model->n_pools ||
         memcmp(before->pool_threads, after->pool_threads, n * sizeof *before->pool_threads) != 0))
        log_warning("both were recorded with other pools or numbers of threads: give --threads to "
                    "compare the same");
    scope_warn(comparison->before.model);
    scope_warn(comparison->after.model);
}

static int compare(const struct diff_options *options, struct configuration *configuration,
                   struct comparison *comparison, struct error *error) {
    struct version *before = &comparison->before, *after = &comparison->after;
    if (open_version(options, options->paths[0], before, &comparison->changed, error) < 0 ||
        open_version(options, options->paths[1], after, NULL, error) < 0)
        return -1;
    if (configuration->cores == 0)
        configuration->cores = before->model->machine.cores;
    if (predict(options, configuration, before, error) < 0 ||
        predict(options, configuration, after, error) < 0)
        return -1;
    bool both = has_figures(before);
    if (!has_figures(after) || !both)
        return EXIT_NO_FIGURES;
    if (find_changes(options, comparison, error) < 0)
        return -1;
    warn(options, comparison);
    print_comparison(options, comparison);
    fflush(stdout);
    return check_bounds(&options->bounds, comparison);
}

int command_diff(int argc, char **argv) {
    struct diff_options options;
    argp_parse(&diff_argp, argc, argv, 0, NULL, &options);
    if (options.is_markdown)
        text_page_end(); /* a row is one line there */
    struct configuration configuration = {0};
    simulation_options_finish(&options.simulation);
    configuration_parse(&options.configuration, &options.simulation, &configuration);
    struct comparison comparison = {0};
    struct error error;
    int status = compare(&options, &configuration, &comparison, &error);
    if (status < 0)
        status = command_failed(&error);
    model_changes_free(&comparison.changes);
    changed_parts_free(&comparison.changed);
    close_version(&comparison.before);
    close_version(&comparison.after);
    thread_sweep_free(&configuration.threads);
    simulation_options_free(&options.simulation);
    free(options.bounds.items);
    free(options.kept);
    return status;
}
