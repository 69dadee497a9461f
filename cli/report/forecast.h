/* The rows of a prediction, ordered for plots: one quantity goes along the x axis, and what else
 * differs between configurations tells the series apart. Reads what `predict --format json`
 * prints. */
#ifndef PERSIK_CLI_REPORT_FORECAST_H
#define PERSIK_CLI_REPORT_FORECAST_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

enum forecast_axis {
    ALONG_ARRIVALS, /* per second */
    ALONG_CLIENTS,
    ALONG_THREADS,
    ALONG_CORES,
    ALONG_ORDER, /* nothing that is a number: the configurations in their order */
};

struct forecast_row {
    const json_t *json;
    double x;
    size_t series;
    char *label; /* of the configuration: "4 threads, 2 cores" */
};

struct forecast {
    enum forecast_axis axis;
    size_t n_rows, n_series;
    struct forecast_row *rows; /* by series, then by x */
    char **labels;             /* of the series; "" where it is the only one */
};

/* `prediction` must live as long. The caller frees: forecast_free(). */
struct forecast forecast_of(const json_t *prediction);
void forecast_free(struct forecast *forecast);

/* "threads", "clients": the title of the axis. */
const char *forecast_axis_title(enum forecast_axis axis);

/* The number under that key; NAN: there is none. */
double forecast_number(const json_t *row, const char *key);

/* The number of threads where that is one; of POOL=N that N. NAN: it is none. */
double forecast_threads(const json_t *threads);

/* Are these the threads of that label ("2", "workers=2")? */
bool forecast_has_threads(const json_t *row, const char *label);

/* The row with the shortest running time or, of loads without an end, with the highest saturation;
 * NULL: none has figures. */
const struct forecast_row *forecast_best(const struct forecast *forecast);

#endif
