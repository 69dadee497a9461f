/* Steps written by hand, and when the run ends if they are replayed in the order that comes about.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "critical-path/critical_path.h"
#include "critical-path/replay.h"
#include "tests/unit/steps_builder.h"

enum { MAIN, FIRST, SECOND, THIRD };
enum { FAST, SLOW };
enum { LOCK, PERMITS };

static const struct steps_names names = {
    .threads = {"main", "work", "work", "other"},
    .places = {"fast", "slow"},
    .objects = {{.kind = "mutex", .name = "lock"}, {.kind = "semaphore", .name = "permits"}}};

static struct dependency_step *add(struct dependencies *all, int thread, enum step_kind kind,
                                   uint64_t end_ns) {
    return steps_add(all, thread, FAST, kind, end_ns);
}

static struct dependency_step *act(struct dependencies *all, int thread, enum step_kind kind,
                                   uint64_t end_ns, enum step_operation operation,
                                   uint32_t operand) {
    return steps_act(all, thread, FAST, kind, end_ns, operation, operand);
}

/* MAIN waits for the last step so far of each of the threads FIRST to `last`, and that is the end.
 */
static void join(struct dependencies *all, int last) {
    uint64_t now_ns = 0;
    for (int thread = FIRST; thread <= last; thread++) {
        uint32_t cause = NONE;
        for (uint32_t s = 0; s < all->n_steps; s++)
            cause = all->steps[s].thread == (uint32_t)thread ? s : cause;
        if (cause == NONE)
            continue;
        now_ns = all->steps[cause].end_ns > now_ns ? all->steps[cause].end_ns : now_ns;
        struct dependency_step *step = add(all, MAIN, STEP_BLOCKED, now_ns);
        step->cause = cause;
        step->cause_kind = LINK_JOIN;
    }
}

static double end_of(const struct dependencies *all, enum scale_of of, const char *name,
                     double factor, int cores) {
    struct scale scale = {.of = of, .name = name, .factor = factor};
    struct what_if predicted = critical_path_predict(all, &scale, 1, cores);
    assert_true(scale.n_steps > 0);
    assert_int_equal(predicted.forced, 0);
    return predicted.rescheduled_ns;
}

/* FIRST comes to the lock at 100, OTHER at 200; each waits 300 for a disk with it. */
static struct dependencies *two_for_a_lock(void) {
    struct dependencies *all = steps_new(&names, 2);
    act(all, FIRST, STEP_DEVICE, 100, OPERATION_LOCK, LOCK)->place = SLOW;
    add(all, THIRD, STEP_DEVICE, 200);
    act(all, FIRST, STEP_DEVICE, 400, OPERATION_UNLOCK, LOCK);
    struct dependency_step *wait = add(all, THIRD, STEP_BLOCKED, 400);
    wait->in_call = 1;
    wait->object = LOCK;
    wait->cause = 2;
    wait->cause_kind = LINK_LOCK;
    act(all, THIRD, STEP_COMPUTE, 400, OPERATION_LOCK, LOCK)->in_call = 1;
    act(all, THIRD, STEP_DEVICE, 700, OPERATION_UNLOCK, LOCK);
    join(all, THIRD);
    return all;
}

static void unchanged_it_takes_as_long_as_it_did(void **state) {
    (void)state;
    struct dependencies *all = two_for_a_lock();
    assert_true(end_of(all, SCALE_DEVICE, "slow", 1, 0) == 700);
    dependencies_free(all);
}

/* As recorded, the other one would have to wait for who takes the lock at 1000 now. */
static void a_lock_goes_to_who_comes_first(void **state) {
    (void)state;
    struct dependencies *all = two_for_a_lock();
    struct scale scale = {.of = SCALE_DEVICE, .name = "slow", .factor = 10};
    struct what_if predicted = critical_path_predict(all, &scale, 1, 0);
    assert_true(predicted.as_recorded_ns == 1000 + 300 + 300);
    assert_true(predicted.rescheduled_ns == 1000 + 300);
    assert_int_equal(predicted.taken, 2);
    assert_int_equal(predicted.reordered, 1);
    assert_string_equal(predicted.parted, "mutex");
    dependencies_free(all);
}

/* The same under a mutex with which somebody waits for a condition: what it guards is not known. */
static void the_order_stays_where_conditions_are_waited_for(void **state) {
    (void)state;
    struct dependencies *all = two_for_a_lock();
    act(all, THIRD, STEP_COMPUTE, 710, OPERATION_LOCK, LOCK);
    act(all, THIRD, STEP_COMPUTE, 720, OPERATION_WAIT, LOCK);
    assert_true(end_of(all, SCALE_DEVICE, "slow", 10, 0) == 1000 + 300 + 300 + 20);
    dependencies_free(all);
}

/* Two permits, three who take one; nobody waited, as they came one after the other. */
static void permits_are_counted_also_where_nobody_waited(void **state) {
    (void)state;
    struct dependencies *all = steps_new(&names, 4);
    act(all, MAIN, STEP_COMPUTE, 0, OPERATION_PERMIT, PERMITS)->amount = 2;
    for (int t = FIRST; t <= THIRD; t++) {
        uint64_t from_ns = 1000 * (uint64_t)t;
        act(all, t, STEP_DEVICE, from_ns, OPERATION_TAKE, PERMITS)->place = SLOW;
        act(all, t, STEP_DEVICE, from_ns + 400, OPERATION_GIVE, PERMITS);
    }
    join(all, THIRD);
    assert_true(end_of(all, SCALE_DEVICE, "slow", 1, 0) == 3400);
    assert_true(end_of(all, SCALE_DEVICE, "slow", 0, 0) == 400 + 400);
    dependencies_free(all);
}

/* MAIN gives four items at once; FIRST took three of them in the run, as SECOND waited for a disk.
 * Where that one does not, each has two. */
static void items_go_to_the_worker_that_is_free(void **state) {
    (void)state;
    struct dependencies *all = steps_new(&names, 4);
    act(all, MAIN, STEP_COMPUTE, 0, OPERATION_PERMIT, PERMITS)->amount = 0;
    for (int i = 0; i < 4; i++)
        act(all, MAIN, STEP_COMPUTE, 0, OPERATION_GIVE, PERMITS);
    act(all, FIRST, STEP_COMPUTE, 0, OPERATION_TAKE, PERMITS);
    add(all, SECOND, STEP_DEVICE, 250)->place = SLOW;
    act(all, FIRST, STEP_DEVICE, 100, OPERATION_TAKE, PERMITS);
    act(all, FIRST, STEP_DEVICE, 200, OPERATION_TAKE, PERMITS);
    act(all, SECOND, STEP_COMPUTE, 250, OPERATION_TAKE, PERMITS);
    add(all, FIRST, STEP_DEVICE, 300);
    add(all, SECOND, STEP_DEVICE, 350);
    join(all, SECOND);
    assert_true(end_of(all, SCALE_DEVICE, "slow", 1, 0) == 350);
    assert_true(end_of(all, SCALE_DEVICE, "slow", 0, 0) == 200);
    dependencies_free(all);
}

/* Three threads that compute 1000 after they waited for different times. */
static struct dependencies *three_compute(int cores) {
    struct dependencies *all = steps_new(&names, cores);
    for (int t = FIRST; t <= THIRD; t++) {
        add(all, t, STEP_DEVICE, 1000 * (uint64_t)t)->place = SLOW;
        add(all, t, STEP_COMPUTE, 1000 * (uint64_t)t + 1000);
    }
    join(all, THIRD);
    return all;
}

static void no_more_run_at_once_than_there_are_cores(void **state) {
    (void)state;
    struct dependencies *all = three_compute(1);
    assert_true(end_of(all, SCALE_DEVICE, "slow", 1, 0) == 4000);
    assert_true(end_of(all, SCALE_DEVICE, "slow", 0, 0) == 3000);
    assert_true(end_of(all, SCALE_DEVICE, "slow", 0, 2) == 2000);
    assert_true(end_of(all, SCALE_DEVICE, "slow", 0, 3) == 1000);
    dependencies_free(all);
}

/* A core that none of the program's threads had while one was ready was another process's: that
 * time stays. What others of the program had does not. */
static void what_other_processes_had_stays(void **state) {
    (void)state;
    struct dependencies *all = steps_new(&names, 1);
    add(all, FIRST, STEP_COMPUTE, 100);
    add(all, FIRST, STEP_READY, 300);
    add(all, FIRST, STEP_COMPUTE, 400)->place = SLOW;
    add(all, SECOND, STEP_READY, 400);
    add(all, SECOND, STEP_COMPUTE, 500);
    join(all, SECOND);
    assert_true(end_of(all, SCALE_COMPUTING, "slow", 0, 1) >= 400);
    assert_true(end_of(all, SCALE_COMPUTING, "slow", 1, 2) < 500);
    dependencies_free(all);
}

/* They come as often as before while it computes: so with half of that they have half as much. */
static void what_other_processes_had_goes_with_the_computing(void **state) {
    (void)state;
    struct dependencies *all = steps_new(&names, 1);
    add(all, FIRST, STEP_COMPUTE, 100)->place = SLOW;
    add(all, FIRST, STEP_READY, 300);
    add(all, FIRST, STEP_COMPUTE, 400)->place = SLOW;
    join(all, FIRST);
    assert_true(end_of(all, SCALE_COMPUTING, "slow", 1, 0) == 400);
    assert_true(end_of(all, SCALE_COMPUTING, "slow", 0.5, 0) == 200);
    dependencies_free(all);
}

/* FIRST takes two permits that the program counts itself, under the lock; there is one, and it
 * waits for a condition until THIRD has given another one at 500, then for a disk. */
static struct dependencies *one_permit_of_its_own(void) {
    struct dependencies *all = steps_new(&names, 2);
    free(all->objects[PERMITS].kind);
    all->objects[PERMITS].kind = memory_strdup("permits");
    all->objects[PERMITS].is_pool = true;
    all->objects[PERMITS].start = 1;
    act(all, FIRST, STEP_COMPUTE, 0, OPERATION_LOCK, LOCK);
    act(all, FIRST, STEP_COMPUTE, 0, OPERATION_TAKE, PERMITS)->object = LOCK;
    act(all, FIRST, STEP_COMPUTE, 0, OPERATION_UNLOCK, LOCK);
    act(all, FIRST, STEP_COMPUTE, 0, OPERATION_LOCK, LOCK);
    act(all, FIRST, STEP_COMPUTE, 0, OPERATION_PAUSE, LOCK);
    act(all, THIRD, STEP_DEVICE, 500, OPERATION_LOCK, LOCK)->place = SLOW;
    act(all, THIRD, STEP_COMPUTE, 500, OPERATION_UNLOCK, LOCK);
    act(all, THIRD, STEP_COMPUTE, 500, OPERATION_GIVE, PERMITS)->amount = 1;
    struct dependency_step *wait = act(all, FIRST, STEP_BLOCKED, 500, OPERATION_RESUME, LOCK);
    wait->cause = 7;
    wait->cause_kind = LINK_SIGNAL;
    wait->in_call = 1;
    act(all, FIRST, STEP_COMPUTE, 500, OPERATION_TAKE, PERMITS)->object = LOCK;
    act(all, FIRST, STEP_COMPUTE, 500, OPERATION_UNLOCK, LOCK);
    add(all, FIRST, STEP_DEVICE, 900);
    join(all, FIRST);
    return all;
}

static void a_wait_for_a_condition_follows_from_what_is_there(void **state) {
    (void)state;
    struct dependencies *all = one_permit_of_its_own();
    assert_true(end_of(all, SCALE_DEVICE, "slow", 1, 0) == 900);
    assert_true(end_of(all, SCALE_DEVICE, "slow", 2, 0) == 1400);
    assert_true(end_of(all, SCALE_DEVICE, "slow", 0.2, 0) == 500);
    dependencies_free(all);
}

static void with_more_permits_nobody_waits(void **state) {
    (void)state;
    struct dependencies *all = one_permit_of_its_own();
    assert_true(end_of(all, SET_PERMITS, "permits", 1, 0) == 900);
    assert_true(end_of(all, SET_PERMITS, "permits", 2, 0) == 400);
    all->objects[PERMITS].start = 2; /* as if nobody had waited in the run */
    assert_true(end_of(all, SET_PERMITS, "permits", 1, 0) == 900);
    dependencies_free(all);
}

/* FIRST holds the lock for ever now, as it waits for what who waits for the lock would do. */
static void who_would_wait_for_ever_is_let_go_and_that_is_counted(void **state) {
    (void)state;
    struct dependencies *all = steps_new(&names, 2);
    act(all, THIRD, STEP_DEVICE, 100, OPERATION_LOCK, LOCK)->place = SLOW;
    act(all, THIRD, STEP_COMPUTE, 110, OPERATION_UNLOCK, LOCK);
    act(all, FIRST, STEP_DEVICE, 200, OPERATION_LOCK, LOCK);
    struct dependency_step *wait = add(all, FIRST, STEP_BLOCKED, 300);
    wait->cause = 1;
    wait->cause_kind = LINK_WAKER;
    act(all, FIRST, STEP_COMPUTE, 310, OPERATION_UNLOCK, LOCK);
    join(all, THIRD);
    struct scale scale = {.of = SCALE_DEVICE, .name = "slow", .factor = 10};
    struct what_if predicted = critical_path_predict(all, &scale, 1, 0);
    assert_true(predicted.forced > 0);
    dependencies_free(all);
}

/* Nothing tells whether the first 100 are in slow() or in main(), which calls it. */
/* FIRST has a spin lock from 1 to 11 ms, and `unlocks`; SECOND spins for it on another core from
 * 2 ms on, and has it for 4. */
static struct dependencies *two_that_spin(bool unlocks) {
    enum { US = 1000, MS = 1000 * US };
    struct dependencies *all = steps_new(&names, 2);
    act(all, FIRST, STEP_COMPUTE, 1 * MS, OPERATION_SPIN, LOCK)->in_call = 1;
    add(all, SECOND, STEP_COMPUTE, 2 * MS);
    if (unlocks)
        act(all, FIRST, STEP_COMPUTE, 11 * MS, OPERATION_UNLOCK, LOCK);
    else
        add(all, FIRST, STEP_COMPUTE, 11 * MS);
    uint32_t unlock = (uint32_t)all->n_steps - 1;
    struct dependency_step *lock = act(all, SECOND, STEP_COMPUTE, 11 * MS, OPERATION_SPIN, LOCK);
    lock->in_call = 1;
    lock->limit = unlock;
    lock->limit_kind = LINK_LOCK;
    act(all, SECOND, STEP_COMPUTE, 15 * MS, OPERATION_UNLOCK, LOCK);
    join(all, SECOND);
    return all;
}

/* Who spins has nothing to do while others have: 2 + 11 + 4 ms on one core, and what is spun. */
static void who_spins_lets_others_have_the_core(void **state) {
    (void)state;
    struct dependencies *all = two_that_spin(true);
    assert_true(fabs(end_of(all, SCALE_COMPUTING, "fast", 1, 0) - 15e6) < 1e5);
    double one_core_ns = end_of(all, SCALE_COMPUTING, "fast", 1, 1);
    assert_true(one_core_ns >= 17e6 && one_core_ns < 34e6);
    dependencies_free(all);
}

static void spinning_for_ever_ends(void **state) {
    (void)state;
    struct dependencies *all = two_that_spin(false);
    struct scale scale = {.of = SCALE_COMPUTING, .name = "fast", .factor = 1};
    struct what_if predicted = critical_path_predict(all, &scale, 1, 1);
    assert_int_equal(predicted.forced, 1);
    assert_true(predicted.rescheduled_ns >= 17e6);
    dependencies_free(all);
}

static void what_may_be_a_callers_is_told_apart(void **state) {
    (void)state;
    struct dependencies *all = steps_new(&names, 1);
    struct dependency_place *slow = &all->places[SLOW];
    struct dependency_frame *frames = memory_alloc(2, sizeof *frames);
    frames[0] = slow->frames[0];
    frames[1] = (struct dependency_frame){memory_strdup("main"), memory_strdup("t.c"), 20};
    free(slow->frames);
    *slow = (struct dependency_place){2, frames};
    act(all, FIRST, STEP_COMPUTE, 100, OPERATION_LOCK, LOCK)->place = SLOW;
    act(all, FIRST, STEP_COMPUTE, 200, OPERATION_UNLOCK, LOCK)->place = SLOW;
    join(all, FIRST);
    struct scale scale = {.of = SCALE_COMPUTING, .name = "slow", .factor = 0.5};
    struct what_if predicted = critical_path_predict(all, &scale, 1, 0);
    assert_true(predicted.as_recorded_ns == 100);
    assert_true(predicted.least_ns == 150);
    scale.name = "main";
    assert_true(critical_path_predict(all, &scale, 1, 0).least_ns == 100);
    dependencies_free(all);
}

static void steps_without_operations_are_not_replayed(void **state) {
    (void)state;
    struct error error;
    struct dependencies *all = two_for_a_lock();
    all->has_operations = false;
    struct scale scale = {.of = SCALE_DEVICE, .name = "slow", .factor = 10};
    assert_true(isnan(critical_path_predict(all, &scale, 1, 0).rescheduled_ns));
    struct critical_path *path = critical_path_find(all, &error);
    assert_true(isnan(path->checks.rescheduled_ns));
    critical_path_free(path);
    dependencies_free(all);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unchanged_it_takes_as_long_as_it_did),
        cmocka_unit_test(a_lock_goes_to_who_comes_first),
        cmocka_unit_test(the_order_stays_where_conditions_are_waited_for),
        cmocka_unit_test(permits_are_counted_also_where_nobody_waited),
        cmocka_unit_test(items_go_to_the_worker_that_is_free),
        cmocka_unit_test(no_more_run_at_once_than_there_are_cores),
        cmocka_unit_test(what_other_processes_had_stays),
        cmocka_unit_test(what_other_processes_had_goes_with_the_computing),
        cmocka_unit_test(a_wait_for_a_condition_follows_from_what_is_there),
        cmocka_unit_test(with_more_permits_nobody_waits),
        cmocka_unit_test(who_would_wait_for_ever_is_let_go_and_that_is_counted),
        cmocka_unit_test(who_spins_lets_others_have_the_core),
        cmocka_unit_test(spinning_for_ever_ends),
        cmocka_unit_test(what_may_be_a_callers_is_told_apart),
        cmocka_unit_test(steps_without_operations_are_not_replayed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
