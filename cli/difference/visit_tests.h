/* Which fragments of two runs differ, by more than chance. Pure. */
#ifndef PERSIK_CLI_DIFFERENCE_VISIT_TESTS_H
#define PERSIK_CLI_DIFFERENCE_VISIT_TESTS_H

#include "cli/difference/visits.h"

struct visit_summary {
    size_t n;                                 /* visits */
    double mean_ns, p50_ns, p95_ns, total_ns; /* NaN without visits, but for the total */
};

struct visit_test {
    const char *place; /* the fragments' */
    enum visit_part part;
    double first_ns; /* in the first run where it is there, else in the second */
    struct visit_summary before, after;
    double distance; /* Kolmogorov-Smirnov: largest difference of the distributions; NaN: one has no
                      * visits */
    double p;        /* that both runs are alike, by distribution and number, corrected */
    double share; /* what the second run takes more there, of the lives of the first one's threads
                   */
    bool differs;
};

struct visit_tests {
    struct visit_test *items;
    size_t count, capacity;
};

/* Of all fragments, both parts. `least`: what differs by a smaller share is taken for alike.
 * The distributions are held against each other by the two-sample Kolmogorov-Smirnov test, the
 * numbers of visits as of Poisson processes; p is Bonferroni's of both, then Holm's (1979) of all
 * fragments. The largest share first, or, `by_time`, who comes first. free(items) ends it. */
struct visit_tests visit_tests_make(const struct visits *before, const struct visits *after,
                                    double least, bool by_time);

/* The probability of a distance at least so large between samples of n and m values of one
 * distribution (asymptotic, Stephens 1970). */
double visit_test_ks(double distance, size_t n, size_t m);

#endif
