#include "cli/measurement.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/sensitivity.h"
#include "cli/load.h"

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
                                     int cores, const struct program_run *run) {
    struct measurement *measurement = measurements_get(measurements, threads, cores);
    *VECTOR_ADD(measurement) = *run;
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

/* The last columns are younger than the file: without them nobody else had a share of the cores,
 * and nobody watched how fast these were. */
static const char header[] = "threads,cores,round,run_ns,cpu_ns";
static const char *const younger[] = {
    "", ",foreign_ns", ",foreign_ns,computing_ns,memory_ns,fastest_computing_ns,fastest_memory_ns",
    ",foreign_ns,computing_ns,memory_ns,fastest_computing_ns,fastest_memory_ns,sharing"};
enum { N_YOUNGER = sizeof younger / sizeof *younger };

void measurements_write_header(FILE *out) {
    fprintf(out, "%s%s\n", header, younger[N_YOUNGER - 1]);
    fflush(out);
}

void measurements_write_run(FILE *out, const struct measurement *measurement, int round,
                            const struct program_run *run) {
    const char *quote = strchr(measurement->threads, ',') ? "\"" : "";
    fprintf(out, "%s%s%s,%d,%d,%" PRIu64 ",%" PRIu64 ",%" PRIu64, quote, measurement->threads,
            quote, measurement->cores, round, run->run_ns, run->cpu_ns, run->foreign_ns);
    const struct pace_reading *pace = &run->pace;
    fprintf(out, ",%.17g,%.17g,%.17g,%.17g,%.17g\n", pace->piece_ns[PACE_COMPUTING],
            pace->piece_ns[PACE_MEMORY], pace->fastest_ns[PACE_COMPUTING],
            pace->fastest_ns[PACE_MEMORY], run->sharing);
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

/* How many of the younger columns the file has; -1: it is no such file. */
static int younger_columns(const char *line) {
    size_t length = strlen(header);
    if (strncmp(line, header, length) != 0)
        return -1;
    for (int i = 0; i < N_YOUNGER; i++)
        if (strcmp(line + length, younger[i]) == 0)
            return i;
    return -1;
}

static bool read_younger(const char *rest, int columns, struct program_run *run) {
    int used = 0, more = 0, last = 0;
    if (columns > 0 && sscanf(rest, ",%" SCNu64 "%n", &run->foreign_ns, &used) != 1)
        return false;
    struct pace_reading *pace = &run->pace;
    if (columns > 1 && sscanf(rest + used, ",%lf,%lf,%lf,%lf%n", &pace->piece_ns[PACE_COMPUTING],
                              &pace->piece_ns[PACE_MEMORY], &pace->fastest_ns[PACE_COMPUTING],
                              &pace->fastest_ns[PACE_MEMORY], &more) != 4)
        return false;
    if (columns > 2 && sscanf(rest + used + more, ",%lf%n", &run->sharing, &last) != 1)
        return false;
    return rest[used + more + last] == '\0';
}

/* Speeds and shares that can be; not known is 0. */
static bool is_sound(const struct program_run *run) {
    for (size_t kind = 0; kind < PACE_KINDS; kind++)
        if (!isfinite(run->pace.piece_ns[kind]) || run->pace.piece_ns[kind] < 0 ||
            !isfinite(run->pace.fastest_ns[kind]) || run->pace.fastest_ns[kind] < 0)
            return false;
    return isfinite(run->sharing) && run->sharing >= 0;
}

static bool read_run(char *line, int columns, struct measurements *measurements) {
    char *rest;
    const char *threads = split_threads(line, &rest);
    int cores;
    int round;
    int used = 0;
    struct program_run run = {0};
    if (!threads || !*threads ||
        sscanf(rest, "%d,%d,%" SCNu64 ",%" SCNu64 "%n", &cores, &round, &run.run_ns, &run.cpu_ns,
               &used) != 4)
        return false;
    if (!read_younger(rest + used, columns, &run) || cores < 1 || run.run_ns == 0 ||
        !is_sound(&run))
        return false;
    measurements_add(measurements, threads, cores, &run);
    return true;
}

static int read_lines(FILE *in, const char *path, struct measurements *measurements,
                      struct error *error) {
    char line[4096];
    int number = 0, columns = 0;
    while (fgets(line, sizeof line, in)) {
        number++;
        line[strcspn(line, "\r\n")] = '\0';
        if (number == 1)
            columns = younger_columns(line);
        bool good = number == 1 ? columns >= 0 : read_run(line, columns, measurements);
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
    return fmin(load_share(run, cores), 1);
}

/* What others have delays a program as far as it would have used it: as it used the rest. It takes
 * no less than its own CPU time in any case. */
static double own_run_ns(const struct program_run *run, int cores) {
    double foreign = foreign_share(run, cores), used = used_share(run, cores);
    double use = used > 0 ? fmin(used / fmax(1 - foreign, used), 1) : 0;
    return fmax((double)run->run_ns * (1 - use * foreign), (double)run->cpu_ns / cores);
}

static double run_ns(const struct program_run *run, int cores) {
    (void)cores;
    return (double)run->run_ns;
}

static double own_used_share(const struct program_run *run, int cores) {
    return (double)run->cpu_ns / (own_run_ns(run, cores) * cores);
}

/* Over the runs. */
static struct summary summarize(const struct measurement *measurement,
                                double value_of(const struct program_run *, int)) {
    double *values = memory_alloc(measurement->count, sizeof *values);
    for (size_t i = 0; i < measurement->count; i++)
        values[i] = value_of(&measurement->items[i], measurement->cores);
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

double measurement_own_run_ns(const struct measurement *measurement) {
    return summarize(measurement, own_run_ns).median;
}

double measurement_own_utilisation(const struct measurement *measurement) {
    return summarize(measurement, own_used_share).median;
}

/* ---- speed ---- */

bool measurement_speeds_known(const struct measurement *measurement) {
    bool known = measurement->count > 0;
    for (size_t i = 0; i < measurement->count; i++)
        for (int kind = 0; kind < PACE_KINDS; kind++)
            known = known && measurement->items[i].pace.piece_ns[kind] > 0;
    return known;
}

/* How many times as long a piece that computes takes for what the program itself does, which keeps
 * so many of the cores busy on average: that is for the model to know. */
static double slowed_by_itself(double sharing, int cores, double busy) {
    if (cores < 2 || sharing <= 0)
        return 1;
    return 1 + (sharing - 1) * (fmin(fmax(busy, 1), cores) - 1) / (cores - 1);
}

/* What so many cores share: the median of all looks, for a host may have both cores of a virtual
 * machine on one of its own for a moment. 0: not known. */
static double sharing_of(const struct measurements *measurements, int cores) {
    struct {
        double *items;
        size_t count, capacity;
    } looks = {0};
    for (size_t m = 0; m < measurements->count; m++) {
        const struct measurement *measurement = &measurements->items[m];
        for (size_t i = 0; measurement->cores == cores && i < measurement->count; i++)
            if (measurement->items[i].sharing > 0)
                *VECTOR_ADD(&looks) = measurement->items[i].sharing;
    }
    double sharing = looks.count ? median_of(looks.items, looks.count) : 0;
    free(looks.items);
    return sharing;
}

/* Gives for which share of each run at least one thread may have computed, all added up. */
static double add_slowed_runs(struct slowed_runs *runs, const struct measurement *measurement) {
    double share = 0;
    struct slowed_run *added = memory_alloc(measurement->count, sizeof *added);
    size_t n = 0;
    for (size_t i = 0; i < measurement->count; i++) {
        const struct program_run *run = &measurement->items[i];
        if (load_disturbed(run, measurement->cores)) /* then its own time is a rough estimate */
            continue;
        memcpy(added[n].pieces, run->pace.piece_ns, sizeof added[n].pieces);
        added[n].time = own_run_ns(run, measurement->cores);
        share += fmin((double)run->cpu_ns / added[n++].time, 1);
    }
    sensitivity_add(runs, added, n);
    free(added);
    return share;
}

static struct sensitivity find_sensitivity(const struct measurements *measurements) {
    struct slowed_runs runs = {0};
    double share = 0;
    for (size_t i = 0; i < measurements->count; i++)
        if (measurement_speeds_known(&measurements->items[i]))
            share += add_slowed_runs(&runs, &measurements->items[i]);
    struct sensitivity sensitivity =
        sensitivity_of(&runs, runs.count ? share / (double)runs.count : 1);
    free(runs.items);
    return sensitivity;
}

static void take_off(const double piece_ns[PACE_KINDS], double by_itself,
                     double pieces[PACE_KINDS]) {
    memcpy(pieces, piece_ns, PACE_KINDS * sizeof *pieces);
    pieces[PACE_COMPUTING] /= by_itself;
}

/* The recording's pieces against the median of the real runs'. */
static double recorded_slowdown(const struct measurements *measurements, double recorded_ns) {
    struct {
        double *items;
        size_t count, capacity;
    } pieces = {0};
    for (size_t m = 0; m < measurements->count; m++)
        for (size_t i = 0; i < measurements->items[m].count; i++)
            *VECTOR_ADD(&pieces) = measurements->items[m].items[i].pace.piece_ns[PACE_COMPUTING];
    double slowdown = pieces.count ? recorded_ns / median_of(pieces.items, pieces.count) : NAN;
    free(pieces.items);
    return slowdown;
}

struct speed measurements_speed(struct measurements *measurements,
                                const double piece_ns[PACE_KINDS], int cores, double busy) {
    for (size_t m = 0; m < measurements->count; m++)
        measurements->items[m].sharing = sharing_of(measurements, measurements->items[m].cores);
    struct speed speed = {.sensitivity = find_sensitivity(measurements),
                          .slowdown = recorded_slowdown(measurements, piece_ns[PACE_COMPUTING])};
    take_off(piece_ns,
             slowed_by_itself(sharing_of(measurements, cores), cores, busy > 0 ? busy : cores),
             speed.pieces);
    return speed;
}

static double run_ns_at(const struct measurement *measurement, size_t i, struct speed speed) {
    const struct program_run *run = &measurement->items[i];
    double pieces[PACE_KINDS];
    take_off(run->pace.piece_ns,
             slowed_by_itself(measurement->sharing, measurement->cores,
                              own_used_share(run, measurement->cores) * measurement->cores),
             pieces);
    return sensitivity_convert(own_run_ns(run, measurement->cores), pieces, speed.pieces,
                               speed.sensitivity);
}

double measurement_run_ns_at(const struct measurement *measurement, struct speed speed) {
    double *times = memory_alloc(measurement->count, sizeof *times);
    for (size_t i = 0; i < measurement->count; i++)
        times[i] = run_ns_at(measurement, i, speed);
    double median = median_of(times, measurement->count);
    free(times);
    return median;
}

double measurement_squares(const struct measurement *measurement, const struct speed *speed) {
    double median_ns =
        speed ? measurement_run_ns_at(measurement, *speed) : measurement_run_ns(measurement).median;
    double squares = 0;
    for (size_t i = 0; i < measurement->count; i++) {
        double ns =
            speed ? run_ns_at(measurement, i, *speed) : (double)measurement->items[i].run_ns;
        squares += pow(ns / median_ns - 1, 2);
    }
    return squares;
}
