/* Workers that wait on semaphores of their own, and who wakes them. */
/* tests/run: beside others */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "modelgen/rewrite/parked_workers.h"
#include "tests/unit/trace_builder.h"

enum { HALL = 0x1000, OWN = 0x2000, ROUNDS = 8, ROUND_NS = 1000 };
enum { MAIN, FIRST, SECOND, DISPATCHER, THIRD };

/* Who wakes the first worker for the piece of work that is kept. */
enum waker { BY_ITSELF, BY_DISPATCHER };

static void call(struct trace *trace, int thread, const char *api, uint64_t start_ns,
                 uint64_t end_ns, uint64_t object, int line) {
    uint32_t context = builder_context(trace, thread == MAIN ? "give" : "take", line, "run", 100);
    builder_call(trace, thread, api, start_ns, end_ns, object, context);
}

static void section(struct trace *trace, int thread, uint64_t start_ns, int woken) {
    call(trace, thread, "pthread_mutex_lock", start_ns, start_ns, HALL, 10);
    if (woken)
        call(trace, thread, "sem_post", start_ns + 1, start_ns + 1, OWN + (uint64_t)woken, 20);
    call(trace, thread, "pthread_mutex_unlock", start_ns + 2, start_ns + 2, HALL, 30);
}

/* In each round main brings three pieces of work: one for each of two workers, and one that is
 * kept, which the first one gets at 300. */
static struct trace *three_pieces(enum waker waker) {
    struct trace *trace = builder_new(2);
    builder_thread(trace, "main", -1);
    builder_thread(trace, "work", MAIN);
    builder_thread(trace, "work", MAIN);
    builder_thread(trace, "dispatch", MAIN);
    uint64_t waiting[] = {0, 1, 1};
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t t = (uint64_t)(round + 1) * ROUND_NS;
        section(trace, MAIN, t + 100, FIRST);
        section(trace, MAIN, t + 110, SECOND);
        section(trace, MAIN, t + 120, 0);
        call(trace, FIRST, "sem_wait", waiting[FIRST], t + 103, OWN + FIRST, 40);
        call(trace, SECOND, "sem_wait", waiting[SECOND], t + 113, OWN + SECOND, 40);
        section(trace, FIRST, t + 300, waker == BY_ITSELF ? FIRST : 0);
        if (waker == BY_DISPATCHER)
            section(trace, DISPATCHER, t + 305, FIRST);
        call(trace, FIRST, "sem_wait", t + 303, t + 308, OWN + FIRST, 40);
        section(trace, SECOND, t + 400, 0);
        section(trace, FIRST, t + 600, 0);
        waiting[FIRST] = t + 603;
        waiting[SECOND] = t + 403;
    }
    builder_finish(trace, (ROUNDS + 2) * ROUND_NS);
    return trace;
}

/* The thread's calls on semaphores that do this, all on the one that stands for all workers'. */
static int count(const struct event_log *log, int thread, enum api_op op) {
    int n = 0;
    const struct trace_thread *is = &log->trace.threads[thread];
    for (size_t r = 0; r < is->n_records; r++) {
        if (api_catalog[is->records[r].api].object != ON_SEMAPHORE)
            continue;
        assert_true(object_origins_get(&log->origins, is->records[r].object) == ORIGIN_PARKING);
        n += trace_op(&is->records[r]) == op;
    }
    return n;
}

static void assert_all_is_brought_by_main(enum waker waker) {
    struct trace *trace = three_pieces(waker);
    struct event_log log = event_log_of(trace);
    parked_workers_as_one(&log);
    assert_int_equal(count(&log, MAIN, OP_RELEASE), 3 * ROUNDS);
    assert_int_equal(count(&log, FIRST, OP_ACQUIRE), 2 * ROUNDS);
    assert_int_equal(count(&log, SECOND, OP_ACQUIRE), ROUNDS);
    assert_int_equal(count(&log, FIRST, OP_RELEASE), 0);
    assert_int_equal(count(&log, DISPATCHER, OP_RELEASE), 0);
    event_log_free(&log);
    trace_free(trace);
}

/* Main fills a slot for each of two workers, of which it is told that it is empty: also while the
 * worker still computes. */
static void what_comes_before_a_worker_waits_is_for_it_alone(void **state) {
    (void)state;
    struct trace *trace = builder_new(2);
    builder_thread(trace, "main", -1);
    builder_thread(trace, "work", MAIN);
    builder_thread(trace, "work", MAIN);
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t t = (uint64_t)(round + 1) * ROUND_NS;
        for (int w = FIRST; w <= SECOND; w++) {
            call(trace, MAIN, "sem_post", t + 10 * (uint64_t)w, t + 10 * (uint64_t)w,
                 OWN + (uint64_t)w, 20);
            call(trace, w, "sem_wait", t + 500, t + 501, OWN + (uint64_t)w, 40);
            builder_slice(trace, w, t, t + 500);
        }
    }
    builder_finish(trace, (ROUNDS + 2) * ROUND_NS);
    struct event_log log = event_log_of(trace);
    parked_workers_as_one(&log);
    for (int thread = MAIN; thread <= SECOND; thread++)
        for (size_t r = 0; r < log.trace.threads[thread].n_records; r++)
            assert_true(
                object_origins_get(&log.origins, log.trace.threads[thread].records[r].object) !=
                ORIGIN_PARKING);
    event_log_free(&log);
    trace_free(trace);
}

static void work_that_a_worker_finds_was_brought_by_who_kept_it(void **state) {
    (void)state;
    assert_all_is_brought_by_main(BY_ITSELF);
}

static void work_that_a_dispatcher_hands_on_was_brought_by_who_kept_it(void **state) {
    (void)state;
    assert_all_is_brought_by_main(BY_DISPATCHER);
}

/* The workers are never parked when it comes: they wake themselves each time. */
static void work_that_is_always_kept_is_brought_all_the_same(void **state) {
    (void)state;
    struct trace *trace = builder_new(2);
    builder_thread(trace, "main", -1);
    builder_thread(trace, "work", MAIN);
    builder_thread(trace, "work", MAIN);
    for (uint64_t t = ROUND_NS; t <= ROUNDS * ROUND_NS; t += ROUND_NS)
        for (int worker = FIRST; worker <= SECOND; worker++) {
            uint64_t late = 100 * (uint64_t)worker;
            section(trace, MAIN, t + late, 0);
            section(trace, worker, t + 300 + late, worker);
            call(trace, worker, "sem_wait", t + 303 + late, t + 304 + late, OWN + (uint64_t)worker,
                 40);
        }
    builder_finish(trace, (ROUNDS + 2) * ROUND_NS);
    struct event_log log = event_log_of(trace);
    parked_workers_as_one(&log);
    assert_int_equal(count(&log, MAIN, OP_RELEASE), 2 * ROUNDS);
    assert_int_equal(count(&log, FIRST, OP_RELEASE), 0);
    event_log_free(&log);
    trace_free(trace);
}

static void assert_stays(const struct trace *trace) {
    struct event_log log = event_log_of(trace);
    parked_workers_as_one(&log);
    for (size_t t = 0; t < trace->n_threads; t++)
        assert_ptr_equal(log.trace.threads[t].records, trace->threads[t].records);
    event_log_free(&log);
}

/* A third worker could have had it, which main wakes late in the last round. */
static void nothing_is_kept_while_a_worker_is_parked(void **state) {
    (void)state;
    struct trace *trace = three_pieces(BY_ITSELF);
    builder_thread(trace, "work", MAIN);
    uint64_t late = ROUNDS * ROUND_NS + 800;
    section(trace, MAIN, late, THIRD);
    call(trace, THIRD, "sem_wait", 0, late + 5, OWN + THIRD, 40);
    builder_finish(trace, (ROUNDS + 2) * ROUND_NS);
    assert_stays(trace);
    trace_free(trace);
}

/* Its work waits in its semaphore: it is for this one alone. */
static void a_worker_that_is_woken_twice_is_not_parked(void **state) {
    (void)state;
    struct trace *trace = three_pieces(BY_ITSELF);
    section(trace, MAIN, ROUNDS * ROUND_NS + 800, SECOND);
    section(trace, MAIN, ROUNDS * ROUND_NS + 810, SECOND);
    assert_stays(trace);
    trace_free(trace);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_comes_before_a_worker_waits_is_for_it_alone),
        cmocka_unit_test(work_that_a_worker_finds_was_brought_by_who_kept_it),
        cmocka_unit_test(work_that_a_dispatcher_hands_on_was_brought_by_who_kept_it),
        cmocka_unit_test(work_that_is_always_kept_is_brought_all_the_same),
        cmocka_unit_test(nothing_is_kept_while_a_worker_is_parked),
        cmocka_unit_test(a_worker_that_is_woken_twice_is_not_parked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
