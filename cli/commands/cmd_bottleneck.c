/* persik bottleneck: what limits one configuration, and what is gained where it is relieved. */
#include <argp.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "cli/arguments/options.h"
#include "cli/arguments/repartition.h"
#include "cli/arguments/scope.h"
#include "cli/command.h"
#include "cli/prediction/assertions.h"
#include "cli/prediction/configuration.h"
#include "cli/sensitivity/bottleneck.h"

/* ---- options ---- */

enum { KEY_PRECISION = 0xb000 };

struct bottleneck_options {
    struct common_options common;
    struct simulation_options simulation;
    struct assertions assertions;
    enum table_format format;
    struct configuration_options configuration;
    double precision; /* of a gain */
};

static const struct argp_option options_list[] = {
    {"precision", KEY_PRECISION, "SHARE", 0,
     "simulate until a gain is known to this share (default: 0.5%)", 2},
    {0},
};

static error_t parse_bottleneck(int key, char *argument, struct argp_state *state) {
    struct bottleneck_options *options = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        *options = (struct bottleneck_options){0};
        state->child_inputs[0] = &options->common;
        state->child_inputs[1] = &options->format;
        state->child_inputs[2] = &options->simulation;
        state->child_inputs[3] = &options->assertions;
        state->child_inputs[4] = &options->configuration;
        return 0;
    case KEY_PRECISION:
        options->precision =
            simulation_option_positive("--precision", argument, UNIT_SHARE, "0.5%");
        return 0;
    case ARGP_KEY_ARG:
        usage_error("bottleneck takes no argument '%s': the model knows its program", argument);
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {
    {&common_argp, 0, NULL, 0},        {&format_argp, 0, NULL, 0},
    {&simulation_argp, 0, NULL, 0},    {&assertions_argp, 0, NULL, 0},
    {&configuration_argp, 0, NULL, 0}, {0},
};

static const struct argp bottleneck_argp = {
    .options = options_list,
    .parser = parse_bottleneck,
    .doc =
        "Says what limits one configuration, and what would be gained if it were relieved: one "
        "more core, a lock that keeps nobody out, a queue or semaphore without a limit, a disk or "
        "a single thread that takes half as long, one more thread in a pool, threads no more than "
        "cores, work that is the same for each thread. Each is simulated with the same random "
        "numbers as the model; what gains nothing is not listed. Of a load without an end it is "
        "the most throughput that is looked at. A configuration without figures gets none here "
        "either: exit status 4.\v"
        "Examples:\n"
        "  persik bottleneck --threads 8 --cores 4\n"
        "  persik bottleneck --threads readers=2,workers=8 --format json\n"
        "  persik bottleneck --threads 8 --scale 'lock:queue.mutex=0'\n",
    .children = children,
};

/* ---- the analysis ---- */

struct answer {
    const struct model *model;
    struct prediction prediction;
    struct bottlenecks bottlenecks;
    struct changed_parts changed;
};

static struct model *load(const void *context, struct error *error) {
    const struct bottleneck_options *options = context;
    return simulation_options_load(&options->simulation, options->common.directory, NULL, error);
}

static int find(const struct bottleneck_options *options, const struct configuration *configuration,
                struct answer *answer, struct error *error) {
    const struct bottleneck_search search = {.load = load,
                                             .context = options,
                                             .config = options->simulation.config,
                                             .precision = options->precision};
    if (prediction_make(answer->model, &configuration->threads.items[0], configuration->cores,
                        &search.config, &answer->prediction, error) < 0)
        return -1;
    if (answer->prediction.no_figures)
        return 0;
    return bottlenecks_find(&search, answer->model, &answer->prediction, &answer->bottlenecks,
                            error);
}

static void free_answer(struct answer *answer) {
    bottlenecks_free(&answer->bottlenecks);
    changed_parts_free(&answer->changed);
    prediction_free(&answer->prediction);
}

/* ---- the table ---- */

static const struct table_column columns[] = {
    {"gain", "gain"},          {"gain_half_width", NULL}, {"then", "then"},
    {"then_half_width", NULL}, {"in_use", "in use"},      {"limit", NULL},
    {"relief", "relieved"},    {NULL, "what limits"},     {"subject", NULL},
    {"place", NULL},
};

/* So many letters of the last column, and a line has 80 at most. */
enum { SUBJECT_LETTERS = 36 };

/* Of a long name, its beginning and its end, which is mostly a place in the source. */
static char *shortened(const char *name) {
    size_t length = strlen(name), half = (SUBJECT_LETTERS - 2) / 2;
    if (length <= SUBJECT_LETTERS)
        return memory_strdup(name);
    return memory_format("%.*s..%s", (int)half, name, name + length - half);
}

/* Objects of a model are named by their kind, too; of a pool there is more than one thing to say.
 */
static char *shown_subject(const struct bottleneck *bottleneck) {
    char *name = NULL;
    switch (bottleneck->limit) {
    case LIMIT_THREADS:
    case LIMIT_CROWD:
    case LIMIT_ONE_THREAD:
    case LIMIT_UNEVEN_WORK:
    case LIMIT_SLEEPS:
    case LIMIT_IO:
        name = memory_format("%s: %s", bottleneck->subject, limit_name(bottleneck->limit));
        break;
    default:
        name = memory_strdup(bottleneck->subject);
        break;
    }
    char *shown = shortened(name);
    free(name);
    return shown;
}

static void add_gain(struct table *table, struct estimate gain) {
    char text[QUANTITY_BYTES];
    double half = 100 * gain.half_width;
    snprintf(text, sizeof text, half < 0.05 ? "%.1f %%" : "%.1f %% ±%.1f", 100 * gain.mean, half);
    table_add_shown_number(table, text, gain.mean);
    table_add_number(table, gain.half_width, UNIT_SHARE);
}

static void add_row(struct table *table, const struct bottlenecks *bottlenecks,
                    const struct bottleneck *bottleneck) {
    char *subject = shown_subject(bottleneck);
    add_gain(table, bottleneck->gain);
    table_add_estimate(table, bottleneck->then, bottlenecks->of_throughput ? UNIT_RATE : UNIT_TIME);
    table_add_number(table, bottleneck->in_use, UNIT_SHARE);
    table_add_text(table, limit_name(bottleneck->limit));
    table_add_text(table, bottleneck->change);
    table_add_text(table, subject);
    table_add_text(table, bottleneck->subject);
    table_add_text(table, bottleneck->place);
    free(subject);
}

/* Of gains from `least` on. */
static struct table *bottleneck_table(const struct bottlenecks *bottlenecks, double least) {
    struct table *table = table_new(columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < bottlenecks->count; i++)
        if (bottlenecks->items[i].gain.mean >= least)
            add_row(table, bottlenecks, &bottlenecks->items[i]);
    return table;
}

/* ---- printing ---- */

static void print_base(const struct answer *answer) {
    const struct bottlenecks *bottlenecks = &answer->bottlenecks;
    char now[QUANTITY_BYTES];
    quantity_show_interval(bottlenecks->now.mean, bottlenecks->now.half_width,
                           bottlenecks->of_throughput ? UNIT_RATE : UNIT_TIME, now);
    printf("threads %s, cores %d: %s %s\n", answer->prediction.threads->label,
           answer->prediction.cores,
           bottlenecks->of_throughput ? "throughput, at most," : "running time", now);
}

/* What any two runs of one configuration differ by: nobody would notice such a gain. */
static double unnoticed(const struct answer *answer) {
    return prediction_uncertainty(&answer->prediction).machine;
}

static void print_answer(const struct answer *answer) {
    struct table *table = bottleneck_table(&answer->bottlenecks, unnoticed(answer));
    size_t shown = table_rows(table), others = answer->bottlenecks.count - shown;
    changed_parts_print(&answer->changed, stdout);
    print_base(answer);
    fputc('\n', stdout);
    if (shown > 0)
        table_print_text(table, stdout);
    else
        puts("Nothing limits it that the model could relieve.");
    if (others > 0)
        printf("%s%zu more gain%s less than %.1f %%, as much as runs differ.\n",
               shown > 0 ? "\n" : "", others, others == 1 ? "s" : "", 100 * unnoticed(answer));
    table_free(table);
}

static json_t *answer_json(const struct bottleneck_options *options, const struct answer *answer,
                           const struct table *table) {
    const struct bottlenecks *bottlenecks = &answer->bottlenecks;
    const struct prediction *prediction = &answer->prediction;
    bool figures = !prediction->no_figures;
    const char *program = answer->model->program;
    json_t *json = json_pack(
        "{s:s, s:I, s:s, s:i, s:o, s:o, s:o, s:o, s:o}", "program", program ? program : "", "seed",
        (json_int_t)options->simulation.config.seed, "threads", prediction->threads->label, "cores",
        prediction->cores, "of",
        figures ? json_string(bottlenecks->of_throughput ? "throughput_hz" : "run_ns")
                : json_null(),
        "now", figures ? json_real(bottlenecks->now.mean) : json_null(), "now_half_width",
        figures ? json_real(bottlenecks->now.half_width) : json_null(), "no_figures",
        figures ? json_null() : json_string(prediction->no_figures), "limits", table_json(table));
    if (answer->changed.count > 0)
        json_object_set_new(json, "changed", changed_parts_json(&answer->changed));
    return json;
}

static void print(const struct bottleneck_options *options, const struct answer *answer) {
    struct table *table = bottleneck_table(&answer->bottlenecks, 0);
    switch (options->format) {
    case FORMAT_TABLE:
        if (!answer->prediction.no_figures)
            print_answer(answer);
        break;
    case FORMAT_CSV:
        table_print_csv(table, stdout);
        break;
    case FORMAT_JSON:
        table_print_json(answer_json(options, answer, table), stdout);
        break;
    }
    table_free(table);
}

/* ---- the command ---- */

static void warn(const struct answer *answer) {
    prediction_warn_of_stalls(answer->prediction.no_figures ? NULL : &answer->prediction);
    repartitions_warn(answer->model);
    scope_warn(answer->model);
}

static int say_no_figures(const struct prediction *prediction) {
    log_error("threads %s, cores %d: no figures: %s", prediction->threads->label, prediction->cores,
              prediction->no_figures);
    return EXIT_NO_FIGURES;
}

static int run(const struct bottleneck_options *options, const struct configuration *configuration,
               struct error *error) {
    struct answer answer = {0};
    struct model *model = simulation_options_load(&options->simulation, options->common.directory,
                                                  &answer.changed, error);
    answer.model = model;
    int status = model ? find(options, configuration, &answer, error) : -1;
    if (status == 0) {
        warn(&answer);
        print(options, &answer);
        status = assertions_check(&options->assertions, &answer.prediction, 1);
        if (answer.prediction.no_figures) {
            int none = say_no_figures(&answer.prediction);
            status = status ? status : none;
        }
    }
    free_answer(&answer);
    model_free(model);
    return status;
}

int command_bottleneck(int argc, char **argv) {
    struct bottleneck_options options;
    argp_parse(&bottleneck_argp, argc, argv, 0, NULL, &options);
    struct configuration configuration = {0};
    simulation_options_finish(&options.simulation);
    configuration_parse(&options.configuration, &options.simulation, &configuration);
    struct error error;
    int status = run(&options, &configuration, &error);
    thread_sweep_free(&configuration.threads);
    free(options.assertions.items);
    simulation_options_free(&options.simulation);
    return status < 0 ? command_failed(&error) : status;
}
