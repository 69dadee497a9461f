/* Axes: where the ticks stand, and how values become places. Pure. */
#ifndef PERSIK_HTML_SCALE_H
#define PERSIK_HTML_SCALE_H

#include <stdbool.h>
#include <stddef.h>

struct scale {
    double from, to;     /* values at the ends, from < to; logarithmic: both > 0 */
    bool is_logarithmic; /* to base 2 */
    double first, last;  /* places of the ends, pixels */
};

enum { SCALE_MOST_TICKS = 12 };

/* From 0 to a round value that is at least `most`; 1 where `most` is no value above 0. */
struct scale scale_from_zero(double most, double first, double last);

/* Over the values, which are at least 1 in number and finite; a single one stands in the middle. By
 * powers of two where all are above 0 and the largest is 32 times the smallest or more. */
struct scale scale_over(const double *values, size_t n, double first, double last);

/* The place of a value, which may be beyond the ends. */
double scale_place(const struct scale *scale, double value);

/* The values at which ticks stand, ascending, at most SCALE_MOST_TICKS and about `wanted`; returns
 * how many. `whole`: only at whole numbers. */
size_t scale_ticks(const struct scale *scale, size_t wanted, bool whole,
                   double ticks[SCALE_MOST_TICKS]);

#endif
