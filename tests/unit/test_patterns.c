/* Barriers, read-write locks, turns and results fetched in order, on traces written by hand; and
 * the simulator's object for turns. */
/* tests/run: beside others */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "modelgen/modelgen.h"
#include "modelgen/sync/monitor.h"
#include "modelgen/sync/monitor_search.h"
#include "modelgen/sync/select.h"
#include "simulator/simulator.h"
#include "tests/unit/explanations_by.h"
#include "tests/unit/model_builder.h"
#include "tests/unit/trace_builder.h"

enum { MUTEX = 0x1000, CONDITION = 0x2000 };

/* A critical section of `function` in [start, end) that waits until `woken` (0: not at all) and
 * broadcasts if it is to. */
static void section(struct trace *trace, int thread, const char *function, uint64_t object,
                    uint64_t start, uint64_t woken, uint64_t end, bool broadcasts) {
    builder_section(trace, thread,
                    (struct builder_section){.function = function,
                                             .line = 10,
                                             .mutex = MUTEX + object,
                                             .start_ns = start,
                                             .waits_for = woken ? CONDITION + object : 0,
                                             .woken_ns = woken,
                                             .signals_after = broadcasts ? CONDITION + object : 0,
                                             .broadcasts = true,
                                             .end_ns = end});
}

struct found {
    struct trace *trace;
    struct sections sections;
    struct monitors monitors;
};

static struct found find_with(struct trace *trace, uint64_t end_ns, const struct facts *facts) {
    builder_finish(trace, end_ns);
    struct found found = {.trace = trace, .sections = sections_find(trace, builder_no_pools)};
    found.monitors = monitors_find(trace, &found.sections, facts, NULL);
    return found;
}

static struct found find(struct trace *trace, uint64_t end_ns) {
    return find_with(trace, end_ns, NULL);
}

static void found_free(struct found *found) {
    monitors_free(&found->monitors);
    sections_free(&found->sections, found->trace);
    trace_free(found->trace);
}

/* The only one that there is, which is of this kind. */
static const struct explanation *only_pattern(const struct found *found, enum hand_made_kind kind) {
    assert_int_equal(count_by(&found->monitors, BY_PATTERN), 1);
    assert_int_equal(number_by(&found->monitors, BY_PATTERN, 0)->counter.kind, kind);
    return number_by(&found->monitors, BY_PATTERN, 0);
}

/* ---- barriers ---- */

static struct trace *barrier_trace(bool last_wakes) {
    struct trace *trace = builder_new_with_workers(3);
    for (uint64_t round = 0; round < 6; round++) {
        uint64_t at = 1000 * (round + 1);
        int first = 1 + (int)(round % 3), second = 1 + (int)((round + 1) % 3);
        section(trace, first, "meet", 0, at, at + 330, at + 335, false);
        section(trace, second, "meet", 0, at + 100, at + 340, at + 345, false);
        section(trace, 1 + (int)((round + 2) % 3), "meet", 0, at + 300, 0, at + 320, last_wakes);
    }
    return trace;
}

static void rounds_of_equal_size_are_a_barrier(void **state) {
    (void)state;
    struct found found = find(barrier_trace(true), 10000);
    const struct explanation *pattern = only_pattern(&found, HAND_MADE_BARRIER);
    assert_int_equal(pattern->pattern.parties, 3);
    assert_true(pattern->tally.violations == 0);
    assert_true(pattern->tally.decisions == 18);
    found_free(&found);
}

/* Few waits are enough where the source says the same. */
static void what_the_source_calls_a_barrier_is_not_doubted(void **state) {
    (void)state;
    struct facts_operation operation = {.role = FACTS_ARRIVE, .place = {"t.c", "meet", 10, 1}};
    struct facts_monitor monitor = {.name = "gate", .n_operations = 1, .operations = &operation};
    struct facts facts = {.version = FACTS_VERSION, .n_monitors = 1, .monitors = &monitor};
    const enum facts_monitor_kind kinds[] = {MONITOR_BARRIER, MONITOR_EVENT};
    for (size_t i = 0; i < 2; i++) {
        monitor.kind = kinds[i];
        struct found found = find(barrier_trace(true), 10000);
        monitors_free(&found.monitors);
        found.monitors = monitors_find(found.trace, &found.sections, &facts, NULL);
        only_pattern(&found, HAND_MADE_BARRIER);
        struct doubts doubts = {0};
        doubts_suspect(&doubts, &found.monitors, &found.sections);
        assert_int_equal(doubts.n_suspects, i);
        doubts_free(&doubts);
        found_free(&found);
    }
}

static void what_nobody_wakes_is_no_barrier(void **state) {
    (void)state;
    struct found found = find(barrier_trace(false), 10000);
    assert_int_equal(count_by(&found.monitors, BY_PATTERN), 0);
    found_free(&found);
}

/* Main and two workers meet, each by turns as the last one; `apart` does so in another function. */
static struct trace *meeting_trace(int apart) {
    struct trace *trace = builder_new_with_workers(2);
    for (uint64_t round = 0; round < 6; round++) {
        uint64_t at = 1000 * (round + 1);
        for (int i = 0; i < 3; i++) {
            int thread = (int)((round + (uint64_t)i) % 3);
            bool is_last = i == 2;
            section(trace, thread, thread == apart ? "gather" : "meet", 0, at + 100 * (uint64_t)i,
                    is_last ? 0 : at + 330 + 10 * (uint64_t)i,
                    at + (is_last ? 320 : 335) + 10 * (uint64_t)i, is_last);
        }
    }
    return trace;
}

/* As where the compiler has written out the call in one of two functions. */
static void who_makes_the_others_may_meet_them_by_a_place_of_its_own(void **state) {
    (void)state;
    for (int apart = 0; apart < 3; apart++) {
        struct found found = find(meeting_trace(apart), 10000);
        size_t barriers = 0;
        for (size_t i = 0; i < count_by(&found.monitors, BY_PATTERN); i++)
            barriers +=
                number_by(&found.monitors, BY_PATTERN, i)->pattern.kind == HAND_MADE_BARRIER;
        assert_int_equal(barriers, apart == 0);
        found_free(&found);
    }
}

/* ---- read-write locks ---- */

/* Two readers together, then a writer alone. With `greedy` a second reader comes in beside it. */
static struct trace *lock_trace(bool greedy) {
    struct trace *trace = builder_new_with_workers(3);
    for (uint64_t round = 0; round < 6; round++) {
        uint64_t at = 10000 * (round + 1);
        section(trace, 1, "lock_read", 0, at, 0, at + 10, false);
        section(trace, 2, "lock_read", 0, at + 20, 0, at + 30, false);
        section(trace, 3, "lock_write", 0, at + 40, at + 620, at + 640, false);
        section(trace, 1, "unlock", 0, at + 500, 0, at + 510, false);
        section(trace, 2, "unlock", 0, at + 600, 0, at + 610, true);
        section(trace, 1, "lock_read", 0, at + 700, greedy ? 0 : at + 920,
                at + (greedy ? 710 : 930), false);
        section(trace, 3, "unlock", 0, at + 900, 0, at + 910, true);
        section(trace, 1, "unlock", 0, at + 950, 0, at + 960, true);
    }
    return trace;
}

static void readers_together_and_writers_alone_are_a_read_write_lock(void **state) {
    (void)state;
    struct found found = find(lock_trace(false), 80000);
    const struct explanation *pattern = only_pattern(&found, HAND_MADE_RWLOCK);
    assert_true(pattern->tally.violations == 0);
    for (size_t s = 0; s < found.sections.n_sections; s++) {
        const char *name = found.monitors.classes[found.monitors.class_of[s]].function;
        unsigned expected = strcmp(name, "lock_read") == 0    ? ACT_READ
                            : strcmp(name, "lock_write") == 0 ? ACT_WRITE
                                                              : ACT_UNLOCK;
        assert_int_equal(pattern->pattern.acts[s], expected);
    }
    found_free(&found);
}

static void a_reader_beside_a_writer_refutes_the_read_write_lock(void **state) {
    (void)state;
    struct found found = find(lock_trace(true), 80000);
    for (size_t p = 0; p < count_by(&found.monitors, BY_PATTERN); p++)
        assert_int_not_equal(number_by(&found.monitors, BY_PATTERN, p)->counter.kind,
                             HAND_MADE_RWLOCK);
    found_free(&found);
}

/* ---- turns ---- */

/* Threads 1 and 2 by turns; thread 2 is always ready early. */
static void threads_that_wait_for_each_other_take_turns(void **state) {
    (void)state;
    struct trace *trace = builder_new_with_workers(2);
    for (uint64_t round = 0; round < 8; round++) {
        uint64_t at = 1000 * (round + 1);
        section(trace, 2, "turn", 0, at, at + 320, at + 330, false);
        section(trace, 1, "turn", 0, at + 200, 0, at + 210, false);
        section(trace, 1, "pass", 0, at + 300, 0, at + 310, true);
        section(trace, 2, "pass", 0, at + 400, 0, at + 410, true);
    }
    struct found found = find(trace, 10000);
    assert_true(only_pattern(&found, HAND_MADE_HAND_OVER)->pattern.draws_when_passing);
    assert_true(number_by(&found.monitors, BY_PATTERN, 0)->tally.violations == 0);
    found_free(&found);
}

/* ---- results, each with its own mutex ---- */

static void results_fetched_in_order_are_told_apart(void **state) {
    (void)state;
    struct trace *trace = builder_new_with_workers(2);
    for (uint64_t job = 0; job < 12; job++) {
        uint64_t at = 1000 * (job / 2 + 1), object = 0x10 * (1 + job % 6);
        bool even = job % 2 == 0; /* thread 1 is quicker, and gets the next job first */
        bool waits = even || job < 6;
        uint64_t done = at + (even ? 300 : 600), asked = waits ? done - 90 : done + 90;
        section(trace, 0, "fetch", object, asked, waits ? done + 20 : 0, done + 100, false);
        section(trace, even ? 1 : 2, "store", object, done, 0, done + 10, true);
    }
    struct found found = find(trace, 10000);
    const struct explanation *pattern = only_pattern(&found, HAND_MADE_EVENT);
    assert_int_equal(pattern->pattern.n_objects, 6);
    assert_true(pattern->tally.violations == 0);
    for (size_t o = 0; o < found.sections.n_objects; o++)
        if (found.sections.objects[o].kind == ON_CONDITION)
            assert_true(
                monitors_explain_condition(&found.monitors, &found.sections, (int)o, false));
    found_free(&found);
}

/* ---- results under one mutex ---- */

enum { PAIRS = 8 };

/* Two workers take jobs from a semaphore; the second one is quicker. Main fetches the results in
 * the order of the jobs, and is woken in vain by the one that comes too early. */
static struct trace *job_trace(void) {
    struct trace *trace = builder_new_with_workers(2);
    uint32_t take = builder_context(trace, "take", 50, "worker", 100);
    uint32_t waits = builder_context(trace, "fetch", 11, "thread", 100);
    for (uint64_t at = 1000; at <= 1000 * PAIRS; at += 1000) {
        for (int worker = 1; worker <= 2; worker++)
            builder_record(trace, worker, "sem_wait", at + 10 * (uint64_t)worker, 0, 0x5000, take,
                           0);
        section(trace, 2, "store", 0, at + 300, 0, at + 310, true);
        section(trace, 1, "store", 0, at + 600, 0, at + 610, true);
        builder_record(trace, 0, "pthread_mutex_lock", at + 100, 0, MUTEX,
                       builder_context(trace, "fetch", 10, "thread", 100), 0);
        builder_record(trace, 0, "pthread_cond_wait", at + 101, 219, CONDITION, waits, 0);
        builder_record(trace, 0, "pthread_cond_wait", at + 321, 299, CONDITION, waits, 0);
        builder_record(trace, 0, "pthread_mutex_unlock", at + 630, 0, MUTEX,
                       builder_context(trace, "fetch", 13, "thread", 100), 0);
        section(trace, 0, "fetch", 0, at + 700, 0, at + 710, false);
    }
    return trace;
}

static void results_under_one_mutex_are_numbered_where_work_is_taken(void **state) {
    (void)state;
    struct found found = find(job_trace(), 10000);
    assert_int_equal(count_by(&found.monitors, BY_COUNTER), 0);
    const struct explanation *pattern = only_pattern(&found, HAND_MADE_EVENT);
    assert_true(pattern->tally.violations == 0);
    assert_non_null(pattern->pattern.drawn_after);
    assert_string_equal(api_catalog[pattern->pattern.drawn_after->api].name, "sem_wait");
    size_t fetched = 0, stored = 0;
    for (size_t s = 0; s < found.sections.n_sections; s++) {
        fetched += pattern->pattern.acts[s] == ACT_COLLECT;
        stored += pattern->pattern.acts[s] == ACT_PASS;
    }
    assert_int_equal(fetched, 2 * PAIRS);
    assert_int_equal(stored, 2 * PAIRS);
    found_free(&found);
}

/* ---- the simulator's side ---- */

/* Two threads compute for 1 ms each, then 4 ms in their turn: those 4 ms come one after the other,
 * 10 times each. Both end holding a number, which keeps nobody waiting. */
static void a_turn_waits_for_the_number_before_it(void **state) {
    (void)state;
    struct model *model = build_model(2);
    int order = build_object(model, OBJECT_ORDER, 0);
    for (int i = 0; i < 2; i++) {
        int pool = build_pool(model, 1, true), leave;
        int draw = build_next(model, model->pools[pool].entry, constant(0), NODE_DRAW, order);
        int head = build_next(model, draw, constant(0), NODE_STEP, MODEL_NONE);
        int body = build_loop(model, head, constant(10), &leave);
        int turn = build_next(model, body, constant(1e6), NODE_TURN, order);
        int pass = build_next(model, turn, constant(4e6), NODE_PASS, order);
        int next = build_next(model, pass, constant(0), NODE_DRAW, order);
        build_edge(model, next, head);
        int end = build_node(model, NODE_END, MODEL_NONE);
        build_edge(model, leave, end);
    }
    struct error error = {0};
    struct sim_config config = {.seed = 1};
    struct sim_result result;
    assert_int_equal(sim_predict(model, &config, &result, &error), 0);
    assert_true(fabs(result.run_ns.mean - 81e6) < 1e5);
    assert_true(result.stalls == 0);
    sim_result_free(&result);
    model_free(model);
}

/* ---- wave fronts ---- */

enum { ROWS = 12, STEPS = 4 };

/* Threads work on the rows of a picture in turn. A step may be made when the row above, whose
 * counter has a mutex of its own, is two steps further. With 3 `columns` three pictures are worked
 * on side by side, row by row. With `hasty` some rows do not wait though they should. */
static struct trace *wave_trace(uint64_t columns, bool hasty) {
    uint64_t threads = columns + 1, made[ROWS][STEPS], clock[] = {1000, 1000, 1000, 1000};
    struct trace *trace = builder_new_with_workers((int)threads);
    for (uint64_t row = 0; row < ROWS; row++) {
        uint64_t *now = &clock[row % threads];
        for (uint64_t step = 0; step < STEPS; step++) {
            int thread = 1 + (int)(row % threads);
            uint64_t needed = step + 1 < STEPS ? step + 1 : step;
            uint64_t ready = row < columns ? 0 : made[row - columns][needed];
            bool waits = ready > *now && !(hasty && row % 4 < 2);
            uint64_t passed = waits ? ready + 3 : *now + 3;
            if (row >= columns)
                section(trace, thread, "await", row - columns, *now, waits ? passed : 0, passed + 2,
                        false);
            made[row][step] = passed + 90 + 17 * (step % 3) + row;
            section(trace, thread, "report", row, made[row][step], 0, made[row][step] + 2, true);
            *now = made[row][step] + 10;
        }
    }
    return trace;
}

static void rows_that_follow_each_other_are_in_steps(void **state) {
    (void)state;
    for (uint64_t columns = 1; columns <= 3; columns += 2) {
        struct found found = find(wave_trace(columns, false), 100000);
        const struct explanation *pattern = only_pattern(&found, HAND_MADE_HAND_OVER);
        assert_true(pattern->pattern.in_steps);
        assert_int_equal(pattern->pattern.distance, columns);
        assert_int_equal(pattern->pattern.lead, 2);
        assert_int_equal(pattern->pattern.n_objects, ROWS);
        assert_true(pattern->tally.waited > 0 && pattern->tally.violations == 0);
        found_free(&found);
    }
}

static void rows_that_go_on_too_early_refute_the_steps(void **state) {
    (void)state;
    struct found found = find(wave_trace(1, true), 100000);
    assert_int_equal(count_by(&found.monitors, BY_PATTERN), 0);
    found_free(&found);
}

/* ---- batches ---- */

enum { BATCHES = 12, STAGES = 3 };

/* Two threads take batches through three stages of 100, 400 and 150 ns; one mutex guards how far
 * all are. No stage begins before the batch before has left it, unless `overtakes`. Only the first
 * `looked` batches are entered under the mutex. */
static struct trace *batch_trace(bool overtakes, uint64_t looked) {
    static const uint64_t takes[STAGES] = {100, 400, 150};
    struct trace *trace = builder_new_with_workers(2);
    uint64_t left[BATCHES][STAGES], clock[2] = {1000, 1010};
    for (uint64_t batch = 0; batch < BATCHES; batch++)
        for (int stage = 0; stage < STAGES; stage++) {
            int thread = (int)(batch % 2);
            uint64_t *now = &clock[thread], ready = batch ? left[batch - 1][stage] : 0;
            bool waits = ready > *now && !(overtakes && batch % 3 == 0);
            uint64_t passed = waits ? ready + 3 : *now + 3;
            if (batch < looked)
                section(trace, 1 + thread, "enter", 0, *now, waits ? passed : 0, passed + 2, false);
            left[batch][stage] = passed + takes[stage] + batch;
            section(trace, 1 + thread, "leave", 0, left[batch][stage], 0, left[batch][stage] + 2,
                    true);
            *now = left[batch][stage] + 10;
        }
    return trace;
}

static void batches_that_do_not_overtake_are_in_steps(void **state) {
    (void)state;
    struct found found = find(batch_trace(false, BATCHES), 100000);
    const struct explanation *pattern = only_pattern(&found, HAND_MADE_HAND_OVER);
    assert_true(pattern->pattern.in_steps);
    assert_int_equal(pattern->pattern.n_objects, 1);
    assert_int_equal(pattern->pattern.distance, 1);
    assert_int_equal(pattern->pattern.lead, 1);
    assert_true(2 * pattern->tally.waited > BATCHES && pattern->tally.violations == 0);
    double draws = 0, passes = 0;
    for (size_t s = 0; s < found.sections.n_sections; s++) {
        draws += (pattern->pattern.acts[s] & ACT_DRAW) != 0;
        passes += (pattern->pattern.acts[s] & ACT_PASS) != 0;
    }
    assert_true(draws == BATCHES && passes == BATCHES);
    found_free(&found);
}

static void batches_that_overtake_refute_the_steps(void **state) {
    (void)state;
    struct found found = find(batch_trace(true, BATCHES), 100000);
    for (size_t p = 0; p < count_by(&found.monitors, BY_PATTERN); p++)
        assert_false(number_by(&found.monitors, BY_PATTERN, p)->pattern.in_steps);
    found_free(&found);
}

static void two_looks_are_no_steps(void **state) {
    (void)state;
    struct found found = find(batch_trace(false, 2), 100000);
    for (size_t p = 0; p < count_by(&found.monitors, BY_PATTERN); p++)
        assert_false(number_by(&found.monitors, BY_PATTERN, p)->pattern.in_steps);
    found_free(&found);
}

/* Is what the threads do in steps where the source has these loops around all of it? */
static bool is_in_steps_in(size_t n_loops, enum facts_bound bound) {
    struct facts_loop loops[2] = {
        {.file = "t.c", .function = "thread", .first_line = 90, .last_line = 110},
        {.file = "t.c", .function = "thread", .first_line = 80, .last_line = 120}};
    loops[0].bound = loops[1].bound = bound;
    const struct facts facts = {.loops = loops, .n_loops = n_loops};
    struct found found = find_with(batch_trace(false, BATCHES), 100000, &facts);
    bool in_steps = false;
    for (size_t p = 0; p < count_by(&found.monitors, BY_PATTERN); p++)
        in_steps |= number_by(&found.monitors, BY_PATTERN, p)->pattern.in_steps;
    found_free(&found);
    return in_steps;
}

/* Each thread may be so far ahead of the slowest: for (step ...) { look; work; step; } */
static void rounds_of_one_loop_are_no_batches(void **state) {
    (void)state;
    assert_false(is_in_steps_in(1, BOUND_FIXED));
    assert_true(is_in_steps_in(1, BOUND_SHARED));
    assert_true(is_in_steps_in(2, BOUND_FIXED)); /* batches, and stages of each */
}

/* How the rounds of the only pool that stays somewhere follow its threads. */
static struct scaling scaling_of_rounds(struct trace *trace, uint64_t end_ns) {
    builder_finish(trace, end_ns);
    builder_run_all(trace, end_ns);
    char *file = "t.c";
    struct facts facts = {.version = FACTS_VERSION, .n_files = 1, .files = &file};
    struct error error = {0};
    struct model *model = modelgen_build(trace, &facts, NULL, NULL, &error);
    assert_string_equal(error.text, "");
    struct scaling scaling = {.pool = MODEL_NONE};
    for (size_t n = 0; n < model->n_nodes; n++)
        if (model->nodes[n].stays_scaling.pool != MODEL_NONE) {
            assert_int_equal(scaling.pool, MODEL_NONE);
            scaling = model->nodes[n].stays_scaling;
        }
    if (scaling.pool != MODEL_NONE)
        assert_string_equal(model->pools[scaling.pool].name, "worker");
    model_free(model);
    trace_free(trace);
    return scaling;
}

/* As many for any number of threads. */
static void jobs_whose_results_are_fetched_are_shared_by_all_threads(void **state) {
    (void)state;
    struct scaling jobs = scaling_of_rounds(job_trace(), 10000);
    assert_int_not_equal(jobs.pool, MODEL_NONE);
    assert_true(jobs.share == 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rounds_of_equal_size_are_a_barrier),
        cmocka_unit_test(what_the_source_calls_a_barrier_is_not_doubted),
        cmocka_unit_test(what_nobody_wakes_is_no_barrier),
        cmocka_unit_test(who_makes_the_others_may_meet_them_by_a_place_of_its_own),
        cmocka_unit_test(readers_together_and_writers_alone_are_a_read_write_lock),
        cmocka_unit_test(a_reader_beside_a_writer_refutes_the_read_write_lock),
        cmocka_unit_test(threads_that_wait_for_each_other_take_turns),
        cmocka_unit_test(results_fetched_in_order_are_told_apart),
        cmocka_unit_test(results_under_one_mutex_are_numbered_where_work_is_taken),
        cmocka_unit_test(a_turn_waits_for_the_number_before_it),
        cmocka_unit_test(rows_that_follow_each_other_are_in_steps),
        cmocka_unit_test(rows_that_go_on_too_early_refute_the_steps),
        cmocka_unit_test(batches_that_do_not_overtake_are_in_steps),
        cmocka_unit_test(rounds_of_one_loop_are_no_batches),
        cmocka_unit_test(batches_that_overtake_refute_the_steps),
        cmocka_unit_test(two_looks_are_no_steps),
        cmocka_unit_test(jobs_whose_results_are_fetched_are_shared_by_all_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
