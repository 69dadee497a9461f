#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/path.h"
#include "cli/prediction/recorded.h"
#include "cli/report/html_sections.h"
#include "html/page.h"
#include "html/writer.h"

/* ---- the recorded configuration ---- */

/* The threads' label that its row has. The caller frees. */
static char *recorded_threads(const struct model *model) {
    const struct thread_choice one_number = {.all = 1};
    char *label = recorded_label(&one_number, model);
    return label ? label : memory_strdup("own");
}

/* Are these the recorded threads, whether given as one number or by the pools' names? */
static bool is_recorded(const json_t *row, const struct model *model, const char *label) {
    const char *text = json_string_value(json_object_get(row, "threads"));
    if (forecast_has_threads(row, label))
        return true;
    struct thread_sweep sweep = {0};
    struct error unused;
    bool same = text && strchr(text, '=') &&
                thread_sweep_parse("threads", text, &sweep, &unused) == 0 && sweep.count == 1 &&
                recorded_is(&sweep.items[0], model);
    thread_sweep_free(&sweep);
    return same;
}

const struct forecast_row *html_recorded_row(const struct html_report *report,
                                             const struct forecast *forecast) {
    if (!report->model || forecast->axis == ALONG_ARRIVALS || forecast->axis == ALONG_CLIENTS)
        return NULL;
    const struct forecast_row *found = NULL;
    char *label = recorded_threads(report->model);
    for (size_t i = 0; i < forecast->n_rows && !found; i++) {
        const json_t *row = forecast->rows[i].json;
        if (forecast_number(row, "cores") == report->model->machine.cores &&
            is_recorded(row, report->model, label))
            found = &forecast->rows[i];
    }
    free(label);
    return found;
}

/* ---- words ---- */

static const char *show(const json_t *row, const char *key, enum unit unit,
                        char text[QUANTITY_BYTES]) {
    char half_key[64];
    snprintf(half_key, sizeof half_key, "%s_half_width", key);
    return quantity_show_interval(forecast_number(row, key), forecast_number(row, half_key), unit,
                                  text);
}

static bool is_endless(const struct forecast *forecast) {
    return forecast->n_rows > 0 && json_object_get(forecast->rows[0].json, "saturation_hz");
}

/* How many are as fast within the interval of the best, and the smallest of them. */
static size_t count_as_fast(const struct forecast *forecast, const struct forecast_row *best,
                            const struct forecast_row **smallest) {
    double limit_ns =
        forecast_number(best->json, "run_ns") + forecast_number(best->json, "run_ns_half_width");
    size_t count = 0;
    *smallest = best;
    for (size_t i = 0; i < forecast->n_rows; i++) {
        const struct forecast_row *row = &forecast->rows[i];
        if (row == best || !(forecast_number(row->json, "run_ns") <= limit_ns))
            continue;
        count++;
        double cores = forecast_number(row->json, "cores");
        double least = forecast_number((*smallest)->json, "cores");
        if (cores < least || (cores == least && row->x < (*smallest)->x))
            *smallest = row;
    }
    return count;
}

static void print_equals(FILE *out, const struct forecast *forecast,
                         const struct forecast_row *best) {
    const struct forecast_row *smallest;
    size_t others = count_as_fast(forecast, best, &smallest);
    if (others == 0)
        return;
    html_print(out, "<p>Within the model\xE2\x80\x99s interval %zu other%s %s as fast, ", others,
               others == 1 ? "" : "s", others == 1 ? "is" : "are");
    if (smallest == best)
        html_print(out, "none of them smaller.</p>\n");
    else
        html_print(out, "the smallest of them %s.</p>\n", smallest->label);
}

static void print_fastest(FILE *out, const struct html_report *report,
                          const struct forecast *forecast, const struct forecast_row *best) {
    char time[QUANTITY_BYTES];
    show(best->json, "run_ns", UNIT_TIME, time);
    if (forecast->n_rows == 1) {
        html_print(out, "<p class=\"answer\"><span>%s</span> with <span>%s</span></p>\n", time,
                   best->label);
        return;
    }
    html_print(out,
               "<p class=\"over\">Fastest of %zu configurations</p>\n"
               "<p class=\"answer\"><span>%s</span> with <span>%s</span></p>\n",
               forecast->n_rows, time, best->label);
    const struct forecast_row *recorded = html_recorded_row(report, forecast);
    double times =
        recorded ? forecast_number(recorded->json, "run_ns") / forecast_number(best->json, "run_ns")
                 : NAN;
    if (recorded == best)
        html_print(out, "<p>That is the recorded configuration.</p>\n");
    else if (isfinite(times))
        html_print(out, "<p>%.2f times as fast as the recorded configuration, %s.</p>\n", times,
                   recorded->label);
    print_equals(out, forecast, best);
}

static void print_most(FILE *out, const struct forecast_row *best) {
    char rate[QUANTITY_BYTES];
    char *threads = memory_strdup(best->label);
    char *load = strrchr(threads, ',');
    if (load && (strstr(load, "/s") || strstr(load, "client")))
        *load = '\0';
    html_print(out,
               "<p class=\"over\">The most that can be done</p>\n"
               "<p class=\"answer\"><span>%s</span> with <span>%s</span></p>\n",
               show(best->json, "saturation_hz", UNIT_RATE, rate), threads);
    free(threads);
}

static void print_answer(FILE *out, const struct html_report *report,
                         const struct forecast *forecast) {
    char time[QUANTITY_BYTES];
    const struct forecast_row *best = forecast_best(forecast);
    if (best && is_endless(forecast))
        print_most(out, best);
    else if (best)
        print_fastest(out, report, forecast, best);
    else if (report->trace)
        html_print(out,
                   "<p class=\"over\">Recorded</p>\n<p class=\"answer\">%s with %zu threads on %d "
                   "cores</p>\n",
                   quantity_show((double)report->trace->meta.run_ns, UNIT_TIME, time),
                   report->trace->n_threads, report->trace->meta.cores);
    if (!best && forecast->n_rows > 0)
        html_print(out, "<p class=\"warn\">No configuration has figures: %s</p>\n",
                   json_string_value(json_object_get(forecast->rows[0].json, "no_figures")));
    else if (!best)
        html_print(out, "<p class=\"quiet\">There is no prediction: there is no model yet.</p>\n");
}

/* ---- tiles ---- */

static void tile_recorded(FILE *out, const struct html_report *report) {
    char time[QUANTITY_BYTES], plain[QUANTITY_BYTES];
    const struct trace *trace = report->trace;
    if (!trace)
        return;
    char *line =
        memory_format("%zu threads in all, %d cores%s%s", trace->n_threads, trace->meta.cores,
                      trace->meta.untraced_run_ns ? "; unprobed " : "",
                      trace->meta.untraced_run_ns
                          ? quantity_show((double)trace->meta.untraced_run_ns, UNIT_TIME, plain)
                          : "");
    page_tile(out, "Recorded run", quantity_show((double)trace->meta.run_ns, UNIT_TIME, time),
              line);
    free(line);
}

static void tile_figure(FILE *out, const char *what, const struct forecast_row *row,
                        const char *key, enum unit unit) {
    char text[QUANTITY_BYTES];
    if (row && forecast_number(row->json, key) > 0)
        page_tile(out, what, show(row->json, key, unit, text), row->label);
}

/* Of the self-check, where it has one. */
static void tile_check(FILE *out, const struct model *model, const char *what, const char *title) {
    for (size_t i = 0; i < model->n_checks; i++) {
        const struct model_check *check = &model->checks[i];
        if (strcmp(check->what, what) != 0)
            continue;
        char *error = memory_format("%+.1f %%", 100 * (check->simulated / check->measured - 1));
        page_tile(out, title, error, "the recorded run, simulated, against what it took");
        free(error);
    }
}

/* Of loads without an end, the highest for which response times have an interval: nearer to
 * saturation the real program may be above it. */
static const struct forecast_row *highest_known(const struct forecast *forecast) {
    const struct forecast_row *highest = NULL;
    for (size_t i = 0; i < forecast->n_rows; i++) {
        const struct forecast_row *row = &forecast->rows[i];
        if (isfinite(forecast_number(row->json, "response_p99_ns_half_width")) &&
            (!highest || forecast_number(row->json, "throughput_hz") >
                             forecast_number(highest->json, "throughput_hz")))
            highest = row;
    }
    return highest;
}

static void print_tiles(FILE *out, const struct html_report *report,
                        const struct forecast *forecast) {
    const struct forecast_row *best = forecast_best(forecast);
    const struct forecast_row *recorded = html_recorded_row(report, forecast);
    html_print(out, "<dl class=\"tiles\">\n");
    tile_recorded(out, report);
    tile_figure(out, "The same, predicted", recorded, "run_ns", UNIT_TIME);
    if (report->model)
        tile_check(out, report->model, "running time", "Error of the self-check");
    const struct forecast_row *told = is_endless(forecast) ? highest_known(forecast) : best;
    if (told) {
        tile_figure(out, "Throughput, predicted", told, "throughput_hz", UNIT_RATE);
        tile_figure(out, "99 % of responses within", told, "response_p99_ns", UNIT_TIME);
        tile_figure(out, "CPU utilisation, predicted", told, "cpu_utilisation", UNIT_SHARE);
    }
    html_print(out, "</dl>\n");
}

/* ---- the header ---- */

static const char *date_of(const struct html_report *report) {
    if (report->trace && report->trace->meta.date)
        return report->trace->meta.date;
    return report->model && report->model->built ? report->model->built : "?";
}

static void print_command(FILE *out, const struct html_report *report) {
    if (!report->trace) {
        html_print(out, "%s", report->model->program ? report->model->program : "?");
        return;
    }
    const struct trace_meta *meta = &report->trace->meta;
    for (int i = 0; i < meta->n_args; i++)
        html_print(out, "%s%s", i ? " " : "", i ? meta->args[i] : path_name(meta->args[i]));
}

/* The recorded run itself is not where the model says it is. */
static void warn_of_miss(FILE *out, const struct html_report *report,
                         const struct forecast *forecast) {
    const struct forecast_row *recorded = html_recorded_row(report, forecast);
    if (!recorded || !(report->model->measured_run_ns > 0))
        return;
    double off_ns =
        fabs(forecast_number(recorded->json, "run_ns") - report->model->measured_run_ns);
    char time[QUANTITY_BYTES];
    if (off_ns > forecast_number(recorded->json, "run_ns_half_width"))
        html_print(out,
                   "<p class=\"warn\">The recorded run took %s, which is outside the "
                   "model\xE2\x80\x99s interval for it: expect as much of the other figures.</p>\n",
                   quantity_show(report->model->measured_run_ns, UNIT_TIME, time));
}

/* What the figures are of, where that is not the program as recorded. */
static void print_changes(FILE *out, const json_t *prediction) {
    const json_t *changed = json_object_get(prediction, "changed");
    for (size_t i = 0; i < json_array_size(changed); i++) {
        const json_t *part = json_array_get(changed, i);
        html_print(out, "<p class=\"warn\">Changed in the model: %s: %s</p>\n",
                   json_string_value(json_object_get(part, "part")),
                   json_string_value(json_object_get(part, "change")));
    }
}

void html_answer(FILE *out, const struct html_report *report, const struct forecast *forecast) {
    html_print(out, "<header>\n<h1><code>");
    print_command(out, report);
    html_print(out, "</code></h1>\n<p class=\"quiet\">");
    html_print(out, "%s", report->trace ? "Recorded " : "Model built ");
    html_print(out, "%s", date_of(report));
    const char *host = report->trace ? report->trace->meta.host : report->model->host;
    html_print(out, "%s%s</p>\n", host ? " on " : "", host);
    print_answer(out, report, forecast);
    print_changes(out, report->prediction);
    warn_of_miss(out, report, forecast);
    print_tiles(out, report, forecast);
    html_print(out, "</header>\n");
}
