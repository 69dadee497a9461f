#include "cli/validation/comparison.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/printable.h"
#include "cli/judgement.h"
#include "cli/prediction/uncertainty.h"

double comparison_error(const struct comparison *comparison) {
    return comparison->prediction.result.run_ns.mean /
               measurement_run_ns(comparison->measurement).median -
           1;
}

static struct range error_against(const struct comparison *comparison, struct range time_ns) {
    double predicted_ns = comparison->prediction.result.run_ns.mean;
    return (struct range){predicted_ns / time_ns.value - 1, predicted_ns / time_ns.high - 1,
                          predicted_ns / time_ns.low - 1};
}

struct range comparison_own_error(const struct comparison *comparison) {
    return error_against(comparison, measurement_own_run_ns(comparison->measurement));
}

struct range comparison_equal_speed_error(const struct comparison *comparison) {
    return error_against(comparison, comparison->equal_speed_ns);
}

static double own_error(const struct comparison *comparison) {
    return comparison_own_error(comparison).value;
}

static double equal_speed_error(const struct comparison *comparison) {
    return comparison_equal_speed_error(comparison).value;
}

bool comparison_is_inside(const struct comparison *comparison) {
    struct estimate run_ns =
        uncertainty_widen(comparison->prediction.result.run_ns, comparison->uncertainty);
    double measured_ns = measurement_run_ns(comparison->measurement).median;
    return fabs(measured_ns - run_ns.mean) <= run_ns.half_width;
}

struct error_summary comparison_summary(const struct comparison *comparisons, size_t n,
                                        double error_of(const struct comparison *)) {
    double *errors = memory_alloc(n, sizeof *errors);
    size_t known = 0; /* those without figures have no error */
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        double error = comparisons[i].prediction.no_figures ? NAN : fabs(error_of(&comparisons[i]));
        if (!isfinite(error))
            continue;
        errors[known++] = error;
        sum += error;
    }
    struct error_summary summary = {NAN, NAN, NAN};
    if (known > 0) {
        summary.mean = sum / (double)known;
        summary.median = median_of(errors, known);
        summary.worst = errors[known - 1];
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
    {"predicted_run_ns_simulation_half_width", NULL},
    {"inside", "inside"},
    {"error", "error"},
    {"measured_cpu_utilisation", "CPU measured"},
    {"predicted_cpu_utilisation", "predicted"},
    {"predicted_cpu_utilisation_half_width", NULL},
    {"predicted_cpu_utilisation_simulation_half_width", NULL},
    {"foreign_share", "others had"},
    {"own_run_ns", NULL},
    {"own_run_low_ns", NULL},
    {"own_run_high_ns", NULL},
    {"own_error", "error without"},
    {"own_error_low", NULL},
    {"own_error_high", NULL},
    {"own_cpu_utilisation", NULL},
    {"no_figures", NULL},
    {"equal_speed_run_ns", NULL}, /* from here on only where it is known */
    {"equal_speed_run_low_ns", NULL},
    {"equal_speed_run_high_ns", NULL},
    {"equal_speed_error", "at equal speed"},
    {"equal_speed_error_low", NULL},
    {"equal_speed_error_high", NULL},
};
enum { N_COLUMNS = sizeof columns / sizeof *columns, FIRST_EQUAL_SPEED = N_COLUMNS - 6 };

static void add_time_range(struct table *table, struct range time_ns) {
    table_add_number(table, time_ns.value, UNIT_TIME);
    table_add_number(table, time_ns.low, UNIT_TIME);
    table_add_number(table, time_ns.high, UNIT_TIME);
}

static void add_measured(struct table *table, const struct measurement *measurement) {
    struct summary run_ns = measurement_run_ns(measurement);
    table_add_number(table, run_ns.median, UNIT_TIME);
    table_add_number(table, run_ns.minimum, UNIT_TIME);
    table_add_number(table, run_ns.maximum, UNIT_TIME);
    char low[QUANTITY_BYTES];
    char high[QUANTITY_BYTES];
    char *range = memory_format("%s - %s", quantity_show(run_ns.minimum, UNIT_TIME, low),
                                quantity_show(run_ns.maximum, UNIT_TIME, high));
    table_add_text(table, range);
    free(range);
}

static void add_row(struct table *table, const struct comparison *comparison) {
    const struct measurement *measurement = comparison->measurement;
    const struct sim_result *result = &comparison->prediction.result;
    if (comparison->prediction.threads->all)
        table_add_integer(table, comparison->prediction.threads->all);
    else
        table_add_text(table, measurement->threads);
    table_add_integer(table, measurement->cores);
    table_add_integer(table, (long)measurement->count);
    add_measured(table, measurement);
    table_add_prediction(table, result->run_ns,
                         uncertainty_widen(result->run_ns, comparison->uncertainty), UNIT_TIME);
    table_add_text(table, comparison_is_inside(comparison) ? "yes" : "no");
    table_add_signed_share(table, comparison_error(comparison));
    table_add_number(table, measurement_utilisation(measurement), UNIT_SHARE);
    table_add_prediction(
        table, result->cpu_utilisation,
        uncertainty_widen_utilisation(result->cpu_utilisation, comparison->uncertainty),
        UNIT_SHARE);
    table_add_number(table, measurement_foreign_share(measurement), UNIT_SHARE);
    struct range own = comparison_own_error(comparison);
    struct range equal = comparison_equal_speed_error(comparison);
    add_time_range(table, measurement_own_run_ns(measurement));
    table_add_share_range(table, own.value, own.low, own.high);
    table_add_number(table, measurement_own_utilisation(measurement), UNIT_SHARE);
    table_add_text(table, comparison->prediction.no_figures);
    add_time_range(table, comparison->equal_speed_ns);
    table_add_share_range(table, equal.value, equal.low, equal.high);
}

/* Of all comparisons. */
struct errors {
    struct error_summary raw, own, equal_speed;
    double foreign_share; /* of the cores, on average */
    double run_spread;    /* of single runs; 0: not known */
    size_t fewest_runs;   /* of a configuration */
    size_t n, n_inside;   /* configurations, and those whose measured time the interval holds */
    bool speed_known;
    double equal_speed_spread; /* as run_spread */
    const struct reference *reference;
    double drift, one_core_drift;
    bool drifts_agree;
};

static double squares(const struct comparison *comparison) {
    return measurement_squares(comparison->measurement);
}

static double equal_speed_squares(const struct comparison *comparison) {
    return comparison->equal_speed_squares;
}

/* Standard deviation of single runs, relative to the median of their configuration: one for all, as
 * each alone has few. 0: none was run twice. */
static double spread_of_runs(const struct comparison *comparisons, size_t n,
                             double squares_of(const struct comparison *)) {
    double sum = 0, freedom = 0;
    for (size_t i = 0; i < n; i++) {
        sum += squares_of(&comparisons[i]);
        freedom += (double)comparisons[i].measurement->count - 1;
    }
    return freedom > 0 ? sqrt(sum / freedom) : 0;
}

/* Standard error of the median of so many runs. */
static double error_of_median(double run_spread, size_t n_runs) {
    const double efficiency =
        2 / M_PI; /* of the median of many normal values, against their mean */
    return run_spread / sqrt((double)n_runs * (n_runs > 2 ? efficiency : 1));
}

static struct errors summarize(const struct comparison *comparisons, size_t n,
                               const struct measurements *measurements,
                               const struct reference *reference) {
    struct errors errors = {
        .raw = comparison_summary(comparisons, n, comparison_error),
        .own = comparison_summary(comparisons, n, own_error),
        .equal_speed = comparison_summary(comparisons, n, equal_speed_error),
        .run_spread = spread_of_runs(comparisons, n, squares),
        .fewest_runs = SIZE_MAX,
        .n = n,
        .reference = reference,
        .drift = drift_of(measurements, reference),
        .one_core_drift = drift_of_one_core(measurements, reference),
        .drifts_agree = drifts_agree(measurements, reference),
    };
    for (size_t i = 0; i < n; i++) {
        const struct comparison *comparison = &comparisons[i];
        if (comparison->measurement->count < errors.fewest_runs)
            errors.fewest_runs = comparison->measurement->count;
        errors.foreign_share += measurement_foreign_share(comparison->measurement) / (double)n;
        errors.n_inside += comparison_is_inside(comparison);
        errors.speed_known |= isfinite(comparison->equal_speed_ns.low);
    }
    errors.equal_speed_spread =
        errors.speed_known ? spread_of_runs(comparisons, n, equal_speed_squares) : 0;
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
    json_object_set_new(json, "inside_share",
                        json_real((double)errors->n_inside / (double)errors->n));
    if (errors->run_spread > 0)
        json_object_set_new(json, "run_spread", json_real(errors->run_spread));
    if (errors->speed_known) {
        json_object_set_new(json, "absolute_equal_speed_error", summary_json(errors->equal_speed));
        json_object_set_new(json, "equal_speed_run_spread", json_real(errors->equal_speed_spread));
        json_object_set_new(json, "drift", number_json(errors->drift));
        json_object_set_new(json, "one_core_drift", number_json(errors->one_core_drift));
    }
    table_print_json(json, out);
}

static void print_summary(const char *of, struct error_summary summary, FILE *out) {
    if (isfinite(summary.mean))
        fprintf(out, "%s: mean %.1f %%, median %.1f %%, worst %.1f %%\n", of, 100 * summary.mean,
                100 * summary.median, 100 * summary.worst);
    else
        fprintf(out, "%s: only the ranges are known\n", of);
}

static void print_drift(const struct errors *errors, FILE *out) {
    const struct reference *reference = errors->reference;
    if (!errors->speed_known) {
        fprintf(out, "At equal speed is not known: the recorded configuration %s.\n",
                drift_is_possible(errors->drift) ? "was not among the runs"
                                                 : "does other work than when it was recorded");
        return;
    }
    print_summary("at equal speed", errors->equal_speed, out);
    fprintf(out, "The recorded configuration (threads %s, cores %d), run in turn with the others, ",
            reference->threads, reference->cores);
    if (isnan(errors->drift))
        fputs("shows how the speed drifted, but not what it was when the model was recorded", out);
    else if (fabs(errors->drift - 1) < judgement.drift_noted)
        fputs("takes as much CPU time as when it was recorded", out);
    else
        fprintf(out, "takes %.1f %% %s CPU time than when it was recorded",
                100 * fabs(errors->drift - 1), errors->drift > 1 ? "more" : "less");
    if (!errors->drifts_agree)
        fprintf(out,
                ", and with one core %.1f %% %s: whether several cores are slowed, or its threads "
                "cost each other more or less than then, nobody can tell, so that at equal speed "
                "is from the one to the other",
                100 * fabs(errors->one_core_drift - 1),
                errors->one_core_drift > 1 ? "more" : "less");
    else
        fputs(": at equal speed each run is converted by what that takes before and after it", out);
    if (errors->equal_speed_spread > 0)
        fprintf(out, "; single runs then differ by %.1f %%", 100 * errors->equal_speed_spread);
    fputs(".\n", out);
}

static void print_text(const struct table *table, const struct errors *errors, FILE *out) {
    table_print_text(table, out);
    fputc('\n', out);
    print_summary("absolute error", errors->raw, out);
    fprintf(out,
            "The measured time is inside the predicted interval in %zu of %zu configurations.\n",
            errors->n_inside, errors->n);
    if (errors->run_spread > 0)
        fprintf(out,
                "Single runs of one configuration differ by %.1f %% (standard deviation): the "
                "median of %zu is known within %.1f %%.\n",
                100 * errors->run_spread, errors->fewest_runs,
                100 * error_of_median(errors->run_spread, errors->fewest_runs));
    if (errors->foreign_share >= judgement.foreign_noted) {
        print_summary("without what others had", errors->own, out);
        fprintf(out,
                "Others (processes, and guests of this virtual machine's host) had %.1f %% of the "
                "cores; of that only what the program wanted at that moment is taken off.\n",
                100 * errors->foreign_share);
    }
    print_drift(errors, out);
}

void comparison_print(const struct comparison *comparisons, size_t n, const char *program,
                      const struct measurements *measurements, const struct reference *reference,
                      enum table_format format, FILE *out) {
    struct errors errors = summarize(comparisons, n, measurements, reference);
    struct table_column shown[N_COLUMNS];
    memcpy(shown, columns, sizeof shown);
    for (int i = FIRST_EQUAL_SPEED; i < N_COLUMNS && !errors.speed_known; i++)
        shown[i].title = NULL;
    struct table *table = table_new(shown, N_COLUMNS);
    TABLE_SPARE(table, "min - max", "measured_cpu_utilisation", "predicted_cpu_utilisation",
                "foreign_share", "own_error");
    for (size_t i = 0; i < n; i++)
        add_row(table, &comparisons[i]);
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
static void write_quoted(FILE *script, const char *name) {
    char *line = printable(name);
    fputc('\'', script);
    for (const char *text = line; *text; text++) {
        if (*text == '\'')
            fputc('\'', script);
        fputc(*text, script);
    }
    fputc('\'', script);
    free(line);
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
    FILE *script = programs_input();
    if (!script)
        return error_set(error, "cannot write for gnuplot: %s: close other programs",
                         strerror(errno));
    write_script(script, comparisons, n, program);
    char *argv[] = {"gnuplot", "-", NULL};
    fflush(stdout);
    int status = fflush(script) == 0
                     ? 0
                     : error_set(error, "cannot write for gnuplot: %s: close other programs",
                                 strerror(errno));
    rewind(script);
    if (status == 0)
        status = programs_run(argv, fileno(script), -1, error);
    fclose(script);
    return status;
}
