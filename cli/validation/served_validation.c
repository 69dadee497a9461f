#include "cli/validation/served_validation.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hooks.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/run_end.h"
#include "cli/arguments/options.h"
#include "cli/arguments/placeholder.h"
#include "cli/arguments/scope.h"
#include "cli/arguments/sweep.h"
#include "cli/prediction/load_table.h"
#include "cli/prediction/prediction.h"
#include "cli/prediction/uncertainty.h"
#include "cli/recording/programs.h"
#include "cli/validation/measured_sweep.h"
#include "cli/validation/measurement.h"
#include "formats/client_result.h"
#include "host/rerun.h"

/* What clients measure and a model predicts. */
enum figure { THROUGHPUT, RESPONSE, RESPONSE_P95, N_FIGURES };

struct configuration {
    const struct thread_choice *threads;
    int cores, rate_hz, clients; /* 0: none said */
    struct prediction prediction;
    double half_widths[N_FIGURES]; /* of the predicted ones, in parts of them */
    double *measured[N_FIGURES];   /* one per run */
    size_t n_runs;
    double errors; /* requests without an answer, all runs */
};

struct session {
    const struct served_validation *options;
    const struct model *model;
    struct thread_sweep sweep;
    struct {
        struct configuration *items;
        size_t count, capacity;
    } configurations;
    char *folder, *result; /* of the load's result */
    bool without_result;   /* some load wrote none */
};

/* ---- configurations ---- */

enum { MOST_RATE_HZ = 100000000, MOST_CLIENTS = 1000000 };

/* A list; without one a single 0. "/s" after a rate says nothing new. */
static struct int_list parse_list(const char *option, const char *text, int most) {
    struct int_list list = {0};
    struct error error;
    if (!text) {
        *VECTOR_ADD(&list) = 0;
        return list;
    }
    char *bare = memory_strdup(text);
    for (char *at; (at = strstr(bare, "/s"));)
        memmove(at, at + 2, strlen(at + 2) + 1);
    if (int_list_parse(option, bare, most, &list, &error) < 0)
        usage_error("%s", error.text);
    free(bare);
    return list;
}

/* Without it every run would be the same. */
static void check_used(const struct session *session, const char *option, const char *list,
                       const char *name) {
    if (list && !strstr(session->options->plan.load, name))
        usage_error("%s: the load holds no %s: every run would be the same", option, name);
}

static void list_configurations(struct session *session) {
    const struct served_validation *options = session->options;
    struct int_list cores = {0};
    measured_sweep_parse(&options->sweep, options->program, options->plan.load, &session->sweep,
                         &cores);
    check_used(session, "--arrivals", options->rates, "{rate}");
    check_used(session, "--clients", options->clients, "{clients}");
    struct int_list rates = parse_list("--arrivals", options->rates, MOST_RATE_HZ);
    struct int_list clients = parse_list("--clients", options->clients, MOST_CLIENTS);
    for (size_t c = 0; c < cores.count; c++)
        for (size_t t = 0; t < session->sweep.count; t++)
            for (size_t r = 0; r < rates.count; r++)
                for (size_t k = 0; k < clients.count; k++)
                    *VECTOR_ADD(&session->configurations) =
                        (struct configuration){.threads = &session->sweep.items[t],
                                               .cores = cores.items[c],
                                               .rate_hz = rates.items[r],
                                               .clients = clients.items[k]};
    free(cores.items);
    free(rates.items);
    free(clients.items);
}

/* ---- prediction: first, for it is quick and may fail ---- */

/* At a load without an end they follow from how far its saturation is. */
static int find_half_widths(const struct session *session, const struct sim_config *config,
                            struct configuration *configuration, struct error *error) {
    struct prediction *prediction = &configuration->prediction;
    const struct uncertainty parts = prediction_uncertainty(prediction);
    double share = uncertainty_share(&parts);
    struct load_row row = {.prediction = prediction};
    bool is_endless = load_is_endless(prediction, 1);
    int status = is_endless ? load_find_saturation(session->model, prediction, config,
                                                   &row.saturation, error)
                            : prediction_find_response_share(prediction, config, error);
    if (status < 0)
        return -1;
    double response = is_endless ? load_share_of_response(&row, share) : prediction->response_share;
    configuration->half_widths[THROUGHPUT] =
        is_endless ? load_share_of_throughput(&row, share) : share;
    configuration->half_widths[RESPONSE] = configuration->half_widths[RESPONSE_P95] = response;
    return 0;
}

static int predict(const struct session *session, struct configuration *configuration,
                   struct error *error) {
    struct sim_config config = session->options->config;
    config.arrival_rate_hz = configuration->rate_hz;
    config.clients = configuration->clients;
    char *why =
        configuration->rate_hz || configuration->clients ? scope_no_outside(session->model) : NULL;
    if (why) {
        configuration->prediction = (struct prediction){
            .threads = configuration->threads, .cores = configuration->cores, .no_figures = why};
        return 0;
    }
    if (prediction_make(session->model, configuration->threads, configuration->cores, &config,
                        &configuration->prediction, error) < 0)
        return -1;
    return find_half_widths(session, &config, configuration, error);
}

static int predict_all(struct session *session, struct error *error) {
    for (size_t i = 0; i < session->configurations.count; i++) {
        progress_show("simulating", (double)i / (double)session->configurations.count);
        if (predict(session, &session->configurations.items[i], error) < 0)
            return -1;
    }
    progress_end();
    return 0;
}

/* ---- measurement ---- */

static int make_result_folder(struct session *session, struct error *error) {
    const char *among = getenv("TMPDIR");
    char *folder = memory_format("%s/persik-load-XXXXXX", among ? among : "/tmp");
    if (!mkdtemp(folder)) {
        error_set(error, "cannot make the folder %s: %s: make room", folder, strerror(errno));
        free(folder);
        return -1;
    }
    session->folder = folder;
    session->result = memory_format("%s/result.json", session->folder);
    return 0;
}

static void remove_result_folder(const struct session *session) {
    unlink(session->result);
    rmdir(session->folder);
}

/* 0 also where the load wrote nothing: then nothing is known of it. */
static int take_result(struct session *session, struct configuration *configuration,
                       struct error *error) {
    struct client_result result = {
        .throughput_hz = NAN, .response_ns = NAN, .response_p95_ns = NAN};
    struct stat about;
    if (stat(session->result, &about) != 0)
        session->without_result = true;
    else if (client_result_read(session->result, &result, error) < 0)
        return -1;
    configuration->measured[THROUGHPUT][configuration->n_runs] = result.throughput_hz;
    configuration->measured[RESPONSE][configuration->n_runs] = result.response_ns;
    configuration->measured[RESPONSE_P95][configuration->n_runs] = result.response_p95_ns;
    configuration->n_runs++;
    configuration->errors += result.errors;
    return 0;
}

static int run_server(const struct session *session, const struct configuration *configuration,
                      struct error *error) {
    const struct served_validation *options = session->options;
    const struct placeholder_value more[] = {{"rate", configuration->rate_hz},
                                             {"clients", configuration->clients}};
    struct served_plan plan = options->plan;
    char *load = placeholder_fill_text(plan.load, configuration->threads, configuration->cores,
                                       more, sizeof more / sizeof *more);
    char **arguments =
        placeholder_fill(options->program, configuration->threads, configuration->cores);
    plan.load = load;
    plan.result = session->result;
    served_run_set(&plan);
    struct program_run run;
    int ended;
    int status = programs_measure(arguments, configuration->cores, &run, &ended, error);
    served_run_set(NULL);
    placeholder_free(arguments);
    free(load);
    return status;
}

static int measure(struct session *session, struct configuration *configuration,
                   struct error *error) {
    unlink(session->result);
    if (hooks_prepare(error) < 0)
        return -1;
    int status = run_server(session, configuration, error);
    hooks_cleanup();
    if (status == 0)
        status = take_result(session, configuration, error);
    return status == 0 ? 0
                       : error_prefix(error, "threads %s, cores %d", configuration->threads->label,
                                      configuration->cores);
}

/* Round after round, so that a slow minute of the machine falls on all configurations alike. */
static int run_rounds(struct session *session, struct error *error) {
    size_t n = session->configurations.count, runs = (size_t)session->options->runs;
    for (size_t i = 0; i < n * runs; i++) {
        progress_show("measuring", (double)i / (double)(n * runs));
        if (measure(session, &session->configurations.items[i % n], error) < 0)
            return -1;
    }
    progress_end();
    return 0;
}

static int measure_all(struct session *session, struct error *error) {
    size_t n = session->configurations.count;
    size_t runs = (size_t)session->options->runs;
    for (size_t i = 0; i < n; i++)
        for (int f = 0; f < N_FIGURES; f++)
            session->configurations.items[i].measured[f] = memory_alloc(runs, sizeof(double));
    if (rerun_keep_input(error) < 0 || make_result_folder(session, error) < 0)
        return -1;
    log_note("%zu run%s of the server, each as long as the load takes", n * runs,
             n * runs == 1 ? "" : "s");
    interrupt_begin();
    int status = run_rounds(session, error);
    interrupt_end();
    remove_result_folder(session);
    if (status == 0 && session->without_result)
        log_warning("the load did not write what its clients measured to $PERSIK_LOAD_RESULT, so "
                    "that nothing can be compared: `persik load` does");
    return status;
}

/* ---- printing ---- */

static const struct table_column columns[] = {
    {"threads", "threads"},
    {"cores", "cores"},
    {"arrivals_hz", "arrivals"},
    {"clients", "clients"},
    {"runs", NULL},
    {"measured_throughput_hz", "measured"},
    {"predicted_throughput_hz", "throughput"},
    {"predicted_throughput_hz_half_width", NULL},
    {"predicted_throughput_hz_simulation_half_width", NULL},
    {"throughput_error", "error"},
    {"measured_response_ns", "measured"},
    {"predicted_response_ns", "response mean"},
    {"predicted_response_ns_half_width", NULL},
    {"predicted_response_ns_simulation_half_width", NULL},
    {"response_error", "error"},
    {"measured_response_p95_ns", "measured"},
    {"predicted_response_p95_ns", "p95"},
    {"predicted_response_p95_ns_half_width", NULL},
    {"predicted_response_p95_ns_simulation_half_width", NULL},
    {"response_p95_error", "error"},
    {"errors", NULL},
    {"no_figures", NULL},
};

static const struct {
    enum unit unit;
    const char *name;
} figures[N_FIGURES] = {{UNIT_RATE, "throughput"},
                        {UNIT_TIME, "mean response time"},
                        {UNIT_TIME, "95 % response time"}};

/* Without tasks there is none of them. */
static struct estimate predicted(const struct configuration *configuration, enum figure figure) {
    const struct sim_result *result = &configuration->prediction.result;
    const struct estimate none = {NAN, NAN};
    if (!(result->tasks.mean > 0))
        return none;
    switch (figure) {
    case THROUGHPUT:
        return result->throughput_hz;
    case RESPONSE:
        return result->response_ns;
    default:
        return result->response_p95_ns;
    }
}

/* NaN where one run has none. */
static double median_measured(const struct configuration *configuration, enum figure figure) {
    for (size_t i = 0; i < configuration->n_runs; i++)
        if (isnan(configuration->measured[figure][i]))
            return NAN;
    return median_of(configuration->measured[figure], configuration->n_runs);
}

static double error_of(const struct configuration *configuration, enum figure figure) {
    return predicted(configuration, figure).mean / median_measured(configuration, figure) - 1;
}

static void add_row(struct table *table, const struct configuration *configuration) {
    if (configuration->threads->all)
        table_add_integer(table, configuration->threads->all);
    else
        table_add_text(table, configuration->threads->label);
    table_add_integer(table, configuration->cores);
    table_add_number(table, configuration->rate_hz ? configuration->rate_hz : NAN, UNIT_RATE);
    if (configuration->clients)
        table_add_integer(table, configuration->clients);
    else
        table_add_text(table, NULL);
    table_add_integer(table, (long)configuration->n_runs);
    for (enum figure f = 0; f < N_FIGURES; f++) {
        struct estimate value = predicted(configuration, f);
        table_add_number(table, median_measured(configuration, f), figures[f].unit);
        table_add_prediction(table, value, uncertainty_widen(value, configuration->half_widths[f]),
                             figures[f].unit);
        table_add_signed_share(table, error_of(configuration, f));
    }
    table_add_number(table, configuration->errors, UNIT_NONE);
    table_add_text(table, configuration->prediction.no_figures);
}

static void print_mean_error(const struct session *session, enum figure figure, FILE *out) {
    double sum = 0;
    size_t known = 0;
    for (size_t i = 0; i < session->configurations.count; i++) {
        double error = fabs(error_of(&session->configurations.items[i], figure));
        if (isfinite(error)) {
            sum += error;
            known++;
        }
    }
    if (known > 0)
        fprintf(out, "absolute error of the %s: mean %.1f %% of %zu configuration%s\n",
                figures[figure].name, 100 * sum / (double)known, known, known == 1 ? "" : "s");
}

static void print_text(const struct session *session, const struct table *table, FILE *out) {
    size_t n = session->configurations.count;
    table_print_text(table, out);
    fputc('\n', out);
    for (enum figure f = 0; f < N_FIGURES; f++)
        print_mean_error(session, f, out);
    double errors = 0;
    for (size_t i = 0; i < n; i++)
        errors += session->configurations.items[i].errors;
    if (errors > 0)
        fprintf(out, "%.0f requests were not answered.\n", errors);
    const struct prediction **all = memory_alloc(n, sizeof(void *));
    for (size_t i = 0; i < n; i++)
        all[i] = &session->configurations.items[i].prediction;
    prediction_explain_refusals(all, n, out);
    free(all);
}

static void print(const struct session *session, bool *no_figures) {
    struct table *table = table_new(columns, sizeof columns / sizeof *columns);
    TABLE_SPARE(table, "measured_response_ns", "predicted_response_ns", "response_error");
    for (size_t i = 0; i < session->configurations.count; i++) {
        add_row(table, &session->configurations.items[i]);
        *no_figures |= session->configurations.items[i].prediction.no_figures != NULL;
    }
    if (session->options->format == FORMAT_TABLE)
        print_text(session, table, stdout);
    else
        table_print(table, session->options->format, stdout);
    table_free(table);
}

static void free_session(struct session *session) {
    for (size_t i = 0; i < session->configurations.count; i++) {
        prediction_free(&session->configurations.items[i].prediction);
        for (int f = 0; f < N_FIGURES; f++)
            free(session->configurations.items[i].measured[f]);
    }
    free(session->configurations.items);
    thread_sweep_free(&session->sweep);
    free(session->folder);
    free(session->result);
}

int served_validation_run(const struct served_validation *validation, const struct model *model,
                          bool *no_figures, struct error *error) {
    struct session session = {.options = validation, .model = model};
    list_configurations(&session);
    int status = predict_all(&session, error);
    if (status == 0)
        status = measure_all(&session, error);
    if (status == 0)
        print(&session, no_figures);
    free_session(&session);
    return status;
}
