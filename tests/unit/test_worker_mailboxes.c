/* Command slots, one for each worker, and a creator that carries out commands itself. */
/* tests/run: beside others */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "modelgen/events/events_check.h"
#include "modelgen/rewrite/mailbox_group.h"
#include "modelgen/rewrite/participating_creator.h"
#include "modelgen/rewrite/worker_mailboxes.h"
#include "tests/unit/shown_calls.h"
#include "tests/unit/trace_builder.h"

enum { WORKERS = 2, ROUNDS = 6, ROUND_NS = 100000, SLOT = 0x1000, CONDITION = 0x2000 };

static uint64_t slot_of(int worker) {
    return SLOT + 0x100 * (uint64_t)worker;
}

static uint64_t condition_of(int worker) {
    return CONDITION + 0x100 * (uint64_t)worker;
}

static void call(struct trace *trace, int thread, const char *api, uint64_t start_ns,
                 uint64_t end_ns, uint64_t object, const char *function, int line) {
    const char *root = trace->threads[thread].start_routine;
    builder_call(trace, thread, api, start_ns, end_ns, object,
                 builder_context(trace, function, line, root, line));
}

/* Main tells the worker something under its mutex. */
static void command(struct trace *trace, int worker, uint64_t at_ns) {
    call(trace, 0, "pthread_mutex_lock", at_ns, at_ns, slot_of(worker), "launch", 10);
    call(trace, 0, "pthread_cond_signal", at_ns + 10, at_ns + 10, condition_of(worker), "launch",
         12);
    call(trace, 0, "pthread_mutex_unlock", at_ns + 20, at_ns + 20, slot_of(worker), "launch", 13);
}

/* Main looks whether it is done, and finds the mutex taken until then. */
static void wait_for(struct trace *trace, int worker, uint64_t at_ns, uint64_t until_ns) {
    call(trace, 0, "pthread_mutex_lock", at_ns, until_ns, slot_of(worker), "sync", 20);
    call(trace, 0, "pthread_mutex_unlock", until_ns + 5, until_ns + 5, slot_of(worker), "sync", 22);
}

/* The worker waits for a command, carries it out with the mutex in its hands, and says so. */
static void obey(struct trace *trace, int worker, uint64_t from_ns, uint64_t woken_ns,
                 uint64_t done_ns) {
    int thread = 1 + worker;
    call(trace, thread, "pthread_mutex_lock", from_ns, from_ns, slot_of(worker), "loop", 30);
    call(trace, thread, "pthread_cond_wait", from_ns + 5, woken_ns, condition_of(worker), "loop",
         31);
    call(trace, thread, "pthread_cond_signal", done_ns, done_ns, condition_of(worker), "loop", 33);
    call(trace, thread, "pthread_mutex_unlock", done_ns + 5, done_ns + 5, slot_of(worker), "loop",
         34);
}

static struct trace *empty_trace(void) {
    struct trace *trace = builder_new(2);
    builder_thread(trace, "main", -1);
    for (int worker = 0; worker < WORKERS; worker++) {
        int thread = builder_thread(trace, "loop", 0);
        builder_create(trace, 0, 100 + 10 * (uint64_t)worker, 5,
                       trace->threads[thread].creation_context, thread);
    }
    return trace;
}

/* Rounds in which each worker gets a command and main waits for both; then each is told to end. */
static struct trace *rounds_of_commands(void) {
    struct trace *trace = empty_trace();
    uint64_t last_ns[WORKERS] = {500, 500};
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t at_ns = (uint64_t)(round + 1) * ROUND_NS;
        for (int worker = 0; worker < WORKERS; worker++) {
            uint64_t given_ns = at_ns + 1000 * (uint64_t)worker, done_ns = at_ns + 60000;
            command(trace, worker, given_ns);
            obey(trace, worker, last_ns[worker], given_ns + 30, done_ns + (uint64_t)worker);
            last_ns[worker] = done_ns + (uint64_t)worker + 10;
        }
        for (int worker = 0; worker < WORKERS; worker++)
            wait_for(trace, worker, at_ns + 50000 + 12000 * (uint64_t)worker,
                     at_ns + 60000 + 2050 * (uint64_t)worker);
    }
    for (int worker = 0; worker < WORKERS; worker++) {
        uint64_t at_ns = (uint64_t)(ROUNDS + 1) * ROUND_NS + 1000 * (uint64_t)worker;
        command(trace, worker, at_ns);
        obey(trace, worker, last_ns[worker], at_ns + 30, at_ns + 40);
        builder_join(trace, 0, at_ns + 100, 10, builder_context(trace, "main", 40, "main", 40),
                     1 + worker);
    }
    builder_finish(trace, (uint64_t)(ROUNDS + 2) * ROUND_NS);
    return trace;
}

static size_t count(const struct trace *trace, size_t thread, enum api api) {
    size_t found = 0;
    for (size_t r = 0; r < trace->threads[thread].n_records; r++)
        found += trace->threads[thread].records[r].api == api;
    return found;
}

static const struct trace_record *nth(const struct trace *trace, size_t thread, enum api api,
                                      size_t n) {
    for (size_t r = 0; r < trace->threads[thread].n_records; r++)
        if (trace->threads[thread].records[r].api == api && n-- == 0)
            return &trace->threads[thread].records[r];
    fail_msg("no such record");
    return NULL;
}

static void slots_become_one_queue_and_its_completion(void **state) {
    (void)state;
    struct trace *trace = rounds_of_commands();
    struct event_log log = event_log_of(trace);
    worker_mailboxes_as_queues(&log, NULL);
    assert_int_equal(count(&log.trace, 0, ROLE_put), WORKERS * ROUNDS);
    assert_int_equal(count(&log.trace, 0, ROLE_acquire), WORKERS * ROUNDS);
    uint64_t object = nth(&log.trace, 0, ROLE_put, 0)->object;
    assert_int_equal(object_origins_get(&log.origins, object), ORIGIN_MAILBOX);
    for (size_t t = 1; t <= WORKERS; t++) {
        assert_int_equal(count(&log.trace, t, ROLE_get), ROUNDS + 1);
        assert_int_equal(count(&log.trace, t, ROLE_release), ROUNDS);
        assert_int_equal(log.trace.threads[t].n_records, 2 * ROUNDS + 1);
        assert_true(nth(&log.trace, t, ROLE_get, 3)->object == object);
    }
    /* who is blocked in the lock waits for what is done under it; the first wait is for all */
    const struct trace_record *first = nth(&log.trace, 0, ROLE_acquire, 0);
    assert_int_equal(first->start_ns, ROUND_NS + 50000);
    assert_int_equal(first->duration_ns, 10000);
    assert_int_equal(first->value, 1);
    assert_int_equal(nth(&log.trace, 0, ROLE_acquire, 1)->value, 0);
    /* a worker has its command when it goes on, and has done it when it tells */
    const struct trace_record *get = nth(&log.trace, 1, ROLE_get, 0);
    assert_int_equal(get->start_ns + get->duration_ns, ROUND_NS + 30);
    assert_int_equal(nth(&log.trace, 1, ROLE_release, 0)->start_ns, ROUND_NS + 60000);
    event_log_free(&log);
    trace_free(trace);
}

static void what_the_source_takes_for_a_barrier_is_no_slot(void **state) {
    (void)state;
    struct trace *trace = rounds_of_commands();
    uint32_t meet = builder_context(trace, "meet", 5, "work", 9);
    for (size_t t = 1; t <= WORKERS; t++)
        for (size_t r = 0; r < trace->threads[t].n_records; r++)
            trace->threads[t].records[r].context = meet;
    struct facts_operation arrive = {.role = FACTS_ARRIVE,
                                     .place = {.function = "meet", .line = 5}};
    struct facts_monitor monitor = {
        .kind = MONITOR_BARRIER, .operations = &arrive, .n_operations = 1};
    const struct facts facts = {.monitors = &monitor, .n_monitors = 1};
    struct event_log log = event_log_of(trace);
    worker_mailboxes_as_queues(&log, &facts);
    assert_int_equal(count(&log.trace, 0, ROLE_put), 0);
    event_log_free(&log);
    monitor.kind = MONITOR_BOUNDED_QUEUE; /* any other object may be slots */
    log = event_log_of(trace);
    worker_mailboxes_as_queues(&log, &facts);
    assert_int_equal(count(&log.trace, 0, ROLE_put), WORKERS * ROUNDS);
    event_log_free(&log);
    trace_free(trace);
}

static void commands_that_nobody_waits_for_are_the_end(void **state) {
    (void)state;
    struct trace *trace = rounds_of_commands();
    struct event_log log = event_log_of(trace);
    worker_mailboxes_as_queues(&log, NULL);
    assert_int_equal(count(&log.trace, 0, ROLE_close_queue), 1);
    for (size_t t = 1; t <= WORKERS; t++) {
        const struct trace_record *last = nth(&log.trace, t, ROLE_get, ROUNDS);
        assert_true(last->flags & TRACE_FAILED);
    }
    event_log_free(&log);
    trace_free(trace);
}

static void expect_as_it_was(const struct trace *trace) {
    struct event_log log = event_log_of(trace);
    worker_mailboxes_as_queues(&log, NULL);
    assert_shown_as_recorded(&log, trace);
    event_log_free(&log);
}

/* Main passes by while the command is not even begun. */
static void a_look_that_does_not_wait_is_no_slots(void **state) {
    (void)state;
    struct trace *trace = rounds_of_commands();
    struct trace_thread *creator = &trace->threads[0];
    for (size_t r = 0; r < creator->n_records; r++) {
        struct trace_record *lock = &creator->records[r];
        if (lock->duration_ns != 10000 || lock->start_ns < 3 * ROUND_NS)
            continue;
        lock->start_ns = 3 * ROUND_NS + 22; /* before the worker has it */
        lock->duration_ns = 0;
        lock[1].start_ns = 3 * ROUND_NS + 25;
        break;
    }
    expect_as_it_was(trace);
    trace_free(trace);
}

/* One worker's next command is given while the other one's is not waited for: which is done
 * matters. */
static void commands_that_do_not_go_in_rounds_are_left_alone(void **state) {
    (void)state;
    struct trace *trace = empty_trace();
    uint64_t last_ns[WORKERS] = {500, 500};
    for (int turn = 0; turn < 2 * ROUNDS; turn++) {
        int worker = turn % WORKERS;
        uint64_t at_ns = (uint64_t)(turn + 1) * ROUND_NS, done_ns = at_ns + ROUND_NS + 60000;
        if (turn >= WORKERS)
            wait_for(trace, worker, at_ns - 20000, at_ns - 20000);
        command(trace, worker, at_ns);
        obey(trace, worker, last_ns[worker], at_ns + 30, done_ns);
        last_ns[worker] = done_ns + 10;
    }
    builder_finish(trace, (uint64_t)(2 * ROUNDS + 3) * ROUND_NS);
    expect_as_it_was(trace);
    trace_free(trace);
}

static void few_commands_prove_nothing(void **state) {
    (void)state;
    struct trace *trace = rounds_of_commands();
    for (size_t t = 0; t < trace->n_threads; t++) {
        struct trace_thread *thread = &trace->threads[t];
        while (thread->records[thread->n_records - 1].start_ns > 3 * ROUND_NS + 70000)
            thread->n_records--;
    }
    expect_as_it_was(trace);
    trace_free(trace);
}

/* ---- the creator's own commands ---- */

/* Adds the creators' parts to what is shown, which must stay sound. */
static void unfold(struct event_log *log, const struct sample *sample) {
    struct teams teams = teams_none(&log->trace);
    struct error error = {0};
    participating_creator_unfold(log, &teams, sample);
    if (events_check(log, &error) < 0)
        fail_msg("%s", error.text);
    teams_free(&teams);
}

/* Main was seen running in `own`, the workers in work(). End it with free(sample.nodes). */
static struct sample sample_of(char *own) {
    struct sample sample = {.n_nodes = 4, .nodes = memory_alloc(4, sizeof *sample.nodes)};
    sample.nodes[0] = (struct sample_node){.parent = -1, .function = "main"};
    sample.nodes[1] = (struct sample_node){.parent = 0, .function = own, .running = 40};
    sample.nodes[2] = (struct sample_node){.parent = -1, .function = "loop"};
    sample.nodes[3] = (struct sample_node){.parent = 2, .function = "work", .running = 80};
    return sample;
}

static void a_creator_that_carries_out_commands_is_one_of_the_workers(void **state) {
    (void)state;
    struct trace *trace = rounds_of_commands();
    builder_slice(trace, 0, 0, (uint64_t)(ROUNDS + 2) * ROUND_NS);
    struct event_log log = event_log_of(trace);
    event_log_begin_pass(&log, "test");
    worker_mailboxes_as_queues(&log, NULL);
    struct sample sample = sample_of("work");
    unfold(&log, &sample);
    assert_int_equal(log.trace.n_threads, WORKERS + 2);
    const struct trace_thread *part = &log.trace.threads[WORKERS + 1];
    assert_string_equal(part->start_routine, "loop");
    assert_int_equal(count(&log.trace, WORKERS + 1, ROLE_get), ROUNDS + 1);
    assert_int_equal(count(&log.trace, WORKERS + 1, ROLE_release), ROUNDS);
    assert_int_equal(part->n_slices, ROUNDS);
    assert_int_equal(part->slices[0].on_ns, ROUND_NS + 1010); /* the last command was given */
    assert_int_equal(part->slices[0].off_ns, ROUND_NS + 50000);
    assert_int_equal(count(&log.trace, 0, ROLE_put), (WORKERS + 1) * ROUNDS);
    const struct trace_record *waits = nth(&log.trace, 0, ROLE_acquire, 0);
    assert_int_equal(waits->start_ns, ROUND_NS + 1010);
    assert_int_equal(waits->start_ns + waits->duration_ns, ROUND_NS + 60000);
    assert_int_equal(waits->value, 1);
    assert_int_equal(log.trace.threads[0].slices[0].off_ns, ROUND_NS + 1010);
    const struct trace_thread *creator = &log.trace.threads[0];
    assert_int_equal(creator->records[creator->n_records - 1].value, WORKERS + 1); /* joined */
    free(sample.nodes);
    event_log_free(&log);
    trace_free(trace);
}

static void a_creator_that_does_something_else_meanwhile_is_none_of_them(void **state) {
    (void)state;
    struct trace *trace = rounds_of_commands();
    struct event_log log = event_log_of(trace);
    event_log_begin_pass(&log, "test");
    worker_mailboxes_as_queues(&log, NULL);
    struct sample sample = sample_of("read_frame");
    unfold(&log, &sample);
    assert_int_equal(log.trace.n_threads, trace->n_threads);
    free(sample.nodes);
    event_log_free(&log);
    trace_free(trace);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slots_become_one_queue_and_its_completion),
        cmocka_unit_test(what_the_source_takes_for_a_barrier_is_no_slot),
        cmocka_unit_test(commands_that_nobody_waits_for_are_the_end),
        cmocka_unit_test(a_look_that_does_not_wait_is_no_slots),
        cmocka_unit_test(commands_that_do_not_go_in_rounds_are_left_alone),
        cmocka_unit_test(few_commands_prove_nothing),
        cmocka_unit_test(a_creator_that_carries_out_commands_is_one_of_the_workers),
        cmocka_unit_test(a_creator_that_does_something_else_meanwhile_is_none_of_them),
    };
    return cmocka_run_group_tests_name("slots", tests, NULL, NULL);
}
