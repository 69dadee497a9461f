/* cli/sensitivity/bottleneck: of models whose limit is known, the right one comes first, with the
 * gain that can be worked out, and what gains nothing is not named. */
/* tests/run: beside others */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/sensitivity/bottleneck.h"
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

static struct bottlenecks find(model_maker maker) {
    const struct thread_choice own = {.label = (char *)"own"};
    struct bottleneck_search search = {.load = make, .context = &maker, .config.seed = 1};
    struct bottlenecks found;
    struct prediction prediction;
    struct error error;
    struct model *model = make(&maker, NULL);
    if (prediction_make(model, &own, 0, &search.config, &prediction, &error) < 0)
        fail_msg("%s", error.text);
    assert_null(prediction.no_figures);
    if (bottlenecks_find(&search, model, &prediction, &found, &error) < 0)
        fail_msg("%s", error.text);
    prediction_free(&prediction);
    model_free(model);
    return found;
}

static const struct bottleneck *named(const struct bottlenecks *found, enum limit limit,
                                      const char *subject) {
    for (size_t i = 0; i < found->count; i++)
        if (found->items[i].limit == limit && strcmp(found->items[i].subject, subject) == 0)
            return &found->items[i];
    return NULL;
}

/* The first one, and what it gains, to a hundredth of all; `gain` NAN: that is not known. */
static void assert_first(model_maker maker, enum limit limit, const char *subject, double gain) {
    struct bottlenecks found = find(maker);
    if (found.count == 0)
        fail_msg("nothing limits it, not even %s", subject);
    const struct bottleneck *first = &found.items[0];
    if (first->limit != limit || strcmp(first->subject, subject) != 0)
        fail_msg("first comes %s (%s), gain %g", first->subject, limit_name(first->limit),
                 first->gain.mean);
    if (!isnan(gain) && !(fabs(first->gain.mean - gain) <= 0.01 + first->gain.half_width))
        fail_msg("%s gains %g, not %g", subject, first->gain.mean, gain);
    bottlenecks_free(&found);
}

/* ---- parts of models ---- */

/* The pool takes `rounds` of work from one supply; the body follows the node that is returned, and
 * ends with an edge to `*take`. */
static int build_rounds(struct model *model, int pool, double rounds, int *take) {
    int work = build_object(model, OBJECT_TOKENS, rounds);
    *take = build_next(model, model->pools[pool].entry, constant(0), NODE_ACQUIRE, work);
    model->nodes[*take].timeout_ns = 0;
    int body = build_node(model, NODE_STEP, MODEL_NONE);
    build_edge(model, *take, body)->when = OUTCOME_YES;
    int over = build_node(model, NODE_END, MODEL_NONE);
    build_edge(model, *take, over)->when = OUTCOME_NO;
    model->pools[pool].partition = PARTITION_SHARED;
    return body;
}

/* Its only thread goes round so often; the body leads back to `*head`. */
static int build_counted(struct model *model, int pool, double rounds, int *head, int *leave) {
    *head = build_next(model, model->pools[pool].entry, constant(0), NODE_STEP, MODEL_NONE);
    model->pools[pool].scales = false;
    return build_loop(model, *head, constant(rounds), leave);
}

static int build_lock(struct model *model, int from, struct dist before, enum node_kind kind,
                      int lock) {
    return build_next(model, from, before, kind, lock);
}

static void build_back(struct model *model, int from, struct dist cpu, int to) {
    build_edge(model, from, to)->cpu_ns = cpu;
}

/* Puts into the queue; where it is closed, too, it goes on at `next`. */
static int build_put(struct model *model, int from, struct dist cpu, int queue, int next) {
    int put = build_next(model, from, cpu, NODE_PUT, queue);
    build_edge(model, put, next)->when = OUTCOME_YES;
    build_edge(model, put, next)->when = OUTCOME_NO;
    return put;
}

/* ---- locks ---- */

/* Eight threads on eight cores, in a critical section for half of what they compute. */
static struct model *make_locked(enum object_kind kind) {
    struct model *model = build_model(8);
    int lock = build_object(model, kind, 0);
    int pool = build_pool(model, 8, true), take;
    int body = build_rounds(model, pool, 1000, &take);
    int enter = build_lock(model, body, constant(1 * MS), NODE_LOCK, lock);
    int leave = build_next(model, enter, constant(1 * MS), NODE_UNLOCK, lock);
    build_back(model, leave, constant(0), take);
    return model;
}

static struct model *make_hot_mutex(void) {
    return make_locked(OBJECT_MUTEX);
}

static struct model *make_hot_spin_lock(void) {
    return make_locked(OBJECT_SPIN);
}

/* 1001 ms with it, 2000 ms on eight cores without. */
static void a_hot_mutex(void **state) {
    (void)state;
    assert_first(make_hot_mutex, LIMIT_LOCK, "mutex-0", 1 - 250.0 / 1001);
}

static void a_hot_spin_lock(void **state) {
    (void)state;
    assert_first(make_hot_spin_lock, LIMIT_LOCK, "spin-0", 1 - 250.0 / 1001);
}

/* A device is asked, 2 ms, while the lock is held; four threads. */
static struct model *make_lock_over_io(void) {
    struct model *model = build_model(4);
    int lock = build_object(model, OBJECT_MUTEX, 0);
    int pool = build_pool(model, 4, true), take;
    int body = build_rounds(model, pool, 400, &take);
    int enter = build_lock(model, body, constant(0.5 * MS), NODE_LOCK, lock);
    int io = build_next(model, enter, constant(0), NODE_IO, MODEL_NONE);
    model->nodes[io].wait_ns = constant(2 * MS);
    int leave = build_next(model, io, constant(0), NODE_UNLOCK, lock);
    build_back(model, leave, constant(0), take);
    return model;
}

/* 800 ms in a row, or 400 rounds of 2.5 ms by four. */
static void a_lock_held_over_io(void **state) {
    (void)state;
    assert_first(make_lock_over_io, LIMIT_LOCK, "mutex-0", 1 - 250.0 / 800.5);
}

/* Short sections, but whoever waits has to be woken up: with the lock all follow its pace. */
static struct model *make_convoy(void) {
    struct model *model = build_model(4);
    model->machine.wake_latency_ns = constant(0.05 * MS);
    model->machine.block_cpu_ns = 0.02 * MS;
    int lock = build_object(model, OBJECT_MUTEX, 0);
    int pool = build_pool(model, 8, true), take;
    int body = build_rounds(model, pool, 4000, &take);
    int enter = build_lock(model, body, exponential(0.1 * MS), NODE_LOCK, lock);
    int leave = build_next(model, enter, constant(0.03 * MS), NODE_UNLOCK, lock);
    build_back(model, leave, constant(0), take);
    return model;
}

static void a_convoy(void **state) {
    (void)state;
    assert_first(make_convoy, LIMIT_LOCK, "mutex-0", NAN);
}

/* Six readers and a writer who keeps them out for half of the time. */
static struct model *make_readers_and_writer(void) {
    struct model *model = build_model(8);
    int lock = build_object(model, OBJECT_RWLOCK, 0);
    model->objects[lock].writers_first = true;
    int readers = build_pool(model, 6, true), take;
    int body = build_rounds(model, readers, 1800, &take);
    int enter = build_lock(model, body, constant(0), NODE_RDLOCK, lock);
    int leave = build_next(model, enter, constant(1 * MS), NODE_RWUNLOCK, lock);
    build_back(model, leave, constant(0), take);
    int writer = build_pool(model, 1, true), head, over;
    int write = build_counted(model, writer, 50, &head, &over);
    int begin = build_lock(model, write, constant(0), NODE_WRLOCK, lock);
    int end = build_next(model, begin, constant(3 * MS), NODE_RWUNLOCK, lock);
    int sleep = build_sleep(model, end, constant(0), constant(3 * MS));
    build_back(model, sleep, constant(0), head);
    build_next(model, over, constant(0), NODE_END, MODEL_NONE);
    return model;
}

static void readers_against_a_writer(void **state) {
    (void)state;
    assert_first(make_readers_and_writer, LIMIT_LOCK, "rwlock-0", NAN);
}

/* Threads sleep, 2 ms of 3.5 with a lock. */
static struct model *make_sleepers_under_lock(int threads) {
    struct model *model = build_model(4);
    int lock = build_object(model, OBJECT_MUTEX, 0);
    int pool = build_pool(model, threads, true), take;
    int body = build_rounds(model, pool, 1200, &take);
    int before = build_sleep(model, body, constant(0), constant(1.5 * MS));
    int enter = build_lock(model, before, constant(0), NODE_LOCK, lock);
    int held = build_sleep(model, enter, constant(0), constant(2 * MS));
    build_back(model, build_next(model, held, constant(0), NODE_UNLOCK, lock), constant(0), take);
    return model;
}

static struct model *make_two_sleepers(void) {
    return make_sleepers_under_lock(2);
}

static struct model *make_three_sleepers(void) {
    return make_sleepers_under_lock(3);
}

/* Of three, 2 ms each in a row, or 3.5 ms by three: 41.7 %. Half as long would gain 50 %, but what
 * is slept under the lock counts for the lock. */
static void a_lock_comes_before_the_sleeping_under_it(void **state) {
    (void)state;
    assert_first(make_three_sleepers, LIMIT_LOCK, "mutex-0", 2.5 / 6);
    struct bottlenecks found = find(make_three_sleepers);
    assert_close(named(&found, LIMIT_SLEEPS, "pool-0")->gain.mean, 0.5, 0.01);
    bottlenecks_free(&found);
}

/* Of two, 2 ms or 3.5 by two: 12.5 %. */
static void sleeping_comes_before_a_lock_that_costs_little(void **state) {
    (void)state;
    assert_first(make_two_sleepers, LIMIT_SLEEPS, "pool-0", 0.5);
}

/* Threads that compute under a lock that spins, on a third as many cores. */
static struct model *make_crowd_at_lock(void) {
    struct model *model = build_model(2);
    int lock = build_object(model, OBJECT_SPIN, 0);
    int pool = build_pool(model, 6, true), take;
    int body = build_rounds(model, pool, 2400, &take);
    int enter = build_lock(model, body, constant(0.45 * MS), NODE_LOCK, lock);
    build_back(model, build_next(model, enter, constant(0.05 * MS), NODE_UNLOCK, lock), constant(0),
               take);
    return model;
}

static void of_the_same_gain_the_number_of_threads_is_named(void **state) {
    (void)state;
    assert_first(make_crowd_at_lock, LIMIT_CROWD, "pool-0", NAN);
    struct bottlenecks found = find(make_crowd_at_lock);
    assert_close(named(&found, LIMIT_LOCK, "spin-0")->gain.mean, found.items[0].gain.mean, 0.02);
    bottlenecks_free(&found);
}

/* ---- queues and permits ---- */

/* Pools of one thread each, as many cores: each takes from the queue behind it and puts into the
 * next one. Demands of the stages are given; all queues have room for so many items. */
static struct model *build_pipeline(const struct dist *demands, int stages, double items,
                                    double capacity) {
    struct model *model = build_model(stages);
    int *queues = memory_alloc((size_t)stages, sizeof *queues);
    for (int s = 0; s + 1 < stages; s++) {
        queues[s] = build_object(model, OBJECT_QUEUE, capacity);
        model->objects[queues[s]].bounded = capacity > 0;
    }
    int head, over;
    int put = build_counted(model, build_pool(model, 1, true), items, &head, &over);
    build_put(model, put, demands[0], queues[0], head);
    int close = build_next(model, over, constant(0), NODE_CLOSE, queues[0]);
    build_next(model, close, constant(0), NODE_END, MODEL_NONE);
    for (int s = 1; s < stages; s++) {
        int pool = build_pool(model, 1, true);
        model->pools[pool].scales = false;
        int get = build_next(model, model->pools[pool].entry, constant(0), NODE_GET, queues[s - 1]);
        bool last = s + 1 == stages;
        int pass = last ? build_next(model, get, demands[s], NODE_TASK_END, MODEL_NONE)
                        : build_put(model, get, demands[s], queues[s], get);
        model->nodes[get].edges[0].when = OUTCOME_YES;
        if (last)
            build_edge(model, pass, get);
        int end = build_node(model, NODE_END, MODEL_NONE);
        int stop = last ? end : build_node(model, NODE_CLOSE, queues[s]);
        build_edge(model, get, stop)->when = OUTCOME_NO;
        if (!last)
            build_edge(model, stop, end);
    }
    free(queues);
    return model;
}

static struct model *make_small_queue(void) {
    const struct dist demands[] = {exponential(1 * MS), exponential(1 * MS)};
    return build_pipeline(demands, 2, 2000, 1);
}

static void a_small_queue(void **state) {
    (void)state;
    assert_first(make_small_queue, LIMIT_CAPACITY, "queue-0", NAN);
}

/* The second stage is the slower one: as fast again would gain more than room, but the queue makes
 * the two take turns. */
static struct model *make_small_queue_of_a_slower_stage(void) {
    const struct dist demands[] = {exponential(1 * MS), exponential(1.1 * MS)};
    return build_pipeline(demands, 2, 2000, 1);
}

static void a_small_queue_comes_before_the_stage_that_it_holds_up(void **state) {
    (void)state;
    assert_first(make_small_queue_of_a_slower_stage, LIMIT_CAPACITY, "queue-0", NAN);
    struct bottlenecks found = find(make_small_queue_of_a_slower_stage);
    assert_true(named(&found, LIMIT_ONE_THREAD, "pool-1")->gain.mean > found.items[0].gain.mean);
    bottlenecks_free(&found);
}

static struct model *make_slow_stage(void) {
    const struct dist demands[] = {constant(1 * MS), constant(3 * MS), constant(1 * MS)};
    return build_pipeline(demands, 3, 500, 4);
}

/* 1502 ms; twice as fast it takes 1.5 ms for each. The others do not count. */
static void a_slow_stage_and_nothing_else(void **state) {
    (void)state;
    assert_first(make_slow_stage, LIMIT_ONE_THREAD, "pool-1", 0.5);
    struct bottlenecks found = find(make_slow_stage);
    for (size_t i = 0; i < found.count; i++)
        if (found.items[i].gain.mean > 0.002 && i > 0)
            fail_msg("%s gains %g", found.items[i].subject, found.items[i].gain.mean);
    assert_null(named(&found, LIMIT_CORES, "cores"));
    assert_true(found.items[0].in_use > 0.99);
    bottlenecks_free(&found);
}

/* Six threads sleep, no more than two at once. */
static struct model *make_permits(void) {
    struct model *model = build_model(6);
    int permits = build_object(model, OBJECT_TOKENS, 2);
    int pool = build_pool(model, 6, true), take;
    int body = build_rounds(model, pool, 360, &take);
    int get = build_next(model, body, constant(0), NODE_ACQUIRE, permits);
    int sleep = build_sleep(model, get, constant(0), constant(1 * MS));
    int give = build_next(model, sleep, constant(0), NODE_RELEASE, permits);
    build_back(model, give, constant(0), take);
    return model;
}

static void too_few_permits(void **state) {
    (void)state;
    assert_first(make_permits, LIMIT_PERMITS, "tokens-0", 1 - 60.0 / 180);
}

/* One thread takes 1 ms to accept each request; four workers have 1 ms for it. */
static struct model *make_acceptor(void) {
    struct model *model = build_model(6);
    int queue = build_object(model, OBJECT_QUEUE, 0), head, over;
    int body = build_counted(model, build_pool(model, 1, true), 400, &head, &over);
    build_put(model, body, constant(1 * MS), queue, head);
    int close = build_next(model, over, constant(0), NODE_CLOSE, queue);
    build_next(model, close, constant(0), NODE_END, MODEL_NONE);
    int workers = build_pool(model, 4, true);
    int get = build_next(model, model->pools[workers].entry, constant(0), NODE_GET, queue);
    int done = build_node(model, NODE_TASK_END, MODEL_NONE);
    struct edge *some = build_edge(model, get, done);
    some->when = OUTCOME_YES;
    some->cpu_ns = constant(1 * MS);
    build_back(model, done, constant(0), get);
    int end = build_node(model, NODE_END, MODEL_NONE);
    build_edge(model, get, end)->when = OUTCOME_NO;
    model->pools[workers].partition = PARTITION_SHARED;
    return model;
}

static void an_accept_thread(void **state) {
    (void)state;
    assert_first(make_acceptor, LIMIT_ONE_THREAD, "pool-0", 200.0 / 401);
}

/* ---- devices, cores, threads ---- */

/* Four readers, one request of 2 ms each time, one at a time. */
static struct model *make_disk(void) {
    struct model *model = build_model(4);
    int disk = build_object(model, OBJECT_DISK, 0);
    model->objects[disk].service_ns = constant(2 * MS);
    int pool = build_pool(model, 4, true), take;
    int body = build_rounds(model, pool, 200, &take);
    int read = build_next(model, body, constant(0.1 * MS), NODE_IO, disk);
    model->nodes[read].operations = constant(1);
    build_back(model, read, constant(0), take);
    return model;
}

static void a_disk(void **state) {
    (void)state;
    assert_first(make_disk, LIMIT_DISK, "disk-0", 0.5);
}

/* A server of 1 ms whose replies take the link 4 ms. */
static struct model *make_network(void) {
    struct model *model = build_model(2);
    int queue = build_object(model, OBJECT_QUEUE, 0), back = build_object(model, OBJECT_LINK, 0);
    struct object *requests = &model->objects[queue];
    requests->clients = 8;
    requests->goes_by = back;
    requests->reply_bytes = constant(4000);
    model->objects[back].bytes_per_s = 1e6;
    int pool = build_pool(model, 1, true);
    int get = build_next(model, model->pools[pool].entry, constant(0), NODE_GET, queue);
    int done = build_next(model, get, constant(1 * MS), NODE_TASK_END, MODEL_NONE);
    build_back(model, done, constant(0), get);
    return model;
}

static void a_network(void **state) {
    (void)state;
    assert_first(make_network, LIMIT_NETWORK, "link-1", 1);
}

static struct model *make_computing(int threads, int cores) {
    struct model *model = build_model(cores);
    int pool = build_pool(model, threads, true), take;
    int body = build_rounds(model, pool, 1200, &take);
    build_back(model, body, constant(1 * MS), take);
    return model;
}

static struct model *make_few_cores(void) {
    return make_computing(8, 2);
}

static void too_few_cores(void **state) {
    (void)state;
    assert_first(make_few_cores, LIMIT_CORES, "cores", 1 / 3.0);
}

static struct model *make_few_threads(void) {
    return make_computing(2, 8);
}

static void too_few_threads(void **state) {
    (void)state;
    assert_first(make_few_threads, LIMIT_THREADS, "pool-0", 1 / 3.0);
}

static struct model *make_as_many_threads_as_cores(void) {
    return make_computing(3, 3);
}

static void cores_and_threads_that_help_together_only(void **state) {
    (void)state;
    assert_first(make_as_many_threads_as_cores, LIMIT_CORES_AND_THREADS, "cores and threads", 0.25);
    struct bottlenecks found = find(make_as_many_threads_as_cores);
    assert_int_equal(found.count, 1);
    bottlenecks_free(&found);
}

/* Threads that spin at a barrier while others, who have not come yet, wait for a core. */
static struct model *make_crowd(void) {
    struct model *model = build_model(2);
    int barrier = build_object(model, OBJECT_BARRIER, 0);
    int pool = build_pool(model, 6, true);
    struct object *object = &model->objects[barrier];
    object->spins = true;
    object->amount.terms = memory_alloc(1, sizeof *object->amount.terms);
    object->amount.n_terms = 1;
    object->amount.terms[0] = (struct linear_term){pool, 1};
    int head = build_next(model, model->pools[pool].entry, constant(0), NODE_STEP, MODEL_NONE);
    int leave;
    int body = build_loop(model, head, constant(50), &leave);
    int meet = build_node(model, NODE_BARRIER, barrier);
    struct edge *work = build_edge(model, body, meet);
    work->cpu_ns = constant(1 * MS);
    work->cpu_scaling = (struct scaling){.share = 1, .pool = pool};
    build_back(model, meet, constant(0), head);
    build_next(model, leave, constant(0), NODE_END, MODEL_NONE);
    model->pools[pool].partition = PARTITION_FIXED;
    return model;
}

static void more_threads_than_cores_that_spin(void **state) {
    (void)state;
    assert_first(make_crowd, LIMIT_CROWD, "pool-0", NAN);
}

/* The first thread computes 60 ms, then four share 100 ms. */
static struct model *make_serial_phase(void) {
    struct model *model = build_model(4);
    int first = build_pool(model, 1, true);
    model->pools[first].scales = false;
    int workers = build_pool(model, 4, false), take;
    int create =
        build_next(model, model->pools[first].entry, constant(60 * MS), NODE_CREATE, MODEL_NONE);
    int join = build_next(model, create, constant(0), NODE_JOIN, MODEL_NONE);
    build_next(model, join, constant(0), NODE_END, MODEL_NONE);
    model->nodes[create].target_pool = model->nodes[join].target_pool = workers;
    int body = build_rounds(model, workers, 1000, &take);
    build_back(model, body, constant(0.1 * MS), take);
    return model;
}

static void a_serial_phase(void **state) {
    (void)state;
    assert_first(make_serial_phase, LIMIT_ONE_THREAD, "pool-0", 30.0 / 85);
}

/* Three threads compute 10 ms, the fourth one 50 ms. */
static struct model *make_imbalance(void) {
    struct model *model = build_model(4);
    int pool = build_pool(model, 4, true);
    double values[] = {10 * MS, 10 * MS, 10 * MS, 50 * MS};
    build_next(model, model->pools[pool].entry, dist_from_values(values, 4, 4), NODE_END,
               MODEL_NONE);
    model->pools[pool].partition = PARTITION_FIXED;
    return model;
}

static void work_that_is_shared_out_unevenly(void **state) {
    (void)state;
    assert_first(make_imbalance, LIMIT_UNEVEN_WORK, "pool-0", 30.0 / 50);
}

static struct model *make_sleeper(void) {
    struct model *model = build_model(1);
    int pool = build_pool(model, 1, true);
    int sleep = build_sleep(model, model->pools[pool].entry, constant(1 * MS), constant(8 * MS));
    build_next(model, sleep, constant(1 * MS), NODE_END, MODEL_NONE);
    model->pools[pool].scales = false;
    return model;
}

static void sleeping_and_computing_of_a_single_thread(void **state) {
    (void)state;
    assert_first(make_sleeper, LIMIT_SLEEPS, "pool-0", 0.4);
    struct bottlenecks found = find(make_sleeper);
    assert_int_equal(found.count, 2);
    assert_close(named(&found, LIMIT_ONE_THREAD, "pool-0")->gain.mean, 0.1, 1e-6);
    bottlenecks_free(&found);
}

/* ---- loads without an end ---- */

/* Two threads on four cores serve what comes; each request needs a lock for a fifth of its time. */
static struct model *make_server(void) {
    struct model *model = build_model(4);
    int queue = build_object(model, OBJECT_QUEUE, 0), lock = build_object(model, OBJECT_MUTEX, 0);
    model->objects[queue].interarrival_ns = exponential(5 * MS);
    int pool = build_pool(model, 2, true);
    int get = build_next(model, model->pools[pool].entry, constant(0), NODE_GET, queue);
    int enter = build_next(model, get, constant(0.8 * MS), NODE_LOCK, lock);
    int leave = build_next(model, enter, constant(0.2 * MS), NODE_UNLOCK, lock);
    int done = build_next(model, leave, constant(0), NODE_TASK_END, MODEL_NONE);
    build_edge(model, done, get);
    model->pools[pool].partition = PARTITION_PERTHREAD;
    return model;
}

static void of_a_server_it_is_the_most_throughput(void **state) {
    (void)state;
    assert_first(make_server, LIMIT_THREADS, "pool-0", 0.5);
    struct bottlenecks found = find(make_server);
    assert_true(found.of_throughput);
    assert_close(found.now.mean, 2000, 0.02);
    assert_close(found.items[0].then.mean, found.now.mean * (1 + found.items[0].gain.mean), 1e-9);
    assert_true(found.items[0].then.half_width > 0);
    assert_null(named(&found, LIMIT_CORES, "cores"));
    bottlenecks_free(&found);
}

/* ---- what is no limit ---- */

/* Each thread has its own work: with fewer there would be less. */
static struct model *make_own_work(void) {
    struct model *model = make_computing(4, 2);
    model->pools[0].partition = PARTITION_PERTHREAD;
    return model;
}

static void fewer_threads_are_no_relief_where_each_has_its_own_work(void **state) {
    (void)state;
    struct bottlenecks found = find(make_own_work);
    assert_null(named(&found, LIMIT_CROWD, "pool-0"));
    assert_null(named(&found, LIMIT_THREADS, "pool-0"));
    assert_non_null(named(&found, LIMIT_CORES, "cores"));
    bottlenecks_free(&found);
}

/* Rounds that are shared out, and an event that is waited for, are tokens, too. */
static void work_and_events_are_no_permits(void **state) {
    (void)state;
    struct bottlenecks found = find(make_few_cores);
    for (size_t i = 0; i < found.count; i++)
        assert_true(found.items[i].limit != LIMIT_PERMITS);
    bottlenecks_free(&found);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_hot_mutex),
        cmocka_unit_test(a_hot_spin_lock),
        cmocka_unit_test(a_lock_held_over_io),
        cmocka_unit_test(a_convoy),
        cmocka_unit_test(readers_against_a_writer),
        cmocka_unit_test(a_lock_comes_before_the_sleeping_under_it),
        cmocka_unit_test(sleeping_comes_before_a_lock_that_costs_little),
        cmocka_unit_test(of_the_same_gain_the_number_of_threads_is_named),
        cmocka_unit_test(a_small_queue),
        cmocka_unit_test(a_small_queue_comes_before_the_stage_that_it_holds_up),
        cmocka_unit_test(a_slow_stage_and_nothing_else),
        cmocka_unit_test(too_few_permits),
        cmocka_unit_test(an_accept_thread),
        cmocka_unit_test(a_disk),
        cmocka_unit_test(a_network),
        cmocka_unit_test(too_few_cores),
        cmocka_unit_test(too_few_threads),
        cmocka_unit_test(cores_and_threads_that_help_together_only),
        cmocka_unit_test(more_threads_than_cores_that_spin),
        cmocka_unit_test(a_serial_phase),
        cmocka_unit_test(work_that_is_shared_out_unevenly),
        cmocka_unit_test(sleeping_and_computing_of_a_single_thread),
        cmocka_unit_test(of_a_server_it_is_the_most_throughput),
        cmocka_unit_test(fewer_threads_are_no_relief_where_each_has_its_own_work),
        cmocka_unit_test(work_and_events_are_no_permits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
