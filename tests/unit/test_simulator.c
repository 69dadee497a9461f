/* What the simulator promises about threads, cores and shared objects, on models small enough to
 * work out by hand. Durations are exact unless randomness is part of the promise. */
/* tests/run: beside others */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/unit/model_builder.h"
#include "tests/unit/simulation.h"

#define LENGTH(array) (sizeof(array) / sizeof *(array))

#define MS 1e6 /* in nanoseconds */

static void end_after(struct model *model, int node, struct dist cpu) {
    build_next(model, node, cpu, NODE_END, MODEL_NONE);
}

/* `threads` threads that each compute `cpu` and end. */
static struct model *build_jobs(int cores, int threads, struct dist cpu) {
    struct model *model = build_model(cores);
    int pool = build_pool(model, threads, true);
    end_after(model, model->pools[pool].entry, cpu);
    return model;
}

/* A main thread that creates pool 1, joins it and ends. Returns the model; pool 1's start node has
 * no edges yet. */
static struct model *build_team(int cores, int threads) {
    struct model *model = build_model(cores);
    build_pool(model, 1, true);
    int team = build_pool(model, threads, false);
    int create = build_next(model, model->pools[0].entry, constant(0), NODE_CREATE, MODEL_NONE);
    int join = build_next(model, create, constant(0), NODE_JOIN, MODEL_NONE);
    model->nodes[create].target_pool = team;
    model->nodes[join].target_pool = team;
    end_after(model, join, constant(0));
    model->pools[0].scales = false;
    return model;
}

/* ---- the CPU ---- */

static void test_one_thread_takes_its_cpu_time(void **state) {
    (void)state;
    assert_close(run_ns(build_jobs(1, 1, constant(7 * MS)), (struct sim_config){0}), 7 * MS, 1e-12);
    assert_close(run_ns(build_jobs(8, 1, constant(7 * MS)), (struct sim_config){0}), 7 * MS, 1e-12);
}

static void test_three_equal_jobs_on_two_cores_end_at_one_and_a_half(void **state) {
    (void)state;
    double run = run_ns(build_jobs(2, 3, constant(1000 * MS)), (struct sim_config){0});
    assert_close(run, 1500 * MS, 0.005);
}

static void test_jobs_on_one_core_share_it_equally(void **state) {
    (void)state;
    struct model *model = build_jobs(1, 4, constant(400 * MS));
    struct sim_result result = simulate(model, (struct sim_config){0});
    assert_close(result.run_ns.mean, 1600 * MS, 1e-9);
    assert_close(result.cpu_utilisation.mean, 1, 1e-9);
    assert_close(result.pools[0].cpu_ns.mean, 400 * MS, 1e-9);
    /* Round robin lets all end within three quanta of the end. */
    assert_close(result.pools[0].ready_ns.mean, 1200 * MS, 3 * 4.0 / 1200);
    sim_result_free(&result);
    model_free(model);
}

static void test_a_long_quantum_makes_jobs_run_one_after_the_other(void **state) {
    (void)state;
    struct model *model = build_jobs(1, 3, constant(100 * MS));
    model->machine.quantum_ns = 1000 * MS;
    struct sim_result result = simulate(model, (struct sim_config){0});
    /* waits of 0, 100 and 200 ms */
    assert_close(result.pools[0].ready_ns.mean, 100 * MS, 1e-9);
    sim_result_free(&result);
    model_free(model);
}

static void test_switching_between_threads_costs_cpu_and_staying_does_not(void **state) {
    (void)state;
    struct model *alone = build_jobs(1, 1, constant(40 * MS));
    alone->machine.switch_cpu_ns = 1 * MS;
    assert_close(run_ns(alone, (struct sim_config){0}), 40 * MS, 1e-12);

    struct model *two = build_jobs(1, 2, constant(4 * MS));
    two->machine.switch_cpu_ns = 1 * MS;
    /* The first for half a slice, as new threads have, then the second, with a switch, to its end,
     * since nobody's deadline is earlier than its next one; then the first again. */
    assert_close(run_ns(two, (struct sim_config){0}), 10 * MS, 1e-9);
}

static void test_threads_use_all_cores_there_are(void **state) {
    (void)state;
    for (int cores = 1; cores <= 16; cores *= 2) {
        struct sim_config config = {.cores = cores};
        double run = run_ns(build_jobs(1, 16, constant(64 * MS)), config);
        assert_close(run, 16.0 / cores * 64 * MS, 1e-9);
    }
}

/* Cores with a queue each: three equal jobs on two cores. The core that becomes idle takes over the
 * one that waits on the other. */
static void test_a_core_that_becomes_idle_takes_what_waits_elsewhere(void **state) {
    (void)state;
    struct model *model = build_jobs(2, 3, constant(64 * MS));
    model->machine.tick_ns = 4 * MS;
    double run = run_ns(model, (struct sim_config){0});
    assert_in_range((long)run, 96 * MS, 128 * MS);
}

/* A thread that computes 1 ms and sleeps 9 ms beside two CPU hogs on one core. Linux 6.18 lets it
 * do 43.4 rounds in 520 ms, of which it waits 86.5 ms for the core (two runs of 5.2 s of a program
 * that does just this). */
static void test_a_thread_that_mostly_sleeps_gets_what_linux_gives_it_beside_hogs(void **state) {
    (void)state;
    struct model *model = build_model(1);
    int sleeper = build_pool(model, 1, true);
    int head = build_next(model, model->pools[sleeper].entry, constant(0), NODE_STEP, MODEL_NONE);
    int leave;
    int body = build_loop(model, head, constant(50), &leave);
    int pause = build_sleep(model, body, constant(1 * MS), constant(9 * MS));
    build_edge(model, pause, head);
    end_after(model, leave, constant(0));
    int hogs = build_pool(model, 2, false);
    int hog = build_next(model, model->pools[hogs].entry, constant(0), NODE_STEP, MODEL_NONE);
    build_edge(model, hog, hog)->cpu_ns = constant(1000 * MS);
    model->pools[hogs].at_start = true;
    struct sim_config config = {.horizon_ns = 520 * MS};
    struct sim_result result = simulate(model, config);
    assert_close(result.pools[0].cpu_ns.mean, 43.4 * MS, 0.03);
    assert_close(result.pools[0].ready_ns.mean, 86.5 * MS, 0.1);
    assert_close(result.cpu_utilisation.mean, 1, 1e-9);
    sim_result_free(&result);
    model_free(model);
}

static void test_a_thread_that_slept_long_does_not_starve_the_others(void **state) {
    (void)state;
    struct model *model = build_model(1);
    int hog = build_pool(model, 1, true);
    end_after(model, model->pools[hog].entry, constant(200 * MS));
    int late = build_pool(model, 1, true);
    int pause = build_sleep(model, model->pools[late].entry, constant(0), constant(100 * MS));
    end_after(model, pause, constant(300 * MS));
    struct sim_result result = simulate(model, (struct sim_config){0});
    assert_close(result.run_ns.mean, 500 * MS, 1e-9);
    /* From 100 ms on they share the core, so the hog ends at about 300 ms. */
    assert_close(result.pools[0].cpu_ns.mean + result.pools[0].ready_ns.mean, 300 * MS, 0.03);
    sim_result_free(&result);
    model_free(model);
}

/* The first pool's thread waits and then computes 10 ms, the second one's wakes it after 5 ms and
 * computes 1 ms more. */
static struct model *build_waiter_and_waker(void) {
    struct model *model = build_model(2);
    int flag = build_object(model, OBJECT_FLAG, 0);
    int waiter = build_pool(model, 1, true);
    int wait = build_next(model, model->pools[waiter].entry, constant(0), NODE_WAIT, flag);
    end_after(model, wait, constant(10 * MS));
    int waker = build_pool(model, 1, true);
    int signal = build_next(model, model->pools[waker].entry, constant(5 * MS), NODE_SIGNAL, flag);
    end_after(model, signal, constant(1 * MS));
    return model;
}

/* Asleep for 5 ms; its first demand has no sleep before it. */
static void test_a_longer_sleep_costs_more(void **state) {
    (void)state;
    enum { WAITER, WAKER };
    struct model *model = build_waiter_and_waker();
    for (int p = WAITER; p <= WAKER; p++) {
        model->pools[p].cold_cpu_ns = 2 * MS;
        model->pools[p].cold_pace_ns = 4 * MS;
    }
    struct sim_result result = simulate(model, (struct sim_config){0});
    double cold_ns = 2 * MS * (1 - exp(-5.0 / 4));
    assert_close(result.run_ns.mean, 15 * MS + cold_ns, 1e-9);
    assert_close(result.pools[WAITER].cpu_ns.mean, 10 * MS + cold_ns, 1e-9);
    assert_close(result.pools[WAKER].cpu_ns.mean, 6 * MS, 1e-9);
    sim_result_free(&result);
    model_free(model);
}

static void test_waking_costs_latency_on_an_idle_core_and_cpu_on_both_sides(void **state) {
    (void)state;
    struct model *model = build_waiter_and_waker();
    model->machine.wake_latency_ns = constant(3 * MS);
    model->machine.block_cpu_ns = 0.5 * MS;
    model->machine.wake_cpu_ns = 0.25 * MS;
    struct sim_result result = simulate(model, (struct sim_config){0});
    /* Both also begin by being woken on an idle core. */
    assert_close(result.run_ns.mean, (3 + 5 + 3 + 0.5 + 10) * MS, 1e-9);
    assert_close(result.pools[0].cpu_ns.mean, 10.5 * MS, 1e-9);
    assert_close(result.pools[1].cpu_ns.mean, 6.25 * MS, 1e-9);
    assert_close(result.pools[0].blocked_ns.mean, 5 * MS, 1e-9);
    sim_result_free(&result);
    model_free(model);
}

/* The third thread on two cores gets the first one's when its slice ends, and soon sleeps. When the
 * second one wakes it, it is owed time and takes that core over, which learns of it after a while.
 * The waker pays. */
static void test_a_busy_core_is_interrupted_for_a_woken_thread(void **state) {
    (void)state;
    struct model *model = build_model(2);
    int flag = build_object(model, OBJECT_FLAG, 0);
    int hog = build_pool(model, 1, true);
    end_after(model, model->pools[hog].entry, constant(40 * MS));
    int waker = build_pool(model, 1, true);
    int signal = build_next(model, model->pools[waker].entry, constant(7 * MS), NODE_SIGNAL, flag);
    end_after(model, signal, constant(2 * MS));
    int waiter = build_pool(model, 1, true);
    int wait = build_next(model, model->pools[waiter].entry, constant(1 * MS), NODE_WAIT, flag);
    end_after(model, wait, constant(1 * MS));
    model->machine.tick_ns = 4 * MS;
    model->machine.wake_cpu_ns = 0.25 * MS;
    model->machine.preempt_ns = 0.5 * MS;
    struct sim_result result = simulate(model, (struct sim_config){0});
    assert_close(result.pools[waiter].blocked_ns.mean, 2 * MS, 1e-9);
    assert_close(result.pools[waiter].ready_ns.mean, (4 + 0.5) * MS, 1e-9);
    assert_close(result.pools[waker].cpu_ns.mean, (7 + 2 + 0.25) * MS, 1e-9);
    assert_close(result.pools[hog].ready_ns.mean, (1 + 1) * MS, 1e-9);
    sim_result_free(&result);
    model_free(model);
}

/* ---- caches ---- */

/* What a thread has in its cache is brought back for `cpu` after `away`, at the most; of what
 * others have there, an e-th is left after `displaces` of it. */
static void keep_in_cache(struct model *model, int pool, double displaces, double away,
                          double cpu) {
    struct pool *of = &model->pools[pool];
    of->displaces_per_ns = 1 / displaces;
    of->n_refill = 2;
    of->refill = memory_alloc(2, sizeof *of->refill);
    of->refill[0] = (struct refill_point){0, 0};
    of->refill[1] = (struct refill_point){away, cpu};
}

/* Two threads have a core in turns of 8 ms: then the other one is owed a slice. Each turn but the
 * two first begins with a cache in which the other one has been for 8 ms. */
static void test_threads_in_turns_bring_back_what_the_other_displaced(void **state) {
    (void)state;
    struct model *model = build_jobs(1, 2, constant(40 * MS));
    keep_in_cache(model, 0, 4 * MS, 8 * MS, 0.1 * MS);
    struct sim_result result = simulate(model, (struct sim_config){0});
    double each = 0.1 * MS * (1 - exp(-2));
    assert_close(result.run_ns.mean - 80 * MS, 9 * each, 0.06);
    sim_result_free(&result);
    model_free(model);
}

/* In a turn of 8 ms a thread gets on for about half of it, and lacks the same again in the next. */
static void test_turns_that_are_too_short_to_bring_all_back_are_not_in_vain(void **state) {
    (void)state;
    struct model *model = build_jobs(1, 2, constant(40 * MS));
    keep_in_cache(model, 0, 0.1 * MS, 8 * MS, 20 * MS);
    double all_ns = run_ns(model, (struct sim_config){0});
    assert_true(all_ns > 120 * MS && all_ns < 160 * MS);
}

static void test_long_demands_are_computed_to_their_end(void **state) {
    (void)state;
    struct model *model = build_jobs(1, 2, constant(4000 * MS));
    keep_in_cache(model, 0, 0.1 * MS, 8 * MS, 0.1 * MS);
    double all_ns = run_ns(model, (struct sim_config){0});
    assert_close(all_ns, 8000 * MS * (1 + 0.1 / 8), 0.01);
}

static void test_who_is_alone_on_a_core_keeps_its_cache(void **state) {
    (void)state;
    struct model *model = build_jobs(2, 2, constant(40 * MS));
    keep_in_cache(model, 0, 1 * MS, 8 * MS, 0.1 * MS);
    assert_close(run_ns(model, (struct sim_config){0}), 40 * MS, 1e-12);
}

static void test_who_displaces_nothing_costs_others_nothing(void **state) {
    (void)state;
    struct model *model = build_jobs(1, 2, constant(40 * MS));
    keep_in_cache(model, 0, INFINITY, 8 * MS, 0.1 * MS);
    assert_close(run_ns(model, (struct sim_config){0}), 80 * MS, 1e-12);
}

/* A sleeper that is back after 10 ms needs little before it sleeps again: it has not brought back
 * all that it lacks, and is not charged for it. */
static void test_short_demands_bring_back_little(void **state) {
    (void)state;
    const double demands[] = {0.01 * MS, 10 * MS};
    for (int i = 0; i < 2; i++) {
        struct model *model = build_model(1);
        int sleeper = build_pool(model, 1, true);
        int sleep =
            build_sleep(model, model->pools[sleeper].entry, constant(1 * MS), constant(10 * MS));
        end_after(model, sleep, constant(demands[i]));
        int hog = build_pool(model, 1, true);
        end_after(model, model->pools[hog].entry, constant(5 * MS));
        keep_in_cache(model, sleeper, INFINITY, 10 * MS, 1 * MS);
        model->pools[hog].displaces_per_ns = 100 / MS;
        struct sim_result result = simulate(model, (struct sim_config){0});
        assert_close(result.pools[sleeper].cpu_ns.mean - 1 * MS - demands[i],
                     1 * MS * (1 - exp(-demands[i] / MS)), 0.001);
        sim_result_free(&result);
        model_free(model);
    }
}

/* ---- locks ---- */

/* Threads that `times` times compute `outside`, then hold the lock for `inside`. */
static struct model *build_lockers(int cores, int threads, enum object_kind kind, double times,
                                   struct dist outside, struct dist inside) {
    struct model *model = build_model(cores);
    int lock = build_object(model, kind, 0);
    int pool = build_pool(model, threads, true);
    int head = build_next(model, model->pools[pool].entry, constant(0), NODE_STEP, MODEL_NONE);
    int leave;
    int body = build_loop(model, head, constant(times), &leave);
    int enter = build_next(model, body, outside, NODE_LOCK, lock);
    int exit = build_next(model, enter, inside, NODE_UNLOCK, lock);
    build_edge(model, exit, head);
    end_after(model, leave, constant(0));
    return model;
}

/* A thread that is woken queues where it ran before, though the other core idles, until the tick:
 * the waker runs on that core, and no core is known to idle as both have been busy. */
static void test_a_woken_thread_waits_for_the_tick_beside_an_idle_core(void **state) {
    (void)state;
    struct model *model =
        build_lockers(2, 8, OBJECT_MUTEX, 2000, constant(0.07 * MS), constant(0.02 * MS));
    double ideal = run_ns(model, (struct sim_config){0});
    model = build_lockers(2, 8, OBJECT_MUTEX, 2000, constant(0.07 * MS), constant(0.02 * MS));
    model->machine.tick_ns = 4 * MS;
    double real = run_ns(model, (struct sim_config){0});
    assert_true(ideal < real && real < 2 * ideal);
}

static void test_critical_sections_exclude_each_other(void **state) {
    (void)state;
    const enum object_kind kinds[] = {OBJECT_MUTEX, OBJECT_SPIN};
    for (int i = 0; i < 2; i++) {
        struct model *model = build_lockers(8, 8, kinds[i], 100, constant(0), constant(1 * MS));
        struct sim_result result = simulate(model, (struct sim_config){0});
        assert_close(result.run_ns.mean, 800 * MS, 1e-9);
        assert_close(result.objects[0].utilisation.mean, 1, 1e-9);
        assert_close(result.objects[0].operations.mean, 800, 1e-9);
        sim_result_free(&result);
        model_free(model);
    }
}

static void test_a_random_mutex_load_takes_at_least_the_sum_of_its_sections(void **state) {
    (void)state;
    struct model *model =
        build_lockers(4, 6, OBJECT_MUTEX, 500, exponential(0.2 * MS), exponential(0.1 * MS));
    struct sim_result result = simulate(model, (struct sim_config){0});
    assert_true(result.objects[0].utilisation.mean <= 1);
    assert_true(result.run_ns.mean >= 6 * 500 * 0.1 * MS * 0.97);
    assert_true(result.cpu_ns.mean <= 4 * result.run_ns.mean);
    assert_true(result.objects[0].waits.mean > 100);
    sim_result_free(&result);
    model_free(model);
}

static void test_mutex_waiters_use_no_cpu_and_spinners_burn_it(void **state) {
    (void)state;
    struct model *mutex = build_lockers(2, 2, OBJECT_MUTEX, 1, constant(0), constant(10 * MS));
    struct sim_result slept = simulate(mutex, (struct sim_config){0});
    assert_close(slept.cpu_ns.mean, 20 * MS, 1e-9);
    struct model *spin = build_lockers(2, 2, OBJECT_SPIN, 1, constant(0), constant(10 * MS));
    struct sim_result spun = simulate(spin, (struct sim_config){0});
    assert_close(spun.cpu_ns.mean, 30 * MS, 1e-9);
    assert_close(spun.objects[0].wait_ns.mean, 10 * MS, 1e-9);
    sim_result_free(&slept);
    sim_result_free(&spun);
    model_free(mutex);
    model_free(spin);
}

static void test_spinning_on_one_core_wastes_whole_quanta(void **state) {
    (void)state;
    struct model *model = build_lockers(1, 2, OBJECT_SPIN, 1, constant(0), constant(10 * MS));
    /* After half a quantum of the holder, as new threads have, the other spins for its half and a
     * whole one; then the holder has the earlier deadline until it is done. */
    double run = run_ns(model, (struct sim_config){0});
    assert_close(run, (10 + 6 + 10) * MS, 1e-9);
}

static void test_a_mutex_taken_twice_by_its_owner_nests(void **state) {
    (void)state;
    struct model *model = build_model(1);
    int mutex = build_object(model, OBJECT_MUTEX, 0);
    int pool = build_pool(model, 2, true);
    int outer = build_next(model, model->pools[pool].entry, constant(0), NODE_LOCK, mutex);
    int inner = build_next(model, outer, constant(1 * MS), NODE_LOCK, mutex);
    int first = build_next(model, inner, constant(1 * MS), NODE_UNLOCK, mutex);
    int second = build_next(model, first, constant(1 * MS), NODE_UNLOCK, mutex);
    end_after(model, second, constant(0));
    assert_close(run_ns(model, (struct sim_config){0}), 6 * MS, 1e-9);
}

static struct model *build_readers_and_writers(int readers, int writers) {
    struct model *model = build_model(8);
    int lock = build_object(model, OBJECT_RWLOCK, 0);
    const enum node_kind kinds[] = {NODE_RDLOCK, NODE_WRLOCK};
    const int threads[] = {readers, writers};
    for (int i = 0; i < 2; i++) {
        if (threads[i] == 0)
            continue;
        int pool = build_pool(model, threads[i], true);
        int enter =
            build_next(model, model->pools[pool].entry, constant(i * 1 * MS), kinds[i], lock);
        int exit = build_next(model, enter, constant(10 * MS), NODE_RWUNLOCK, lock);
        end_after(model, exit, constant(0));
    }
    return model;
}

static void test_readers_run_in_parallel_and_writers_alone(void **state) {
    (void)state;
    struct sim_config config = {0};
    assert_close(run_ns(build_readers_and_writers(4, 0), config), 10 * MS, 1e-9);
    assert_close(run_ns(build_readers_and_writers(4, 1), config), 20 * MS, 1e-9);
    assert_close(run_ns(build_readers_and_writers(4, 3), config), 40 * MS, 1e-9);
}

/* Readers keep arriving before the present ones have left: a waiting writer lets them pass. */
static void test_a_waiting_writer_lets_readers_pass(void **state) {
    (void)state;
    struct model *model = build_readers_and_writers(2, 1);
    int lock = model->nodes[model->nodes[model->pools[0].entry].edges[0].to].object;
    int late = build_pool(model, 1, true);
    int enter = build_next(model, model->pools[late].entry, constant(5 * MS), NODE_RDLOCK, lock);
    int exit = build_next(model, enter, constant(10 * MS), NODE_RWUNLOCK, lock);
    end_after(model, exit, constant(0));
    assert_close(run_ns(model, (struct sim_config){0}), 25 * MS, 1e-9);
}

/* After hours a clock of nanoseconds no longer has room for their thousandths. */
static void test_ideal_cores_go_on_after_hours(void **state) {
    (void)state;
    struct model *model = build_model(1);
    model->machine.quantum_ns = 1e9 / 3;
    int pool = build_pool(model, 3, true);
    end_after(model, model->pools[pool].entry, constant(1.3e13 + 0.3));
    assert_close(run_ns(model, (struct sim_config){0}), 3.9e13, 1e-9);
}

/* Who comes back at once does not get the lock before those who sleep for it: it is theirs while
 * they wake up. */
static void test_a_read_write_lock_is_handed_over(void **state) {
    (void)state;
    const enum node_kind kinds[] = {NODE_RDLOCK, NODE_WRLOCK};
    for (int again = 0; again <= 1; again++) {
        struct model *model = build_model(2);
        model->machine.wake_latency_ns = constant(1 * MS);
        int lock = build_object(model, OBJECT_RWLOCK, 0);
        int often = build_pool(model, 1, true);
        int head = build_next(model, model->pools[often].entry, constant(0), NODE_STEP, MODEL_NONE);
        int leave;
        int body = build_loop(model, head, constant(10), &leave);
        int take = build_next(model, body, constant(0), kinds[again], lock);
        int give = build_next(model, take, constant(1 * MS), NODE_RWUNLOCK, lock);
        build_edge(model, give, head);
        end_after(model, leave, constant(0));
        int once = build_pool(model, 1, true);
        int enter =
            build_next(model, model->pools[once].entry, constant(0.5 * MS), kinds[!again], lock);
        int exit = build_next(model, enter, constant(1 * MS), NODE_RWUNLOCK, lock);
        end_after(model, exit, constant(0));
        /* Both awake at 1 ms; its own at 2, awake at 3, done at 4; the other awake at 5, with nine
         * rounds to go. */
        assert_close(run_ns(model, (struct sim_config){0}), 14 * MS, 1e-9);
    }
}

static void test_try_and_timed_locks_give_up_and_leave_the_lock_unchanged(void **state) {
    (void)state;
    for (int kind = OBJECT_MUTEX; kind <= OBJECT_SPIN; kind++) {
        if (kind == OBJECT_RWLOCK)
            continue;
        for (int timed = 0; timed <= 1; timed++) {
            double timeout = timed * 4 * MS;
            struct model *model = build_model(2);
            int lock = build_object(model, (enum object_kind)kind, 0);
            int holder = build_pool(model, 1, true);
            int take = build_next(model, model->pools[holder].entry, constant(0), NODE_LOCK, lock);
            int drop = build_next(model, take, constant(10 * MS), NODE_UNLOCK, lock);
            end_after(model, drop, constant(0));
            int trier = build_pool(model, 1, true);
            int try =
                build_next(model, model->pools[trier].entry, constant(1 * MS), NODE_LOCK, lock);
            model->nodes[try].timeout_ns = timeout;
            int got = build_node(model, NODE_UNLOCK, lock);
            int failed = build_node(model, NODE_STEP, MODEL_NONE);
            build_edge(model, try, got)->when = OUTCOME_YES;
            build_edge(model, try, failed)->when = OUTCOME_NO;
            end_after(model, got, constant(100 * MS));
            end_after(model, failed, constant(20 * MS));
            assert_close(run_ns(model, (struct sim_config){0}), 21 * MS + timeout, 1e-9);
        }
    }
}

static void test_a_timed_lock_that_is_freed_in_time_succeeds(void **state) {
    (void)state;
    struct model *model = build_lockers(2, 2, OBJECT_MUTEX, 1, constant(0), constant(10 * MS));
    for (size_t i = 0; i < model->n_nodes; i++) {
        if (model->nodes[i].kind == NODE_LOCK)
            model->nodes[i].timeout_ns = 11 * MS;
    }
    assert_close(run_ns(model, (struct sim_config){0}), 20 * MS, 1e-9);
}

/* ---- tokens, queues ---- */

/* Threads that take one token at a time, computing 1 ms for each, until none is left. */
static struct model *build_shared_work(int cores, int threads, double tokens) {
    struct model *model = build_model(cores);
    int work = build_object(model, OBJECT_TOKENS, tokens);
    int pool = build_pool(model, threads, true);
    int take = build_next(model, model->pools[pool].entry, constant(0), NODE_ACQUIRE, work);
    model->nodes[take].timeout_ns = 0;
    int done = build_node(model, NODE_TASK_END, MODEL_NONE);
    struct edge *more = build_edge(model, take, done);
    more->when = OUTCOME_YES;
    more->cpu_ns = constant(1 * MS);
    build_edge(model, done, take);
    int end = build_node(model, NODE_END, MODEL_NONE);
    build_edge(model, take, end)->when = OUTCOME_NO;
    return model;
}

static void test_a_shared_budget_of_tokens_splits_the_work(void **state) {
    (void)state;
    for (int threads = 1; threads <= 8; threads *= 2) {
        struct model *model = build_shared_work(8, threads, 240);
        struct sim_result result = simulate(model, (struct sim_config){0});
        assert_close(result.tasks.mean, 240, 1e-12);
        assert_close(result.run_ns.mean, 240.0 / threads * MS, 1e-9);
        assert_close(result.throughput_hz.mean, 1000.0 * threads, 1e-9);
        sim_result_free(&result);
        model_free(model);
    }
}

/* For each of three fillings every thread comes once, takes until nothing is left, and waits for
 * the others. */
static void test_a_supply_is_filled_again_when_all_have_found_it_empty(void **state) {
    (void)state;
    enum { FILLINGS = 3, TOKENS = 5, THREADS = 2 };
    struct model *model = build_shared_work(8, THREADS, TOKENS);
    model->objects[0].refilled_after.base = THREADS;
    int take = 1, end = (int)model->n_nodes - 1;
    assert_int_equal(model->nodes[take].kind, NODE_ACQUIRE);
    int barrier = build_node(model, NODE_BARRIER, build_object(model, OBJECT_BARRIER, THREADS));
    for (size_t e = 0; e < model->nodes[take].n_edges; e++)
        if (model->nodes[take].edges[e].when == OUTCOME_NO)
            model->nodes[take].edges[e].to = barrier;
    build_edge(model, barrier, take);
    build_edge(model, barrier, end)->leaves = true;
    model->nodes[barrier].stays = constant(FILLINGS - 1);
    struct sim_result result = simulate(model, (struct sim_config){0});
    assert_close(result.tasks.mean, FILLINGS * TOKENS, 1e-12);
    assert_close(result.run_ns.mean, FILLINGS * 3.0 * MS, 1e-9); /* 3 and 2 of five */
    sim_result_free(&result);
    model_free(model);
}

/* Going to sleep and coming back costs 1 ms. Of three that are woken for one token, two go to sleep
 * again. */
static void test_those_woken_for_nothing_wait_again(void **state) {
    (void)state;
    for (int wakes_all = 0; wakes_all <= 1; wakes_all++) {
        struct model *model = build_model(8);
        model->machine.block_cpu_ns = 1 * MS;
        int tokens = build_object(model, OBJECT_TOKENS, 0);
        model->objects[tokens].wakes_all = wakes_all;
        int waiters = build_pool(model, 3, true);
        int take =
            build_next(model, model->pools[waiters].entry, constant(0), NODE_ACQUIRE, tokens);
        end_after(model, take, constant(0));
        int giver = build_pool(model, 1, true);
        int give = model->pools[giver].entry;
        for (int i = 0; i < 3; i++)
            give = build_next(model, give, constant(10 * MS), NODE_RELEASE, tokens);
        end_after(model, give, constant(0));
        struct sim_result result = simulate(model, (struct sim_config){0});
        assert_close(result.run_ns.mean, 31 * MS, 1e-9);
        assert_close(3 * result.pools[waiters].cpu_ns.mean, (wakes_all ? 3 + 2 + 1 : 3) * MS, 1e-9);
        assert_close(result.objects[tokens].waits.mean, 3, 1e-12);
        sim_result_free(&result);
        model_free(model);
    }
}

/* On one core a thread puts an item, for which another one is woken, and then wants one itself. */
static void test_an_item_is_kept_for_whom_it_has_woken(void **state) {
    (void)state;
    for (int handed = 0; handed <= 1; handed++) {
        struct model *model = build_model(1);
        int queue = build_object(model, OBJECT_QUEUE, 0);
        model->objects[queue].handed = handed;
        int taker = build_pool(model, 1, true), giver = build_pool(model, 1, true);
        int pools[] = {taker, giver};
        for (int p = 0; p < 2; p++) {
            int at = model->pools[pools[p]].entry;
            if (pools[p] == giver)
                at = build_next(model, at, constant(5 * MS), NODE_PUT, queue);
            at = build_next(model, at, constant(0), NODE_GET, queue);
            at = build_next(model, at, constant(10 * MS), NODE_PUT, queue);
            end_after(model, at, constant(0));
        }
        struct sim_result result = simulate(model, (struct sim_config){0});
        assert_close(result.run_ns.mean, 25 * MS, 1e-9);
        assert_close(result.pools[giver].blocked_ns.mean, handed ? 10 * MS : 0, 1e-9);
        sim_result_free(&result);
        model_free(model);
    }
}

/* Two takers, and two items of 10 ms, then two of 1 ms: each round takes as long as its items, and
 * not as the edges' probabilities would have it. */
static void test_items_lead_where_their_kind_says(void **state) {
    (void)state;
    for (int one_kind = 0; one_kind <= 1; one_kind++) {
        struct model *model = build_model(8);
        int queue = build_object(model, OBJECT_QUEUE, 0);
        int giver = build_pool(model, 1, true), takers = build_pool(model, 2, true);
        int at = model->pools[giver].entry, end = build_node(model, NODE_END, MODEL_NONE);
        for (int i = 0; i < 4; i++) {
            at = build_next(model, at, constant(i == 2 ? 100 * MS : 0), NODE_PUT, queue);
            model->nodes[at].item_kind = one_kind || i < 2 ? 1 : 2;
            build_edge(model, at, end)->when = OUTCOME_NO;
        }
        at = build_next(model, at, constant(0), NODE_CLOSE, queue);
        build_edge(model, at, end);
        int get = build_next(model, model->pools[takers].entry, constant(0), NODE_GET, queue);
        for (int kind = 1; kind <= 2; kind++) {
            int step = build_node(model, NODE_STEP, MODEL_NONE);
            model->nodes[step].item_kind = kind;
            struct edge *way = build_edge(model, get, step);
            way->when = OUTCOME_YES;
            way->probability = kind == 1 ? 1 : 1000;
            build_edge(model, step, get)->cpu_ns = constant((kind == 1 ? 10 : 1) * MS);
        }
        build_edge(model, get, build_node(model, NODE_END, MODEL_NONE))->when = OUTCOME_NO;
        struct sim_result result = simulate(model, (struct sim_config){0});
        assert_close(result.run_ns.mean, (one_kind ? 110 : 101) * MS, 1e-9);
        assert_close(2 * result.pools[takers].cpu_ns.mean, (one_kind ? 40 : 22) * MS, 1e-9);
        sim_result_free(&result);
        model_free(model);
    }
}

/* Who counts down tells when all have, or each time. */
static void test_who_needs_more_is_woken_when_there_is_enough(void **state) {
    (void)state;
    for (int when_enough = 0; when_enough <= 1; when_enough++) {
        struct model *model = build_model(8);
        model->machine.block_cpu_ns = 1 * MS;
        int tokens = build_object(model, OBJECT_TOKENS, 0);
        model->objects[tokens].wakes_all = true;
        model->objects[tokens].when_enough = when_enough;
        int waiter = build_pool(model, 1, true);
        int take = build_next(model, model->pools[waiter].entry, constant(0), NODE_ACQUIRE, tokens);
        model->nodes[take].count = 3;
        end_after(model, take, constant(0));
        int giver = build_pool(model, 1, true);
        int give = model->pools[giver].entry;
        for (int i = 0; i < 3; i++)
            give = build_next(model, give, constant(10 * MS), NODE_RELEASE, tokens);
        end_after(model, give, constant(0));
        struct sim_result result = simulate(model, (struct sim_config){0});
        assert_close(result.run_ns.mean, 31 * MS, 1e-9);
        assert_close(result.pools[waiter].cpu_ns.mean, (when_enough ? 1 : 3) * MS, 1e-9);
        sim_result_free(&result);
        model_free(model);
    }
}

/* Three that are woken for nothing, on one condition variable with another who waits for something
 * else. */
static void test_a_broadcast_wakes_all_who_share_the_condition(void **state) {
    (void)state;
    for (int shared = 0; shared <= 1; shared++) {
        struct model *model = build_model(8);
        model->machine.block_cpu_ns = 1 * MS;
        int tokens = build_object(model, OBJECT_TOKENS, 0);
        int last = build_object(model, OBJECT_QUEUE, 0);
        model->objects[tokens].wakes_all = true;
        model->objects[last].condition_of = shared ? tokens : MODEL_NONE;
        int waiters[2];
        for (int i = 0; i < 2; i++) {
            waiters[i] = build_pool(model, 1, true);
            int take = model->pools[waiters[i]].entry;
            for (int k = 0; k < (i ? 1 : 3); k++)
                take = build_next(model, take, constant(0), i ? NODE_GET : NODE_ACQUIRE,
                                  i ? last : tokens);
            end_after(model, take, constant(0));
        }
        int giver = build_pool(model, 1, true);
        int give = model->pools[giver].entry;
        for (int i = 0; i < 4; i++)
            give = build_next(model, give, constant(10 * MS), i < 3 ? NODE_RELEASE : NODE_PUT,
                              i < 3 ? tokens : last);
        end_after(model, give, constant(0));
        struct sim_result result = simulate(model, (struct sim_config){0});
        assert_close(result.run_ns.mean, 41 * MS, 1e-9);
        assert_close(result.pools[waiters[0]].cpu_ns.mean, 3 * MS, 1e-9);
        assert_close(result.pools[waiters[1]].cpu_ns.mean, (shared ? 4 : 1) * MS, 1e-9);
        sim_result_free(&result);
        model_free(model);
    }
}

static void test_a_semaphore_admits_as_many_as_it_has_permits(void **state) {
    (void)state;
    struct model *model = build_model(8);
    int permits = build_object(model, OBJECT_TOKENS, 2);
    int pool = build_pool(model, 6, true);
    int take = build_next(model, model->pools[pool].entry, constant(0), NODE_ACQUIRE, permits);
    int give = build_next(model, take, constant(10 * MS), NODE_RELEASE, permits);
    end_after(model, give, constant(0));
    assert_close(run_ns(model, (struct sim_config){0}), 30 * MS, 1e-9);
}

/* Of ten, those who take 5 at a time go two at once, and those who take 6 or 7 alone: what each has
 * taken it gives back. */
static void test_who_takes_by_amounts_gives_back_what_it_took(void **state) {
    (void)state;
    static double fives[] = {5, 5}, more[] = {6, 7};
    for (int i = 0; i <= 1; i++) {
        struct model *model = build_model(8);
        int budget = build_object(model, OBJECT_TOKENS, 10);
        int pool = build_pool(model, 6, true);
        int take = build_next(model, model->pools[pool].entry, constant(0), NODE_ACQUIRE, budget);
        model->nodes[take].counts =
            (struct dist){.kind = DIST_EMPIRICAL, .n_values = 2, .mean = i ? 6.5 : 5};
        model->nodes[take].counts.values = memory_alloc(2, sizeof(double));
        memcpy(model->nodes[take].counts.values, i ? more : fives, 2 * sizeof(double));
        int give = build_next(model, take, constant(10 * MS), NODE_RELEASE, budget);
        model->nodes[give].gives_back = true;
        end_after(model, give, constant(0));
        assert_close(run_ns(model, (struct sim_config){0}), (i ? 60 : 30) * MS, 1e-9);
    }
}

static void test_fractional_token_counts_are_rounded_without_bias(void **state) {
    (void)state;
    struct model *model = build_shared_work(1, 1, 100000);
    for (size_t i = 0; i < model->n_nodes; i++) {
        if (model->nodes[i].kind == NODE_ACQUIRE)
            model->nodes[i].count = 2.5;
    }
    struct sim_result result = simulate(model, (struct sim_config){0});
    assert_close(result.tasks.mean, 40000, 0.01);
    sim_result_free(&result);
    model_free(model);
}

/* A producer makes `items` (1 ms each), closes the queue; consumers (3 ms per item) end then. With
 * `monitor` both sides work inside a mutex that is given up while waiting. */
static struct model *build_producer(int cores, int consumers, double items, double capacity,
                                    bool monitor) {
    struct model *model = build_model(cores);
    int queue = build_object(model, OBJECT_QUEUE, capacity);
    int mutex = build_object(model, OBJECT_MUTEX, 0);
    model->objects[queue].bounded = capacity > 0;
    int producer = build_pool(model, 1, true);
    int head = build_next(model, model->pools[producer].entry, constant(0), NODE_STEP, MODEL_NONE);
    int leave;
    int body = build_loop(model, head, constant(items), &leave);
    int enter = build_next(model, body, constant(1 * MS), NODE_LOCK, mutex);
    int put = build_next(model, enter, constant(0), NODE_PUT, queue);
    int exit = build_next(model, put, constant(0), NODE_UNLOCK, mutex);
    build_edge(model, exit, head);
    model->nodes[put].edges[0].when = OUTCOME_ANY;
    int lock_all = build_next(model, leave, constant(0), NODE_LOCK, mutex);
    int close = build_next(model, lock_all, constant(0), NODE_CLOSE, queue);
    int unlock_all = build_next(model, close, constant(0), NODE_UNLOCK, mutex);
    end_after(model, unlock_all, constant(0));
    /* Closed while it waits for room: not here, but the model must say what then. */
    build_edge(model, put, unlock_all)->when = OUTCOME_NO;
    model->nodes[put].edges[0].when = OUTCOME_YES;

    int pool = build_pool(model, consumers, true);
    int take = build_next(model, model->pools[pool].entry, constant(0), NODE_LOCK, mutex);
    int get = build_next(model, take, constant(0), NODE_GET, queue);
    int got = build_node(model, NODE_UNLOCK, mutex);
    int none = build_node(model, NODE_UNLOCK, mutex);
    build_edge(model, get, got)->when = OUTCOME_YES;
    build_edge(model, get, none)->when = OUTCOME_NO;
    int done = build_next(model, got, constant(3 * MS), NODE_TASK_END, MODEL_NONE);
    build_edge(model, done, take);
    end_after(model, none, constant(0));
    model->nodes[put].mutex = model->nodes[get].mutex = mutex;
    if (!monitor) {
        for (size_t i = 0; i < model->n_nodes; i++) {
            struct node *node = &model->nodes[i];
            if (node->kind == NODE_LOCK || node->kind == NODE_UNLOCK) {
                node->kind = NODE_STEP;
                node->object = MODEL_NONE;
            }
            node->mutex = MODEL_NONE;
        }
    }
    return model;
}

static void test_every_item_is_consumed_before_a_closed_queue_says_no(void **state) {
    (void)state;
    for (int monitor = 0; monitor <= 1; monitor++) {
        for (int consumers = 1; consumers <= 4; consumers++) {
            struct model *model = build_producer(8, consumers, 120, 5, monitor);
            struct sim_result result = simulate(model, (struct sim_config){0});
            assert_true(result.stalls == 0);
            assert_close(result.tasks.mean, 120, 1e-12);
            /* Consumers limit up to two of them, the producer from three on. */
            double bound = consumers < 3 ? 120 * 3.0 / consumers + 1 : 120 + 3;
            assert_close(result.run_ns.mean, bound * MS, 0.012);
            sim_result_free(&result);
            model_free(model);
        }
    }
}

static void test_several_items_are_put_at_once(void **state) {
    (void)state;
    struct model *model = build_producer(8, 2, 2, 0, false);
    for (size_t i = 0; i < model->n_nodes; i++)
        if (model->nodes[i].kind == NODE_PUT)
            model->nodes[i].count = 5;
    struct sim_result result = simulate(model, (struct sim_config){0});
    assert_close(result.tasks.mean, 10, 1e-12);
    assert_close(result.run_ns.mean, (1 + 5 * 3) * MS, 1e-9); /* two at a time, from 1 ms on */
    sim_result_free(&result);
    model_free(model);
}

static void test_a_bounded_queue_never_holds_more_than_its_capacity(void **state) {
    (void)state;
    struct model *bounded = build_producer(8, 1, 200, 4, true);
    struct model *unbounded = build_producer(8, 1, 200, 0, true);
    struct sim_result with = simulate(bounded, (struct sim_config){0});
    struct sim_result without = simulate(unbounded, (struct sim_config){0});
    assert_true(with.objects[0].length.mean <= 4);
    assert_true(with.objects[0].length.mean > 3);
    assert_true(without.objects[0].length.mean > 50);
    assert_true(with.objects[0].waits.mean > 150);
    sim_result_free(&with);
    sim_result_free(&without);
    model_free(bounded);
    model_free(unbounded);
}

static void test_an_items_birth_time_travels_through_the_queue(void **state) {
    (void)state;
    struct model *model = build_producer(8, 1, 10, 0, false);
    struct sim_result result = simulate(model, (struct sim_config){0});
    /* Item k is born at k ms and done at 1 + 3 k ms: 3, 5, 7 ... 21 ms. */
    assert_close(result.response_ns.mean, 12 * MS, 1e-9);
    assert_close(result.response_p50_ns.mean, 11 * MS, 0.02);
    assert_close(result.response_p99_ns.mean, 21 * MS, 0.02);
    sim_result_free(&result);
    model_free(model);
}

/* Two threads take items, each of which takes 10 ms and leads to no other, until so many were
 * taken.
 */
static void test_a_queue_with_items_in_all_ends_with_the_last_one(void **state) {
    (void)state;
    struct model *model = build_model(2);
    int queue = build_object(model, OBJECT_QUEUE, 0);
    model->objects[queue].initial_items = 2;
    model->objects[queue].items_in_all = 6;
    int pool = build_pool(model, 2, true);
    int get = build_next(model, model->pools[pool].entry, constant(0), NODE_GET, queue);
    struct edge *works = build_edge(model, get, get);
    works->when = OUTCOME_YES;
    works->cpu_ns = constant(10 * MS);
    end_after(model, get, constant(0));
    model->nodes[get].edges[1].when = OUTCOME_NO;
    /* The first two at once; the others come one by one, when all wait, and that is no stall. */
    assert_close(run_ns(model, (struct sim_config){0}), 50 * MS, 1e-9);
}

static void test_what_is_put_behind_the_last_of_items_in_all_is_gone(void **state) {
    (void)state;
    struct model *model = build_model(1);
    int queue = build_object(model, OBJECT_QUEUE, 0);
    model->objects[queue].initial_items = 1;
    model->objects[queue].items_in_all = 4;
    int pool = build_pool(model, 1, true);
    int get = build_next(model, model->pools[pool].entry, constant(0), NODE_GET, queue);
    int put = build_next(model, get, constant(10 * MS), NODE_PUT, queue);
    model->nodes[get].edges[0].when = OUTCOME_YES;
    model->nodes[put].count = 2;
    build_edge(model, put, get);
    end_after(model, get, constant(0));
    model->nodes[get].edges[1].when = OUTCOME_NO;
    assert_close(run_ns(model, (struct sim_config){0}), 40 * MS, 1e-9);
}

static void test_a_timed_get_gives_up_in_time_and_takes_its_mutex_again(void **state) {
    (void)state;
    struct model *model = build_model(2);
    int queue = build_object(model, OBJECT_QUEUE, 0);
    int mutex = build_object(model, OBJECT_MUTEX, 0);
    int waiter = build_pool(model, 1, true);
    int lock = build_next(model, model->pools[waiter].entry, constant(0), NODE_LOCK, mutex);
    int get = build_next(model, lock, constant(0), NODE_GET, queue);
    int unlock = build_next(model, get, constant(0), NODE_UNLOCK, mutex);
    model->nodes[get].timeout_ns = 5 * MS;
    model->nodes[get].mutex = mutex;
    end_after(model, unlock, constant(1 * MS));
    int other = build_pool(model, 1, true);
    int take = build_next(model, model->pools[other].entry, constant(2 * MS), NODE_LOCK, mutex);
    int drop = build_next(model, take, constant(10 * MS), NODE_UNLOCK, mutex);
    end_after(model, drop, constant(0));
    /* Times out at 5 ms, gets the mutex back at 12 ms, and the unlock is in order. */
    assert_close(run_ns(model, (struct sim_config){0}), 13 * MS, 1e-9);
}

/* ---- meeting ---- */

static void test_a_barrier_waits_for_the_slowest_again_and_again(void **state) {
    (void)state;
    struct model *model = build_model(8);
    int barrier = build_object(model, OBJECT_BARRIER, 3);
    for (int i = 1; i <= 3; i++) {
        int pool = build_pool(model, 1, true);
        int head = build_next(model, model->pools[pool].entry, constant(0), NODE_STEP, MODEL_NONE);
        int leave;
        int body = build_loop(model, head, constant(10), &leave);
        int meet = build_next(model, body, constant(i * MS), NODE_BARRIER, barrier);
        build_edge(model, meet, head);
        end_after(model, leave, constant(0));
    }
    assert_close(run_ns(model, (struct sim_config){0}), 30 * MS, 1e-9);
}

/* Four threads meet after each of ten rounds of 1, 2 ... 10 ms, in any order; two were recorded. */
static double run_ns_of_rounds(double common) {
    enum { ROUNDS = 10, RECORDED = 2, THREADS = 4 };
    struct model *model = build_model(THREADS);
    int barrier = build_object(model, OBJECT_BARRIER, THREADS);
    int pool = build_pool(model, THREADS, true);
    int head = build_next(model, model->pools[pool].entry, constant(0), NODE_STEP, MODEL_NONE);
    int leave;
    int body = build_loop(model, head, constant(ROUNDS), &leave);
    struct dist cpu = {.kind = DIST_EMPIRICAL,
                       .mean = 5.5 * MS,
                       .common = common,
                       .sharers = RECORDED,
                       .n_values = ROUNDS * RECORDED,
                       .values = memory_alloc(ROUNDS * RECORDED, sizeof(double))};
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < RECORDED; i++)
            cpu.values[round * RECORDED + i] = (round + 1) * MS;
    int meet = build_next(model, body, cpu, NODE_BARRIER, barrier);
    build_edge(model, meet, head);
    end_after(model, leave, constant(0));
    return run_ns(model, (struct sim_config){0});
}

static void test_rounds_that_all_share_are_as_long_for_all(void **state) {
    (void)state;
    assert_close(run_ns_of_rounds(1), 55 * MS, 1e-9);
    double apart = run_ns_of_rounds(0); /* somebody has a long one in every round */
    assert_true(apart > 65 * MS);
    double partly = run_ns_of_rounds(0.5);
    assert_true(partly > 56 * MS && partly < apart);
}

static void test_barrier_parties_follow_the_thread_count(void **state) {
    (void)state;
    struct model *model = build_jobs(8, 2, constant(1 * MS));
    int barrier = build_object(model, OBJECT_BARRIER, 0);
    struct linear *parties = &model->objects[barrier].amount;
    parties->n_terms = 1;
    parties->terms = memory_alloc(1, sizeof *parties->terms);
    parties->terms[0] = (struct linear_term){.pool = 0, .factor = 1};
    int end = model->nodes[model->pools[0].entry].edges[0].to;
    int meet = build_node(model, NODE_BARRIER, barrier);
    model->nodes[model->pools[0].entry].edges[0].to = meet;
    build_edge(model, meet, end);
    const int threads[] = {7};
    assert_close(run_ns(model, (struct sim_config){.pool_threads = threads}), 1 * MS, 1e-9);
}

/* Three threads go through one by one. Going to sleep costs 1 ms of CPU. */
static double cpu_of_three_in_order(bool wakes_all) {
    struct model *model = build_model(4);
    model->machine.block_cpu_ns = 1 * MS;
    int order = build_object(model, OBJECT_ORDER, 0);
    model->objects[order].wakes_all = wakes_all;
    int pool = build_pool(model, 3, true);
    int draw = build_next(model, model->pools[pool].entry, constant(0), NODE_DRAW, order);
    int turn = build_next(model, draw, constant(0), NODE_TURN, order);
    int pass = build_next(model, turn, constant(10 * MS), NODE_PASS, order);
    end_after(model, pass, constant(0));
    struct sim_result result = simulate(model, (struct sim_config){0});
    double cpu_ns = 3 * result.pools[0].cpu_ns.mean;
    assert_close(result.run_ns.mean, 32 * MS, 1e-9); /* the second and the third slept before */
    sim_result_free(&result);
    model_free(model);
    return cpu_ns;
}

static void test_a_broadcast_wakes_also_those_whose_turn_it_is_not(void **state) {
    (void)state;
    assert_close(cpu_of_three_in_order(false), 32 * MS, 1e-9);
    assert_close(cpu_of_three_in_order(true), 33 * MS, 1e-9); /* the third one twice */
}

/* All threads come at once: the first leads itself, the second one all others. Each turn takes 10
 * ms, and who was led ends with 1 ms more. */
static struct sim_result in_groups(int threads, double led_cpu_ns, bool wakes_all) {
    struct model *model = build_model(threads);
    int order = build_object(model, OBJECT_ORDER, 0);
    model->objects[order].in_groups = true;
    model->objects[order].led_cpu_ns = led_cpu_ns;
    model->objects[order].wakes_all = wakes_all;
    int pool = build_pool(model, threads, true);
    int draw = build_next(model, model->pools[pool].entry, constant(0), NODE_DRAW, order);
    int turn = build_next(model, draw, constant(0), NODE_TURN, order);
    int pass = build_next(model, turn, constant(10 * MS), NODE_PASS, order);
    int end = build_next(model, pass, constant(0), NODE_END, MODEL_NONE);
    model->nodes[turn].edges[0].when = OUTCOME_YES;
    struct edge *led = build_edge(model, turn, end);
    led->when = OUTCOME_NO;
    led->cpu_ns = constant(1 * MS);
    struct sim_result result = simulate(model, (struct sim_config){0});
    model_free(model);
    return result;
}

static void test_whose_turn_it_is_leads_all_who_have_come(void **state) {
    (void)state;
    for (int wakes_all = 0; wakes_all <= 1; wakes_all++) {
        struct sim_result result = in_groups(5, 0, wakes_all);
        assert_close(result.run_ns.mean, 21 * MS, 1e-9); /* in turns it would be 50 */
        assert_close(5 * result.pools[0].cpu_ns.mean, 23 * MS, 1e-9);
        sim_result_free(&result);
    }
}

/* Each thread makes `calls` that wait for a commit of 10 ms, without any computation. */
static double run_of_commits(int threads, int calls) {
    struct model *model = build_model(2);
    int disk = build_object(model, OBJECT_DISK, 0), journal = build_object(model, OBJECT_ORDER, 0);
    model->objects[journal].in_groups = true;
    model->objects[journal].by_kernel = true;
    model->objects[disk].service_ns = constant(1 * MS); /* of others */
    int pool = build_pool(model, threads, true);
    int done = model->pools[pool].entry;
    for (int i = 0; i < calls; i++) {
        int draw = build_next(model, done, constant(0), NODE_DRAW, journal);
        int turn = build_next(model, draw, constant(0), NODE_TURN, journal);
        int write = build_next(model, turn, (struct dist){0}, NODE_IO, disk);
        int flush = build_next(model, write, (struct dist){0}, NODE_IO, disk);
        int pass = build_next(model, flush, (struct dist){0}, NODE_PASS, journal);
        done = build_next(model, pass, constant(0), NODE_STEP, MODEL_NONE);
        model->nodes[write].operations = model->nodes[flush].operations = constant(1);
        model->nodes[write].service_ns = constant(6 * MS);
        model->nodes[flush].service_ns = constant(4 * MS);
        model->nodes[turn].edges[0].when = OUTCOME_YES;
        build_edge(model, turn, done)->when = OUTCOME_NO;
    }
    end_after(model, done, constant(0));
    return run_ns(model, (struct sim_config){0});
}

/* One that comes in the middle of a commit waits for the next: two threads have every other commit
 * each, and so has each half of many. */
static void test_a_commit_is_for_all_who_came_before_it(void **state) {
    (void)state;
    assert_close(run_of_commits(1, 3), 30 * MS, 1e-9);
    assert_close(run_of_commits(2, 3), 60 * MS, 1e-9);
    assert_close(run_of_commits(8, 3), 60 * MS, 1e-9);
}

/* Two write in turn, three times each, to one place or each to its own. */
static double run_of_streams(bool same) {
    struct model *model = build_model(2);
    int disk = build_object(model, OBJECT_DISK, 0);
    model->objects[disk].service_ns = constant(1 * MS); /* of others */
    for (int p = 0; p < 2; p++) {
        int pool = build_pool(model, 1, true);
        int write = build_next(model, model->pools[pool].entry, constant(0), NODE_IO, disk);
        model->nodes[write].operations = constant(3);
        model->nodes[write].service_ns = constant(10 * MS);
        model->nodes[write].near_ns = constant(1 * MS);
        model->nodes[write].stream = same ? 1 : 1 + p;
        end_after(model, write, constant(0));
    }
    return run_ns(model, (struct sim_config){0});
}

static void test_a_request_behind_one_of_its_stream_is_near(void **state) {
    (void)state;
    assert_close(run_of_streams(false), 60 * MS, 1e-9);
    assert_close(run_of_streams(true), 15 * MS, 1e-9);
}

/* Two put off five requests each, of which three together have room. */
static void test_what_is_put_off_is_waited_for_when_there_is_no_room(void **state) {
    (void)state;
    struct model *model = build_model(2);
    int disk = build_object(model, OBJECT_DISK, 0);
    model->objects[disk].service_ns = constant(10 * MS);
    model->objects[disk].room_ns = 30 * MS;
    int pool = build_pool(model, 2, true);
    int last = model->pools[pool].entry;
    for (int i = 0; i < 5; i++) {
        last = build_next(model, last, constant(0), NODE_IO, disk);
        model->nodes[last].operations = constant(1);
    }
    end_after(model, last, constant(0));
    assert_close(run_ns(model, (struct sim_config){0}), 70 * MS, 1e-9);
}

static void test_each_who_is_led_costs_the_leader(void **state) {
    (void)state;
    struct sim_result result = in_groups(5, 2 * MS, false);
    assert_close(result.run_ns.mean, 27 * MS, 1e-9);
    sim_result_free(&result);
}

/* Rounds are opened at 5, 10 and 15 ms; what a thread does in each takes it 10 ms. By tokens two
 * threads would have had three rounds together. */
static void test_each_round_is_for_every_thread(void **state) {
    (void)state;
    struct model *model = build_model(3);
    int order = build_object(model, OBJECT_ORDER, 0);
    model->objects[order].in_rounds = true;
    int openers = build_pool(model, 1, true), pool = build_pool(model, 2, true);
    int opened = model->pools[openers].entry, done = model->pools[pool].entry;
    struct dist work = constant(0);
    for (int round = 0; round < 3; round++) {
        opened = build_next(model, opened, constant(5 * MS), NODE_PASS, order);
        done = build_next(model, done, work, NODE_TURN, order);
        work = constant(10 * MS);
    }
    end_after(model, opened, constant(0));
    end_after(model, done, work);
    struct sim_result result = simulate(model, (struct sim_config){0});
    assert_close(result.run_ns.mean, 35 * MS, 1e-9);
    assert_close(result.pools[pool].cpu_ns.mean, 30 * MS, 1e-9);
    sim_result_free(&result);
    model_free(model);
}

/* Main opens 5 rounds for three threads, on as many cores. One of them is main itself: it begins
 * where main stops, a tenth of a millisecond later, while the others have to be woken, as main has
 * for the next round. Else there would be four threads for three cores. */
static void test_the_creators_part_is_done_on_its_core(void **state) {
    (void)state;
    struct model *model = build_team(3, 3);
    model->pools[1].with_creator = true;
    model->machine.tick_ns = 4 * MS;
    model->machine.wake_latency_ns = constant(1 * MS);
    model->machine.block_cpu_ns = 0.5 * MS;
    int rounds = build_object(model, OBJECT_ORDER, 0);
    int done = build_object(model, OBJECT_TOKENS, 0);
    model->objects[rounds].in_rounds = true;
    int create = model->nodes[model->pools[0].entry].edges[0].to;
    int join = model->nodes[create].edges[0].to, from = create, leave;
    for (int round = 0; round < 5; round++) {
        from = build_next(model, from, constant(5 * MS), NODE_PASS, rounds);
        from = build_next(model, from, constant(0.1 * MS), NODE_ACQUIRE, done);
        model->nodes[from].count = 3;
    }
    build_edge(model, from, join);
    model->nodes[create].edges[0] = model->nodes[create].edges[--model->nodes[create].n_edges];
    int head = build_next(model, model->pools[1].entry, constant(0), NODE_STEP, MODEL_NONE);
    int turn = build_next(model, build_loop(model, head, constant(5), &leave), constant(0),
                          NODE_TURN, rounds);
    build_edge(model, build_next(model, turn, constant(10 * MS), NODE_RELEASE, done), head);
    end_after(model, leave, constant(0));
    struct sim_result result = simulate(model, (struct sim_config){0});
    /* 1 to begin with; then 5, those who are woken 1 + 0.5 + 10, and main again 1 + 0.5. */
    assert_close(result.run_ns.mean, (1 + 5 * 18) * MS, 1e-9);
    assert_close(3 * result.pools[1].cpu_ns.mean, 5 * (30 + 2 * 0.5) * MS, 1e-9);
    sim_result_free(&result);
    model_free(model);
}

/* The thread leaves its core for less than what is brief, or for more. Nobody had been there before
 * it. */
static void test_a_core_that_has_just_become_idle_takes_a_thread_sooner(void **state) {
    (void)state;
    const double idle_ms[] = {1, 5};
    for (int i = 0; i < 2; i++) {
        struct model *model = build_model(1);
        model->machine.wake_latency_ns = constant(3 * MS);
        model->machine.brief_idle_ns = 4 * MS;
        model->machine.brief_latency_ns = constant(2 * MS);
        int pool = build_pool(model, 1, true);
        int sleep = build_sleep(model, model->pools[pool].entry, constant(10 * MS),
                                constant(idle_ms[i] * MS));
        end_after(model, sleep, constant(10 * MS));
        assert_close(run_ns(model, (struct sim_config){0}),
                     (3 + 20 + idle_ms[i] + (i == 0 ? 2 : 3)) * MS, 1e-9);
    }
}

/* Turns that the threads hold from the start are taken one after the other, without drawing. */
static void test_numbers_that_are_dealt_need_not_be_drawn(void **state) {
    (void)state;
    for (int dealt = 0; dealt <= 1; dealt++) {
        struct model *model = build_model(3);
        int order = build_object(model, OBJECT_ORDER, 0);
        int pool = build_pool(model, 3, true);
        model->objects[order].dealt_to = dealt ? pool : MODEL_NONE;
        int turn = build_next(model, model->pools[pool].entry, constant(10 * MS), NODE_TURN, order);
        end_after(model, build_next(model, turn, constant(10 * MS), NODE_PASS, order), constant(0));
        assert_close(run_ns(model, (struct sim_config){0}), (dealt ? 40 : 20) * MS, 1e-9);
    }
}

/* Threads make two steps of 10 ms each and look before each of them how far the others are. */
static double in_steps_of(int threads, bool in_steps, bool broadcasts, double distance,
                          double lead) {
    struct model *model = build_model(threads);
    int order = build_object(model, OBJECT_ORDER, 0);
    model->objects[order].in_steps = in_steps;
    model->objects[order].condition = model->objects[order].wakes_all = broadcasts;
    model->objects[order].distance = distance;
    model->objects[order].lead = lead;
    int pool = build_pool(model, threads, true);
    int at = build_next(model, model->pools[pool].entry, constant(0), NODE_DRAW, order);
    at = build_next(model, at, constant(0), NODE_TURN, order);
    at = build_next(model, at, constant(10 * MS), NODE_ADVANCE, order);
    at = build_next(model, at, constant(0), NODE_TURN, order);
    at = build_next(model, at, constant(10 * MS), NODE_PASS, order);
    end_after(model, at, constant(0));
    return run_ns(model, (struct sim_config){0});
}

static double two_in_steps(bool in_steps, double distance, double lead) {
    return in_steps_of(2, in_steps, false, distance, lead);
}

static void test_a_number_in_steps_follows_the_one_that_leads(void **state) {
    (void)state;
    assert_close(two_in_steps(false, 0, 0), 40 * MS, 1e-9); /* one after the other */
    assert_close(two_in_steps(true, 1, 1), 30 * MS, 1e-9);  /* one step behind, to the end */
    assert_close(two_in_steps(true, 1, 2), 40 * MS, 1e-9);  /* what has passed is ahead of any */
    assert_close(two_in_steps(true, 0, 0), 20 * MS, 1e-9);  /* nobody waits */
    assert_close(two_in_steps(true, 2, 1), 20 * MS, 1e-9);  /* each follows another one */
}

/* Whoever is woken too early waits again, and each step counts once though its broadcast may have
 * to wait for those woken before. */
static void test_a_broadcast_after_a_step_lets_only_the_next_go_on(void **state) {
    (void)state;
    for (int threads = 2; threads <= 5; threads++)
        assert_close(in_steps_of(threads, true, true, 1, 1), (threads + 1) * 10 * MS, 1e-9);
}

static int build_signal(struct model *model, int from, int flag, int count) {
    int signal = build_next(model, from, constant(0), NODE_SIGNAL, flag);
    model->nodes[signal].count = count;
    return signal;
}

/* Two threads wait; one of them is signalled, works for 5 ms and waits again, now in the second
 * group. The other one, still in the first, has to run before the next signal gets through to it.
 * Gives how long the signaller stood ready for the only core. */
static double ready_while_signalling(bool condition, bool signals_wait) {
    struct model *model = build_model(1);
    model->machine.quantum_ns = 1000 * MS;
    model->machine.signals_wait = signals_wait;
    int flag = build_object(model, OBJECT_FLAG, 0);
    model->objects[flag].condition = condition;
    int waiters = build_pool(model, 2, true);
    int first = build_next(model, model->pools[waiters].entry, constant(0), NODE_WAIT, flag);
    int second = build_next(model, first, constant(5 * MS), NODE_WAIT, flag);
    end_after(model, second, constant(0));
    int signaller = build_pool(model, 1, true);
    int start = model->pools[signaller].entry;
    int nap = build_sleep(model, start, constant(0), constant(1 * MS));
    nap = build_sleep(model, build_signal(model, nap, flag, 1), constant(0), constant(20 * MS));
    nap =
        build_sleep(model, build_signal(model, nap, flag, 2), constant(10 * MS), constant(50 * MS));
    end_after(model, build_signal(model, nap, flag, 1), constant(0));
    struct sim_result result = simulate(model, (struct sim_config){0});
    assert_close(result.stalls, 0, 0);
    double ready_ns = result.pools[signaller].ready_ns.mean;
    sim_result_free(&result);
    model_free(model);
    return ready_ns;
}

/* One thread sleeps for 10 ms, the other one waits from 1 ms on for a signal that nobody sends: it
 * is let go when the first one has ended. */
static double guessed_in(double rest_ns) {
    struct model *model = build_model(2);
    int flag = build_object(model, OBJECT_FLAG, 0);
    int sleeper = build_pool(model, 1, true);
    int entry = model->pools[sleeper].entry;
    end_after(model, build_sleep(model, entry, constant(0), constant(10 * MS)), constant(0));
    int waiter = build_pool(model, 1, true);
    entry = model->pools[waiter].entry;
    int wait = build_next(model, entry, constant(1 * MS), NODE_WAIT, flag);
    end_after(model, wait, constant(rest_ns));
    struct sim_result result = simulate(model, (struct sim_config){0});
    assert_close(result.guessed, result.replications, 0);
    assert_close(result.run_ns.mean, 10 * MS + rest_ns, 1e-9);
    double guessed_ns = result.guessed_ns;
    sim_result_free(&result);
    model_free(model);
    return guessed_ns;
}

static void test_a_guessed_wait_delays_at_most_what_follows_it(void **state) {
    (void)state;
    assert_close(guessed_in(3 * MS), 3 * MS, 1e-9);
    assert_close(guessed_in(20 * MS), 9 * MS, 1e-9);
}

/* As if it had been told: the unlock behind the wait is none of what is not held. */
static void test_a_guessed_wait_takes_its_mutex_again(void **state) {
    (void)state;
    struct model *model = build_model(1);
    int flag = build_object(model, OBJECT_FLAG, 0), mutex = build_object(model, OBJECT_MUTEX, 0);
    int pool = build_pool(model, 2, true);
    int lock = build_next(model, model->pools[pool].entry, constant(1 * MS), NODE_LOCK, mutex);
    int wait = build_next(model, lock, constant(0), NODE_WAIT, flag);
    model->nodes[wait].mutex = mutex;
    end_after(model, build_next(model, wait, constant(1 * MS), NODE_UNLOCK, mutex), constant(0));
    struct sim_result result = simulate(model, (struct sim_config){0});
    assert_close(result.guessed, 2 * result.replications, 0);
    assert_close(result.stalls, 0, 0);
    sim_result_free(&result);
    model_free(model);
}

static void test_a_signal_waits_for_those_woken_before(void **state) {
    (void)state;
    assert_close(ready_while_signalling(true, true), 5 * MS, 1e-9);
    assert_close(ready_while_signalling(true, false), 0, 1e-9); /* glibc from 2.41 on */
    assert_close(ready_while_signalling(false, true), 0, 1e-9); /* no condition variable */
}

static void test_a_signal_is_kept_until_one_wait_uses_it(void **state) {
    (void)state;
    struct model *model = build_model(4);
    int flag = build_object(model, OBJECT_FLAG, 0);
    int signaller = build_pool(model, 1, true);
    int now = build_next(model, model->pools[signaller].entry, constant(1 * MS), NODE_SIGNAL, flag);
    int later = build_next(model, now, constant(19 * MS), NODE_SIGNAL, flag);
    end_after(model, later, constant(0));
    int waiter = build_pool(model, 1, true);
    int first = build_next(model, model->pools[waiter].entry, constant(5 * MS), NODE_WAIT, flag);
    int second = build_next(model, first, constant(1 * MS), NODE_WAIT, flag);
    end_after(model, second, constant(2 * MS));
    assert_close(run_ns(model, (struct sim_config){0}), 22 * MS, 1e-9);
}

static void test_created_threads_start_then_and_join_waits_for_all(void **state) {
    (void)state;
    struct model *model = build_team(4, 4);
    end_after(model, model->pools[1].entry, constant(10 * MS));
    model->nodes[model->pools[0].entry].edges[0].cpu_ns = constant(3 * MS);
    const int threads[] = {0, 6};
    struct sim_config config = {.pool_threads = threads, .cores = 2};
    assert_close(run_ns(model, config), 33 * MS, 1e-9);
}

/* A team of 2 that works 10 ms in each of 5 rounds, with 1 ms between them. */
static struct model *build_rounds(int cores) {
    struct model *model = build_team(cores, 2);
    end_after(model, model->pools[1].entry, constant(10 * MS));
    int create = model->nodes[model->pools[0].entry].edges[0].to;
    int join = model->nodes[create].edges[0].to;
    struct edge *out = &model->nodes[join].edges[0];
    out->leaves = true;
    build_edge(model, join, create)->cpu_ns = constant(1 * MS);
    model->nodes[join].stays = constant(4);
    return model;
}

static void test_a_pool_created_in_every_round_runs_in_every_round(void **state) {
    (void)state;
    assert_close(run_ns(build_rounds(2), (struct sim_config){0}), (5 * 10 + 4) * MS, 1e-9);
}

static void test_a_team_that_waits_spinning_wakes_at_once_while_it_has_the_cores(void **state) {
    (void)state;
    for (int awake = 0; awake < 2; awake++) {
        struct model *model = build_rounds(3);
        model->machine.wake_latency_ns = constant(1 * MS);
        model->pools[1].awake = awake;
        double late = awake ? 0 : 2 * 5; /* the team and who joins it, in every round */
        assert_close(run_ns(model, (struct sim_config){0}), (5 * 10 + 4 + late + 1) * MS, 1e-9);
    }
}

/* Rounds of four threads of 8 ms on two cores, whose creator computes for a while in between. */
static double run_of_waves(bool kept) {
    struct model *model = build_rounds(2);
    model->machine.tick_ns = 4 * MS;
    model->machine.quantum_ns = 1.4 * MS;
    model->machine.pull_share = 0.4;
    model->pools[1].threads.base = model->pools[1].profiled_threads = 4;
    model->pools[1].kept = kept;
    model->nodes[model->pools[1].entry].edges[0].cpu_ns = constant(8 * MS);
    for (size_t n = 0; n < model->n_nodes; n++)
        if (model->nodes[n].kind == NODE_JOIN)
            model->nodes[n].stays = constant(199);
    return run_ns(model, (struct sim_config){0});
}

/* The kernel expects little of a thread that begins: three of four queue on their creator's core,
 * and the other core idles until it is given one of them. Threads that are kept go on where they
 * were. */
static void test_new_threads_crowd_on_their_creators_core(void **state) {
    (void)state;
    double even = (200 * 16 + 199) * MS, kept = run_of_waves(true), made_anew = run_of_waves(false);
    assert_true(kept < 1.05 * even);
    assert_true(made_anew < 1.5 * even);
}

/* All but its creator burn CPU between two rounds of 10 ms; with one thread late by 6 ms the other
 * one does as well until it comes. */
static void test_a_team_that_waits_spinning_keeps_its_cores_busy(void **state) {
    (void)state;
    struct model *model = build_rounds(2);
    model->pools[1].awake = true;
    struct sim_config config = {.cores = 2, .seed = 1};
    struct sim_result result;
    struct error error = {0};
    assert_int_equal(sim_predict(model, &config, &result, &error), 0);
    assert_close(result.cpu_ns.mean, 2 * (5 * 10 + 4) * MS, 1e-9);
    sim_result_free(&result);
    double values[] = {4 * MS, 10 * MS};
    struct edge *work = &model->nodes[model->pools[1].entry].edges[0];
    work->cpu_ns = (struct dist){.kind = DIST_EMPIRICAL,
                                 .mean = 7 * MS,
                                 .n_values = 2,
                                 .values = memory_alloc(2, sizeof(double))};
    memcpy(work->cpu_ns.values, values, sizeof values);
    assert_int_equal(sim_predict(model, &config, &result, &error), 0);
    assert_close(result.cpu_ns.mean, 2 * (5 * 10 + 4) * MS, 1e-9);
    sim_result_free(&result);
    model_free(model);
}

/* Between two rounds of a team that waits spinning another one works that does not: its threads are
 * the same. */
static void test_no_more_cores_are_busy_than_there_are(void **state) {
    (void)state;
    struct model *model = build_rounds(2);
    model->pools[1].awake = true;
    int other = build_pool(model, 2, false);
    end_after(model, model->pools[other].entry, constant(10 * MS));
    int create = model->nodes[model->pools[0].entry].edges[0].to;
    int join = model->nodes[create].edges[0].to;
    int create_other = build_node(model, NODE_CREATE, MODEL_NONE);
    int join_other = build_node(model, NODE_JOIN, MODEL_NONE);
    model->nodes[create_other].target_pool = model->nodes[join_other].target_pool = other;
    for (size_t e = 0; e < model->nodes[join].n_edges; e++)
        if (!model->nodes[join].edges[e].leaves)
            model->nodes[join].edges[e].to = create_other;
    build_edge(model, create_other, join_other);
    build_edge(model, join_other, create);
    struct sim_config config = {.cores = 2, .seed = 1};
    struct sim_result result;
    struct error error = {0};
    assert_int_equal(sim_predict(model, &config, &result, &error), 0);
    assert_true(result.cpu_utilisation.mean < 1 + 1e-9);
    sim_result_free(&result);
    model_free(model);
}

static void test_a_team_larger_than_the_machine_pays_for_sleeping(void **state) {
    (void)state;
    for (int cores = 1; cores <= 2; cores++) {
        struct model *model = build_rounds(cores);
        model->pools[1].awake = true;
        model->pools[1].sleep_cpu_ns = 0.5 * MS;
        double expected = cores == 1 ? 5 * 2 * 10.5 + 4 : 5 * 10 + 4;
        assert_close(run_ns(model, (struct sim_config){0}), expected * MS, 1e-9);
    }
}

/* Three parts are owed before anybody can take one: "wait until all three are done". */
static void test_tokens_may_be_owed(void **state) {
    (void)state;
    struct model *model = build_model(4);
    int tokens = build_object(model, OBJECT_TOKENS, -2);
    int waiter = build_pool(model, 1, true);
    int take = build_next(model, model->pools[waiter].entry, constant(0), NODE_ACQUIRE, tokens);
    end_after(model, take, constant(1 * MS));
    int workers = build_pool(model, 3, true);
    int give =
        build_next(model, model->pools[workers].entry, constant(7 * MS), NODE_RELEASE, tokens);
    end_after(model, give, constant(0));
    assert_close(run_ns(model, (struct sim_config){0}), 8 * MS, 1e-9);
}

static void test_a_wait_on_a_flag_ends_when_nothing_else_can_move(void **state) {
    (void)state;
    struct model *model = build_model(2);
    int flag = build_object(model, OBJECT_FLAG, 0);
    int queue = build_object(model, OBJECT_QUEUE, 0);
    int getter = build_pool(model, 1, true);
    int get = build_next(model, model->pools[getter].entry, constant(0), NODE_GET, queue);
    end_after(model, get, constant(2 * MS));
    int putter = build_pool(model, 1, true);
    int wait = build_next(model, model->pools[putter].entry, constant(3 * MS), NODE_WAIT, flag);
    int put = build_next(model, wait, constant(0), NODE_PUT, queue);
    end_after(model, put, constant(0));
    assert_close(run_ns(model, (struct sim_config){0}), 5 * MS, 1e-9);
}

/* A main thread that is one of the workers, with one helper fewer than --threads. */
static void test_a_pool_that_follows_another_may_have_no_threads(void **state) {
    (void)state;
    struct model *model = build_team(4, 1);
    end_after(model, model->pools[1].entry, constant(10 * MS));
    struct linear *helpers = &model->pools[1].threads;
    *helpers = (struct linear){.base = -1, .n_terms = 1};
    helpers->terms = memory_alloc(1, sizeof *helpers->terms);
    helpers->terms[0] = (struct linear_term){.pool = 2, .factor = 1};
    int workers = build_pool(model, 3, true); /* stands for the thread count only */
    end_after(model, model->pools[workers].entry, constant(0));
    const int alone[] = {0, 0, 1};
    struct sim_result result = simulate(model, (struct sim_config){.pool_threads = alone});
    assert_int_equal(result.pools[1].threads, 0);
    assert_true(result.stalls == 0);
    sim_result_free(&result);
    const int three[] = {0, 0, 3};
    assert_close(run_ns(model, (struct sim_config){.pool_threads = three}), 10 * MS, 1e-9);
}

static void test_the_run_ends_with_the_main_thread_even_if_workers_still_wait(void **state) {
    (void)state;
    struct model *model = build_team(2, 3);
    int queue = build_object(model, OBJECT_QUEUE, 0);
    int get = build_next(model, model->pools[1].entry, constant(0), NODE_GET, queue);
    build_edge(model, get, get);
    for (size_t i = 0; i < model->n_nodes; i++) {
        if (model->nodes[i].kind == NODE_JOIN) {
            model->nodes[i].kind = NODE_SLEEP;
            model->nodes[i].wait_ns = constant(5 * MS);
            model->nodes[i].target_pool = MODEL_NONE;
        }
    }
    assert_close(run_ns(model, (struct sim_config){0}), 5 * MS, 1e-9);
}

/* ---- edges ---- */

static void test_a_loop_with_a_measured_count_runs_exactly_that_often(void **state) {
    (void)state;
    struct model *model = build_model(1);
    int pool = build_pool(model, 3, true);
    int outer = build_next(model, model->pools[pool].entry, constant(0), NODE_STEP, MODEL_NONE);
    int end_outer;
    int inner = build_loop(model, outer, constant(2), &end_outer);
    int head = build_next(model, inner, constant(0), NODE_STEP, MODEL_NONE);
    int end_inner;
    int body = build_loop(model, head, constant(5), &end_inner);
    int task = build_next(model, body, constant(1 * MS), NODE_TASK_END, MODEL_NONE);
    build_edge(model, task, head);
    build_edge(model, end_inner, outer);
    end_after(model, end_outer, constant(0));
    struct sim_result result = simulate(model, (struct sim_config){0});
    assert_close(result.tasks.mean, 3 * 2 * 5, 1e-12);
    assert_true(result.tasks.half_width == 0);
    assert_close(result.run_ns.mean, 30 * MS, 1e-9);
    sim_result_free(&result);
    model_free(model);
}

static double tasks_of_loop(double times, double share, double growth, int threads) {
    struct model *model = build_model(8);
    int pool = build_pool(model, 4, true);
    int head = build_next(model, model->pools[pool].entry, constant(0), NODE_STEP, MODEL_NONE);
    int leave;
    int body = build_loop(model, head, constant(times), &leave);
    model->nodes[head].edges[0].runs_scaling =
        (struct scaling){.share = share, .growth = growth, .pool = pool};
    int task = build_next(model, body, constant(1 * MS), NODE_TASK_END, MODEL_NONE);
    build_edge(model, task, head);
    end_after(model, leave, constant(0));
    struct sim_config config = {.pool_threads = &threads, .min_replications = 50};
    struct sim_result result = simulate(model, config);
    double tasks = result.tasks.mean;
    sim_result_free(&result);
    model_free(model);
    return tasks;
}

static void test_loop_counts_follow_their_share_of_the_thread_count(void **state) {
    (void)state;
    assert_close(tasks_of_loop(100, 0, 0, 8), 800, 1e-9);   /* per thread */
    assert_close(tasks_of_loop(100, 1, 0, 8), 400, 1e-9);   /* a total, split */
    assert_close(tasks_of_loop(100, 0.5, 0, 8), 600, 1e-9); /* half of each */
    assert_close(tasks_of_loop(100, 0, 1, 8), 1600, 1e-9);  /* a loop over the threads */
    assert_close(tasks_of_loop(1, 1, 0, 16), 4, 0.15);      /* most threads get none */
}

static void test_demands_follow_their_share_of_the_thread_count(void **state) {
    (void)state;
    const double shares[] = {0, 1, 0.5};
    const double expected_ms[] = {40, 20, 30};
    for (int i = 0; i < 3; i++) {
        struct model *model = build_jobs(8, 4, constant(40 * MS));
        model->nodes[model->pools[0].entry].edges[0].cpu_scaling =
            (struct scaling){.share = shares[i], .pool = 0};
        const int threads[] = {8};
        double run = run_ns(model, (struct sim_config){.pool_threads = threads});
        assert_close(run, expected_ms[i] * MS, 1e-9);
    }
}

/* Two threads had 10 and 30 ms to do: it is 40 ms in all, and what one has more to do than another
 * stays. */
static void test_parts_of_a_total_add_up_to_it(void **state) {
    (void)state;
    for (int threads = 1; threads <= 8; threads++)
        for (int cores = 1; cores <= 8; cores += 7) {
            double values[] = {10 * MS, 30 * MS};
            struct model *model = build_jobs(cores, 2, dist_from_values(values, 2, 2));
            model->nodes[model->pools[0].entry].edges[0].cpu_scaling =
                (struct scaling){.share = 1, .pool = 0};
            double run = run_ns(model, (struct sim_config){.pool_threads = &threads});
            double longest_ms = threads == 1 ? 40 : 60.0 / threads;
            assert_close(run, (cores == 1 ? 40 : longest_ms) * MS, 1e-9);
        }
}

/* Of two parts the second one costs three times as much as the first one. */
static void test_demands_follow_the_place_of_their_thread(void **state) {
    (void)state;
    const int threads[] = {1, 2, 4};
    const double longest_ms[] = {80, 60, 35}; /* all, 3/4 of it, 7/16 */
    for (int i = 0; i < 3; i++) {
        struct model *model = build_jobs(8, 2, constant(40 * MS));
        struct edge *edge = &model->nodes[model->pools[0].entry].edges[0];
        edge->cpu_scaling = (struct scaling){.share = 1, .pool = 0};
        edge->n_cpu_by_place = 2;
        edge->cpu_by_place = memory_alloc(2, sizeof *edge->cpu_by_place);
        edge->cpu_by_place[0] = 0.5;
        edge->cpu_by_place[1] = 1.5;
        double run = run_ns(model, (struct sim_config){.pool_threads = &threads[i]});
        assert_close(run, longest_ms[i] * MS, 1e-9);
    }
}

/* Threads that come to one of two barriers, 1 ms before one, 3 ms before the other: as chance has
 * it, or on a course, two rounds at one, one at the other and so on. */
static struct sim_result meet_at_two(bool course) {
    struct model *model = build_model(4);
    int pool = build_pool(model, 4, true);
    int head = build_next(model, model->pools[pool].entry, constant(0), NODE_STEP, MODEL_NONE);
    int ends[2];
    for (int i = 0; i < 2; i++) {
        ends[i] = build_node(model, NODE_BARRIER, build_object(model, OBJECT_BARRIER, 4));
        struct edge *edge = build_edge(model, head, ends[i]);
        edge->cpu_ns = constant(i ? 3 * MS : 1 * MS);
        edge->probability = 1.5; /* no deck */
        build_edge(model, ends[i], head);
    }
    int end = build_node(model, NODE_END, MODEL_NONE);
    build_edge(model, head, end)->leaves = true;
    model->nodes[head].stays = constant(60);
    if (course) {
        const double edges[] = {0, 2, 1, 1};
        struct node *node = &model->nodes[head];
        node->course = memory_alloc(20 * 4 + 2, sizeof *node->course);
        for (; node->n_course < 20 * 4; node->n_course++)
            node->course[node->n_course] = edges[node->n_course % 4];
        node->course[node->n_course++] = 2;
        node->course[node->n_course++] = 1;
    }
    struct sim_result result = simulate(model, (struct sim_config){.min_replications = 10});
    model_free(model);
    return result;
}

static void test_threads_on_one_course_meet(void **state) {
    (void)state;
    struct sim_result apart = meet_at_two(false), alike = meet_at_two(true);
    assert_true(apart.stalls > 0);
    assert_true(alike.stalls == 0);
    assert_close(alike.run_ns.mean, 100 * MS, 1e-9);
    assert_close(alike.cpu_utilisation.mean, 1, 1e-9); /* nobody waits for anybody */
    sim_result_free(&apart);
    sim_result_free(&alike);
}

/* The first of the threads puts an item for each of the others. */
static void test_items_for_all_others_are_as_many_as_there_are(void **state) {
    (void)state;
    struct model *model = build_model(4);
    int pool = build_pool(model, 2, true);
    int queue = build_object(model, OBJECT_QUEUE, 0);
    int fork = build_next(model, model->pools[pool].entry, constant(0), NODE_STEP, MODEL_NONE);
    int put = build_next(model, fork, constant(1 * MS), NODE_PUT, queue);
    int get = build_next(model, fork, constant(1 * MS), NODE_GET, queue);
    int end = build_next(model, put, constant(1 * MS), NODE_END, MODEL_NONE);
    build_edge(model, get, end);
    model->nodes[fork].edges[0].taker = TAKER_LEADER;
    model->nodes[put].count_scaling = (struct scaling){.growth = 1, .less = 1, .pool = pool};
    for (int threads = 1; threads <= 8; threads *= 2) {
        struct sim_result result =
            simulate(model, (struct sim_config){.pool_threads = &threads, .cores = threads});
        assert_true(result.stalls == 0);
        assert_close(result.objects[queue].operations.mean, 1 + (threads - 1), 1e-9);
        sim_result_free(&result);
    }
    model_free(model);
}

/* Two edges of which each is taken twice in a row: at the end of a run it is the other's turn. */
static void test_runs_of_edges_alternate(void **state) {
    (void)state;
    struct model *model = build_model(1);
    int pool = build_pool(model, 1, true);
    int head = build_next(model, model->pools[pool].entry, constant(0), NODE_STEP, MODEL_NONE);
    int leave;
    int body = build_loop(model, head, constant(400), &leave);
    int fork = build_next(model, body, constant(0), NODE_STEP, MODEL_NONE);
    int left = build_node(model, NODE_STEP, MODEL_NONE);
    int right = build_node(model, NODE_TASK_END, MODEL_NONE);
    build_edge(model, fork, left)->runs = constant(3);
    build_edge(model, fork, right)->runs = constant(1);
    model->nodes[fork].edges[0].probability = 0.01;
    build_edge(model, left, head);
    build_edge(model, right, head);
    end_after(model, leave, constant(1 * MS));
    struct sim_result result = simulate(model, (struct sim_config){0});
    assert_close(result.tasks.mean, 100, 0.01);
    sim_result_free(&result);
    model_free(model);
}

/* Tasks of a run with as many decisions as the counts say together; the first count is theirs. */
static struct sim_result decide(const double counts[3]) {
    struct model *model = build_model(1);
    int pool = build_pool(model, 1, true);
    int head = build_next(model, model->pools[pool].entry, constant(0), NODE_STEP, MODEL_NONE);
    int leave;
    int body = build_loop(model, head, constant(counts[0] + counts[1] + counts[2]), &leave);
    int fork = build_next(model, body, constant(0), NODE_STEP, MODEL_NONE);
    for (int i = 0; i < 3; i++) {
        int node = build_node(model, i == 0 ? NODE_TASK_END : NODE_STEP, MODEL_NONE);
        struct edge *edge = build_edge(model, fork, node);
        edge->runs = constant(1);
        edge->probability = counts[i];
        build_edge(model, node, head);
    }
    end_after(model, leave, constant(1 * MS));
    struct sim_result result = simulate(model, (struct sim_config){0});
    model_free(model);
    return result;
}

/* Of 400 decisions the rare edge gets its 4 in every run, not 4 on average. */
static void test_edges_with_counts_are_dealt_from_a_deck(void **state) {
    (void)state;
    struct sim_result result = decide((const double[]){4, 198, 198});
    assert_close(result.tasks.mean, 4, 1e-9);
    assert_true(result.tasks.half_width < 1e-9);
    sim_result_free(&result);
}

/* No edge comes twice in a row, but the frequent one gets all that is its own. */
static void test_an_edge_with_half_of_the_deck_is_not_left_over(void **state) {
    (void)state;
    struct sim_result result = decide((const double[]){500, 260, 250});
    assert_close(result.tasks.mean, 500, 0.003);
    sim_result_free(&result);
}

/* Whoever takes the edge does so when all others are through, and holds everybody up. */
static void test_an_edge_for_the_last_thread_is_taken_once_and_last(void **state) {
    (void)state;
    struct model *model = build_model(1);
    int pool = build_pool(model, 4, true);
    int fork = build_next(model, model->pools[pool].entry, constant(5 * MS), NODE_STEP, MODEL_NONE);
    int last = build_node(model, NODE_TASK_END, MODEL_NONE);
    int end = build_node(model, NODE_END, MODEL_NONE);
    build_edge(model, fork, end);
    build_edge(model, fork, last)->taker = TAKER_LAST;
    build_edge(model, last, end)->cpu_ns = constant(7 * MS);
    const int threads[] = {6};
    struct sim_result result =
        simulate(model, (struct sim_config){.pool_threads = threads, .cores = 6});
    assert_close(result.tasks.mean, 1, 1e-9);
    assert_true(result.tasks.half_width < 1e-9);
    assert_close(result.run_ns.mean, 12 * MS, 1e-9);
    sim_result_free(&result);
    model_free(model);
}

/* Behind a barrier one of four threads computes 7 ms, all others nothing, five times. */
static void test_in_each_round_one_thread_takes_the_edge_for_it(void **state) {
    (void)state;
    for (int taker = TAKER_FIRST; taker <= TAKER_LEADER; taker++) {
        struct model *model = build_model(1);
        int pool = build_pool(model, 2, true);
        int barrier = build_object(model, OBJECT_BARRIER, 0);
        model->objects[barrier].amount =
            (struct linear){.n_terms = 1, .terms = memory_alloc(1, sizeof(struct linear_term))};
        model->objects[barrier].amount.terms[0] = (struct linear_term){pool, 1};
        int meet =
            build_next(model, model->pools[pool].entry, constant(1 * MS), NODE_BARRIER, barrier);
        int task = build_node(model, NODE_TASK_END, MODEL_NONE);
        int again = build_node(model, NODE_BARRIER, barrier);
        int end = build_node(model, NODE_END, MODEL_NONE);
        build_edge(model, meet, again);
        build_edge(model, meet, task)->taker = (enum taker)taker;
        build_edge(model, task, again)->cpu_ns = constant(7 * MS);
        build_edge(model, again, meet)->cpu_ns = constant(1 * MS);
        build_edge(model, again, end)->leaves = true;
        model->nodes[again].stays = constant(4);
        const int threads[] = {4};
        struct sim_result result =
            simulate(model, (struct sim_config){.pool_threads = threads, .cores = 4});
        assert_true(result.stalls == 0);
        assert_close(result.tasks.mean, 5, 1e-9);
        assert_close(result.run_ns.mean, 5 * 8 * MS, 1e-9);
        sim_result_free(&result);
        model_free(model);
    }
}

/* Of three threads one went the long way; of how many that is true, the run does not decide anew.
 */
static void test_what_a_thread_decides_once_is_dealt(void **state) {
    (void)state;
    for (int decks = 1; decks <= 2; decks++) {
        int threads = 3 * decks;
        struct model *model = build_model(1);
        int pool = build_pool(model, 3, true);
        int start = model->pools[pool].entry;
        int end = build_node(model, NODE_END, MODEL_NONE);
        build_edge(model, start, end)->cpu_ns = constant(9 * MS);
        struct edge *brief = build_edge(model, start, end);
        brief->probability = 2;
        brief->cpu_ns = constant(1 * MS);
        struct sim_result result =
            simulate(model, (struct sim_config){.pool_threads = &threads, .min_replications = 20});
        assert_close(result.run_ns.mean, decks * 11 * MS, 1e-9);
        assert_true(result.run_ns.half_width < 1);
        sim_result_free(&result);
        model_free(model);
    }
}

/* On average a thread that may leave in each of its rounds goes round as often as was counted,
 * however many of them draw. */
static void test_what_a_thread_decides_again_and_again_is_not_dealt(void **state) {
    (void)state;
    struct model *model = build_model(1);
    int pool = build_pool(model, 2, true);
    int head = build_next(model, model->pools[pool].entry, constant(0), NODE_STEP, MODEL_NONE);
    struct edge *again = build_edge(model, head, head);
    again->probability = 9;
    again->cpu_ns = constant(1 * MS);
    build_edge(model, head, build_node(model, NODE_END, MODEL_NONE));
    const int threads[] = {1};
    assert_close(
        run_ns(model, (struct sim_config){.pool_threads = threads, .max_replications = 4000}),
        9 * MS, 0.1);
}

static void test_a_loop_with_branches_is_left_after_its_stays(void **state) {
    (void)state;
    struct model *model = build_model(1);
    int pool = build_pool(model, 2, true);
    int head = build_next(model, model->pools[pool].entry, constant(0), NODE_STEP, MODEL_NONE);
    for (int i = 0; i < 2; i++) {
        int body = build_node(model, NODE_STEP, MODEL_NONE);
        struct edge *edge = build_edge(model, head, body);
        edge->runs = exponential(3);
        edge->cpu_ns = constant(1 * MS);
        build_edge(model, body, head);
    }
    int end = build_node(model, NODE_END, MODEL_NONE);
    struct edge *out = build_edge(model, head, end);
    out->leaves = true;
    out->cpu_ns = constant(5 * MS);
    model->nodes[head].stays = constant(30);
    model->nodes[head].stays_scaling = (struct scaling){.share = 1, .pool = pool};
    const int alone[] = {1};
    struct sim_result result = simulate(model, (struct sim_config){0});
    assert_close(result.run_ns.mean, 2 * 35 * MS, 1e-9);
    sim_result_free(&result);
    assert_close(run_ns(model, (struct sim_config){.pool_threads = alone}), 65 * MS, 1e-9);
}

static void test_memoryless_edges_are_taken_by_probability(void **state) {
    (void)state;
    struct model *model = build_model(1);
    int pool = build_pool(model, 1, true);
    int head = build_next(model, model->pools[pool].entry, constant(0), NODE_STEP, MODEL_NONE);
    int leave;
    int body = build_loop(model, head, constant(20000), &leave);
    int fork = build_next(model, body, constant(0), NODE_STEP, MODEL_NONE);
    int task = build_node(model, NODE_TASK_END, MODEL_NONE);
    build_edge(model, fork, head)->probability = 3;
    build_edge(model, fork, task)->probability = 1;
    build_edge(model, task, head);
    end_after(model, leave, constant(1 * MS));
    struct sim_result result = simulate(model, (struct sim_config){0});
    assert_close(result.tasks.mean, 5000, 0.02);
    sim_result_free(&result);
    model_free(model);
}

/* All threads together draw each value equally often, so the total is exact. */
static void test_an_empirical_distribution_hands_out_its_values_without_replacement(void **state) {
    (void)state;
    double values[] = {1 * MS, 2 * MS, 30 * MS, 67 * MS};
    struct model *model = build_jobs(4, 40, dist_from_values(values, 4, 100));
    struct sim_result result = simulate(model, (struct sim_config){0});
    assert_close(result.cpu_ns.mean, 10 * 100 * MS, 1e-9);
    assert_close(result.cpu_ns.half_width + 1, 1, 1e-3);
    sim_result_free(&result);
    model_free(model);
}

/* ---- devices ---- */

static void test_a_disk_serves_one_request_at_a_time(void **state) {
    (void)state;
    struct model *model = build_model(8);
    int disk = build_object(model, OBJECT_DISK, 0);
    model->objects[disk].service_ns = constant(5 * MS);
    int pool = build_pool(model, 4, true);
    int io = build_next(model, model->pools[pool].entry, constant(0), NODE_IO, disk);
    model->nodes[io].operations = constant(3);
    end_after(model, io, constant(0));
    struct sim_result result = simulate(model, (struct sim_config){0});
    assert_close(result.run_ns.mean, 60 * MS, 1e-9);
    assert_close(result.disk_utilisation.mean, 1, 1e-9);
    assert_close(result.objects[disk].operations.mean, 12, 1e-9);
    assert_close(result.objects[disk].length.mean, (3 * 45 + 2 * 5 + 1 * 5) / 60.0, 1e-9);
    sim_result_free(&result);
    model_free(model);
}

static void test_a_disk_without_limit_serves_everyone_at_once(void **state) {
    (void)state;
    struct model *model = build_model(8);
    int disk = build_object(model, OBJECT_DISK, 0);
    model->objects[disk].service_ns = constant(5 * MS);
    model->objects[disk].servers = 0;
    int pool = build_pool(model, 4, true);
    int io = build_next(model, model->pools[pool].entry, constant(0), NODE_IO, disk);
    model->nodes[io].operations = constant(3);
    end_after(model, io, constant(0));
    struct sim_result result = simulate(model, (struct sim_config){0});
    assert_close(result.run_ns.mean, 15 * MS, 1e-9);
    assert_close(result.disk_utilisation.mean, 1, 1e-9);
    assert_close(result.objects[disk].operations.mean, 12, 1e-9);
    assert_close(result.objects[disk].length.mean + 1, 1, 1e-9);
    sim_result_free(&result);
    model_free(model);
}

/* Each thread asks three times for 5 ms, and for 1 ms where that is known of what the recording had
 * none of. Returns how many of the requests those are. */
static double unseen_requests(int threads, double least_depth, bool continued, double alone_ms,
                              double *run_ms) {
    struct model *model = build_model(8);
    int disk = build_object(model, OBJECT_DISK, 0);
    model->objects[disk].service_ns = constant(5 * MS);
    model->objects[disk].least_depth = least_depth;
    model->objects[disk].never_continued = continued;
    if (alone_ms > 0)
        model->objects[disk].alone_ns = constant(alone_ms * MS);
    int pool = build_pool(model, threads, true);
    int io = build_next(model, model->pools[pool].entry, constant(0), NODE_IO, disk);
    model->nodes[io].operations = constant(3);
    end_after(model, io, constant(0));
    struct sim_result result = simulate(model, (struct sim_config){0});
    double unseen = result.objects[disk].unseen.mean;
    *run_ms = result.run_ns.mean / MS;
    sim_result_free(&result);
    model_free(model);
    return unseen;
}

static void test_requests_that_the_recording_had_none_of_are_counted(void **state) {
    (void)state;
    double run_ms;
    assert_close(unseen_requests(1, 2, false, 0, &run_ms), 3, 1e-9);
    assert_close(run_ms, 15, 1e-9);
    assert_close(unseen_requests(1, 0, true, 0, &run_ms), 2, 1e-9);
    assert_close(unseen_requests(2, 2, false, 0, &run_ms), 1, 1e-9); /* the first one */
    assert_close(unseen_requests(2, 0, true, 0, &run_ms) + 1, 1, 1e-9);
}

/* Four at once of a disk without limit that always had two. */
static void test_more_at_once_than_recorded_are_counted(void **state) {
    (void)state;
    for (int most = 0; most <= 4; most += 2) {
        struct model *model = build_model(8);
        int disk = build_object(model, OBJECT_DISK, 0);
        model->objects[disk].service_ns = constant(5 * MS);
        model->objects[disk].servers = 0;
        model->objects[disk].most_depth = most;
        int pool = build_pool(model, 4, true);
        int io = build_next(model, model->pools[pool].entry, constant(0), NODE_IO, disk);
        model->nodes[io].operations = constant(1);
        end_after(model, io, constant(0));
        struct sim_result result = simulate(model, (struct sim_config){0});
        assert_close(result.objects[disk].unseen.mean + 1, most == 2 ? 3 : 1, 1e-9);
        sim_result_free(&result);
        model_free(model);
    }
}

static void test_they_take_as_long_as_was_measured_elsewhere(void **state) {
    (void)state;
    double run_ms;
    unseen_requests(1, 2, false, 1, &run_ms);
    assert_close(run_ms, 3, 1e-9);
    unseen_requests(1, 0, true, 1, &run_ms);
    assert_close(run_ms, 5 + 1 + 1, 1e-9);
    unseen_requests(2, 0, true, 1, &run_ms);
    assert_close(run_ms, 30, 1e-9);
}

/* The disk has a head: 1 ms where it goes on, 5 ms near by, 20 ms far away. */
static int build_disk_with_a_head(struct model *model) {
    int disk = build_object(model, OBJECT_DISK, 0);
    static const double least[] = {0, 1, 1000}, service[] = {1, 5, 20};
    model->objects[disk].service_ns = constant(100 * MS);
    model->objects[disk].n_distances = 3;
    model->objects[disk].distances = memory_alloc(3, sizeof(struct disk_distance));
    for (int i = 0; i < 3; i++)
        model->objects[disk].distances[i] =
            (struct disk_distance){least[i], constant(service[i] * MS)};
    return disk;
}

static void list_calls(struct model *model, int io, const double *calls, size_t n) {
    model->nodes[io].n_calls = n;
    model->nodes[io].calls = memory_alloc(n, sizeof *calls);
    memcpy(model->nodes[io].calls, calls, n * sizeof *calls);
}

/* How long `threads` take that each make one of the calls. */
static double time_of_calls(int threads, const double *calls, size_t n) {
    struct model *model = build_model(8);
    int disk = build_disk_with_a_head(model);
    int pool = build_pool(model, threads, true);
    int io = build_next(model, model->pools[pool].entry, constant(0), NODE_IO, disk);
    list_calls(model, io, calls, n);
    end_after(model, io, constant(0));
    return run_ns(model, (struct sim_config){0});
}

static void test_a_disk_takes_longer_the_farther_it_goes(void **state) {
    (void)state;
    const double calls[] = {3, 10, 8, 0, /* near */ 18, 8, 0, /* goes on */ 9000, 8, 0 /* far */};
    assert_close(time_of_calls(1, calls, LENGTH(calls)), (5 + 1 + 20) * MS, 1e-9);
}

static void test_calls_are_made_in_the_recorded_order_by_whichever_thread(void **state) {
    (void)state;
    const double calls[] = {0, 1, 10, 8, 0, 1, 9000, 8, 0};
    assert_close(time_of_calls(1, calls, LENGTH(calls)) + 1, 1, 1e-9);
    assert_close(time_of_calls(2, calls, LENGTH(calls)), 5 * MS, 1e-9);
    assert_close(time_of_calls(3, calls, LENGTH(calls)), 25 * MS, 1e-9);
}

/* How long `threads` take that make so many of the calls each, in rows. */
static double time_of_rows(int threads, int visits, const double *calls, size_t n,
                           const double *goes_on, size_t n_goes_on) {
    struct model *model = build_model(8);
    int disk = build_disk_with_a_head(model);
    int pool = build_pool(model, threads, true);
    int io = build_next(model, model->pools[pool].entry, constant(0), NODE_IO, disk);
    list_calls(model, io, calls, n);
    model->nodes[io].n_goes_on = n_goes_on;
    model->nodes[io].goes_on = memory_alloc(n_goes_on, sizeof *goes_on);
    memcpy(model->nodes[io].goes_on, goes_on, n_goes_on * sizeof *goes_on);
    model->nodes[io].stays = constant(visits - 1);
    build_edge(model, io, io);
    build_edge(model, io, build_node(model, NODE_END, MODEL_NONE))->leaves = true;
    return run_ns(model, (struct sim_config){0});
}

static void test_a_thread_goes_on_with_its_row_before_it_begins_another(void **state) {
    (void)state;
    const double calls[] = {1, 10, 8, 0, 1, 9000, 8, 0, 1, 18, 8, 0, 1, 9008, 8, 0};
    const double rows[] = {0, 0, 2, 2}, none[] = {0, 0, 0, 0};
    const size_t n = LENGTH(calls);
    assert_close(time_of_rows(1, 4, calls, n, none, 4), (5 + 20 + 20 + 20) * MS, 1e-9);
    assert_close(time_of_rows(1, 4, calls, n, rows, 4), (5 + 1 + 20 + 1) * MS, 1e-9);
    assert_close(time_of_rows(2, 2, calls, n, rows, 4), (5 + 20 + 20 + 20) * MS, 1e-9);
    assert_close(time_of_rows(4, 1, calls, n, rows, 4), (5 + 20 + 20 + 20) * MS, 1e-9);
    const double with_a_hit[] = {1, 10, 8, 0, 1, 9000, 8, 0, 0, 1, 18, 8, 0};
    const double with_it[] = {0, 0, 2, 1};
    assert_close(time_of_rows(1, 4, with_a_hit, LENGTH(with_a_hit), with_it, 4), (5 + 1 + 20) * MS,
                 1e-9);
}

/* Two threads read two places each: what was there together is served together, else the head goes
 * from one thread's place to the other's and back. */
static void test_only_requests_that_came_together_stay_together(void **state) {
    (void)state;
    double calls[] = {2, 10, 8, 0, 18, 8, 1, 2, 9000, 8, 0, 9008, 8, 1};
    assert_close(time_of_calls(2, calls, LENGTH(calls)), (5 + 1 + 20 + 1) * MS, 1e-9);
    calls[6] = calls[13] = 0;
    assert_close(time_of_calls(2, calls, LENGTH(calls)), (5 + 20 + 20 + 20) * MS, 1e-9);
}

/* After the last recorded call a cache is as in the second half: here, it has all. */
static void test_more_calls_than_recorded_are_like_those_of_the_second_half(void **state) {
    (void)state;
    const double calls[] = {1, 9000, 8, 0, 1, 10, 8, 0, 0, 0};
    assert_close(time_of_calls(50, calls, LENGTH(calls)), 40 * MS, 1e-9);
}

/* Mean response to `requests` that come one after the other, of a thread that comes `visits` times
 * to the disk for each. Of the two that were recorded the second one made the two last calls. */
static double response_by_task(int requests, int visits, const double *calls, size_t n) {
    struct model *model = build_model(2);
    int disk = build_disk_with_a_head(model), queue = build_object(model, OBJECT_QUEUE, 0);
    const double tasks[] = {0, 1, 1};
    model->objects[queue].interarrival_ns = constant(100 * MS);
    int pool = build_pool(model, 1, true);
    int get = build_next(model, model->pools[pool].entry, constant(0), NODE_GET, queue);
    int io = build_next(model, get, constant(0), NODE_IO, disk);
    list_calls(model, io, calls, n);
    model->nodes[io].ahead = true;
    model->nodes[io].n_tasks = LENGTH(tasks);
    model->nodes[io].tasks = memory_alloc(LENGTH(tasks), sizeof *tasks);
    memcpy(model->nodes[io].tasks, tasks, sizeof tasks);
    model->nodes[io].stays = constant(visits - 1);
    build_edge(model, io, io);
    int done = build_node(model, NODE_TASK_END, MODEL_NONE);
    build_edge(model, io, done)->leaves = true;
    build_edge(model, done, get);
    struct sim_result result = simulate(model, (struct sim_config){.arrival_rate_hz = 10,
                                                                   .arrivals = ARRIVALS_CONSTANT,
                                                                   .requests = requests});
    double response_ns = result.response_ns.mean;
    assert_true(result.stalls == 0);
    sim_result_free(&result);
    model_free(model);
    return response_ns;
}

static void test_what_a_task_asks_for_stays_together_however_often_it_comes(void **state) {
    (void)state;
    double calls[] = {1, 10, 8, 0, 1, 9000, 8, 0, 1, 9008, 8, 0};
    for (int visits = 1; visits <= 3; visits++)
        assert_close(response_by_task(2, visits, calls, LENGTH(calls)), (5 + 20 + 1) / 2.0 * MS,
                     1e-9);
}

/* The task's next call comes for what was read ahead, but for the last one nobody comes. */
static void test_a_task_waits_for_what_its_earlier_calls_read_ahead(void **state) {
    (void)state;
    double calls[] = {1, 10, 8, 0, 1, 9000, 8, REQUEST_AHEAD, 1, 9008, 8, 0};
    assert_close(response_by_task(2, 1, calls, LENGTH(calls)), (5 + 20 + 1) / 2.0 * MS, 1e-9);
    calls[11] = REQUEST_AHEAD;
    assert_close(response_by_task(2, 1, calls, LENGTH(calls)), (5 + 20) / 2.0 * MS, 1e-9);
}

static void test_more_tasks_than_recorded_are_like_those_of_the_second_half(void **state) {
    (void)state;
    double calls[] = {1, 10, 8, 0, 0, 0};
    assert_close(response_by_task(5, 1, calls, LENGTH(calls)), 5 / 5.0 * MS, 1e-9);
}

static void test_sleeping_and_private_devices_use_no_cpu(void **state) {
    (void)state;
    struct model *model = build_model(1);
    int pool = build_pool(model, 10, true);
    int pause = build_sleep(model, model->pools[pool].entry, constant(1 * MS), constant(30 * MS));
    int io = build_next(model, pause, constant(0), NODE_IO, MODEL_NONE);
    model->nodes[io].wait_ns = constant(20 * MS);
    end_after(model, io, constant(0));
    struct sim_result result = simulate(model, (struct sim_config){0});
    assert_close(result.run_ns.mean, 60 * MS, 1e-9);
    assert_close(result.cpu_ns.mean, 10 * MS, 1e-9);
    assert_close(result.pools[0].blocked_ns.mean, 50 * MS, 1e-9);
    sim_result_free(&result);
    model_free(model);
}

/* ---- runs ---- */

static void assert_same_results(const struct sim_result *a, const struct sim_result *b) {
    assert_int_equal(a->replications, b->replications);
    assert_memory_equal(&a->run_ns, &b->run_ns, sizeof a->run_ns);
    assert_memory_equal(&a->response_ns, &b->response_ns, sizeof a->response_ns);
    assert_memory_equal(&a->cpu_ns, &b->cpu_ns, sizeof a->cpu_ns);
    assert_memory_equal(&a->events, &b->events, sizeof a->events);
    assert_memory_equal(a->objects, b->objects, a->n_objects * sizeof *a->objects);
    assert_memory_equal(a->pools, b->pools, a->n_pools * sizeof *a->pools);
}

static void test_results_are_the_same_bytes_with_any_number_of_workers(void **state) {
    (void)state;
    struct model *model =
        build_lockers(3, 5, OBJECT_MUTEX, 50, exponential(1 * MS), exponential(0.5 * MS));
    struct sim_result results[4];
    const int workers[] = {1, 2, 3, 16};
    for (int i = 0; i < 4; i++)
        results[i] = simulate(model, (struct sim_config){.workers = workers[i]});
    assert_true(results[0].replications > 5);
    assert_true(results[0].run_ns.half_width > 0);
    for (int i = 1; i < 4; i++)
        assert_same_results(&results[0], &results[i]);
    struct sim_result other = simulate(model, (struct sim_config){.seed = 2});
    assert_true(other.run_ns.mean != results[0].run_ns.mean);
    sim_result_free(&other);
    for (int i = 0; i < 4; i++)
        sim_result_free(&results[i]);
    model_free(model);
}

static void test_replications_go_on_until_the_precision_is_reached(void **state) {
    (void)state;
    struct model *model = build_jobs(1, 1, exponential(1 * MS));
    struct sim_result coarse = simulate(model, (struct sim_config){.precision = 0.3});
    struct sim_result fine =
        simulate(model, (struct sim_config){.precision = 0.05, .max_replications = 10000});
    assert_true(fine.replications > 5 * coarse.replications);
    assert_true(fine.run_ns.half_width <= 0.05 * fine.run_ns.mean);
    struct sim_result capped = simulate(model, (struct sim_config){.max_replications = 7});
    assert_int_equal(capped.replications, 7);
    struct sim_result spent = simulate(model, (struct sim_config){.max_events = 25});
    struct sim_result before =
        simulate(model, (struct sim_config){.max_replications = spent.replications - 1});
    assert_true(before.events < 25 && spent.events >= 25);
    sim_result_free(&spent);
    sim_result_free(&before);
    sim_result_free(&coarse);
    sim_result_free(&fine);
    sim_result_free(&capped);
    model_free(model);
}

static void test_a_threads_lifetime_is_the_sum_of_its_parts(void **state) {
    (void)state;
    struct model *model =
        build_lockers(2, 6, OBJECT_MUTEX, 200, exponential(1 * MS), exponential(0.5 * MS));
    struct sim_config config = {.horizon_ns = 150 * MS, .warmup_ns = 50 * MS};
    struct sim_result result = simulate(model, config);
    const struct sim_pool_result *pool = &result.pools[0];
    assert_close(pool->cpu_ns.mean + pool->ready_ns.mean + pool->blocked_ns.mean, 100 * MS, 1e-9);
    assert_close(result.run_ns.mean, 150 * MS, 1e-12);
    sim_result_free(&result);
    model_free(model);
}

static void test_a_finite_number_of_arrivals_is_served_and_the_run_ends(void **state) {
    (void)state;
    struct model *model = build_model(1);
    int queue = build_object(model, OBJECT_QUEUE, 0);
    model->objects[queue].interarrival_ns = constant(2 * MS);
    model->objects[queue].arrivals = 50;
    int pool = build_pool(model, 2, true);
    int get = build_next(model, model->pools[pool].entry, constant(0), NODE_GET, queue);
    int done = build_next(model, get, constant(1 * MS), NODE_TASK_END, MODEL_NONE);
    build_edge(model, done, get);
    struct sim_result result = simulate(model, (struct sim_config){0});
    assert_close(result.tasks.mean, 50, 1e-12);
    assert_close(result.run_ns.mean, 101 * MS, 1e-9);
    assert_close(result.response_ns.mean, 1 * MS, 1e-9);
    assert_true(result.stalls == 0);
    sim_result_free(&result);
    model_free(model);
}

/* A loop hands each request to a helper, and ends it when that has put it back. */
static struct sim_result serve_with_a_helper(double apart_ns, int arrivals, double helper_ns,
                                             bool returned_first) {
    struct model *model = build_model(2);
    int queue = build_object(model, OBJECT_QUEUE, 0), jobs = build_object(model, OBJECT_QUEUE, 0);
    model->objects[queue].interarrival_ns = constant(apart_ns);
    model->objects[queue].arrivals = arrivals;
    model->objects[queue].item_kind = 1;
    model->objects[queue].returned_first = returned_first;
    int loop = build_pool(model, 1, true), helper = build_pool(model, 1, true);
    int get = build_next(model, model->pools[loop].entry, constant(0), NODE_GET, queue), steps[2];
    for (int kind = 1; kind <= 2; kind++) {
        steps[kind - 1] = build_node(model, NODE_STEP, MODEL_NONE);
        model->nodes[steps[kind - 1]].item_kind = kind;
        build_edge(model, get, steps[kind - 1])->when = OUTCOME_YES;
    }
    build_edge(model, get, build_node(model, NODE_END, MODEL_NONE))->when = OUTCOME_NO;
    build_edge(model, build_next(model, steps[0], constant(1 * MS), NODE_PUT, jobs), get);
    build_edge(model, build_next(model, steps[1], constant(1 * MS), NODE_TASK_END, MODEL_NONE),
               get);
    int job = build_next(model, model->pools[helper].entry, constant(0), NODE_GET, jobs);
    int back = build_next(model, job, constant(helper_ns), NODE_PUT, queue);
    model->nodes[back].item_kind = 2;
    build_edge(model, back, job);
    struct sim_result result = simulate(model, (struct sim_config){0});
    model_free(model);
    return result;
}

static void test_what_helpers_put_back_is_taken_after_the_last_arrival(void **state) {
    (void)state;
    struct sim_result result = serve_with_a_helper(10 * MS, 50, 5 * MS, false);
    assert_close(result.tasks.mean, 50, 1e-12);
    assert_close(result.response_ns.mean, 7 * MS, 1e-9);
    sim_result_free(&result);
}

/* Of three that come at once the third is taken before the first one is back, or behind the second.
 */
static void test_what_helpers_put_back_may_overtake_what_has_come(void **state) {
    (void)state;
    struct sim_result in_order = serve_with_a_helper(1e-3, 3, 0.5 * MS, false);
    assert_close(in_order.response_ns.mean, (4 + 5 + 6) / 3.0 * MS, 1e-6);
    struct sim_result first = serve_with_a_helper(1e-3, 3, 0.5 * MS, true);
    assert_close(first.response_ns.mean, (3 + 4 + 6.5) / 3.0 * MS, 1e-6);
    sim_result_free(&in_order);
    sim_result_free(&first);
}

/* Two requests come at once, then one far behind them; asked for at twice their rate, and twice as
 * many. */
static void test_so_many_requests_come_as_recorded_at_another_rate(void **state) {
    (void)state;
    struct model *model = build_model(1);
    int queue = build_object(model, OBJECT_QUEUE, 0);
    const double gaps[] = {5 * MS, 0, 25 * MS};
    model->objects[queue].interarrival_ns = exponential(10 * MS);
    model->objects[queue].arrivals = 3;
    model->objects[queue].n_gaps = LENGTH(gaps);
    model->objects[queue].gaps = memory_alloc(LENGTH(gaps), sizeof *gaps);
    memcpy(model->objects[queue].gaps, gaps, sizeof gaps);
    int pool = build_pool(model, 1, true);
    int get = build_next(model, model->pools[pool].entry, constant(0), NODE_GET, queue);
    int done = build_next(model, get, constant(1 * MS), NODE_TASK_END, MODEL_NONE);
    build_edge(model, done, get);
    struct sim_result result = simulate(
        model,
        (struct sim_config){.arrival_rate_hz = 200, .arrivals = ARRIVALS_RECORDED, .requests = 6});
    assert_int_equal(result.regime, REGIME_ENDING);
    assert_close(result.tasks.mean, 6, 1e-12);
    assert_close(result.run_ns.mean, (2.5 + 12.5 + 2.5 + 12.5 + 1) * MS, 1e-9);
    assert_close(result.response_ns.mean, (1 + 2 + 1) / 3.0 * MS, 1e-9);
    sim_result_free(&result);
    result = simulate(model, (struct sim_config){.arrivals = ARRIVALS_RECORDED});
    assert_close(result.tasks.mean, 3, 1e-12); /* the recorded load itself */
    assert_close(result.run_ns.mean, (5 + 25 + 1) * MS, 1e-9);
    sim_result_free(&result);
    result =
        simulate(model, (struct sim_config){.arrivals = ARRIVALS_RECORDED, .arrival_factor = 2});
    assert_close(result.run_ns.mean, (2.5 + 12.5 + 1) * MS, 1e-9);
    sim_result_free(&result);
    model_free(model);
}

static void test_arrivals_at_a_full_queue_are_dropped_and_counted(void **state) {
    (void)state;
    struct model *model = build_model(1);
    int queue = build_object(model, OBJECT_QUEUE, 3);
    model->objects[queue].bounded = true;
    model->objects[queue].interarrival_ns = constant(1 * MS);
    int pool = build_pool(model, 1, true);
    int get = build_next(model, model->pools[pool].entry, constant(0), NODE_GET, queue);
    int done = build_next(model, get, constant(2 * MS), NODE_TASK_END, MODEL_NONE);
    build_edge(model, done, get);
    struct sim_result result = simulate(model, (struct sim_config){.horizon_ns = 1000.5 * MS});
    assert_close(result.tasks.mean, 500, 0.01);
    assert_close(result.objects[queue].dropped.mean, 500, 0.02);
    sim_result_free(&result);
    model_free(model);
}

/* ---- models and configurations that are wrong ---- */

static void test_a_model_in_which_all_wait_is_reported_and_still_ends(void **state) {
    (void)state;
    struct model *model = build_model(2);
    int queue = build_object(model, OBJECT_QUEUE, 0);
    int pool = build_pool(model, 2, true);
    int get = build_next(model, model->pools[pool].entry, constant(1 * MS), NODE_GET, queue);
    end_after(model, get, constant(1 * MS));
    struct sim_result result = simulate(model, (struct sim_config){0});
    assert_true(result.stalls == 2 * result.replications);
    assert_non_null(strstr(result.stalled_at, model->nodes[get].name));
    assert_non_null(strstr(result.stalled_at, model->objects[queue].name));
    assert_true(result.run_ns.mean >= 2 * MS);
    sim_result_free(&result);
    model_free(model);
}

/* One waits for what nobody puts, one at their barrier, main for both to end: who gets nothing goes
 * on first, and the others then do as they would have. */
static void test_who_waits_for_others_is_not_let_go_before_them(void **state) {
    (void)state;
    struct model *model = build_team(2, 2);
    int queue = build_object(model, OBJECT_QUEUE, 0);
    int barrier = build_object(model, OBJECT_BARRIER, 2);
    int get = build_next(model, model->pools[1].entry, constant(1 * MS), NODE_GET, queue);
    int meet = build_next(model, get, constant(1 * MS), NODE_BARRIER, barrier);
    build_edge(model, model->pools[1].entry, meet)->cpu_ns = constant(0);
    for (int e = 0; e < 2; e++)
        model->nodes[model->pools[1].entry].edges[e].probability = 0.5;
    model->nodes[model->pools[1].entry].edges[1].taker = TAKER_LEADER;
    end_after(model, meet, constant(5 * MS));
    struct sim_result result = simulate(model, (struct sim_config){0});
    assert_true(result.stalls == result.replications);
    assert_non_null(strstr(result.stalled_at, model->nodes[get].name));
    assert_close(result.run_ns.mean, 7 * MS, 1e-9);
    sim_result_free(&result);
    model_free(model);
}

static void test_threads_that_spin_for_ever_are_a_stall_too(void **state) {
    (void)state;
    struct model *model = build_model(2);
    int spin = build_object(model, OBJECT_SPIN, 0);
    int pool = build_pool(model, 3, true);
    int lock = build_next(model, model->pools[pool].entry, constant(1 * MS), NODE_LOCK, spin);
    end_after(model, lock, constant(1 * MS));
    struct sim_result result = simulate(model, (struct sim_config){0});
    assert_true(result.stalls == 2 * result.replications);
    sim_result_free(&result);
    model_free(model);
}

static void test_unlocking_what_is_not_held_is_reported(void **state) {
    (void)state;
    struct model *model = build_model(1);
    int mutex = build_object(model, OBJECT_MUTEX, 0);
    int pool = build_pool(model, 1, true);
    int unlock = build_next(model, model->pools[pool].entry, constant(1), NODE_UNLOCK, mutex);
    end_after(model, unlock, constant(1 * MS));
    struct sim_result result = simulate(model, (struct sim_config){0});
    assert_true(result.stalls == result.replications);
    assert_non_null(strstr(result.stalled_at, model->objects[mutex].name));
    sim_result_free(&result);
    model_free(model);
}

static void assert_refused(const struct model *model, struct sim_config config, const char *why) {
    struct sim_result result;
    struct error error = {0};
    assert_true(sim_predict(model, &config, &result, &error) < 0);
    if (!strstr(error.text, why))
        fail_msg("\"%s\" does not say \"%s\"", error.text, why);
    sim_result_free(&result);
}

static void test_impossible_configurations_are_refused(void **state) {
    (void)state;
    struct model *model = build_jobs(2, 2, constant(1 * MS));
    const int negative[] = {-1};
    assert_refused(model, (struct sim_config){.cores = -1}, "cores");
    assert_refused(model, (struct sim_config){.cores = 2000000000}, "cores");
    assert_refused(model, (struct sim_config){.pool_threads = negative}, "threads");
    assert_refused(model, (struct sim_config){.arrival_rate_hz = 5}, "arrival");
    assert_refused(model, (struct sim_config){.horizon_ns = 5, .warmup_ns = 6}, "warm-up");
    assert_refused(model, (struct sim_config){.warmup_ns = 2 * MS}, "warm-up");
    build_object(model, OBJECT_BARRIER, 0);
    assert_refused(model, (struct sim_config){0}, "parties");
    model_free(model);
}

static void test_runs_without_an_end_are_refused_unless_cut(void **state) {
    (void)state;
    struct model *model = build_jobs(2, 2, constant(1 * MS));
    int queue = build_object(model, OBJECT_QUEUE, 0);
    model->objects[queue].interarrival_ns = constant(1 * MS);
    assert_refused(model, (struct sim_config){0}, "horizon");
    model_free(model);

    model = build_model(1);
    int pool = build_pool(model, 1, true);
    int step = build_next(model, model->pools[pool].entry, constant(0), NODE_STEP, MODEL_NONE);
    build_edge(model, step, step)->cpu_ns = constant(1 * MS);
    assert_refused(model, (struct sim_config){0}, "horizon");
    struct sim_config cut = {.horizon_ns = 5 * MS};
    assert_close(run_ns(model, cut), 5 * MS, 1e-12);
}

static void test_a_loop_without_time_is_an_error_and_not_a_hang(void **state) {
    (void)state;
    struct model *model = build_model(1);
    int pool = build_pool(model, 1, true);
    int step = build_next(model, model->pools[pool].entry, constant(0), NODE_STEP, MODEL_NONE);
    build_edge(model, step, step);
    build_edge(model, step, build_node(model, NODE_END, MODEL_NONE))->probability = 0;
    assert_refused(model, (struct sim_config){0}, "without time passing");
    model_free(model);
}

/* It tries again and again to take what nobody gives. */
static void test_a_program_that_goes_round_for_ever_is_given_up(void **state) {
    (void)state;
    struct model *model = build_model(1);
    model->measured_run_ns = 1e6;
    int tokens = build_object(model, OBJECT_TOKENS, 0);
    int pool = build_pool(model, 1, true);
    int attempt = build_next(model, model->pools[pool].entry, constant(0), NODE_ACQUIRE, tokens);
    model->nodes[attempt].timeout_ns = 0;
    build_edge(model, attempt, build_node(model, NODE_END, MODEL_NONE))->when = OUTCOME_YES;
    struct edge *again = build_edge(model, attempt, attempt);
    again->when = OUTCOME_NO;
    again->cpu_ns = constant(1e5);
    assert_refused(model, (struct sim_config){0}, "does not end");
    model_free(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_thread_takes_its_cpu_time),
        cmocka_unit_test(test_three_equal_jobs_on_two_cores_end_at_one_and_a_half),
        cmocka_unit_test(test_jobs_on_one_core_share_it_equally),
        cmocka_unit_test(test_a_long_quantum_makes_jobs_run_one_after_the_other),
        cmocka_unit_test(test_switching_between_threads_costs_cpu_and_staying_does_not),
        cmocka_unit_test(test_threads_use_all_cores_there_are),
        cmocka_unit_test(test_a_core_that_becomes_idle_takes_what_waits_elsewhere),
        cmocka_unit_test(test_a_woken_thread_waits_for_the_tick_beside_an_idle_core),
        cmocka_unit_test(test_a_thread_that_mostly_sleeps_gets_what_linux_gives_it_beside_hogs),
        cmocka_unit_test(test_a_thread_that_slept_long_does_not_starve_the_others),
        cmocka_unit_test(test_a_longer_sleep_costs_more),
        cmocka_unit_test(test_waking_costs_latency_on_an_idle_core_and_cpu_on_both_sides),
        cmocka_unit_test(test_a_busy_core_is_interrupted_for_a_woken_thread),
        cmocka_unit_test(test_threads_in_turns_bring_back_what_the_other_displaced),
        cmocka_unit_test(test_turns_that_are_too_short_to_bring_all_back_are_not_in_vain),
        cmocka_unit_test(test_long_demands_are_computed_to_their_end),
        cmocka_unit_test(test_who_is_alone_on_a_core_keeps_its_cache),
        cmocka_unit_test(test_who_displaces_nothing_costs_others_nothing),
        cmocka_unit_test(test_short_demands_bring_back_little),
        cmocka_unit_test(test_critical_sections_exclude_each_other),
        cmocka_unit_test(test_a_random_mutex_load_takes_at_least_the_sum_of_its_sections),
        cmocka_unit_test(test_mutex_waiters_use_no_cpu_and_spinners_burn_it),
        cmocka_unit_test(test_spinning_on_one_core_wastes_whole_quanta),
        cmocka_unit_test(test_a_mutex_taken_twice_by_its_owner_nests),
        cmocka_unit_test(test_readers_run_in_parallel_and_writers_alone),
        cmocka_unit_test(test_a_waiting_writer_lets_readers_pass),
        cmocka_unit_test(test_a_read_write_lock_is_handed_over),
        cmocka_unit_test(test_ideal_cores_go_on_after_hours),
        cmocka_unit_test(test_try_and_timed_locks_give_up_and_leave_the_lock_unchanged),
        cmocka_unit_test(test_a_timed_lock_that_is_freed_in_time_succeeds),
        cmocka_unit_test(test_a_shared_budget_of_tokens_splits_the_work),
        cmocka_unit_test(test_a_supply_is_filled_again_when_all_have_found_it_empty),
        cmocka_unit_test(test_those_woken_for_nothing_wait_again),
        cmocka_unit_test(test_an_item_is_kept_for_whom_it_has_woken),
        cmocka_unit_test(test_items_lead_where_their_kind_says),
        cmocka_unit_test(test_who_needs_more_is_woken_when_there_is_enough),
        cmocka_unit_test(test_a_broadcast_wakes_all_who_share_the_condition),
        cmocka_unit_test(test_a_semaphore_admits_as_many_as_it_has_permits),
        cmocka_unit_test(test_who_takes_by_amounts_gives_back_what_it_took),
        cmocka_unit_test(test_fractional_token_counts_are_rounded_without_bias),
        cmocka_unit_test(test_every_item_is_consumed_before_a_closed_queue_says_no),
        cmocka_unit_test(test_several_items_are_put_at_once),
        cmocka_unit_test(test_a_bounded_queue_never_holds_more_than_its_capacity),
        cmocka_unit_test(test_an_items_birth_time_travels_through_the_queue),
        cmocka_unit_test(test_a_queue_with_items_in_all_ends_with_the_last_one),
        cmocka_unit_test(test_what_is_put_behind_the_last_of_items_in_all_is_gone),
        cmocka_unit_test(test_a_timed_get_gives_up_in_time_and_takes_its_mutex_again),
        cmocka_unit_test(test_a_barrier_waits_for_the_slowest_again_and_again),
        cmocka_unit_test(test_rounds_that_all_share_are_as_long_for_all),
        cmocka_unit_test(test_barrier_parties_follow_the_thread_count),
        cmocka_unit_test(test_a_broadcast_wakes_also_those_whose_turn_it_is_not),
        cmocka_unit_test(test_a_number_in_steps_follows_the_one_that_leads),
        cmocka_unit_test(test_a_broadcast_after_a_step_lets_only_the_next_go_on),
        cmocka_unit_test(test_what_a_thread_decides_once_is_dealt),
        cmocka_unit_test(test_what_a_thread_decides_again_and_again_is_not_dealt),
        cmocka_unit_test(test_numbers_that_are_dealt_need_not_be_drawn),
        cmocka_unit_test(test_whose_turn_it_is_leads_all_who_have_come),
        cmocka_unit_test(test_a_commit_is_for_all_who_came_before_it),
        cmocka_unit_test(test_what_is_put_off_is_waited_for_when_there_is_no_room),
        cmocka_unit_test(test_a_request_behind_one_of_its_stream_is_near),
        cmocka_unit_test(test_each_who_is_led_costs_the_leader),
        cmocka_unit_test(test_the_creators_part_is_done_on_its_core),
        cmocka_unit_test(test_each_round_is_for_every_thread),
        cmocka_unit_test(test_a_core_that_has_just_become_idle_takes_a_thread_sooner),
        cmocka_unit_test(test_a_guessed_wait_delays_at_most_what_follows_it),
        cmocka_unit_test(test_a_guessed_wait_takes_its_mutex_again),
        cmocka_unit_test(test_a_signal_waits_for_those_woken_before),
        cmocka_unit_test(test_a_signal_is_kept_until_one_wait_uses_it),
        cmocka_unit_test(test_created_threads_start_then_and_join_waits_for_all),
        cmocka_unit_test(test_a_pool_created_in_every_round_runs_in_every_round),
        cmocka_unit_test(test_a_team_that_waits_spinning_wakes_at_once_while_it_has_the_cores),
        cmocka_unit_test(test_a_team_that_waits_spinning_keeps_its_cores_busy),
        cmocka_unit_test(test_new_threads_crowd_on_their_creators_core),
        cmocka_unit_test(test_no_more_cores_are_busy_than_there_are),
        cmocka_unit_test(test_a_team_larger_than_the_machine_pays_for_sleeping),
        cmocka_unit_test(test_tokens_may_be_owed),
        cmocka_unit_test(test_a_wait_on_a_flag_ends_when_nothing_else_can_move),
        cmocka_unit_test(test_a_pool_that_follows_another_may_have_no_threads),
        cmocka_unit_test(test_the_run_ends_with_the_main_thread_even_if_workers_still_wait),
        cmocka_unit_test(test_a_loop_with_a_measured_count_runs_exactly_that_often),
        cmocka_unit_test(test_loop_counts_follow_their_share_of_the_thread_count),
        cmocka_unit_test(test_demands_follow_their_share_of_the_thread_count),
        cmocka_unit_test(test_parts_of_a_total_add_up_to_it),
        cmocka_unit_test(test_demands_follow_the_place_of_their_thread),
        cmocka_unit_test(test_threads_on_one_course_meet),
        cmocka_unit_test(test_items_for_all_others_are_as_many_as_there_are),
        cmocka_unit_test(test_runs_of_edges_alternate),
        cmocka_unit_test(test_edges_with_counts_are_dealt_from_a_deck),
        cmocka_unit_test(test_an_edge_with_half_of_the_deck_is_not_left_over),
        cmocka_unit_test(test_an_edge_for_the_last_thread_is_taken_once_and_last),
        cmocka_unit_test(test_in_each_round_one_thread_takes_the_edge_for_it),
        cmocka_unit_test(test_a_loop_with_branches_is_left_after_its_stays),
        cmocka_unit_test(test_memoryless_edges_are_taken_by_probability),
        cmocka_unit_test(test_an_empirical_distribution_hands_out_its_values_without_replacement),
        cmocka_unit_test(test_a_disk_serves_one_request_at_a_time),
        cmocka_unit_test(test_a_disk_without_limit_serves_everyone_at_once),
        cmocka_unit_test(test_requests_that_the_recording_had_none_of_are_counted),
        cmocka_unit_test(test_more_at_once_than_recorded_are_counted),
        cmocka_unit_test(test_they_take_as_long_as_was_measured_elsewhere),
        cmocka_unit_test(test_a_disk_takes_longer_the_farther_it_goes),
        cmocka_unit_test(test_calls_are_made_in_the_recorded_order_by_whichever_thread),
        cmocka_unit_test(test_a_thread_goes_on_with_its_row_before_it_begins_another),
        cmocka_unit_test(test_only_requests_that_came_together_stay_together),
        cmocka_unit_test(test_more_calls_than_recorded_are_like_those_of_the_second_half),
        cmocka_unit_test(test_what_a_task_asks_for_stays_together_however_often_it_comes),
        cmocka_unit_test(test_a_task_waits_for_what_its_earlier_calls_read_ahead),
        cmocka_unit_test(test_more_tasks_than_recorded_are_like_those_of_the_second_half),
        cmocka_unit_test(test_sleeping_and_private_devices_use_no_cpu),
        cmocka_unit_test(test_results_are_the_same_bytes_with_any_number_of_workers),
        cmocka_unit_test(test_replications_go_on_until_the_precision_is_reached),
        cmocka_unit_test(test_a_threads_lifetime_is_the_sum_of_its_parts),
        cmocka_unit_test(test_a_finite_number_of_arrivals_is_served_and_the_run_ends),
        cmocka_unit_test(test_what_helpers_put_back_is_taken_after_the_last_arrival),
        cmocka_unit_test(test_what_helpers_put_back_may_overtake_what_has_come),
        cmocka_unit_test(test_so_many_requests_come_as_recorded_at_another_rate),
        cmocka_unit_test(test_arrivals_at_a_full_queue_are_dropped_and_counted),
        cmocka_unit_test(test_a_model_in_which_all_wait_is_reported_and_still_ends),
        cmocka_unit_test(test_who_waits_for_others_is_not_let_go_before_them),
        cmocka_unit_test(test_threads_that_spin_for_ever_are_a_stall_too),
        cmocka_unit_test(test_unlocking_what_is_not_held_is_reported),
        cmocka_unit_test(test_impossible_configurations_are_refused),
        cmocka_unit_test(test_runs_without_an_end_are_refused_unless_cut),
        cmocka_unit_test(test_a_loop_without_time_is_an_error_and_not_a_hang),
        cmocka_unit_test(test_a_program_that_goes_round_for_ever_is_given_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
