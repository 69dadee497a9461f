/* load/latency and load/batch_means: what is kept of many times. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <gsl/gsl_sort.h>
#include <math.h>

#include "load/batch_means.h"
#include "load/latency.h"

static void quantiles_are_those_of_the_sorted_times_to_a_thousandth(void **state) {
    (void)state;
    enum { N = 20001 };
    static double times[N];
    gsl_rng *random = gsl_rng_alloc(gsl_rng_mt19937);
    struct latency *latency = latency_new();
    for (int i = 0; i < N; i++) {
        times[i] = floor(exp(gsl_ran_gaussian(random, 4) + 12)); /* 1 ns .. minutes */
        latency_add(latency, (uint64_t)times[i]);
    }
    gsl_sort(times, 1, N);
    for (int i = 1; i < 2000; i++) {
        double share = i / 2000.0;
        double exact = times[(int)ceil(share * N) - 1];
        double kept = latency_quantile_ns(latency, share);
        assert_true(kept >= exact && kept <= exact * 1.001 + 1);
    }
    assert_true(latency_quantile_ns(latency, 1) == times[N - 1]);
    latency_free(latency);
    gsl_rng_free(random);
}

static void mean_maximum_number_and_short_times_are_exact(void **state) {
    (void)state;
    struct latency *latency = latency_new();
    assert_true(isnan(latency_mean_ns(latency)) && isnan(latency_quantile_ns(latency, 0.5)));
    assert_int_equal(latency_max_ns(latency), 0);
    for (uint64_t time = 0; time < 2048; time++)
        latency_add(latency, time);
    for (int time = 1; time < 2048; time++)
        assert_true(latency_quantile_ns(latency, (time + 0.5) / 2048) == time);
    latency_add(latency, 123456789);
    assert_int_equal(latency_max_ns(latency), 123456789);
    assert_int_equal(latency_count(latency), 2049);
    assert_true(latency_mean_ns(latency) == (2047 * 1024 + 123456789) / 2049.0);
    assert_int_equal(latency_count_within(latency, 0.5), 1025);
    latency_free(latency);
}

static void times_beyond_the_last_bucket_are_counted_there(void **state) {
    (void)state;
    struct latency *latency = latency_new();
    latency_add(latency, UINT64_MAX);
    latency_add(latency, LATENCY_MAX_NS);
    latency_add(latency, LATENCY_MAX_NS + 1);
    assert_int_equal(latency_count_within(latency, 0.1), 3);
    assert_true(latency_quantile_ns(latency, 1) == (double)UINT64_MAX);
    latency_free(latency);
}

/* x(i) = 0.9 x(i-1) + noise: taken for independent, its mean would seem known 4.4 times better. */
static void batch_means_cover_the_mean_of_values_that_depend_on_each_other(void **state) {
    (void)state;
    enum { REPEATS = 400, N = 20000 };
    gsl_rng *random = gsl_rng_alloc(gsl_rng_mt19937);
    int covered = 0;
    for (int i = 0; i < REPEATS; i++) {
        struct batch_means means = {0};
        double x = 0, sum = 0;
        for (int k = 0; k < N; k++) {
            x = 0.9 * x + gsl_ran_gaussian(random, 1);
            sum += x;
            batch_means_add(&means, x);
        }
        covered += fabs(sum / N) <= batch_means_half_width(&means);
    }
    assert_in_range(covered, REPEATS * 91 / 100, REPEATS * 99 / 100);
    gsl_rng_free(random);
}

static void few_values_have_no_interval(void **state) {
    (void)state;
    struct batch_means means = {0};
    assert_true(isnan(batch_means_half_width(&means)));
    for (int i = 0; i < BATCH_MEANS_LEAST - 1; i++)
        batch_means_add(&means, i);
    assert_true(isnan(batch_means_half_width(&means)));
    batch_means_add(&means, 3);
    assert_true(batch_means_half_width(&means) > 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quantiles_are_those_of_the_sorted_times_to_a_thousandth),
        cmocka_unit_test(mean_maximum_number_and_short_times_are_exact),
        cmocka_unit_test(times_beyond_the_last_bucket_are_counted_there),
        cmocka_unit_test(batch_means_cover_the_mean_of_values_that_depend_on_each_other),
        cmocka_unit_test(few_values_have_no_interval),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
