/* cli/prediction/uncertainty: the interval that is printed is the model's, not the simulation's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/prediction/uncertainty.h"

/* Recorded with 4 threads on 2 cores, a model that misses nothing. */
static struct pool pool;
static struct model_check checks[3];
static struct waiting_share waiting;
static int threads;

static struct model good_model(void) {
    pool = (struct pool){.profiled_threads = 4,
                         .scales = true,
                         .partition = PARTITION_SHARED,
                         .rule = "takes work from a common supply",
                         .confidence = 1};
    checks[0] = (struct model_check){"running time", 10, 10};
    checks[1] = (struct model_check){"CPU utilisation", 0.8, 0.8};
    checks[2] = (struct model_check){"without probes", 9, 9};
    return (struct model){.measured_run_ns = 1e9,
                          .explained_share = 1,
                          .cpu_spread = 0.01,
                          .plain_cpu_spread = 0.01,
                          .machine = {.cores = 2},
                          .n_pools = 1,
                          .pools = &pool,
                          .n_checks = 3,
                          .checks = checks};
}

static double share_of(const struct model *model, int n_threads, int cores) {
    threads = n_threads;
    const struct uncertainty parts = uncertainty_find(model, &threads, cores, cores);
    return uncertainty_share(&parts);
}

static void what_is_well_known_has_a_narrow_interval_that_is_not_none(void **state) {
    (void)state;
    struct model model = good_model();
    double share = share_of(&model, 4, 2);
    assert_true(share > 0.02 && share < 0.08);
}

static void locks_that_one_core_never_moved_may_cost_more_on_several(void **state) {
    (void)state;
    struct model model = good_model();
    model.machine.cores = 1;
    double before = share_of(&model, 4, 2);
    model.machine.shared_locks_hz = 2.5e6;
    double after = share_of(&model, 4, 2);
    assert_true(fabs(after - hypot(before, 0.3)) < 1e-9);
    assert_true(share_of(&model, 4, 1) < before);
    struct uncertainty parts = uncertainty_find(&model, &threads, 2, 2);
    assert_null(uncertainty_refuse(&model, &parts));
    model.machine.shared_locks_hz = 40e6;
    parts = uncertainty_find(&model, &threads, 2, 2);
    char *refused = uncertainty_refuse(&model, &parts);
    assert_non_null(strstr(refused, "the threads share locks"));
    free(refused);
}

static void what_the_model_misses_of_its_own_run_widens_it(void **state) {
    (void)state;
    struct model model = good_model();
    double before = share_of(&model, 4, 2);
    checks[0].simulated = 12; /* the traced run may have been the odd one */
    assert_true(share_of(&model, 4, 2) == before);
    checks[2].simulated = 9.9;
    assert_true(share_of(&model, 4, 2) > before + 0.1);
}

/* The traced run is met, and nobody had the cores of those without probes. */
static void missing_only_the_runs_without_probes_widens_it_where_these_are_long(void **state) {
    (void)state;
    struct model model = good_model();
    double before = share_of(&model, 4, 2);
    checks[2].simulated = 7.2;
    assert_true(share_of(&model, 4, 2) > before + 0.1);
    model.measured_run_ns = 1e8; /* so short that nobody can tell what disturbed it */
    assert_true(share_of(&model, 4, 2) == before);
}

static void while_others_had_the_cores_the_cpu_time_checks_the_model(void **state) {
    (void)state;
    struct model model = good_model();
    model.foreign_share = 0.5;
    checks[0].simulated = 5; /* half as long, with twice as much of the cores */
    checks[1].measured = 0.4;
    checks[2].simulated = 4.5;
    double same_cpu = share_of(&model, 4, 2);
    assert_true(same_cpu < 0.1);
    checks[1].measured = 0.5;
    assert_true(share_of(&model, 4, 2) > same_cpu + 0.1);
}

/* Others that had 10 % of two cores can have made the run longer by a fifth, not five times. */
static void others_explain_a_longer_run_only_as_far_as_they_had_cores(void **state) {
    (void)state;
    struct model model = good_model();
    model.foreign_share = 0.1;
    checks[0].simulated = 8.1;
    checks[1].simulated = 0.8 / 0.81;
    double explained = share_of(&model, 4, 2);
    checks[0].simulated = 2;
    checks[1].simulated = 4;
    assert_true(share_of(&model, 4, 2) > explained + 0.5);
}

/* They make no run shorter: a model that takes longer than one of its runs is wrong by that. */
static void others_do_not_explain_a_shorter_run(void **state) {
    (void)state;
    struct model model = good_model();
    model.foreign_share = 0.4;
    double right = share_of(&model, 4, 2);
    checks[2].measured = 6; /* simulated: 9 */
    assert_true(share_of(&model, 4, 2) > right + 1);
    threads = 4;
    struct uncertainty parts = uncertainty_find(&model, &threads, 2, 2);
    char *reason = uncertainty_refuse(&model, &parts);
    assert_non_null(
        strstr(reason, "other processes had 40 % of the CPU time when it was recorded"));
    free(reason);
}

static void a_figure_as_uncertain_as_it_is_large_is_refused_by_its_cause(void **state) {
    (void)state;
    struct model model = good_model();
    threads = 4;
    struct uncertainty parts = uncertainty_find(&model, &threads, 2, 2);
    assert_null(uncertainty_refuse(&model, &parts));
    checks[0].simulated = 5;
    checks[2].simulated = 4.5;
    parts = uncertainty_find(&model, &threads, 2, 2);
    char *reason = uncertainty_refuse(&model, &parts);
    assert_non_null(reason);
    assert_non_null(strstr(reason, "misses its own recorded run by 46 %"));
    free(reason);
    model.measured_run_ns = 5e7; /* so short that nobody can tell what disturbed it */
    assert_null(uncertainty_refuse(&model, &parts));
}

static void runs_that_differ_widen_it(void **state) {
    (void)state;
    struct model model = good_model();
    double before = share_of(&model, 4, 2);
    model.cpu_spread = 0.2;
    assert_true(share_of(&model, 4, 2) > before + 0.1);
}

/* A second run that happens to take as long says little. */
static void too_few_runs_widen_it(void **state) {
    (void)state;
    struct model model = good_model();
    double before = share_of(&model, 4, 2);
    assert_true(uncertainty_knows_spread(&model));
    model.plain_cpu_spread = 0;
    assert_false(uncertainty_knows_spread(&model));
    double few = share_of(&model, 4, 2);
    assert_true(few > before + 0.03);
    model.cpu_spread = 0;
    assert_true(share_of(&model, 4, 2) == few);
    model.cpu_spread = 0.2;
    assert_true(share_of(&model, 4, 2) > few);
}

static void runs_that_differ_in_their_cpu_time_matter_as_far_as_they_compute(void **state) {
    (void)state;
    struct model model = good_model();
    model.cpu_spread = 0.7;
    threads = 4;
    struct uncertainty computes = uncertainty_find(&model, &threads, 2, 1.5);
    struct uncertainty sleeps = uncertainty_find(&model, &threads, 2, 0.004);
    struct uncertainty unknown = uncertainty_find(&model, &threads, 2, NAN);
    char *reason = uncertainty_refuse(&model, &computes);
    assert_non_null(reason);
    free(reason);
    assert_null(uncertainty_refuse(&model, &sleeps));
    assert_true(uncertainty_share(&sleeps) < 0.1);
    assert_true(uncertainty_share(&unknown) == uncertainty_share(&computes));
    assert_true(uncertainty_share_of_cpu(&sleeps) == uncertainty_share_of_cpu(&computes));
}

/* Nobody knows whether they will be slowed again: as much as they were, where the program computes,
 * and neither how busy the cores are nor whether there is a figure depends on it. */
static void slowed_cores_may_be_faster_next_time(void **state) {
    (void)state;
    struct model model = good_model();
    threads = 4;
    struct uncertainty before = uncertainty_find(&model, &threads, 2, 2);
    model.slowed_share = 0.3;
    struct uncertainty computes = uncertainty_find(&model, &threads, 2, 2);
    struct uncertainty sleeps = uncertainty_find(&model, &threads, 2, 0.1);
    assert_true(computes.pace == 0.3 && fabs(sleeps.pace - 0.03) < 1e-9);
    assert_true(uncertainty_share(&computes) > 0.3 && uncertainty_share(&computes) < 0.35);
    assert_true(uncertainty_share_of_cpu(&computes) == uncertainty_share_of_cpu(&before));
    model.slowed_share = 0.99;
    computes = uncertainty_find(&model, &threads, 2, 2);
    assert_null(uncertainty_refuse(&model, &computes));
}

/* It may be what turns on a core cost, or what several cores do not. */
static void what_one_core_took_otherwise_is_in_what_it_is_like(void **state) {
    (void)state;
    struct model model = good_model();
    model.machine.busy_cores = 2;
    model.one_core_doubt = 0.08;
    threads = 4;
    assert_true(uncertainty_find(&model, &threads, 2, 2).one_core == 0);
    assert_true(uncertainty_find(&model, &threads, 1, 1).one_core == 0.08);
    struct uncertainty half_way = uncertainty_find(&model, &threads, 2, 1.5);
    assert_true(fabs(half_way.one_core - 0.04) < 1e-9);
    threads = 8;
    assert_true(uncertainty_find(&model, &threads, 2, 2).one_core == 0.08);
}

static void unsure_rules_count_only_for_other_numbers_of_threads(void **state) {
    (void)state;
    struct model model = good_model();
    double own = share_of(&model, 4, 2), other = share_of(&model, 8, 2);
    assert_true(other > own);
    pool.confidence = 0.7;
    assert_true(share_of(&model, 4, 2) == own);
    assert_true(share_of(&model, 8, 2) > other + 0.03);
    assert_true(share_of(&model, 16, 2) > share_of(&model, 8, 2));
    pool.confidence = 0; /* a model written by hand, which says nothing of it */
    assert_true(share_of(&model, 8, 2) == other);
    pool.partition = PARTITION_UNKNOWN;
    assert_true(share_of(&model, 8, 2) > 0.3);
}

static void what_is_not_modelled_widens_it(void **state) {
    (void)state;
    struct model model = good_model();
    double before = share_of(&model, 4, 2);
    waiting = (struct waiting_share){.how = MODELLED_EXACTLY, .wait_ns = 1e9};
    model.n_waiting = 1;
    model.waiting = &waiting;
    assert_true(share_of(&model, 4, 2) == before);
    waiting.how = MODELLED_BY_FALLBACK;
    double alike = share_of(&model, 4, 2);
    waiting.how = MODELLED_NOT;
    assert_true(alike > before && share_of(&model, 4, 2) > alike + 0.1);
    model.n_waiting = 0;
    model.explained_share = 0.8;
    assert_true(share_of(&model, 4, 2) > before + 0.1);
}

static void it_grows_with_the_distance_from_what_was_recorded(void **state) {
    (void)state;
    struct model model = good_model();
    assert_true(share_of(&model, 4, 4) > share_of(&model, 4, 2));
    assert_true(share_of(&model, 4, 16) > share_of(&model, 4, 4));
    assert_true(share_of(&model, 4, 1) == share_of(&model, 4, 4));
    assert_true(share_of(&model, 64, 2) > share_of(&model, 8, 2));
}

static void what_cores_cost_each_other_is_less_sure_of_more_threads(void **state) {
    (void)state;
    struct model model = good_model();
    model.machine.busy_cores = 2;
    double many = share_of(&model, 8, 2), alone = share_of(&model, 8, 1),
           own = share_of(&model, 4, 2);
    model.one_core_cpu = 0.6;
    assert_true(share_of(&model, 4, 2) > fmax(own, 0.4)); /* other cores may cost as much less */
    assert_true(share_of(&model, 8, 2) > fmax(many, share_of(&model, 4, 2)));
    assert_true(share_of(&model, 8, 1) == alone); /* one core has no other to pay for */
    int threads = 4;
    assert_true(fabs(uncertainty_find(&model, &threads, 2, 1.5).placement - 0.2) < 1e-9);
    assert_true(fabs(uncertainty_find(&model, &threads, 2, NAN).placement - 0.4) < 1e-9);
}

static void what_cores_cost_each_other_can_be_more_than_a_figure_bears(void **state) {
    (void)state;
    struct model model = good_model();
    model.machine.busy_cores = 2;
    model.one_core_cpu = 0.01;
    int threads = 8;
    struct uncertainty found = uncertainty_find(&model, &threads, 2, 2);
    char *refusal = uncertainty_refuse(&model, &found);
    assert_non_null(refusal);
    assert_non_null(strstr(refusal, "cores cost each other 99 %"));
    free(refusal);
}

static void that_one_core_costs_more_is_doubted_where_fewer_are_busy(void **state) {
    (void)state;
    struct model model = good_model();
    model.machine.busy_cores = 2;
    double alone = share_of(&model, 4, 1), own = share_of(&model, 4, 2);
    model.one_core_cpu = 1.2;
    assert_true(share_of(&model, 4, 1) > alone + 0.2);
    assert_true(share_of(&model, 4, 2) == own);
}

static void it_includes_the_simulations_own(void **state) {
    (void)state;
    const struct estimate simulated = {.mean = 100, .half_width = 4};
    struct estimate widened = uncertainty_widen(simulated, 0.03);
    assert_true(widened.mean == 100 && fabs(widened.half_width - 5) < 1e-9);
    assert_true(uncertainty_widen_utilisation(simulated, 0.03).half_width < 5);
    assert_true(isnan(uncertainty_widen((struct estimate){NAN, NAN}, 0.03).half_width));
}

/* Of a service time that is 10 % longer, at a queue whose response time is s / (1 - busy). */
static void a_response_time_near_saturation_is_less_sure(void **state) {
    (void)state;
    double half = (1.1 / (1 - 0.55)) / (1 / (1 - 0.5)) - 1;
    assert_true(fabs(uncertainty_share_of_open_response(0.1, 0.5) - half) < 1e-9);
    assert_true(isinf(uncertainty_share_of_open_response(0.1, 0.95)));
    assert_true(isinf(uncertainty_share_of_open_response(0.1, 0.9))); /* wider than the figure */
    assert_true(fabs(uncertainty_share_of_closed_response(0.1, 1, 1) - 0.1) < 1e-9);
    assert_true(fabs(uncertainty_share_of_closed_response(0.1, 1, 3) - 0.3) < 1e-9);
}

static void what_arrives_is_done_unless_it_may_be_too_much(void **state) {
    (void)state;
    assert_true(uncertainty_share_of_open_throughput(0.1, 0.5) == 0);
    assert_true(fabs(uncertainty_share_of_open_throughput(0.25, 1) - 0.2) < 1e-9);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_well_known_has_a_narrow_interval_that_is_not_none),
        cmocka_unit_test(locks_that_one_core_never_moved_may_cost_more_on_several),
        cmocka_unit_test(what_the_model_misses_of_its_own_run_widens_it),
        cmocka_unit_test(missing_only_the_runs_without_probes_widens_it_where_these_are_long),
        cmocka_unit_test(while_others_had_the_cores_the_cpu_time_checks_the_model),
        cmocka_unit_test(others_explain_a_longer_run_only_as_far_as_they_had_cores),
        cmocka_unit_test(others_do_not_explain_a_shorter_run),
        cmocka_unit_test(a_figure_as_uncertain_as_it_is_large_is_refused_by_its_cause),
        cmocka_unit_test(runs_that_differ_widen_it),
        cmocka_unit_test(too_few_runs_widen_it),
        cmocka_unit_test(runs_that_differ_in_their_cpu_time_matter_as_far_as_they_compute),
        cmocka_unit_test(what_one_core_took_otherwise_is_in_what_it_is_like),
        cmocka_unit_test(slowed_cores_may_be_faster_next_time),
        cmocka_unit_test(unsure_rules_count_only_for_other_numbers_of_threads),
        cmocka_unit_test(what_is_not_modelled_widens_it),
        cmocka_unit_test(it_grows_with_the_distance_from_what_was_recorded),
        cmocka_unit_test(what_cores_cost_each_other_is_less_sure_of_more_threads),
        cmocka_unit_test(what_cores_cost_each_other_can_be_more_than_a_figure_bears),
        cmocka_unit_test(that_one_core_costs_more_is_doubted_where_fewer_are_busy),
        cmocka_unit_test(it_includes_the_simulations_own),
        cmocka_unit_test(a_response_time_near_saturation_is_less_sure),
        cmocka_unit_test(what_arrives_is_done_unless_it_may_be_too_much),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
