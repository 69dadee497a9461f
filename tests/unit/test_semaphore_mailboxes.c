/* Mailboxes for commands, made of semaphores. */
/* tests/run: beside others */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "modelgen/rewrite/semaphore_mailboxes.h"
#include "tests/unit/shown_calls.h"
#include "tests/unit/trace_builder.h"

/* The creator's calls in lines below 30, the workers' from there on. */
enum { MAIN, FIRST, SECOND, WORKERS = 2, ROUNDS = 6, ROUND_NS = 1000 };
enum { COMMAND = 0x1000, DONE = 0x2000 };

/* Each worker has a semaphore of its own. */
static uint64_t command_of(int worker) {
    return COMMAND + 0x20 * (uint64_t)worker;
}

static void call(struct trace *trace, int thread, const char *api, uint64_t start_ns,
                 uint64_t end_ns, uint64_t object, int line) {
    builder_call(trace, thread, api, start_ns, end_ns, object,
                 builder_context(trace, thread == MAIN ? "launch" : "serve", line, "run", 100));
}

static void give(struct trace *trace, int worker, uint64_t at_ns) {
    call(trace, MAIN, "sem_post", at_ns, at_ns, command_of(worker), 10);
}

static void obey(struct trace *trace, int worker, uint64_t from_ns, uint64_t given_ns,
                 uint64_t done_ns) {
    call(trace, worker, "sem_wait", from_ns, given_ns, command_of(worker), 30);
    call(trace, worker, "sem_post", done_ns, done_ns, DONE, 40);
}

static void collect(struct trace *trace, uint64_t from_ns, uint64_t until_ns) {
    call(trace, MAIN, "sem_wait", from_ns, until_ns, DONE, 20);
}

/* In each round main gives so many workers a command each, and waits until all have reported. */
static struct trace *rounds_of_commands(int workers, uint64_t rounds) {
    struct trace *trace = builder_new_with_workers(workers);
    uint64_t idle_ns[WORKERS + 1] = {0, 10, 10};
    for (uint64_t round = 1; round <= rounds; round++) {
        uint64_t at = round * ROUND_NS;
        for (int w = FIRST; w <= workers; w++) {
            uint64_t given = at + 10 * (uint64_t)w, done = at + 300 + 100 * (uint64_t)w;
            give(trace, w, given);
            obey(trace, w, idle_ns[w], given + 2, done);
            idle_ns[w] = done + 1;
        }
        for (int w = FIRST; w <= workers; w++)
            collect(trace, at + 100 + 100 * (uint64_t)w + (w > FIRST ? 205 : 0),
                    at + 305 + 100 * (uint64_t)w);
    }
    builder_finish(trace, (rounds + 2) * ROUND_NS);
    return trace;
}

static struct event_log shown(const struct trace *trace, const struct facts *facts) {
    struct event_log log = event_log_of(trace);
    semaphore_mailboxes_as_queues(&log, facts);
    return log;
}

static void assert_stays(const struct trace *trace, const struct facts *facts) {
    struct event_log log = shown(trace, facts);
    assert_shown_as_recorded(&log, trace);
    event_log_free(&log);
}

static void commands_come_by_one_queue_and_are_awaited_together(void **state) {
    (void)state;
    struct trace *trace = rounds_of_commands(WORKERS, ROUNDS);
    struct event_log log = shown(trace, NULL);
    assert_int_equal(count_shown(&log, MAIN, ROLE_put), WORKERS * ROUNDS);
    assert_int_equal(count_shown(&log, MAIN, ROLE_acquire), WORKERS * ROUNDS);
    uint64_t object = shown_call(&log, MAIN, 0)->object;
    for (int w = FIRST; w <= WORKERS; w++) {
        assert_int_equal(count_shown(&log, w, ROLE_get), ROUNDS);
        assert_int_equal(count_shown(&log, w, ROLE_release), ROUNDS);
    }
    for (int t = MAIN; t <= WORKERS; t++)
        for (size_t r = 0; r < trace->threads[t].n_records; r++) {
            const struct trace_record *now = shown_call(&log, t, r);
            assert_int_equal(now->object, object);
            assert_int_equal(now->start_ns, trace->threads[t].records[r].start_ns);
            assert_int_equal(now->duration_ns, trace->threads[t].records[r].duration_ns);
        }
    /* the first wait of a round is for all, the others are part of it */
    for (size_t r = 0; r < (size_t)trace->threads[MAIN].n_records; r += 2 * WORKERS) {
        assert_int_equal(shown_call(&log, MAIN, r + WORKERS)->value, 1);
        assert_int_equal(shown_call(&log, MAIN, r + WORKERS + 1)->value, 0);
    }
    event_log_free(&log);
    trace_free(trace);
}

static void commands_that_nobody_waits_for_are_the_end(void **state) {
    (void)state;
    struct trace *trace = rounds_of_commands(WORKERS, ROUNDS);
    uint64_t at = (ROUNDS + 1) * ROUND_NS;
    for (int w = FIRST; w <= WORKERS; w++) {
        uint64_t told = at + 10 * (uint64_t)w;
        give(trace, w, told);
        call(trace, w, "sem_wait", at - 100, told + 2, command_of(w), 30);
    }
    struct event_log log = shown(trace, NULL);
    assert_int_equal(count_shown(&log, MAIN, ROLE_put), WORKERS * ROUNDS);
    assert_int_equal(count_shown(&log, MAIN, ROLE_close_queue), 1);
    for (int w = FIRST; w <= WORKERS; w++) {
        const struct trace_record *last = shown_call(&log, w, 2 * ROUNDS);
        assert_int_equal(last->api, ROLE_get);
        assert_true(last->flags & TRACE_FAILED);
    }
    event_log_free(&log);
    trace_free(trace);
}

static void a_worker_that_still_waits_at_the_end_waits_at_the_queue(void **state) {
    (void)state;
    struct trace *trace = rounds_of_commands(WORKERS, ROUNDS);
    uint64_t at = (ROUNDS + 1) * ROUND_NS;
    for (int w = FIRST; w <= WORKERS; w++) {
        call(trace, w, "sem_wait", at, at + ROUND_NS, command_of(w), 30);
        builder_unfinished(trace, w);
    }
    struct event_log log = shown(trace, NULL);
    for (int w = FIRST; w <= WORKERS; w++) {
        const struct trace_record *last = shown_call(&log, w, 2 * ROUNDS);
        assert_int_equal(last->api, ROLE_get);
        assert_int_equal(last->object, shown_call(&log, MAIN, 0)->object);
        assert_true(last->flags & TRACE_UNFINISHED);
    }
    event_log_free(&log);
    trace_free(trace);
}

/* By a call of its own kind, the second worker tells the first one something. */
static void commands_of_several_givers_are_no_mailboxes(void **state) {
    (void)state;
    struct trace *trace = rounds_of_commands(WORKERS, ROUNDS);
    uint64_t at = (ROUNDS + 1) * ROUND_NS;
    call(trace, SECOND, "sem_post", at, at, command_of(FIRST), 50);
    obey(trace, FIRST, at - 100, at + 2, at + 100);
    collect(trace, at, at + 105);
    assert_stays(trace, NULL);
    trace_free(trace);
}

/* A helper tells the creator something by the semaphore by which it hears of the workers. */
static void news_of_somebody_else_too_are_no_mailboxes(void **state) {
    (void)state;
    struct trace *trace = rounds_of_commands(WORKERS, ROUNDS);
    int helper = builder_thread(trace, "helper", MAIN);
    uint64_t at = (ROUNDS + 1) * ROUND_NS;
    call(trace, helper, "sem_post", at, at, DONE, 50);
    assert_stays(trace, NULL);
    trace_free(trace);
}

/* The first worker gets its next command while the second one is still busy: it matters which of
 * them is done. */
static void commands_that_do_not_go_in_rounds_stay(void **state) {
    (void)state;
    struct trace *trace = builder_new_with_workers(WORKERS);
    uint64_t idle_ns[WORKERS + 1] = {0, 10, 10};
    for (uint64_t turn = 0; turn < 2 * ROUNDS; turn++) {
        int worker = turn % 2 ? SECOND : FIRST;
        uint64_t at = (turn + 1) * ROUND_NS, done = at + 3 * ROUND_NS / 2;
        if (turn >= WORKERS)
            collect(trace, at - ROUND_NS / 2 + 5, at - ROUND_NS / 2 + 6);
        give(trace, worker, at);
        obey(trace, worker, idle_ns[worker], at + 2, done);
        idle_ns[worker] = done + 1;
    }
    assert_stays(trace, NULL);
    trace_free(trace);
}

/* Two commands lie in the semaphore at once: it counts, as no mailbox does. */
static void a_second_command_before_the_first_was_taken_is_no_mailboxs(void **state) {
    (void)state;
    struct trace *trace = rounds_of_commands(WORKERS, ROUNDS);
    uint64_t at = (ROUNDS + 1) * ROUND_NS;
    give(trace, FIRST, at);
    give(trace, FIRST, at + 1);
    assert_stays(trace, NULL);
    trace_free(trace);
}

static void all_threads_that_are_created_alike_must_have_a_mailbox(void **state) {
    (void)state;
    struct trace *trace = rounds_of_commands(WORKERS, ROUNDS);
    builder_thread(trace, "worker", MAIN);
    assert_stays(trace, NULL);
    trace_free(trace);
}

static void few_commands_prove_nothing(void **state) {
    (void)state;
    struct trace *trace = rounds_of_commands(WORKERS, 3);
    assert_stays(trace, NULL);
    trace_free(trace);
}

/* Of a worker that is always alone the semaphores say all by themselves; whether there would be
 * more of them, the source knows. */
static void one_worker_is_a_group_unless_the_source_knows_better(void **state) {
    (void)state;
    struct trace *trace = rounds_of_commands(1, 2 * ROUNDS);
    struct event_log log = shown(trace, NULL);
    assert_int_equal(count_shown(&log, MAIN, ROLE_put), 2 * ROUNDS);
    event_log_free(&log);
    const struct trace_context *created = &trace->contexts[trace->threads[FIRST].creation_context];
    struct facts_creation creation = {.place = {.file = created->frames[0].file,
                                                .function = created->frames[0].function,
                                                .line = created->frames[0].line},
                                      .object = ON_THREAD};
    const struct facts facts = {.version = FACTS_VERSION, .n_creations = 1, .creations = &creation};
    assert_stays(trace, &facts);
    creation.per_thread = true;
    log = shown(trace, &facts);
    assert_int_equal(count_shown(&log, MAIN, ROLE_put), 2 * ROUNDS);
    event_log_free(&log);
    creation.place.line++; /* creates other threads */
    assert_stays(trace, &facts);
    trace_free(trace);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(commands_come_by_one_queue_and_are_awaited_together),
        cmocka_unit_test(commands_that_nobody_waits_for_are_the_end),
        cmocka_unit_test(a_worker_that_still_waits_at_the_end_waits_at_the_queue),
        cmocka_unit_test(commands_of_several_givers_are_no_mailboxes),
        cmocka_unit_test(news_of_somebody_else_too_are_no_mailboxes),
        cmocka_unit_test(commands_that_do_not_go_in_rounds_stay),
        cmocka_unit_test(a_second_command_before_the_first_was_taken_is_no_mailboxs),
        cmocka_unit_test(all_threads_that_are_created_alike_must_have_a_mailbox),
        cmocka_unit_test(few_commands_prove_nothing),
        cmocka_unit_test(one_worker_is_a_group_unless_the_source_knows_better),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
