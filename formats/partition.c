#include "formats/partition.h"

#include <math.h>
#include <stddef.h>

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
