#include "cli/report/load_report.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "base/output.h"
#include "cli/judgement.h"

static const struct quantile {
    double share;
    const char *title, *key;
} quantiles[] = {
    {0.5, "p50", "p50"},  {0.9, "p90", "p90"},      {0.95, "p95", "p95"},
    {0.99, "p99", "p99"}, {0.999, "p99.9", "p999"},
};
enum { QUANTILES = sizeof quantiles / sizeof *quantiles };

static double max_ns(const struct latency *latency) {
    return latency_count(latency) ? (double)latency_max_ns(latency) : NAN;
}

/* ---- the histogram ---- */

enum { TICKS_PER_HALF = 5 }; /* as HdrHistogram has it */

/* The shares 0, 0.1, ... 0.5, 0.55, ... 0.75, ...: between two of them are never more than a fifth
 * of the times beyond. 1 when fewer than one time of `count` is beyond. */
static double next_share(double share, uint64_t count) {
    double beyond = 1 - share;
    double half = exp2(ceil(-log2(beyond) + 1e-9)); /* 2 up to the median, 4 up to 0.75, ... */
    double next = share + 1 / (half * TICKS_PER_HALF);
    return (1 - next) * (double)count < 1 ? 1 : next;
}

static void print_histogram(const struct latency *latency, FILE *out) {
    char text[QUANTITY_BYTES];
    fprintf(out, "\n%12s  %10s  %10s\n", "response", "share", "answers");
    for (double share = 0;; share = next_share(share, latency_count(latency))) {
        fprintf(out, "%12s  %8.4f %%  %10" PRIu64 "\n",
                quantity_show(latency_quantile_ns(latency, share), UNIT_TIME, text), 100 * share,
                latency_count_within(latency, share));
        if (share >= 1)
            return;
    }
}

static json_t *histogram_json(const struct latency *latency) {
    json_t *rows = json_array();
    for (double share = 0;; share = next_share(share, latency_count(latency))) {
        json_t *row = json_object();
        json_object_set_new(row, "share", json_real(share));
        json_object_set_new(row, "response_ns", json_real(latency_quantile_ns(latency, share)));
        json_object_set_new(row, "answers",
                            json_integer((json_int_t)latency_count_within(latency, share)));
        json_array_append_new(rows, row);
        if (share >= 1)
            return rows;
    }
}

/* ---- for people ---- */

static void print_head(const struct load_options *options, const struct load_result *result,
                       FILE *out) {
    char rate[QUANTITY_BYTES], time[QUANTITY_BYTES], share[QUANTITY_BYTES];
    fprintf(out, "target       %s\n", options->url);
    fprintf(out, "answers      %" PRIu64 " in %s: %s\n", latency_count(result->response),
            quantity_show(result->seconds * 1e9, UNIT_TIME, time),
            quantity_show(result->throughput_hz, UNIT_RATE, rate));
    char *failures = load_report_failures(result);
    fprintf(out, "failures     %s\n", *failures ? failures : "none");
    free(failures);
    if (result->unanswered)
        fprintf(out, "unanswered   %" PRIu64 " when it was interrupted\n", result->unanswered);
    fprintf(out, "connections  %" PRIu64 "\n", result->connections);
    fprintf(out, "this program %s of a core\n\n",
            quantity_show(result->cpu_share, UNIT_SHARE, share));
}

static void add_times(struct table *table, const char *name, const struct latency *latency,
                      double half_width_ns) {
    char text[QUANTITY_BYTES];
    table_add_text(table, name);
    double mean_ns = latency_mean_ns(latency);
    table_add_text(table, isfinite(half_width_ns)
                              ? quantity_show_interval(mean_ns, half_width_ns, UNIT_TIME, text)
                              : quantity_show(mean_ns, UNIT_TIME, text));
    for (int i = 0; i < QUANTILES; i++)
        table_add_number(table, latency_quantile_ns(latency, quantiles[i].share), UNIT_TIME);
    table_add_number(table, max_ns(latency), UNIT_TIME);
}

static void print_table(const struct load_options *options, const struct load_result *result,
                        FILE *out) {
    static const struct table_column columns[3 + QUANTILES] = {
        {NULL, "time"}, {NULL, "mean"}, {NULL, "p50"},   {NULL, "p90"},
        {NULL, "p95"},  {NULL, "p99"},  {NULL, "p99.9"}, {NULL, "max"},
    };
    print_head(options, result, out);
    struct table *table = table_new(columns, sizeof columns / sizeof *columns);
    add_times(table, "response", result->response, result->response_half_width_ns);
    add_times(table, "service", result->service, NAN);
    add_times(table, "sent late by", result->lateness, NAN);
    table_print_text(table, out);
    table_free(table);
}

/* ---- for programs ---- */

static json_t *number(double value) {
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *times_json(const struct latency *latency) {
    json_t *times = json_object();
    json_object_set_new(times, "mean", number(latency_mean_ns(latency)));
    for (int i = 0; i < QUANTILES; i++)
        json_object_set_new(times, quantiles[i].key,
                            number(latency_quantile_ns(latency, quantiles[i].share)));
    json_object_set_new(times, "max", number(max_ns(latency)));
    return times;
}

static json_t *failures_json(const struct load_result *result) {
    json_t *failures = json_object();
    for (int i = 0; i < LOAD_FAILURES; i++)
        if (result->failures[i])
            json_object_set_new(failures, load_failure_name(i),
                                json_integer((json_int_t)result->failures[i]));
    return failures;
}

static json_t *result_json(const struct load_options *options, const struct load_result *result,
                           bool histogram) {
    json_t *json = json_object(), *response = times_json(result->response);
    json_object_set_new(response, "mean_half_width", number(result->response_half_width_ns));
    json_object_set_new(json, "target", json_string(options->url));
    json_object_set_new(json, "requests",
                        json_integer((json_int_t)latency_count(result->response)));
    json_object_set_new(json, "errors", json_integer((json_int_t)load_failed(result)));
    json_object_set_new(json, "unanswered", json_integer((json_int_t)result->unanswered));
    json_object_set_new(json, "seconds", json_real(result->seconds));
    json_object_set_new(json, "throughput_per_s", json_real(result->throughput_hz));
    json_object_set_new(json, "response_ns", response);
    json_object_set_new(json, "service_ns", times_json(result->service));
    json_object_set_new(json, "lateness_ns", times_json(result->lateness));
    json_object_set_new(json, "errors_by_kind", failures_json(result));
    json_object_set_new(json, "connections", json_integer((json_int_t)result->connections));
    json_object_set_new(json, "reconnected", json_integer((json_int_t)result->reconnected));
    json_object_set_new(json, "cpu_share", json_real(result->cpu_share));
    json_object_set_new(json, "interrupted", json_boolean(result->interrupted));
    if (histogram && latency_count(result->response))
        json_object_set_new(json, "histogram", histogram_json(result->response));
    return json;
}

/* One line under one of titles: lines of several runs are a table. */
static void print_csv(const struct load_options *options, const struct load_result *result,
                      FILE *out) {
    fprintf(out, "target,requests,errors,unanswered,seconds,throughput_per_s,response_mean_ns,"
                 "response_mean_half_width_ns");
    for (int i = 0; i < QUANTILES; i++)
        fprintf(out, ",response_%s_ns", quantiles[i].key);
    fprintf(out, ",response_max_ns,service_mean_ns,lateness_mean_ns,connections,cpu_share\n");
    table_print_csv_text(options->url, out);
    fprintf(out, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%.9g,%.9g", latency_count(result->response),
            load_failed(result), result->unanswered, result->seconds, result->throughput_hz);
    double times[QUANTILES + 5] = {latency_mean_ns(result->response),
                                   result->response_half_width_ns};
    for (int i = 0; i < QUANTILES; i++)
        times[2 + i] = latency_quantile_ns(result->response, quantiles[i].share);
    times[QUANTILES + 2] = max_ns(result->response);
    times[QUANTILES + 3] = latency_mean_ns(result->service);
    times[QUANTILES + 4] = latency_mean_ns(result->lateness);
    for (int i = 0; i < QUANTILES + 5; i++)
        fprintf(out, isfinite(times[i]) ? ",%.9g" : ",", times[i]);
    fprintf(out, ",%" PRIu64 ",%.9g\n", result->connections, result->cpu_share);
}

/* ---- all ---- */

void load_report_print(const struct load_options *options, const struct load_result *result,
                       enum table_format format, bool histogram, FILE *out) {
    switch (format) {
    case FORMAT_TABLE:
        if (latency_count(result->response) == 0)
            break; /* the command's last line says why */
        print_table(options, result, out);
        if (histogram)
            print_histogram(result->response, out);
        break;
    case FORMAT_JSON:
        table_print_json(result_json(options, result, histogram), out);
        break;
    case FORMAT_CSV:
        print_csv(options, result, out);
        break;
    }
}

char *load_report_failures(const struct load_result *result) {
    char *text = memory_strdup("");
    for (int i = 0; i < LOAD_FAILURES; i++) {
        if (!result->failures[i])
            continue;
        char *longer = memory_format("%s%s%s %" PRIu64, text, *text ? ", " : "",
                                     load_failure_name(i), result->failures[i]);
        free(text);
        text = longer;
    }
    if (result->bad_status && result->failures[LOAD_BAD_STATUS]) {
        char *longer = memory_format("%s (%d)", text, result->bad_status);
        free(text);
        text = longer;
    }
    return text;
}

void load_report_warn(const struct load_result *result) {
    double late_ns = latency_mean_ns(result->lateness);
    double late_share = late_ns / latency_mean_ns(result->response);
    char text[QUANTITY_BYTES];
    if (late_share >= judgement.late)
        log_warning("requests were sent late by %s in the mean, which is %.0f %% of the mean "
                    "response time: that part is not the server's: give this program more of a "
                    "core (root's goes before others), or ask for less",
                    quantity_show(late_ns, UNIT_TIME, text), 100 * late_share);
    if (result->failures[LOAD_NOT_SENT])
        log_warning("%" PRIu64 " requests were not sent because --max-in-flight others were under "
                    "way: the server does not keep up, and real clients would wait longer",
                    result->failures[LOAD_NOT_SENT]);
    if (result->failures[LOAD_TIMEOUT])
        log_warning("%" PRIu64 " requests that had no reply within --timeout are not in the "
                    "response times, which look shorter without them",
                    result->failures[LOAD_TIMEOUT]);
}

int load_report_write(const struct load_options *options, const struct load_result *result,
                      const char *path, struct error *error) {
    struct output output;
    if (output_begin(&output, path) < 0)
        return error_set(error, "cannot write %s: %s", path, strerror(errno));
    table_print_json(result_json(options, result, false), output.file);
    if (output_commit(&output) < 0)
        return error_set(error, "cannot write %s: %s", path, strerror(errno));
    return 0;
}
