#include "cli/validation/measurement.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "cli/recording/disturbance.h"

static bool is_of(const struct measurement *measurement, const char *threads, int cores) {
    return measurement->cores == cores && strcmp(measurement->threads, threads) == 0;
}

struct measurement *measurements_get(struct measurements *measurements, const char *threads,
                                     int cores) {
    uint64_t hash = map_mix_text(map_mix(1, (uint64_t)cores), threads);
    int place = map_get(&measurements->places, hash, -1);
    if (place >= 0 && is_of(&measurements->items[place], threads, cores))
        return &measurements->items[place];
    for (size_t i = 0; place >= 0 && i < measurements->count; i++) /* another has the same hash */
        if (is_of(&measurements->items[i], threads, cores))
            return &measurements->items[i];
    if (place < 0)
        map_put(&measurements->places, hash, (int)measurements->count);
    struct measurement *added = VECTOR_ADD(measurements);
    *added = (struct measurement){.threads = memory_strdup(threads), .cores = cores};
    return added;
}

struct measurement *measurements_add(struct measurements *measurements, const char *threads,
                                     int cores, bool reference, const struct program_run *run) {
    struct measurement *measurement = measurements_get(measurements, threads, cores);
    *VECTOR_ADD(measurement) = (struct measured_run){*run, measurements->n_runs++};
    if (!reference && !measurement->asked)
        measurement->asked = measurements->n_runs;
    return measurement;
}

void measurements_free(struct measurements *measurements) {
    for (size_t i = 0; i < measurements->count; i++) {
        free(measurements->items[i].threads);
        free(measurements->items[i].items);
    }
    free(measurements->items);
    map_free(&measurements->places);
    *measurements = (struct measurements){0};
}

/* ---- the file ---- */

static const char header[] = "threads,cores,round,run_ns,cpu_ns";

/* What follows, the oldest form first. Pieces of work were how persik looked at the cores' speed
 * once: they are passed over. */
#define PIECES  ",foreign_ns,computing_ns,memory_ns,fastest_computing_ns,fastest_memory_ns"
#define SHARING PIECES ",sharing"
enum form { FORM_BARE, FORM_FOREIGN, FORM_PIECES, FORM_SHARING, FORM_DELAYS, N_FORMS };
static const char *const forms[N_FORMS] = {
    [FORM_BARE] = "",
    [FORM_FOREIGN] = ",foreign_ns",
    [FORM_PIECES] = PIECES,
    [FORM_SHARING] = (SHARING),
    [FORM_DELAYS] = ",foreign_ns,stolen_ns,delay_ns,longest_cpu_ns,reference"};

void measurements_write_header(FILE *out) {
    fprintf(out, "%s%s\n", header, forms[FORM_DELAYS]);
    fflush(out);
}

void measurements_write_run(FILE *out, const struct measurement *measurement, int round,
                            bool reference, const struct program_run *run) {
    const char *quote = strchr(measurement->threads, ',') ? "\"" : "";
    fprintf(out, "%s%s%s,%d,%d,%" PRIu64 ",%" PRIu64 ",%" PRIu64, quote, measurement->threads,
            quote, measurement->cores, round, run->run_ns, run->cpu_ns, run->foreign_ns);
    fprintf(out, ",%" PRIu64 ",%.0f,%" PRIu64 ",%d\n", run->stolen_ns, run->delay_ns,
            run->longest_cpu_ns, reference);
    fflush(out);
}

/* Splits off the first field, quoted or not. NULL when the line has only one. */
static char *split_threads(char *line, char **rest) {
    bool quoted = *line == '"';
    char *field = line + quoted;
    char *end = strchr(field, quoted ? '"' : ',');
    if (!end || (quoted && end[1] != ','))
        return NULL;
    *end = '\0';
    *rest = end + 1 + quoted;
    return field;
}

/* -1: it is no such file. */
static int form_of(const char *line) {
    size_t length = strlen(header);
    if (strncmp(line, header, length) != 0)
        return -1;
    for (int i = 0; i < N_FORMS; i++)
        if (strcmp(line + length, forms[i]) == 0)
            return i;
    return -1;
}

/* The columns after the common ones. */
static bool read_rest(const char *rest, enum form form, struct program_run *run, int *reference) {
    int used = 0;
    switch (form) {
    case FORM_FOREIGN:
        sscanf(rest, ",%" SCNu64 "%n", &run->foreign_ns, &used);
        break;
    case FORM_PIECES:
        sscanf(rest, ",%" SCNu64 ",%*f,%*f,%*f,%*f%n", &run->foreign_ns, &used);
        break;
    case FORM_SHARING:
        sscanf(rest, ",%" SCNu64 ",%*f,%*f,%*f,%*f,%*f%n", &run->foreign_ns, &used);
        break;
    case FORM_DELAYS:
        sscanf(rest, ",%" SCNu64 ",%" SCNu64 ",%lf,%" SCNu64 ",%d%n", &run->foreign_ns,
               &run->stolen_ns, &run->delay_ns, &run->longest_cpu_ns, reference, &used);
        break;
    default:
        return *rest == '\0';
    }
    return used > 0 && rest[used] == '\0';
}

/* Times that can be. */
static bool is_sound(const struct program_run *run) {
    return isfinite(run->delay_ns);
}

static bool read_run(char *line, enum form form, struct measurements *measurements) {
    char *rest;
    const char *threads = split_threads(line, &rest);
    int cores, round, used = 0, reference = 0;
    struct program_run run = {.delay_ns = -1};
    if (!threads || !*threads ||
        sscanf(rest, "%d,%d,%" SCNu64 ",%" SCNu64 "%n", &cores, &round, &run.run_ns, &run.cpu_ns,
               &used) != 4)
        return false;
    if (!read_rest(rest + used, form, &run, &reference) || cores < 1 || run.run_ns == 0 ||
        !is_sound(&run))
        return false;
    measurements_add(measurements, threads, cores, reference != 0, &run);
    return true;
}

static int read_lines(FILE *in, const char *path, struct measurements *measurements,
                      struct error *error) {
    char line[4096];
    int number = 0, form = -1;
    while (fgets(line, sizeof line, in)) {
        number++;
        line[strcspn(line, "\r\n")] = '\0';
        if (number == 1)
            form = form_of(line);
        bool good = number == 1 ? form >= 0 : read_run(line, (enum form)form, measurements);
        if (!good)
            return error_set(error,
                             "%s:%d: not a measurement: the file must be one that "
                             "`persik validate --measurements` wrote",
                             path, number);
    }
    if (measurements->count == 0)
        return error_set(error,
                         "%s holds no measurements: run `persik validate --measurements %s` "
                         "again",
                         path, path);
    if (form != FORM_DELAYS)
        log_warning("%s is an older persik's: it does not say when threads waited for a core, nor "
                    "has it the recorded configuration in turn with the others: errors without "
                    "others and at equal speed are less sure than after measuring again",
                    path);
    return 0;
}

int measurements_load(const char *path, struct measurements *measurements, struct error *error) {
    *measurements = (struct measurements){0};
    FILE *in = fopen(path, "r");
    if (!in)
        return error_set(error, "cannot read %s: %s", path, strerror(errno));
    int status = read_lines(in, path, measurements, error);
    fclose(in);
    if (status < 0)
        measurements_free(measurements);
    return status;
}

/* ---- statistics ---- */

static int compare_numbers(const void *left, const void *right) {
    double a = *(const double *)left;
    double b = *(const double *)right;
    return (a > b) - (a < b);
}

double median_of(double *values, size_t n) {
    qsort(values, n, sizeof *values, compare_numbers);
    return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

/* Shares of the run's cores that the program used, and that others had. */
static double used_share(const struct program_run *run, int cores) {
    return (double)run->cpu_ns / ((double)run->run_ns * cores);
}

static double foreign_share(const struct program_run *run, int cores) {
    return fmin(disturbance_share(run, cores), 1);
}

const struct range range_unknown = {NAN, NAN, NAN};

struct range own_run_ns(const struct program_run *run, int cores) {
    double run_ns = (double)run->run_ns;
    double foreign_ns = foreign_share(run, cores) * run_ns * cores;
    bool known = run->delay_ns >= 0 || foreign_ns == 0;
    double wanted_ns =
        known ? fmin(foreign_ns, fmax(run->delay_ns, 0) + (double)run->stolen_ns) : foreign_ns;
    double least_ns = fmax((double)run->cpu_ns / cores, (double)run->longest_cpu_ns);
    least_ns = fmin(least_ns, run_ns);
    double wanting = fmin(fmax(((double)run->cpu_ns + wanted_ns) / run_ns, 1), cores);
    return (struct range){.value = known ? fmax(run_ns - wanted_ns / wanting, least_ns) : NAN,
                          .low = fmax(run_ns - wanted_ns, least_ns),
                          .high = run_ns};
}

static double run_ns(const struct program_run *run, int cores) {
    (void)cores;
    return (double)run->run_ns;
}

static double own_value_ns(const struct program_run *run, int cores) {
    return own_run_ns(run, cores).value;
}

static double own_low_ns(const struct program_run *run, int cores) {
    return own_run_ns(run, cores).low;
}

static double own_used_share(const struct program_run *run, int cores) {
    return (double)run->cpu_ns / (own_run_ns(run, cores).value * cores);
}

/* Over the runs. */
static struct summary summarize(const struct measurement *measurement,
                                double value_of(const struct program_run *, int)) {
    double *values = memory_alloc(measurement->count, sizeof *values);
    for (size_t i = 0; i < measurement->count; i++)
        values[i] = value_of(&measurement->items[i].run, measurement->cores);
    struct summary summary = {.median = median_of(values, measurement->count)};
    summary.minimum = values[0];
    summary.maximum = values[measurement->count - 1];
    free(values);
    return summary;
}

struct summary measurement_run_ns(const struct measurement *measurement) {
    return summarize(measurement, run_ns);
}

double measurement_utilisation(const struct measurement *measurement) {
    return summarize(measurement, used_share).median;
}

double measurement_foreign_share(const struct measurement *measurement) {
    return summarize(measurement, foreign_share).median;
}

/* NaN where it is NaN of any run. */
static double median_if_known(const struct measurement *measurement,
                              double value_of(const struct program_run *, int)) {
    for (size_t i = 0; i < measurement->count; i++)
        if (isnan(value_of(&measurement->items[i].run, measurement->cores)))
            return NAN;
    return summarize(measurement, value_of).median;
}

struct range measurement_own_run_ns(const struct measurement *measurement) {
    return (struct range){.value = median_if_known(measurement, own_value_ns),
                          .low = summarize(measurement, own_low_ns).median,
                          .high = summarize(measurement, run_ns).median};
}

double measurement_own_utilisation(const struct measurement *measurement) {
    return median_if_known(measurement, own_used_share);
}

double measurement_squares(const struct measurement *measurement) {
    double median_ns = measurement_run_ns(measurement).median;
    double squares = 0;
    for (size_t i = 0; i < measurement->count; i++)
        squares += pow((double)measurement->items[i].run.run_ns / median_ns - 1, 2);
    return squares;
}
