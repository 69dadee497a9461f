/* Real runs of a program over configurations, and their file: CSV, one line per run, in the order
 * in which they were made,
 *     threads,cores,round,run_ns,cpu_ns,foreign_ns,stolen_ns,delay_ns,longest_cpu_ns,reference
 * so that several models can be judged against the same runs. The header is the version: files of
 * older ones are read as far as they go. */
#ifndef PERSIK_CLI_VALIDATION_MEASUREMENT_H
#define PERSIK_CLI_VALIDATION_MEASUREMENT_H

#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"
#include "base/map.h"
#include "cli/recording/programs.h"

struct measured_run {
    struct program_run run;
    size_t place; /* in time: 0, 1, ... of all runs */
};

struct measurement {
    char *threads; /* as a thread_choice's label: "4", "workers=8,writers=2" */
    int cores;
    size_t asked; /* the place of the first run that was to be compared, + 1; 0: there is none, it
                   * is the recorded configuration, only run in between to see the speed drift */
    struct measured_run *items; /* the runs, as they came */
    size_t count, capacity;
};

struct measurements {
    struct measurement *items;
    size_t count, capacity;
    struct map places; /* of configurations by their hash: a file may have very many */
    size_t n_runs;
};

/* The one for this configuration, added when new. Valid until the next one is added. */
struct measurement *measurements_get(struct measurements *measurements, const char *threads,
                                     int cores);
/* Adds a run, the latest one, to its configuration, which is returned as above. `reference`: made
 * only to see the speed drift. */
struct measurement *measurements_add(struct measurements *measurements, const char *threads,
                                     int cores, bool reference, const struct program_run *run);
void measurements_free(struct measurements *measurements);

/* Header line, or one run. */
void measurements_write_header(FILE *out);
void measurements_write_run(FILE *out, const struct measurement *measurement, int round,
                            bool reference, const struct program_run *run);

/* 0, or -1 and `error`: no such file, another form. Warns of a file that an older persik wrote. */
int measurements_load(const char *path, struct measurements *measurements, struct error *error);

struct summary {
    double median, minimum, maximum;
};
struct summary measurement_run_ns(const struct measurement *measurement);
/* Median share of `cores` that the runs used, and that others had: other processes, and the other
 * guests of a virtual machine's host. */
double measurement_utilisation(const struct measurement *measurement);
double measurement_foreign_share(const struct measurement *measurement);

/* What cannot be known exactly: surely from `low` to `high`, most likely `value`; NaN: nobody can
 * tell where between them. */
struct range {
    double value, low, high;
};
extern const struct range range_unknown; /* all NaN */

/* How long a run would have taken with its cores for itself, as a prediction supposes. Others
 * delayed it only while they had a core and one of its threads was ready and had none. That is
 * taken off as if it fell alike on as many threads as wanted a core on average; at most all of it
 * was on the way of the thread that ends last, at least nothing. Where it is not known when threads
 * were ready, only the range is. No run is shorter than its longest thread's CPU time. */
struct range own_run_ns(const struct program_run *run, int cores);

/* Its median over the runs. */
struct range measurement_own_run_ns(const struct measurement *measurement);
double measurement_own_utilisation(const struct measurement *measurement);

/* Sum over the runs of their squared deviations from the median, in parts of it. */
double measurement_squares(const struct measurement *measurement);

/* Median of `n` > 0 values, sorted in place. */
double median_of(double *values, size_t n);

#endif
