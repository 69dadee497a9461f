#include "cli/report/forecast.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "cli/text/quantity.h"

double forecast_number(const json_t *row, const char *key) {
    const json_t *value = json_object_get(row, key);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

double forecast_threads(const json_t *threads) {
    if (json_is_integer(threads))
        return json_number_value(threads);
    const char *text = json_string_value(threads);
    const char *equals = text ? strrchr(text, '=') : NULL;
    char *end = NULL;
    long number = equals && !strchr(text, ',') ? strtol(equals + 1, &end, 10) : 0;
    return number > 0 && *end == '\0' ? (double)number : NAN;
}

bool forecast_has_threads(const json_t *row, const char *label) {
    const json_t *threads = json_object_get(row, "threads");
    if (json_is_string(threads))
        return strcmp(json_string_value(threads), label) == 0;
    char text[QUANTITY_BYTES];
    snprintf(text, sizeof text, "%lld", (long long)json_integer_value(threads));
    return strcmp(text, label) == 0;
}

const char *forecast_axis_title(enum forecast_axis axis) {
    static const char *const titles[] = {"arrivals per second", "clients", "threads", "cores",
                                         "configuration, in the table's order"};
    return titles[axis];
}

/* ---- what differs ---- */

/* A key that no row has differs nowhere. */
static bool differs(const json_t *rows, const char *key) {
    const json_t *first = json_object_get(json_array_get(rows, 0), key);
    for (size_t i = 1; first && i < json_array_size(rows); i++)
        if (!json_equal(first, json_object_get(json_array_get(rows, i), key)))
            return true;
    return false;
}

/* Has each row a number of threads, all of the same pools? */
static bool threads_are_numbers(const json_t *rows) {
    const char *first = json_string_value(json_object_get(json_array_get(rows, 0), "threads"));
    size_t pool = first ? strcspn(first, "=") : 0;
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *threads = json_object_get(json_array_get(rows, i), "threads");
        const char *text = json_string_value(threads);
        if (!isfinite(forecast_threads(threads)) || !text != !first ||
            (text && strncmp(text, first, pool + 1) != 0))
            return false;
    }
    return true;
}

static enum forecast_axis find_axis(const json_t *rows) {
    if (differs(rows, "arrivals_hz"))
        return ALONG_ARRIVALS;
    if (differs(rows, "clients"))
        return ALONG_CLIENTS;
    if (differs(rows, "threads"))
        return threads_are_numbers(rows) ? ALONG_THREADS : ALONG_ORDER;
    if (differs(rows, "cores"))
        return ALONG_CORES;
    return threads_are_numbers(rows) ? ALONG_THREADS : ALONG_ORDER;
}

/* ---- names ---- */

static char *name_of_threads(const json_t *threads) {
    const char *text = json_string_value(threads);
    if (text)
        return strcmp(text, "own") == 0 ? memory_strdup("threads as recorded")
                                        : memory_strdup(text);
    long long count = (long long)json_integer_value(threads);
    return memory_format("%lld thread%s", count, count == 1 ? "" : "s");
}

static char *name_of_cores(const json_t *row) {
    double cores = forecast_number(row, "cores");
    return memory_format("%.0f core%s", cores, cores == 1 ? "" : "s");
}

static char *name_of_load(const json_t *row) {
    double rate = forecast_number(row, "arrivals_hz");
    double clients = forecast_number(row, "clients");
    char text[QUANTITY_BYTES];
    if (isfinite(rate))
        return memory_format(", %s", quantity_show(rate, UNIT_RATE, text));
    return isfinite(clients) ? memory_format(", %.0f client%s", clients, clients == 1 ? "" : "s")
                             : memory_strdup("");
}

static char *configuration_label(const json_t *row) {
    char *threads = name_of_threads(json_object_get(row, "threads"));
    char *cores = name_of_cores(row);
    char *load = name_of_load(row);
    char *label = memory_format("%s, %s%s", threads, cores, load);
    free(threads);
    free(cores);
    free(load);
    return label;
}

/* Of a number of threads beside cores the number alone, so that "4 × 2 cores" fits beside a line.
 */
static char *short_name_of_threads(const json_t *row) {
    const json_t *threads = json_object_get(row, "threads");
    if (!json_is_integer(threads))
        return name_of_threads(threads);
    return memory_format("%lld", (long long)json_integer_value(threads));
}

/* What differs besides the x axis. */
static char *series_label(const json_t *rows, const json_t *row, enum forecast_axis axis) {
    bool by_threads = axis < ALONG_THREADS && differs(rows, "threads");
    bool by_cores = axis != ALONG_CORES && differs(rows, "cores");
    char *threads = NULL;
    if (by_threads)
        threads = by_cores ? short_name_of_threads(row)
                           : name_of_threads(json_object_get(row, "threads"));
    char *cores = by_cores ? name_of_cores(row) : NULL;
    char *label = threads && cores ? memory_format("%s \xC3\x97 %s", threads, cores)
                                   : memory_strdup(threads ? threads
                                                   : cores ? cores
                                                           : "");
    free(threads);
    free(cores);
    return label;
}

/* ---- the rows ---- */

static size_t series_of(struct forecast *forecast, char *label) {
    for (size_t i = 0; i < forecast->n_series; i++) {
        if (strcmp(forecast->labels[i], label) == 0) {
            free(label);
            return i;
        }
    }
    forecast->labels[forecast->n_series] = label;
    return forecast->n_series++;
}

static double x_of(const struct forecast *forecast, const json_t *row, size_t series) {
    switch (forecast->axis) {
    case ALONG_ARRIVALS:
        return forecast_number(row, "arrivals_hz");
    case ALONG_CLIENTS:
        return forecast_number(row, "clients");
    case ALONG_THREADS:
        return forecast_threads(json_object_get(row, "threads"));
    case ALONG_CORES:
        return forecast_number(row, "cores");
    case ALONG_ORDER:
        break;
    }
    double place = 1;
    for (size_t i = 0; i < forecast->n_rows; i++)
        place += forecast->rows[i].series == series;
    return place;
}

static int compare_rows(const void *left, const void *right) {
    const struct forecast_row *a = left;
    const struct forecast_row *b = right;
    if (a->series != b->series)
        return a->series < b->series ? -1 : 1;
    return a->x < b->x ? -1 : a->x > b->x;
}

struct forecast forecast_of(const json_t *prediction) {
    struct forecast forecast = {0};
    const json_t *rows = json_object_get(prediction, "configurations");
    size_t n = json_array_size(rows);
    if (n == 0)
        return forecast;
    forecast.axis = find_axis(rows);
    forecast.rows = memory_alloc(n, sizeof *forecast.rows);
    forecast.labels = memory_alloc(n, sizeof *forecast.labels);
    for (size_t i = 0; i < n; i++) {
        const json_t *row = json_array_get(rows, i);
        size_t series = series_of(&forecast, series_label(rows, row, forecast.axis));
        double x = x_of(&forecast, row, series);
        if (isfinite(x)) /* a load that one row alone has not got stands nowhere */
            forecast.rows[forecast.n_rows++] =
                (struct forecast_row){row, x, series, configuration_label(row)};
    }
    qsort(forecast.rows, forecast.n_rows, sizeof *forecast.rows, compare_rows);
    return forecast;
}

void forecast_free(struct forecast *forecast) {
    for (size_t i = 0; i < forecast->n_rows; i++)
        free(forecast->rows[i].label);
    for (size_t i = 0; i < forecast->n_series; i++)
        free(forecast->labels[i]);
    free(forecast->rows);
    free(forecast->labels);
    *forecast = (struct forecast){0};
}

/* The less the better. */
static double cost_of(const json_t *row) {
    double saturation = forecast_number(row, "saturation_hz");
    return isfinite(saturation) ? -saturation : forecast_number(row, "run_ns");
}

const struct forecast_row *forecast_best(const struct forecast *forecast) {
    const struct forecast_row *best = NULL;
    for (size_t i = 0; i < forecast->n_rows; i++) {
        double cost = cost_of(forecast->rows[i].json);
        if (isfinite(cost) && (!best || cost < cost_of(best->json)))
            best = &forecast->rows[i];
    }
    return best;
}
