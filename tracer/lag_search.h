/* By how much two clocks differ, from what both saw: cross-correlation of 0/1 signals by FFT, as in
 * Tarvo 2017, section 4.3.2, but normalised at each lag (Pearson), over all pairs of sources at
 * once, and held against the background. Pure. */
#ifndef PERSIK_TRACER_LAG_SEARCH_H
#define PERSIK_TRACER_LAG_SEARCH_H

#include <stddef.h>

#include "tracer/busy.h"

/* Signals that are compared, each of one side with each of the other. */
struct lag_sides {
    const struct busy *users, *blocks;
    size_t n_users, n_blocks;
};

struct lag_window {
    double from_ns, to_ns;            /* of the users' signals, by the users' clock */
    double least_lag_ns, most_lag_ns; /* user time - block time */
    double bin_ns;
};

/* A peak of the sum, over users, of the best correlation with any of the blocks. */
struct lag_peak {
    double lag_ns;
    double height; /* mean correlation per user; 0 where there is nothing to compare */
    double next;   /* the highest elsewhere */
    double
        chance; /* of a peak so high by chance, from the peaks elsewhere; 1: nothing stands out */
};

/* O(users * blocks * n log n), n the window's bins and those of the lags. */
struct lag_peak lag_search(const struct lag_sides *sides, const struct lag_window *window);

#endif
