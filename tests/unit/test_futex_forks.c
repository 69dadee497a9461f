/* Fork and join by futexes, and what is none. */
/* tests/run: beside others */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "modelgen/rewrite/futex_forks.h"
#include "modelgen/rewrite/futex_words.h"
#include "tests/unit/shown_calls.h"
#include "tests/unit/trace_builder.h"

enum { WORK = 0x1000, DONE = 0x2000, MAIN = 0, A = 1, B = 2, WORKERS = 2, ALL = INT32_MAX };
enum { ROUNDS = 20, ROUND_NS = 1000000, WORK_NS = 600000, WAKE_NS = 5000 };

static uint32_t in_main(struct trace *trace, int line) {
    return builder_context(trace, "step", line, "main", 100);
}

static uint32_t in_worker(struct trace *trace, int line) {
    return builder_context(trace, "wait_for_work", line, "worker", 200);
}

static uint64_t begin_of(uint64_t round) {
    return (round + 1) * ROUND_NS;
}

/* What of the calls of a round is left out, or else. */
struct lack {
    bool join, visit;
    bool divided; /* the creator makes another call in the midst of its wait */
    bool anew;    /* words are others in each round */
    bool open;    /* no worker has to wait for the round's begin */
};

static uint64_t word_of(uint64_t word, uint64_t round, struct lack lack) {
    return word + (lack.anew ? 16 * round : 0);
}

/* The creator wakes both workers, and waits until the second one of them is done; then it prepares
 * the next round. The workers wait for that. */
static void add_round(struct trace *trace, uint64_t round, struct lack lack) {
    uint64_t begin = begin_of(round), end = begin + WORK_NS;
    if (round == 0)
        for (int thread = A; thread <= B; thread++)
            builder_call(trace, thread, "syscall_futex_wait", begin - 1000, begin + WAKE_NS, WORK,
                         in_worker(trace, 10));
    builder_record(trace, MAIN, "syscall_futex_wake", begin, WAKE_NS, word_of(WORK, round, lack),
                   in_main(trace, 20), ALL);
    if (!lack.join) {
        builder_call(trace, MAIN, "sched_yield", begin + 6000, begin + 7000, 0, in_main(trace, 29));
        if (lack.divided)
            builder_call(trace, MAIN, "read", begin + 7200, begin + 7800, 3, in_main(trace, 31));
        builder_call(trace, MAIN, "syscall_futex_wait", begin + 8000, end + WAKE_NS,
                     word_of(DONE, round, lack), in_main(trace, 30));
    }
    int last = round % 2 ? A : B;
    builder_record(trace, last, "syscall_futex_wake", end, WAKE_NS, word_of(DONE, round, lack),
                   in_worker(trace, 40), lack.anew ? ALL : 1);
    for (int thread = A; thread <= B; thread++)
        if (!lack.open && (!lack.visit || thread == last))
            builder_call(trace, thread, "syscall_futex_wait",
                         end - (thread != last ? 90000 : 0) + 6000, begin_of(round + 1) + WAKE_NS,
                         word_of(WORK, round + 1, lack), in_worker(trace, 10));
}

/* The creator wakes both workers once more, on this line, and the run ends. */
static void wake_last(struct trace *trace, uint64_t word, int line) {
    builder_record(trace, MAIN, "syscall_futex_wake", begin_of(ROUNDS), WAKE_NS, word,
                   in_main(trace, line), ALL);
    builder_finish(trace, begin_of(ROUNDS + 1));
}

static struct event_log with_barriers(const struct trace *trace) {
    struct event_log log = event_log_of(trace);
    futex_forks_as_barriers(&log);
    return log;
}

static void end(struct event_log *log, struct trace *trace) {
    event_log_free(log);
    trace_free(trace);
}

static struct trace *rounds_of_work(int without_join, int without_visit) {
    struct trace *trace = builder_new_with_workers(WORKERS);
    for (int round = 0; round < ROUNDS; round++)
        add_round(trace, (uint64_t)round,
                  (struct lack){.join = round == without_join, .visit = round == without_visit});
    wake_last(trace, WORK, 50);
    return trace;
}

static size_t at_barrier(const struct event_log *log, int thread, uint64_t barrier) {
    size_t n = 0;
    for (size_t r = 0; r < log->trace.threads[thread].n_records; r++) {
        const struct trace_record *call = shown_call(log, thread, r);
        n += call->api == ROLE_barrier && call->object == barrier;
    }
    return n;
}

/* All come to the begin of the work once more often than to its end. */
static void assert_forks(const struct event_log *log) {
    uint64_t begin = shown_call(log, MAIN, 0)->object, end = shown_call(log, MAIN, 1)->object;
    assert_int_not_equal(begin, end);
    for (int thread = MAIN; thread <= B; thread++) {
        assert_int_equal(count_shown(log, thread, ROLE_barrier), 2 * ROUNDS + 1);
        assert_int_equal(at_barrier(log, thread, begin), ROUNDS + 1);
        assert_int_equal(at_barrier(log, thread, end), ROUNDS);
        assert_int_equal(count_shown(log, thread, API_syscall_futex_wait), 0);
    }
}

static void who_wakes_all_and_waits_for_them_forks_and_joins(void **state) {
    (void)state;
    struct trace *trace = rounds_of_work(-1, -1);
    struct event_log log = with_barriers(trace);
    assert_forks(&log);
    const struct trace_record *joins = shown_call(&log, MAIN, 1),
                              *begins = shown_call(&log, MAIN, 2);
    assert_int_equal(joins->value, WORKERS + 1);
    assert_int_equal(joins->context, in_main(trace, 30));
    assert_int_equal(joins->start_ns, begin_of(0) + 6000); /* from its yield on */
    assert_int_equal(trace_end_ns(joins), begin_of(0) + WORK_NS + WAKE_NS);
    assert_int_equal(begins->start_ns, begin_of(1));
    /* a worker's wait is one for the end of all work, then one for the next: it was the first */
    size_t first = 1; /* behind its first begin */
    const struct trace_record *ends = shown_call(&log, A, first);
    assert_int_equal(ends->api, ROLE_barrier);
    assert_int_equal(ends->object, joins->object);
    assert_int_equal(trace_end_ns(ends), trace_end_ns(joins));
    assert_int_equal(shown_call(&log, A, first + 1)->start_ns, trace_end_ns(ends));
    end(&log, trace);
}

static void a_round_without_a_wait_is_one_nevertheless(void **state) {
    (void)state;
    struct trace *trace = rounds_of_work(6, 12);
    struct event_log log = with_barriers(trace);
    assert_forks(&log);
    /* the creator prepares the next round behind its wait, which would have been at once */
    const struct trace_record *joins = shown_call(&log, MAIN, 2 * 6 + 1);
    assert_int_equal(joins->start_ns, begin_of(6) + WAKE_NS);
    assert_int_equal(joins->duration_ns, 0);
    assert_int_equal(joins->context, in_main(trace, 30));
    end(&log, trace);
}

static void assert_stays(struct trace *trace) {
    builder_finish(trace, begin_of(ROUNDS + 1));
    struct event_log log = with_barriers(trace);
    assert_shown_as_recorded(&log, trace);
    end(&log, trace);
}

/* Latches, of which each is opened once. One of them is open before anybody comes to it. */
static void words_that_are_others_in_each_round_are_one(void **state) {
    (void)state;
    struct trace *trace = builder_new_with_workers(WORKERS);
    struct lack lack = {.anew = true};
    for (uint64_t round = 0; round < ROUNDS; round++) {
        lack.open = round == 7;
        add_round(trace, round, lack);
    }
    wake_last(trace, word_of(WORK, ROUNDS, lack), 20);
    struct event_log log = with_barriers(trace);
    assert_forks(&log);
    end(&log, trace);
}

/* Who waits for another one's word each time does not wait for a round of all. */
static void words_of_one_place_that_each_waits_for_alone_are_no_rounds(void **state) {
    (void)state;
    struct trace *trace = builder_new_with_workers(WORKERS);
    for (uint64_t round = 0; round < ROUNDS; round++) {
        uint64_t own = WORK + 16 * round;
        builder_call(trace, round % 2 ? A : B, "syscall_futex_wait", begin_of(round) - 1000,
                     begin_of(round) + WAKE_NS, own, in_worker(trace, 10));
        builder_record(trace, MAIN, "syscall_futex_wake", begin_of(round), WAKE_NS, own,
                       in_main(trace, 20), ALL);
    }
    assert_stays(trace);
}

static void a_wait_with_another_call_in_its_midst_leaves_that_call(void **state) {
    (void)state;
    struct trace *trace = builder_new_with_workers(WORKERS);
    for (uint64_t round = 0; round < ROUNDS; round++)
        add_round(trace, round, (struct lack){.divided = round == 6});
    wake_last(trace, WORK, 50);
    struct event_log log = with_barriers(trace);
    assert_int_equal(count_shown(&log, MAIN, ROLE_barrier), 2 * ROUNDS + 1);
    assert_int_equal(count_shown(&log, MAIN, API_read), 1);
    end(&log, trace);
}

/* It found all others back in every third round. */
static void who_need_not_wait_has_joined_the_others(void **state) {
    (void)state;
    struct trace *trace = builder_new_with_workers(WORKERS);
    for (uint64_t round = 0; round < ROUNDS; round++)
        add_round(trace, round, (struct lack){.join = round % 3 == 1});
    wake_last(trace, WORK, 50);
    struct event_log log = with_barriers(trace);
    assert_forks(&log);
    end(&log, trace);
}

/* The first word to begin was given before anybody waited for it, or they tell that they are ready.
 */
static void a_first_wait_without_a_wake_before_ends_work_too(void **state) {
    (void)state;
    struct trace *trace = builder_new_with_workers(WORKERS);
    builder_call(trace, MAIN, "syscall_futex_wait", 100, begin_of(0) - 2000, DONE,
                 in_main(trace, 30));
    for (uint64_t round = 0; round < ROUNDS; round++)
        add_round(trace, round, (struct lack){0});
    wake_last(trace, WORK, 50);
    struct event_log log = with_barriers(trace);
    for (int thread = MAIN; thread <= B; thread++)
        assert_int_equal(count_shown(&log, thread, ROLE_barrier), 2 * (ROUNDS + 1));
    end(&log, trace);
}

/* It may be a clock that ticks. */
static void who_does_not_wait_for_the_others_does_not_join_them(void **state) {
    (void)state;
    struct trace *trace = builder_new_with_workers(WORKERS);
    for (uint64_t round = 0; round < ROUNDS; round++)
        add_round(trace, round, (struct lack){.join = true});
    assert_stays(trace);
}

static void who_misses_rounds_is_no_worker(void **state) {
    (void)state;
    struct trace *trace = builder_new_with_workers(WORKERS);
    for (uint64_t round = 0; round < ROUNDS; round++)
        add_round(trace, round, (struct lack){.visit = round % 3 == 0});
    assert_stays(trace);
}

static void threads_that_wake_each_other_in_turn_do_not_fork(void **state) {
    (void)state;
    struct trace *trace = builder_new_with_workers(WORKERS);
    for (uint64_t round = 0; round < ROUNDS; round++) {
        int first = round % 2 ? A : B, last = round % 2 ? B : A;
        builder_call(trace, first, "syscall_futex_wait", begin_of(round) - 1000,
                     begin_of(round) + WAKE_NS, WORK, in_worker(trace, 10));
        builder_record(trace, last, "syscall_futex_wake", begin_of(round), WAKE_NS, WORK,
                       in_worker(trace, 20), ALL);
    }
    assert_stays(trace);
}

/* A worker that begins behind the first wake, or ends before the last one. */
static void whoever_makes_no_call_comes_past_while_it_lives(void **state) {
    (void)state;
    const struct trace_thread thread = {.start_ns = 10, .end_ns = 20};
    assert_int_equal(futex_passes_ns(&thread, 5), 10);
    assert_int_equal(futex_passes_ns(&thread, 15), 15);
    assert_int_equal(futex_passes_ns(&thread, 25), 20);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_wakes_all_and_waits_for_them_forks_and_joins),
        cmocka_unit_test(a_round_without_a_wait_is_one_nevertheless),
        cmocka_unit_test(whoever_makes_no_call_comes_past_while_it_lives),
        cmocka_unit_test(words_that_are_others_in_each_round_are_one),
        cmocka_unit_test(words_of_one_place_that_each_waits_for_alone_are_no_rounds),
        cmocka_unit_test(a_wait_with_another_call_in_its_midst_leaves_that_call),
        cmocka_unit_test(who_need_not_wait_has_joined_the_others),
        cmocka_unit_test(a_first_wait_without_a_wake_before_ends_work_too),
        cmocka_unit_test(who_does_not_wait_for_the_others_does_not_join_them),
        cmocka_unit_test(who_misses_rounds_is_no_worker),
        cmocka_unit_test(threads_that_wake_each_other_in_turn_do_not_fork),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
