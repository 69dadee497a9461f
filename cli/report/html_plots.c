#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "cli/report/html_sections.h"
#include "html/page.h"
#include "html/plot.h"
#include "html/writer.h"

/* ---- which figures ---- */

static const struct figure {
    const char *key, *title;
    enum unit unit;
} figures[] = {
    {"run_ns", "Running time", UNIT_TIME},
    {"throughput_hz", "Throughput", UNIT_RATE},
    {"response_p50_ns", "Response time, median", UNIT_TIME},
    {"response_p99_ns", "Response time, 99th percentile", UNIT_TIME},
    {"cpu_utilisation", "CPU utilisation", UNIT_SHARE},
    {"disk_utilisation", "Disk utilisation", UNIT_SHARE},
};
enum { N_FIGURES = sizeof figures / sizeof *figures };

/* 0: none is known. */
static double largest(const struct forecast *forecast, const char *key) {
    double most = 0;
    for (size_t i = 0; i < forecast->n_rows; i++)
        most = fmax(most, forecast_number(forecast->rows[i].json, key));
    return most;
}

/* The unit of an axis that goes so far, and its size in the file's units. */
static const char *axis_unit(enum unit unit, double most, double *size) {
    static const struct {
        double size;
        const char *name;
    } times[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1, "ns"}};
    size_t i = 0;
    switch (unit) {
    case UNIT_TIME:
        while (i < 3 && most < times[i].size)
            i++;
        *size = times[i].size;
        return times[i].name;
    case UNIT_SHARE:
        *size = 0.01;
        return "%";
    case UNIT_RATE:
        *size = most >= 1e6 ? 1e6 : 1;
        return most >= 1e6 ? "M/s" : "/s";
    default:
        *size = 1;
        return "";
    }
}

/* ---- series ---- */

/* Of `n` series as many as a plot has room for, evenly, the first and the last among them. */
static size_t choose_series(size_t n, size_t chosen[PLOT_MOST_SERIES]) {
    size_t count = n < PLOT_MOST_SERIES ? n : PLOT_MOST_SERIES;
    for (size_t i = 0; i < count; i++)
        chosen[i] = count > 1 ? i * (n - 1) / (count - 1) : 0;
    return count;
}

struct drawn_series {
    struct {
        struct plot_point *items;
        size_t count, capacity;
    } points;
    struct {
        struct plot_mark *items;
        size_t count, capacity;
    } marks;
};

static char *shown_figure(const json_t *row, const struct figure *figure, double *half_width) {
    char text[QUANTITY_BYTES], key[64];
    snprintf(key, sizeof key, "%s_half_width", figure->key);
    *half_width = forecast_number(row, key);
    return memory_strdup(
        quantity_show_interval(forecast_number(row, figure->key), *half_width, figure->unit, text));
}

static void add_points(struct drawn_series *drawn, const struct forecast *forecast, size_t series,
                       const struct figure *figure) {
    for (size_t i = 0; i < forecast->n_rows; i++) {
        const struct forecast_row *row = &forecast->rows[i];
        if (row->series != series)
            continue;
        struct plot_point point = {.x = row->x, .y = forecast_number(row->json, figure->key)};
        point.shown = shown_figure(row->json, figure, &point.half_width);
        point.note = json_string_value(json_object_get(row->json, "no_figures"));
        if (!point.note && !isfinite(point.y))
            point.note = json_string_value(json_object_get(row->json, "load"));
        if (!point.note && forecast->axis == ALONG_ORDER)
            point.note = row->label;
        *VECTOR_ADD(&drawn->points) = point;
    }
}

/* ---- what was measured ---- */

static const struct forecast_row *row_of(const struct forecast *forecast,
                                         const struct measurement *measurement) {
    for (size_t i = 0; i < forecast->n_rows; i++)
        if (forecast_number(forecast->rows[i].json, "cores") == measurement->cores &&
            forecast_has_threads(forecast->rows[i].json, measurement->threads))
            return &forecast->rows[i];
    return NULL;
}

static struct plot_mark measured_mark(const struct measurement *measurement,
                                      const struct figure *figure, double x) {
    char text[QUANTITY_BYTES];
    struct summary run_ns = measurement_run_ns(measurement);
    bool is_time = strcmp(figure->key, "run_ns") == 0;
    struct plot_mark mark = {.x = x,
                             .y = is_time ? run_ns.median : measurement_utilisation(measurement),
                             .low = is_time ? run_ns.minimum : NAN,
                             .high = is_time ? run_ns.maximum : NAN};
    mark.shown = memory_strdup(quantity_show(mark.y, figure->unit, text));
    mark.what =
        memory_format("measured, threads %s, cores %d, median of %zu run%s", measurement->threads,
                      measurement->cores, measurement->count, measurement->count == 1 ? "" : "s");
    return mark;
}

static bool is_measured(const struct figure *figure) {
    return strcmp(figure->key, "run_ns") == 0 || strcmp(figure->key, "cpu_utilisation") == 0;
}

/* The runs of `validate`, and in the plot of the running time the recorded run, without probes
 * where that was measured. */
static void add_marks(struct drawn_series *drawn, const struct html_report *report,
                      const struct forecast *forecast, size_t series, const struct figure *figure) {
    const struct measurements *measurements = report->measurements;
    for (size_t i = 0; measurements && is_measured(figure) && i < measurements->count; i++) {
        const struct measurement *measurement = &measurements->items[i];
        const struct forecast_row *row = row_of(forecast, measurement);
        if (row && row->series == series && measurement->count > 0)
            *VECTOR_ADD(&drawn->marks) = measured_mark(measurement, figure, row->x);
    }
    const struct forecast_row *recorded = html_recorded_row(report, forecast);
    if (measurements || !recorded || recorded->series != series || !report->trace ||
        strcmp(figure->key, "run_ns") != 0)
        return;
    const struct trace_meta *meta = &report->trace->meta;
    bool plain = meta->untraced_run_ns > 0;
    char text[QUANTITY_BYTES];
    struct plot_mark mark = {.x = recorded->x,
                             .y = (double)(plain ? meta->untraced_run_ns : meta->run_ns),
                             .low = NAN,
                             .high = NAN};
    mark.shown = memory_strdup(quantity_show(mark.y, UNIT_TIME, text));
    mark.what = memory_strdup(plain ? "recorded, without probes" : "recorded, with probes");
    *VECTOR_ADD(&drawn->marks) = mark;
}

static void free_drawn(struct drawn_series *drawn) {
    for (size_t i = 0; i < drawn->points.count; i++)
        free((char *)drawn->points.items[i].shown);
    for (size_t i = 0; i < drawn->marks.count; i++) {
        free((char *)drawn->marks.items[i].shown);
        free((char *)drawn->marks.items[i].what);
    }
    free(drawn->points.items);
    free(drawn->marks.items);
}

/* ---- a plot ---- */

/* Of loads of one configuration: where its saturation is. The caller frees the name. */
static void add_saturation(struct plot *plot, const struct forecast *forecast) {
    char text[QUANTITY_BYTES];
    plot->x_from_zero = forecast->axis == ALONG_ARRIVALS || forecast->axis == ALONG_CLIENTS;
    plot->x_limit = NAN;
    if (forecast->axis != ALONG_ARRIVALS || forecast->n_series != 1)
        return;
    plot->x_limit = forecast_number(forecast->rows[0].json, "saturation_hz");
    plot->x_limit_name =
        memory_format("saturation %s", quantity_show(plot->x_limit, UNIT_RATE, text));
}

static void print_figure(FILE *out, const struct html_report *report,
                         const struct forecast *forecast, const struct figure *figure) {
    size_t chosen[PLOT_MOST_SERIES];
    struct drawn_series drawn[PLOT_MOST_SERIES] = {0};
    struct plot_series series[PLOT_MOST_SERIES];
    struct plot plot = {
        .title = figure->title,
        .x_title = forecast_axis_title(forecast->axis),
        .top = figure->unit == UNIT_SHARE ? 1 : 0,
        .whole_x = true,
        .names_x = forecast->axis == ALONG_ORDER,
        .n_series = choose_series(forecast->n_series, chosen),
        .series = series,
    };
    add_saturation(&plot, forecast);
    plot.unit = axis_unit(figure->unit, largest(forecast, figure->key), &plot.unit_size);
    for (size_t i = 0; i < plot.n_series; i++) {
        add_points(&drawn[i], forecast, chosen[i], figure);
        add_marks(&drawn[i], report, forecast, chosen[i], figure);
        series[i] = (struct plot_series){.label = forecast->labels[chosen[i]],
                                         .n_points = drawn[i].points.count,
                                         .n_marks = drawn[i].marks.count,
                                         .points = drawn[i].points.items,
                                         .marks = drawn[i].marks.items};
    }
    plot_print(out, &plot);
    free((char *)plot.x_limit_name);
    for (size_t i = 0; i < plot.n_series; i++)
        free_drawn(&drawn[i]);
}

static void print_reading(FILE *out, const struct html_report *report,
                          const struct forecast *forecast) {
    const char *marks = report->measurements ? "runs of the real program, with their range"
                        : html_recorded_row(report, forecast) && report->trace ? "the recorded run"
                                                                               : NULL;
    html_print(out, "<p class=\"lead\">Lines are predictions, bands the interval in which a real "
                    "run is expected in 90 of 100 cases");
    if (marks)
        html_print(out, ", rings %s", marks);
    html_print(out, ". A cross on the axis: no figure. Point at a mark for its value.");
    if (forecast->n_series > 0 && strstr(forecast->labels[0], "\xC3\x97"))
        html_print(out, " 4 \xC3\x97 2 cores: 4 threads on 2 cores.");
    html_print(out, "</p>\n");
    if (forecast->n_series > PLOT_MOST_SERIES)
        html_print(out, "<p class=\"lead\">%d of %zu series are drawn; the table has all.</p>\n",
                   PLOT_MOST_SERIES, forecast->n_series);
}

static const char *refusal_of(const struct forecast_row *row) {
    return json_string_value(json_object_get(row->json, "no_figures"));
}

/* Which configurations have no figures, and why. */
static void print_refusals(FILE *out, const struct forecast *forecast) {
    size_t count = 0;
    for (size_t i = 0; i < forecast->n_rows; i++)
        count += refusal_of(&forecast->rows[i]) != NULL;
    if (count == 0)
        return;
    html_print(out,
               "<details><summary class=\"warn\">%zu of %zu configurations %s no "
               "figures</summary>\n<ul>\n",
               count, forecast->n_rows, count == 1 ? "has" : "have");
    for (size_t i = 0; i < forecast->n_rows; i++)
        if (refusal_of(&forecast->rows[i]))
            html_print(out, "<li>%s: %s</li>\n", forecast->rows[i].label,
                       refusal_of(&forecast->rows[i]));
    html_print(out, "</ul></details>\n");
}

void html_forecast_plots(FILE *out, const struct html_report *report,
                         const struct forecast *forecast) {
    if (forecast->n_rows == 0)
        return;
    page_section(out, "prediction", "Prediction", NULL);
    if (forecast->n_rows > 1) {
        print_reading(out, report, forecast);
        print_refusals(out, forecast);
        html_print(out, "<div class=\"figures\">\n");
        for (size_t i = 0; i < N_FIGURES; i++)
            if (largest(forecast, figures[i].key) > 0)
                print_figure(out, report, forecast, &figures[i]);
        html_print(out, "</div>\n");
    } else {
        print_refusals(out, forecast);
    }
    if (report->figures && forecast->n_rows > 1) {
        html_print(out, "<details><summary>All %zu configurations, as a table</summary>\n",
                   forecast->n_rows);
        table_print_html(report->figures, NULL, out);
        html_print(out, "</details>\n");
    } else if (report->figures) {
        table_print_html(report->figures, NULL, out);
    }
    page_section_end(out);
}
