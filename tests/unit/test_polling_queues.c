/* Queues of the program's own, of which attempts that never wait are repeated. */
/* tests/run: beside others */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "modelgen/lower/polling_queues.h"
#include "tests/unit/trace_builder.h"

enum { MAIN, WORKER, QUEUE = 0x1000, OBJECT = 0 };

static void call(struct trace *trace, int thread, const char *api, uint64_t at_ns, bool fails) {
    builder_call(trace, thread, api, at_ns, at_ns, QUEUE, TRACE_NO_CONTEXT)->flags |=
        fails ? TRACE_FAILED : 0;
}

struct found {
    struct trace *trace;
    struct sections sections;
    struct polling_queues queues;
};

static struct found find(struct trace *trace) {
    builder_finish(trace, 10000);
    struct found found = {.trace = trace, .sections = sections_find(trace, builder_no_pools)};
    found.queues = polling_queues_find(trace, &found.sections, builder_no_pools, -1);
    return found;
}

static void end(struct found *found) {
    polling_queues_free(&found->queues);
    sections_free(&found->sections, found->trace);
    trace_free(found->trace);
}

/* The worker looks three times before there is something, and rests in between or not. */
static struct trace *attempts(bool rests) {
    struct trace *trace = builder_new_with_workers(1);
    call(trace, MAIN, "user:put", 350, false);
    for (uint64_t at = 100; at <= 400; at += 100) {
        call(trace, WORKER, "user:tryget", at, at < 400);
        if (rests && at < 400)
            builder_call(trace, WORKER, "nanosleep", at + 10, at + 90, 0, TRACE_NO_CONTEXT);
    }
    return trace;
}

static void repeated_attempts_are_one_wait(void **state) {
    (void)state;
    struct found found = find(attempts(false));
    for (size_t r = 0; r < 4; r++) {
        const struct poll *poll = polling_queues_poll(&found.queues, WORKER, r);
        assert_non_null(poll);
        assert_int_equal(poll->start_ns, 100);
        assert_true(poll->goes_on == (r < 3));
    }
    assert_null(polling_queues_poll(&found.queues, MAIN, 0));
    assert_true(found.queues.queues[OBJECT].spins);
    assert_true(found.queues.queues[OBJECT].gets == 1 && found.queues.queues[OBJECT].failures == 3);
    end(&found);
}

static void who_rests_in_between_burns_nothing(void **state) {
    (void)state;
    struct found found = find(attempts(true));
    assert_false(found.queues.queues[OBJECT].spins);
    assert_true(polling_queues_poll(&found.queues, WORKER, 0)->goes_on);
    end(&found);
}

static void an_attempt_that_nobody_repeats_is_no_wait(void **state) {
    (void)state;
    struct trace *trace = builder_new_with_workers(1);
    call(trace, WORKER, "user:tryget", 50, true);
    call(trace, WORKER, "pthread_mutex_lock", 60, false);
    call(trace, MAIN, "user:put", 70, false);
    call(trace, WORKER, "user:tryget", 80, false);
    struct found found = find(trace);
    assert_null(polling_queues_poll(&found.queues, WORKER, 0));
    assert_null(polling_queues_poll(&found.queues, WORKER, 2));
    end(&found);
}

/* More is taken than was put: it was there before. Where a put fails, there is no room for more. */
static void levels_tell_what_was_there_and_the_room(void **state) {
    (void)state;
    struct trace *trace = builder_new_with_workers(1);
    call(trace, WORKER, "user:tryget", 10, false);
    call(trace, WORKER, "user:tryget", 20, false);
    for (uint64_t i = 0; i < 3; i++)
        call(trace, MAIN, "user:tryput", 100 + i, false);
    call(trace, MAIN, "user:tryput", 110, true);
    struct found found = find(trace);
    const struct polling_queue *queue = &found.queues.queues[OBJECT];
    assert_true(queue->initial == 2 && queue->most == 3 && queue->capacity == 3);
    assert_int_equal(found.queues.closed.count, 0);
    end(&found);
}

/* A worker that polls in the end in vain must be told that there is no more: by who put last. */
static void who_puts_last_closes_what_takers_give_up(void **state) {
    (void)state;
    struct trace *trace = attempts(false);
    call(trace, WORKER, "user:tryget", 500, true);
    call(trace, WORKER, "user:tryget", 600, true);
    struct found found = find(trace);
    assert_int_equal(found.queues.closed.count, 1);
    assert_int_equal(found.queues.queues[OBJECT].closer_thread, MAIN);
    assert_int_equal(found.queues.queues[OBJECT].closer_record, 0);
    end(&found);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(repeated_attempts_are_one_wait),
        cmocka_unit_test(who_rests_in_between_burns_nothing),
        cmocka_unit_test(an_attempt_that_nobody_repeats_is_no_wait),
        cmocka_unit_test(levels_tell_what_was_there_and_the_room),
        cmocka_unit_test(who_puts_last_closes_what_takers_give_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
