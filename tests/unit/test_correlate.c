/* Matching block logs by cross-correlation: signals, the search for the lag, pairs, attribution. */
/* tests/run: beside others */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "tracer/attribution.h"
#include "tracer/correlate.h"
#include "tracer/lag_search.h"

static struct busy busy_of(const double *spans, size_t n) {
    struct busy busy = {0};
    for (size_t i = 0; i < n; i++)
        busy_add(&busy, spans[2 * i], spans[2 * i + 1]);
    busy_settle(&busy);
    return busy;
}

#define BUSY(...)                                                                                  \
    busy_of((const double[]){__VA_ARGS__},                                                         \
            sizeof((const double[]){__VA_ARGS__}) / sizeof(double) / 2)

static void assert_spans(const struct busy *busy, const double *spans, size_t n) {
    assert_int_equal(busy->count, n);
    for (size_t i = 0; i < n; i++) {
        assert_float_equal(busy->items[i].from_ns, spans[2 * i], 1e-9);
        assert_float_equal(busy->items[i].to_ns, spans[2 * i + 1], 1e-9);
    }
}

/* ---- signals ---- */

static void spans_that_overlap_become_one(void **state) {
    (void)state;
    struct busy busy = BUSY(50, 60, 10, 20, 15, 30, 70, 70, 30, 40);
    assert_spans(&busy, (const double[]){10, 40, 50, 60}, 2);
    assert_float_equal(busy_mean_ns(&busy), 20, 1e-9);
    busy_free(&busy);
}

static void a_bin_has_the_mean_of_its_signal(void **state) {
    (void)state;
    struct busy busy = BUSY(0, 15, 25, 30, 39, 100);
    double bins[4] = {0};
    busy_sample(&busy, 10, 10, bins, 4);
    assert_float_equal(bins[0], 0.5, 1e-9);
    assert_float_equal(bins[1], 0.5, 1e-9);
    assert_float_equal(bins[2], 0.1, 1e-9);
    assert_float_equal(bins[3], 1, 1e-9);
    busy_free(&busy);
}

static void correlation_is_that_of_pearson(void **state) {
    (void)state;
    struct busy user = BUSY(0, 10, 20, 30), half = BUSY(0, 10), inverse = BUSY(10, 20, 30, 40);
    struct clock_line same = {0};
    assert_float_equal(busy_correlation(&user, &user, same, 0, 40), 1, 1e-9);
    assert_float_equal(busy_correlation(&user, &inverse, same, 0, 40), -1, 1e-9);
    /* shares 1/2 and 1/4, both 1/4: (1/4 - 1/8) / sqrt(1/4 * 3/16) */
    assert_float_equal(busy_correlation(&user, &half, same, 0, 40), 0.125 / sqrt(3.0 / 64), 1e-9);
    struct clock_line shift = {.offset_ns = 10};
    assert_float_equal(busy_correlation(&user, &user, shift, 0, 40), -1, 1e-9);
    struct clock_line slow = {.drift = -0.5};
    struct busy twice = BUSY(0, 20, 40, 60);
    assert_float_equal(busy_correlation(&user, &twice, slow, 0, 40), 1, 1e-9);
    assert_float_equal(busy_correlation(&user, &half, same, 40, 80), 0, 1e-9);
    busy_free(&user);
    busy_free(&half);
    busy_free(&inverse);
    busy_free(&twice);
}

static void what_requests_explain_is_taken_away(void **state) {
    (void)state;
    struct busy user = BUSY(0, 100, 200, 300), block = BUSY(20, 30, 50, 60, 190, 310);
    busy_explain(&user, &block, (struct clock_line){.offset_ns = 5}, 1);
    assert_spans(&user, (const double[]){0, 24, 36, 54, 66, 100}, 3);
    busy_free(&user);
    busy_free(&block);
}

/* ---- made up logs ---- */

struct world {
    gsl_rng *random;
    struct busy users[4], blocks[4]; /* blocks by the log's clock */
    struct clock_line log;           /* its time of a user time */
};

/* So many requests of a thread: after it computed for a while a call waits for one. */
static void make_requests(struct world *world, size_t user, size_t block, int n) {
    double now_ns = 0;
    for (int i = 0; i < n; i++) {
        now_ns += gsl_ran_exponential(world->random, 8e6);
        double took_ns = 1e5 + gsl_ran_exponential(world->random, 2e6);
        if (user < 4)
            busy_add(&world->users[user], now_ns, now_ns + took_ns + 4e4);
        if (block < 4)
            busy_add(&world->blocks[block], clock_line_at(world->log, now_ns + 1e4),
                     clock_line_at(world->log, now_ns + took_ns));
        now_ns += took_ns + 4e4;
    }
}

static struct world make_world(unsigned long seed, struct clock_line log) {
    struct world world = {.random = gsl_rng_alloc(gsl_rng_mt19937), .log = log};
    gsl_rng_set(world.random, seed);
    return world;
}

static struct correlation correlate_world(struct world *world, size_t n_users, size_t n_blocks) {
    for (size_t i = 0; i < 4; i++) {
        busy_settle(&world->users[i]);
        busy_settle(&world->blocks[i]);
    }
    struct correlate_input input = {.users = world->users,
                                    .blocks = world->blocks,
                                    .n_users = n_users,
                                    .n_blocks = n_blocks,
                                    .least_lag_ns = -world->log.offset_ns - 11e9,
                                    .most_lag_ns = -world->log.offset_ns + 10.5e9,
                                    .most_drift = 1e-4};
    return correlate(&input);
}

static void end_world(struct world *world, struct correlation *found) {
    correlation_free(found);
    for (size_t i = 0; i < 4; i++) {
        busy_free(&world->users[i]);
        busy_free(&world->blocks[i]);
    }
    gsl_rng_free(world->random);
}

static void assert_clock(const struct world *world, const struct correlation *found) {
    for (int i = 0; i < 4; i++) {
        double time_ns = i * 3e9;
        double back_ns = clock_line_at(found->line, clock_line_at(world->log, time_ns));
        assert_float_equal(back_ns, time_ns, 1e5);
    }
}

static void assert_pair(const struct correlation *found, size_t block, size_t user) {
    size_t n = 0;
    for (size_t p = 0; p < found->n_pairs; p++)
        if (found->pairs[p].block == block) {
            assert_int_equal(found->pairs[p].user, user);
            assert_true(found->pairs[p].confidence > 0.999);
            n++;
        }
    assert_int_equal(n, 1);
}

static void swapped_threads_and_another_clock_are_found(void **state) {
    (void)state;
    struct world world = make_world(1, (struct clock_line){.offset_ns = 123.4567e9, .drift = 8e-5});
    make_requests(&world, 0, 1, 1200);
    make_requests(&world, 1, 0, 1200);
    make_requests(&world, 4, 2, 500); /* another process */
    struct correlation found = correlate_world(&world, 2, 3);
    assert_true(found.found);
    assert_true(found.lag_confidence > 0.999);
    assert_true(found.n_windows > 1);
    assert_clock(&world, &found);
    assert_int_equal(found.n_pairs, 2);
    assert_pair(&found, 0, 1);
    assert_pair(&found, 1, 0);
    end_world(&world, &found);
}

static void a_busy_thread_does_not_take_the_others_issuers(void **state) {
    (void)state;
    struct world world = make_world(2, (struct clock_line){.offset_ns = 5e9});
    make_requests(&world, 0, 0, 1500);
    make_requests(&world, 1, 1, 100);
    make_requests(&world, 2, 2, 100);
    struct correlation found = correlate_world(&world, 3, 3);
    assert_true(found.found);
    for (size_t i = 0; i < 3; i++)
        assert_pair(&found, i, i);
    end_world(&world, &found);
}

static void threads_of_one_issuer_go_with_it_together(void **state) {
    (void)state;
    struct world world = make_world(3, (struct clock_line){.offset_ns = 7e9, .drift = -5e-5});
    for (size_t i = 0; i < 3; i++)
        make_requests(&world, i, 0, 600);
    make_requests(&world, 4, 1, 400);
    struct correlation found = correlate_world(&world, 3, 2);
    assert_true(found.found);
    assert_clock(&world, &found);
    assert_int_equal(found.n_pairs, 1);
    assert_pair(&found, 0, CORRELATE_NONE);
    end_world(&world, &found);
}

static void logs_of_different_runs_are_refused(void **state) {
    (void)state;
    for (unsigned long seed = 10; seed < 12; seed++) {
        struct world world = make_world(seed, (struct clock_line){.offset_ns = 7e9});
        make_requests(&world, 0, 4, 1000);
        make_requests(&world, 1, 4, 1000);
        make_requests(&world, 4, 0, 1000);
        make_requests(&world, 4, 1, 1000);
        struct correlation found = correlate_world(&world, 2, 2);
        assert_false(found.found);
        assert_int_equal(found.n_pairs, 0);
        end_world(&world, &found);
    }
}

/* Which of the periods is right nobody can tell. */
static void requests_at_even_intervals_are_refused(void **state) {
    (void)state;
    struct world world = make_world(4, (struct clock_line){.offset_ns = 3e9});
    for (int i = 0; i < 2000; i++) {
        double from_ns = 1e7 * i;
        busy_add(&world.users[0], from_ns, from_ns + 3e6);
        busy_add(&world.blocks[0], 3e9 + from_ns, 3e9 + from_ns + 3e6);
    }
    struct correlation found = correlate_world(&world, 1, 1);
    assert_false(found.found);
    end_world(&world, &found);
}

static void logs_without_anything_are_refused(void **state) {
    (void)state;
    struct world world = make_world(5, (struct clock_line){.offset_ns = 3e9});
    struct correlation found = correlate_world(&world, 0, 0);
    assert_false(found.found);
    end_world(&world, &found);
    world = make_world(5, (struct clock_line){.offset_ns = 3e9});
    make_requests(&world, 0, 0, 3);
    found = correlate_world(&world, 1, 1);
    assert_false(found.found);
    end_world(&world, &found);
}

/* ---- attribution ---- */

enum { READ_SIZE = 4096 };

static struct trace_record record_at(uint64_t start_ns, uint64_t duration_ns) {
    return (struct trace_record){
        .start_ns = start_ns, .duration_ns = duration_ns, .api = API_pread, .value = READ_SIZE};
}

static struct block_request request_of(int tid, uint64_t queued_ns, uint64_t completed_ns) {
    return (struct block_request){.block = {.queued_ns = queued_ns,
                                            .issued_ns = queued_ns + 1,
                                            .completed_ns = completed_ns,
                                            .device = 8u << 20,
                                            .tid = tid,
                                            .bytes = READ_SIZE,
                                            .kind = BLOCK_READ}};
}

static void assert_account(const struct attribution *attribution, const size_t *requests) {
    for (int cause = 0; cause < BLOCK_CAUSES; cause++) {
        assert_int_equal(attribution->account.of[cause].requests, requests[cause]);
        assert_int_equal(attribution->account.of[cause].bytes, requests[cause] * READ_SIZE);
    }
}

/* The run begins at 1000 of the log's clock and takes 10,000. */
static void every_request_has_one_cause(void **state) {
    (void)state;
    struct trace_record records[] = {record_at(1000, 500), record_at(3000, 500)};
    struct trace_thread threads[] = {{.tid = 7, .n_records = 2, .records = records}};
    struct attribution_run run = {threads, 1, 10000};
    struct block_request items[] = {
        request_of(7, 2100, 2300),  /* in the first call */
        request_of(7, 3000, 3100),  /* between both: a page fault */
        request_of(9, 2100, 2200),  /* another process */
        request_of(9, 500, 600),    /* before the run */
        request_of(9, 12000, 0),    /* after it */
        request_of(20, 5000, 5100), /* the kernel: write-back */
        request_of(7, 6000, 6500),  /* to a loop device */
        request_of(20, 6100, 6400), /* what the kernel asks the device below for */
    };
    items[5].kernel = items[7].kernel = true;
    items[6].block.device = 7u << 20;
    struct block_requests requests = {sizeof items / sizeof *items, 0, items};
    struct attribution found = attribute_directly(&requests, &run, 1000);
    assert_account(&found, (const size_t[BLOCK_CAUSES]){[CAUSE_CALL] = 1,
                                                        [CAUSE_NO_CALL] = 2,
                                                        [CAUSE_KERNEL] = 1,
                                                        [CAUSE_OTHER] = 1,
                                                        [CAUSE_BELOW] = 1,
                                                        [CAUSE_OUTSIDE_RUN] = 2});
    assert_int_equal(found.n_blocks, 4); /* the kernel's, too */
    assert_int_equal(found.blocks[2].tid, 20);
    assert_int_equal(found.blocks[0].queued_ns, 1100);
    assert_int_equal(found.blocks[0].completed_ns, 1300);
    char *text = block_account_tell(&found.account);
    assert_non_null(strstr(text, "8 requests (0.03 MB): 1 (0.00 MB) in I/O calls"));
    assert_non_null(strstr(text, "2 (0.01 MB) before or after the run"));
    free(text);
    attribution_free(&found);
}

static struct attribution attribute_one(const struct attribution_run *run,
                                        struct block_request *items, size_t n, size_t user) {
    size_t *issuers = memory_alloc(n, sizeof *issuers);
    for (size_t i = 0; i < n; i++)
        issuers[i] = (size_t)items[i].block.tid;
    struct correlate_pair pair = {.block = 5, .user = user};
    struct correlation correlation = {
        .found = true, .line = {.offset_ns = -1e9}, .pairs = &pair, .n_pairs = 1};
    struct block_requests requests = {n, 0, items};
    struct attribution found = attribute_by_pairs(&requests, issuers, run, &correlation);
    free(issuers);
    return found;
}

static void a_request_belongs_to_the_call_that_it_overlaps_most(void **state) {
    (void)state;
    struct trace_record records[] = {record_at(1000000, 1000000), record_at(2200000, 5000000)};
    struct trace_thread threads[] = {{.tid = 7, .n_records = 2, .records = records}};
    struct attribution_run run = {threads, 1, 10000000};
    struct block_request items[] = {
        request_of(5, 1001500000, 1003500000), /* 0.5 ms in the first, 1.3 ms in the second */
        request_of(5, 1001900000, 1005000000), /* the same, but read-ahead, which outlasts it */
        request_of(5, 1000950000, 1001500000), /* begins a little before its call */
        request_of(5, 1008000000, 1009000000), /* in none */
        request_of(6, 1001100000, 1001200000), /* of nobody's issuer */
    };
    items[1].block.kind = BLOCK_READAHEAD;
    struct attribution found = attribute_one(&run, items, sizeof items / sizeof *items, 0);
    assert_account(&found, (const size_t[BLOCK_CAUSES]){
                               [CAUSE_CALL] = 3, [CAUSE_NO_CALL] = 1, [CAUSE_OTHER] = 1});
    assert_int_equal(found.calls[0], 1);
    assert_int_equal(found.calls[1], 0);
    assert_int_equal(found.calls[2], 0);
    assert_true(found.calls[3] == ATTRIBUTION_NO_CALL);
    assert_int_equal(found.threads[4], -1);
    for (size_t i = 0; i < found.n_blocks; i++)
        assert_int_equal(found.blocks[i].tid, 7);
    /* In the call, for there the model looks for it. */
    assert_int_equal(found.blocks[0].queued_ns, 1000000);
    attribution_free(&found);
}

static void of_a_shared_issuer_a_request_goes_to_the_call_that_begins_with_it(void **state) {
    (void)state;
    struct trace_record first[] = {record_at(1000000, 9000000)};
    struct trace_record second[] = {record_at(3000000, 2000000)};
    struct trace_thread threads[] = {{.tid = 7, .n_records = 1, .records = first},
                                     {.tid = 8, .n_records = 1, .records = second}};
    struct attribution_run run = {threads, 2, 20000000};
    struct block_request items[] = {
        request_of(5, 1001005000, 1009990000), request_of(5, 1003004000, 1004990000),
        request_of(5, 1006000000, 1007000000), /* within a call, but not its: another process */
        request_of(5, 1001004000, 1009990000), /* larger than what the call read */
    };
    items[3].block.bytes = 64 * READ_SIZE;
    struct attribution found =
        attribute_one(&run, items, sizeof items / sizeof *items, CORRELATE_NONE);
    assert_int_equal(found.threads[0], 0);
    assert_int_equal(found.threads[1], 1);
    assert_int_equal(found.threads[2], -1);
    assert_int_equal(found.threads[3], -1);
    assert_int_equal(found.account.of[CAUSE_CALL].requests, 2);
    assert_int_equal(found.account.of[CAUSE_OTHER].requests, 2);
    attribution_free(&found);
}

/* A thread that was woken may wait for a core: only its sleep is the disk's. */
static void sleep_in_a_call_is_what_is_correlated(void **state) {
    (void)state;
    struct trace_record records[] = {record_at(1000, 5000), record_at(8000, 500)};
    struct trace_slice slices[] = {{.on_ns = 0, .off_ns = 1100},
                                   {.wake_ns = 2000, .on_ns = 2500, .off_ns = 3000, .preempted = 1},
                                   {.on_ns = 5000, .off_ns = 9000}};
    struct trace_thread threads[] = {
        {.tid = 7, .n_records = 2, .records = records, .n_slices = 3, .slices = slices},
        {.tid = 8, .n_records = 2, .records = records}};
    struct attribution_run run = {threads, 2, 10000};
    struct busy *waits = attribution_waits(&run, 800);
    assert_spans(&waits[0], (const double[]){1100, 2000}, 1);
    assert_spans(&waits[1], (const double[]){1000, 1800, 8000, 8500}, 2);
    attribution_free_signals(waits, 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spans_that_overlap_become_one),
        cmocka_unit_test(a_bin_has_the_mean_of_its_signal),
        cmocka_unit_test(correlation_is_that_of_pearson),
        cmocka_unit_test(what_requests_explain_is_taken_away),
        cmocka_unit_test(swapped_threads_and_another_clock_are_found),
        cmocka_unit_test(a_busy_thread_does_not_take_the_others_issuers),
        cmocka_unit_test(threads_of_one_issuer_go_with_it_together),
        cmocka_unit_test(logs_of_different_runs_are_refused),
        cmocka_unit_test(requests_at_even_intervals_are_refused),
        cmocka_unit_test(logs_without_anything_are_refused),
        cmocka_unit_test(every_request_has_one_cause),
        cmocka_unit_test(a_request_belongs_to_the_call_that_it_overlaps_most),
        cmocka_unit_test(of_a_shared_issuer_a_request_goes_to_the_call_that_begins_with_it),
        cmocka_unit_test(sleep_in_a_call_is_what_is_correlated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
