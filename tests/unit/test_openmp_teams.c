/* Parallel regions as threads that the forking one creates, of which one is its own part. */
/* tests/run: beside others */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "modelgen/events/events_check.h"
#include "modelgen/rewrite/openmp_teams.h"
#include "modelgen/threads/thread_pools.h"
#include "tests/unit/trace_builder.h"

enum { MAIN, OTHER, GOMP_WORKER, REGION = 0x4000, LIFE = 1000 };

static void add(struct trace *trace, int thread, uint64_t start_ns, unsigned flags) {
    uint32_t context = builder_context(trace, "main._omp_fn.0", 10, "main", 20);
    builder_record(trace, thread, "GOMP_parallel", start_ns, 0, REGION, context, 2);
    struct trace_thread *to = &trace->threads[thread];
    to->records[to->n_records - 1].flags = (uint16_t)flags;
}

static void take_part(struct trace *trace, int thread, uint64_t start_ns, uint64_t end_ns) {
    add(trace, thread, start_ns, TRACE_ENTERS);
    add(trace, thread, end_ns, TRACE_LEAVES);
}

/* Main forks a region of two members: itself, and the last thread, which libgomp has made. */
static struct trace *one_region(void) {
    struct trace *trace = builder_new(2);
    builder_thread(trace, "main", -1);
    builder_thread(trace, "other", MAIN);
    builder_thread(trace, "gomp_thread_start", MAIN);
    add(trace, MAIN, 100, 0);
    take_part(trace, MAIN, 110, 500);
    take_part(trace, GOMP_WORKER, 120, 490);
    builder_finish(trace, LIFE);
    return trace;
}

static void the_forking_thread_has_a_part_of_its_own_in_the_team(void **state) {
    (void)state;
    struct trace *trace = one_region();
    struct model model = {0};
    struct event_log log = event_log_of(trace);
    event_log_begin_pass(&log, "openmp_teams");
    struct teams teams = teams_unfold(&log, &model);
    assert_int_equal(events_check(&log, NULL), 0);
    assert_int_equal(log.trace.n_threads, 4); /* libgomp's thread is gone, both members came */
    const int recorded[] = {MAIN, OTHER, MAIN, GOMP_WORKER}, part_of[] = {-1, -1, MAIN, -1};
    for (size_t t = 0; t < 4; t++) {
        assert_int_equal(log.thread_origins[t].recorded, recorded[t]);
        assert_int_equal(log.thread_origins[t].part_of, part_of[t]);
    }
    teams_free(&teams);
    event_log_free(&log);
    trace_free(trace);
}

/* The kernel gives a thread's number to another one when the first has ended. */
static void an_equal_number_makes_no_part(void **state) {
    (void)state;
    struct trace *trace = one_region();
    trace->threads[OTHER].tid = trace->threads[MAIN].tid;
    struct model model = {0};
    struct event_log log = event_log_of(trace);
    event_log_begin_pass(&log, "openmp_teams");
    struct teams teams = teams_unfold(&log, &model);
    const double cpu_ns[] = {LIFE, LIFE, LIFE, LIFE};
    struct thread_pools pools =
        thread_pools_find(&log.trace, &teams, log.thread_origins, NULL, cpu_ns);
    assert_false(pools.pools[pools.pool_of[OTHER]].with_creator);
    assert_true(pools.pools[pools.pool_of[2]].with_creator);
    assert_true(thread_pools_is_creators(&pools, 2));
    assert_false(thread_pools_is_creators(&pools, 3));
    thread_pools_free(&pools);
    teams_free(&teams);
    event_log_free(&log);
    trace_free(trace);
}

/* What a member of the region does with tasks: it enters two, waits in the first one for others,
 * and waits at last where the region ends. */
static void wait_in_a_task(struct trace *trace, int thread, uint64_t start_ns) {
    uint32_t context = builder_context(trace, "sum_of", 13, "main._omp_fn.0", 10);
    for (int task = 0; task < 2; task++) {
        builder_record(trace, thread, "GOMP_task", start_ns + (uint64_t)task * 100, 0, REGION,
                       context, 0)
            ->flags = TRACE_ENTERS;
        builder_record(trace, thread, "GOMP_taskwait", start_ns + (uint64_t)task * 100 + 50, 10,
                       REGION, context, 0);
    }
}

static void who_waits_for_tasks_may_find_more_of_them_later(void **state) {
    (void)state;
    struct trace *trace = builder_new(2);
    builder_thread(trace, "main", -1);
    builder_thread(trace, "gomp_thread_start", MAIN);
    add(trace, MAIN, 100, 0);
    for (int t = 0; t < 2; t++) {
        add(trace, t, 110, TRACE_ENTERS);
        wait_in_a_task(trace, t, 120);
        add(trace, t, 500, TRACE_LEAVES);
    }
    builder_finish(trace, LIFE);
    struct model model = {0};
    struct event_log log = event_log_of(trace);
    event_log_begin_pass(&log, "openmp_teams");
    struct teams teams = teams_unfold(&log, &model);
    for (size_t t = 1; t < log.trace.n_threads; t++) {
        size_t taken = 0, in_vain = 0;
        for (size_t r = 0; r < log.trace.threads[t].n_records; r++) {
            const struct trace_record *record = &log.trace.threads[t].records[r];
            if (trace_op(record) != OP_TAKE)
                continue;
            taken += record->value != 0;
            in_vain += record->value == 0;
        }
        assert_int_equal(taken, 2);
        assert_int_equal(in_vain, 1); /* where the region ends */
    }
    teams_free(&teams);
    event_log_free(&log);
    trace_free(trace);
    for (size_t i = 0; i < model.n_notes; i++)
        free(model.notes[i]);
    free(model.notes);
}

/* Of a loop with ordered(1) and depend(sink). */
static void iterations_that_wait_for_others_are_predicted_as_recorded_only(void **state) {
    (void)state;
    struct trace *trace = builder_new(2);
    builder_thread(trace, "main", -1);
    builder_thread(trace, "gomp_thread_start", MAIN);
    uint32_t post = builder_context(trace, "main._omp_fn.0", 14, "main", 20);
    add(trace, MAIN, 100, 0);
    for (int t = 0; t < 2; t++) {
        add(trace, t, 110, TRACE_ENTERS);
        builder_record(trace, t, "GOMP_doacross_post", 200, 0, REGION, post, 0);
        add(trace, t, 500, TRACE_LEAVES);
    }
    builder_finish(trace, LIFE);
    struct model model = {0};
    struct event_log log = event_log_of(trace);
    event_log_begin_pass(&log, "openmp_teams");
    struct teams teams = teams_unfold(&log, &model);
    assert_non_null(strstr(model.unpredicted, "main._omp_fn.0: its iterations wait for others"));
    assert_int_equal(model.n_notes, 1);
    teams_free(&teams);
    event_log_free(&log);
    trace_free(trace);
    free(model.notes[0]);
    free(model.notes);
    free(model.unpredicted);
}

/* Main forks a region inside of its part, which asks for so many threads and gets one. */
static bool nests(int asked) {
    struct trace *trace = builder_new(2);
    builder_thread(trace, "main", -1);
    builder_thread(trace, "gomp_thread_start", MAIN);
    uint32_t inside = builder_context(trace, "main._omp_fn.1", 12, "main._omp_fn.0", 11);
    add(trace, MAIN, 100, 0);
    add(trace, MAIN, 110, TRACE_ENTERS);
    static const unsigned flags[] = {0, TRACE_ENTERS, TRACE_LEAVES};
    for (size_t i = 0; i < 3; i++) {
        builder_record(trace, MAIN, "GOMP_parallel", 200 + 10 * i, 0, REGION + 8, inside,
                       flags[i] == 0 ? asked : 1);
        struct trace_thread *to = &trace->threads[MAIN];
        to->records[to->n_records - 1].flags = (uint16_t)flags[i];
    }
    add(trace, MAIN, 500, TRACE_LEAVES);
    take_part(trace, 1, 120, 490);
    builder_finish(trace, LIFE);
    struct model model = {0};
    struct event_log log = event_log_of(trace);
    event_log_begin_pass(&log, "openmp_teams");
    struct teams teams = teams_unfold(&log, &model);
    bool any = false;
    for (size_t t = 0; t < log.trace.n_threads; t++)
        any |= teams_of(&teams, t) && teams_of(&teams, t)->nests;
    teams_free(&teams);
    event_log_free(&log);
    trace_free(trace);
    return any;
}

static void a_region_inside_that_asks_for_one_thread_may_have_more_elsewhere(void **state) {
    (void)state;
    assert_true(nests(1));
    assert_false(nests(0)); /* it says nothing: one, as regions inside of others have */
    assert_false(nests(2)); /* and gets one: there it would not get more either */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_region_inside_that_asks_for_one_thread_may_have_more_elsewhere),
        cmocka_unit_test(the_forking_thread_has_a_part_of_its_own_in_the_team),
        cmocka_unit_test(an_equal_number_makes_no_part),
        cmocka_unit_test(who_waits_for_tasks_may_find_more_of_them_later),
        cmocka_unit_test(iterations_that_wait_for_others_are_predicted_as_recorded_only),
    };
    return cmocka_run_group_tests_name("OpenMP teams", tests, NULL, NULL);
}
