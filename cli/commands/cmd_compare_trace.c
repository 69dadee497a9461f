/* persik compare-trace: where two runs, or a run and its model's, begin to differ. */
#include <argp.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "cli/arguments/options.h"
#include "cli/command.h"
#include "cli/difference/visit_tests.h"
#include "cli/judgement.h"
#include "cli/prediction/prediction.h"
#include "cli/recording/workspace.h"
#include "cli/text/links.h"
#include "modelgen/modelgen.h"

enum { KEY_ORDER = 0xe000, KEY_LEAST, KEY_ALL, KEY_ASSERT, KEY_SEED };

struct compare_options {
    struct common_options common;
    enum table_format format;
    const char *paths[2]; /* as given */
    int n_paths;
    bool by_time, all;
    double least;  /* share of the threads' time */
    double bound;  /* of what differs; negative: none is given */
    uint64_t seed; /* of the simulated run */
};

static const struct argp_option options_list[] = {
    {"order", KEY_ORDER, "share|time", 0,
     "share: what takes most more or less time first; time: where a thread comes first "
     "(default: share)",
     1},
    {"least", KEY_LEAST, "SHARE", 0,
     "what differs by less of the threads' time is taken for alike (default: 1%)", 1},
    {"all", KEY_ALL, NULL, 0, "print also what is alike", 1},
    {"seed", KEY_SEED, "N", 0, "of the simulated run (default: 1)", 2},
    {"assert", KEY_ASSERT, "SHARE", 0,
     "exit 3 if what differs, more and less time alike, is above this share of the threads' time, "
     "such as 5%",
     3},
    {0},
};

static double share_of(const char *option, const char *text) {
    double share;
    if (quantity_parse(text, UNIT_SHARE, &share) < 0 || share < 0)
        usage_error("%s %s: give a share such as 5%%", option, text);
    return share;
}

static void set_order(struct compare_options *options, const char *word) {
    options->by_time = strcmp(word, "time") == 0;
    if (!options->by_time && strcmp(word, "share") != 0)
        usage_error("--order %s: give share or time", word);
}

static error_t parse_compare(int key, char *argument, struct argp_state *state) {
    struct compare_options *options = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        *options =
            (struct compare_options){.least = judgement.least_difference, .bound = -1, .seed = 1};
        state->child_inputs[0] = &options->common;
        state->child_inputs[1] = &options->format;
        return 0;
    case KEY_ORDER:
        set_order(options, argument);
        return 0;
    case KEY_LEAST:
        options->least = share_of("--least", argument);
        return 0;
    case KEY_ALL:
        options->all = true;
        return 0;
    case KEY_SEED:
        options->seed = (uint64_t)option_integer("--seed", argument, 0, INT32_MAX);
        return 0;
    case KEY_ASSERT:
        options->bound = share_of("--assert", argument);
        return 0;
    case ARGP_KEY_ARG:
        if (options->n_paths == 2)
            usage_error("compare-trace '%s': two recordings are compared: BEFORE and AFTER",
                        argument);
        options->paths[options->n_paths++] = argument;
        links_directory(argument);
        return 0;
    case ARGP_KEY_END:
        if (options->n_paths == 1)
            usage_error("compare-trace %s: give two recordings, BEFORE and AFTER, or -i %s: its "
                        "model's simulated run",
                        options->paths[0], options->paths[0]);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {
    {&common_argp, 0, NULL, 0}, {&format_argp, 0, NULL, 0}, {0}};

static const struct argp compare_argp = {
    .options = options_list,
    .parser = parse_compare,
    .args_doc = "[BEFORE AFTER]",
    .doc = "Holds the recorded run against one simulated run of its own configuration, or two "
           "recordings against each other, place by place of the program: how often threads came "
           "there, how long they computed until the next place, and how long they waited, for "
           "others or for a core. Where a model misses a run, this is where. One run is one "
           "sample, and its parts depend on each other: who waits longer lets others wait longer, "
           "so that causes are to be sought among the first of --order time.\v"
           "Examples:\n"
           "  persik compare-trace\n"
           "  persik compare-trace --order time\n"
           "  persik compare-trace persik.data.old persik.data --assert 5%\n"
           "  persik compare-trace --format json | jq '.fragments[0]'\n",
    .children = children,
};

/* ---- both sides ---- */

struct sides {
    const char *names[2];
    struct visits fragments[2];
};

static struct trace *load(const char *directory, struct error *error) {
    struct trace *trace = workspace_load_trace(directory, error);
    if (trace)
        modelgen_name_calls(trace);
    return trace;
}

static int read_recording(const char *directory, struct visits *fragments, struct error *error) {
    struct trace *trace = load(directory, error);
    if (!trace)
        return -1;
    *fragments = visits_of_trace(trace, NULL, 1);
    trace_free(trace);
    return 0;
}

/* In the recorded configuration, if it has figures there. 0, EXIT_NO_FIGURES, or -1 and `error`. */
static int simulate(const struct model *model, uint64_t seed, struct visits *fragments,
                    struct error *error) {
    static const struct thread_choice own = {.label = "as profiled"};
    struct sim_config config = {.seed = seed};
    struct prediction prediction;
    if (prediction_make(model, &own, 0, &config, &prediction, error) < 0)
        return -1;
    int status = EXIT_NO_FIGURES;
    if (prediction.no_figures) {
        log_error("the model has no run to compare with: %s", prediction.no_figures);
    } else {
        struct simulated_run run;
        prediction_configure(&prediction, &config);
        status = simulated_run_make(model, &config, &run, error);
        if (status == 0)
            *fragments = visits_of_simulated(model, &run);
        simulated_run_free(&run);
    }
    prediction_free(&prediction);
    return status;
}

static int compare_with_model(const struct compare_options *options, struct sides *sides,
                              struct error *error) {
    const char *directory = options->common.directory;
    struct model *model = prediction_load_model(directory, NULL, error);
    struct trace *trace = model ? load(directory, error) : NULL;
    int status = trace ? simulate(model, options->seed, &sides->fragments[1], error) : -1;
    if (status == 0)
        sides->fragments[0] = visits_of_trace(trace, &sides->fragments[1], model->cpu_correction);
    sides->names[0] = "recorded";
    sides->names[1] = "simulated";
    trace_free(trace);
    model_free(model);
    return status;
}

static int read_sides(const struct compare_options *options, struct sides *sides,
                      struct error *error) {
    if (options->n_paths == 0)
        return compare_with_model(options, sides, error);
    sides->names[0] = "before";
    sides->names[1] = "after";
    int status = read_recording(options->paths[0], &sides->fragments[0], error);
    return status < 0 ? -1 : read_recording(options->paths[1], &sides->fragments[1], error);
}

/* ---- what is printed ---- */

static const char *const parts[VISIT_PARTS] = {"computes", "waits"};

static const struct table_column columns[] = {
    {"place", "place"},         {"part", "part"},
    {"differs", NULL},          {"first_ns", "first at"},
    {"n_before", "n"},          {"n_after", "n now"},
    {"mean_before_ns", "mean"}, {"mean_after_ns", "mean now"},
    {"p50_before_ns", "p50"},   {"p50_after_ns", "p50 now"},
    {"p95_before_ns", "p95"},   {"p95_after_ns", "p95 now"},
    {"distance", "KS"},         {"p", "p"},
    {"time_share", "time"},
};

static void add_row(struct table *table, const struct visit_test *test) {
    char p[QUANTITY_BYTES];
    snprintf(p, sizeof p, test->p < 1e-4 ? "<0.0001" : "%.2g", test->p);
    table_add_text(table, test->place);
    table_add_text(table, parts[test->part]);
    table_add_integer(table, test->differs);
    table_add_number(table, test->first_ns, UNIT_TIME);
    table_add_integer(table, (long)test->before.n);
    table_add_integer(table, (long)test->after.n);
    table_add_number(table, test->before.mean_ns, UNIT_TIME);
    table_add_number(table, test->after.mean_ns, UNIT_TIME);
    table_add_number(table, test->before.p50_ns, UNIT_TIME);
    table_add_number(table, test->after.p50_ns, UNIT_TIME);
    table_add_number(table, test->before.p95_ns, UNIT_TIME);
    table_add_number(table, test->after.p95_ns, UNIT_TIME);
    table_add_number(table, test->distance, UNIT_NONE);
    table_add_shown_number(table, p, test->p);
    table_add_signed_share(table, test->share);
}

static struct table *table_of(const struct visit_tests *tests, bool all) {
    struct table *table = table_new(columns, sizeof columns / sizeof *columns);
    TABLE_SPARE(table, "p50_before_ns", "p50_after_ns", "distance", "p95_before_ns", "p95_after_ns",
                "p");
    for (size_t i = 0; i < tests->count; i++)
        if (all || tests->items[i].differs)
            add_row(table, &tests->items[i]);
    return table;
}

/* Of both more and less. */
static double differing_share(const struct visit_tests *tests) {
    double share = 0;
    for (size_t i = 0; i < tests->count; i++)
        share += tests->items[i].differs ? fabs(tests->items[i].share) : 0;
    return share;
}

static const struct visit_test *first_to_differ(const struct visit_tests *tests) {
    const struct visit_test *first = NULL;
    for (size_t i = 0; i < tests->count; i++)
        if (tests->items[i].differs && (!first || tests->items[i].first_ns < first->first_ns))
            first = &tests->items[i];
    return first;
}

static void print_head(const struct sides *sides) {
    char before[QUANTITY_BYTES], after[QUANTITY_BYTES];
    double before_ns = sides->fragments[0].run_ns, after_ns = sides->fragments[1].run_ns;
    printf("%s run %s, %s %s (%+.1f %%)\n", sides->names[0],
           quantity_show(before_ns, UNIT_TIME, before), sides->names[1],
           quantity_show(after_ns, UNIT_TIME, after), 100 * (after_ns / before_ns - 1));
}

static void print_text(const struct compare_options *options, const struct sides *sides,
                       const struct visit_tests *tests) {
    print_head(sides);
    const struct visit_test *first = first_to_differ(tests);
    struct table *table = table_of(tests, options->all);
    if (first) {
        char time[QUANTITY_BYTES];
        printf("first that differs: %s %s, from %s on, %+.1f %% of the threads' time\n",
               first->place, parts[first->part], quantity_show(first->first_ns, UNIT_TIME, time),
               100 * first->share);
    } else {
        printf("no place differs by %.3g %% of the threads' time and by more than chance\n",
               100 * options->least);
    }
    if (table_rows(table) > 0) {
        printf("\"now\" is %s; time: of all threads, more or less than %s\n\n", sides->names[1],
               sides->names[0]);
        table_print_text(table, stdout);
    }
    if (tests->count > table_rows(table))
        printf("%zu more are alike: --all shows them\n", tests->count - table_rows(table));
    table_free(table);
}

static void print_json(const struct sides *sides, const struct visit_tests *tests) {
    struct table *table = table_of(tests, true);
    json_t *rows = table_json(table);
    for (size_t i = 0; i < tests->count; i++)
        json_object_set_new(json_array_get(rows, i), "differs",
                            json_boolean(tests->items[i].differs));
    table_print_json(json_pack("{s:s, s:s, s:f, s:f, s:f, s:o}", "before", sides->names[0], "after",
                               sides->names[1], "run_before_ns", sides->fragments[0].run_ns,
                               "run_after_ns", sides->fragments[1].run_ns, "differing_share",
                               differing_share(tests), "fragments", rows),
                     stdout);
    table_free(table);
}

static int print(const struct compare_options *options, const struct sides *sides) {
    struct visit_tests tests = visit_tests_make(&sides->fragments[0], &sides->fragments[1],
                                                options->least, options->by_time);
    if (options->format == FORMAT_JSON) {
        print_json(sides, &tests);
    } else if (options->format == FORMAT_CSV) {
        struct table *table = table_of(&tests, true);
        table_print_csv(table, stdout);
        table_free(table);
    } else {
        print_text(options, sides, &tests);
    }
    double share = differing_share(&tests);
    free(tests.items);
    if (options->bound < 0 || share <= options->bound)
        return 0;
    log_error("%.1f %% of the threads' time differs, more than %.1f %%", 100 * share,
              100 * options->bound);
    return EXIT_ASSERTION;
}

int command_compare_trace(int argc, char **argv) {
    struct compare_options options;
    argp_parse(&compare_argp, argc, argv, 0, NULL, &options);
    struct sides sides = {.fragments = {{.index = MAP_EMPTY}, {.index = MAP_EMPTY}}};
    struct error error;
    int status = read_sides(&options, &sides, &error);
    if (status == 0)
        status = print(&options, &sides);
    visits_free(&sides.fragments[0]);
    visits_free(&sides.fragments[1]);
    return status < 0 ? command_failed(&error) : status;
}
