/* Waits in vain that the caller repeats. */
/* tests/run: beside others */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "modelgen/rewrite/repeated_waits.h"
#include "tests/unit/shown_calls.h"
#include "tests/unit/trace_builder.h"

enum { MUTEX = 0x1000, CONDITION = 0x2000 };
enum { POP, FOUND, INTERRUPTED, WORK }; /* places */

struct queue_user {
    struct trace *trace;
    int worker;
    uint64_t now;
    uint32_t place[4];
};

static struct queue_user begin(void) {
    struct queue_user user = {.trace = builder_new(4)};
    user.worker = builder_thread(user.trace, "work", -1);
    for (int p = 0; p < 4; p++)
        user.place[p] = builder_context(user.trace, "pop", 10 + p, "work", 1);
    return user;
}

static void call(struct queue_user *user, const char *api, uint64_t took_ns, uint64_t object,
                 int place) {
    builder_call(user->trace, user->worker, api, user->now, user->now + took_ns, object,
                 user->place[place]);
    user->now += took_ns + 10;
}

static void pop(struct queue_user *user, bool waits, int leaves_by) {
    call(user, "pthread_mutex_lock", 0, MUTEX, POP);
    if (waits)
        call(user, "pthread_cond_wait", 5000, CONDITION, POP);
    call(user, "pthread_mutex_unlock", 0, MUTEX, leaves_by);
}

static void work(struct queue_user *user) {
    call(user, "read", 100, 7, WORK);
}

/* Two that find something, and in between one that is woken in vain and comes again. */
static struct queue_user one_in_vain(void) {
    struct queue_user user = begin();
    pop(&user, false, FOUND);
    work(&user);
    pop(&user, true, INTERRUPTED);
    pop(&user, true, FOUND);
    work(&user);
    return user;
}

static size_t shown(struct queue_user *user, struct event_log *log) {
    *log = event_log_of(user->trace);
    repeated_waits_as_one(log);
    return log->trace.threads[user->worker].n_records;
}

static void end(struct queue_user *user, struct event_log *log) {
    event_log_free(log);
    trace_free(user->trace);
}

static void who_comes_again_at_once_has_waited_on(void **state) {
    (void)state;
    struct queue_user user = one_in_vain();
    struct event_log log;
    assert_int_equal(shown(&user, &log), user.trace->threads[user.worker].n_records - 2);
    const struct trace_record *records = log.trace.threads[user.worker].records;
    assert_int_equal(trace_op(&records[3]), OP_LOCK);
    assert_int_equal(trace_op(&records[4]), OP_WAIT);
    assert_int_equal(trace_op(&records[5]), OP_WAIT);
    assert_int_equal(trace_op(&records[6]), OP_UNLOCK);
    end(&user, &log);
}

static void who_is_woken_to_end_has_not(void **state) {
    (void)state;
    struct queue_user user = one_in_vain();
    pop(&user, true, INTERRUPTED);
    struct event_log log;
    assert_int_equal(shown(&user, &log), user.trace->threads[user.worker].n_records - 2);
    end(&user, &log);
}

/* Work without calls looks like coming again: then the place that unlocks tells nothing. */
static void work_without_calls_is_work(void **state) {
    (void)state;
    struct queue_user user = begin();
    pop(&user, true, FOUND);
    pop(&user, true, FOUND);
    pop(&user, false, FOUND);
    work(&user);
    struct event_log log;
    assert_int_equal(shown(&user, &log), user.trace->threads[user.worker].n_records);
    end(&user, &log);
}

static void a_place_that_some_come_to_without_a_wait_is_no_interruption(void **state) {
    (void)state;
    struct queue_user user = one_in_vain();
    pop(&user, false, INTERRUPTED);
    pop(&user, false, FOUND);
    struct event_log log;
    assert_int_equal(shown(&user, &log), user.trace->threads[user.worker].n_records);
    end(&user, &log);
}

static void a_place_behind_which_some_go_on_is_no_interruption(void **state) {
    (void)state;
    struct queue_user user = one_in_vain();
    pop(&user, true, INTERRUPTED);
    work(&user);
    pop(&user, true, FOUND);
    struct event_log log;
    assert_int_equal(shown(&user, &log), user.trace->threads[user.worker].n_records);
    end(&user, &log);
}

/* What was found is worked on without a call. */
static void who_computes_in_between_has_found_something(void **state) {
    (void)state;
    struct queue_user user = begin();
    pop(&user, false, FOUND);
    work(&user);
    pop(&user, true, INTERRUPTED);
    user.now += 1000;
    pop(&user, true, FOUND);
    work(&user);
    struct event_log log;
    assert_int_equal(shown(&user, &log), user.trace->threads[user.worker].n_records);
    end(&user, &log);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_comes_again_at_once_has_waited_on),
        cmocka_unit_test(who_is_woken_to_end_has_not),
        cmocka_unit_test(work_without_calls_is_work),
        cmocka_unit_test(a_place_that_some_come_to_without_a_wait_is_no_interruption),
        cmocka_unit_test(who_computes_in_between_has_found_something),
        cmocka_unit_test(a_place_behind_which_some_go_on_is_no_interruption),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
