/* persik sensitivity: on what of the model a prediction hangs, and by how much. */
#include <argp.h>
#include <math.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/memory.h"
#include "cli/arguments/options.h"
#include "cli/arguments/scope.h"
#include "cli/command.h"
#include "cli/prediction/configuration.h"
#include "cli/prediction/prediction.h"
#include "cli/prediction/simulation_options.h"
#include "cli/sensitivity/sensitivity.h"
#include "cli/text/table.h"

/* ---- options ---- */

enum { KEY_BY = 0xa000, KEY_PRECISION };

#define DEFAULT_BY        0.1
#define DEFAULT_PRECISION 0.002

struct sensitivity_options {
    struct common_options common;
    struct simulation_options simulation;
    enum table_format format;
    struct configuration_options configuration;
    double by, precision;
};

static const struct argp_option options_list[] = {
    {"by", KEY_BY, "SHARE", 0, "by how much times and amounts are changed (default: 10%)", 1},
    {"precision", KEY_PRECISION, "SHARE", 0,
     "simulate until a change is known to this share of the running time (default: 0.2%)", 2},
    {0},
};

static error_t parse_sensitivity(int key, char *argument, struct argp_state *state) {
    struct sensitivity_options *options = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        *options = (struct sensitivity_options){.by = DEFAULT_BY, .precision = DEFAULT_PRECISION};
        state->child_inputs[0] = &options->common;
        state->child_inputs[1] = &options->format;
        state->child_inputs[2] = &options->simulation;
        state->child_inputs[3] = &options->configuration;
        return 0;
    case KEY_BY:
        options->by = simulation_option_positive("--by", argument, UNIT_SHARE, "10%");
        return 0;
    case KEY_PRECISION:
        options->precision =
            simulation_option_positive("--precision", argument, UNIT_SHARE, "0.2%");
        return 0;
    case ARGP_KEY_ARG:
        usage_error("sensitivity takes no argument '%s': the model knows its program", argument);
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {{&common_argp, 0, NULL, 0},
                                             {&format_argp, 0, NULL, 0},
                                             {&simulation_argp, 0, NULL, 0},
                                             {&configuration_argp, 0, NULL, 0},
                                             {0}};

static const struct argp sensitivity_argp = {
    .options = options_list,
    .parser = parse_sensitivity,
    .doc =
        "Says on which pools, objects and rules the prediction of one configuration hangs: changes "
        "one thing of the model at a time, simulates it again with the same random numbers, and "
        "prints by how much running time, throughput and response time change, the largest change "
        "first, with the interval (99 %) of the simulation's noise. Changed are the CPU demands, "
        "sleeps and I/O times of each pool, hold times, counts and capacities of the objects, "
        "service times of disks, rules that are not certain, what costs scheduling and caches, and "
        "what is modelled alike or not at all. A configuration without figures gets none here "
        "either: exit status 4.\v"
        "Examples:\n"
        "  persik sensitivity\n"
        "  persik sensitivity --threads 16 --cores 8\n"
        "  persik sensitivity --threads 8 --by 25% --format csv\n",
    .children = children,
};

/* ---- the analysis ---- */

static struct model *load(const void *context, struct error *error) {
    const struct sensitivity_options *options = context;
    return simulation_options_load(&options->simulation, options->common.directory, NULL, error);
}

struct analysis {
    const struct model *model;
    struct prediction prediction;
    struct variations variations;
    struct effect *effects; /* one per variation, as far as they are found */
    size_t n_effects;
};

/* Of a run that settles: what comes before is left out. */
#define WARMUP_SHARE 0.2

static int find_effects(const struct sensitivity_options *options, struct analysis *analysis,
                        struct error *error) {
    size_t n = analysis->variations.count;
    struct sensitivity sensitivity = {
        .load = load, .context = options, .config = options->simulation.config};
    prediction_configure(&analysis->prediction, &sensitivity.config);
    sensitivity.config.precision = options->precision;
    if (analysis->prediction.result.regime == REGIME_STEADY) {
        /* Pairs of runs of one length have most of their luck in common. */
        sensitivity.config.horizon_ns = analysis->prediction.result.run_ns.mean;
        sensitivity.config.warmup_ns = WARMUP_SHARE * sensitivity.config.horizon_ns;
    }
    int status = 0;
    analysis->effects = memory_alloc(n + 1, sizeof *analysis->effects);
    for (size_t i = 0; i < n && status == 0; i++) {
        progress_show("simulating", (double)i / (double)n);
        status = sensitivity_find(&sensitivity, analysis->model, &analysis->variations.items[i],
                                  &analysis->effects[i], error);
        analysis->n_effects += status == 0;
    }
    progress_end();
    sensitivity_free(&sensitivity);
    return status;
}

/* Without figures there is nothing to vary. */
static int analyse(const struct sensitivity_options *options,
                   const struct configuration *configuration, struct analysis *analysis,
                   struct error *error) {
    struct prediction *prediction = &analysis->prediction;
    progress_show("simulating", 0);
    int status =
        prediction_make(analysis->model, &configuration->threads.items[0], configuration->cores,
                        &options->simulation.config, prediction, error);
    progress_end();
    if (status < 0 || prediction->no_figures)
        return status;
    if (prediction->result.regime > REGIME_STEADY)
        return error_set(error, "more load than this configuration can do, or too close to that: "
                                "give less, or another configuration");
    analysis->variations =
        variations_of(analysis->model, prediction->pool_threads, &prediction->result, options->by);
    return find_effects(options, analysis, error);
}

static void free_analysis(struct analysis *analysis) {
    for (size_t i = 0; i < analysis->n_effects; i++)
        effect_free(&analysis->effects[i]);
    free(analysis->effects);
    variations_free(&analysis->variations);
    prediction_free(&analysis->prediction);
}

/* ---- the table ---- */

/* A change is one column for people, and three for programs. */
static const struct table_column effect_columns[] = {
    {"subject", "of the model"},
    {"change", "changed"},
    {NULL, "running time"},
    {"run_change", NULL},
    {"run_change_low", NULL},
    {"run_change_high", NULL},
    {NULL, "throughput"},
    {"throughput_change", NULL},
    {"throughput_change_low", NULL},
    {"throughput_change_high", NULL},
    {NULL, "response mean"},
    {"response_change", NULL},
    {"response_change_low", NULL},
    {"response_change_high", NULL},
    {"effect", NULL},
    {"known", "modelled"},
    {"place", "in the source"},
    {"pairs", NULL},
    {"no_figures", NULL},
};
enum { EFFECT_COLUMNS = sizeof effect_columns / sizeof *effect_columns };
enum { COLUMN_THROUGHPUT = 6, COLUMN_RESPONSE = 10 };

/* What is shown as one number: the ends are alike. */
#define NARROW 0.0015

static void show_change(const struct effect *effect, struct estimate change,
                        char text[QUANTITY_BYTES]) {
    if (effect->no_figures || !isfinite(change.mean))
        snprintf(text, QUANTITY_BYTES, "-");
    else if (!effect_is_seen(change))
        snprintf(text, QUANTITY_BYTES, "no effect seen");
    else if (2 * change.half_width < NARROW)
        snprintf(text, QUANTITY_BYTES, "%+.1f %%", 100 * change.mean);
    else
        snprintf(text, QUANTITY_BYTES, "%+.1f %% (%+.1f to %+.1f)", 100 * change.mean,
                 100 * (change.mean - change.half_width), 100 * (change.mean + change.half_width));
}

static void add_change_cells(struct table *table, const struct effect *effect,
                             enum effect_metric metric) {
    const struct estimate change = effect->change[metric];
    char text[QUANTITY_BYTES];
    show_change(effect, change, text);
    table_add_text(table, text);
    table_add_number(table, change.mean, UNIT_SHARE);
    table_add_number(table, change.mean - change.half_width, UNIT_SHARE);
    table_add_number(table, change.mean + change.half_width, UNIT_SHARE);
}

/* Of any of the figures. */
static const char *seen(const struct effect *effect) {
    if (effect->no_figures)
        return NULL;
    for (int m = 0; m < N_EFFECT_METRICS; m++)
        if (effect_is_seen(effect->change[m]))
            return "seen";
    return "no effect seen";
}

static void add_row(struct table *table, const struct variation *variation,
                    const struct effect *effect) {
    table_add_text(table, variation->subject);
    table_add_text(table, variation->change);
    for (int m = 0; m < N_EFFECT_METRICS; m++)
        add_change_cells(table, effect, m);
    table_add_text(table, seen(effect));
    table_add_text(table, variation->known);
    table_add_text(table, variation->place);
    table_add_integer(table, effect->pairs);
    table_add_text(table, effect->no_figures);
}

static struct table *effect_table(const struct analysis *analysis,
                                  const struct table_column *columns) {
    struct table *table = table_new(columns, EFFECT_COLUMNS);
    TABLE_SPARE(table, "place", "known", "throughput", "response mean");
    size_t *order = sensitivity_order(analysis->effects, analysis->n_effects);
    for (size_t i = 0; i < analysis->n_effects; i++)
        add_row(table, &analysis->variations.items[order[i]], &analysis->effects[order[i]]);
    free(order);
    return table;
}

/* People are spared columns that say nothing: no tasks. */
static void choose_columns(const struct sim_result *result, struct table_column *columns) {
    for (int i = 0; i < EFFECT_COLUMNS; i++)
        columns[i] = effect_columns[i];
    if (!(result->tasks.mean > 0))
        columns[COLUMN_THROUGHPUT].title = NULL;
    if (!(result->response_ns.mean > 0))
        columns[COLUMN_RESPONSE].title = NULL;
}

/* ---- printing ---- */

static void print_base(const struct analysis *analysis) {
    const struct prediction *prediction = &analysis->prediction;
    const struct uncertainty parts = prediction_uncertainty(prediction);
    const struct sim_result *result = &prediction->result;
    char run[QUANTITY_BYTES], throughput[QUANTITY_BYTES] = "";
    struct estimate run_ns = uncertainty_widen(result->run_ns, uncertainty_share(&parts));
    quantity_show_interval(run_ns.mean, run_ns.half_width, UNIT_TIME, run);
    if (result->tasks.mean > 0)
        quantity_show(result->throughput_hz.mean, UNIT_RATE, throughput);
    printf("threads %s, cores %d: running time %s%s%s\n\n", prediction->threads->label,
           prediction->cores, run, *throughput ? ", throughput " : "", throughput);
}

static void print_failures(const struct analysis *analysis) {
    bool any = false;
    for (size_t i = 0; i < analysis->n_effects; i++) {
        const struct variation *variation = &analysis->variations.items[i];
        if (!analysis->effects[i].no_figures)
            continue;
        printf("%s  %s, %s: %s\n", any ? "" : "\nNo figures (-):\n", variation->subject,
               variation->change, analysis->effects[i].no_figures);
        any = true;
    }
}

static json_t *base_json(const struct analysis *analysis,
                         const struct sensitivity_options *options) {
    const struct prediction *prediction = &analysis->prediction;
    const struct sim_result *result = &prediction->result;
    bool tasks = !prediction->no_figures && result->tasks.mean > 0;
    return json_pack(
        "{s:s, s:I, s:s, s:i, s:f, s:o, s:o, s:o?}", "program",
        analysis->model->program ? analysis->model->program : "", "seed",
        (json_int_t)options->simulation.config.seed, "threads", prediction->threads->label, "cores",
        prediction->cores, "by", options->by, "run_ns",
        prediction->no_figures ? json_null() : json_real(result->run_ns.mean), "throughput_hz",
        tasks ? json_real(result->throughput_hz.mean) : json_null(), "no_figures",
        prediction->no_figures ? json_string(prediction->no_figures) : json_null());
}

static void print_analysis(const struct sensitivity_options *options,
                           const struct analysis *analysis) {
    struct table_column columns[EFFECT_COLUMNS];
    choose_columns(&analysis->prediction.result, columns);
    struct table *table = effect_table(analysis, columns);
    json_t *json;
    switch (options->format) {
    case FORMAT_TABLE:
        if (analysis->prediction.no_figures)
            break;
        print_base(analysis);
        table_print_text(table, stdout);
        print_failures(analysis);
        break;
    case FORMAT_CSV:
        table_print_csv(table, stdout);
        break;
    case FORMAT_JSON:
        json = base_json(analysis, options);
        json_object_set_new(json, "variations", table_json(table));
        table_print_json(json, stdout);
        break;
    }
    table_free(table);
}

/* ---- the command ---- */

static void warn(const struct analysis *analysis) {
    const struct prediction *prediction = &analysis->prediction;
    prediction_warn_of_stalls(prediction->no_figures ? NULL : prediction);
    repartitions_warn(analysis->model);
    scope_warn(analysis->model);
}

static int run(const struct sensitivity_options *options, const struct configuration *configuration,
               struct error *error) {
    struct model *model = load(options, error);
    if (!model)
        return -1;
    struct analysis analysis = {.model = model};
    int status = analyse(options, configuration, &analysis, error);
    if (status == 0) {
        const struct prediction *prediction = &analysis.prediction;
        warn(&analysis);
        print_analysis(options, &analysis);
        if (prediction->no_figures) {
            log_error("threads %s, cores %d: no figures: %s", prediction->threads->label,
                      prediction->cores, prediction->no_figures);
            status = EXIT_NO_FIGURES;
        }
    }
    free_analysis(&analysis);
    model_free(model);
    return status;
}

int command_sensitivity(int argc, char **argv) {
    struct sensitivity_options options;
    argp_parse(&sensitivity_argp, argc, argv, 0, NULL, &options);
    struct configuration configuration = {0};
    simulation_options_finish(&options.simulation);
    configuration_parse(&options.configuration, &options.simulation, &configuration);
    struct error error;
    int status = run(&options, &configuration, &error);
    thread_sweep_free(&configuration.threads);
    simulation_options_free(&options.simulation);
    return status < 0 ? command_failed(&error) : status;
}
