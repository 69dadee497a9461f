/* When a thread was in I/O calls, or a device worked on somebody's requests: a 0/1 signal in time,
 * kept as the spans in which it is 1. Pure. */
#ifndef PERSIK_TRACER_BUSY_H
#define PERSIK_TRACER_BUSY_H

#include <stddef.h>

struct busy_span {
    double from_ns, to_ns;
};

struct busy {
    size_t count, capacity;
    struct busy_span *items; /* once settled: by time, apart from each other */
};

/* How one clock reads when another reads `t`: offset_ns + (1 + drift) * t. */
struct clock_line {
    double offset_ns, drift;
};

static inline double clock_line_at(struct clock_line line, double time_ns) {
    return line.offset_ns + (1 + line.drift) * time_ns;
}

/* Of two spans, for qsort(): by when they begin. */
int busy_compare_spans(const void *left, const void *right);

/* Adds a span; one that ends before it begins is none. */
void busy_add(struct busy *busy, double from_ns, double to_ns);

/* Sorts the spans and joins those that overlap. */
void busy_settle(struct busy *busy);

/* When any of these `n` was busy; settled. */
struct busy busy_any(const struct busy *all, size_t n);

void busy_free(struct busy *busy);

/* Takes away from a user's signal what the blocks' requests explain: their spans, by the user's
 * clock, `wider_ns` wider to both sides. */
void busy_explain(struct busy *user, const struct busy *block, struct clock_line line,
                  double wider_ns);

/* The mean of the signal in each of `n` bins of `bin_ns`, the first from `from_ns` on: what the 0/1
 * signal is at that resolution. `bins` is added to. */
void busy_sample(const struct busy *busy, double from_ns, double bin_ns, double *bins, size_t n);

/* Number of the first span that ends after `time_ns`. */
size_t busy_first_after(const struct busy *busy, double time_ns);

/* Pearson's correlation of both signals in [from, to) of the user's clock, with the blocks' times
 * brought there by `line`; -1..1, 0 where one of them does not change. Exact, without bins. */
double busy_correlation(const struct busy *user, const struct busy *block, struct clock_line line,
                        double from_ns, double to_ns);

/* Fisher's transformation of a correlation, after which its spread does not depend on it. */
double busy_fisher(double correlation);

/* Mean length of the spans; 0: there are none. */
double busy_mean_ns(const struct busy *busy);

#endif
