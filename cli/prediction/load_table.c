#include "cli/prediction/load_table.h"

#include <math.h>
#include <string.h>

#include "base/log.h"
#include "cli/prediction/network.h"

/* Of the most throughput, which is the sweep's own figure. */
#define SATURATION_PRECISION 0.01

bool load_is_endless(const struct prediction *predictions, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (predictions[i].result.regime != REGIME_ENDING)
            return true;
    return false;
}

int load_find_saturation(const struct model *model, const struct prediction *prediction,
                         const struct sim_config *base, struct saturation *saturation,
                         struct error *error) {
    *saturation = (struct saturation){.throughput_hz = {NAN, NAN}, .share = NAN};
    if (prediction->no_figures || !(prediction->result.tasks.mean > 0))
        return 0;
    struct sim_config config = *base;
    struct sim_result result;
    prediction_configure(prediction, &config);
    config.arrival_rate_hz = config.think_ns = 0;
    config.clients = 0;
    config.is_saturated = true;
    config.precision = SATURATION_PRECISION;
    if (sim_predict(model, &config, &result, error) < 0)
        return -1;
    const struct uncertainty parts =
        uncertainty_find(model, prediction->pool_threads, prediction->cores,
                         result.cpu_utilisation.mean * prediction->cores);
    saturation->throughput_hz = result.throughput_hz;
    saturation->share = uncertainty_share(&parts);
    saturation->full = network_full_link(model, &result);
    sim_result_free(&result);
    return 0;
}

/* ---- the table ---- */

static const struct table_column columns[] = {
    {"threads", "threads"},
    {"cores", "cores"},
    {"arrivals_hz", "arrivals"},
    {"clients", "clients"},
    FIGURE_COLUMNS("throughput_hz", "throughput"),
    FIGURE_COLUMNS("response_ns", "response mean"),
    FIGURE_COLUMNS("response_p50_ns", "p50"),
    FIGURE_COLUMNS("response_p95_ns", "p95"),
    FIGURE_COLUMNS("response_p99_ns", "p99"),
    FIGURE_COLUMNS("cpu_utilisation", "CPU"),
    FIGURE_COLUMNS("disk_utilisation", "disk"),
    {"queue_length", "queue"},
    {"growth_hz", "grows"},
    FIGURE_COLUMNS("saturation_hz", NULL),
    {"load", NULL},
    {"replications", NULL},
    {"no_figures", NULL},
};

static const char *regime_name(enum sim_regime regime) {
    return regime == REGIME_GROWING     ? "above saturation"
           : regime == REGIME_UNSETTLED ? "near saturation"
                                        : "steady";
}

/* Of all queues that get their items from outside. */
static double queue_length(const struct model *model, const struct sim_result *result) {
    double length = 0;
    for (size_t i = 0; i < result->n_objects; i++)
        if (model->objects[i].interarrival_ns.kind != DIST_NONE || model->objects[i].clients > 0)
            length += result->objects[i].length.mean;
    return length;
}

static double busy_share(const struct load_row *row) {
    return row->prediction->result.throughput_hz.mean / row->saturation.throughput_hz.mean;
}

double load_share_of_throughput(const struct load_row *row, double share) {
    const struct sim_result *result = &row->prediction->result;
    double busy = fmin(busy_share(row), 1);
    if (isnan(busy) || result->regime != REGIME_STEADY)
        return share;
    return result->clients > 0 ? share * busy : uncertainty_share_of_open_throughput(share, busy);
}

double load_share_of_response(const struct load_row *row, double share) {
    const struct sim_result *result = &row->prediction->result;
    double busy = fmin(busy_share(row), 1);
    if (isnan(busy))
        return share;
    if (result->clients == 0)
        return uncertainty_share_of_open_response(share, busy);
    double cycle_ns = result->clients * 1e9 / result->throughput_hz.mean;
    return uncertainty_share_of_closed_response(share, busy, cycle_ns / result->response_ns.mean);
}

static void add_responses(struct table *table, const struct load_row *row, double share) {
    const struct sim_result *result = &row->prediction->result;
    const struct estimate responses[] = {result->response_ns, result->response_p50_ns,
                                         result->response_p95_ns, result->response_p99_ns};
    bool has_some = result->response_ns.mean > 0;
    double wide = load_share_of_response(row, share);
    for (size_t i = 0; i < sizeof responses / sizeof *responses; i++) {
        struct estimate shown = has_some ? responses[i] : (struct estimate){NAN, NAN};
        struct estimate widened = uncertainty_widen(shown, wide);
        table_add_prediction(table, shown, widened, UNIT_TIME);
    }
}

static void add_saturation(struct table *table, const struct saturation *saturation) {
    table_add_prediction(table, saturation->throughput_hz,
                         uncertainty_widen(saturation->throughput_hz, saturation->share),
                         UNIT_RATE);
}

static void add_row(struct table *table, const struct model *model, const struct load_row *row) {
    const struct prediction *prediction = row->prediction;
    const struct sim_result *result = &prediction->result;
    const struct uncertainty parts = prediction_uncertainty(prediction);
    double share = uncertainty_share(&parts);
    bool grows = result->regime == REGIME_GROWING;
    bool is_open = result->offered_hz > 0;
    prediction_add_threads(table, prediction);
    table_add_integer(table, prediction->cores);
    table_add_number(table, is_open ? result->offered_hz : NAN, UNIT_RATE);
    table_add_number(table, result->clients > 0 ? result->clients : NAN, UNIT_NONE);
    table_add_prediction(
        table, result->throughput_hz,
        uncertainty_widen(result->throughput_hz, load_share_of_throughput(row, share)), UNIT_RATE);
    add_responses(table, row, share);
    /* at a given rate slower cores are busier */
    double share_of_cpu = hypot(uncertainty_share_of_cpu(&parts), parts.pace);
    table_add_prediction(table, result->cpu_utilisation,
                         uncertainty_widen_utilisation(result->cpu_utilisation, share_of_cpu),
                         UNIT_SHARE);
    table_add_prediction(table, result->disk_utilisation,
                         uncertainty_widen_utilisation(result->disk_utilisation, share),
                         UNIT_SHARE);
    table_add_number(table, prediction->no_figures || grows ? NAN : queue_length(model, result),
                     UNIT_NONE);
    table_add_number(table, grows ? result->objects[result->growing].growth_hz.mean : NAN,
                     UNIT_RATE);
    add_saturation(table, &row->saturation);
    table_add_text(table, prediction->no_figures ? NULL : regime_name(result->regime));
    table_add_integer(table, result->replications);
    table_add_text(table, prediction->no_figures);
}

/* People are spared columns that say nothing. */
struct shown {
    bool open, closed, responses, disk, growth;
};

static struct shown find_shown(const struct load_row *rows, size_t n) {
    struct shown shown = {0};
    for (size_t i = 0; i < n; i++) {
        const struct sim_result *result = &rows[i].prediction->result;
        shown.open |= result->offered_hz > 0;
        shown.closed |= result->clients > 0;
        shown.responses |= result->response_ns.mean > 0;
        shown.disk |= result->disk_utilisation.mean > 0;
        shown.growth |= result->regime == REGIME_GROWING;
    }
    return shown;
}

static bool is_spared(const char *key, const struct shown *shown) {
    return (strcmp(key, "arrivals_hz") == 0 && !shown->open) ||
           (strcmp(key, "clients") == 0 && !shown->closed) ||
           (strncmp(key, "response", 8) == 0 && !shown->responses) ||
           (strcmp(key, "disk_utilisation") == 0 && !shown->disk) ||
           (strcmp(key, "growth_hz") == 0 && !shown->growth);
}

struct table *load_table(const struct model *model, const struct load_row *rows, size_t n) {
    enum { COLUMNS = sizeof columns / sizeof *columns };
    static struct table_column chosen[COLUMNS]; /* lives as long as the table */
    struct shown shown = find_shown(rows, n);
    memcpy(chosen, columns, sizeof columns);
    for (size_t i = 0; i < COLUMNS; i++)
        if (is_spared(columns[i].key, &shown))
            chosen[i].title = NULL;
    struct table *table = table_new(chosen, COLUMNS);
    TABLE_SPARE(table, "disk_utilisation", "queue_length", "response_p50_ns", "response_p95_ns");
    for (size_t i = 0; i < n; i++)
        add_row(table, model, &rows[i]);
    return table;
}

/* ---- below it ---- */

static bool is_same_configuration(const struct load_row *a, const struct load_row *b) {
    return a->prediction->threads == b->prediction->threads &&
           a->prediction->cores == b->prediction->cores;
}

static void print_limits(const struct load_row *rows, size_t n, FILE *out) {
    char text[QUANTITY_BYTES];
    bool is_first = true;
    for (size_t i = 0; i < n; i++) {
        const struct saturation *saturation = &rows[i].saturation;
        if (isnan(saturation->throughput_hz.mean) ||
            (i > 0 && is_same_configuration(&rows[i], &rows[i - 1])))
            continue;
        struct estimate most = uncertainty_widen(saturation->throughput_hz, saturation->share);
        fprintf(out, "%s  threads %s, cores %d: %s%s%s%s\n",
                is_first ? "\nSaturation, the most throughput:\n" : "",
                rows[i].prediction->threads->label, rows[i].prediction->cores,
                quantity_show_interval(most.mean, most.half_width, UNIT_RATE, text),
                saturation->full ? ", as the " : "", saturation->full ? saturation->full->name : "",
                saturation->full ? " is full" : "");
        is_first = false;
    }
}

static void print_growth(const struct model *model, const struct load_row *row, FILE *out) {
    const struct prediction *prediction = row->prediction;
    const struct sim_result *result = &prediction->result;
    char offered[QUANTITY_BYTES], growth[QUANTITY_BYTES], reached[QUANTITY_BYTES];
    fprintf(out, "  threads %s, cores %d, %s: ", prediction->threads->label, prediction->cores,
            quantity_show(result->offered_hz, UNIT_RATE, offered));
    if (result->regime == REGIME_UNSETTLED) {
        fputs("too close to saturation to tell whether it settles\n", out);
        return;
    }
    const struct object *queue = &model->objects[result->growing];
    const struct sim_object_result *grown = &result->objects[result->growing];
    fprintf(out, "%s grows by %s, and response times with it; %s are done\n", queue->name,
            quantity_show(grown->growth_hz.mean, UNIT_RATE, growth),
            quantity_show(result->throughput_hz.mean, UNIT_RATE, reached));
}

/* Where the printed response time has no upper end. */
static void warn_of_bounds(const struct load_row *rows, size_t n) {
    size_t near = 0, first = 0;
    for (size_t i = 0; i < n; i++) {
        const struct sim_result *result = &rows[i].prediction->result;
        const struct uncertainty parts = prediction_uncertainty(rows[i].prediction);
        if (result->regime != REGIME_STEADY || !(result->response_ns.mean > 0) ||
            isfinite(load_share_of_response(&rows[i], uncertainty_share(&parts))))
            continue;
        first = near++ == 0 ? i : first;
    }
    if (near > 0)
        log_note("threads %s, cores %d%s: %.0f %% of saturation, which the model knows to ±%.0f %% "
                 "only: the real program may be above it, so these response times have no "
                 "interval",
                 rows[first].prediction->threads->label, rows[first].prediction->cores,
                 near > 1 ? " and others" : "", 100 * busy_share(&rows[first]),
                 100 * rows[first].saturation.share);
}

void load_print_saturation(const struct model *model, const struct load_row *rows, size_t n,
                           FILE *out) {
    print_limits(rows, n, out);
    bool is_first = true;
    for (size_t i = 0; i < n; i++) {
        if (rows[i].prediction->result.regime <= REGIME_STEADY)
            continue;
        if (is_first)
            fputs("\nAbove saturation, no response times (-):\n", out);
        is_first = false;
        print_growth(model, &rows[i], out);
    }
    warn_of_bounds(rows, n);
}
