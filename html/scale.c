#include "html/scale.h"

#include <math.h>

#define LOGARITHMIC_FROM 32 /* times the smallest value */

/* The smallest of 1, 2, 5 times a power of ten that is at least `least`. */
static double round_step(double least) {
    double power = pow(10, floor(log10(least)));
    double digits = least / power;
    double rounded = digits <= 1 ? 1 : digits <= 2 ? 2 : digits <= 5 ? 5 : 10;
    return rounded * power;
}

struct scale scale_from_zero(double most, double first, double last) {
    enum { STEPS = 5 };
    if (!isfinite(most) || most <= 0)
        return (struct scale){.from = 0, .to = 1, .first = first, .last = last};
    double step = round_step(most / STEPS);
    return (struct scale){
        .from = 0, .to = step * ceil(most / step - 1e-9), .first = first, .last = last};
}

struct scale scale_over(const double *values, size_t n, double first, double last) {
    double least = values[0], most = values[0];
    for (size_t i = 1; i < n; i++) {
        least = fmin(least, values[i]);
        most = fmax(most, values[i]);
    }
    struct scale scale = {.from = least, .to = most, .first = first, .last = last};
    scale.is_logarithmic = least > 0 && most >= LOGARITHMIC_FROM * least;
    if (least == most) {
        scale.from = least - 1;
        scale.to = most + 1;
    }
    return scale;
}

double scale_place(const struct scale *scale, double value) {
    double share = scale->is_logarithmic ? log2(value / scale->from) / log2(scale->to / scale->from)
                                         : (value - scale->from) / (scale->to - scale->from);
    return scale->first + share * (scale->last - scale->first);
}

static size_t logarithmic_ticks(const struct scale *scale, double ticks[SCALE_MOST_TICKS]) {
    double decades = log2(scale->to / scale->from);
    double factor = exp2(ceil(decades / (SCALE_MOST_TICKS - 1)));
    size_t n = 0;
    double tick = exp2(ceil(log2(scale->from) - 1e-9));
    for (; tick <= scale->to * (1 + 1e-9) && n < SCALE_MOST_TICKS; tick *= factor)
        ticks[n++] = tick;
    return n;
}

size_t scale_ticks(const struct scale *scale, size_t wanted, bool whole,
                   double ticks[SCALE_MOST_TICKS]) {
    if (scale->is_logarithmic)
        return logarithmic_ticks(scale, ticks);
    double step = round_step((scale->to - scale->from) / (double)(wanted > 1 ? wanted : 1));
    if (whole && step < 1)
        step = 1;
    double first = step * ceil(scale->from / step - 1e-9);
    size_t n = 0;
    for (; n < SCALE_MOST_TICKS; n++) {
        double tick = first + (double)n * step;
        if (tick > scale->to + step * 1e-9)
            break;
        ticks[n] = fabs(tick) < step * 1e-9 ? 0 : tick;
    }
    return n;
}
