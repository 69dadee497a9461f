#include "model/partition.h"

#include <math.h>

const char *const partition_names[] = {"none",  "shared",  "fixed", "perthread",
                                       "mixed", "unknown", NULL};
const char *const rest_names[] = {"none", "even", "last", "chunks", NULL};

double partition_part(enum rest rest, double total, int threads, int index) {
    if (index < 0 || index >= threads)
        return total / threads;
    double share = floor(total / threads);
    double over = total - share * threads;
    switch (rest) {
    case REST_EVEN:
        return share + (index < over ? 1 : 0);
    case REST_LAST:
        return index == threads - 1 ? share + over : share;
    case REST_CHUNKS: {
        double chunk = ceil(total / threads);
        double left = total - chunk * index;
        return left <= 0 ? 0 : left < chunk ? left : chunk;
    }
    case REST_NONE:
        break;
    }
    return total / threads;
}

/* By how much it grows from one end of part `i` to the other, as the parts beside it tell. Where
 * these tell different things it takes the lesser, and it never falls below 0. */
static double slope(const double *parts, size_t n, size_t i) {
    double before = i > 0 ? parts[i] - parts[i - 1] : 0;
    double after = i + 1 < n ? parts[i + 1] - parts[i] : 0;
    double found = i == 0 ? after : i + 1 == n ? before : (before + after) / 2;
    double most = 2 * parts[i];
    if (i > 0 && i + 1 < n) {
        if (before * after <= 0)
            return 0;
        most = fmin(most, 2 * fmin(fabs(before), fabs(after)));
    }
    return copysign(fmin(fabs(found), most), found);
}

double partition_weight(const double *parts, size_t n, int threads, int index) {
    if (n == 0 || index < 0 || index >= threads)
        return 1;
    double width = (double)n / threads; /* in parts */
    double from = index * width, to = (index + 1) * width, sum = 0;
    for (size_t i = (size_t)from; i < n && (double)i < to; i++) {
        double low = fmax(from - (double)i, 0), high = fmin(to - (double)i, 1);
        double middle = (low + high) / 2;
        sum += (high - low) * (parts[i] + slope(parts, n, i) * (middle - 0.5));
    }
    return sum / width;
}
