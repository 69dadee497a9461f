/* persik predict: simulates configurations and prints what they would do. */
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
#include "cli/judgement.h"
#include "cli/prediction/advice.h"
#include "cli/prediction/around_recorded.h"
#include "cli/prediction/assertions.h"
#include "cli/prediction/load_table.h"
#include "cli/prediction/other_models.h"
#include "cli/prediction/page_cache_resize.h"
#include "cli/prediction/prediction.h"
#include "cli/prediction/simulation_options.h"
#include "cli/prediction/sweep_options.h"
#include "cli/prediction/uncertainty.h"
#include "cli/recording/workspace.h"
#include "cli/report/html_report.h"
#include "cli/report/predict_report.h"
#include "formats/recorded_speed.h"

/* ---- options ---- */

enum { KEY_PRECISION = 0x3000, KEY_HTML, KEY_MEASUREMENTS, KEY_PAGE_CACHE };

struct predict_options {
    struct common_options common;
    struct simulation_options simulation;
    enum table_format format;
    struct sweep_options sweep;
    const char *html, *measurements; /* of the report; NULL: none */
    double page_cache_bytes;         /* 0: as recorded */
    struct assertions assertions;
};

static const struct argp_option options_list[] = {
    SWEEP_OPTIONS("such as 4, 1,2,4, 1:32, 1:32:4, or POOL=LIST,POOL=LIST (default: as profiled)",
                  "numbers of cores (default: as profiled)"),
    {"page-cache", KEY_PAGE_CACHE, "SIZE", 0,
     "as if the kernel's page cache held so much of the files that are read, such as 512M or 1G "
     "(default: as recorded)",
     1},
    {"precision", KEY_PRECISION, "SHARE", 0,
     "simulate until the interval is below this share (default: 1%; of a load without an end 5%)",
     2},
    {"html", KEY_HTML, "FILE", 0, "write the report of this prediction to FILE, too", 3},
    {"measurements", KEY_MEASUREMENTS, "FILE", 0,
     "with --html: mark the runs that persik validate --measurements wrote to FILE", 3},
    {0},
};

static error_t parse_predict(int key, char *argument, struct argp_state *state) {
    struct predict_options *options = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        *options = (struct predict_options){0};
        state->child_inputs[0] = &options->common;
        state->child_inputs[1] = &options->format;
        state->child_inputs[2] = &options->simulation;
        state->child_inputs[3] = &options->assertions;
        return 0;
    case KEY_PRECISION:
        options->simulation.config.precision =
            simulation_option_positive("--precision", argument, UNIT_SHARE, "1%");
        return 0;
    case KEY_PAGE_CACHE:
        options->page_cache_bytes =
            simulation_option_positive("--page-cache", argument, UNIT_BYTES, "512M");
        return 0;
    case KEY_HTML:
        options->html = argument;
        return 0;
    case KEY_MEASUREMENTS:
        options->measurements = argument;
        return 0;
    case ARGP_KEY_END:
        if (options->measurements && !options->html)
            usage_error("--measurements are for a report: give --html, too");
        return 0;
    case ARGP_KEY_ARG:
        usage_error("predict takes no argument '%s': the model knows its program", argument);
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

static const struct argp predict_argp = {
    .options = options_list,
    .parser = parse_predict,
    .doc = "Simulates the model in each configuration, every combination of --threads, --cores and "
           "load, and prints running time, throughput, response time and utilisation, each with "
           "the interval in which a real run is expected in 90 of 100 cases. Same model, same "
           "seed: same figures. A configuration in "
           "which the simulated threads come to wait for nothing, or whose number of threads the "
           "work follows nobody knows how, gets none: exit status 4.\v"
           "Examples:\n"
           "  persik predict --threads 16 --cores 8\n"
           "  persik predict --threads 1:32 --cores 1,2,4,8 --format csv\n"
           "  persik predict --threads workers=8,writers=2\n"
           "  persik predict --threads 1:16 --partition worker=fixed\n"
           "  persik predict --threads 4 --arrivals 120/s --assert 'p99<50ms'\n"
           "  persik predict --threads 1,2,4 --arrivals 100/s:1000/s:100/s\n"
           "  persik predict --clients 1,16,64 --think 10ms\n"
           "  persik predict --arrivals 500/s --network-latency 5ms \\\n"
           "      --network-bandwidth 100Mbit/s\n"
           "  persik predict --threads 1:16 --cores 1,2,4 --html report.html\n"
           "  persik predict --scale 'parse=0.5' --set 'jobs.capacity=64'\n"
           "  persik predict --threads 1,4 --page-cache 512M\n",
    .children = children,
};

/* ---- the sweep ---- */

struct sweep {
    struct thread_sweep threads;
    struct int_list cores; /* {0}: the model's own */
    struct prediction *predictions;
    size_t count;
    struct load_row *loads; /* one per prediction, where the load has no end; else NULL */
    struct changed_parts changed;
    struct other_models others; /* none where something is asked of the one model */
};

static void parse_sweep(const struct predict_options *options, struct sweep *sweep) {
    sweep_options_parse(&options->sweep, &sweep->threads, &sweep->cores);
    if (sweep->cores.count == 0)
        *VECTOR_ADD(&sweep->cores) = 0;
}

/* One configuration under all loads. */
static int run_loads(const struct predict_options *options, const struct model *model,
                     const struct thread_choice *threads, int cores, struct sweep *sweep,
                     struct error *error) {
    const struct load_sweep *loads = &options->simulation.loads;
    size_t total = sweep->threads.count * sweep->cores.count * loads->count;
    for (size_t i = 0; i < loads->count; i++) {
        struct sim_config config = options->simulation.config;
        config.arrival_rate_hz = loads->items[i].rate_hz;
        config.clients = loads->items[i].clients;
        progress_show("simulating", (double)sweep->count / (double)total);
        struct prediction *prediction = &sweep->predictions[sweep->count];
        if (other_models_predict(model, &sweep->others, threads, cores, &config, prediction,
                                 error) < 0)
            return -1;
        sweep->count++;
        if (prediction_find_response_share(prediction, &config, error) < 0)
            return -1;
    }
    return 0;
}

/* Once for each configuration; its loads stand in a row. */
static int find_saturations(const struct predict_options *options, const struct model *model,
                            struct sweep *sweep, struct error *error) {
    size_t n_loads = options->simulation.loads.count;
    sweep->loads = memory_alloc(sweep->count, sizeof *sweep->loads);
    for (size_t i = 0; i < sweep->count; i++) {
        struct load_row *row = &sweep->loads[i];
        row->prediction = &sweep->predictions[i];
        if (i % n_loads > 0)
            row->saturation = sweep->loads[i - 1].saturation;
        else if (load_find_saturation(model, row->prediction, &options->simulation.config,
                                      &row->saturation, error) < 0)
            return -1;
    }
    return 0;
}

static int run_sweep(const struct predict_options *options, const struct model *model,
                     struct sweep *sweep, struct error *error) {
    size_t configurations = sweep->threads.count * sweep->cores.count;
    sweep->predictions =
        memory_alloc(configurations * options->simulation.loads.count, sizeof *sweep->predictions);
    int status = 0;
    for (size_t c = 0; c < sweep->cores.count && status == 0; c++)
        for (size_t t = 0; t < sweep->threads.count && status == 0; t++)
            status = run_loads(options, model, &sweep->threads.items[t], sweep->cores.items[c],
                               sweep, error);
    if (status == 0 && load_is_endless(sweep->predictions, sweep->count))
        status = find_saturations(options, model, sweep, error);
    progress_end();
    return status;
}

static void free_sweep(struct sweep *sweep) {
    for (size_t i = 0; i < sweep->count; i++)
        prediction_free(&sweep->predictions[i]);
    free(sweep->predictions);
    free(sweep->loads);
    changed_parts_free(&sweep->changed);
    other_models_free(&sweep->others);
    thread_sweep_free(&sweep->threads);
    free(sweep->cores.items);
}

/* ---- the main table ---- */

/* The half width is the model's uncertainty (cli/prediction/uncertainty.h). */
static const struct table_column sweep_columns[] = {
    {"threads", "threads"},
    {"cores", "cores"},
    FIGURE_COLUMNS("run_ns", "running time"),
    {"speedup", "speed-up"},
    FIGURE_COLUMNS("throughput_hz", "throughput"),
    FIGURE_COLUMNS("response_ns", "response mean"),
    FIGURE_COLUMNS("response_p50_ns", "p50"),
    FIGURE_COLUMNS("response_p95_ns", "p95"),
    FIGURE_COLUMNS("response_p99_ns", "p99"),
    FIGURE_COLUMNS("cpu_utilisation", "CPU"),
    FIGURE_COLUMNS("disk_utilisation", "disk"),
    {"replications", NULL},
    {"no_figures", NULL},
};
enum { SWEEP_COLUMNS = sizeof sweep_columns / sizeof *sweep_columns };
enum {
    COLUMN_THROUGHPUT = 6,
    COLUMN_RESPONSE_FIRST = 9,
    COLUMN_RESPONSE_LAST = 20,
    COLUMN_DISK = 24
};

/* People are spared columns that say nothing: no tasks, no disk. */
static void choose_columns(const struct sweep *sweep, struct table_column *columns) {
    bool tasks = false;
    bool responses = false;
    bool disk = false;
    for (size_t i = 0; i < sweep->count; i++) {
        tasks |= sweep->predictions[i].result.tasks.mean > 0;
        responses |= sweep->predictions[i].result.response_ns.mean > 0;
        disk |= sweep->predictions[i].result.disk_utilisation.mean > 0;
    }
    memcpy(columns, sweep_columns, sizeof sweep_columns);
    if (!tasks)
        columns[COLUMN_THROUGHPUT].title = NULL;
    for (int i = COLUMN_RESPONSE_FIRST; i <= COLUMN_RESPONSE_LAST && !responses; i++)
        columns[i].title = NULL;
    if (!disk)
        columns[COLUMN_DISK].title = NULL;
}

/* A time or a rate. */
static void add_predicted(struct table *table, struct estimate estimate, double uncertainty,
                          enum unit unit) {
    table_add_prediction(table, estimate, uncertainty_widen(estimate, uncertainty), unit);
}

static void add_utilisation(struct table *table, struct estimate estimate, double uncertainty) {
    table_add_prediction(table, estimate, uncertainty_widen_utilisation(estimate, uncertainty),
                         UNIT_SHARE);
}

static void add_task_cells(struct table *table, const struct prediction *prediction,
                           double uncertainty) {
    const struct sim_result *result = &prediction->result;
    const struct estimate none = {NAN, NAN};
    bool tasks = result->tasks.mean > 0;
    add_predicted(table, tasks ? result->throughput_hz : none, uncertainty, UNIT_RATE);
    /* 0: the model marks where tasks end, not where they begin. */
    bool response = tasks && result->response_ns.mean > 0;
    const struct estimate responses[] = {result->response_ns, result->response_p50_ns,
                                         result->response_p95_ns, result->response_p99_ns};
    for (size_t i = 0; i < sizeof responses / sizeof *responses; i++)
        add_predicted(table, response ? responses[i] : none, prediction->response_share, UNIT_TIME);
}

static void add_sweep_row(struct table *table, const struct prediction *prediction,
                          double compared_ns) {
    const struct sim_result *result = &prediction->result;
    prediction_add_threads(table, prediction);
    table_add_integer(table, prediction->cores);
    const struct uncertainty parts = prediction_uncertainty(prediction);
    double uncertainty = uncertainty_share(&parts);
    add_predicted(table, result->run_ns, uncertainty, UNIT_TIME);
    table_add_number(table, compared_ns / result->run_ns.mean, UNIT_NONE);
    add_task_cells(table, prediction, uncertainty);
    add_utilisation(table, result->cpu_utilisation, uncertainty_share_of_cpu(&parts));
    add_utilisation(table, result->disk_utilisation, uncertainty);
    table_add_integer(table, result->replications);
    table_add_text(table, prediction->no_figures);
}

/* What speed-ups are given against: the first configuration that has figures. */
static double first_run_ns(const struct sweep *sweep) {
    for (size_t i = 0; i < sweep->count; i++)
        if (!sweep->predictions[i].no_figures)
            return sweep->predictions[i].result.run_ns.mean;
    return NAN;
}

static struct table *sweep_table(const struct sweep *sweep, const struct table_column *columns) {
    struct table *table = table_new(columns, SWEEP_COLUMNS);
    TABLE_SPARE(table, "disk_utilisation", "response_p50_ns", "response_p95_ns", "response_ns");
    double compared_ns = first_run_ns(sweep);
    for (size_t i = 0; i < sweep->count; i++)
        add_sweep_row(table, &sweep->predictions[i], compared_ns);
    return table;
}

/* ---- details of one configuration ---- */

static const struct table_column pool_columns[] = {
    {"pool", "pool"},
    {"threads", "threads"},
    {"cpu_ns", "computing"},
    {"cpu_ns_simulation_half_width", NULL},
    {"ready_ns", "waiting for a core"},
    {"ready_ns_simulation_half_width", NULL},
    {"blocked_ns", "blocked"},
    {"blocked_ns_simulation_half_width", NULL},
};

static struct table *pool_table(const struct prediction *prediction) {
    const struct sim_result *result = &prediction->result;
    struct table *table = table_new(pool_columns, sizeof pool_columns / sizeof *pool_columns);
    for (size_t i = 0; i < result->n_pools; i++) {
        const struct sim_pool_result *pool = &result->pools[i];
        table_add_text(table, prediction->model->pools[i].name);
        table_add_integer(table, pool->threads);
        table_add_simulated(table, pool->cpu_ns, UNIT_TIME);
        table_add_simulated(table, pool->ready_ns, UNIT_TIME);
        table_add_simulated(table, pool->blocked_ns, UNIT_TIME);
    }
    return table;
}

static const struct table_column object_columns[] = {
    {"object", "object"},
    {"kind", "kind"},
    {"operations", "operations"},
    {"operations_simulation_half_width", NULL},
    {"waits", "waits"},
    {"waits_simulation_half_width", NULL},
    {"wait_ns", "mean wait"},
    {"wait_ns_simulation_half_width", NULL},
    {"total_wait_ns", "total wait"},
    {"utilisation", "in use"},
    {"utilisation_simulation_half_width", NULL},
    {"length", "length"},
    {"length_simulation_half_width", NULL},
};

static double total_wait_ns(const struct sim_object_result *object) {
    return object->waits.mean * object->wait_ns.mean;
}

static int compare_total_wait(const void *left, const void *right, void *objects) {
    double a = total_wait_ns((const struct sim_object_result *)objects + *(const size_t *)left);
    double b = total_wait_ns((const struct sim_object_result *)objects + *(const size_t *)right);
    if (a != b)
        return a < b ? 1 : -1;
    return *(const size_t *)left < *(const size_t *)right ? -1 : 1;
}

static void add_object_row(struct table *table, const struct object *object,
                           const struct sim_object_result *result) {
    table_add_text(table, object->name);
    table_add_text(table, object_kind_name(object->kind));
    table_add_simulated(table, result->operations, UNIT_NONE);
    table_add_simulated(table, result->waits, UNIT_NONE);
    table_add_simulated(table, result->wait_ns, UNIT_TIME);
    table_add_number(table, total_wait_ns(result), UNIT_TIME);
    table_add_simulated(table, result->utilisation, UNIT_SHARE);
    table_add_simulated(table, result->length, UNIT_NONE);
}

/* The `limit` objects with the longest total waiting, longest first. */
static struct table *object_table(const struct prediction *prediction, size_t limit) {
    const struct sim_result *result = &prediction->result;
    const struct object *objects = prediction->model->objects;
    size_t *order = memory_alloc(result->n_objects, sizeof *order);
    for (size_t i = 0; i < result->n_objects; i++)
        order[i] = i;
    if (result->n_objects > 0)
        qsort_r(order, result->n_objects, sizeof *order, compare_total_wait, result->objects);
    struct table *table = table_new(object_columns, sizeof object_columns / sizeof *object_columns);
    TABLE_SPARE(table, "length", "operations", "wait_ns");
    for (size_t i = 0; i < result->n_objects && i < limit; i++)
        add_object_row(table, &objects[order[i]], &result->objects[order[i]]);
    free(order);
    return table;
}

/* ---- printing ---- */

enum { SHOWN_OBJECTS = 10 };

static void print_details(const struct prediction *prediction) {
    const struct sim_result *result = &prediction->result;
    struct table *pools = pool_table(prediction);
    printf(result->regime == REGIME_ENDING ? "\nTime of a thread:\n"
                                           : "\nTime of a thread, of what was simulated:\n");
    table_print_text(pools, stdout);
    table_free(pools);
    if (result->n_objects == 0)
        return;
    struct table *objects = object_table(prediction, SHOWN_OBJECTS);
    printf("\nWaiting for locks, queues and other threads:\n");
    table_print_text(objects, stdout);
    table_free(objects);
}

/* What is unknown has been warned of. */
static void print_rule(const struct pool *pool) {
    if (!pool->rule || !*pool->rule || pool->partition == PARTITION_UNKNOWN)
        return;
    if (pool->confidence > 0 && pool->confidence < 1)
        log_note("%s: %s, confidence %.0f %%", pool->name, pool->rule, 100 * pool->confidence);
    else
        log_note("%s: %s", pool->name, pool->rule);
}

/* What the intervals are made of, and what of them is the simulation's. */
static void print_uncertainty(const struct prediction *prediction) {
    const struct uncertainty parts = prediction_uncertainty(prediction);
    const struct estimate *run_ns = &prediction->result.run_ns;
    log_debug(
        "threads %s, cores %d: the interval is ±%.1f %%, from self-check %.1f %%, spread of "
        "runs %.1f %%, rules %.1f %%, not modelled %.1f %%, other threads %.1f %%, other cores "
        "%.1f %%, sharing %.1f %%, where cores are %.1f %%, locks between cores %.1f %%, one core "
        "%.1f %%, slowed "
        "cores %.1f %%; the simulation's own is ±%.2g %%",
        prediction->threads->label, prediction->cores, 100 * uncertainty_share(&parts),
        100 * parts.self_check, 100 * parts.spread, 100 * parts.rules, 100 * parts.not_modelled,
        100 * parts.threads, 100 * parts.cores, 100 * parts.sharing, 100 * parts.placement,
        100 * parts.moved_locks, 100 * parts.one_core, 100 * parts.pace,
        100 * run_ns->half_width / run_ns->mean);
}

static void print_pace(const struct model *model) {
    if (model->slowed_share > 0)
        log_note("the cores were slowed by %.0f %% when this was recorded, which times and their "
                 "intervals have in them: record again with --steady for narrower ones",
                 100 * (1 / (1 - model->slowed_share) - 1));
}

/* A model that misses its own recorded run is no better elsewhere. */
static void print_misses(const struct model *model) {
    for (size_t i = 0; i < model->n_checks; i++) {
        const struct model_check *check = &model->checks[i];
        double error = check->simulated / check->measured - 1;
        if (fabs(error) > judgement.noted_miss)
            log_warning(
                "the model misses the %s of its own recorded run by %+.1f %%: expect as much "
                "of these figures",
                check->what, 100 * error);
    }
}

/* One core shows nothing of what several cost each other. Under load each configuration is told at
 * its saturation, too. */
static void warn_of_more_cores(const struct model *model, const struct sweep *sweep) {
    bool keeps_several = false;
    for (size_t i = 0; i < sweep->count; i++) {
        const struct prediction *prediction = &sweep->predictions[i];
        keeps_several |=
            !prediction->no_figures && prediction->cores > 1 &&
            (sweep->loads || prediction_busy_cores(prediction) >= RECORDED_SEVERAL_CORES);
    }
    double recorded = model->machine.busy_cores; /* 0: not known */
    if (keeps_several && recorded > 0 && recorded < RECORDED_SEVERAL_CORES)
        log_warning("the recorded run kept %.2g cores busy: what several cost each other, by "
                    "memory, shared data and locks of the kernel, is in no figure for more",
                    recorded);
}

static void print_reservations(const struct model *model, const struct sweep *sweep) {
    print_misses(model);
    print_pace(model);
    warn_of_more_cores(model, sweep);
    for (size_t i = 0; i < model->n_pools; i++)
        print_rule(&model->pools[i]);
    if (model->n_notes > 0)
        log_note("%zu %s not modelled exactly: `persik graph` lists them", model->n_notes,
                 model->n_notes == 1 ? "thing is" : "things are");
}

static json_t *prediction_json(const struct prediction *prediction) {
    if (prediction->no_figures)
        return json_pack("{s:n, s:n}", "pools", "objects");
    struct table *pools = pool_table(prediction);
    struct table *objects = object_table(prediction, SIZE_MAX);
    const struct uncertainty parts = prediction_uncertainty(prediction);
    json_t *json = json_pack("{s:o, s:o, s:o}", "uncertainty", uncertainty_json(&parts), "pools",
                             table_json(pools), "objects", table_json(objects));
    table_free(pools);
    table_free(objects);
    return json;
}

/* The caller owns it. */
static json_t *sweep_json(const struct predict_options *options, const struct model *model,
                          const struct sweep *sweep, const struct table *table) {
    json_t *rows = table_json(table);
    for (size_t i = 0; i < sweep->count; i++) {
        json_t *details = prediction_json(&sweep->predictions[i]);
        json_object_update(json_array_get(rows, i), details);
        json_decref(details);
    }
    json_t *json =
        json_pack("{s:s, s:I, s:o}", "program", model->program ? model->program : "", "seed",
                  (json_int_t)options->simulation.config.seed, "configurations", rows);
    if (sweep->changed.count > 0)
        json_object_set_new(json, "changed", changed_parts_json(&sweep->changed));
    return json;
}

static size_t explain_refusals(const struct sweep *sweep) {
    const struct prediction **all = memory_alloc(sweep->count, sizeof(void *));
    for (size_t i = 0; i < sweep->count; i++)
        all[i] = &sweep->predictions[i];
    size_t refused = prediction_explain_refusals(all, sweep->count, stdout);
    free(all);
    return refused;
}

static void print_advice(const struct model *model, const struct sweep *sweep) {
    struct advice advice = advice_of(model, sweep->predictions, sweep->loads, sweep->count);
    advice_print(&advice, stdout);
    advice_free(&advice);
}

static void print_sweep(const struct predict_options *options, const struct model *model,
                        const struct sweep *sweep) {
    struct table_column columns[SWEEP_COLUMNS];
    choose_columns(sweep, columns);
    struct table *table =
        sweep->loads ? load_table(model, sweep->loads, sweep->count) : sweep_table(sweep, columns);
    switch (options->format) {
    case FORMAT_TABLE:
        changed_parts_print(&sweep->changed, stdout);
        table_print_text(table, stdout);
        if (sweep->loads)
            load_print_saturation(model, sweep->loads, sweep->count, stdout);
        print_advice(model, sweep);
        if (explain_refusals(sweep) == 0 && sweep->count == 1)
            print_details(&sweep->predictions[0]);
        print_reservations(model, sweep);
        for (size_t i = 0; i < sweep->count; i++)
            print_uncertainty(&sweep->predictions[i]);
        break;
    case FORMAT_CSV:
        table_print_csv(table, stdout);
        break;
    case FORMAT_JSON:
        table_print_json(sweep_json(options, model, sweep, table), stdout);
        break;
    }
    table_free(table);
}

static int write_html(const struct predict_options *options, const struct model *model,
                      const struct sweep *sweep, struct html_report report, struct error *error) {
    struct table_column columns[SWEEP_COLUMNS];
    choose_columns(sweep, columns);
    struct table *table =
        sweep->loads ? load_table(model, sweep->loads, sweep->count) : sweep_table(sweep, columns);
    json_t *json = sweep_json(options, model, sweep, table);
    report.model = model;
    report.prediction = json;
    report.figures = table;
    /* A model from elsewhere may be of another program than what was recorded here. */
    const char *directory = options->simulation.model ? NULL : options->common.directory;
    int status = html_report_of(options->html, directory, options->measurements, report, error);
    json_decref(json);
    table_free(table);
    return status;
}

/* ---- for a report, of what nobody has named ---- */

/* How much the recorded configuration can do; NAN: the model marks no tasks. */
static int find_most(const struct predict_options *options, const struct model *model,
                     double *saturation_hz, struct error *error) {
    const struct thread_choice own = {.label = "own"};
    struct prediction prediction;
    struct saturation saturation;
    const struct sim_config *config = &options->simulation.config;
    if (prediction_make(model, &own, 0, config, &prediction, error) < 0)
        return -1;
    int status = load_find_saturation(model, &prediction, config, &saturation, error);
    *saturation_hz = status < 0 ? NAN : saturation.throughput_hz.mean;
    prediction_free(&prediction);
    return status;
}

/* Loads for the recorded configuration, where tasks come from outside; else configurations. */
static int sweep_around(struct predict_options *options, const struct model *model,
                        struct sweep *sweep, struct error *error) {
    double saturation_hz = NAN;
    if (around_recorded_is_served(model) && find_most(options, model, &saturation_hz, error) < 0)
        return -1;
    bool by_load = saturation_hz > 0;
    char *rates = by_load ? around_recorded_rates(saturation_hz) : NULL;
    char *threads = by_load ? NULL : around_recorded_threads(model);
    char *cores = by_load ? NULL : around_recorded_cores(model);
    options->sweep = (struct sweep_options){threads, cores};
    parse_sweep(options, sweep);
    int status = load_sweep_parse(rates, NULL, &options->simulation.loads, error);
    if (status == 0)
        status = run_sweep(options, model, sweep, error);
    free(rates);
    free(threads);
    free(cores);
    return status;
}

static int report_of_model(struct predict_options *options, const struct model *model,
                           const struct html_report *report, struct error *error) {
    struct sweep sweep = {0};
    int status = sweep_around(options, model, &sweep, error);
    if (status == 0) {
        status = write_html(options, model, &sweep, *report, error);
    } else { /* what was recorded can be shown all the same */
        struct html_report rest = *report;
        log_warning("the report has no prediction: %s", error->text);
        rest.model = model;
        status = html_report_of(options->html, options->common.directory, options->measurements,
                                rest, error);
    }
    free_sweep(&sweep);
    free(options->simulation.loads.items);
    return status;
}

int predict_report(const char *path, const char *directory, const char *measurements,
                   const struct html_report *report, struct error *error) {
    struct predict_options options = {.common.directory = directory,
                                      .simulation.config.seed = 1,
                                      .html = path,
                                      .measurements = measurements};
    if (!workspace_has(directory, WORKSPACE_MODEL))
        return html_report_of(path, directory, measurements, *report, error);
    struct model *model = prediction_load_model(directory, NULL, error);
    int status = model ? report_of_model(&options, model, report, error) : -1;
    model_free(model);
    return status;
}

/* ---- the command ---- */

static bool lacks_figures(const struct sweep *sweep) {
    for (size_t i = 0; i < sweep->count; i++)
        if (sweep->predictions[i].no_figures)
            return true;
    return false;
}

static int predict(const struct predict_options *options, const struct model *model,
                   struct sweep *sweep) {
    struct error error;
    if (options->html && html_report_check(options->html, &error) < 0)
        return command_failed(&error);
    if (run_sweep(options, model, sweep, &error) < 0)
        return command_failed(&error);
    const struct prediction *worst = NULL, *crowded = NULL;
    for (size_t i = 0; i < sweep->count; i++) {
        worst = prediction_more_stalled(worst, &sweep->predictions[i]);
        crowded = prediction_more_crowded(crowded, &sweep->predictions[i]);
    }
    prediction_warn_of_stalls(worst);
    prediction_warn_of_crowd(crowded);
    repartitions_warn(model);
    scope_warn(model);
    print_sweep(options, model, sweep);
    const struct html_report nothing_yet = {0};
    if (options->html && write_html(options, model, sweep, nothing_yet, &error) < 0)
        return command_failed(&error);
    int status = assertions_check(&options->assertions, sweep->predictions, sweep->count);
    return status ? status : lacks_figures(sweep) ? EXIT_NO_FIGURES : 0;
}

/* Is nothing asked of the model that the recordings with other numbers of threads know nothing of?
 */
static bool is_as_recorded(const struct predict_options *options,
                           const struct changed_parts *changed) {
    const struct simulation_options *simulation = &options->simulation;
    return changed->count == 0 && simulation->repartitions.count == 0 && !simulation->model;
}

int command_predict(int argc, char **argv) {
    struct predict_options options;
    argp_parse(&predict_argp, argc, argv, 0, NULL, &options);
    struct sweep sweep = {0};
    simulation_options_finish(&options.simulation);
    parse_sweep(&options, &sweep);
    struct error error;
    struct model *model = simulation_options_load(&options.simulation, options.common.directory,
                                                  &sweep.changed, &error);
    bool is_resized =
        model && (options.page_cache_bytes == 0 ||
                  page_cache_resize(model, options.page_cache_bytes, &sweep.changed, &error) == 0);
    if (is_resized && is_as_recorded(&options, &sweep.changed))
        sweep.others = other_models_load(options.common.directory);
    int status = is_resized ? predict(&options, model, &sweep) : command_failed(&error);
    free_sweep(&sweep);
    model_free(model);
    free(options.assertions.items);
    simulation_options_free(&options.simulation);
    return status;
}
