/* What ended a wait: traces written by hand, and the links that are found in them. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "critical-path/critical_path.h"
#include "formats/dependencies.h"
#include "modelgen/modelgen.h"
#include "tests/unit/trace_builder.h"

enum { MAIN, WORKER, OTHER };
enum { MUTEX = 0x1000, CONDITION = 0x2000, SEMAPHORE = 0x3000, BARRIER = 0x4000, QUEUE = 0x5000 };
#define END 10000

/* MAIN and its workers, each on a core of its own but for the times in which it waits. */
static struct trace *new_trace(int workers) {
    struct trace *trace = builder_new_with_workers(workers);
    builder_finish(trace, END);
    trace->meta.has_wakes = trace->meta.has_wakers = true;
    return trace;
}

/* The thread waits in [from, to), and on its own core else; `waker`: index, -1: nobody's. */
static void waits(struct trace *trace, int thread, uint64_t from_ns, uint64_t to_ns, int waker) {
    builder_run(trace, thread, (uint32_t)thread, 0, 0, from_ns, false);
    builder_run(trace, thread, (uint32_t)thread, to_ns, to_ns + 10, END, false);
    trace->threads[thread].slices[1].waker = (uint32_t)(waker + 1) & 0x3fffffff;
}

static void runs(struct trace *trace, int thread) {
    builder_run(trace, thread, (uint32_t)thread, 0, 0, END, false);
}

static struct dependencies *made_of(struct trace *trace) {
    struct dependencies *all = modelgen_dependencies(trace, NULL);
    trace_free(trace);
    return all;
}

/* The thread's step that ends then, of this kind. */
static const struct dependency_step *step_at(const struct dependencies *all, uint32_t thread,
                                             uint64_t end_ns, enum step_kind kind) {
    for (size_t i = 0; i < all->n_steps; i++)
        if (all->steps[i].thread == thread && all->steps[i].end_ns == end_ns &&
            all->steps[i].kind == kind)
            return &all->steps[i];
    fail_msg("thread %u has no step of kind %d that ends at %lu", thread, (int)kind,
             (unsigned long)end_ns);
    return NULL;
}

static void assert_cause(const struct dependencies *all, const struct dependency_step *step,
                         enum link_kind link, uint32_t thread, uint64_t end_ns) {
    assert_int_equal(step->cause_kind, link);
    assert_true(step->cause < (size_t)(step - all->steps));
    assert_int_equal(all->steps[step->cause].thread, thread);
    assert_int_equal(all->steps[step->cause].end_ns, end_ns);
}

static void assert_identity(struct dependencies *all) {
    struct error error;
    struct critical_path *path = critical_path_find(all, &error);
    assert_non_null(path);
    assert_true(fabs(path->checks.as_recorded_ns - path->checks.traced_ns) < 1);
    assert_null(path->checks.missing);
    critical_path_free(path);
}

/* ---- locks ---- */

static struct trace *lock_trace(int waker) {
    struct trace *trace = new_trace(2);
    uint32_t in = builder_context(trace, "use", 10, "worker", 100);
    uint32_t out = builder_context(trace, "use", 20, "worker", 100);
    builder_call(trace, WORKER, "pthread_mutex_lock", 100, 100, MUTEX, in);
    builder_call(trace, WORKER, "pthread_mutex_unlock", 500, 500, MUTEX, out);
    builder_call(trace, OTHER, "pthread_mutex_lock", 200, 520, MUTEX, in);
    builder_call(trace, OTHER, "pthread_mutex_unlock", 600, 600, MUTEX, out);
    builder_call(trace, WORKER, "pthread_mutex_lock", 900, 900, MUTEX, in);
    builder_call(trace, WORKER, "pthread_mutex_unlock", 950, 950, MUTEX, out);
    runs(trace, MAIN);
    runs(trace, WORKER);
    waits(trace, OTHER, 210, 505, waker);
    return trace;
}

static void a_lock_is_waited_for_until_it_is_given_back(void **state) {
    (void)state;
    struct dependencies *all = made_of(lock_trace(WORKER));
    const struct dependency_step *wait = step_at(all, OTHER, 505, STEP_BLOCKED);
    assert_cause(all, wait, LINK_LOCK, WORKER, 505);
    assert_int_equal(wait->witness, WITNESS_CONFIRMS);
    assert_string_equal(all->objects[wait->object].kind, "mutex");
    assert_identity(all);
    dependencies_free(all);
}

static void who_takes_a_lock_freely_still_comes_behind_who_had_it(void **state) {
    (void)state;
    struct dependencies *all = made_of(lock_trace(WORKER));
    const struct dependency_step *lock = step_at(all, WORKER, 900, STEP_COMPUTE);
    assert_int_equal(lock->limit_kind, LINK_LOCK);
    assert_int_equal(all->steps[lock->limit].thread, OTHER);
    assert_int_equal(all->steps[lock->limit].end_ns, 600);
    dependencies_free(all);
}

static void without_wakers_the_calls_tell_alone(void **state) {
    (void)state;
    struct trace *trace = lock_trace(-1);
    trace->meta.has_wakers = false;
    struct dependencies *all = made_of(trace);
    const struct dependency_step *wait = step_at(all, OTHER, 505, STEP_BLOCKED);
    assert_cause(all, wait, LINK_LOCK, WORKER, 500);
    assert_int_equal(wait->witness, WITNESS_NONE);
    assert_identity(all);
    dependencies_free(all);
}

static void the_kernel_is_believed_where_calls_say_otherwise(void **state) {
    (void)state;
    struct dependencies *all = made_of(lock_trace(MAIN));
    const struct dependency_step *wait = step_at(all, OTHER, 505, STEP_BLOCKED);
    assert_int_equal(all->steps[wait->cause].thread, MAIN);
    assert_int_equal(wait->witness, WITNESS_DENIES);
    dependencies_free(all);
}

/* Whom the interrupt came upon has nothing to do with it. */
static void an_interrupt_is_no_waker(void **state) {
    (void)state;
    struct trace *trace = lock_trace(-1);
    trace->threads[OTHER].slices[1].in_interrupt = 1;
    struct dependencies *all = made_of(trace);
    assert_cause(all, step_at(all, OTHER, 505, STEP_BLOCKED), LINK_LOCK, WORKER, 500);
    dependencies_free(all);
}

static void a_spinning_wait_ends_with_the_lock_too(void **state) {
    (void)state;
    struct trace *trace = new_trace(2);
    uint32_t in = builder_context(trace, "use", 10, "worker", 100);
    builder_call(trace, WORKER, "pthread_spin_lock", 100, 100, MUTEX, in);
    builder_call(trace, WORKER, "pthread_spin_unlock", 500, 500, MUTEX, in);
    builder_call(trace, OTHER, "pthread_spin_lock", 200, 520, MUTEX, in);
    builder_last(trace, OTHER)->flags |= TRACE_SPINS;
    for (int thread = MAIN; thread <= OTHER; thread++)
        runs(trace, thread);
    struct dependencies *all = made_of(trace);
    assert_cause(all, step_at(all, OTHER, 520, STEP_BLOCKED), LINK_LOCK, WORKER, 500);
    dependencies_free(all);
}

static void a_reader_waits_for_the_writer(void **state) {
    (void)state;
    struct trace *trace = new_trace(2);
    uint32_t in = builder_context(trace, "use", 10, "worker", 100);
    builder_call(trace, WORKER, "pthread_rwlock_wrlock", 100, 100, MUTEX, in);
    builder_call(trace, WORKER, "pthread_rwlock_unlock", 500, 500, MUTEX, in);
    builder_call(trace, OTHER, "pthread_rwlock_rdlock", 200, 520, MUTEX, in);
    builder_call(trace, MAIN, "pthread_rwlock_rdlock", 540, 540, MUTEX, in);
    runs(trace, MAIN);
    runs(trace, WORKER);
    waits(trace, OTHER, 210, 505, WORKER);
    struct dependencies *all = made_of(trace);
    assert_cause(all, step_at(all, OTHER, 505, STEP_BLOCKED), LINK_LOCK, WORKER, 505);
    const struct dependency_step *read = step_at(all, MAIN, 540, STEP_COMPUTE);
    assert_int_equal(all->steps[read->limit].thread, WORKER);
    dependencies_free(all);
}

/* ---- conditions ---- */

/* The waiter is woken by the signal, and then by who gives the second of two mutexes back. */
static void a_signal_is_followed_by_the_mutex_of_the_wait(void **state) {
    (void)state;
    struct trace *trace = new_trace(2);
    uint32_t in = builder_context(trace, "use", 10, "worker", 100);
    builder_call(trace, OTHER, "pthread_mutex_lock", 100, 100, MUTEX, in);
    builder_call(trace, OTHER, "pthread_mutex_lock", 110, 110, MUTEX + 64, in);
    builder_record(trace, OTHER, "pthread_cond_wait", 120, 500, CONDITION, in,
                   trace_mutex_value(MUTEX));
    builder_call(trace, WORKER, "pthread_mutex_lock", 200, 200, MUTEX, in);
    builder_call(trace, WORKER, "pthread_cond_signal", 300, 300, CONDITION, in);
    builder_call(trace, WORKER, "pthread_mutex_unlock", 600, 600, MUTEX, in);
    runs(trace, MAIN);
    runs(trace, WORKER);
    builder_run(trace, OTHER, OTHER, 0, 0, 130, false);
    builder_run(trace, OTHER, OTHER, 310, 320, 330, false);
    builder_run(trace, OTHER, OTHER, 605, 610, END, false);
    trace->threads[OTHER].slices[1].waker = trace->threads[OTHER].slices[2].waker = WORKER + 1;
    struct dependencies *all = made_of(trace);
    assert_cause(all, step_at(all, OTHER, 310, STEP_BLOCKED), LINK_SIGNAL, WORKER, 310);
    const struct dependency_step *second = step_at(all, OTHER, 605, STEP_BLOCKED);
    assert_cause(all, second, LINK_LOCK, WORKER, 605);
    assert_string_equal(all->objects[second->object].kind, "mutex");
    const struct dependency_step *lock = step_at(all, WORKER, 200, STEP_COMPUTE);
    assert_int_equal(all->steps[lock->limit].end_ns, 120); /* the wait gave this mutex back */
    assert_identity(all);
    dependencies_free(all);
}

/* ---- limits ---- */

static void a_permit_limits_who_did_not_wait_for_it(void **state) {
    (void)state;
    struct trace *trace = new_trace(2);
    uint32_t in = builder_context(trace, "use", 10, "worker", 100);
    builder_record(trace, MAIN, "sem_init", 10, 0, SEMAPHORE, in, 1);
    builder_call(trace, WORKER, "sem_wait", 100, 100, SEMAPHORE, in);
    builder_call(trace, OTHER, "sem_post", 200, 200, SEMAPHORE, in);
    builder_call(trace, WORKER, "sem_wait", 300, 300, SEMAPHORE, in);
    for (int thread = MAIN; thread <= OTHER; thread++)
        runs(trace, thread);
    struct dependencies *all = made_of(trace);
    assert_int_equal(step_at(all, WORKER, 100, STEP_COMPUTE)->limit, DEPENDENCIES_NONE);
    const struct dependency_step *second = step_at(all, WORKER, 300, STEP_COMPUTE);
    assert_int_equal(second->limit_kind, LINK_PERMIT);
    assert_int_equal(all->steps[second->limit].end_ns, 200);
    dependencies_free(all);
}

static void a_bounded_queue_links_both_ways(void **state) {
    (void)state;
    struct trace *trace = new_trace(2);
    uint32_t in = builder_context(trace, "use", 10, "worker", 100);
    builder_record(trace, MAIN, "user:create_queue", 10, 0, QUEUE, in, 1);
    builder_call(trace, WORKER, "user:put", 100, 100, QUEUE, in);
    builder_call(trace, OTHER, "user:get", 200, 200, QUEUE, in);
    builder_call(trace, WORKER, "user:put", 300, 300, QUEUE, in);
    for (int thread = MAIN; thread <= OTHER; thread++)
        runs(trace, thread);
    struct dependencies *all = made_of(trace);
    const struct dependency_step *get = step_at(all, OTHER, 200, STEP_COMPUTE);
    assert_int_equal(get->limit_kind, LINK_ITEM);
    assert_int_equal(all->steps[get->limit].end_ns, 100);
    const struct dependency_step *put = step_at(all, WORKER, 300, STEP_COMPUTE);
    assert_int_equal(put->limit_kind, LINK_SPACE);
    assert_int_equal(all->steps[put->limit].thread, OTHER);
    dependencies_free(all);
}

/* Whoever is last, all depend on all: had the first come later, it would have been the last. */
static void a_barrier_waits_for_each_who_comes(void **state) {
    (void)state;
    struct trace *trace = new_trace(2);
    uint32_t in = builder_context(trace, "use", 10, "worker", 100);
    builder_record(trace, MAIN, "pthread_barrier_init", 10, 0, BARRIER, in, 2);
    builder_call(trace, WORKER, "pthread_barrier_wait", 3000, 5020, BARRIER, in);
    builder_call(trace, OTHER, "pthread_barrier_wait", 5000, 5010, BARRIER, in);
    runs(trace, MAIN);
    runs(trace, OTHER);
    waits(trace, WORKER, 3010, 5005, OTHER);
    struct dependencies *all = made_of(trace);
    const struct dependency_step *wait = step_at(all, WORKER, 5005, STEP_BLOCKED);
    assert_int_equal(wait->cause_kind, LINK_BARRIER);
    assert_true(all->threads[all->steps[wait->cause].thread].is_made);
    assert_identity(all);
    struct error error;
    struct critical_path *path = critical_path_find(all, &error);
    double slack_ns = INFINITY;
    for (size_t r = 0; r < path->n_rows; r++)
        if (path->rows[r].subject == PATH_HAND_OVER)
            slack_ns = path->rows[r].least_slack_ns;
    assert_true(slack_ns < END);
    critical_path_free(path);
    dependencies_free(all);
}

/* ---- threads, cores, and waits that no thread ends ---- */

static struct trace *join_trace(void) {
    struct trace *trace = builder_new_with_workers(1);
    trace->meta.has_wakes = trace->meta.has_wakers = true;
    uint32_t in = builder_context(trace, "begin", 10, "main", 10);
    builder_finish(trace, END);
    builder_create(trace, MAIN, 100, 50, in, WORKER);
    builder_join(trace, MAIN, 200, 5000, in, WORKER);
    builder_life(trace, WORKER, 140, 5000);
    builder_run(trace, WORKER, 1, 130, 140, 5000, false);
    waits(trace, MAIN, 210, 5004, WORKER);
    return trace;
}

static void threads_begin_with_their_creation_and_are_joined_at_their_end(void **state) {
    (void)state;
    struct dependencies *all = made_of(join_trace());
    assert_int_equal(all->threads[WORKER].start_ns, 130);
    assert_cause(all, step_at(all, WORKER, 130, STEP_BLOCKED), LINK_CREATE, MAIN, 130);
    assert_cause(all, step_at(all, MAIN, 5004, STEP_BLOCKED), LINK_JOIN, WORKER, 5000);
    assert_identity(all);
    dependencies_free(all);
}

static void who_had_the_core_kept_the_ready_waiting(void **state) {
    (void)state;
    struct trace *trace = new_trace(2);
    runs(trace, MAIN);
    builder_run(trace, WORKER, 7, 0, 0, 400, true);
    builder_run(trace, OTHER, 7, 390, 400, 900, false);
    builder_run(trace, WORKER, 7, 400, 900, END, false);
    builder_life(trace, OTHER, 390, 900);
    struct dependencies *all = made_of(trace);
    const struct dependency_step *ready = step_at(all, WORKER, 900, STEP_READY);
    assert_cause(all, ready, LINK_CORE, OTHER, 900);
    assert_cause(all, step_at(all, OTHER, 400, STEP_READY), LINK_CORE, WORKER, 400);
    dependencies_free(all);
}

static void sleeps_and_disks_have_no_cause(void **state) {
    (void)state;
    struct trace *trace = new_trace(3);
    uint32_t in = builder_context(trace, "use", 10, "worker", 100);
    builder_call(trace, WORKER, "nanosleep", 100, 1020, 0, in);
    builder_call(trace, OTHER, "pread", 100, 1020, 3, in);
    builder_call(trace, 3, "read", 100, 1020, 0, in);
    trace->threads[OTHER].tid = 77;
    builder_block(trace, (struct trace_block){
                             .queued_ns = 110, .issued_ns = 120, .completed_ns = 999, .tid = 77});
    runs(trace, MAIN);
    for (int thread = WORKER; thread <= 3; thread++) {
        waits(trace, thread, 130, 1000, -1);
        trace->threads[thread].slices[1].in_interrupt = thread != 3;
    }
    struct dependencies *all = made_of(trace);
    step_at(all, WORKER, 1000, STEP_SLEEP);
    step_at(all, OTHER, 1000, STEP_DEVICE);
    step_at(all, 3, 1000, STEP_OUTSIDE);
    dependencies_free(all);
}

/* What a plain user's recording is like. */
static void without_times_on_cores_calls_that_may_wait_count_as_waiting(void **state) {
    (void)state;
    struct trace *trace = new_trace(2);
    uint32_t in = builder_context(trace, "use", 10, "worker", 100);
    builder_call(trace, WORKER, "pthread_mutex_lock", 100, 100, MUTEX, in);
    builder_call(trace, WORKER, "pthread_mutex_unlock", 500, 500, MUTEX, in);
    builder_call(trace, OTHER, "pthread_mutex_lock", 200, 520, MUTEX, in);
    trace->meta.has_slices = trace->meta.has_wakes = trace->meta.has_wakers = false;
    struct dependencies *all = made_of(trace);
    assert_false(all->has_cores);
    assert_cause(all, step_at(all, OTHER, 520, STEP_BLOCKED), LINK_LOCK, WORKER, 500);
    assert_identity(all);
    dependencies_free(all);
}

/* ---- what is replayed ---- */

static void steps_tell_what_is_done_to_locks_and_semaphores(void **state) {
    (void)state;
    struct trace *trace = new_trace(2);
    uint32_t in = builder_context(trace, "use", 10, "worker", 100);
    builder_call(trace, MAIN, "sem_init", 10, 10, SEMAPHORE, in)->value = 3;
    builder_call(trace, WORKER, "pthread_mutex_lock", 100, 120, MUTEX, in);
    builder_call(trace, WORKER, "pthread_cond_wait", 200, 300, CONDITION, in);
    builder_call(trace, WORKER, "pthread_cond_signal", 350, 350, CONDITION, in);
    builder_call(trace, WORKER, "pthread_mutex_unlock", 400, 400, MUTEX, in);
    builder_call(trace, OTHER, "sem_wait", 500, 500, SEMAPHORE, in);
    builder_call(trace, OTHER, "sem_post", 600, 600, SEMAPHORE, in);
    runs(trace, MAIN);
    runs(trace, WORKER);
    runs(trace, OTHER);
    struct dependencies *all = made_of(trace);
    assert_true(all->has_operations);
    static const struct {
        uint32_t thread;
        uint64_t end_ns;
        enum step_operation operation;
        const char *kind;
    } told[] = {
        {MAIN, 10, OPERATION_PERMIT, "semaphore"}, {WORKER, 120, OPERATION_LOCK, "mutex"},
        {WORKER, 200, OPERATION_WAIT, "mutex"},    {WORKER, 300, OPERATION_LOCK, "mutex"},
        {WORKER, 350, OPERATION_SIGNAL, "mutex"},  {WORKER, 400, OPERATION_UNLOCK, "mutex"},
        {OTHER, 500, OPERATION_TAKE, "semaphore"}, {OTHER, 600, OPERATION_GIVE, "semaphore"}};
    for (size_t i = 0; i < sizeof told / sizeof *told; i++) {
        const struct dependency_step *step =
            step_at(all, told[i].thread, told[i].end_ns, STEP_COMPUTE);
        assert_int_equal(step->operation, told[i].operation);
        assert_string_equal(all->objects[step->operand].kind, told[i].kind);
        assert_int_equal(step->amount, told[i].operation == OPERATION_PERMIT ? 3 : 0);
    }
    dependencies_free(all);
}

/* It would have had to wait if that thread had been slower. */
static void who_joins_a_thread_that_has_ended_depends_on_it(void **state) {
    (void)state;
    struct trace *trace = new_trace(1);
    uint32_t in = builder_context(trace, "use", 10, "main", 100);
    builder_call(trace, WORKER, "pthread_mutex_lock", 100, 100, MUTEX, in);
    builder_call(trace, MAIN, "pthread_join", 900, 910, 0, in)->value = WORKER;
    trace->threads[WORKER].end_ns = 500;
    runs(trace, MAIN);
    builder_run(trace, WORKER, WORKER, 0, 0, 500, false);
    struct dependencies *all = made_of(trace);
    const struct dependency_step *join = step_at(all, MAIN, 910, STEP_COMPUTE);
    assert_int_equal(join->limit_kind, LINK_JOIN);
    assert_int_equal(all->steps[join->limit].thread, WORKER);
    dependencies_free(all);
}

/* ---- what is missing ---- */

static void a_link_that_is_missing_is_found_and_named(void **state) {
    (void)state;
    struct dependencies *all = made_of(join_trace());
    size_t wait = (size_t)(step_at(all, MAIN, 5004, STEP_BLOCKED) - all->steps);
    all->steps[wait].kind = STEP_UNEXPLAINED;
    all->steps[wait].cause = DEPENDENCIES_NONE;
    all->steps[wait].cause_kind = LINK_NONE;
    for (size_t i = 0; i < all->n_steps; i++) /* that of the call as a whole, too */
        if (all->steps[i].limit_kind == LINK_JOIN)
            all->steps[i].limit = DEPENDENCIES_NONE;
    struct error error;
    struct critical_path *path = critical_path_find(all, &error);
    assert_true(path->checks.as_recorded_ns < path->checks.traced_ns - 4700);
    assert_string_equal(path->checks.missing, "begin (t.c:10)");
    assert_true(path->checks.explained_ns < path->checks.blocked_ns);
    critical_path_free(path);
    dependencies_free(all);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lock_is_waited_for_until_it_is_given_back),
        cmocka_unit_test(who_takes_a_lock_freely_still_comes_behind_who_had_it),
        cmocka_unit_test(without_wakers_the_calls_tell_alone),
        cmocka_unit_test(the_kernel_is_believed_where_calls_say_otherwise),
        cmocka_unit_test(an_interrupt_is_no_waker),
        cmocka_unit_test(a_spinning_wait_ends_with_the_lock_too),
        cmocka_unit_test(a_reader_waits_for_the_writer),
        cmocka_unit_test(a_signal_is_followed_by_the_mutex_of_the_wait),
        cmocka_unit_test(a_permit_limits_who_did_not_wait_for_it),
        cmocka_unit_test(a_bounded_queue_links_both_ways),
        cmocka_unit_test(a_barrier_waits_for_each_who_comes),
        cmocka_unit_test(threads_begin_with_their_creation_and_are_joined_at_their_end),
        cmocka_unit_test(who_had_the_core_kept_the_ready_waiting),
        cmocka_unit_test(sleeps_and_disks_have_no_cause),
        cmocka_unit_test(without_times_on_cores_calls_that_may_wait_count_as_waiting),
        cmocka_unit_test(steps_tell_what_is_done_to_locks_and_semaphores),
        cmocka_unit_test(who_joins_a_thread_that_has_ended_depends_on_it),
        cmocka_unit_test(a_link_that_is_missing_is_found_and_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
