/* Real runs of a program over configurations, and their file: CSV, one line per run
 *     threads,cores,round,run_ns,cpu_ns,foreign_ns,computing_ns,memory_ns,
 *     fastest_computing_ns,fastest_memory_ns,sharing
 * so that several models can be judged against the same runs. */
#ifndef PERSIK_CLI_MEASUREMENT_H
#define PERSIK_CLI_MEASUREMENT_H

#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"
#include "base/map.h"
#include "base/sensitivity.h"
#include "cli/programs.h"

struct measurement {
    char *threads; /* as a thread_choice's label: "4", "workers=8,writers=2" */
    int cores;
    struct program_run *items; /* the runs */
    size_t count, capacity;
    double sharing; /* of its cores, as far as is known: set by measurements_speed() */
};

struct measurements {
    struct measurement *items;
    size_t count, capacity;
    struct map places; /* of configurations by their hash: a file may have very many */
};

/* The one for this configuration, added when new. Valid until the next one is added. */
struct measurement *measurements_get(struct measurements *measurements, const char *threads,
                                     int cores);
/* Adds a run to its configuration, which is returned as above. */
struct measurement *measurements_add(struct measurements *measurements, const char *threads,
                                     int cores, const struct program_run *run);
void measurements_free(struct measurements *measurements);

/* Header line, or one run. */
void measurements_write_header(FILE *out);
void measurements_write_run(FILE *out, const struct measurement *measurement, int round,
                            const struct program_run *run);

/* 0, or -1 and `error`: no such file, another form. */
int measurements_load(const char *path, struct measurements *measurements, struct error *error);

struct summary {
    double median, minimum, maximum;
};
struct summary measurement_run_ns(const struct measurement *measurement);
/* Median share of `cores` that the runs used, and that others had: other processes, and the other
 * guests of a virtual machine's host. */
double measurement_utilisation(const struct measurement *measurement);
double measurement_foreign_share(const struct measurement *measurement);

/* The same had the program had its cores for itself, as a prediction supposes: an estimate, for
 * nobody knows which threads stood still meanwhile. */
double measurement_own_run_ns(const struct measurement *measurement);
double measurement_own_utilisation(const struct measurement *measurement);

/* How fast cores were, for a program. */
struct speed {
    double pieces[PACE_KINDS]; /* how long pieces of work take there (base/pace.h), without what the
                                * program itself slows them; 0: not known */
    struct sensitivity sensitivity; /* how much the program minds */
    double slowdown; /* of pieces that compute, against the median of the real runs */
};

/* The speed of a recording in which pieces of work took so long, on so many cores of which the
 * program kept `busy` busy on average (0: not known), for the program that was measured. */
struct speed measurements_speed(struct measurements *measurements,
                                const double piece_ns[PACE_KINDS], int cores, double busy);

/* Is it known how fast the cores were in all of the runs? */
bool measurement_speeds_known(const struct measurement *measurement);

/* measurement_own_run_ns(), every run converted to cores of that speed. Both must be known. */
double measurement_run_ns_at(const struct measurement *measurement, struct speed speed);

/* Sum over the runs of their squared deviations from the median, in parts of it; all at `speed`,
 * or, NULL, as they were. */
double measurement_squares(const struct measurement *measurement, const struct speed *speed);

/* Median of `n` > 0 values, sorted in place. */
double median_of(double *values, size_t n);

#endif
