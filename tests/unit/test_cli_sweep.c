/* cli/arguments/sweep: what --threads and --cores may say, and which pool sizes follow. */
/* tests/run: beside others */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "cli/arguments/sweep.h"

static void assert_list(const char *text, const int *expected, size_t n) {
    struct int_list list;
    struct error error;
    assert_int_equal(int_list_parse("--cores", text, 64, &list, &error), 0);
    assert_int_equal(list.count, n);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(list.items[i], expected[i]);
    free(list.items);
}

static void lists_ranges_and_steps_are_expanded_in_order(void **state) {
    (void)state;
    assert_list("4", (int[]){4}, 1);
    assert_list("1,2,8", (int[]){1, 2, 8}, 3);
    assert_list("2:5", (int[]){2, 3, 4, 5}, 4);
    assert_list("1:10:4", (int[]){1, 5, 9}, 3);
    assert_list("1,4:6,64", (int[]){1, 4, 5, 6, 64}, 5);
    assert_list("3:3", (int[]){3}, 1);
}

static void malformed_lists_are_refused_with_the_option_and_the_text(void **state) {
    (void)state;
    static const char *const bad[] = {
        "",
        "0",
        "-1",
        "abc",
        "1,",
        ",1",
        "1,,2",
        "4x",
        "4:1",
        "1:",
        ":4",
        "1:4:0",
        "1:4:",
        "1:2:3:4",
        "65",
        "1.5",
        " 4",
        "4 ",
        "99999999999999999999",
        "+4",
        "0x4",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct int_list list;
        struct error error = {0};
        assert_int_equal(int_list_parse("--cores", bad[i], 64, &list, &error), -1);
        assert_null(list.items);
        assert_non_null(strstr(error.text, "--cores"));
        assert_non_null(strstr(error.text, bad[i]));
    }
}

static void a_range_too_long_to_simulate_is_refused(void **state) {
    (void)state;
    struct int_list list;
    struct error error;
    assert_int_equal(int_list_parse("--threads", "1:100000", 100000, &list, &error), -1);
}

static void assert_label(const struct thread_sweep *sweep, size_t i, const char *label) {
    assert_true(i < sweep->count);
    assert_string_equal(sweep->items[i].label, label);
}

static void named_pools_give_the_cross_product_with_the_last_name_fastest(void **state) {
    (void)state;
    struct thread_sweep sweep;
    struct error error;
    assert_int_equal(thread_sweep_parse("--threads", "workers=1:2,writers=4:8:4", &sweep, &error),
                     0);
    assert_int_equal(sweep.count, 4);
    assert_label(&sweep, 0, "workers=1,writers=4");
    assert_label(&sweep, 1, "workers=1,writers=8");
    assert_label(&sweep, 2, "workers=2,writers=4");
    assert_label(&sweep, 3, "workers=2,writers=8");
    thread_sweep_free(&sweep);
}

static void malformed_named_pools_are_refused(void **state) {
    (void)state;
    static const char *const bad[] = {
        "a=",
        "=4",
        "a=0",
        "a=1,",
        "a=1,4",
        "a=1,b",
        "4,a=1",
        "a=1,a=2",
        "a=x",
        "a=1:4:0",
        "a=1:1000,b=1:1000",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct thread_sweep sweep;
        struct error error = {0};
        assert_int_equal(thread_sweep_parse("--threads", bad[i], &sweep, &error), -1);
        assert_int_equal(sweep.count, 0);
        assert_non_null(strstr(error.text, bad[i]));
    }
}

/* main (1), worker (scales, 4), helper (worker / 2), pair (scales by its own formula: N - 1) */
static struct linear_term helper_terms[] = {{1, 0.5}};
static struct linear_term pair_terms[] = {{3, 1}};
static struct pool pools[] = {
    {.name = "main", .threads = {.base = 1}, .profiled_threads = 1},
    {.name = "worker", .threads = {.base = 4}, .profiled_threads = 4, .scales = true},
    {.name = "helper",
     .threads = {.base = 0, .n_terms = 1, .terms = helper_terms},
     .profiled_threads = 2},
    {.name = "pair",
     .threads = {.base = -1, .n_terms = 1, .terms = pair_terms},
     .profiled_threads = 3,
     .scales = true},
};
static const struct model model = {.n_pools = 4, .pools = pools};

static void assert_sizes(const char *threads, const int expected[4]) {
    struct thread_sweep sweep;
    struct error error;
    assert_int_equal(thread_sweep_parse("--threads", threads, &sweep, &error), 0);
    int *sizes = thread_choice_resolve(&sweep.items[0], &model, &error);
    assert_non_null(sizes);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(sizes[i], expected[i]);
    free(sizes);
    thread_sweep_free(&sweep);
}

static void one_number_goes_to_the_pools_that_scale_and_formulas_follow(void **state) {
    (void)state;
    assert_sizes("8", (int[]){1, 8, 4, 7});
    assert_sizes("1", (int[]){1, 1, 1, 1}); /* never below one thread */
}

static void bounds_hold_for_one_number_but_not_by_name(void **state) {
    (void)state;
    pools[1].most_threads = 3;
    pools[3].least_threads = 3;
    assert_sizes("8", (int[]){1, 3, 2, 7});
    assert_sizes("2", (int[]){1, 2, 1, 2}); /* as the formula says of at least 3 */
    assert_sizes("worker=6", (int[]){1, 6, 3, 2});
    pools[1].most_threads = pools[3].least_threads = 0;
}

static void a_pool_gets_what_its_formula_says_but_not_by_name(void **state) {
    (void)state;
    pools[1].asked_factor = 2;
    pools[1].asked_offset = -1;
    assert_sizes("8", (int[]){1, 15, 8, 7});
    assert_sizes("1", (int[]){1, 1, 1, 1});
    assert_sizes("worker=6", (int[]){1, 6, 3, 2});
    pools[1].asked_factor = pools[1].asked_offset = 0;
}

static void named_pools_leave_the_others_as_profiled(void **state) {
    (void)state;
    assert_sizes("worker=6", (int[]){1, 6, 3, 2});
    assert_sizes("helper=5", (int[]){1, 4, 5, 2});
}

static void without_threads_the_profiled_sizes_are_used(void **state) {
    (void)state;
    assert_sizes(NULL, (int[]){1, 4, 2, 3});
}

static void an_unknown_pool_is_refused_and_the_known_ones_listed(void **state) {
    (void)state;
    struct thread_sweep sweep;
    struct error error = {0};
    assert_int_equal(thread_sweep_parse("--threads", "nobody=2", &sweep, &error), 0);
    assert_null(thread_choice_resolve(&sweep.items[0], &model, &error));
    assert_non_null(strstr(error.text, "'nobody'"));
    assert_non_null(strstr(error.text, "main, worker, helper, pair"));
    thread_sweep_free(&sweep);
}

static void a_number_for_a_model_where_nothing_scales_is_refused(void **state) {
    (void)state;
    struct pool fixed_pools[] = {pools[0], pools[0]};
    fixed_pools[1].name = "other";
    const struct model fixed = {.n_pools = 2, .pools = fixed_pools};
    const struct model single = {.n_pools = 1, .pools = pools};
    struct thread_sweep sweep;
    struct error error = {0};
    assert_int_equal(thread_sweep_parse("--threads", "2", &sweep, &error), 0);
    assert_null(thread_choice_resolve(&sweep.items[0], &fixed, &error));
    assert_non_null(strstr(error.text, "main, other"));
    assert_null(thread_choice_resolve(&sweep.items[0], &single, &error));
    assert_non_null(strstr(error.text, "one thread"));
    thread_sweep_free(&sweep);
}

static void assert_rates(const char *text, const double *expected, size_t n) {
    struct load_sweep sweep;
    struct error error;
    assert_int_equal(load_sweep_parse(text, NULL, &sweep, &error), 0);
    assert_int_equal(sweep.count, n);
    for (size_t i = 0; i < n; i++) {
        assert_true(sweep.items[i].rate_hz == expected[i]);
        assert_int_equal(sweep.items[i].clients, 0);
    }
    free(sweep.items);
}

static void rates_are_listed_and_stepped(void **state) {
    (void)state;
    assert_rates("500/s", (double[]){500}, 1);
    assert_rates("0.5/s,20", (double[]){0.5, 20}, 2);
    assert_rates("100/s:300/s:100/s,1000/s", (double[]){100, 200, 300, 1000}, 4);
    assert_rates("100/s:250/s:100/s", (double[]){100, 200}, 2);
}

static void malformed_rates_are_refused(void **state) {
    (void)state;
    static const char *const bad[] = {
        "",     ",",           "fast",        "0/s",     "-5/s", "1/s:2/s",
        "1/s,", "1/s:2/s:0/s", "5/s:1/s:1/s", "1:2:3:4", "5ms",  "1/s:1e9/s:1/s"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct load_sweep sweep;
        struct error error;
        assert_int_equal(load_sweep_parse(bad[i], NULL, &sweep, &error), -1);
        assert_non_null(strstr(error.text, "--arrivals"));
        assert_null(sweep.items);
    }
}

static void clients_are_listed_like_threads(void **state) {
    (void)state;
    struct load_sweep sweep;
    struct error error;
    assert_int_equal(load_sweep_parse(NULL, "1,16:64:16", &sweep, &error), 0);
    assert_int_equal(sweep.count, 5);
    assert_int_equal(sweep.items[4].clients, 64);
    free(sweep.items);
    assert_int_equal(load_sweep_parse(NULL, "0", &sweep, &error), -1);
    assert_non_null(strstr(error.text, "--clients"));
    assert_int_equal(load_sweep_parse(NULL, NULL, &sweep, &error), 0);
    assert_int_equal(sweep.count, 1); /* the model's own */
    free(sweep.items);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_ranges_and_steps_are_expanded_in_order),
        cmocka_unit_test(malformed_lists_are_refused_with_the_option_and_the_text),
        cmocka_unit_test(a_range_too_long_to_simulate_is_refused),
        cmocka_unit_test(named_pools_give_the_cross_product_with_the_last_name_fastest),
        cmocka_unit_test(malformed_named_pools_are_refused),
        cmocka_unit_test(one_number_goes_to_the_pools_that_scale_and_formulas_follow),
        cmocka_unit_test(bounds_hold_for_one_number_but_not_by_name),
        cmocka_unit_test(a_pool_gets_what_its_formula_says_but_not_by_name),
        cmocka_unit_test(named_pools_leave_the_others_as_profiled),
        cmocka_unit_test(without_threads_the_profiled_sizes_are_used),
        cmocka_unit_test(an_unknown_pool_is_refused_and_the_known_ones_listed),
        cmocka_unit_test(a_number_for_a_model_where_nothing_scales_is_refused),
        cmocka_unit_test(rates_are_listed_and_stepped),
        cmocka_unit_test(malformed_rates_are_refused),
        cmocka_unit_test(clients_are_listed_like_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
