/* cli/prediction/advice: what is said of a table of predictions is true, and nothing is said where
 * there is nothing to say. */
/* tests/run: beside others */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "cli/prediction/advice.h"
#include "tests/unit/model_builder.h"

#define MS 1e6

/* One pool shares rounds of 1 ms, of which so much is done under a lock. */
static struct model *make(double locked_ns) {
    struct model *model = build_model(2);
    int work = build_object(model, OBJECT_TOKENS, 240);
    int lock = build_object(model, OBJECT_MUTEX, 0);
    int pool = build_pool(model, 2, true);
    int take = build_next(model, model->pools[pool].entry, constant(0), NODE_ACQUIRE, work);
    model->nodes[take].timeout_ns = 0;
    int enter = build_node(model, NODE_LOCK, lock);
    struct edge *more = build_edge(model, take, enter);
    more->when = OUTCOME_YES;
    more->cpu_ns = constant(1 * MS - locked_ns);
    int leave = build_next(model, enter, constant(locked_ns), NODE_UNLOCK, lock);
    build_edge(model, leave, take);
    build_edge(model, take, build_node(model, NODE_END, MODEL_NONE))->when = OUTCOME_NO;
    model->pools[pool].partition = PARTITION_SHARED;
    model_find_pools(model);
    return model;
}

/* Threads and cores as on the command line; `cores` ends with 0. */
static struct advice advise(const struct model *model, const char *threads, const int *cores) {
    struct thread_sweep sweep;
    struct error error;
    assert_int_equal(thread_sweep_parse("--threads", threads, &sweep, &error), 0);
    struct prediction predictions[64];
    size_t n = 0;
    const struct sim_config config = {.seed = 1};
    for (const int *c = cores; *c; c++)
        for (size_t t = 0; t < sweep.count; t++)
            if (prediction_make(model, &sweep.items[t], *c, &config, &predictions[n++], &error) < 0)
                fail_msg("%s", error.text);
    struct advice advice = advice_of(model, predictions, NULL, n);
    for (size_t i = 0; i < n; i++)
        prediction_free(&predictions[i]);
    thread_sweep_free(&sweep);
    return advice;
}

/* These sentences, ended by NULL, and no others; the model is freed. */
static void assert_advice(struct model *model, const char *threads, const int *cores,
                          const char *const *sentences) {
    struct advice advice = advise(model, threads, cores);
    size_t i = 0;
    for (; sentences[i]; i++) {
        if (i == advice.count)
            fail_msg("not said: %s", sentences[i]);
        assert_string_equal(advice.items[i], sentences[i]);
    }
    if (i < advice.count)
        fail_msg("said besides: %s", advice.items[i]);
    advice_free(&advice);
    model_free(model);
}

static void a_single_configuration_says_nothing(void **state) {
    (void)state;
    const int cores[] = {2, 0};
    const char *const none[] = {NULL};
    assert_advice(make(0), "4", cores, none);
}

static void cores_that_are_busy(void **state) {
    (void)state;
    const int cores[] = {1, 2, 0};
    const char *const said[] = {
        "With 1 core, 1 thread is enough (240 ms): more gain nothing: the core is busy for 100 % "
        "of the time.",
        "With 2 cores, 2 threads are enough (120 ms): more gain nothing: the cores are busy for "
        "100 % of the time.",
        NULL};
    assert_advice(make(0), "1,2,4", cores, said);
}

static void threads_that_are_still_a_gain(void **state) {
    (void)state;
    const int cores[] = {2, 0};
    const char *const said[] = {
        "With 2 cores, 2 threads are still a gain (120 ms): more may be, too.", NULL};
    assert_advice(make(0), "1,2", cores, said);
}

/* The order in the table is the user's. */
static void the_smallest_of_equals_is_enough(void **state) {
    (void)state;
    const int cores[] = {2, 0};
    const char *const said[] = {"With 2 cores, 2 threads are enough (120 ms): more gain nothing: "
                                "the cores are busy for 100 % of the time.",
                                NULL};
    assert_advice(make(0), "8,4,2,1", cores, said);
}

static void a_lock_that_is_held(void **state) {
    (void)state;
    const int cores[] = {4, 8, 0};
    struct model *model = make(0.5 * MS);
    model->machine.cores = 8;
    const char *const said[] = {"With 4 cores, 2 threads are enough (121 ms): more gain nothing: "
                                "mutex-1 is held for 100 % of the time.",
                                "With 8 cores, 2 threads are enough (121 ms): more gain nothing: "
                                "mutex-1 is held for 100 % of the time.",
                                "More than 4 cores gain nothing: mutex-1 is held for 100 % of the "
                                "time.",
                                NULL};
    assert_advice(model, "1,2,4,8", cores, said);
}

static void more_cores_than_recorded_are_a_guess(void **state) {
    (void)state;
    const int cores[] = {4, 0};
    const char *const said[] = {
        "Recorded on 2 cores: what more of them take from each other by shared caches and memory "
        "is not in these figures.",
        NULL};
    assert_advice(make(0), "4", cores, said);
}

static void work_of_each_thread_is_not_compared(void **state) {
    (void)state;
    const int cores[] = {2, 0};
    struct model *model = make(0);
    model->pools[0].partition = PARTITION_PERTHREAD;
    const char *const said[] = {"Each thread of pool-0 has work of its own: with more threads more "
                                "is done, and their running times do not say how many are best.",
                                NULL};
    assert_advice(model, "1,2,4", cores, said);
}

/* Two threads of three meet at permits for two: nothing of what is looked at is busy. */
static void where_nothing_is_busy_one_is_told_where_to_ask(void **state) {
    (void)state;
    const int cores[] = {8, 0};
    struct model *model = make(0);
    model->machine.cores = 8;
    int permits = build_object(model, OBJECT_TOKENS, 1);
    for (size_t n = 0, count = model->n_nodes; n < count; n++)
        if (model->nodes[n].kind == NODE_LOCK || model->nodes[n].kind == NODE_UNLOCK) {
            model->nodes[n].kind = model->nodes[n].kind == NODE_LOCK ? NODE_ACQUIRE : NODE_RELEASE;
            model->nodes[n].object = permits;
        }
    for (size_t n = 0; n < model->n_nodes; n++)
        if (model->nodes[n].kind == NODE_ACQUIRE && model->nodes[n].object == permits)
            model->nodes[n].edges[0].cpu_ns = constant(1 * MS);
    const char *const said[] = {"With 8 cores, 2 threads are enough (241 ms): more gain nothing "
                                "(why: persik bottleneck --threads 2 --cores 8).",
                                NULL};
    assert_advice(model, "1,2,4", cores, said);
}

static void sentences_fit_the_line(void **state) {
    (void)state;
    const int cores[] = {2, 0};
    struct model *model = make(0);
    struct advice advice = advise(model, "1,2,4", cores);
    char *text;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    advice_print(&advice, out);
    fclose(out);
    assert_string_equal(text,
                        "\nWith 2 cores, 2 threads are enough (120 ms): more gain nothing: the "
                        "cores are\n  busy for 100 % of the time.\n");
    free(text);
    advice_free(&advice);
    model_free(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_single_configuration_says_nothing),
        cmocka_unit_test(cores_that_are_busy),
        cmocka_unit_test(threads_that_are_still_a_gain),
        cmocka_unit_test(the_smallest_of_equals_is_enough),
        cmocka_unit_test(a_lock_that_is_held),
        cmocka_unit_test(more_cores_than_recorded_are_a_guess),
        cmocka_unit_test(work_of_each_thread_is_not_compared),
        cmocka_unit_test(where_nothing_is_busy_one_is_told_where_to_ask),
        cmocka_unit_test(sentences_fit_the_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
