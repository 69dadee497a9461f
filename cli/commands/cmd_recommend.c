/* persik recommend: the smallest configuration that meets a goal. */
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
#include "cli/prediction/simulation_options.h"
#include "cli/prediction/sweep_options.h"
#include "cli/sensitivity/bottleneck.h"
#include "cli/sensitivity/recommendation.h"

/* ---- options ---- */

enum { KEY_GOAL = 0xd000, KEY_RATE, KEY_PRECISION };

/* Each about a third more than the one before. */
#define USUAL_THREADS "1,2,3,4,6,8,12,16,24,32,48,64"

struct recommend_options {
    struct common_options common;
    struct simulation_options simulation;
    struct assertions assertions, goals;
    enum table_format format;
    struct sweep_options sweep;
};

static const struct argp_option options_list[] = {
    {"goal", KEY_GOAL, "BOUND", 0,
     "what is to be met, such as 'time<2s', 'p99<50ms', 'throughput>1000/s'; several: all of them",
     1},
    {"rate", KEY_RATE, "RATE", 0, "at which tasks arrive, such as 800/s: as --arrivals", 1},
    SWEEP_OPTIONS("numbers of threads to choose from, ascending (default: " USUAL_THREADS ")",
                  "numbers of cores to choose from, ascending (default: 1 to those of the "
                  "recording)"),
    {"precision", KEY_PRECISION, "SHARE", 0,
     "simulate until the interval is below this share (default: 1%; of a load without an end 5%)",
     2},
    {0},
};

static void add_goal(struct recommend_options *options, const char *text) {
    struct error error;
    if (assertion_parse("--goal", text, VECTOR_ADD(&options->goals), &error) < 0)
        usage_error("%s", error.text);
}

/* Another word for --arrivals, by which errors must not call it. */
static void set_rate(struct recommend_options *options, const char *rate) {
    struct load_sweep loads;
    struct error error;
    if (load_sweep_parse(rate, NULL, &loads, &error) < 0)
        usage_error("--rate %s: give a rate such as 800/s", rate);
    if (loads.count != 1)
        usage_error("--rate %s: these are several loads: give one", rate);
    free(loads.items);
    options->simulation.arrivals = rate;
}

static error_t parse_recommend(int key, char *argument, struct argp_state *state) {
    struct recommend_options *options = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        *options = (struct recommend_options){0};
        state->child_inputs[0] = &options->common;
        state->child_inputs[1] = &options->format;
        state->child_inputs[2] = &options->simulation;
        state->child_inputs[3] = &options->assertions;
        return 0;
    case KEY_GOAL:
        add_goal(options, argument);
        return 0;
    case KEY_RATE:
        set_rate(options, argument);
        return 0;
    case KEY_PRECISION:
        options->simulation.config.precision =
            simulation_option_positive("--precision", argument, UNIT_SHARE, "1%");
        return 0;
    case ARGP_KEY_ARG:
        usage_error("recommend takes no argument '%s': the model knows its program", argument);
    default:
        return sweep_options_take(&options->sweep, key, argument) ? 0 : ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {
    {&common_argp, 0, NULL, 0},
    {&format_argp, 0, NULL, 0},
    {&simulation_argp, 0, NULL, 0},
    {&assertions_argp, 0, NULL, 0},
    {0},
};

static const struct argp recommend_argp = {
    .options = options_list,
    .parser = parse_recommend,
    .doc =
        "Says with how few cores, and then how few threads, the program meets a goal, and by what "
        "margin: by what is predicted, and by all of the interval in which a real run is expected "
        "in 90 of 100 cases. Where nothing that may be chosen meets it, says what comes nearest "
        "and what limits that: exit status 3.\v"
        "Examples:\n"
        "  persik recommend --goal 'time<2s'\n"
        "  persik recommend --goal 'p99<50ms' --rate 800/s --threads 1:32 --cores 1:8\n"
        "  persik recommend --goal 'throughput>1000/s' --goal 'p99<20ms' --clients 64\n",
    .children = children,
};

/* ---- the search ---- */

struct answer {
    struct model *model;
    struct thread_sweep threads;
    struct int_list cores;
    struct recommendation recommendation;
    struct bottlenecks limits; /* of the nearest, where nothing meets the goal */
    struct changed_parts changed;
};

static bool scales(const struct model *model) {
    for (size_t p = 0; p < model->n_pools; p++)
        if (model->pools[p].scales)
            return true;
    return false;
}

static void choose(const struct recommend_options *options, struct answer *answer) {
    struct sweep_options sweep = options->sweep;
    if (!sweep.threads && scales(answer->model))
        sweep.threads = USUAL_THREADS;
    sweep_options_parse(&sweep, &answer->threads, &answer->cores);
    for (int c = 1; !sweep.cores && c <= answer->model->machine.cores; c++)
        *VECTOR_ADD(&answer->cores) = c;
}

static struct model *load(const void *context, struct error *error) {
    const struct recommend_options *options = context;
    return simulation_options_load(&options->simulation, options->common.directory, NULL, error);
}

/* Of what comes nearest, where nothing meets the goal. */
static int find_limits(const struct recommend_options *options, struct answer *answer,
                       struct error *error) {
    const struct recommendation *recommendation = &answer->recommendation;
    if (recommendation->expected >= 0 || recommendation->nearest < 0)
        return 0;
    const struct prediction *nearest = &recommendation->items[recommendation->nearest].prediction;
    if (nearest->result.regime != REGIME_ENDING && !(nearest->result.tasks.mean > 0))
        return 0;
    const struct bottleneck_search search = {
        .load = load, .context = options, .config = options->simulation.config};
    return bottlenecks_find(&search, answer->model, nearest, &answer->limits, error);
}

static int search(const struct recommend_options *options, struct answer *answer,
                  struct error *error) {
    choose(options, answer);
    const struct recommendation_search search = {
        .model = answer->model,
        .threads = &answer->threads,
        .cores = &answer->cores,
        .goals = options->goals.items,
        .n_goals = options->goals.count,
        .config = options->simulation.config,
    };
    if (recommendation_find(&search, &answer->recommendation, error) < 0)
        return -1;
    return find_limits(options, answer, error);
}

static void free_answer(struct answer *answer) {
    bottlenecks_free(&answer->limits);
    recommendation_free(&answer->recommendation);
    thread_sweep_free(&answer->threads);
    free(answer->cores.items);
    changed_parts_free(&answer->changed);
    model_free(answer->model);
}

/* ---- printing ---- */

static const struct table_column columns[] = {
    {"threads", "threads"},      {"cores", "cores"},   {"goal", "goal"}, {"figure", "figure"},
    {"figure_half_width", NULL}, {"margin", "margin"}, {"met", "met"},   {"no_figures", NULL},
};

static const char *const met_words[] = {
    [GOAL_MISSED] = "no", [GOAL_EXPECTED] = "expected", [GOAL_SURE] = "sure"};

static void add_tried(struct table *table, const struct recommend_options *options,
                      const struct tried *tried) {
    for (size_t g = 0; g < options->goals.count; g++) {
        const struct goal_judgement *judgement = &tried->goals[g];
        prediction_add_threads(table, &tried->prediction);
        table_add_integer(table, tried->prediction.cores);
        table_add_text(table, options->goals.items[g].text);
        table_add_estimate(table, judgement->figure, judgement->unit);
        table_add_signed_share(table, judgement->margin);
        table_add_text(table, met_words[judgement->met]);
        table_add_text(table, tried->prediction.no_figures);
    }
}

/* For people, one row for each number of cores, and the one that is sure. */
static struct table *tried_table(const struct recommend_options *options,
                                 const struct answer *answer) {
    const struct recommendation *recommendation = &answer->recommendation;
    struct table *table = table_new(columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < recommendation->count; i++) {
        const struct tried *tried = &recommendation->items[i];
        int best = recommendation_best_of(recommendation, tried->prediction.cores);
        if (options->format != FORMAT_TABLE || (int)i == recommendation->sure || (int)i == best)
            add_tried(table, options, tried);
    }
    return table;
}

/* "threads 4, cores 2"; the caller frees. */
static char *name_of(const struct recommendation *recommendation, int index) {
    const struct prediction *prediction = &recommendation->items[index].prediction;
    return memory_format("threads %s, cores %d", prediction->threads->label, prediction->cores);
}

static void print_choice(const struct recommendation *recommendation) {
    char *expected = name_of(recommendation, recommendation->expected);
    double margin = 100 * recommendation->items[recommendation->expected].margin;
    if (recommendation->sure == recommendation->expected) {
        printf("Recommended: %s, margin %.0f %%, beyond the uncertainty.\n", expected, margin);
    } else {
        printf("Recommended: %s, margin %.0f %%, within the uncertainty.\n", expected, margin);
        if (recommendation->sure >= 0) {
            char *sure = name_of(recommendation, recommendation->sure);
            printf("To be sure in 90 of 100 cases: %s, margin %.0f %%.\n", sure,
                   100 * recommendation->items[recommendation->sure].margin);
            free(sure);
        } else {
            puts("Nothing that may be chosen is sure to meet it in 90 of 100 cases.");
        }
    }
    free(expected);
}

static void print_limits(const struct bottlenecks *limits) {
    if (limits->count == 0)
        return;
    const struct bottleneck *first = &limits->items[0];
    char then[QUANTITY_BYTES];
    bool is_named = strcmp(first->subject, limit_name(first->limit)) != 0 &&
                    first->limit != LIMIT_CORES_AND_THREADS;
    printf("What limits it there: %s%s%s; %s: %s%s.\n", first->subject, is_named ? ", " : "",
           is_named ? limit_name(first->limit) : "", first->change,
           limits->of_throughput ? "at most " : "",
           quantity_show_interval(first->then.mean, first->then.half_width,
                                  limits->of_throughput ? UNIT_RATE : UNIT_TIME, then));
}

static void print_failure(const struct answer *answer) {
    const struct recommendation *recommendation = &answer->recommendation;
    if (recommendation->nearest < 0) {
        puts("Nothing that may be chosen meets it: no configuration has such a figure.");
        return;
    }
    char *nearest = name_of(recommendation, recommendation->nearest);
    double margin = recommendation->items[recommendation->nearest].margin;
    if (isnan(margin))
        printf("Nothing that may be chosen meets it: too much comes. Most does: %s.\n", nearest);
    else
        printf("Nothing that may be chosen meets it. Nearest: %s, %.0f %% beyond.\n", nearest,
               -100 * margin);
    free(nearest);
    print_limits(&answer->limits);
}

static json_t *row_json(const json_t *rows, const struct recommend_options *options, int index) {
    if (index < 0)
        return json_null();
    json_t *some = json_array();
    for (size_t g = 0; g < options->goals.count; g++)
        json_array_append(some, json_array_get(rows, (size_t)index * options->goals.count + g));
    return some;
}

static void print_json(const struct recommend_options *options, const struct answer *answer,
                       const struct table *table) {
    json_t *rows = table_json(table);
    const struct recommendation *recommendation = &answer->recommendation;
    const char *program = answer->model->program;
    bool is_limited = answer->limits.count > 0;
    json_t *json =
        json_pack("{s:s, s:I, s:o, s:o, s:o, s:o}", "program", program ? program : "", "seed",
                  (json_int_t)options->simulation.config.seed, "recommended",
                  row_json(rows, options, recommendation->expected), "sure",
                  row_json(rows, options, recommendation->sure), "nearest",
                  row_json(rows, options, recommendation->nearest), "limit",
                  is_limited ? json_string(answer->limits.items[0].subject) : json_null());
    json_object_set_new(json, "tried", rows);
    if (answer->changed.count > 0)
        json_object_set_new(json, "changed", changed_parts_json(&answer->changed));
    table_print_json(json, stdout);
}

static void print_answer(const struct recommend_options *options, const struct answer *answer) {
    struct table *table = tried_table(options, answer);
    switch (options->format) {
    case FORMAT_TABLE:
        changed_parts_print(&answer->changed, stdout);
        table_print_text(table, stdout);
        fputc('\n', stdout);
        if (answer->recommendation.expected >= 0)
            print_choice(&answer->recommendation);
        else
            print_failure(answer);
        break;
    case FORMAT_CSV:
        table_print_csv(table, stdout);
        break;
    case FORMAT_JSON:
        print_json(options, answer, table);
        break;
    }
    table_free(table);
}

/* ---- the command ---- */

static void warn(const struct answer *answer) {
    const struct recommendation *recommendation = &answer->recommendation;
    const struct prediction *worst = NULL;
    for (size_t i = 0; i < recommendation->count; i++)
        worst = prediction_more_stalled(worst, &recommendation->items[i].prediction);
    prediction_warn_of_stalls(worst);
    repartitions_warn(answer->model);
    scope_warn(answer->model);
}

static int run(const struct recommend_options *options, struct error *error) {
    struct answer answer = {0};
    answer.model = simulation_options_load(&options->simulation, options->common.directory,
                                           &answer.changed, error);
    int status = answer.model ? search(options, &answer, error) : -1;
    if (status == 0) {
        const struct recommendation *recommendation = &answer.recommendation;
        bool found = recommendation->expected >= 0;
        warn(&answer);
        print_answer(options, &answer);
        status = EXIT_ASSERTION;
        if (found)
            status =
                assertions_check(&options->assertions,
                                 &recommendation->items[recommendation->expected].prediction, 1);
    }
    free_answer(&answer);
    return status;
}

int command_recommend(int argc, char **argv) {
    struct recommend_options options;
    argp_parse(&recommend_argp, argc, argv, 0, NULL, &options);
    simulation_options_finish(&options.simulation);
    if (options.goals.count == 0)
        usage_error("no goal: give --goal 'time<2s', 'p99<50ms' or 'throughput>1000/s'");
    if (options.simulation.loads.count != 1)
        usage_error("%s: these are several loads: give one",
                    options.simulation.arrivals ? "--arrivals" : "--clients");
    options.simulation.config.arrival_rate_hz = options.simulation.loads.items[0].rate_hz;
    options.simulation.config.clients = options.simulation.loads.items[0].clients;
    struct error error;
    int status = run(&options, &error);
    free(options.goals.items);
    free(options.assertions.items);
    simulation_options_free(&options.simulation);
    return status < 0 ? command_failed(&error) : status;
}
