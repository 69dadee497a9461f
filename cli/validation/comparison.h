/* Prediction beside measurement: the result of `persik validate`. */
#ifndef PERSIK_CLI_VALIDATION_COMPARISON_H
#define PERSIK_CLI_VALIDATION_COMPARISON_H

#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"
#include "cli/prediction/prediction.h"
#include "cli/text/table.h"
#include "cli/validation/drift.h"
#include "cli/validation/measurement.h"

struct comparison {
    const struct measurement *measurement;
    struct prediction prediction;
    struct range equal_speed_ns; /* drift_equal_speed_ns() */
    double equal_speed_squares;  /* drift_squares() */
    double uncertainty;          /* uncertainty_share() */
};

/* predicted / measured - 1, of the running time; the paper's error with its sign. Raw: this one
 * stands first. */
double comparison_error(const struct comparison *comparison);

/* Is the measured time, raw, inside the interval that is printed? */
bool comparison_is_inside(const struct comparison *comparison);

/* The same error against the time that the program would have taken with its cores for itself, and
 * at the speed of the recording. NaN: not known, but for the range. */
struct range comparison_own_error(const struct comparison *comparison);
struct range comparison_equal_speed_error(const struct comparison *comparison);

struct error_summary {
    double mean, median, worst; /* of the absolute errors; NaN: none is known */
};
/* Of those that are known. */
struct error_summary comparison_summary(const struct comparison *comparisons, size_t n,
                                        double error_of(const struct comparison *));

/* Prints as table, CSV or JSON. `measurements`: all that were made; `reference`: the recorded
 * configuration. */
void comparison_print(const struct comparison *comparisons, size_t n, const char *program,
                      const struct measurements *measurements, const struct reference *reference,
                      enum table_format format, FILE *out);

/* 0, or -1 and `error`: what drawing needs is not installed. */
int comparison_can_draw(struct error *error);

/* Draws with gnuplot, as SVG on stdout: measured points with their range, predicted lines, one
 * series per number of cores. 0, or -1 and `error`: no room. */
int comparison_draw(const struct comparison *comparisons, size_t n, const char *program,
                    struct error *error);

#endif
