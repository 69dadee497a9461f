#include "cli/difference/visit_tests.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "cli/judgement.h"

static const struct samples no_samples;

static int by_value(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return a < b ? -1 : a > b;
}

/* Sorted; the caller frees the items. */
static struct samples sorted(const struct samples *samples) {
    struct samples copy = {.count = samples->count};
    copy.items = memory_alloc(copy.count + 1, sizeof *copy.items);
    if (copy.count > 0) {
        memcpy(copy.items, samples->items, copy.count * sizeof *copy.items);
        VECTOR_SORT(&copy, by_value);
    }
    return copy;
}

static double quantile(const struct samples *ordered, double share) {
    size_t at = (size_t)ceil(share * (double)ordered->count);
    return ordered->count == 0 ? NAN : ordered->items[at > 0 ? at - 1 : 0];
}

static struct visit_summary summarise(const struct samples *ordered) {
    struct visit_summary summary = {.n = ordered->count};
    for (size_t i = 0; i < ordered->count; i++)
        summary.total_ns += ordered->items[i];
    summary.mean_ns = ordered->count ? summary.total_ns / (double)ordered->count : NAN;
    summary.p50_ns = quantile(ordered, 0.5);
    summary.p95_ns = quantile(ordered, 0.95);
    return summary;
}

/* ---- the tests ---- */

/* NaN: one is empty. */
static double ks_distance(const struct samples *a, const struct samples *b) {
    size_t i = 0, j = 0;
    double most = 0;
    if (a->count == 0 || b->count == 0)
        return NAN;
    while (i < a->count && j < b->count) {
        double value = fmin(a->items[i], b->items[j]);
        while (i < a->count && a->items[i] <= value)
            i++;
        while (j < b->count && b->items[j] <= value)
            j++;
        most = fmax(most, fabs((double)i / (double)a->count - (double)j / (double)b->count));
    }
    return most;
}

double visit_test_ks(double distance, size_t n, size_t m) {
    double root = sqrt((double)n * (double)m / (double)(n + m));
    double lambda = (root + 0.12 + 0.11 / root) * distance;
    if (lambda < 0.2) /* the series converges too slowly, and the sum is 1 */
        return 1;
    double sum = 0;
    for (int k = 1; k <= 100; k++)
        sum += (k % 2 ? 2 : -2) * exp(-2 * k * k * lambda * lambda);
    return fmin(fmax(sum, 0), 1);
}

static double number_p(size_t n, size_t m) {
    double all = (double)(n + m);
    return all > 0 ? erfc(fabs((double)n - (double)m) / sqrt(2 * all)) : 1;
}

static struct visit_test test(const struct visited *before, const struct visited *after,
                              enum visit_part part, double threads_ns) {
    struct samples a = sorted(before ? &before->parts[part] : &no_samples);
    struct samples b = sorted(after ? &after->parts[part] : &no_samples);
    bool is_there = before && before->parts[part].count > 0;
    struct visit_test result = {.place = before ? before->place : after->place,
                                .part = part,
                                .first_ns = is_there ? before->first_ns
                                            : after  ? after->first_ns
                                                     : INFINITY,
                                .before = summarise(&a),
                                .after = summarise(&b),
                                .distance = ks_distance(&a, &b)};
    double shape = isnan(result.distance) ? 1 : visit_test_ks(result.distance, a.count, b.count);
    result.p = fmin(2 * fmin(shape, number_p(a.count, b.count)), 1);
    result.share = (result.after.total_ns - result.before.total_ns) / threads_ns;
    free(a.items);
    free(b.items);
    return result;
}

/* ---- all of them ---- */

static int by_p(const void *left, const void *right) {
    const struct visit_test *a = left, *b = right;
    return a->p < b->p ? -1 : a->p > b->p;
}

static void correct(struct visit_tests *tests) {
    VECTOR_SORT(tests, by_p);
    double most = 0;
    for (size_t i = 0; i < tests->count; i++) {
        most = fmax(most, tests->items[i].p * (double)(tests->count - i));
        tests->items[i].p = fmin(most, 1);
    }
}

static int compare(const struct visit_test *a, const struct visit_test *b, double order) {
    int places = strcmp(a->place, b->place);
    return order != 0 ? (order < 0 ? -1 : 1) : places ? places : (int)a->part - (int)b->part;
}

static int by_share(const void *left, const void *right) {
    const struct visit_test *a = left, *b = right;
    return compare(a, b, fabs(b->share) - fabs(a->share));
}

static int by_first(const void *left, const void *right) {
    const struct visit_test *a = left, *b = right;
    double order = a->first_ns < b->first_ns ? -1 : a->first_ns > b->first_ns;
    return compare(a, b, order);
}

static void add(struct visit_tests *tests, const struct visited *before,
                const struct visited *after, double threads_ns) {
    for (int part = 0; part < VISIT_PARTS; part++) {
        struct visit_test one = test(before, after, (enum visit_part)part, threads_ns);
        if (one.before.n + one.after.n > 0)
            *VECTOR_ADD(tests) = one;
    }
}

struct visit_tests visit_tests_make(const struct visits *before, const struct visits *after,
                                    double least, bool by_time) {
    struct visit_tests tests = {0};
    for (size_t i = 0; i < before->count; i++)
        add(&tests, &before->items[i], visits_find(after, before->items[i].place),
            before->threads_ns);
    for (size_t i = 0; i < after->count; i++)
        if (!visits_find(before, after->items[i].place))
            add(&tests, NULL, &after->items[i], before->threads_ns);
    correct(&tests);
    for (size_t i = 0; i < tests.count; i++)
        tests.items[i].differs =
            tests.items[i].p < judgement.significance && fabs(tests.items[i].share) >= least;
    if (tests.count > 0)
        qsort(tests.items, tests.count, sizeof *tests.items, by_time ? by_first : by_share);
    return tests;
}
