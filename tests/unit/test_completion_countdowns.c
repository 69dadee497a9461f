/* A semaphore that the last of several workers releases. */
/* tests/run: beside others */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "modelgen/rewrite/completion_countdowns.h"
#include "tests/unit/trace_builder.h"

enum { WORK = 0x1000, COUNT = 0x2000, DONE = 0x3000, ROUNDS = 6, ROUND_NS = 1000 };
enum { MAIN, FIRST, SECOND };

static void call(struct trace *trace, int thread, const char *api, uint64_t start_ns,
                 uint64_t end_ns, uint64_t object, int line) {
    uint32_t context = builder_context(trace, "function", line, "run", 100);
    builder_call(trace, thread, api, start_ns, end_ns, object, context);
}

/* A piece of work from `start_ns` on, counted at its end: under a lock that shows, or not. */
static void do_piece(struct trace *trace, int thread, uint64_t start_ns, uint64_t end_ns,
                     bool lock) {
    call(trace, thread, "sem_wait", start_ns - 5, start_ns, WORK, 10);
    if (lock) {
        call(trace, thread, "pthread_mutex_lock", end_ns, end_ns, COUNT, 20);
        call(trace, thread, "pthread_mutex_unlock", end_ns + 1, end_ns + 1, COUNT, 30);
    }
}

static void wake_by_latch(struct trace *trace, int thread, uint64_t start_ns, uint64_t word,
                          int line) {
    uint32_t context = builder_context(trace, "function", line, "run", 100);
    builder_record(trace, thread, "syscall_futex_wake", start_ns, 1, word, context, INT32_MAX);
}

/* Main waits at a latch: it looks twice, and once more when the round is over already. `anew`: each
 * round has another one. */
static struct trace *rounds_with_latches(bool anew) {
    struct trace *trace = builder_new(2);
    builder_thread(trace, "main", -1);
    builder_thread(trace, "work", MAIN);
    builder_thread(trace, "work", MAIN);
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t t = (uint64_t)(round + 1) * ROUND_NS, latch = DONE + (anew ? 16 * round : 0);
        for (uint64_t piece = 0; piece < 3; piece++)
            call(trace, MAIN, "sem_post", t + piece, t + piece, WORK, 40);
        call(trace, MAIN, "sched_yield", t + 5, t + 6, 0, 49);
        call(trace, MAIN, "syscall_futex_wait", t + 10, t + 100, latch, 50);
        call(trace, MAIN, "syscall_futex_wait", t + 101, t + 325, latch, 50);
        if (round == 2 && !anew) {
            call(trace, MAIN, "syscall_futex_wait", t + 326, t + 327, latch, 50);
            trace->threads[MAIN].records[trace->threads[MAIN].n_records - 1].flags |= TRACE_FAILED;
        }
        do_piece(trace, FIRST, t + 10, t + 100, true);
        do_piece(trace, SECOND, t + 11, t + 200, true);
        do_piece(trace, FIRST, t + 230, t + 300, true);
        wake_by_latch(trace, FIRST, t + 320, latch, 60);
    }
    builder_finish(trace, (ROUNDS + 2) * ROUND_NS);
    return trace;
}

/* In each round main hands out three pieces and waits until the first worker, which does two of
 * them, has done the last one. In the round `odd` it says so before its second. */
static struct trace *three_pieces(bool lock, int odd) {
    struct trace *trace = builder_new(2);
    builder_thread(trace, "main", -1);
    builder_thread(trace, "work", MAIN);
    builder_thread(trace, "work", MAIN);
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t t = (uint64_t)(round + 1) * ROUND_NS, end = round == odd ? 220 : 320;
        for (uint64_t piece = 0; piece < 3; piece++)
            call(trace, MAIN, "sem_post", t + piece, t + piece, WORK, 40);
        call(trace, MAIN, "sem_wait", t + 10, t + end + 5, DONE, 50);
        do_piece(trace, FIRST, t + 10, t + 100, lock);
        do_piece(trace, SECOND, t + 11, t + 200, lock);
        if (round == odd)
            call(trace, FIRST, "sem_post", t + 220, t + 220, DONE, 60);
        do_piece(trace, FIRST, t + 230, t + 300, lock);
        if (round != odd)
            call(trace, FIRST, "sem_post", t + 320, t + 320, DONE, 60);
    }
    builder_finish(trace, (ROUNDS + 2) * ROUND_NS);
    return trace;
}

struct seen {
    int handed_out, done, waits, releases; /* the last: of the semaphore as it was */
};

static struct seen count(const struct event_log *log, size_t thread) {
    struct seen seen = {0};
    const struct trace_thread *is = &log->trace.threads[thread];
    for (size_t r = 0; r < is->n_records; r++) {
        const struct trace_record *record = &is->records[r];
        bool releases = trace_op(record) == OP_RELEASE;
        seen.releases += releases && record->object == DONE;
        if (object_origins_get(&log->origins, record->object) != ORIGIN_COUNTDOWN)
            continue;
        seen.handed_out += releases && record->value == -1;
        seen.done += releases && record->value == 0;
        seen.waits += trace_op(record) == OP_ACQUIRE && record->value == 1;
    }
    return seen;
}

static void assert_is_completion_in(struct trace *trace) {
    struct event_log log = event_log_of(trace);
    completion_countdowns_as_semaphores(&log);
    struct seen main_thread = count(&log, MAIN);
    struct seen first = count(&log, FIRST), second = count(&log, SECOND);
    assert_int_equal(main_thread.handed_out, 3 * ROUNDS);
    assert_int_equal(main_thread.waits, ROUNDS);
    assert_int_equal(first.done, 2 * ROUNDS);
    assert_int_equal(second.done, ROUNDS);
    assert_int_equal(first.releases, 0);
    event_log_free(&log);
    trace_free(trace);
}

static void assert_is_completion(bool lock) {
    assert_is_completion_in(three_pieces(lock, -1));
}

/* Of a std::latch only the last one to count down calls, and it may be made anew for each round. */
static void latches_are_open_when_all_pieces_are_done(void **state) {
    (void)state;
    for (int anew = 0; anew < 2; anew++)
        assert_is_completion_in(rounds_with_latches(anew));
}

static void pieces_counted_under_a_lock_are_outstanding_until_then(void **state) {
    (void)state;
    assert_is_completion(true);
}

static void pieces_whose_count_does_not_show_are_outstanding_until_the_next(void **state) {
    (void)state;
    assert_is_completion(false);
}

/* A piece that is taken is done when the thread takes the next one, or says that all is done. */
static void work_is_done_before_it_counts(void **state) {
    (void)state;
    struct trace *trace = three_pieces(false, -1);
    struct event_log log = event_log_of(trace);
    completion_countdowns_as_semaphores(&log);
    const struct trace_record *records = log.trace.threads[FIRST].records;
    assert_int_equal(records[0].object, WORK);
    assert_true(object_origins_get(&log.origins, records[1].object) == ORIGIN_COUNTDOWN);
    assert_int_equal(records[1].start_ns, ROUND_NS + 225); /* where it asks for the next */
    event_log_free(&log);
    trace_free(trace);
}

static void one_round_that_ends_too_early_is_no_countdown(void **state) {
    (void)state;
    struct trace *trace = three_pieces(true, 2);
    struct event_log log = event_log_of(trace);
    completion_countdowns_as_semaphores(&log);
    struct seen main_thread = count(&log, MAIN), first = count(&log, FIRST);
    assert_int_equal(main_thread.handed_out + main_thread.waits, 0);
    assert_int_equal(first.releases, ROUNDS);
    event_log_free(&log);
    trace_free(trace);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_counted_under_a_lock_are_outstanding_until_then),
        cmocka_unit_test(latches_are_open_when_all_pieces_are_done),
        cmocka_unit_test(pieces_whose_count_does_not_show_are_outstanding_until_the_next),
        cmocka_unit_test(work_is_done_before_it_counts),
        cmocka_unit_test(one_round_that_ends_too_early_is_no_countdown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
