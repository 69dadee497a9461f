#include "cli/comparison.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"

double comparison_error(const struct comparison *comparison) {
    return comparison->prediction.result.run_ns.mean /
               measurement_run_ns(comparison->measurement).median -
           1;
}

double comparison_own_error(const struct comparison *comparison) {
    return comparison->prediction.result.run_ns.mean /
               measurement_own_run_ns(comparison->measurement) -
           1;
}

bool comparison_speeds_known(const struct comparison *comparison) {
    return comparison->recorded.pieces[PACE_COMPUTING] > 0 &&
           comparison->recorded.pieces[PACE_MEMORY] > 0 &&
           measurement_speeds_known(comparison->measurement);
}

double comparison_equal_speed_error(const struct comparison *comparison) {
    if (!comparison_speeds_known(comparison))
        return 0;
    return comparison->prediction.result.run_ns.mean /
               measurement_run_ns_at(comparison->measurement, comparison->recorded) -
           1;
}

struct error_summary comparison_summary(const struct comparison *comparisons, size_t n,
                                        double error_of(const struct comparison *)) {
    double *errors = memory_alloc(n, sizeof *errors);
    struct error_summary summary = {0};
    size_t known = 0; /* those without figures have no error */
    for (size_t i = 0; i < n; i++)
        if (!comparisons[i].prediction.no_figures)
            errors[known++] = fabs(error_of(&comparisons[i]));
    if (known > 0) {
        for (size_t i = 0; i < known; i++)
            summary.mean += errors[i] / (double)known;
        summary.median = median_of(errors, known);
        summary.worst = errors[known - 1];
    } else {
        summary = (struct error_summary){NAN, NAN, NAN};
    }
    free(errors);
    return summary;
}

/* ---- table, CSV, JSON ---- */

static const struct table_column columns[] = {
    {"threads", "threads"},
    {"cores", "cores"},
    {"runs", NULL},
    {"measured_run_ns", "measured"},
    {"measured_run_min_ns", NULL},
    {"measured_run_max_ns", NULL},
    {NULL, "min - max"},
    {"predicted_run_ns", "predicted"},
    {"predicted_run_ns_half_width", NULL},
    {"error", "error"},
    {"measured_cpu_utilisation", "CPU measured"},
    {"predicted_cpu_utilisation", "predicted"},
    {"predicted_cpu_utilisation_half_width", NULL},
    {"foreign_share", "others had"},
    {"own_run_ns", NULL},
    {"own_error", "error without"},
    {"own_cpu_utilisation", NULL},
    {"no_figures", NULL},
    {"equal_speed_run_ns", NULL}, /* from here on only where it is known */
    {"equal_speed_error", "at equal speed"},
};
enum { COLUMNS_OF_SPEED = 2 };

/* From this share of the cores on it is worth a line, as is such a difference of the times. */
#define FOREIGN_NOTE   0.01
#define CONVERTED_NOTE 0.01

static void add_row(struct table *table, const struct comparison *comparison, bool speeds_known) {
    const struct measurement *measurement = comparison->measurement;
    const struct sim_result *result = &comparison->prediction.result;
    struct summary run_ns = measurement_run_ns(measurement);
    if (comparison->prediction.threads->all)
        table_add_integer(table, comparison->prediction.threads->all);
    else
        table_add_text(table, measurement->threads);
    table_add_integer(table, measurement->cores);
    table_add_integer(table, (long)measurement->count);
    table_add_number(table, run_ns.median, UNIT_TIME);
    table_add_number(table, run_ns.minimum, UNIT_TIME);
    table_add_number(table, run_ns.maximum, UNIT_TIME);
    char low[QUANTITY_BYTES];
    char high[QUANTITY_BYTES];
    char *range = memory_format("%s - %s", quantity_show(run_ns.minimum, UNIT_TIME, low),
                                quantity_show(run_ns.maximum, UNIT_TIME, high));
    table_add_text(table, range);
    free(range);
    table_add_estimate(table, result->run_ns, UNIT_TIME);
    table_add_signed_share(table, comparison_error(comparison));
    table_add_number(table, measurement_utilisation(measurement), UNIT_SHARE);
    table_add_estimate(table, result->cpu_utilisation, UNIT_SHARE);
    table_add_number(table, measurement_foreign_share(measurement), UNIT_SHARE);
    table_add_number(table, measurement_own_run_ns(measurement), UNIT_TIME);
    table_add_signed_share(table, comparison_own_error(comparison));
    table_add_number(table, measurement_own_utilisation(measurement), UNIT_SHARE);
    table_add_text(table, comparison->prediction.no_figures);
    if (speeds_known) {
        table_add_number(
            table, measurement_run_ns_at(comparison->measurement, comparison->recorded), UNIT_TIME);
        table_add_signed_share(table, comparison_equal_speed_error(comparison));
    }
}

/* Of all comparisons. */
struct errors {
    struct error_summary raw, own, equal_speed;
    double foreign_share; /* of the cores, on average */
    double run_spread;    /* of single runs; 0: not known */
    size_t fewest_runs;   /* of a configuration */
    bool speeds_known;    /* of all; else the rest is 0 */
    struct speed recorded;
    double converted;          /* by how much the times were converted, on average; 0.1: 10 % */
    double equal_speed_spread; /* as run_spread */
};

/* Standard deviation of single runs, relative to the median of their configuration: one for all, as
 * each alone has few. 0: none was run twice. */
static double spread_of_runs(const struct comparison *comparisons, size_t n, bool at_equal_speed) {
    double squares = 0, freedom = 0;
    for (size_t i = 0; i < n; i++) {
        const struct measurement *measurement = comparisons[i].measurement;
        squares +=
            measurement_squares(measurement, at_equal_speed ? &comparisons[i].recorded : NULL);
        freedom += (double)measurement->count - 1;
    }
    return freedom > 0 ? sqrt(squares / freedom) : 0;
}

/* Standard error of the median of so many runs. */
static double error_of_median(double run_spread, size_t n_runs) {
    const double efficiency =
        2 / M_PI; /* of the median of many normal values, against their mean */
    return run_spread / sqrt((double)n_runs * (n_runs > 2 ? efficiency : 1));
}

static void summarize_speeds(const struct comparison *comparisons, size_t n,
                             struct errors *errors) {
    for (size_t i = 0; i < n; i++)
        if (!comparison_speeds_known(&comparisons[i]))
            return;
    errors->speeds_known = true;
    errors->recorded = comparisons[0].recorded;
    errors->equal_speed = comparison_summary(comparisons, n, comparison_equal_speed_error);
    errors->equal_speed_spread = spread_of_runs(comparisons, n, true);
    for (size_t i = 0; i < n; i++) {
        const struct measurement *measurement = comparisons[i].measurement;
        double factor = measurement_run_ns_at(measurement, comparisons[i].recorded) /
                        measurement_own_run_ns(measurement);
        errors->converted += fabs(factor - 1) / (double)n;
    }
}

static struct errors summarize(const struct comparison *comparisons, size_t n) {
    struct errors errors = {
        .raw = comparison_summary(comparisons, n, comparison_error),
        .own = comparison_summary(comparisons, n, comparison_own_error),
        .run_spread = spread_of_runs(comparisons, n, false),
        .fewest_runs = SIZE_MAX,
    };
    for (size_t i = 0; i < n; i++) {
        const struct comparison *comparison = &comparisons[i];
        if (comparison->measurement->count < errors.fewest_runs)
            errors.fewest_runs = comparison->measurement->count;
        errors.foreign_share += measurement_foreign_share(comparison->measurement) / (double)n;
    }
    summarize_speeds(comparisons, n, &errors);
    return errors;
}

static json_t *number_json(double value) {
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *summary_json(struct error_summary summary) {
    return json_pack("{s:o, s:o, s:o}", "mean", number_json(summary.mean), "median",
                     number_json(summary.median), "worst", number_json(summary.worst));
}

static void print_json(const struct table *table, const char *program, const struct errors *errors,
                       FILE *out) {
    json_t *json = json_pack("{s:s, s:o, s:o, s:o}", "program", program, "configurations",
                             table_json(table), "absolute_error", summary_json(errors->raw),
                             "absolute_own_error", summary_json(errors->own));
    if (errors->run_spread > 0)
        json_object_set_new(json, "run_spread", json_real(errors->run_spread));
    if (errors->speeds_known) {
        const double *power = errors->recorded.sensitivity.power;
        json_object_set_new(json, "absolute_equal_speed_error", summary_json(errors->equal_speed));
        json_object_set_new(json, "equal_speed_run_spread", json_real(errors->equal_speed_spread));
        json_object_set_new(json, "recorded_slowdown", number_json(errors->recorded.slowdown));
        json_object_set_new(json, "sensitivity",
                            json_pack("{s:f, s:f}", "computing", power[PACE_COMPUTING], "memory",
                                      power[PACE_MEMORY]));
    }
    table_print_json(json, out);
}

static void print_summary(const char *of, struct error_summary summary, FILE *out) {
    if (isnan(summary.mean)) /* no configuration has figures */
        return;
    fprintf(out, "%s: mean %.1f %%, median %.1f %%, worst %.1f %%\n", of, 100 * summary.mean,
            100 * summary.median, 100 * summary.worst);
}

/* As printed with two decimals: no "-0.00". */
static double shown_power(double power) {
    return fabs(power) < 0.005 ? 0 : power;
}

static void print_text(const struct table *table, const struct errors *errors, FILE *out) {
    table_print_text(table, out);
    fputc('\n', out);
    print_summary("absolute error", errors->raw, out);
    if (errors->run_spread > 0)
        fprintf(out,
                "Single runs of one configuration differ by %.1f %% (standard deviation): the "
                "median of %zu is known within %.1f %%.\n",
                100 * errors->run_spread, errors->fewest_runs,
                100 * error_of_median(errors->run_spread, errors->fewest_runs));
    if (errors->foreign_share >= FOREIGN_NOTE) {
        print_summary("without what others had", errors->own, out);
        fprintf(out,
                "Others (processes, and guests of this virtual machine's host) had %.1f %% of the "
                "cores: a prediction is for cores of the program's own.\n",
                100 * errors->foreign_share);
    }
    if (errors->speeds_known && errors->converted >= CONVERTED_NOTE) {
        print_summary("at equal speed", errors->equal_speed, out);
        const double *power = errors->recorded.sensitivity.power;
        fprintf(
            out,
            "The cores were not as fast as when the model was recorded: times differ by %.1f %% "
            "for it, by the power %.2f of how others slow computing and %.2f of how they slow "
            "memory. At equal speed is the error against times converted to the recording's",
            100 * errors->converted, shown_power(power[PACE_COMPUTING]),
            shown_power(power[PACE_MEMORY]));
        if (errors->equal_speed_spread > 0)
            fprintf(out, "; single runs then differ by %.1f %%", 100 * errors->equal_speed_spread);
        fputs(".\n", out);
    }
}

void comparison_print(const struct comparison *comparisons, size_t n, const char *program,
                      enum table_format format, FILE *out) {
    struct errors errors = summarize(comparisons, n);
    size_t n_columns = sizeof columns / sizeof *columns;
    struct table *table =
        table_new(columns, n_columns - (errors.speeds_known ? 0 : COLUMNS_OF_SPEED));
    for (size_t i = 0; i < n; i++)
        add_row(table, &comparisons[i], errors.speeds_known);
    switch (format) {
    case FORMAT_TABLE:
        print_text(table, &errors, out);
        break;
    case FORMAT_CSV:
        table_print_csv(table, out);
        break;
    case FORMAT_JSON:
        print_json(table, program, &errors, out);
        break;
    }
    table_free(table);
}

/* ---- drawing ---- */

/* Whether an earlier comparison already has this one's number of cores. */
static bool cores_seen(const struct comparison *comparisons, size_t i) {
    for (size_t j = 0; j < i; j++)
        if (comparisons[j].measurement->cores == comparisons[i].measurement->cores)
            return true;
    return false;
}

/* Place on the x axis: the number of threads, or the rank of a configuration by pools. */
static int x_of(const struct comparison *comparisons, size_t i) {
    if (comparisons[i].prediction.threads->all)
        return comparisons[i].prediction.threads->all;
    int rank = 1;
    for (size_t j = 0; j < i; j++)
        rank += comparisons[j].measurement->cores == comparisons[i].measurement->cores;
    return rank;
}

static void write_data(FILE *script, const struct comparison *comparisons, size_t n, int cores) {
    fprintf(script, "$cores%d << EOD\n", cores);
    for (size_t i = 0; i < n; i++) {
        if (comparisons[i].measurement->cores != cores)
            continue;
        struct summary run_ns = measurement_run_ns(comparisons[i].measurement);
        fprintf(script, "%d %.9g %.9g %.9g %.9g\n", x_of(comparisons, i), run_ns.median / 1e9,
                run_ns.minimum / 1e9, run_ns.maximum / 1e9,
                comparisons[i].prediction.result.run_ns.mean / 1e9);
    }
    fprintf(script, "EOD\n");
}

/* gnuplot's strings in single quotes double a quote inside. */
static void write_quoted(FILE *script, const char *text) {
    fputc('\'', script);
    for (; *text; text++) {
        if (*text == '\'')
            fputc('\'', script);
        fputc((unsigned char)*text < ' ' ? ' ' : *text, script);
    }
    fputc('\'', script);
}

static void write_labels(FILE *script, const struct comparison *comparisons, size_t n) {
    if (comparisons[0].prediction.threads->all)
        return;
    const char *comma = "set xtics rotate by -30 (";
    for (size_t i = 0; i < n; i++) {
        if (comparisons[i].measurement->cores != comparisons[0].measurement->cores)
            continue;
        fputs(comma, script);
        write_quoted(script, comparisons[i].measurement->threads);
        fprintf(script, " %d", x_of(comparisons, i));
        comma = ", ";
    }
    fputs(")\n", script);
}

static void write_script(FILE *script, const struct comparison *comparisons, size_t n,
                         const char *program) {
    fputs("set terminal svg size 800,500 noenhanced\nset xlabel 'threads'\n"
          "set ylabel 'running time, s'\nset yrange [0:*]\nset offsets 0.5,0.5,0,0\nset title ",
          script);
    write_quoted(script, program);
    fputc('\n', script);
    write_labels(script, comparisons, n);
    for (size_t i = 0; i < n; i++)
        if (!cores_seen(comparisons, i))
            write_data(script, comparisons, n, comparisons[i].measurement->cores);
    const char *start = "plot ";
    int color = 0;
    for (size_t i = 0; i < n; i++) {
        if (cores_seen(comparisons, i))
            continue;
        int cores = comparisons[i].measurement->cores;
        color++;
        fprintf(script,
                "%s$cores%d using 1:2:3:4 with yerrorbars linecolor %d pointtype 7 "
                "title '%d cores, measured', $cores%d using 1:5 with lines linecolor %d "
                "title '%d cores, predicted'",
                start, cores, color, cores, cores, color, cores);
        start = ", ";
    }
    fputc('\n', script);
}

int comparison_can_draw(struct error *error) {
    return programs_exist("gnuplot")
               ? 0
               : error_set(error,
                           "gnuplot is missing: install gnuplot-nox, or use another --format");
}

int comparison_draw(const struct comparison *comparisons, size_t n, const char *program,
                    struct error *error) {
    const char *folder = getenv("TMPDIR");
    char *path = memory_format("%s/persik-plot.XXXXXX", folder && *folder ? folder : "/tmp");
    int descriptor = mkstemp(path);
    FILE *script = descriptor < 0 ? NULL : fdopen(descriptor, "w");
    int status = -1;
    if (!script) {
        error_set(error, "cannot write %s: %s", path, strerror(errno));
    } else {
        write_script(script, comparisons, n, program);
        char *argv[] = {"gnuplot", path, NULL};
        fflush(stdout);
        status = fclose(script) == 0
                     ? programs_run(argv, NULL, error)
                     : error_set(error, "cannot write %s: %s", path, strerror(errno));
    }
    if (descriptor >= 0)
        unlink(path);
    free(path);
    return status;
}
