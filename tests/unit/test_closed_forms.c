/* The simulator against queueing theory. Each system is simulated with several seeds; the exact
 * value must lie inside the printed 95 % interval in so many of them that right intervals fail by
 * chance with a probability below CHANCE: 16 of 20. Since the seeds are fixed, a system then always
 * fails or never. */
/* tests/run: beside others */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <gsl/gsl_cdf.h>

#include "simulator/simulator.h"
#include "tests/unit/model_builder.h"

#ifndef __has_feature /* Clang's way to ask */
#define __has_feature(name) 0
#endif

/* ThreadSanitizer looks for races, which the first seeds show as well as the last ones, and makes
 * each some 20 times slower. */
#if defined(__SANITIZE_THREAD__) || __has_feature(thread_sanitizer)
#define SEEDS 5
#else
#define SEEDS 20
#endif

#define MS        1e6 /* in nanoseconds */
#define CHANCE    0.003
#define MAX_STATE 64

typedef struct estimate (*measure)(const struct sim_result *result);

static struct estimate response(const struct sim_result *result) {
    return result->response_ns;
}

static struct estimate throughput(const struct sim_result *result) {
    return result->throughput_hz;
}

static struct estimate run_time(const struct sim_result *result) {
    return result->run_ns;
}

static struct estimate utilisation(const struct sim_result *result) {
    return result->cpu_utilisation;
}

/* Of SEEDS 95 % intervals, so many contain the exact value but with a probability below CHANCE. */
static int least_inside(void) {
    int least = SEEDS;
    while (gsl_cdf_binomial_P((unsigned)least - 1, 0.95, SEEDS) >= CHANCE)
        least--;
    return least;
}

/* How many seeds' intervals contain `exact`; fails the test when they are too few, or so wide that
 * containing it means nothing. Frees the model. */
static void assert_within_intervals(struct model *model, struct sim_config config, measure what,
                                    double exact, double widest) {
    int inside = 0;
    config.precision = 1; /* a fixed number of replications: no bias from stopping when it suits */
    config.max_replications = config.min_replications;
    for (int seed = 1; seed <= SEEDS; seed++) {
        struct sim_result result;
        struct error error = {0};
        config.seed = (uint64_t)seed;
        if (sim_predict(model, &config, &result, &error) != 0)
            fail_msg("%s", error.text);
        struct estimate estimate = what(&result);
        assert_true(result.stalls == 0);
        assert_true(estimate.half_width > 0 && estimate.half_width < widest * estimate.mean);
        inside += fabs(estimate.mean - exact) <= estimate.half_width;
        sim_result_free(&result);
    }
    print_message("%.6g lies in %d of %d intervals\n", exact, inside, SEEDS);
    if (inside < least_inside())
        fail_msg("%.6g lies in only %d of %d intervals", exact, inside, SEEDS);
    model_free(model);
}

/* ---- open systems ---- */

/* Customers arrive, wait for one of `servers` threads, and are served on a core of its own. */
static struct model *build_station(int servers, double arrival_mean_ns, struct dist service) {
    struct model *model = build_model(servers);
    int queue = build_object(model, OBJECT_QUEUE, 0);
    model->objects[queue].interarrival_ns = exponential(arrival_mean_ns);
    int pool = build_pool(model, servers, true);
    int get = build_next(model, model->pools[pool].entry, constant(0), NODE_GET, queue);
    int done = build_next(model, get, service, NODE_TASK_END, MODEL_NONE);
    build_edge(model, done, get);
    return model;
}

static const struct sim_config open_run = {
    .horizon_ns = 12000 * MS, .warmup_ns = 2000 * MS, .min_replications = 10};

static void test_mm1_response_time(void **state) {
    (void)state;
    double service = 0.7 * MS;
    struct model *model = build_station(1, 1 * MS, exponential(service));
    assert_within_intervals(model, open_run, response, service / (1 - 0.7), 0.08);
}

/* Two queues of half the arrivals each, which are random as well. */
static void test_arrivals_dealt_to_two_are_two_mm1(void **state) {
    (void)state;
    struct model *model = build_station(2, 0.5 * MS, exponential(0.7 * MS));
    model->objects[0].dealt_to = 0;
    assert_within_intervals(model, open_run, response, 0.7 * MS / (1 - 0.7), 0.08);
}

/* Whoever takes a customer makes a thread that serves it. At most so many live at a time (0: as
 * many as come). */
static struct model *build_thread_for_each(int cores, double arrival_mean_ns, double service_ns,
                                           int most) {
    struct model *model = build_model(cores);
    int queue = build_object(model, OBJECT_QUEUE, 0);
    model->objects[queue].interarrival_ns = exponential(arrival_mean_ns);
    int permits = build_object(model, OBJECT_TOKENS, most);
    int creator = build_pool(model, 1, true), made = build_pool(model, 1, false);
    model->pools[made].per_task = true;
    model->pools[made].scales = false;
    int at = model->pools[creator].entry;
    if (most > 0)
        at = build_next(model, at, constant(0), NODE_ACQUIRE, permits);
    int get = build_next(model, at, constant(0), NODE_GET, queue);
    int create = build_next(model, get, constant(0), NODE_CREATE, MODEL_NONE);
    model->nodes[create].target_pool = made;
    build_edge(model, create, most > 0 ? at : get);
    int done = build_next(model, model->pools[made].entry, exponential(service_ns), NODE_TASK_END,
                          MODEL_NONE);
    if (most > 0)
        done = build_next(model, done, constant(0), NODE_RELEASE, permits);
    build_next(model, done, constant(0), NODE_END, MODEL_NONE);
    return model;
}

static void test_a_thread_for_each_task_is_mm_infinity(void **state) {
    (void)state;
    struct model *model = build_thread_for_each(12, 1 * MS, 1 * MS, 0);
    assert_within_intervals(model, open_run, response, 1 * MS, 0.02);
}

static void test_a_limit_of_threads_is_mmc(void **state) {
    (void)state;
    struct model *model = build_thread_for_each(2, 0.5 * MS, 0.7 * MS, 2);
    assert_within_intervals(model, open_run, response, 0.7 * MS / (1 - 0.7 * 0.7), 0.08);
}

/* More than can be computed come, and wait for a thread to end. */
static void test_threads_for_tasks_share_the_cores(void **state) {
    (void)state;
    struct model *model = build_thread_for_each(2, 0.5 * MS, 2 * MS, 0);
    struct sim_config config = {
        .horizon_ns = 2000 * MS, .warmup_ns = 1000 * MS, .min_replications = 10};
    assert_within_intervals(model, config, throughput, 1000, 0.05);
}

static void test_mm1_utilisation_and_throughput(void **state) {
    (void)state;
    assert_within_intervals(build_station(1, 1 * MS, exponential(0.7 * MS)), open_run, utilisation,
                            0.7, 0.02);
    assert_within_intervals(build_station(1, 1 * MS, exponential(0.7 * MS)), open_run, throughput,
                            1000, 0.02);
}

static struct estimate median(const struct sim_result *result) {
    return result->response_p50_ns;
}

static struct estimate percentile99(const struct sim_result *result) {
    return result->response_p99_ns;
}

/* M/M/1 response times are exponential. */
static void test_mm1_percentiles(void **state) {
    (void)state;
    double mean = 0.5 * MS / (1 - 0.5);
    assert_within_intervals(build_station(1, 1 * MS, exponential(0.5 * MS)), open_run, median,
                            mean * log(2), 0.08);
    assert_within_intervals(build_station(1, 1 * MS, exponential(0.5 * MS)), open_run, percentile99,
                            mean * log(100), 0.08);
}

/* Pollaczek-Khinchine for constant service. */
static void test_md1_response_time(void **state) {
    (void)state;
    double service = 0.8 * MS;
    double load = 0.8;
    struct model *model = build_station(1, 1 * MS, constant(service));
    assert_within_intervals(model, open_run, response, service + load * service / (2 * (1 - load)),
                            0.05);
}

/* The probability that an arrival must wait, with offered load `erlangs`. */
static double erlang_c(int servers, double erlangs) {
    double term = 1;
    double sum = 0;
    for (int i = 0; i < servers; i++) {
        sum += term;
        term *= erlangs / (i + 1);
    }
    double waiting = term * servers / (servers - erlangs);
    return waiting / (sum + waiting);
}

static void test_mmc_response_time(void **state) {
    (void)state;
    for (int servers = 2; servers <= 8; servers *= 2) {
        double service = 1 * MS;
        double erlangs = 0.8 * servers;
        struct model *model = build_station(servers, service / erlangs, exponential(service));
        double wait = erlang_c(servers, erlangs) * service / (servers - erlangs);
        struct sim_config config = open_run;
        config.horizon_ns = config.warmup_ns + 20000 * MS / servers; /* equally many customers */
        assert_within_intervals(model, config, response, service + wait, 0.08);
    }
}

/* The arrival rate given at prediction replaces the model's. */
static void test_mm1_at_another_arrival_rate(void **state) {
    (void)state;
    struct sim_config config = open_run;
    config.arrival_rate_hz = 500;
    struct model *model = build_station(1, 123 * MS, exponential(1 * MS));
    assert_within_intervals(model, config, response, 2 * MS, 0.08);
}

/* ---- closed systems ---- */

/* Throughput of `customers` who think and then need one of `servers`, all exponential, by exact
 * mean value analysis with a load-dependent station (Reiser and Lavenberg 1980): present[j] is the
 * probability that j of n customers are at the station. */
static double mva_throughput_hz(int customers, int servers, double think_ns, double service_ns) {
    double present[MAX_STATE] = {1};
    double throughput = 0;
    for (int n = 1; n <= customers; n++) {
        double response = 0;
        for (int j = 1; j <= n; j++)
            response += j * service_ns / fmin(j, servers) * present[j - 1];
        throughput = n / (think_ns + response);
        double someone = 0;
        for (int j = n; j >= 1; j--) {
            present[j] = throughput * service_ns / fmin(j, servers) * present[j - 1];
            someone += present[j];
        }
        present[0] = 1 - someone;
    }
    return throughput * 1e9;
}

/* Threads that sleep (think), then do a task; `mutex`: inside a critical section. */
static struct model *build_closed(int cores, int threads, double think_ns, double service_ns,
                                  bool mutex) {
    struct model *model = build_model(cores);
    int lock = build_object(model, OBJECT_MUTEX, 0);
    int pool = build_pool(model, threads, true);
    int think = build_sleep(model, model->pools[pool].entry, constant(0), exponential(think_ns));
    int enter = think;
    if (mutex)
        enter = build_next(model, think, constant(0), NODE_LOCK, lock);
    int done = build_next(model, enter, exponential(service_ns), NODE_TASK_END, MODEL_NONE);
    if (mutex)
        done = build_next(model, done, constant(0), NODE_UNLOCK, lock);
    build_edge(model, done, think);
    return model;
}

static const struct sim_config closed_run = {
    .horizon_ns = 6000 * MS, .warmup_ns = 1000 * MS, .min_replications = 10};

static void test_closed_network_with_c_cores(void **state) {
    (void)state;
    for (int cores = 1; cores <= 4; cores *= 2) {
        struct model *model = build_closed(cores, 10, 5 * MS, 1.5 * MS, false);
        double exact = mva_throughput_hz(10, cores, 5 * MS, 1.5 * MS);
        assert_within_intervals(model, closed_run, throughput, exact, 0.04);
    }
}

static void test_closed_network_with_a_mutex(void **state) {
    (void)state;
    for (int threads = 2; threads <= 8; threads *= 2) {
        struct model *model = build_closed(16, threads, 5 * MS, 1.5 * MS, true);
        double exact = mva_throughput_hz(threads, 1, 5 * MS, 1.5 * MS);
        assert_within_intervals(model, closed_run, throughput, exact, 0.04);
    }
}

/* A disk with c servers, each customer a thread that waits for its request. */
static void test_closed_network_with_a_disk_of_c_servers(void **state) {
    (void)state;
    for (int servers = 1; servers <= 4; servers *= 2) {
        struct model *model = build_model(16);
        int disk = build_object(model, OBJECT_DISK, 0);
        model->objects[disk].service_ns = exponential(1.5 * MS);
        model->objects[disk].servers = servers;
        int pool = build_pool(model, 10, true);
        int entry = model->pools[pool].entry;
        int think = build_sleep(model, entry, constant(0), exponential(5 * MS));
        int read = build_next(model, think, constant(0), NODE_IO, disk);
        model->nodes[read].operations = constant(1);
        int done = build_next(model, read, constant(0), NODE_TASK_END, MODEL_NONE);
        build_edge(model, done, think);
        double exact = mva_throughput_hz(10, servers, 5 * MS, 1.5 * MS);
        assert_within_intervals(model, closed_run, throughput, exact, 0.04);
    }
}

/* How long a thread takes for a piece that it computes on so long, and for which it makes a call
 * of these requests, of 2 ms each. */
static double reading_ns(double cpu_ns, const double *calls, size_t n) {
    enum { PIECES = 1000 };
    struct model *model = build_model(2);
    int disk = build_object(model, OBJECT_DISK, 0);
    model->objects[disk].service_ns = constant(2 * MS);
    model->objects[disk].servers = 1;
    int pool = build_pool(model, 1, true);
    int read = build_next(model, model->pools[pool].entry, constant(0), NODE_IO, disk);
    struct node *node = &model->nodes[read];
    node->ahead = true;
    node->n_calls = n;
    node->calls = memory_alloc(n, sizeof *node->calls);
    memcpy(node->calls, calls, n * sizeof *calls);
    node->stays = constant(PIECES - 1);
    build_edge(model, read, read)->cpu_ns = constant(cpu_ns);
    int end = build_node(model, NODE_END, MODEL_NONE);
    build_edge(model, read, end)->leaves = true;
    struct sim_config config = {.seed = 1};
    struct error error;
    struct sim_result result;
    assert_int_equal(sim_predict(model, &config, &result, &error), 0);
    double run_ns = run_time(&result).mean / PIECES;
    sim_result_free(&result);
    model_free(model);
    return run_ns;
}

/* A thread that asks for the next piece when it comes to one: its computing, or the disk, is what
 * it takes, whichever is longer, and both where it asks only for what it waits for. */
static void test_reading_ahead(void **state) {
    (void)state;
    const double now[] = {1, 0, 8, 0}, ahead[] = {1, 0, 8, REQUEST_AHEAD};
    assert_true(fabs(reading_ns(1 * MS, now, 4) / (3 * MS) - 1) < 0.01);
    assert_true(fabs(reading_ns(1 * MS, ahead, 4) / (2 * MS) - 1) < 0.01);
    assert_true(fabs(reading_ns(5 * MS, ahead, 4) / (5 * MS) - 1) < 0.01);
}

/* It waits for the first request of each call, and the disk is done with the other one before it
 * comes again. */
static void test_a_call_may_wait_for_a_part_of_its_requests(void **state) {
    (void)state;
    const double both[] = {2, 0, 8, 0, 8, 8, 0}, one[] = {2, 0, 8, 0, 8, 8, REQUEST_AHEAD};
    assert_true(fabs(reading_ns(5 * MS, both, 7) / (9 * MS) - 1) < 0.01);
    assert_true(fabs(reading_ns(5 * MS, one, 7) / (7 * MS) - 1) < 0.01);
}

/* Time shared in slices instead of served in order: the same throughput, because the service is
 * exponential, however short the quantum. */
static void test_closed_network_with_a_short_quantum(void **state) {
    (void)state;
    struct model *model = build_closed(2, 10, 5 * MS, 1.5 * MS, false);
    model->machine.quantum_ns = 0.1 * MS;
    double exact = mva_throughput_hz(10, 2, 5 * MS, 1.5 * MS);
    assert_within_intervals(model, closed_run, throughput, exact, 0.04);
}

/* ---- barriers and pipelines ---- */

/* `rounds` times the slowest of `parties` exponentials: each time mean * (1 + 1/2 + ... + 1/N). */
static void test_barrier_of_n_exponentials(void **state) {
    (void)state;
    for (int parties = 2; parties <= 16; parties *= 2) {
        const double rounds = 500;
        struct model *model = build_model(16);
        int barrier = build_object(model, OBJECT_BARRIER, parties);
        int pool = build_pool(model, parties, true);
        int head = build_next(model, model->pools[pool].entry, constant(0), NODE_STEP, MODEL_NONE);
        int leave;
        int body = build_loop(model, head, constant(rounds), &leave);
        int meet = build_next(model, body, exponential(1 * MS), NODE_BARRIER, barrier);
        build_edge(model, meet, head);
        build_next(model, leave, constant(0), NODE_END, MODEL_NONE);
        double harmonic = 0;
        for (int i = 1; i <= parties; i++)
            harmonic += 1.0 / i;
        struct sim_config config = {.min_replications = 10};
        assert_within_intervals(model, config, run_time, rounds * harmonic * MS, 0.08);
    }
}

/* Threads whose every item passes one critical section much longer than what they do outside: the
 * section is always busy, and the run takes as long as all of them together. */
static void test_mutex_bound_pipeline(void **state) {
    (void)state;
    const double items = 3000;
    struct model *model = build_model(8);
    int mutex = build_object(model, OBJECT_MUTEX, 0);
    int work = build_object(model, OBJECT_TOKENS, items);
    int pool = build_pool(model, 8, true);
    int take = build_next(model, model->pools[pool].entry, constant(0), NODE_ACQUIRE, work);
    model->nodes[take].timeout_ns = 0;
    int enter = build_node(model, NODE_LOCK, mutex);
    build_edge(model, take, enter)->when = OUTCOME_YES;
    int exit = build_next(model, enter, exponential(1 * MS), NODE_UNLOCK, mutex);
    build_edge(model, exit, take)->cpu_ns = constant(0.001 * MS);
    int end = build_node(model, NODE_END, MODEL_NONE);
    build_edge(model, take, end)->when = OUTCOME_NO;
    struct sim_config config = {.min_replications = 10};
    assert_within_intervals(model, config, run_time, items * MS, 0.08);
}

/* A producer that never ends, a bounded queue, a consumer. Exact: the birth-death chain of the
 * number of items between them. The producer holds a finished item when the queue is full, the
 * consumer holds one in service: capacity + 2 places in all. */
static double buffer_throughput_hz(int capacity, double produce_ns, double consume_ns) {
    double ratio = consume_ns / produce_ns;
    double weight = 1;
    double sum = 0;
    for (int items = 0; items <= capacity + 2; items++) {
        sum += weight;
        weight *= ratio;
    }
    return (1 - 1 / sum) / consume_ns * 1e9;
}

static struct model *build_buffer(int capacity, double produce_ns, double consume_ns,
                                  bool monitor) {
    struct model *model = build_model(2);
    int queue = build_object(model, OBJECT_QUEUE, capacity);
    int mutex = build_object(model, OBJECT_MUTEX, 0);
    model->objects[queue].bounded = true;
    const enum node_kind kinds[] = {NODE_PUT, NODE_GET};
    for (int i = 0; i < 2; i++) {
        int pool = build_pool(model, 1, true);
        int head = build_next(model, model->pools[pool].entry, constant(0), NODE_STEP, MODEL_NONE);
        struct dist before = i == 0 ? exponential(produce_ns) : constant(0);
        struct dist after = i == 0 ? constant(0) : exponential(consume_ns);
        int enter = build_next(model, head, before, monitor ? NODE_LOCK : NODE_STEP,
                               monitor ? mutex : MODEL_NONE);
        int move = build_next(model, enter, constant(0), kinds[i], queue);
        if (monitor)
            model->nodes[move].mutex = mutex;
        int exit = build_next(model, move, constant(0), monitor ? NODE_UNLOCK : NODE_STEP,
                              monitor ? mutex : MODEL_NONE);
        int done = build_next(model, exit, after, i == 0 ? NODE_STEP : NODE_TASK_END, MODEL_NONE);
        build_edge(model, done, head);
    }
    return model;
}

static void test_bounded_queue_pipeline(void **state) {
    (void)state;
    for (int capacity = 1; capacity <= 9; capacity += 4) {
        for (int monitor = 0; monitor <= 1; monitor++) {
            struct model *model = build_buffer(capacity, 1 * MS, 0.9 * MS, monitor);
            double exact = buffer_throughput_hz(capacity, 1 * MS, 0.9 * MS);
            assert_within_intervals(model, closed_run, throughput, exact, 0.04);
        }
    }
}

/* Stationary distribution of a small Markov chain, by repeated substitution. */
static void solve_chain(int n, double rate[MAX_STATE][MAX_STATE], double *share) {
    double fastest = 0;
    for (int i = 0; i < n; i++) {
        double out = 0;
        for (int k = 0; k < n; k++)
            out += rate[i][k];
        fastest = fmax(fastest, out);
        share[i] = 1.0 / n;
    }
    for (int step = 0; step < 20000; step++) {
        double next[MAX_STATE];
        memcpy(next, share, sizeof next);
        for (int i = 0; i < n; i++) {
            for (int k = 0; k < n; k++) {
                double flow = share[i] * rate[i][k] / (1.01 * fastest);
                next[i] -= flow;
                next[k] += flow;
            }
        }
        memcpy(share, next, sizeof next);
    }
}

/* The same with two consumers on two cores, so that producer and consumers also share the CPU.
 * State: items between them (queue, in service, and the one the producer cannot get rid of). */
static double shared_buffer_throughput_hz(int capacity, double produce_ns, double consume_ns) {
    double rate[MAX_STATE][MAX_STATE] = {{0}};
    double share[MAX_STATE] = {0};
    const int places = capacity + 3;
    for (int items = 0; items <= places; items++) {
        int consuming = items < 2 ? items : 2;
        int producing = items < places;
        double speed = fmin(1, 2.0 / (consuming + producing));
        if (producing)
            rate[items][items + 1] = speed / produce_ns;
        if (consuming)
            rate[items][items - 1] = speed * consuming / consume_ns;
    }
    solve_chain(places + 1, rate, share);
    double throughput = 0;
    for (int items = 1; items <= places; items++)
        throughput += share[items] * rate[items][items - 1];
    return throughput * 1e9;
}

static void test_bounded_queue_pipeline_that_shares_its_cores(void **state) {
    (void)state;
    struct model *model = build_buffer(3, 1 * MS, 1.6 * MS, false);
    model->pools[1].threads.base = 2;
    model->machine.quantum_ns = 0.05 * MS; /* close to processor sharing */
    double exact = shared_buffer_throughput_hz(3, 1 * MS, 1.6 * MS);
    assert_within_intervals(model, closed_run, throughput, exact, 0.04);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mm1_response_time),
        cmocka_unit_test(test_arrivals_dealt_to_two_are_two_mm1),
        cmocka_unit_test(test_a_thread_for_each_task_is_mm_infinity),
        cmocka_unit_test(test_a_limit_of_threads_is_mmc),
        cmocka_unit_test(test_threads_for_tasks_share_the_cores),
        cmocka_unit_test(test_mm1_utilisation_and_throughput),
        cmocka_unit_test(test_mm1_percentiles),
        cmocka_unit_test(test_md1_response_time),
        cmocka_unit_test(test_mmc_response_time),
        cmocka_unit_test(test_mm1_at_another_arrival_rate),
        cmocka_unit_test(test_closed_network_with_c_cores),
        cmocka_unit_test(test_closed_network_with_a_mutex),
        cmocka_unit_test(test_closed_network_with_a_disk_of_c_servers),
        cmocka_unit_test(test_reading_ahead),
        cmocka_unit_test(test_a_call_may_wait_for_a_part_of_its_requests),
        cmocka_unit_test(test_closed_network_with_a_short_quantum),
        cmocka_unit_test(test_barrier_of_n_exponentials),
        cmocka_unit_test(test_mutex_bound_pipeline),
        cmocka_unit_test(test_bounded_queue_pipeline),
        cmocka_unit_test(test_bounded_queue_pipeline_that_shares_its_cores),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
