/* persik validate: runs the real program, uninstrumented, and compares with the prediction. */
#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hooks.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/run_end.h"
#include "cli/arguments/options.h"
#include "cli/arguments/placeholder.h"
#include "cli/arguments/repartition.h"
#include "cli/arguments/serving.h"
#include "cli/command.h"
#include "cli/prediction/network.h"
#include "cli/prediction/other_models.h"
#include "cli/prediction/recorded.h"
#include "cli/prediction/simulation_options.h"
#include "cli/prediction/uncertainty.h"
#include "cli/recording/disturbance.h"
#include "cli/text/text_page.h"
#include "cli/validation/comparison.h"
#include "cli/validation/measured_sweep.h"
#include "cli/validation/served_validation.h"
#include "host/pace.h"
#include "host/rerun.h"

/* ---- options ---- */

enum {
    KEY_RUNS = 0x5000,
    KEY_STEADY,
    KEY_FORMAT,
    KEY_MEASUREMENTS,
    KEY_REUSE,
    KEY_MODEL,
    KEY_SEED,
    KEY_PARTITION,
    KEY_PREPARE,
    KEY_CLEANUP,
    KEY_IGNORE_FAILURE,
    KEY_ARRIVALS,
    KEY_CLIENTS,
    KEY_THINK
};

struct validate_options {
    struct common_options common;
    struct served_plan plan;
    struct sweep_options sweep;
    const char *measurements, *reuse, *model;
    const char *arrivals, *clients; /* with a load: lists */
    enum table_format format;
    const char *prepare, *cleanup; /* commands around every run; NULL none */
    bool svg, steady, ignore_failure;
    int runs;
    struct sim_config config;
    struct network network;
    struct repartitions repartitions;
    char **program; /* NULL with --reuse */
};

static const struct argp_option options_list[] = {
    SWEEP_OPTIONS("such as 1,2,4, 1:8, or POOL=LIST,POOL=LIST (default: as profiled)",
                  "numbers of cores, by CPU affinity (default: all allowed)"),
    {"runs", KEY_RUNS, "N", 0, "runs of each configuration; their median counts (default: 5)", 1},
    {"steady", KEY_STEADY, NULL, 0,
     "on a machine that others slow: wait for a moment in which nobody does before each run, and "
     "repeat a run that was slowed all the same",
     1},
    {"prepare", KEY_PREPARE, "CMD", 0,
     "shell command before every run, which puts back what the run before has changed", 1},
    {"cleanup", KEY_CLEANUP, "CMD", 0, "shell command after every run", 1},
    {"ignore-failure", KEY_IGNORE_FAILURE, NULL, 0, "measure runs whose exit status is not 0, too",
     1},
    {"measurements", KEY_MEASUREMENTS, "FILE", 0, "write every run's time to FILE (CSV)", 2},
    {"reuse", KEY_REUSE, "FILE", 0, "take the measurements from FILE, run nothing", 2},
    {"model", KEY_MODEL, "FILE", 0, "model to use (default: DIR/model.json)", 2},
    {"seed", KEY_SEED, "N", 0, "of the random numbers (default: 1)", 2},
    {"partition", KEY_PARTITION, "POOL=RULE", 0, "as in persik predict", 2},
    {"format", KEY_FORMAT, "table|json|csv|svg", 0, "how to print (default: table)", 3},
    {"arrivals", KEY_ARRIVALS, "LIST", 0, "requests per second, for {rate} in the load", 4},
    {"clients", KEY_CLIENTS, "LIST", 0, "numbers for {clients} in the load", 4},
    {"think", KEY_THINK, "TIME", 0,
     "what the load's clients wait before they ask again, on average (default: as in the model)",
     4},
    {0},
};

static void parse_format(struct validate_options *options, const char *word) {
    options->svg = strcmp(word, "svg") == 0;
    if (!options->svg && table_format_parse(word, &options->format) < 0)
        usage_error("--format %s: give table, json, csv or svg", word);
}

static void check_load(const struct validate_options *options) {
    const struct served_plan *plan = &options->plan;
    if (options->config.think_ns > 0 && !options->clients)
        usage_error("--think: give the number of clients, too: --clients");
    if (!plan->load && (plan->ready || options->arrivals || options->clients))
        usage_error("--ready, --arrivals and --clients are for a server: give its --load, too");
    if (!plan->load && network_is_given(&options->network))
        usage_error("--network-latency and --network-bandwidth are between a server and its "
                    "clients: give its --load, too");
    if (plan->load && (options->measurements || options->reuse || options->steady || options->svg))
        usage_error("--load: --measurements, --reuse, --steady and --format svg compare running "
                    "times, and a server's says nothing: leave them out");
}

static void check_options(const struct validate_options *options) {
    if (options->reuse && (options->program || options->sweep.threads || options->sweep.cores ||
                           options->measurements))
        usage_error("--reuse takes configurations and times from its file: leave the program, "
                    "--threads, --cores and --measurements out");
    if (!options->reuse && !options->program)
        usage_error("no program to run: give it after the options, as in `persik validate "
                    "--threads 1,2,4 -- ./server --threads {threads}`");
}

static void add_repartition(struct validate_options *options, const char *text) {
    struct error error;
    if (repartitions_add(&options->repartitions, text, &error) < 0)
        usage_error("%s", error.text);
}

static error_t parse_validate(int key, char *argument, struct argp_state *state) {
    struct validate_options *options = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        *options = (struct validate_options){.runs = 5, .config.seed = 1};
        state->child_inputs[0] = &options->common;
        state->child_inputs[1] = &options->plan;
        state->child_inputs[2] = &options->network;
        return 0;
    case KEY_RUNS:
        options->runs = (int)option_integer("--runs", argument, 1, 1000);
        return 0;
    case KEY_FORMAT:
        parse_format(options, argument);
        return 0;
    case KEY_STEADY:
        options->steady = true;
        return 0;
    case KEY_MEASUREMENTS:
        options->measurements = argument;
        return 0;
    case KEY_REUSE:
        options->reuse = argument;
        return 0;
    case KEY_MODEL:
        options->model = argument;
        return 0;
    case KEY_SEED:
        options->config.seed = (uint64_t)option_integer("--seed", argument, 0, INT64_MAX);
        return 0;
    case KEY_PREPARE:
        options->prepare = argument;
        return 0;
    case KEY_CLEANUP:
        options->cleanup = argument;
        return 0;
    case KEY_IGNORE_FAILURE:
        options->ignore_failure = true;
        return 0;
    case KEY_ARRIVALS:
        options->arrivals = argument;
        return 0;
    case KEY_CLIENTS:
        options->clients = argument;
        return 0;
    case KEY_THINK:
        options->config.think_ns =
            simulation_option_positive("--think", argument, UNIT_TIME, "10ms");
        return 0;
    case KEY_PARTITION:
        add_repartition(options, argument);
        return 0;
    case ARGP_KEY_ARG:
        options->program = option_program(state);
        return 0;
    case ARGP_KEY_END:
        check_options(options);
        return 0;
    case ARGP_KEY_SUCCESS: /* the children's options are complete */
        check_load(options);
        return 0;
    default:
        return sweep_options_take(&options->sweep, key, argument) ? 0 : ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {{&common_argp, 0, NULL, 0},
                                             {&load_argp, 0, NULL, 0},
                                             {&network_argp, 0, NULL, 0},
                                             {&wide_argp, 0, NULL, 0},
                                             {0}};

static const struct argp validate_argp = {
    .options = options_list,
    .parser = parse_validate,
    .args_doc = "[--] PROGRAM [ARGUMENT...]",
    .doc = "Runs the real program, without probes, in every combination of --threads and --cores, "
           "and prints measured and predicted running time and the error. {threads}, {cores} and "
           "{POOL} in the program's arguments are replaced by the numbers. The program's output is "
           "thrown away. A server is asked by --load in each, where {rate} and {clients} are "
           "replaced, too, and throughput and response times are compared.\v"
           "Examples:\n"
           "  persik validate --threads 1,2,4,8 --cores 1,2 -- \\\n"
           "      ./server --threads {threads}\n"
           "  persik validate --threads 1,2,4,8 --steady -- \\\n"
           "      ./server --threads {threads}\n"
           "  persik validate --threads 1:4 --measurements runs.csv -- \\\n"
           "      ./server -t{threads}\n"
           "  persik validate --threads 1:4 -- env OMP_NUM_THREADS={threads} ./solver\n"
           "  persik validate --threads 1,2,4 --arrivals 100,200,400 \\\n"
           "      --load 'persik load --rate {rate}/s --duration 10s http://localhost/' \\\n"
           "      -- ./server --threads {threads}\n"
           "  persik validate --reuse runs.csv -i run2 --format svg > run2.svg\n",
    .children = children,
};

/* ---- configurations ---- */

struct configuration {
    const struct thread_choice *threads;
    int cores;
};

struct validation {
    const struct validate_options *options;
    struct thread_sweep *sweeps; /* one for --threads; with --reuse one per configuration */
    size_t n_sweeps;
    struct {
        struct configuration *items;
        size_t count, capacity;
    } configurations;
    struct measurements measurements;
    double last_run_ns;   /* 0: none yet */
    struct run_end first; /* of the program's first run */
    struct thread_sweep recorded_sweep;
    struct configuration recorded; /* what the model was recorded in; no threads: it has none */
    bool recorded_ran_last;
    struct disturbance {
        int runs, repeated, remaining;
        int repetitions; /* with --steady, of all runs */
    } disturbance;
    struct comparison *comparisons; /* one per configuration */
    size_t n_predicted;
    struct other_models others; /* none where something is asked of the one model */
};

/* From --threads and --cores. */
static void list_configurations(struct validation *validation) {
    const struct validate_options *options = validation->options;
    struct int_list cores = {0};
    validation->sweeps = memory_alloc(1, sizeof *validation->sweeps);
    validation->n_sweeps = 1;
    struct thread_sweep *sweep = validation->sweeps;
    measured_sweep_parse(&options->sweep, options->program, NULL, sweep, &cores);
    for (size_t c = 0; c < cores.count; c++)
        for (size_t t = 0; t < sweep->count; t++)
            *VECTOR_ADD(&validation->configurations) =
                (struct configuration){&sweep->items[t], cores.items[c]};
    free(cores.items);
}

static int by_first_run(const void *left, const void *right) {
    const struct measurement *a = left, *b = right;
    return (a->asked > b->asked) - (a->asked < b->asked);
}

/* From the file of --reuse; what ran only in between is none. */
static int list_measured(struct validation *validation, struct error *error) {
    struct measurements *measurements = &validation->measurements;
    VECTOR_SORT(measurements, by_first_run);
    validation->sweeps = memory_alloc(measurements->count, sizeof *validation->sweeps);
    for (size_t i = 0; i < measurements->count; i++) {
        const struct measurement *measurement = &measurements->items[i];
        const char *label = strcmp(measurement->threads, "own") == 0 ? NULL : measurement->threads;
        struct thread_sweep *sweep = &validation->sweeps[i];
        if (thread_sweep_parse("threads", label, sweep, error) < 0)
            return error_prefix(error, "%s", validation->options->reuse);
        validation->n_sweeps++;
        if (sweep->count != 1 || strcmp(sweep->items[0].label, measurement->threads) != 0)
            return error_set(error, "%s: '%s' is not how `persik validate` writes threads",
                             validation->options->reuse, measurement->threads);
        if (measurement->asked)
            *VECTOR_ADD(&validation->configurations) =
                (struct configuration){&sweep->items[0], measurement->cores};
    }
    if (validation->configurations.count == 0)
        return error_set(error, "%s holds no configuration to compare: measure again",
                         validation->options->reuse);
    return 0;
}

/* What the speed is compared by. */
static void find_recorded(struct validation *validation, const struct model *model) {
    if (!validation->configurations.items)
        return;
    char *label = recorded_label(validation->configurations.items[0].threads, model);
    struct error unused;
    bool own = label && strcmp(label, "own") == 0;
    if (label && thread_sweep_parse("threads", own ? NULL : label, &validation->recorded_sweep,
                                    &unused) == 0)
        validation->recorded =
            (struct configuration){&validation->recorded_sweep.items[0], model->machine.cores};
    free(label);
}

/* ---- prediction: first, for it is quick and may fail ---- */

static int predict_all(struct validation *validation, const struct model *model,
                       struct error *error) {
    size_t total = validation->configurations.count;
    const struct prediction *worst = NULL, *crowded = NULL;
    validation->comparisons = memory_alloc(total, sizeof *validation->comparisons);
    for (size_t i = 0; i < total; i++) {
        const struct configuration *configuration = &validation->configurations.items[i];
        progress_show("simulating", (double)i / (double)total);
        if (other_models_predict(model, &validation->others, configuration->threads,
                                 configuration->cores, &validation->options->config,
                                 &validation->comparisons[i].prediction, error) < 0)
            return -1;
        validation->n_predicted++;
        worst = prediction_more_stalled(worst, &validation->comparisons[i].prediction);
        crowded = prediction_more_crowded(crowded, &validation->comparisons[i].prediction);
    }
    progress_end();
    prediction_warn_of_stalls(worst);
    prediction_warn_of_crowd(crowded);
    return 0;
}

/* ---- measurement ---- */

enum { MOST_REPETITIONS = 2 }; /* of a disturbed run */

/* With --steady, of one and, for each that is wanted, of all: a machine may never get quiet. */
enum { MOST_STEADY_REPETITIONS = 6, MEAN_STEADY_REPETITIONS = 2 };

/* A run that fails, or ends otherwise than the first one, did not do what is predicted. */
static int judge_run(struct validation *validation, int status, struct error *error) {
    const char *program = validation->options->program[0];
    if (validation->options->ignore_failure)
        return 0;
    bool is_first = !validation->first.known;
    validation->first.known = true;
    if (status == 0)
        return 0;
    if (is_first)
        return run_end_refuse(program, status, error);
    char text[128];
    run_end_describe(status, text, sizeof text);
    return error_set(
        error,
        "%s failed, %s, after runs that did not: undo with --prepare what a run leaves "
        "behind",
        program, text);
}

static int run_once(struct validation *validation, const struct configuration *configuration,
                    struct program_run *run, struct error *error) {
    bool steady = validation->options->steady;
    char **arguments = placeholder_fill(validation->options->program, configuration->threads,
                                        configuration->cores);
    if (hooks_prepare(error) < 0) {
        placeholder_free(arguments);
        return -1;
    }
    if (steady)
        pace_wait(configuration->cores, validation->last_run_ns);
    struct pace *pace = steady ? pace_start(configuration->cores) : NULL;
    int ended = 0;
    int status = programs_measure(arguments, configuration->cores, run, &ended, error);
    run->pace = pace_stop(pace);
    hooks_cleanup();
    if (status == 0)
        status = judge_run(validation, ended, error);
    validation->last_run_ns = status < 0 ? 0 : (double)run->run_ns;
    placeholder_free(arguments);
    if (status < 0)
        return error_prefix(error, "threads %s, cores %d", configuration->threads->label,
                            configuration->cores);
    return 0;
}

/* Where others had a share of the cores nobody knows which thread stood still. That they slowed
 * them can be converted; it counts where steady ones are asked for. */
static bool is_disturbed(const struct validation *validation, const struct program_run *run,
                         int cores) {
    return disturbance_matters(run, cores) ||
           (validation->options->steady && pace_slowdown(run->pace, cores) > PACE_DISTURBED);
}

/* The share of the run's cores that others had or kept from computing. */
static double disturbance_of(const struct program_run *run, int cores) {
    return disturbance_share(run, cores) +
           fmax(pace_slowdown(run->pace, cores) - 1, 0); /* 0: no look */
}

static bool may_repeat(struct validation *validation, int repetitions) {
    if (!validation->options->steady)
        return repetitions < MOST_REPETITIONS;
    size_t wanted = validation->configurations.count * (size_t)validation->options->runs;
    return repetitions < MOST_STEADY_REPETITIONS &&
           (size_t)validation->disturbance.repetitions++ < MEAN_STEADY_REPETITIONS * wanted;
}

/* A run that others disturbed is repeated, and the least disturbed one counts. */
static int run_undisturbed(struct validation *validation, const struct configuration *configuration,
                           struct program_run *run, struct error *error) {
    struct disturbance *disturbance = &validation->disturbance;
    if (run_once(validation, configuration, run, error) < 0)
        return -1;
    int cores = configuration->cores;
    for (int i = 0; is_disturbed(validation, run, cores) && may_repeat(validation, i); i++) {
        struct program_run again;
        if (run_once(validation, configuration, &again, error) < 0)
            return -1;
        disturbance->repeated += i == 0;
        if (disturbance_of(&again, cores) < disturbance_of(run, cores))
            *run = again;
    }
    disturbance->runs++;
    disturbance->remaining += is_disturbed(validation, run, cores);
    return 0;
}

static void warn_of_disturbance(const struct disturbance *disturbance) {
    if (disturbance->repeated > 0)
        log_warning(
            "other processes, or the host of this virtual machine, disturbed %d of %d runs, which "
            "were repeated; %d are disturbed still%s",
            disturbance->repeated, disturbance->runs, disturbance->remaining,
            disturbance->remaining ? ": end other programs and measure again" : "");
}

static bool same_configuration(const struct configuration *a, const struct configuration *b) {
    return a->threads && b->threads && a->cores == b->cores &&
           strcmp(a->threads->label, b->threads->label) == 0;
}

/* `reference`: only to see how the speed drifts. */
static int measure(struct validation *validation, const struct configuration *configuration,
                   bool reference, int round, FILE *log, struct error *error) {
    struct program_run run;
    if (run_undisturbed(validation, configuration, &run, error) < 0)
        return -1;
    const struct measurement *measurement =
        measurements_add(&validation->measurements, configuration->threads->label,
                         configuration->cores, reference, &run);
    if (log)
        measurements_write_run(log, measurement, round, reference, &run);
    validation->recorded_ran_last = same_configuration(configuration, &validation->recorded);
    return 0;
}

/* The recorded configuration, unless it ran just now. */
static int measure_recorded(struct validation *validation, int round, FILE *log,
                            struct error *error) {
    const struct configuration *recorded = &validation->recorded;
    if (!recorded->threads || recorded->cores > programs_allowed_cores() ||
        validation->recorded_ran_last)
        return 0;
    return measure(validation, recorded, true, round, log, error);
}

/* Each configuration between two runs of the recorded one. */
static int run_round(struct validation *validation, int round, FILE *log, struct error *error) {
    size_t n = validation->configurations.count;
    for (size_t i = 0; i < n; i++) {
        const struct configuration *next = &validation->configurations.items[i];
        double done =
            (double)((size_t)(round - 1) * n + i) / (double)((size_t)validation->options->runs * n);
        progress_show("measuring", done);
        if (!same_configuration(next, &validation->recorded) &&
            measure_recorded(validation, round, log, error) < 0)
            return -1;
        if (measure(validation, next, false, round, log, error) < 0)
            return -1;
    }
    return measure_recorded(validation, round, log, error);
}

/* Round after round, so that a slow minute of the machine falls on all configurations alike. */
static int run_rounds(struct validation *validation, FILE *log, struct error *error) {
    for (int round = 1; round <= validation->options->runs; round++)
        if (run_round(validation, round, log, error) < 0)
            return -1;
    progress_end();
    warn_of_disturbance(&validation->disturbance);
    return 0;
}

/* A program that does not run must not cost an earlier file of measurements. */
static int warm_up(struct validation *validation, struct error *error) {
    char *program = programs_resolve(validation->options->program[0], error);
    if (!program)
        return -1;
    free(program);
    struct program_run run;
    progress_show("warming up", -1);
    return run_once(validation, &validation->configurations.items[0], &run, error);
}

/* Run for run, so that what was measured outlives an end before time. Not through links that others
 * may have made, but those of /dev are the system's. */
static FILE *open_log(const char *path) {
    int follows = strncmp(path, "/dev/", strlen("/dev/")) == 0 ? 0 : O_NOFOLLOW;
    int descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | follows, 0666);
    return descriptor < 0 ? NULL : fdopen(descriptor, "w");
}

static int measure_all(struct validation *validation, struct error *error) {
    if (rerun_keep_input(error) < 0 || warm_up(validation, error) < 0)
        return -1;
    const char *path = validation->options->measurements;
    FILE *log = NULL;
    if (path) {
        log = open_log(path);
        if (!log)
            return error_set(error, "cannot write %s: %s: choose another file", path,
                             errno == ELOOP ? "it is a symbolic link" : strerror(errno));
        measurements_write_header(log);
    }
    int status = run_rounds(validation, log, error);
    if (log && fclose(log) != 0 && status == 0)
        status = error_set(error, "cannot write %s: %s: is the disk full?", path, strerror(errno));
    return status;
}

/* What has been measured until a signal came is in the file of --measurements. */
static int measure_interruptibly(struct validation *validation, struct error *error) {
    interrupt_begin();
    int status = measure_all(validation, error);
    interrupt_end();
    return status;
}

/* ---- the command ---- */

static void explain_refusals(const struct validation *validation) {
    const struct prediction **all = memory_alloc(validation->n_predicted, sizeof(void *));
    for (size_t i = 0; i < validation->n_predicted; i++)
        all[i] = &validation->comparisons[i].prediction;
    prediction_explain_refusals(all, validation->n_predicted, stdout);
    free(all);
}

static struct reference reference_of(const struct validation *validation,
                                     const struct model *model) {
    const struct configuration *recorded = &validation->recorded;
    return (struct reference){.threads = recorded->threads ? recorded->threads->label : NULL,
                              .cores = recorded->cores,
                              .cpu_ns = model->plain_cpu_ns,
                              .one_core_cpu_ns = model->one_core_cpu_ns,
                              .spread = model->plain_cpu_spread};
}

static int print_comparisons(struct validation *validation, const struct model *model,
                             struct error *error) {
    size_t n = validation->configurations.count;
    struct measurements *measurements = &validation->measurements;
    const struct reference reference = reference_of(validation, model);
    for (size_t i = 0; i < n; i++) {
        const struct configuration *configuration = &validation->configurations.items[i];
        struct comparison *comparison = &validation->comparisons[i];
        const struct measurement *measurement =
            measurements_get(measurements, configuration->threads->label, configuration->cores);
        comparison->measurement = measurement;
        const struct uncertainty parts = prediction_uncertainty(&comparison->prediction);
        comparison->uncertainty = uncertainty_share(&parts);
        comparison->equal_speed_ns = drift_equal_speed_ns(measurements, measurement, &reference);
        comparison->equal_speed_squares = drift_squares(measurements, measurement, &reference);
    }
    const char *program = model->program ? model->program : "";
    if (validation->options->svg)
        return comparison_draw(validation->comparisons, n, program, error);
    comparison_print(validation->comparisons, n, program, measurements, &reference,
                     validation->options->format, stdout);
    if (validation->options->format == FORMAT_TABLE)
        explain_refusals(validation);
    return 0;
}

static int validate(struct validation *validation, struct model *model, struct error *error) {
    const struct validate_options *options = validation->options;
    if (options->svg && comparison_can_draw(error) < 0)
        return -1;
    if (repartitions_apply(&options->repartitions, model, error) < 0)
        return -1;
    repartitions_warn(model);
    if (options->repartitions.count == 0 && !options->model)
        validation->others = other_models_load(options->common.directory);
    if (options->reuse) {
        if (measurements_load(options->reuse, &validation->measurements, error) < 0 ||
            list_measured(validation, error) < 0)
            return -1;
    }
    find_recorded(validation, model);
    if (predict_all(validation, model, error) < 0)
        return -1;
    if (!options->reuse && measure_interruptibly(validation, error) < 0)
        return -1;
    return print_comparisons(validation, model, error);
}

static bool lacks_figures(const struct validation *validation) {
    for (size_t i = 0; i < validation->n_predicted; i++)
        if (validation->comparisons[i].prediction.no_figures)
            return true;
    return false;
}

static void free_validation(struct validation *validation) {
    for (size_t i = 0; i < validation->n_predicted; i++)
        prediction_free(&validation->comparisons[i].prediction);
    free(validation->comparisons);
    for (size_t i = 0; i < validation->n_sweeps; i++)
        thread_sweep_free(&validation->sweeps[i]);
    thread_sweep_free(&validation->recorded_sweep);
    free(validation->sweeps);
    free(validation->configurations.items);
    measurements_free(&validation->measurements);
    other_models_free(&validation->others);
}

/* A server, under its load. */
static int validate_served(const struct validate_options *options, struct model *model,
                           bool *no_figures, struct error *error) {
    const struct served_validation validation = {.program = options->program,
                                                 .plan = options->plan,
                                                 .sweep = options->sweep,
                                                 .rates = options->arrivals,
                                                 .clients = options->clients,
                                                 .runs = options->runs,
                                                 .config = options->config,
                                                 .format = options->format};
    if (repartitions_apply(&options->repartitions, model, error) < 0 ||
        network_apply(&options->network, model, error) < 0)
        return -1;
    repartitions_warn(model);
    return served_validation_run(&validation, model, no_figures, error);
}

static int command_served(struct validate_options *options) {
    struct error error;
    bool no_figures = false;
    struct model *model = prediction_load_model(options->common.directory, options->model, &error);
    int status = model ? validate_served(options, model, &no_figures, &error) : -1;
    free(options->repartitions.items);
    model_free(model);
    return status < 0 ? command_failed(&error) : no_figures ? EXIT_NO_FIGURES : 0;
}

int command_validate(int argc, char **argv) {
    struct validate_options options;
    argp_parse(&validate_argp, argc, argv, ARGP_IN_ORDER, NULL, &options);
    struct validation validation = {.options = &options};
    if (options.format == FORMAT_TABLE && !options.svg)
        text_page_begin();
    hooks_set(options.prepare, options.cleanup);
    if (options.plan.load)
        return command_served(&options);
    if (!options.reuse)
        list_configurations(&validation);
    struct error error;
    struct model *model = prediction_load_model(options.common.directory, options.model, &error);
    int status = model ? validate(&validation, model, &error) : -1;
    bool refused = lacks_figures(&validation);
    free_validation(&validation);
    free(options.repartitions.items);
    model_free(model);
    return status < 0 ? command_failed(&error) : refused ? EXIT_NO_FIGURES : 0;
}
