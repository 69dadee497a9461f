/* How work follows the number of threads: who gets what of a total, what rounds tell without the
 * source, and models made to follow another rule. */
/* tests/run: beside others */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <unistd.h>

#include "base/memory.h"
#include "cli/arguments/repartition.h"
#include "modelgen/graph/batch_takes.h"
#include "modelgen/graph/iteration_partition.h"
#include "modelgen/graph/model_builder.h"
#include "modelgen/modelgen.h"
#include "modelgen/scaling/pool_contents.h"
#include "simulator/simulator.h"
#include "tests/unit/model_builder.h"
#include "tests/unit/trace_builder.h"

static const enum rest rests[] = {REST_EVEN, REST_LAST, REST_CHUNKS};

/* ---- who gets what ---- */

static void every_way_of_sharing_out_adds_up_to_the_total(void **state) {
    (void)state;
    for (size_t r = 0; r < sizeof rests / sizeof *rests; r++)
        for (int total = 1; total < 40; total++)
            for (int threads = 1; threads < 20; threads++) {
                double sum = 0;
                for (int i = 0; i < threads; i++)
                    sum += partition_part(rests[r], total, threads, i);
                assert_true(sum == total);
            }
}

static void the_rest_goes_to_the_first_to_the_last_or_is_missing_at_the_end(void **state) {
    (void)state;
    assert_true(partition_part(REST_EVEN, 11, 4, 0) == 3);
    assert_true(partition_part(REST_EVEN, 11, 4, 3) == 2);
    assert_true(partition_part(REST_LAST, 11, 4, 0) == 2);
    assert_true(partition_part(REST_LAST, 11, 4, 3) == 5);
    assert_true(partition_part(REST_CHUNKS, 9, 4, 2) == 3);
    assert_true(partition_part(REST_CHUNKS, 9, 4, 3) == 0);
    assert_true(partition_part(REST_NONE, 9, 4, 3) == 2.25);
}

/* ---- what numbers of rounds tell ---- */

static struct iteration_partition_fit fit(const double *rounds, int threads, int generations,
                                          enum rest told) {
    size_t list[32];
    struct loop_pass items[32];
    struct loop_passes passes = {items, 0, 32};
    struct thread_pool pool = {.threads = list, .size = threads};
    for (int i = 0; i < threads * generations; i++) {
        list[pool.n_threads++] = (size_t)i;
        items[passes.count++] = (struct loop_pass){(size_t)i, 0, rounds[i]};
    }
    return iteration_partition_fit(&passes, &pool, told);
}

static void a_remainder_in_the_rounds_tells_how_they_are_shared_out(void **state) {
    (void)state;
    for (size_t r = 0; r < sizeof rests / sizeof *rests; r++) {
        double rounds[4];
        for (int i = 0; i < 4; i++)
            rounds[i] = partition_part(rests[r], 50, 4, i);
        struct iteration_partition_fit found = fit(rounds, 4, 1, REST_NONE);
        assert_int_equal(found.rest, rests[r]);
        assert_true(found.total == 50 && found.uneven);
    }
}

static void rounds_that_fit_no_total_are_not_taken_for_one(void **state) {
    (void)state;
    assert_int_equal(fit((double[]){10, 14, 9, 12}, 4, 1, REST_NONE).rest, REST_NONE);
    assert_int_equal(fit((double[]){10, 10, 10, 0}, 4, 1, REST_NONE).rest, REST_NONE);
    /* the second generation has another total */
    assert_int_equal(fit((double[]){3, 2, 4, 3}, 2, 2, REST_NONE).rest, REST_NONE);
    assert_int_equal(fit((double[]){3, 2, 3, 2}, 2, 2, REST_NONE).rest, REST_EVEN);
}

static void where_a_total_divides_evenly_the_source_says_who_would_get_the_rest(void **state) {
    (void)state;
    const double rounds[] = {12, 12, 12, 12};
    assert_int_equal(fit(rounds, 4, 1, REST_LAST).rest, REST_LAST);
    assert_int_equal(fit(rounds, 4, 1, REST_NONE).rest, REST_EVEN);
    assert_false(fit(rounds, 4, 1, REST_NONE).uneven);
    /* what was counted overrules what is told */
    assert_int_equal(fit((double[]){13, 12, 12, 12}, 4, 1, REST_LAST).rest, REST_EVEN);
}

/* ---- whole models ---- */

enum { ROW_NS = 1000000, MUTEX = 0x1000 };

/* Main creates a pool whose threads do so many rows of 1 ms, each ended by a lock nobody waits for.
 */
static struct trace *row_trace(const int *rows, int threads) {
    struct trace *trace = builder_new(threads);
    int main_thread = builder_thread(trace, "main", -1);
    uint32_t create = builder_context(trace, "main", 900, "main", 900);
    uint32_t join = builder_context(trace, "main", 910, "main", 910);
    uint32_t row = builder_context(trace, "finish_row", 10, "worker", 100);
    uint64_t longest = 0;
    for (int t = 1; t <= threads; t++) {
        int thread = builder_thread(trace, "worker", 0);
        builder_create(trace, main_thread, (uint64_t)t, 0, create, t);
        uint64_t end = (uint64_t)rows[t - 1] * ROW_NS;
        for (int r = 1; r <= rows[t - 1]; r++) {
            uint64_t now = (uint64_t)r * ROW_NS;
            builder_record(trace, thread, "pthread_mutex_lock", now, 0, MUTEX, row, 0);
            builder_record(trace, thread, "pthread_mutex_unlock", now + 1, 0, MUTEX, row, 0);
        }
        builder_slice(trace, thread, 0, end + 10);
        longest = end > longest ? end : longest;
    }
    for (int t = 1; t <= threads; t++)
        builder_join(trace, main_thread, 10 + (uint64_t)t, longest, join, t);
    builder_finish(trace, longest + 100);
    for (int t = 1; t <= threads; t++)
        trace->threads[t].end_ns = (uint64_t)rows[t - 1] * ROW_NS + 10;
    return trace;
}

static struct facts_loop row_loop(enum facts_bound bound, enum rest rest) {
    return (struct facts_loop){.file = "t.c",
                               .function = "worker",
                               .first_line = 90,
                               .last_line = 110,
                               .bound = bound,
                               .rest = rest,
                               .has_fragments = true,
                               .why = "rows / threads"};
}

/* With the source, when there is a loop. Frees the trace. */
static bool creation_is_seen = true;
static char *other_way; /* of one thread */
static const struct sample *row_sample;
static struct model *model_of(struct trace *trace, struct facts_loop *loop) {
    char *file = "t.c";
    struct facts_creation creation = {.place = {.function = "main", .file = file, .line = 900},
                                      .object = ON_THREAD,
                                      .per_thread = true,
                                      .one_thread = other_way};
    struct facts facts = {.version = FACTS_VERSION,
                          .n_loops = 1,
                          .loops = loop,
                          .n_files = 1,
                          .files = &file,
                          .n_creations = creation_is_seen,
                          .creations = &creation};
    struct error error = {0};
    struct model *model = modelgen_build(trace, loop ? &facts : NULL, row_sample, NULL, &error);
    assert_string_equal(error.text, "");
    trace_free(trace);
    model->machine.wake_latency_ns = (struct dist){0};
    model->machine.switch_cpu_ns = 0;
    return model;
}

static struct model *row_model(const int *rows, int threads, struct facts_loop *loop) {
    return model_of(row_trace(rows, threads), loop);
}

/* Running time in rows, with a core for each thread. */
static double rows_with(const struct model *model, int threads) {
    int sizes[] = {1, threads};
    struct sim_config config = {.pool_threads = sizes, .cores = threads + 1, .seed = 1};
    struct sim_result result;
    struct error error = {0};
    if (sim_predict(model, &config, &result, &error) < 0)
        fail_msg("%s", error.text);
    double rows = result.run_ns.mean / ROW_NS;
    sim_result_free(&result);
    return rows;
}

#define ASSERT_ROWS(model, threads, expected)                                                      \
    assert_true(rows_with(model, threads) > (expected)-0.1 &&                                      \
                rows_with(model, threads) < (expected) + 0.1)

static void repartition(struct model *model, const char *text) {
    struct repartitions list = {0};
    struct error error = {0};
    if (repartitions_add(&list, text, &error) < 0 || repartitions_apply(&list, model, &error) < 0)
        fail_msg("%s", error.text);
    free(list.items);
}

static void the_last_thread_takes_its_rest_for_any_number_of_threads(void **state) {
    (void)state;
    struct facts_loop loop = row_loop(BOUND_SHARE, REST_LAST);
    struct model *model = row_model((int[]){11, 12}, 2, &loop);
    assert_int_equal(model->pools[1].partition, PARTITION_FIXED);
    assert_true(model->pools[1].confidence == 1);
    ASSERT_ROWS(model, 1, 23);
    ASSERT_ROWS(model, 2, 12);
    ASSERT_ROWS(model, 4, 8); /* 5, 5, 5 and 8 */
    ASSERT_ROWS(model, 8, 9); /* 2 each, and 9 */
    model_free(model);
}

static void rows_shared_out_evenly_are_whole(void **state) {
    (void)state;
    struct facts_loop loop = row_loop(BOUND_SHARE, REST_EVEN);
    struct model *model = row_model((int[]){12, 11}, 2, &loop);
    ASSERT_ROWS(model, 1, 23);
    ASSERT_ROWS(model, 8, 3);
    model_free(model);
}

/* Of so many rows in each of two threads the first `seen` end with a lock; these are the samples.
 */
static struct model *sampled_rows_model(int rows, size_t seen, struct facts_loop *loop,
                                        struct sample *sample) {
    struct trace *trace = row_trace((int[]){rows, rows}, 2);
    for (size_t t = 1; t < trace->n_threads; t++)
        trace->threads[t].n_records = 2 * seen;
    row_sample = sample;
    struct model *model = model_of(trace, loop);
    row_sample = NULL;
    return model;
}

/* Two threads that make no call but for their end; where the samples saw them. */
static struct model *silent_model(int line_of_samples) {
    struct facts_loop loop = row_loop(BOUND_UNKNOWN, REST_NONE);
    struct sample_node nodes[] = {
        {.parent = -1, .function = "worker", .line = line_of_samples, .running = 20}};
    struct sample sample = {.nodes = nodes, .n_nodes = 1};
    return sampled_rows_model(1, 0, &loop, &sample);
}

static void who_ends_a_loop_between_two_calls_must_be_told(void **state) {
    (void)state;
    struct model *model = silent_model(100);
    assert_int_equal(model->pools[1].partition, PARTITION_UNKNOWN);
    assert_non_null(strstr(model->pools[1].rule, "as in worker (t.c:90)"));
    model_free(model);
    model = silent_model(200);
    assert_int_equal(model->pools[1].partition, PARTITION_PERTHREAD);
    model_free(model);
}

static void rows_of_a_plain_loop_are_each_threads_own(void **state) {
    (void)state;
    struct facts_loop loop = row_loop(BOUND_FIXED, REST_NONE);
    struct model *model = row_model((int[]){12, 12}, 2, &loop);
    assert_int_equal(model->pools[1].partition, PARTITION_PERTHREAD);
    ASSERT_ROWS(model, 1, 12);
    ASSERT_ROWS(model, 8, 12);
    model_free(model);
}

static void that_one_thread_goes_another_way_is_said(void **state) {
    (void)state;
    struct facts_loop loop = row_loop(BOUND_FIXED, REST_NONE);
    for (int told = 0; told <= 1; told++) {
        other_way = told ? "threads > 1 in main" : NULL;
        struct model *model = row_model((int[]){12, 12}, 2, &loop);
        size_t notes = 0;
        for (size_t i = 0; i < model->n_notes; i++)
            notes += strstr(model->notes[i], "another way (threads > 1 in main)") != NULL;
        assert_int_equal(notes, told);
        model_free(model);
    }
    other_way = NULL;
}

/* The source was read and shows a loop, but not that around the rows, as behind a virtual function.
 */
static void rows_of_a_loop_that_the_source_does_not_show_are_unknown(void **state) {
    (void)state;
    struct facts_loop loop = row_loop(BOUND_FIXED, REST_NONE);
    loop.function = "elsewhere";
    struct model *model = row_model((int[]){12, 12}, 2, &loop);
    assert_int_equal(model->pools[1].partition, PARTITION_UNKNOWN);
    assert_non_null(strstr(model->pools[1].rule, "unknown: give --partition worker="));
    ASSERT_ROWS(model, 1, 24);
    ASSERT_ROWS(model, 8, 3);
    model_free(model);
}

/* Each thread's first row needs no decision: 23 rows are 21 decisions of two threads, 15 of eight.
 */
static void a_supply_that_ends_unseen_has_as_many_rows_for_any_number_of_threads(void **state) {
    (void)state;
    struct facts_loop loop = row_loop(BOUND_SHARED, REST_NONE);
    struct model *model = row_model((int[]){12, 11}, 2, &loop);
    assert_int_equal(model->pools[1].partition, PARTITION_SHARED);
    ASSERT_ROWS(model, 1, 23);
    ASSERT_ROWS(model, 2, 12);
    ASSERT_ROWS(model, 8, 3);
    model_free(model);
}

/* Of 100 rows that each of two threads does, the first 12 end with a lock; the samples, one for
 * each row, are those of `in_loop` rows there, and of the others behind the loop. */
static struct model *silent_rows_model(int in_loop) {
    enum { ROWS = 100, SEEN = 12 };
    struct facts_loop loop = row_loop(BOUND_SHARED, REST_NONE);
    struct sample_node nodes[] = {
        {.parent = -1, .function = "worker", .line = 100, .running = (uint64_t)in_loop},
        {.parent = -1, .function = "worker", .line = 120, .running = (uint64_t)(ROWS - in_loop)}};
    struct sample sample = {.nodes = nodes, .n_nodes = 2};
    return sampled_rows_model(ROWS, SEEN, &loop, &sample);
}

/* As where tables are made under a lock by who needs them first. */
static void rounds_without_a_call_are_shared_out_like_the_others(void **state) {
    (void)state;
    struct model *model = silent_rows_model(100);
    assert_int_equal(model->pools[1].partition, PARTITION_MIXED);
    ASSERT_ROWS(model, 1, 200);
    ASSERT_ROWS(model, 2, 100);
    ASSERT_ROWS(model, 8, 25);
    model_free(model);
}

static void what_a_thread_computes_behind_a_shared_loop_is_its_own(void **state) {
    (void)state;
    struct model *model = silent_rows_model(12);
    assert_int_equal(model->pools[1].partition, PARTITION_SHARED);
    ASSERT_ROWS(model, 1, 24 + 88);
    ASSERT_ROWS(model, 8, 3 + 88);
    model_free(model);
}

/* Every third row is also entered in a log, under the same lock; it is held for so long that the
 * graph shows it. */
static struct trace *logged_row_trace(const int *rows, int threads) {
    enum { HOLD_NS = 1000 };
    struct trace *trace = row_trace(rows, threads);
    uint32_t log = builder_context(trace, "write_log", 20, "worker", 104);
    for (int t = 1; t <= threads; t++) {
        struct trace_thread *thread = &trace->threads[t];
        thread->n_records = 0;
        for (int r = 1; r <= rows[t - 1]; r++) {
            uint32_t row = builder_context(trace, "finish_row", 10, "worker", 100);
            for (int times = 0; times <= (r % 3 == 0); times++) {
                uint64_t now = (uint64_t)r * ROW_NS - 3000 + (uint64_t)times * 1500;
                uint32_t place = times ? log : row;
                builder_record(trace, t, "pthread_mutex_lock", now, 0, MUTEX, place, 0);
                builder_record(trace, t, "pthread_mutex_unlock", now + HOLD_NS, 0, MUTEX, place, 0);
            }
        }
    }
    return trace;
}

/* Every sixth round, the first one among them, takes its lock at another place. */
static void rounds_are_counted_where_most_of_them_go(void **state) {
    (void)state;
    struct facts_loop loop = row_loop(BOUND_SHARED, REST_NONE);
    struct trace *trace = row_trace((int[]){24, 24}, 2);
    uint32_t skip = builder_context(trace, "skip_row", 30, "worker", 95);
    for (int t = 1; t <= 2; t++)
        for (size_t r = 0; r < trace->threads[t].n_records; r++)
            if (r / 2 % 6 == 0)
                trace->threads[t].records[r].context = skip;
    struct model *model = model_of(trace, &loop);
    double rounds = 0;
    for (size_t i = 0; i < model->n_objects; i++)
        if (model->objects[i].kind == OBJECT_TOKENS)
            rounds = model->objects[i].amount.base;
    assert_true(rounds >= 2 * (24 - 4) - 2); /* and not the 2 * 4 that skipped */
    model_free(model);
}

/* Each thread looks for a row under a lock, then tells that it has looked, and then does the row
 * or, when there is none, leaves. */
static struct trace *looked_for_row_trace(const int *rows, int threads) {
    enum { SEMAPHORE = 0x2000 };
    struct trace *trace = row_trace(rows, threads);
    uint32_t look = builder_context(trace, "next_row", 20, "worker", 95);
    uint32_t tell = builder_context(trace, "looked", 30, "worker", 96);
    for (int t = 1; t <= threads; t++) {
        trace->threads[t].n_records = 0;
        for (int r = 0; r <= rows[t - 1]; r++) {
            uint64_t now = 1 + (uint64_t)r * ROW_NS;
            builder_record(trace, t, "pthread_mutex_lock", now, 0, MUTEX, look, 0);
            builder_record(trace, t, "pthread_mutex_unlock", now + 1, 0, MUTEX, look, 0);
            builder_record(trace, t, "sem_post", now + 2, 0, SEMAPHORE, tell, 0);
        }
    }
    return trace;
}

/* As often as they are counted in the one run, what a thread does behind its last look is the same
 * as behind the others. */
static void a_thread_leaves_behind_its_last_look_wherever_it_goes_on_the_way(void **state) {
    (void)state;
    struct facts_loop loop = row_loop(BOUND_SHARED, REST_NONE);
    struct model *model = model_of(looked_for_row_trace((int[]){12, 12}, 2), &loop);
    assert_int_equal(model->pools[1].partition, PARTITION_SHARED);
    ASSERT_ROWS(model, 1, 24);
    ASSERT_ROWS(model, 2, 12);
    ASSERT_ROWS(model, 8, 3);
    model_free(model);
}

/* As when something that is not understood decides whether there is one more row. */
static void rows_of_which_nobody_knows_who_ends_them_are_unknown(void **state) {
    (void)state;
    struct facts_loop loop = row_loop(BOUND_UNKNOWN, REST_NONE);
    struct model *model = model_of(logged_row_trace((int[]){48, 48}, 2), &loop);
    assert_int_equal(model->pools[1].partition, PARTITION_UNKNOWN);
    assert_non_null(strstr(model->pools[1].rule, "who ends them, as in worker (t.c:90)"));
    ASSERT_ROWS(model, 8, 48);
    repartition(model, "worker=fixed");
    assert_true(fabs(rows_with(model, 8) - 12) < 1); /* and not 48 */
    model_free(model);
    loop.waits = true; /* until a predicate holds, and computes nothing of its own */
    model = model_of(logged_row_trace((int[]){48, 48}, 2), &loop);
    assert_int_equal(model->pools[1].partition, PARTITION_PERTHREAD);
    model_free(model);
}

/* A permit that each round takes and gives back does not tell either how many rounds there are. */
static void permits_do_not_tell_who_ends_a_loop(void **state) {
    (void)state;
    struct facts_loop loop = row_loop(BOUND_UNKNOWN, REST_NONE);
    struct trace *trace = row_trace((int[]){48, 48}, 2);
    for (int t = 1; t <= 2; t++)
        for (size_t r = 0; r < trace->threads[t].n_records; r++)
            trace->threads[t].records[r].api = r % 2 ? API_sem_post : API_sem_wait;
    struct model *model = model_of(trace, &loop);
    assert_int_equal(model->pools[1].partition, PARTITION_UNKNOWN);
    assert_non_null(strstr(model->pools[1].rule, "who ends them, as in worker (t.c:90)"));
    model_free(model);
}

static void a_share_of_rounds_that_differ_is_counted_in_rounds(void **state) {
    (void)state;
    struct facts_loop loop = row_loop(BOUND_SHARE, REST_EVEN);
    struct model *model = model_of(logged_row_trace((int[]){48, 48}, 2), &loop);
    bool shown = false;
    for (size_t n = 0; n < model->n_nodes; n++)
        shown |= model->nodes[n].kind == NODE_LOCK;
    assert_true(shown);
    ASSERT_ROWS(model, 1, 96);
    ASSERT_ROWS(model, 2, 48);
    ASSERT_ROWS(model, 8, 12);
    model_free(model);
}

/* Main puts 40 items and one more for each of two threads, which takes it and ends. The threads
 * wait for the first item, or find all there. */
static struct trace *farewell_trace(bool waits) {
    enum { ITEMS = 40, THREADS = 2, NOT_EMPTY = 0x2000, FIRST_PUT = 10000 };
    struct trace *trace = builder_new(THREADS);
    int main_thread = builder_thread(trace, "main", -1);
    uint32_t create = builder_context(trace, "main", 900, "main", 900);
    uint32_t join = builder_context(trace, "main", 910, "main", 910);
    uint32_t put = builder_context(trace, "put", 20, "main", 905);
    uint32_t get = builder_context(trace, "get", 30, "worker", 100);
    uint64_t end = FIRST_PUT + (ITEMS / THREADS + 1) * (uint64_t)ROW_NS;
    for (int t = 1; t <= THREADS; t++)
        builder_create(trace, main_thread, (uint64_t)t, 0, create, t);
    for (int i = 0; i < ITEMS + THREADS; i++) {
        uint64_t now = FIRST_PUT + 1000 * (uint64_t)i;
        builder_record(trace, main_thread, "pthread_mutex_lock", now, 0, MUTEX, put, 0);
        builder_record(trace, main_thread, "pthread_cond_signal", now + 1, 0, NOT_EMPTY, put, 0);
        builder_record(trace, main_thread, "pthread_mutex_unlock", now + 2, 0, MUTEX, put, 0);
    }
    for (int t = 1; t <= THREADS; t++) {
        int thread = builder_thread(trace, "worker", 0);
        uint64_t got = FIRST_PUT + 1000 * (uint64_t)(t - 1) + 50, came = 10 * (uint64_t)t;
        if (!waits)
            came = got += 50000;
        builder_record(trace, thread, "pthread_mutex_lock", came, 0, MUTEX, get, 0);
        if (waits)
            builder_record(trace, thread, "pthread_cond_wait", came + 1, got - came - 1, NOT_EMPTY,
                           get, 0);
        builder_record(trace, thread, "pthread_mutex_unlock", got + 1, 0, MUTEX, get, 0);
        builder_slice(trace, thread, 0, waits ? came + 1 : 1);
        builder_slice(trace, thread, got, end);
        for (int i = 1; i <= ITEMS / THREADS; i++) {
            uint64_t now = got + (uint64_t)i * ROW_NS;
            builder_record(trace, thread, "pthread_mutex_lock", now, 0, MUTEX, get, 0);
            builder_record(trace, thread, "pthread_mutex_unlock", now + 1, 0, MUTEX, get, 0);
        }
        builder_join(trace, main_thread, FIRST_PUT + 50000 + (uint64_t)t, end - FIRST_PUT - 50000,
                     join, t);
    }
    builder_finish(trace, end + 100);
    for (int t = 1; t <= THREADS; t++)
        trace->threads[t].end_ns = FIRST_PUT + 1000 * (uint64_t)(t - 1) + 100 +
                                   (waits ? 0 : 50000) + ITEMS / THREADS * (uint64_t)ROW_NS;
    return trace;
}

static void items_that_tell_threads_to_end_are_as_many_as_the_threads(void **state) {
    (void)state;
    struct model *model = model_of(farewell_trace(true), NULL);
    assert_int_equal(model->pools[1].partition, PARTITION_SHARED);
    ASSERT_ROWS(model, 1, 40);
    ASSERT_ROWS(model, 2, 20);
    ASSERT_ROWS(model, 8, 5);
    model_free(model);
}

/* Main posts a semaphore for each of so many rows, and elsewhere once more for each of two threads,
 * which ends by it. */
static struct trace *semaphore_trace(int items) {
    enum { THREADS = 2, SEMAPHORE = 0x3000, FIRST_POST = 10000 };
    struct trace *trace = builder_new(THREADS);
    int main_thread = builder_thread(trace, "main", -1);
    uint32_t create = builder_context(trace, "main", 900, "main", 900);
    uint32_t join = builder_context(trace, "main", 910, "main", 910);
    uint32_t post = builder_context(trace, "main", 903, "main", 903);
    uint32_t dismiss = builder_context(trace, "main", 906, "main", 906);
    uint32_t wait = builder_context(trace, "worker", 100, "worker", 100);
    uint64_t end = FIRST_POST + (uint64_t)(items / THREADS + 1) * ROW_NS;
    for (int t = 1; t <= THREADS; t++)
        builder_create(trace, main_thread, (uint64_t)t, 0, create, t);
    for (int i = 0; i < items + THREADS; i++)
        builder_record(trace, main_thread, "sem_post", FIRST_POST + 1000 * (uint64_t)i, 0,
                       SEMAPHORE, i < items ? post : dismiss, 0);
    for (int t = 1; t <= THREADS; t++) {
        int thread = builder_thread(trace, "worker", 0);
        uint64_t came = 10 * (uint64_t)t, got = FIRST_POST + 1000 * (uint64_t)(t - 1) + 50;
        builder_record(trace, thread, "sem_wait", came, got - came, SEMAPHORE, wait, 0);
        builder_slice(trace, thread, 0, came + 1);
        builder_slice(trace, thread, got, end);
        for (int i = 1; i <= items / THREADS; i++)
            builder_record(trace, thread, "sem_wait", got + (uint64_t)i * ROW_NS, 0, SEMAPHORE,
                           wait, 0);
        builder_join(trace, main_thread, FIRST_POST + 50000 + (uint64_t)t, end - FIRST_POST - 50000,
                     join, t);
    }
    builder_finish(trace, end + 100);
    for (int t = 1; t <= THREADS; t++)
        trace->threads[t].end_ns =
            FIRST_POST + 1000 * (uint64_t)(t - 1) + 100 + (uint64_t)(items / THREADS) * ROW_NS;
    return trace;
}

static void a_semaphore_that_counts_work_is_a_supply(void **state) {
    (void)state;
    struct model *model = model_of(semaphore_trace(40), NULL);
    size_t closings = 0;
    for (size_t n = 0; n < model->n_nodes; n++)
        closings += model->nodes[n].kind == NODE_CLOSE;
    assert_int_equal(closings, 1);
    assert_int_equal(model->pools[1].partition, PARTITION_SHARED);
    ASSERT_ROWS(model, 1, 40);
    ASSERT_ROWS(model, 2, 20);
    ASSERT_ROWS(model, 8, 5);
    model_free(model);
}

/* As a word to begin, behind which each does what may be its own. */
static void what_each_thread_takes_once_is_no_supply(void **state) {
    (void)state;
    struct model *model = model_of(semaphore_trace(0), NULL);
    assert_int_equal(model->pools[1].partition, PARTITION_UNKNOWN);
    model_free(model);
}

/* Items at once, by what two threads take of a queue into which main puts one in each step. */
static double batch_of(size_t puts, size_t takes) {
    struct step *steps = memory_alloc(puts + 2 * takes, sizeof *steps);
    for (size_t s = 0; s < puts + 2 * takes; s++) {
        steps[s] = step_new(s < puts ? NODE_PUT : NODE_GET, s, s, 0);
        steps[s].use.object = 0;
        steps[s].outcome = s < puts ? OUTCOME_ANY : OUTCOME_YES;
    }
    struct stream streams[] = {{puts, steps}, {takes, steps + puts}, {takes, steps + puts + takes}};
    struct stream_result result = {.streams = streams};
    struct trace trace = {.n_threads = 3};
    int pool_of[] = {0, 1, 1};
    struct thread_pools pools = {.n_pools = 2, .pool_of = pool_of};
    struct partition_evidence evidence_of[2] = {0};
    struct peg_input input = {
        .trace = &trace, .pools = &pools, .streams = &result, .evidence = evidence_of};
    batch_takes_note(&input, 1);
    free(steps);
    assert_true(evidence_of[0].batch == 0);
    return evidence_of[1].batch;
}

static void more_puts_than_takes_are_taken_several_at_once(void **state) {
    (void)state;
    assert_true(batch_of(80, 10) == 4);
    assert_true(batch_of(20, 10) == 0);
    assert_true(batch_of(21, 10) == 0); /* one was never taken */
}

/* Two threads tell by a semaphore of each row that they begin, 40 in all, which main waits for.
 * Then each does next to nothing in a loop by which the source shares something out. */
static struct trace *result_trace(void) {
    enum { ROWS = 20, THREADS = 2, SEMAPHORE = 0x3000, OTHER = 0x4000, APART = 100 };
    struct trace *trace = builder_new(THREADS + 1);
    int main_thread = builder_thread(trace, "main", -1);
    uint32_t create = builder_context(trace, "main", 900, "main", 900);
    uint32_t join = builder_context(trace, "main", 910, "main", 910);
    uint32_t wait = builder_context(trace, "main", 905, "main", 905);
    uint32_t post = builder_context(trace, "worker", 100, "worker", 100);
    uint32_t first = builder_context(trace, "merge", 117, "worker", 120);
    uint32_t second = builder_context(trace, "merge", 118, "worker", 120);
    uint64_t end = (ROWS - 1) * (uint64_t)ROW_NS + 10 * APART, now = 10;
    for (int t = 1; t <= THREADS; t++)
        builder_create(trace, main_thread, (uint64_t)t, 0, create, t);
    builder_slice(trace, main_thread, 0, now);
    for (uint64_t i = 0; i < ROWS * THREADS; i++) {
        uint64_t told = i / THREADS * ROW_NS + (1 + i % THREADS) * APART;
        builder_record(trace, main_thread, "sem_wait", now, told - now, SEMAPHORE, wait, 0);
        builder_slice(trace, main_thread, told, told + 10);
        now = told + 10;
    }
    for (int t = 1; t <= THREADS; t++) {
        int thread = builder_thread(trace, "worker", 0);
        uint64_t done = 0;
        for (int r = 0; r < ROWS; r++) {
            done = (uint64_t)r * ROW_NS + (uint64_t)t * APART;
            builder_record(trace, thread, "sem_post", done, 0, SEMAPHORE, post, 0);
        }
        builder_record(trace, thread, "sem_post", done + APART, 0, OTHER, first, 0);
        builder_record(trace, thread, "sem_post", done + 2 * APART, 0, OTHER, second, 0);
        builder_slice(trace, thread, 0, end);
        builder_join(trace, main_thread, now + (uint64_t)t, end - now, join, t);
    }
    builder_finish(trace, end + 100);
    for (int t = 1; t <= THREADS; t++)
        trace->threads[t].end_ns = end;
    return trace;
}

static void what_is_done_once_in_no_time_does_not_say_how_rows_are_shared_out(void **state) {
    (void)state;
    struct facts_loop loop = row_loop(BOUND_SHARE, REST_NONE);
    loop.function = "merge";
    loop.first_line = 115;
    loop.last_line = 119;
    struct model *model = model_of(result_trace(), &loop);
    assert_int_equal(model->pools[1].partition, PARTITION_SHARED);
    assert_non_null(strstr(model->pools[1].rule, "so much as main takes from it"));
    ASSERT_ROWS(model, 1, 39); /* but for each thread's last one, after which nothing is told */
    ASSERT_ROWS(model, 2, 19);
    ASSERT_ROWS(model, 8, 4);
    model_free(model);
}

/* The source says that it is a queue; a taker that found it empty once would be one that gives up.
 */
static void takers_that_were_never_refused_wait(void **state) {
    (void)state;
    struct builder_queue queue;
    const struct facts *facts = builder_queue_facts(&queue, "put", 20, "get", 30);
    struct trace *trace = farewell_trace(false);
    struct error error = {0};
    struct model *model = modelgen_build(trace, facts, NULL, NULL, &error);
    assert_string_equal(error.text, "");
    size_t gets = 0;
    for (size_t n = 0; n < model->n_nodes; n++) {
        gets += model->nodes[n].kind == NODE_GET;
        if (model->nodes[n].kind == NODE_GET)
            assert_true(model->nodes[n].timeout_ns < 0);
    }
    assert_true(gets > 0);
    model_free(model);
    trace_free(trace);
}

static void without_source_a_remainder_tells_a_total(void **state) {
    (void)state;
    struct model *model = row_model((int[]){6, 6, 6, 5}, 4, NULL);
    assert_int_equal(model->pools[1].partition, PARTITION_FIXED);
    assert_true(model->pools[1].confidence > 0.5 && model->pools[1].confidence < 1);
    ASSERT_ROWS(model, 1, 23);
    ASSERT_ROWS(model, 8, 3);
    model_free(model);
}

/* As threads that sleep and look now and then: one of four such splits is even by chance. */
static void a_remainder_of_few_rounds_is_chance(void **state) {
    (void)state;
    struct model *model = row_model((int[]){2, 1, 2, 1}, 4, NULL);
    assert_int_equal(model->pools[1].partition, PARTITION_UNKNOWN);
    model_free(model);
}

/* As with std::thread, whose source is not there: no loop is known for a share. */
static void source_that_does_not_show_how_threads_come_tells_no_rule(void **state) {
    (void)state;
    struct facts_loop loop = row_loop(BOUND_FIXED, REST_NONE);
    creation_is_seen = false;
    struct model *model = row_model((int[]){6, 6, 6, 5}, 4, &loop);
    creation_is_seen = true;
    assert_int_equal(model->pools[1].partition, PARTITION_FIXED);
    assert_true(model->pools[1].confidence < 1);
    ASSERT_ROWS(model, 1, 23);
    model_free(model);
}

/* Each thread first computes for as long as four rows take. */
static void without_source_computation_beside_the_rounds_is_unknown(void **state) {
    (void)state;
    struct trace *trace = row_trace((int[]){12, 11}, 2);
    for (int t = 1; t <= 2; t++) {
        struct trace_thread *thread = &trace->threads[t];
        for (size_t r = 0; r < thread->n_records; r++)
            thread->records[r].start_ns += 4 * ROW_NS;
        thread->slices[0].off_ns += 4 * ROW_NS;
        thread->end_ns += 4 * ROW_NS;
        trace->threads[0].records[1 + t].duration_ns += 4 * ROW_NS;
    }
    trace->threads[0].end_ns += 4 * ROW_NS;
    trace->meta.run_ns += 4 * ROW_NS;
    struct model *model = model_of(trace, NULL);
    assert_int_equal(model->pools[1].partition, PARTITION_UNKNOWN);
    assert_non_null(strstr(model->pools[1].rule, "unknown: give --partition worker="));
    assert_true(rows_with(model, 1) > 26 && rows_with(model, 1) < 28); /* 4 + 23 */
    assert_true(rows_with(model, 8) > 6 && rows_with(model, 8) < 8);   /* 4 + 3 */
    repartition(model, "worker=fixed");
    assert_true(rows_with(model, 1) > 30);
    model_free(model);
}

static void without_source_equal_rounds_are_unknown_until_told(void **state) {
    (void)state;
    struct model *model = row_model((int[]){12, 12}, 2, NULL);
    assert_int_equal(model->pools[1].partition, PARTITION_UNKNOWN);
    assert_non_null(
        strstr(model->pools[1].rule, "unknown: give --partition worker=shared|fixed|perthread"));
    repartition(model, "worker=perthread");
    assert_int_equal(model->pools[1].partition, PARTITION_PERTHREAD);
    ASSERT_ROWS(model, 6, 12);
    repartition(model, "worker=fixed");
    ASSERT_ROWS(model, 6, 4);
    ASSERT_ROWS(model, 5, 5); /* 24 rows do not divide */
    repartition(model, "worker=shared");
    ASSERT_ROWS(model, 6, 4);
    model_free(model);
}

enum { QUEUE = 0x2000, ITEMS = 24, NAP_NS = 10000 };

/* Main puts all items into a queue, then two threads take one each millisecond, until it says that
 * there are no more. It naps before it creates each of them. */
static struct trace *item_trace(void) {
    struct trace *trace = builder_new(3);
    int main_thread = builder_thread(trace, "main", -1);
    uint32_t nap = builder_context(trace, "main", 899, "main", 899);
    uint32_t create = builder_context(trace, "main", 900, "main", 900);
    uint32_t put = builder_context(trace, "main", 905, "main", 905);
    uint32_t close = builder_context(trace, "main", 907, "main", 907);
    uint32_t join = builder_context(trace, "main", 910, "main", 910);
    uint32_t get = builder_context(trace, "worker", 100, "worker", 100);
    uint64_t end = ITEMS / 2 * ROW_NS + 4 * NAP_NS, now = 0;
    for (int i = 0; i < ITEMS; i++)
        builder_record(trace, main_thread, "user:put", ++now, 0, QUEUE, put, 0);
    builder_record(trace, main_thread, "user:close_queue", ++now, 0, QUEUE, close, 0);
    for (int t = 1; t <= 2; t++) {
        int thread = builder_thread(trace, "worker", 0);
        builder_record(trace, main_thread, "usleep", now, NAP_NS, 0, nap, 0);
        builder_slice(trace, main_thread, now - 1, now);
        now += NAP_NS + 1;
        builder_create(trace, main_thread, ++now, 0, create, t);
        for (int i = 0; i <= ITEMS / 2; i++) {
            uint64_t at = (uint64_t)i * ROW_NS + 3 * NAP_NS;
            builder_record(trace, thread, "user:get", at, 0, QUEUE, get, i == ITEMS / 2);
            if (i == ITEMS / 2)
                trace->threads[thread].records[i].flags |= TRACE_FAILED;
        }
        builder_slice(trace, thread, 3 * NAP_NS, end);
    }
    builder_slice(trace, main_thread, now - 1, now);
    builder_join(trace, main_thread, now, end - now, join, 1);
    builder_join(trace, main_thread, end, 0, join, 2);
    builder_finish(trace, end);
    return trace;
}

static void items_that_do_not_follow_the_threads_are_as_large_whoever_takes_them(void **state) {
    (void)state;
    struct trace *trace = item_trace();
    char *file = "t.c";
    struct facts_share share = {
        .place = {"t.c", "worker", 105, 1}, .callee = "compute", .why = "not so"};
    struct facts_loop loops[] = {{.file = "t.c",
                                  .function = "worker",
                                  .first_line = 95,
                                  .last_line = 110,
                                  .bound = BOUND_UNKNOWN,
                                  .has_fragments = true},
                                 {.file = "t.c",
                                  .function = "main",
                                  .first_line = 898,
                                  .last_line = 901,
                                  .bound = BOUND_THREADS,
                                  .has_fragments = true}};
    struct facts facts = {.version = FACTS_VERSION,
                          .n_loops = 2,
                          .loops = loops,
                          .n_shares = 1,
                          .shares = &share,
                          .n_files = 1,
                          .files = &file};
    struct model *model = builder_model(trace, &facts);
    ASSERT_ROWS(model, 1, ITEMS);
    ASSERT_ROWS(model, 4, ITEMS / 4.0);
    model_free(model);
}

/* ---- loops over the threads, and one more or less ---- */

enum { NAPPERS = 4 };

/* Main sleeps so often in a loop; its threads have hardly anything to do. */
static struct trace *nap_trace(int naps) {
    struct trace *trace = builder_new(16);
    int main_thread = builder_thread(trace, "main", -1);
    uint32_t create = builder_context(trace, "main", 900, "main", 900);
    uint32_t nap = builder_context(trace, "main", 905, "main", 905);
    uint32_t join = builder_context(trace, "main", 910, "main", 910);
    const uint64_t nap_ns = 1000000, end = (uint64_t)(naps + 2) * nap_ns;
    for (int t = 1; t <= NAPPERS; t++)
        builder_create(trace, main_thread, (uint64_t)t, 0, create, t);
    for (int t = 1; t <= NAPPERS; t++)
        builder_slice(trace, builder_thread(trace, "worker", main_thread), 100, 200);
    for (int i = 0; i < naps; i++)
        builder_record(trace, main_thread, "usleep", (uint64_t)(i + 1) * nap_ns, nap_ns - 100, 0,
                       nap, 0);
    for (int t = 1; t <= NAPPERS; t++)
        builder_join(trace, main_thread, end + (uint64_t)t, 0, join, t);
    builder_finish(trace, end + 100);
    return trace;
}

static void loops_over_all_but_some_threads_grow_as_they_do(void **state) {
    (void)state;
    for (int offset = -2; offset <= 2; offset++) {
        char *file = "t.c";
        struct facts_loop loop = {.file = "t.c",
                                  .function = "main",
                                  .first_line = 904,
                                  .last_line = 906,
                                  .bound = BOUND_THREADS,
                                  .has_fragments = true,
                                  .factor = 1,
                                  .offset = offset};
        struct facts_creation creation = {
            .place = {"t.c", "main", 900, 1}, .object = ON_THREAD, .per_thread = true};
        struct facts facts = {.version = FACTS_VERSION,
                              .n_loops = 1,
                              .loops = &loop,
                              .n_creations = 1,
                              .creations = &creation,
                              .n_files = 1,
                              .files = &file};
        struct trace *trace = nap_trace(NAPPERS + offset);
        struct error error;
        struct model *model = builder_model(trace, &facts);
        double run_ms[2];
        for (int i = 0; i < 2; i++) {
            int threads[] = {1, i ? 10 : NAPPERS};
            struct sim_result result;
            assert_int_equal(
                sim_predict(model, &(struct sim_config){.pool_threads = threads}, &result, &error),
                0);
            run_ms[i] = result.run_ns.mean / 1e6;
            sim_result_free(&result);
        }
        assert_float_equal(run_ms[1] - run_ms[0], 10 - NAPPERS, 0.3);
        model_free(model);
    }
}

/* ---- a loop in a function that another loop calls ---- */

/* A thread's call of the function with the rows: it locks at the beginning of each one, and unlocks
 * at another place where it finds that none is left. Then it says that it is done. Until when. */
static uint64_t visit_rows(struct trace *trace, int thread, uint64_t now, int rows) {
    enum { HOLD_NS = 1000 };
    for (int r = 0; r <= rows; r++) {
        uint32_t take = builder_context(trace, "do_rows", 210, "worker", 100);
        uint32_t taken = builder_context(trace, "do_rows", r < rows ? 220 : 215, "worker", 100);
        builder_record(trace, thread, "pthread_mutex_lock", now, 0, MUTEX, take, 0);
        builder_record(trace, thread, "pthread_mutex_unlock", now + HOLD_NS, 0, MUTEX, taken, 0);
        now += r < rows ? ROW_NS : 2 * HOLD_NS;
    }
    uint32_t done = builder_context(trace, "worker", 105, "worker", 105);
    builder_record(trace, thread, "pthread_mutex_lock", now, 0, MUTEX, done, 0);
    builder_record(trace, thread, "pthread_mutex_unlock", now + HOLD_NS, 0, MUTEX, done, 0);
    return now + 2 * HOLD_NS;
}

/* The second thread gets rows a second time. The locks are not held at a time by both. */
static struct trace *visits_trace(void) {
    struct trace *trace = builder_new(2);
    int main_thread = builder_thread(trace, "main", -1);
    uint32_t create = builder_context(trace, "main", 900, "main", 900);
    uint32_t join = builder_context(trace, "main", 910, "main", 910);
    uint64_t end = 0;
    for (int t = 1; t <= 2; t++) {
        int thread = builder_thread(trace, "worker", 0);
        builder_create(trace, main_thread, (uint64_t)t, 0, create, t);
        uint64_t now = visit_rows(trace, thread, (uint64_t)t * 300000, t == 1 ? 120 : 80);
        now = t == 1 ? now : visit_rows(trace, thread, now, 40);
        builder_slice(trace, thread, 0, now);
        end = now > end ? now : end;
    }
    for (int t = 1; t <= 2; t++)
        builder_join(trace, main_thread, 10 + (uint64_t)t, end, join, t);
    builder_finish(trace, end + 100);
    return trace;
}

/* The outer loop has fewer lines, and the way out begins inside of the inner one. */
static void rounds_of_a_called_functions_loop_are_a_total(void **state) {
    (void)state;
    enum { ROWS = 240 };
    char *file = "t.c";
    struct facts_loop loops[] = {row_loop(BOUND_UNKNOWN, REST_NONE),
                                 row_loop(BOUND_SHARED, REST_NONE)};
    loops[1].function = "do_rows";
    loops[1].first_line = 200;
    loops[1].last_line = 300;
    struct facts_creation creation = {.place = {.function = "main", .file = file, .line = 900},
                                      .object = ON_THREAD,
                                      .per_thread = true,
                                      .one_thread = other_way};
    struct facts facts = {.version = FACTS_VERSION,
                          .n_loops = 2,
                          .loops = loops,
                          .n_files = 1,
                          .files = &file,
                          .n_creations = 1,
                          .creations = &creation};
    struct trace *trace = visits_trace();
    struct error error;
    struct model *model = builder_model(trace, &facts);
    for (int threads = 1; threads <= 8; threads *= 2) {
        int sizes[] = {1, threads};
        struct sim_config config = {.pool_threads = sizes, .cores = threads + 1, .seed = 1};
        struct sim_result result;
        assert_int_equal(sim_predict(model, &config, &result, &error), 0);
        assert_true(fabs(result.cpu_ns.mean / ROW_NS - ROWS) < ROWS / 2.0);
        sim_result_free(&result);
    }
    model_free(model);
}

/* ---- a loop with several ends ---- */

static int pool_node(struct model *model, int pool, enum node_kind kind, const char *name) {
    return model_add_node(model, pool, kind, memory_strdup(name));
}

/* An edge that was taken `starts` times, `runs` times in a row each. */
static void counted_edge(struct model *model, int from, int to, double starts, double runs) {
    struct edge *edge = model_add_edge(&model->nodes[from], to);
    edge->probability = starts;
    edge->runs = (struct dist){.kind = DIST_CONSTANT, .mean = runs};
}

/* Main creates the pool of two threads, and joins it. Gives the place where these begin. */
static struct model *pool_of_two(int *begin) {
    struct model *model = memory_alloc(1, sizeof *model);
    model->version = MODEL_VERSION;
    model->cpu_correction = 1;
    model->machine.cores = 2;
    model->machine.quantum_ns = ROW_NS;
    model->machine.tick_ns = ROW_NS;
    for (int p = 0; p < 2; p++) {
        int pool = model_add_pool(model, memory_strdup(p ? "worker" : "main"));
        model->pools[pool].threads = model_builder_constant(p + 1);
        model->pools[pool].profiled_threads = p + 1;
        model->pools[pool].scales = p;
        model->pools[pool].at_start = !p;
    }
    int start = model->pools[0].entry = pool_node(model, 0, NODE_START, "main: start");
    int create = pool_node(model, 0, NODE_CREATE, "main: create");
    int join = pool_node(model, 0, NODE_JOIN, "main: join");
    model->nodes[create].target_pool = model->nodes[join].target_pool = 1;
    model_add_edge(&model->nodes[start], create);
    model_add_edge(&model->nodes[create], join);
    int end = pool_node(model, 0, NODE_END, "main: end"); /* may move the nodes */
    model_add_edge(&model->nodes[join], end);
    *begin = model->pools[1].entry = pool_node(model, 1, NODE_START, "worker: start");
    return model;
}

/* Two threads did a row each, then went round 15 times by the one of two places and 15 times by the
 * other, and left at either. */
static struct model *two_ended_model(void) {
    int begin;
    struct model *model = pool_of_two(&begin);
    int places[] = {pool_node(model, 1, NODE_STEP, "worker: one"),
                    pool_node(model, 1, NODE_STEP, "worker: other")};
    int end = pool_node(model, 1, NODE_END, "worker: end");
    model_add_edge(&model->nodes[begin], places[0]);
    for (int i = 0; i < 2; i++) {
        counted_edge(model, places[i], places[i], 4, 3);
        counted_edge(model, places[i], places[1 - i], 3, 1);
        model_add_edge(&model->nodes[places[i]], end)->leaves = true;
        model->nodes[places[i]].stays = (struct dist){.kind = DIST_CONSTANT, .mean = 5};
        model->nodes[places[i]].cpu_ns = (struct dist){.kind = DIST_CONSTANT, .mean = ROW_NS};
    }
    return model;
}

/* Two threads did 32 rows in all: so do others, when they share them. Ends the model. */
static void assert_rows_are_shared(struct model *model) {
    struct error error = {0};
    if (model_check(model, &error))
        fail_msg("%s", error.text);
    repartition(model, "worker=shared");
    for (int threads = 1; threads <= 8; threads *= 2)
        ASSERT_ROWS(model, threads, 32. / threads);
    model_free(model);
}

static void a_loop_with_two_ends_is_done_when_the_rounds_of_both_are(void **state) {
    (void)state;
    assert_rows_are_shared(two_ended_model());
}

/* Two threads did 16 rows each, and put them into a queue that was never closed, which it would
 * have answered them with. */
static struct model *unanswered_model(void) {
    int begin;
    struct model *model = pool_of_two(&begin);
    int place = pool_node(model, 1, NODE_PUT, "worker: row");
    int end = pool_node(model, 1, NODE_END, "worker: end");
    struct node *row = &model->nodes[place];
    row->object = model_add_object(model, OBJECT_QUEUE, memory_strdup("rows"));
    row->stays = (struct dist){.kind = DIST_CONSTANT, .mean = 15};
    model_add_edge(&model->nodes[begin], place);
    model_add_edge(row, end)->when = OUTCOME_NO;
    for (int leaves = 0; leaves <= 1; leaves++) {
        struct edge *edge = model_add_edge(row, leaves ? end : place);
        edge->when = OUTCOME_YES;
        edge->leaves = leaves;
        edge->cpu_ns = (struct dist){.kind = DIST_CONSTANT, .mean = ROW_NS};
    }
    return model;
}

static void a_way_out_by_another_answer_is_no_round(void **state) {
    (void)state;
    assert_rows_are_shared(unanswered_model());
}

/* In a function that is called from there. */
static uint32_t further_in(struct trace *trace, uint32_t context) {
    struct trace_frame frames[8] = {{.file = "t.c", .function = "hand_on", .line = 50}};
    const struct trace_context *from = &trace->contexts[context];
    assert_true(from->n_frames < 8);
    memcpy(frames + 1, from->frames, from->n_frames * sizeof *frames);
    return builder_chain(trace, from->n_frames + 1, frames);
}

/* The creator does so many of the rows that are shared out, or of others under a mutex of theirs,
 * or comes to the mutex for another reason, and does something else in between. */
static struct model *helped_model(int rows, uint64_t mutex, bool is_row) {
    struct trace *trace = row_trace((int[]){11, 11}, 2);
    struct trace_thread *creator = &trace->threads[0];
    uint32_t row = trace->threads[1].records[0].context;
    row = is_row ? row : further_in(trace, row);
    struct trace_record joins[] = {creator->records[2], creator->records[3]};
    uint32_t between = builder_context(trace, "look", 930, "main", 920);
    creator->n_records = 2;
    for (int r = 1; r <= rows; r++) {
        uint64_t now = (uint64_t)r * ROW_NS;
        builder_record(trace, 0, "pthread_mutex_lock", now - 9, 0, 2 * MUTEX, between, 0);
        builder_record(trace, 0, "pthread_mutex_unlock", now - 8, 0, 2 * MUTEX, between, 0);
        builder_record(trace, 0, "pthread_mutex_lock", now, 0, mutex, row, 0);
        builder_record(trace, 0, "pthread_mutex_unlock", now + 1, 0, mutex, row, 0);
    }
    for (int j = 0; j < 2; j++)
        builder_join(trace, 0, 11 * ROW_NS + 10 + (uint64_t)j, ROW_NS, joins[j].context, 1 + j);
    struct facts_loop loop = row_loop(BOUND_SHARED, REST_NONE);
    return model_of(trace, &loop);
}

static void rounds_that_their_creator_takes_too_are_unknown(void **state) {
    (void)state;
    struct model *model = helped_model(0, MUTEX, true);
    assert_int_not_equal(model->pools[1].partition, PARTITION_UNKNOWN);
    model_free(model);
    model = helped_model(10, MUTEX, true);
    assert_int_equal(model->pools[1].partition, PARTITION_UNKNOWN);
    assert_non_null(
        strstr(model->pools[1].rule, "main goes round the loop in worker (t.c:90), too"));
    model_free(model);
}

/* As a library's loop does whose pools have a queue each. */
static void rounds_of_another_object_are_none_of_theirs(void **state) {
    (void)state;
    struct model *model = helped_model(10, 3 * MUTEX, true);
    assert_int_not_equal(model->pools[1].partition, PARTITION_UNKNOWN);
    model_free(model);
}

/* As where the tasks of one pool hand others on to it, and its own loop calls tasks. */
static void who_takes_the_lock_further_in_goes_not_round(void **state) {
    (void)state;
    struct model *model = helped_model(10, MUTEX, false);
    assert_int_not_equal(model->pools[1].partition, PARTITION_UNKNOWN);
    model_free(model);
}

/* One loop makes six threads, of which two live at a time, as it waits for the oldest one, or joins
 * them elsewhere. */
static struct model *window_model(enum facts_bound bound, int join_line) {
    enum { ITEMS = 6, WINDOW = 2, LIFE_NS = 10 * ROW_NS };
    struct trace *trace = builder_new(WINDOW);
    builder_thread(trace, "main", -1);
    uint32_t create = builder_context(trace, "main", 900, "main", 900);
    uint32_t join = builder_context(trace, "main", join_line, "main", join_line);
    uint32_t row = builder_context(trace, "finish_row", 10, "worker", 100);
    uint64_t now = 0;
    for (int t = 1; t <= ITEMS + WINDOW; t++) {
        if (t > WINDOW) {
            uint64_t end_ns = trace->threads[t - WINDOW].end_ns;
            builder_join(trace, 0, now, end_ns + 5 - now, join, t - WINDOW);
            now = end_ns + 5;
        }
        if (t > ITEMS)
            continue;
        int thread = builder_thread(trace, "worker", 0);
        builder_create(trace, 0, now + 1, 0, create, t);
        builder_record(trace, thread, "pthread_mutex_lock", now + ROW_NS, 0, MUTEX, row, 0);
        builder_record(trace, thread, "pthread_mutex_unlock", now + ROW_NS + 1, 0, MUTEX, row, 0);
        builder_slice(trace, thread, now + 2, now + LIFE_NS);
        builder_life(trace, thread, now + 2, now + LIFE_NS);
        now += 3;
    }
    trace->meta.run_ns = now + 10;
    builder_life(trace, 0, 0, now + 10);
    struct facts_loop loop = {.file = "t.c",
                              .function = "main",
                              .first_line = 895,
                              .last_line = 915,
                              .bound = bound,
                              .has_fragments = true,
                              .why = "i < 6"};
    return model_of(trace, &loop);
}

static void threads_of_a_loop_over_items_are_not_as_many_as_asked_for(void **state) {
    (void)state;
    struct model *model = window_model(BOUND_FIXED, 910);
    assert_int_equal(model->pools[1].partition, PARTITION_UNKNOWN);
    assert_non_null(strstr(model->pools[1].rule, "6 threads are made in main (t.c:895)"));
    model_free(model);
    model = window_model(BOUND_THREADS, 910);
    assert_null(strstr(model->pools[1].rule, "are made in"));
    model_free(model);
    model = window_model(BOUND_FIXED, 930);
    assert_null(strstr(model->pools[1].rule, "are made in"));
    model_free(model);
}

static void a_rule_for_no_pool_or_no_rule_is_refused(void **state) {
    (void)state;
    struct model *model = row_model((int[]){12, 12}, 2, NULL);
    static const char *const bad[] = {"worker", "worker=", "worker=mixed", "=fixed",
                                      "worker=Fixed"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct repartitions list = {0};
        struct error error = {0};
        assert_int_equal(repartitions_add(&list, bad[i], &error), -1);
        assert_non_null(strstr(error.text, bad[i]));
        assert_int_equal(list.count, 0);
    }
    static const char *const foreign[] = {"main=fixed", "work=fixed", "workers=fixed"};
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++) {
        struct repartitions list = {0};
        struct error error = {0};
        assert_int_equal(repartitions_add(&list, foreign[i], &error), 0);
        assert_int_equal(repartitions_apply(&list, model, &error), -1);
        assert_non_null(strstr(error.text, "these do: worker"));
        free(list.items);
    }
    model_free(model);
}

static void the_rest_survives_the_model_file(void **state) {
    (void)state;
    struct facts_loop loop = row_loop(BOUND_SHARE, REST_LAST);
    struct model *model = row_model((int[]){11, 12}, 2, &loop);
    char path[] = "/tmp/persik-partition-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    struct error error = {0};
    assert_int_equal(model_save(model, path, &error), 0);
    struct model *again = model_load(path, &error);
    assert_string_equal(error.text, "");
    assert_int_equal(again->pools[1].partition, PARTITION_FIXED);
    ASSERT_ROWS(again, 8, 9);
    remove(path);
    model_free(again);
    model_free(model);
}

/* The parts of a triangle, a slope, are read off exactly for any number of threads. */
static void parts_that_cost_more_and_more_go_on_so(void **state) {
    (void)state;
    const double parts[] = {0.5, 1.5};
    for (int threads = 1; threads <= 9; threads++)
        for (int i = 0; i < threads; i++) {
            double expected = (2.0 * i + 1) / threads;
            assert_true(fabs(partition_weight(parts, 2, threads, i) - expected) < 1e-12);
        }
    assert_true(partition_weight(parts, 2, 4, 4) == 1);
    assert_true(partition_weight(NULL, 0, 4, 0) == 1);
}

/* Whatever they are, threads do all of it together, each at least nothing; as many threads as parts
 * do as they did, and where the parts are flat nothing is added. */
static void parts_stay_a_total_for_any_number_of_threads(void **state) {
    (void)state;
    const double parts[] = {0, 0.2, 3.1, 0.7, 1, 1, 1};
    const size_t n = sizeof parts / sizeof *parts;
    for (int threads = 1; threads <= 40; threads++) {
        double sum = 0;
        for (int i = 0; i < threads; i++) {
            double weight = partition_weight(parts, n, threads, i);
            assert_true(weight >= 0);
            sum += weight;
        }
        assert_true(fabs(sum / threads - 1) < 1e-12);
    }
    for (size_t i = 0; i < n; i++)
        assert_true(fabs(partition_weight(parts, n, (int)n, (int)i) - parts[i]) < 1e-12);
    assert_true(fabs(partition_weight(parts, n, 14, 12) - 1) < 1e-12);
    assert_true(fabs(partition_weight(parts, n, 14, 11) - 1) < 1e-12);
}

/* Threads that are created anew may make other rounds than those before them. */
static void rounds_are_counted_for_those_that_lived_at_one_time(void **state) {
    (void)state;
    size_t threads[] = {5, 6, 7, 8};
    struct thread_pool pool = {.n_threads = 4, .threads = threads, .size = 2};
    struct loop_pass items[] = {{5, 10, 0}, {6, 10, 0}, {6, 20, 0},
                                {5, 20, 0}, {8, 50, 0}, {7, 60, 0}};
    const size_t round_and_number[] = {0, 1, 3, 2, 5, 4};
    struct loop_passes passes = {items, 6, 6};
    size_t *places = loop_passes_numbers(&passes, &pool);
    assert_non_null(places);
    for (size_t i = 0; i < passes.count; i++)
        assert_int_equal(places[i], round_and_number[i]);
    free(places);
    passes.count = 4; /* the later ones made none */
    places = loop_passes_numbers(&passes, &pool);
    assert_non_null(places);
    assert_int_equal(places[2], 3);
    free(places);
    passes.count = 5; /* one of them made one */
    assert_null(loop_passes_numbers(&passes, &pool));
    passes.count = 6;
    items[4].thread = 9; /* of another pool */
    assert_null(loop_passes_numbers(&passes, &pool));
}

/* Main, or another thread of the pool, tells the pool what it waits for. */
static int awaited_flag(bool main_tells) {
    struct model *model = build_model(2);
    int flag = build_object(model, OBJECT_FLAG, 0);
    int main_pool = build_pool(model, 1, true), workers = build_pool(model, 2, true);
    int teller = main_tells ? main_pool : workers;
    model->pools[main_pool].scales = false;
    int wait = build_next(model, model->pools[workers].entry, constant(0), NODE_WAIT, flag);
    int last[2] = {[0] = model->pools[main_pool].entry, [1] = wait};
    last[teller] = build_next(model, last[teller], constant(0), NODE_SIGNAL, flag);
    for (int p = 0; p < 2; p++)
        build_next(model, last[p], constant(0), NODE_END, MODEL_NONE);
    model_find_pools(model);
    assert_int_equal(pool_contents_awaited_flag(model, main_pool), MODEL_NONE);
    int found = pool_contents_awaited_flag(model, workers);
    model_free(model);
    return found;
}

static void what_another_thread_brings_may_be_work(void **state) {
    (void)state;
    assert_int_equal(awaited_flag(true), 0);
    assert_int_equal(awaited_flag(false), MODEL_NONE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loops_over_all_but_some_threads_grow_as_they_do),
        cmocka_unit_test(rounds_are_counted_for_those_that_lived_at_one_time),
        cmocka_unit_test(every_way_of_sharing_out_adds_up_to_the_total),
        cmocka_unit_test(the_rest_goes_to_the_first_to_the_last_or_is_missing_at_the_end),
        cmocka_unit_test(a_remainder_in_the_rounds_tells_how_they_are_shared_out),
        cmocka_unit_test(rounds_that_fit_no_total_are_not_taken_for_one),
        cmocka_unit_test(where_a_total_divides_evenly_the_source_says_who_would_get_the_rest),
        cmocka_unit_test(the_last_thread_takes_its_rest_for_any_number_of_threads),
        cmocka_unit_test(rows_shared_out_evenly_are_whole),
        cmocka_unit_test(who_ends_a_loop_between_two_calls_must_be_told),
        cmocka_unit_test(rows_of_a_plain_loop_are_each_threads_own),
        cmocka_unit_test(that_one_thread_goes_another_way_is_said),
        cmocka_unit_test(rows_of_a_loop_that_the_source_does_not_show_are_unknown),
        cmocka_unit_test(a_supply_that_ends_unseen_has_as_many_rows_for_any_number_of_threads),
        cmocka_unit_test(rounds_without_a_call_are_shared_out_like_the_others),
        cmocka_unit_test(what_a_thread_computes_behind_a_shared_loop_is_its_own),
        cmocka_unit_test(rounds_are_counted_where_most_of_them_go),
        cmocka_unit_test(a_thread_leaves_behind_its_last_look_wherever_it_goes_on_the_way),
        cmocka_unit_test(rows_of_which_nobody_knows_who_ends_them_are_unknown),
        cmocka_unit_test(what_another_thread_brings_may_be_work),
        cmocka_unit_test(permits_do_not_tell_who_ends_a_loop),
        cmocka_unit_test(a_share_of_rounds_that_differ_is_counted_in_rounds),
        cmocka_unit_test(items_that_tell_threads_to_end_are_as_many_as_the_threads),
        cmocka_unit_test(a_semaphore_that_counts_work_is_a_supply),
        cmocka_unit_test(what_each_thread_takes_once_is_no_supply),
        cmocka_unit_test(more_puts_than_takes_are_taken_several_at_once),
        cmocka_unit_test(what_is_done_once_in_no_time_does_not_say_how_rows_are_shared_out),
        cmocka_unit_test(takers_that_were_never_refused_wait),
        cmocka_unit_test(without_source_a_remainder_tells_a_total),
        cmocka_unit_test(a_remainder_of_few_rounds_is_chance),
        cmocka_unit_test(source_that_does_not_show_how_threads_come_tells_no_rule),
        cmocka_unit_test(without_source_computation_beside_the_rounds_is_unknown),
        cmocka_unit_test(without_source_equal_rounds_are_unknown_until_told),
        cmocka_unit_test(items_that_do_not_follow_the_threads_are_as_large_whoever_takes_them),
        cmocka_unit_test(rounds_of_a_called_functions_loop_are_a_total),
        cmocka_unit_test(a_loop_with_two_ends_is_done_when_the_rounds_of_both_are),
        cmocka_unit_test(a_way_out_by_another_answer_is_no_round),
        cmocka_unit_test(rounds_that_their_creator_takes_too_are_unknown),
        cmocka_unit_test(rounds_of_another_object_are_none_of_theirs),
        cmocka_unit_test(who_takes_the_lock_further_in_goes_not_round),
        cmocka_unit_test(threads_of_a_loop_over_items_are_not_as_many_as_asked_for),
        cmocka_unit_test(a_rule_for_no_pool_or_no_rule_is_refused),
        cmocka_unit_test(the_rest_survives_the_model_file),
        cmocka_unit_test(parts_that_cost_more_and_more_go_on_so),
        cmocka_unit_test(parts_stay_a_total_for_any_number_of_threads),
    };
    return cmocka_run_group_tests_name("partition", tests, NULL, NULL);
}
