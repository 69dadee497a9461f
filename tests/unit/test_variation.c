/* cli/sensitivity/variation and cli/sensitivity/sensitivity: of models whose running time can be
 * worked out, each variation changes it by as much as it must. */
/* tests/run: beside others */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/sensitivity/sensitivity.h"
#include "tests/unit/model_builder.h"
#include "tests/unit/simulation.h"

#define MS 1e6

/* ---- the analysis of a model ---- */

typedef struct model *(*model_maker)(void);

/* A function is no object: its address goes by that of a variable. */
static struct model *make(const void *context, struct error *error) {
    (void)error;
    struct model *model = (*(const model_maker *)context)();
    model_find_pools(model);
    return model;
}

struct analysis {
    model_maker maker;
    struct model *model;
    int pool_threads[4];
    struct variations variations;
    struct sensitivity sensitivity;
};

/* With so many threads in the first pool, 0: its own. */
static void begin_with(struct analysis *analysis, model_maker maker, int threads,
                       struct sim_config config) {
    *analysis = (struct analysis){.maker = maker};
    analysis->model = make(&analysis->maker, NULL);
    for (size_t p = 0; p < analysis->model->n_pools; p++)
        analysis->pool_threads[p] = analysis->model->pools[p].profiled_threads;
    if (threads)
        analysis->pool_threads[0] = threads;
    config.pool_threads = analysis->pool_threads;
    config.seed = 1;
    struct sim_result base = simulate(analysis->model, config);
    analysis->variations = variations_of(analysis->model, analysis->pool_threads, &base, 0.1);
    analysis->sensitivity =
        (struct sensitivity){.load = make, .context = &analysis->maker, .config = config};
    analysis->sensitivity.config.precision = 0.002;
    sim_result_free(&base);
}

static void begin(struct analysis *analysis, model_maker maker, int threads) {
    begin_with(analysis, maker, threads, (struct sim_config){0});
}

static void end(struct analysis *analysis) {
    sensitivity_free(&analysis->sensitivity);
    variations_free(&analysis->variations);
    model_free(analysis->model);
}

static const struct variation *find(const struct analysis *analysis, const char *subject,
                                    const char *change) {
    for (size_t i = 0; i < analysis->variations.count; i++) {
        const struct variation *variation = &analysis->variations.items[i];
        if (strcmp(variation->subject, subject) == 0 && strcmp(variation->change, change) == 0)
            return variation;
    }
    return NULL;
}

static struct effect effect_of(struct analysis *analysis, const char *subject, const char *change) {
    const struct variation *variation = find(analysis, subject, change);
    struct effect effect = {0};
    struct error error = {0};
    if (!variation)
        fail_msg("no variation '%s' of '%s'", change, subject);
    else if (sensitivity_find(&analysis->sensitivity, analysis->model, variation, &effect, &error) <
             0)
        fail_msg("%s", error.text);
    return effect;
}

/* The running time changes by `expected`, to a 500th of what it was. */
static void assert_effect(struct analysis *analysis, const char *subject, const char *change,
                          double expected) {
    struct effect effect = effect_of(analysis, subject, change);
    struct estimate run = effect.change[EFFECT_RUN];
    if (effect.no_figures)
        fail_msg("%s, %s: %s", subject, change, effect.no_figures);
    if (!(fabs(run.mean - expected) <= 0.002 + run.half_width))
        fail_msg("%s, %s: %+.3g is not %+.3g", subject, change, run.mean, expected);
    assert_true(effect_is_seen(run) == (expected != 0));
}

/* ---- times ---- */

static struct model *make_walker(void) {
    struct model *model = build_model(1);
    int pool = build_pool(model, 1, true);
    int sleep = build_sleep(model, model->pools[pool].entry, constant(2 * MS), constant(1 * MS));
    build_next(model, sleep, constant(1 * MS), NODE_END, MODEL_NONE);
    return model;
}

/* Values out of a recording: 1, 2 and 6 ms. */
static struct model *make_recorded(void) {
    struct model *model = build_model(3);
    int pool = build_pool(model, 3, true);
    double values[] = {1 * MS, 2 * MS, 6 * MS};
    build_next(model, model->pools[pool].entry, dist_from_values(values, 3, 3), NODE_END,
               MODEL_NONE);
    return model;
}

static void all_recorded_values_are_changed(void **state) {
    (void)state;
    struct analysis analysis;
    begin(&analysis, make_recorded, 0);
    assert_effect(&analysis, "pool-0", "CPU +10 %", 0.1);
    end(&analysis);
}

/* 3 ms of computing and 1 ms of sleep. */
static void computing_and_sleeping_count_by_their_parts_of_the_run(void **state) {
    (void)state;
    struct analysis analysis;
    begin(&analysis, make_walker, 0);
    assert_effect(&analysis, "pool-0", "CPU +10 %", 0.075);
    assert_effect(&analysis, "pool-0", "sleeps +10 %", 0.025);
    assert_int_equal(analysis.variations.count, 2);
    end(&analysis);
}

static struct model *make_reader(void) {
    struct model *model = build_model(1);
    int disk = build_object(model, OBJECT_DISK, 0);
    model->objects[disk].service_ns = constant(2 * MS);
    int pool = build_pool(model, 1, true);
    int read = build_next(model, model->pools[pool].entry, constant(1 * MS), NODE_IO, disk);
    model->nodes[read].operations = constant(3);
    int other = build_next(model, read, constant(0), NODE_IO, MODEL_NONE);
    model->nodes[other].wait_ns = constant(3 * MS);
    build_next(model, other, constant(0), NODE_END, MODEL_NONE);
    return model;
}

static void a_disk_counts_apart_from_other_devices(void **state) {
    (void)state;
    struct analysis analysis;
    begin(&analysis, make_reader, 0);
    assert_effect(&analysis, "disk-0", "service times +10 %", 0.06);
    assert_effect(&analysis, "pool-0", "I/O +10 %", 0.03);
    assert_effect(&analysis, "pool-0", "CPU +10 %", 0.01);
    end(&analysis);
}

static struct model *make_two_ways(void) {
    struct model *model = build_model(2);
    for (int ms = 10; ms >= 5; ms -= 5) {
        int pool = build_pool(model, 1, true);
        build_next(model, model->pools[pool].entry, constant(ms * MS), NODE_END, MODEL_NONE);
    }
    return model;
}

static void what_is_not_on_the_longest_way_has_no_effect(void **state) {
    (void)state;
    struct analysis analysis;
    begin(&analysis, make_two_ways, 0);
    assert_effect(&analysis, "pool-0", "CPU +10 %", 0.1);
    assert_effect(&analysis, "pool-1", "CPU +10 %", 0);
    end(&analysis);
}

/* ---- objects ---- */

/* Eight threads on as many cores, 1000 rounds; of each, `inside` in a critical section. */
static struct model *make_rounds(double outside_ns, double inside_ns) {
    struct model *model = build_model(8);
    int mutex = build_object(model, OBJECT_MUTEX, 0);
    int work = build_object(model, OBJECT_TOKENS, 1000);
    int pool = build_pool(model, 8, true);
    int take = build_next(model, model->pools[pool].entry, constant(0), NODE_ACQUIRE, work);
    model->nodes[take].timeout_ns = 0;
    int enter = build_node(model, NODE_LOCK, mutex);
    struct edge *more = build_edge(model, take, enter);
    more->when = OUTCOME_YES;
    more->cpu_ns = constant(outside_ns);
    int leave = build_next(model, enter, constant(inside_ns), NODE_UNLOCK, mutex);
    build_edge(model, leave, take);
    int over = build_node(model, NODE_END, MODEL_NONE);
    build_edge(model, take, over)->when = OUTCOME_NO;
    return model;
}

static struct model *make_lock_bound(void) {
    return make_rounds(1 * MS, 1 * MS);
}

/* The section is always busy: 1 ms outside once, 1000 ms inside. */
static void the_time_that_the_bottleneck_is_held_is_all_of_the_effect(void **state) {
    (void)state;
    struct analysis analysis;
    begin(&analysis, make_lock_bound, 0);
    assert_effect(&analysis, "mutex-0", "hold times +10 %", 0.1);
    assert_effect(&analysis, "pool-0", "CPU +10 %", 0.1);
    assert_effect(&analysis, "tokens-1", "count 1000 to 1100", 0.1);
    assert_effect(&analysis, "tokens-1", "count 1000 to 900", -0.1);
    assert_string_equal(find(&analysis, "mutex-0", "hold times +10 %")->known, "exact");
    end(&analysis);
}

static struct model *make_compute_bound(void) {
    return make_rounds(9 * MS, 0.9 * MS);
}

/* 11 rounds of 9.9 ms to each core: how long the lock is held is a tenth of the demand. */
static void a_lock_that_is_no_bottleneck_counts_by_its_part_of_the_demand(void **state) {
    (void)state;
    struct analysis analysis;
    begin(&analysis, make_compute_bound, 0);
    struct effect hold = effect_of(&analysis, "mutex-0", "hold times +10 %");
    struct effect all = effect_of(&analysis, "pool-0", "CPU +10 %");
    assert_close(all.change[EFFECT_RUN].mean, 0.1, 0.02);
    assert_true(hold.change[EFFECT_RUN].mean > 0.005 && hold.change[EFFECT_RUN].mean < 0.02);
    end(&analysis);
}

/* Six threads sleep 60 times 1 ms each, no more than two at once. */
static struct model *make_permits(void) {
    struct model *model = build_model(6);
    int permits = build_object(model, OBJECT_TOKENS, 2);
    int pool = build_pool(model, 6, true);
    int head = build_next(model, model->pools[pool].entry, constant(0), NODE_STEP, MODEL_NONE);
    int leave;
    int body = build_loop(model, head, constant(60), &leave);
    int take = build_next(model, body, constant(0), NODE_ACQUIRE, permits);
    int sleep = build_sleep(model, take, constant(0), constant(1 * MS));
    int give = build_next(model, sleep, constant(0), NODE_RELEASE, permits);
    build_edge(model, give, head);
    build_next(model, leave, constant(0), NODE_END, MODEL_NONE);
    return model;
}

static void permits_change_it_by_how_many_can_have_one(void **state) {
    (void)state;
    struct analysis analysis;
    begin(&analysis, make_permits, 0);
    assert_effect(&analysis, "tokens-0", "count 2 to 3", -1 / 3.0);
    assert_effect(&analysis, "tokens-0", "count 2 to 1", 1);
    end(&analysis);
}

static struct model *make_greedy(void) {
    struct model *model = build_model(1);
    int permits = build_object(model, OBJECT_TOKENS, 2);
    int pool = build_pool(model, 1, true);
    int take = build_next(model, model->pools[pool].entry, constant(1 * MS), NODE_ACQUIRE, permits);
    model->nodes[take].count = 2;
    build_next(model, take, constant(1 * MS), NODE_END, MODEL_NONE);
    return model;
}

static void a_standstill_is_no_effect_but_a_reason(void **state) {
    (void)state;
    struct analysis analysis;
    begin(&analysis, make_greedy, 0);
    struct effect effect = effect_of(&analysis, "tokens-0", "count 2 to 1");
    assert_true(effect.no_figures && strstr(effect.no_figures, "waits for nothing"));
    assert_true(isnan(effect.change[EFFECT_RUN].mean));
    effect_free(&effect);
    end(&analysis);
}

/* Tasks arrive every 2 ms on average, and take 1 ms of one thread. */
static struct model *make_open(void) {
    struct model *model = build_model(1);
    int queue = build_object(model, OBJECT_QUEUE, 0);
    model->objects[queue].interarrival_ns = exponential(2 * MS);
    int pool = build_pool(model, 1, true);
    int get = build_next(model, model->pools[pool].entry, constant(0), NODE_GET, queue);
    int done = build_next(model, get, exponential(1 * MS), NODE_TASK_END, MODEL_NONE);
    build_edge(model, done, get);
    return model;
}

/* M/M/1: a response takes s / (1 - s / a) on average. 40 s are some 20,000 tasks. */
static void arrivals_change_throughput_and_response(void **state) {
    (void)state;
    struct analysis analysis;
    struct sim_config open = {.horizon_ns = 20000 * MS, .warmup_ns = 1000 * MS};
    begin_with(&analysis, make_open, 0, open);
    const double response = 2 * MS, faster = 1 / (1 - 1.1 / 2) * MS, longer = 1.1 / (1 - 0.55) * MS;
    for (int given = 0; given < 2; given++) {
        analysis.sensitivity.config.arrival_rate_hz = given ? 500 : 0;
        sensitivity_free(&analysis.sensitivity);
        struct effect arrivals = effect_of(&analysis, "queue-0", "arrivals +10 %");
        assert_true(fabs(arrivals.change[EFFECT_THROUGHPUT].mean - 0.1) < 0.01);
        assert_true(fabs(arrivals.change[EFFECT_RESPONSE].mean - (faster / response - 1)) < 0.03);
        assert_false(effect_is_seen(arrivals.change[EFFECT_RUN]));
    }
    struct effect demand = effect_of(&analysis, "pool-0", "CPU +10 %");
    assert_true(fabs(demand.change[EFFECT_THROUGHPUT].mean) < 0.01);
    assert_true(fabs(demand.change[EFFECT_RESPONSE].mean - (longer / response - 1)) < 0.03);
    end(&analysis);
}

/* ---- what is not known ---- */

/* 20 ms of work were split between two threads, or each of them has 10 ms of its own. */
static struct model *make_unknown_rule(void) {
    struct model *model = build_model(4);
    int pool = build_pool(model, 2, true);
    int over = build_node(model, NODE_END, MODEL_NONE);
    struct edge *work = build_edge(model, model->pools[pool].entry, over);
    work->cpu_ns = constant(10 * MS);
    work->cpu_scaling = (struct scaling){.share = 1, .pool = pool};
    model->pools[pool].partition = PARTITION_UNKNOWN;
    free(model->pools[pool].origin);
    model->pools[pool].origin =
        memory_strdup("created in main (/home/me/two.c:30), called from main");
    return model;
}

static void other_rules_show_where_the_threads_are_not_the_recorded_ones(void **state) {
    (void)state;
    struct analysis analysis;
    begin(&analysis, make_unknown_rule, 4);
    assert_effect(&analysis, "pool-0", "rule perthread", 1);
    assert_effect(&analysis, "pool-0", "rule fixed", 0);
    const struct variation *variation = find(&analysis, "pool-0", "rule perthread");
    assert_string_equal(variation->known, "rule unknown");
    assert_string_equal(variation->place, "main (two.c:30)");
    end(&analysis);
    begin(&analysis, make_unknown_rule, 0);
    assert_effect(&analysis, "pool-0", "rule perthread", 0);
    end(&analysis);
}

static void a_rule_that_is_certain_is_left_alone(void **state) {
    (void)state;
    struct analysis analysis;
    begin(&analysis, make_permits, 0);
    for (size_t i = 0; i < analysis.variations.count; i++)
        assert_true(analysis.variations.items[i].kind != VARY_POOL_RULE);
    end(&analysis);
}

/* One computes 5 ms after the other has told it to, which takes 10 ms. */
static struct model *make_flag(void) {
    struct model *model = build_model(2);
    int flag = build_object(model, OBJECT_FLAG, 0);
    int waiting = build_pool(model, 1, true);
    int wait = build_next(model, model->pools[waiting].entry, constant(0), NODE_WAIT, flag);
    build_next(model, wait, constant(5 * MS), NODE_END, MODEL_NONE);
    int telling = build_pool(model, 1, true);
    int signal =
        build_next(model, model->pools[telling].entry, constant(10 * MS), NODE_SIGNAL, flag);
    build_next(model, signal, constant(0), NODE_END, MODEL_NONE);
    return model;
}

static void what_is_only_alike_is_left_out(void **state) {
    (void)state;
    struct analysis analysis;
    begin(&analysis, make_flag, 0);
    assert_effect(&analysis, "flag-0", "nobody waits for it", -1 / 3.0);
    assert_string_equal(find(&analysis, "flag-0", "nobody waits for it")->known, "alike");
    end(&analysis);
}

static struct model *make_left_out(void) {
    struct model *model = build_model(2);
    int pool = build_pool(model, 2, true);
    build_next(model, model->pools[pool].entry, constant(10 * MS), NODE_END, MODEL_NONE);
    model->measured_run_ns = 13 * MS;
    model->n_waiting = 1;
    model->waiting = memory_alloc(1, sizeof *model->waiting);
    model->waiting[0] = (struct waiting_share){memory_strdup("condition ready, main (m.c:7)"),
                                               MODELLED_NOT, 6 * MS};
    return model;
}

/* 6 ms of two threads. */
static void what_is_not_modelled_is_waited_for_as_measured(void **state) {
    (void)state;
    struct analysis analysis;
    begin(&analysis, make_left_out, 0);
    assert_effect(&analysis, "condition ready, main (m.c:7)", "0.006 s of waiting added", 0.3);
    end(&analysis);
}

/* ---- the machine ---- */

static struct model *make_ping(void) {
    struct model *model = make_permits();
    model->machine.block_cpu_ns = 0.05 * MS;
    model->machine.wake_latency_ns = constant(0.1 * MS);
    return model;
}

static void costs_of_waiting_are_doubled(void **state) {
    (void)state;
    struct analysis analysis;
    begin(&analysis, make_ping, 0);
    struct effect cpu = effect_of(&analysis, "the scheduler", "CPU costs doubled");
    struct effect latency = effect_of(&analysis, "the scheduler", "wake-up times doubled");
    assert_true(effect_is_seen(cpu.change[EFFECT_RUN]) && cpu.change[EFFECT_RUN].mean > 0);
    assert_true(effect_is_seen(latency.change[EFFECT_RUN]) && latency.change[EFFECT_RUN].mean > 0);
    end(&analysis);
}

/* ---- noise ---- */

/* Tasks of random length: two runs differ by about as much as the effect. Each thread has a core,
 * so that all times are in proportion to the demands. */
static struct model *make_noisy(void) {
    struct model *model = build_model(3);
    int mutex = build_object(model, OBJECT_MUTEX, 0);
    int pool = build_pool(model, 3, true);
    int head = build_next(model, model->pools[pool].entry, constant(0), NODE_STEP, MODEL_NONE);
    int leave;
    int body = build_loop(model, head, constant(40), &leave);
    int enter = build_next(model, body, exponential(1 * MS), NODE_LOCK, mutex);
    int out = build_next(model, enter, exponential(0.2 * MS), NODE_UNLOCK, mutex);
    int done = build_next(model, out, constant(0), NODE_TASK_END, MODEL_NONE);
    build_edge(model, done, head);
    build_next(model, leave, constant(0), NODE_END, MODEL_NONE);
    return model;
}

static void common_random_numbers_show_effects_below_the_noise(void **state) {
    (void)state;
    struct analysis analysis;
    begin(&analysis, make_noisy, 0);
    struct effect effect = effect_of(&analysis, "pool-0", "CPU +10 %");
    double first = analysis.sensitivity.base[0].run_ns.mean;
    double second = analysis.sensitivity.base[1].run_ns.mean;
    assert_true(fabs(second / first - 1) > 0.02);
    assert_close(effect.change[EFFECT_RUN].mean, 0.1, 0.01);
    assert_true(effect.change[EFFECT_RUN].half_width < 0.001);
    assert_close(effect.change[EFFECT_THROUGHPUT].mean, 1 / 1.1 - 1, 0.01);
    end(&analysis);
}

static void the_same_seed_gives_the_same_effects(void **state) {
    (void)state;
    struct analysis first, second;
    begin(&first, make_noisy, 0);
    begin(&second, make_noisy, 0);
    second.sensitivity.config.workers = 2;
    struct effect a = effect_of(&first, "mutex-0", "hold times +10 %");
    struct effect b = effect_of(&second, "mutex-0", "hold times +10 %");
    assert_memory_equal(a.change, b.change, sizeof a.change);
    second.sensitivity.config.seed = 2;
    sensitivity_free(&second.sensitivity);
    b = effect_of(&second, "mutex-0", "hold times +10 %");
    assert_true(a.change[EFFECT_RUN].mean != b.change[EFFECT_RUN].mean);
    end(&first);
    end(&second);
}

static void effects_are_ordered_by_size_and_noise_has_none(void **state) {
    (void)state;
    char reason[] = "waits for nothing";
    const struct effect effects[] = {
        {.change = {{0.002, 0.01}, {NAN, NAN}, {NAN, NAN}}},
        {.change = {{NAN, NAN}, {NAN, NAN}, {NAN, NAN}}, .no_figures = reason},
        {.change = {{0.01, 0.001}, {NAN, NAN}, {NAN, NAN}}},
        {.change = {{-0.3, 0.01}, {0.4, 0.1}, {NAN, NAN}}},
        {.change = {{0, 0}, {0.2, 0.1}, {NAN, NAN}}},
    };
    size_t *order = sensitivity_order(effects, 5);
    const size_t expected[] = {3, 2, 4, 0, 1};
    assert_memory_equal(order, expected, sizeof expected);
    free(order);
}

/* ---- words ---- */

static void assert_place(const char *text, const char *expected) {
    char *place = variation_place(text);
    assert_string_equal(place, expected);
    free(place);
}

static void places_are_read_off_names(void **state) {
    (void)state;
    assert_place("mutex struct q.mutex, queue_init (pipeline.c:53), in main",
                 "queue_init (pipeline.c:53)");
    assert_place("work of the loop in encode (line 57)", "encode (line 57)");
    assert_place("created in start (/a/b/c.cpp:280), called from run (x.c:1)", "start (c.cpp:280)");
    assert_place("operator() (x.c:1)", "operator() (x.c:1)");
    assert_place("the program's first thread", "");
    assert_place("f (x.c:?)", "");
    assert_place("(", "");
    assert_place(NULL, "");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(computing_and_sleeping_count_by_their_parts_of_the_run),
        cmocka_unit_test(all_recorded_values_are_changed),
        cmocka_unit_test(a_disk_counts_apart_from_other_devices),
        cmocka_unit_test(what_is_not_on_the_longest_way_has_no_effect),
        cmocka_unit_test(the_time_that_the_bottleneck_is_held_is_all_of_the_effect),
        cmocka_unit_test(a_lock_that_is_no_bottleneck_counts_by_its_part_of_the_demand),
        cmocka_unit_test(permits_change_it_by_how_many_can_have_one),
        cmocka_unit_test(a_standstill_is_no_effect_but_a_reason),
        cmocka_unit_test(arrivals_change_throughput_and_response),
        cmocka_unit_test(other_rules_show_where_the_threads_are_not_the_recorded_ones),
        cmocka_unit_test(a_rule_that_is_certain_is_left_alone),
        cmocka_unit_test(what_is_only_alike_is_left_out),
        cmocka_unit_test(what_is_not_modelled_is_waited_for_as_measured),
        cmocka_unit_test(costs_of_waiting_are_doubled),
        cmocka_unit_test(common_random_numbers_show_effects_below_the_noise),
        cmocka_unit_test(the_same_seed_gives_the_same_effects),
        cmocka_unit_test(effects_are_ordered_by_size_and_noise_has_none),
        cmocka_unit_test(places_are_read_off_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
