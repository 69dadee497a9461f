/* cli/sensitivity/recommendation, cli/sensitivity/goal: the smallest configuration that meets a
 * goal, and how sure that is.
 */
/* tests/run: beside others */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>

#include "cli/sensitivity/recommendation.h"
#include "tests/unit/model_builder.h"

#define MS 1e6

/* 240 rounds of 1 ms are shared out: 240 ms over the threads, or over the cores. */
static struct model *make(void) {
    struct model *model = build_model(8);
    int work = build_object(model, OBJECT_TOKENS, 240);
    int pool = build_pool(model, 2, true);
    int take = build_next(model, model->pools[pool].entry, constant(0), NODE_ACQUIRE, work);
    model->nodes[take].timeout_ns = 0;
    int done = build_node(model, NODE_STEP, MODEL_NONE);
    struct edge *more = build_edge(model, take, done);
    more->when = OUTCOME_YES;
    more->cpu_ns = constant(1 * MS);
    build_edge(model, done, take);
    build_edge(model, take, build_node(model, NODE_END, MODEL_NONE))->when = OUTCOME_NO;
    model->pools[pool].partition = PARTITION_SHARED;
    model_find_pools(model);
    return model;
}

/* The same for ever: each comes at random, every `ms` on average. */
static struct model *make_server(double ms) {
    struct model *model = build_model(8);
    int queue = build_object(model, OBJECT_QUEUE, 0);
    model->objects[queue].interarrival_ns = exponential(ms * MS);
    int pool = build_pool(model, 2, true);
    int get = build_next(model, model->pools[pool].entry, constant(0), NODE_GET, queue);
    int done = build_next(model, get, exponential(1 * MS), NODE_TASK_END, MODEL_NONE);
    build_edge(model, done, get);
    model_find_pools(model);
    return model;
}

struct search {
    struct thread_sweep threads;
    struct int_list cores;
    struct assertion goals[2];
    struct recommendation found;
};

/* `more` NULL: one goal. The model is freed. */
static void find(struct search *search, struct model *model, const char *goal, const char *more,
                 const char *threads, const char *cores) {
    struct error error;
    *search = (struct search){0};
    assert_int_equal(thread_sweep_parse("--threads", threads, &search->threads, &error), 0);
    assert_int_equal(int_list_parse("--cores", cores, 100, &search->cores, &error), 0);
    assert_int_equal(assertion_parse("--goal", goal, &search->goals[0], &error), 0);
    if (more)
        assert_int_equal(assertion_parse("--goal", more, &search->goals[1], &error), 0);
    const struct recommendation_search wanted = {.model = model,
                                                 .threads = &search->threads,
                                                 .cores = &search->cores,
                                                 .goals = search->goals,
                                                 .n_goals = more ? 2 : 1,
                                                 .config = {.seed = 1}};
    if (recommendation_find(&wanted, &search->found, &error) < 0)
        fail_msg("%s", error.text);
    model_free(model);
}

static void end(struct search *search) {
    recommendation_free(&search->found);
    thread_sweep_free(&search->threads);
    free(search->cores.items);
}

static void assert_is(const struct search *search, int index, int threads, int cores) {
    assert_true(index >= 0);
    const struct prediction *prediction = &search->found.items[index].prediction;
    if (prediction->threads->all != threads || prediction->cores != cores)
        fail_msg("threads %d, cores %d, not %d and %d", prediction->threads->all, prediction->cores,
                 threads, cores);
}

static void fewest_cores_then_fewest_threads(void **state) {
    (void)state;
    struct search search;
    find(&search, make(), "time<150ms", NULL, "1:4", "1:4");
    assert_is(&search, search.found.expected, 2, 2);
    assert_is(&search, search.found.sure, 2, 2);
    assert_true(fabs(search.found.items[search.found.expected].margin - 0.2) < 1e-6);
    assert_int_equal(search.found.count, 6); /* then it is enough */
    end(&search);
}

static void what_is_expected_is_not_sure_where_the_interval_reaches_beyond(void **state) {
    (void)state;
    struct search search;
    find(&search, make(), "time<125ms", NULL, "1:4", "1:4");
    assert_is(&search, search.found.expected, 2, 2);
    assert_is(&search, search.found.sure, 3, 3);
    assert_int_equal(search.found.items[search.found.expected].met, GOAL_EXPECTED);
    end(&search);
}

static void where_nothing_meets_it_the_smallest_that_is_nearest(void **state) {
    (void)state;
    struct search search;
    find(&search, make(), "time<50ms", NULL, "1:4", "1:2");
    assert_int_equal(search.found.expected, -1);
    assert_int_equal(search.found.sure, -1);
    assert_is(&search, search.found.nearest, 2, 2);
    assert_true(fabs(search.found.items[search.found.nearest].margin + 1.4) < 1e-6);
    assert_is(&search, recommendation_best_of(&search.found, 1), 1, 1);
    assert_int_equal(recommendation_best_of(&search.found, 3), -1);
    end(&search);
}

static void all_goals_have_to_be_met(void **state) {
    (void)state;
    struct search search;
    find(&search, make(), "time<200ms", "cpu<70%", "1:4", "1:4");
    assert_is(&search, search.found.expected, 2, 3);
    end(&search);
}

/* 1250 per second are more than one thread can do; two are busy for 0.625 of the time. */
static void a_response_time_needs_room_for_what_comes(void **state) {
    (void)state;
    struct search search;
    find(&search, make_server(0.8), "mean<2ms", NULL, "1,2,3", "4");
    assert_is(&search, search.found.expected, 2, 4);
    assert_true(isnan(search.found.items[0].margin));
    assert_int_equal(search.found.items[0].met, GOAL_MISSED);
    end(&search);
}

static void more_load_than_anything_can_do(void **state) {
    (void)state;
    struct search search;
    find(&search, make_server(0.1), "p99<50ms", NULL, "1,2,3", "4");
    assert_int_equal(search.found.expected, -1);
    assert_is(&search, search.found.nearest, 3, 4);
    assert_true(isnan(search.found.items[search.found.nearest].margin));
    end(&search);
}

static void throughput_has_a_lower_bound(void **state) {
    (void)state;
    struct search search;
    find(&search, make_server(0.1), "throughput>1500/s", NULL, "1,2,3", "4");
    assert_is(&search, search.found.expected, 2, 4);
    end(&search);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fewest_cores_then_fewest_threads),
        cmocka_unit_test(what_is_expected_is_not_sure_where_the_interval_reaches_beyond),
        cmocka_unit_test(where_nothing_meets_it_the_smallest_that_is_nearest),
        cmocka_unit_test(all_goals_have_to_be_met),
        cmocka_unit_test(a_response_time_needs_room_for_what_comes),
        cmocka_unit_test(more_load_than_anything_can_do),
        cmocka_unit_test(throughput_has_a_lower_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
