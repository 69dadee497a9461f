/* Whose requests are whose, and how the clocks differ, where two logs name neither the same threads
 * nor the same times: by cross-correlation (Tarvo 2017, section 4.3.2), and then
 *  - all pairs share one pair of clocks, so that the lag is searched for all together;
 *  - the lag is followed through the log, for clocks drift;
 *  - what stands out is told from what chance gives, and nothing is paired that does not.
 * Pure. */
#ifndef PERSIK_TRACER_CORRELATE_H
#define PERSIK_TRACER_CORRELATE_H

#include <stdbool.h>
#include <stddef.h>

#include "tracer/busy.h"

#define CORRELATE_NONE ((size_t)-1)

struct correlate_input {
    const struct busy *users;  /* settled; a thread's I/O calls */
    const struct busy *blocks; /* settled; the requests of one issuer */
    size_t n_users, n_blocks;
    double least_lag_ns, most_lag_ns; /* user time - block time is between them */
    double most_drift;                /* 1e-4: 100 ppm */
};

struct correlate_pair {
    size_t block;
    size_t user;        /* CORRELATE_NONE: all threads share this issuer */
    double correlation; /* of both signals over the whole log, the clocks aligned */
    double next;        /* of this issuer with the best other thread */
    double confidence;  /* that they belong together: 1 - chance of such a correlation elsewhere */
};

struct correlation {
    bool found;                  /* a lag stands out; else nothing below but lag_* is set */
    struct clock_line line;      /* user time of a block time */
    double lag_confidence;       /* 1 - chance that the background has such a peak */
    double lag_height, lag_next; /* the peak and the next one: mean correlation per thread */
    double spread_ns;            /* of the windows' lags around the line; 0: one window */
    size_t n_windows;
    struct correlate_pair *pairs; /* the highest correlation first; no issuer twice */
    size_t n_pairs;
};

struct correlation correlate(const struct correlate_input *input);

/* How well an issuer goes with a thread if the clocks are that far apart; of the result, only
 * `correlation` and `confidence` are set. */
struct correlate_pair correlate_at(const struct busy *user, const struct busy *block,
                                   struct clock_line line, double from_ns, double to_ns);
void correlation_free(struct correlation *correlation);

#endif
