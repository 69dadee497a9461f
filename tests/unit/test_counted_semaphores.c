/* Semaphores with their count in an atomic variable. */
/* tests/run: beside others */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "modelgen/rewrite/counted_semaphores.h"
#include "tests/unit/shown_calls.h"
#include "tests/unit/trace_builder.h"

enum { MUTEX = 0x1000, CONDITION = 0x2000, ROUNDS = 40, EACH_NS = 1000 };

struct pair {
    struct trace *trace;
    int taker, giver;
    uint32_t take, give, behind_take, behind_give; /* places */
};

static struct pair begin(void) {
    struct pair pair = {.trace = builder_new(4)};
    pair.taker = builder_thread(pair.trace, "listen", -1);
    pair.giver = builder_thread(pair.trace, "work", 0);
    pair.take = builder_context(pair.trace, "take", 1, "listen", 1);
    pair.give = builder_context(pair.trace, "give", 2, "work", 1);
    pair.behind_take = builder_context(pair.trace, "accept", 3, "listen", 2);
    pair.behind_give = builder_context(pair.trace, "pop", 4, "work", 2);
    return pair;
}

static void taken(struct pair *pair, uint64_t at_ns) {
    builder_call(pair->trace, pair->taker, "fsync", at_ns, at_ns + 5, 3, pair->behind_take);
}

static void given(struct pair *pair, uint64_t at_ns) {
    builder_call(pair->trace, pair->giver, "read", at_ns, at_ns + 5, 4, pair->behind_give);
}

/* The taker comes first and waits; the giver wakes it. */
static void meet_in_the_mutex(struct pair *pair, uint64_t at_ns) {
    struct trace *trace = pair->trace;
    builder_call(trace, pair->taker, "pthread_mutex_lock", at_ns, at_ns, MUTEX, pair->take);
    builder_call(trace, pair->taker, "pthread_cond_wait", at_ns + 1, at_ns + 500, CONDITION,
                 pair->take);
    builder_call(trace, pair->taker, "pthread_mutex_unlock", at_ns + 501, at_ns + 501, MUTEX,
                 pair->take);
    builder_call(trace, pair->giver, "pthread_mutex_lock", at_ns + 480, at_ns + 480, MUTEX,
                 pair->give);
    builder_call(trace, pair->giver, "pthread_cond_signal", at_ns + 481, at_ns + 481, CONDITION,
                 pair->give);
    builder_call(trace, pair->giver, "pthread_mutex_unlock", at_ns + 482, at_ns + 482, MUTEX,
                 pair->give);
    taken(pair, at_ns + 510);
    given(pair, at_ns + 490);
}

/* Nobody waits: all happens in the count. */
static void pass_by(struct pair *pair, uint64_t at_ns) {
    given(pair, at_ns + 100);
    taken(pair, at_ns + 200);
}

/* Every other time nobody waits. */
static struct pair semaphore(void) {
    struct pair pair = begin();
    for (uint64_t i = 0; i < ROUNDS; i += 2) {
        pass_by(&pair, i * EACH_NS);
        meet_in_the_mutex(&pair, (i + 1) * EACH_NS);
    }
    builder_finish(pair.trace, ROUNDS * EACH_NS);
    return pair;
}

static struct event_log shown(const struct pair *pair) {
    struct event_log log = event_log_of(pair->trace);
    counted_semaphores_as_semaphores(&log);
    return log;
}

static void end(struct pair *pair, struct event_log *log) {
    event_log_free(log);
    trace_free(pair->trace);
}

static void what_was_done_to_the_count_alone_is_shown(void **state) {
    (void)state;
    struct pair pair = semaphore();
    struct event_log log = shown(&pair);
    assert_int_equal(count_shown(&log, pair.taker, ROLE_acquire), ROUNDS);
    assert_int_equal(count_shown(&log, pair.giver, ROLE_release), ROUNDS);
    assert_int_equal(count_shown(&log, pair.taker, API_pthread_mutex_lock), 0);
    assert_int_equal(count_shown(&log, pair.giver, API_pthread_cond_signal), 0);
    assert_int_equal(count_shown(&log, pair.taker, API_fsync), ROUNDS);
    end(&pair, &log);
}

/* It stands in front of the call that it was seen by, the thread's first one too. */
static void it_stands_before_the_call_that_follows(void **state) {
    (void)state;
    struct pair pair = semaphore();
    struct event_log log = shown(&pair);
    assert_int_equal(shown_call(&log, pair.taker, 0)->api, ROLE_acquire);
    assert_int_equal(shown_call(&log, pair.taker, 1)->api, API_fsync);
    assert_int_equal(shown_call(&log, pair.giver, 0)->api, ROLE_release);
    const struct trace_record *waited = shown_call(&log, pair.taker, 2);
    assert_int_equal(waited->api, ROLE_acquire);
    assert_true(waited->flags & TRACE_WAITED);
    assert_int_equal(trace_end_ns(waited) - waited->start_ns, 499);
    assert_int_equal(shown_call(&log, pair.taker, 3)->api, API_fsync);
    end(&pair, &log);
}

static void without_a_way_past_the_mutex_it_is_left_alone(void **state) {
    (void)state;
    struct pair pair = begin();
    for (uint64_t i = 0; i < ROUNDS; i++)
        meet_in_the_mutex(&pair, i * EACH_NS);
    builder_finish(pair.trace, ROUNDS * EACH_NS);
    struct event_log log = shown(&pair);
    assert_shown_as_recorded(&log, pair.trace);
    end(&pair, &log);
}

/* Who passes by finds nothing there by the count: it is something else that lets it pass. */
static void a_count_that_contradicts_the_waits_is_not_believed(void **state) {
    (void)state;
    struct pair pair = begin();
    for (uint64_t i = 0; i < ROUNDS; i += 2) {
        taken(&pair, i * EACH_NS);
        meet_in_the_mutex(&pair, (i + 1) * EACH_NS);
    }
    builder_finish(pair.trace, ROUNDS * EACH_NS);
    struct event_log log = shown(&pair);
    assert_shown_as_recorded(&log, pair.trace);
    end(&pair, &log);
}

/* A counter under the mutex: who finds something there does not wait. */
static void a_place_where_some_do_not_wait_is_no_such_semaphore(void **state) {
    (void)state;
    struct pair pair = semaphore();
    for (uint64_t i = ROUNDS; i < ROUNDS + 2; i++) {
        builder_call(pair.trace, pair.taker, "pthread_mutex_lock", i * EACH_NS, i * EACH_NS, MUTEX,
                     pair.take);
        builder_call(pair.trace, pair.taker, "pthread_mutex_unlock", i * EACH_NS + 1,
                     i * EACH_NS + 1, MUTEX, pair.take);
        taken(&pair, i * EACH_NS + 10);
    }
    builder_finish(pair.trace, (ROUNDS + 2) * EACH_NS);
    struct event_log log = shown(&pair);
    assert_shown_as_recorded(&log, pair.trace);
    end(&pair, &log);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_done_to_the_count_alone_is_shown),
        cmocka_unit_test(it_stands_before_the_call_that_follows),
        cmocka_unit_test(without_a_way_past_the_mutex_it_is_left_alone),
        cmocka_unit_test(a_count_that_contradicts_the_waits_is_not_believed),
        cmocka_unit_test(a_place_where_some_do_not_wait_is_no_such_semaphore),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
