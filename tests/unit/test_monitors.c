/* Guards of several mutexes that are alike, and of sections that only look alike; what objects are
 * called; on traces written by hand. */
/* tests/run: beside others */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "modelgen/lower/object_names.h"
#include "modelgen/modelgen.h"
#include "modelgen/sync/monitor.h"
#include "modelgen/sync/monitor_search.h"
#include "tests/unit/explanations_by.h"
#include "tests/unit/trace_builder.h"

enum { MUTEX = 0x1000, CONDITION = 0x2000, OTHER_MUTEX = 0x3000 };

/* A critical section of `function` that waits until `woken` (0: not at all). */
static void section(struct trace *trace, int thread, const char *function, int line,
                    uint64_t object, uint64_t start, uint64_t woken, bool signals) {
    builder_section(trace, thread,
                    (struct builder_section){.function = function,
                                             .line = line,
                                             .mutex = MUTEX + object,
                                             .start_ns = start,
                                             .waits_for = woken ? CONDITION + object : 0,
                                             .woken_ns = woken,
                                             .signals_after = signals ? CONDITION + object : 0});
}

static const struct explanation *only_guard(const struct monitors *monitors) {
    assert_int_equal(count_by(monitors, BY_COUNTER), 1);
    return number_by(monitors, BY_COUNTER, 0);
}

/* ---- mailboxes ---- */

/* Worker 1 finds something in its box while worker 2 waits at its own; at the end both wait. */
static struct trace *two_mailboxes(void) {
    struct trace *trace = builder_new_with_workers(2);
    for (uint64_t at = 1000; at <= 5000; at += 1000) {
        section(trace, 0, "give", 10, 1, at, 0, true);
        section(trace, 2, "take", 20, 2, at + 100, at + 205, false);
        section(trace, 0, "give", 10, 2, at + 200, 0, true);
        section(trace, 1, "take", 20, 1, at + 300, 0, false);
    }
    for (int worker = 1; worker <= 2; worker++) {
        section(trace, worker, "take", 20, (uint64_t)worker, 6000, 7000, false);
        trace->threads[worker].n_records--; /* it never unlocked */
        builder_unfinished(trace, worker);
    }
    builder_finish(trace, 7000);
    return trace;
}

static void mailboxes_of_a_pool_are_one_queue(void **state) {
    (void)state;
    struct trace *trace = two_mailboxes();
    struct sections sections = sections_find(trace, builder_no_pools);
    struct monitors monitors = monitors_find(trace, &sections, NULL, NULL);
    const struct explanation *guard = only_guard(&monitors);
    assert_int_equal(guard->counter.kind, GUARD_QUEUE);
    assert_true(guard->tally.violations == 0);
    size_t waited = 0, cut = 0;
    for (size_t s = 0; s < sections.n_sections; s++) {
        if (sections.sections[s].n_waits == 0)
            continue;
        waited++;
        cut += sections.sections[s].cut;
        assert_true(monitors_explain(&monitors, s));
        assert_int_equal(guard->counter.outcome[s],
                         sections.sections[s].cut ? OUTCOME_NO : OUTCOME_YES);
    }
    assert_int_equal(waited, 5 + 2);
    assert_int_equal(cut, 2);
    monitors_free(&monitors);
    sections_free(&sections, trace);
    trace_free(trace);
}

/* Each worker takes what it has done out of its box and then waits for more: by the counter alone
 * it could as well owe one item at the start. */
static void what_is_removed_when_done_is_taken_by_the_first_look(void **state) {
    (void)state;
    struct trace *trace = builder_new_with_workers(2);
    for (int worker = 1; worker <= 2; worker++) {
        uint64_t box = (uint64_t)worker, at = 1000 * (uint64_t)worker;
        static const uint64_t gives[] = {200, 300, 310, 700, 900};
        for (int i = 0; i < 5; i++)
            section(trace, 0, "give", 10, box, at + gives[i], 0, true);
        section(trace, worker, "first", 20, box, at + 100, at + 205, false);
        section(trace, worker, "finish", 30, box, at + 400, 0, false);
        section(trace, worker, "finish", 30, box, at + 500, 0, false);
        section(trace, worker, "finish", 30, box, at + 600, at + 705, false);
        section(trace, worker, "finish", 30, box, at + 800, at + 905, false);
    }
    builder_finish(trace, 4000);
    struct sections sections = sections_find(trace, builder_no_pools);
    struct monitors monitors = monitors_find(trace, &sections, NULL, NULL);
    const struct explanation *guard = only_guard(&monitors);
    assert_int_equal(guard->counter.kind, GUARD_QUEUE);
    assert_true(guard->counter.initial == 0);
    assert_true(guard->tally.violations == 0);
    monitors_free(&monitors);
    sections_free(&sections, trace);
    trace_free(trace);
}

/* Main hands out two pieces of three in each round, in silence, and waits until all three are done:
 * in between two are owed, which it could not take from a queue. */
static void what_is_owed_until_it_is_done_is_no_queue(void **state) {
    (void)state;
    struct trace *trace = builder_new_with_workers(3);
    for (uint64_t round = 0; round < 12; round++) {
        uint64_t at = 1000 + 1000 * round;
        bool waits = round % 3 != 2; /* else they are done when main comes */
        section(trace, 0, "hand_out", 10, 0, at, 0, false);
        section(trace, 0, "hand_out", 10, 0, at + 10, 0, false);
        section(trace, 0, "wait_for_all", 20, 0, at + (waits ? 100 : 300), waits ? at + 235 : 0,
                false);
        for (int worker = 1; worker <= 3; worker++)
            section(trace, worker, "done", 30, 0, at + 200 + 10 * (uint64_t)worker, 0, true);
    }
    builder_finish(trace, 14000);
    struct sections sections = sections_find(trace, builder_no_pools);
    struct monitors monitors = monitors_find(trace, &sections, NULL, NULL);
    const struct explanation *guard = only_guard(&monitors);
    assert_true(guard->tally.violations == 0);
    assert_int_equal(guard->counter.kind, GUARD_TOKENS);
    monitors_free(&monitors);
    sections_free(&sections, trace);
    trace_free(trace);
}

/* Of two workers, each takes from one of its own what was put there before: by main, or by itself.
 */
static struct trace *two_queues(bool by_main) {
    struct trace *trace = builder_new_with_workers(2);
    for (uint64_t at = 1000; at <= 5000; at += 1000)
        for (int worker = 1; worker <= 2; worker++) {
            section(trace, by_main ? 0 : worker, "give", 10, (uint64_t)worker,
                    at + 10 * (uint64_t)worker, 0, true);
            section(trace, worker, "take", 20, (uint64_t)worker, at + 500, 0, false);
        }
    builder_finish(trace, 7000);
    return trace;
}

/* Main is always ahead: no counter tells, but the source does. */
static void queues_of_a_pool_at_which_nobody_waited_are_told_by_the_source(void **state) {
    (void)state;
    struct builder_queue queue;
    const struct facts *facts = builder_queue_facts(&queue, "give", 10, "take", 20);
    struct trace *trace = two_queues(true);
    struct sections sections = sections_find(trace, builder_no_pools);
    struct monitors monitors = monitors_find(trace, &sections, facts, NULL);
    const struct explanation *guard = only_guard(&monitors);
    assert_int_equal(guard->counter.kind, GUARD_QUEUE);
    for (size_t s = 0; s < sections.n_sections; s++)
        if (sections.sections[s].thread != 0)
            assert_int_equal(guard->counter.outcome[s], OUTCOME_YES);
    monitors_free(&monitors);
    sections_free(&sections, trace);
    trace_free(trace);
}

static void what_one_thread_alone_fills_and_empties_is_no_queue_between_threads(void **state) {
    (void)state;
    struct builder_queue queue;
    const struct facts *facts = builder_queue_facts(&queue, "give", 10, "take", 20);
    struct trace *trace = two_queues(false);
    struct sections sections = sections_find(trace, builder_no_pools);
    struct monitors monitors = monitors_find(trace, &sections, facts, NULL);
    assert_int_equal(monitors.explanations.count, 0);
    monitors_free(&monitors);
    sections_free(&sections, trace);
    trace_free(trace);
}

static void waiting_at_what_stands_for_several_is_alike(void **state) {
    (void)state;
    struct trace *trace = two_mailboxes();
    builder_run_all(trace, 7000);
    struct error error = {0};
    struct model *model = modelgen_build(trace, NULL, NULL, NULL, &error);
    assert_non_null(model);
    double wait_ns = 0;
    for (size_t i = 0; i < model->n_waiting; i++) {
        assert_int_equal(model->waiting[i].how, MODELLED_BY_FALLBACK);
        wait_ns += model->waiting[i].wait_ns;
    }
    assert_true(wait_ns == 5 * 104 + 2 * 999);
    model_free(model);
    trace_free(trace);
}

/* ---- sections that look alike ---- */

/* "look" finds a free worker and goes on to "start", or finds none and goes on to "rest". */
static struct trace *two_helpers(void) {
    static const bool rests[] = {true, false, false, true, true, false, true, false};
    struct trace *trace = builder_new_with_workers(2);
    for (uint64_t at = 1000; at <= 8000; at += 1000) {
        for (uint64_t i = 0; i < 2; i++) {
            section(trace, 0, "look", 10, 0, at + 20 * i, 0, false);
            section(trace, 0, "start", 20, OTHER_MUTEX, at + 20 * i + 10, 0, false);
        }
        section(trace, 2, "done", 40, 0, at + 210, 0, true);
        if (!rests[at / 1000 - 1]) {
            section(trace, 1, "done", 40, 0, at + 200, 0, true);
            continue;
        }
        section(trace, 0, "look", 10, 0, at + 40, 0, false);
        section(trace, 0, "rest", 30, 0, at + 50, at + 105, false);
        section(trace, 1, "done", 40, 0, at + 100, 0, true);
        section(trace, 0, "look", 10, 0, at + 110, 0, false);
        section(trace, 0, "start", 20, OTHER_MUTEX, at + 120, 0, false);
        section(trace, 1, "done", 40, 0, at + 200, 0, true);
    }
    builder_finish(trace, 9000);
    return trace;
}

/* The one that waits for a worker and the one that only looks for one count the same workers. */
static void what_comes_next_tells_what_was_found(void **state) {
    (void)state;
    struct trace *trace = two_helpers();
    struct sections sections = sections_find(trace, builder_no_pools);
    struct monitors monitors = monitors_find(trace, &sections, NULL, NULL);
    assert_int_equal(count_by(&monitors, BY_COUNTER), 2);
    assert_false(number_by(&monitors, BY_COUNTER, 0)->counter.tries);
    assert_true(number_by(&monitors, BY_COUNTER, 1)->counter.tries);
    for (int g = 0; g < 2; g++) {
        const struct explanation *guard = number_by(&monitors, BY_COUNTER, g);
        assert_true(guard->tally.violations == 0);
        assert_true(guard->counter.initial == 2);
        double taken = 0;
        for (size_t c = 0; c < monitors.n_classes; c++)
            if (strcmp(monitors.classes[c].function, "look") == 0)
                taken -= guard->counter.weight[c] * monitors.classes[c].count;
        assert_true(taken == 4 * 3 + 4 * 2); /* not the four that found none */
    }
    size_t failed = 0;
    for (size_t s = 0; s < sections.n_sections; s++)
        failed += number_by(&monitors, BY_COUNTER, 1)->counter.outcome[s] == OUTCOME_NO;
    assert_int_equal(failed, 4);
    monitors_free(&monitors);
    sections_free(&sections, trace);
    trace_free(trace);
}

/* As an encoder's main thread does: it takes a free worker if there is one and gives it a block;
 * else it waits until any block is done. `workers_look`: so do the
 * workers, in vain. */
static struct trace *two_free_workers(int rounds, bool workers_look) {
    struct trace *trace = builder_new_with_workers(2);
    for (int worker = 1; worker <= 2; worker++) { /* two that were never used are free */
        section(trace, 0, "take_free", 10, 0, 100 * (uint64_t)worker, 0, false);
        section(trace, 0, "give", 30, OTHER_MUTEX, 100 * (uint64_t)worker + 20, 0, false);
    }
    for (int i = 0; i < rounds; i++) {
        uint64_t at = 1000 * (uint64_t)(i + 1);
        section(trace, 0, "take_free", 10, 0, at, 0, false);
        section(trace, 0, "wait_for_any", 20, 0, at + 20, at + 505, false);
        if (workers_look)
            section(trace, 1 + i % 2, "take_free", 10, 0, at + 450, 0, false);
        section(trace, 1 + i % 2, "done", 40, 0, at + 500, 0, true);
        section(trace, 0, "take_free", 10, 0, at + 600, 0, false);
        section(trace, 0, "give", 30, OTHER_MUTEX, at + 620, 0, false);
    }
    builder_finish(trace, 1000 * (uint64_t)(rounds + 2));
    return trace;
}

static size_t count_outcomes(const struct explanation *guard, const struct sections *sections,
                             enum outcome outcome) {
    size_t count = 0;
    for (size_t s = 0; s < sections->n_sections; s++)
        count += guard->counter.outcome[s] == outcome;
    return count;
}

/* Waiting is for something else here: nothing but the attempts themselves speaks for the workers'
 * being counted. */
static void attempts_alone_are_believed_beyond_doubt(void **state) {
    (void)state;
    struct trace *trace = two_free_workers(12, false);
    struct sections sections = sections_find(trace, builder_no_pools);
    struct monitors monitors = monitors_find(trace, &sections, NULL, NULL);
    assert_int_equal(count_by(&monitors, BY_COUNTER), 2);
    assert_int_equal(number_by(&monitors, BY_COUNTER, 0)->counter.kind, GUARD_QUEUE);
    const struct explanation *free_workers = number_by(&monitors, BY_COUNTER, 1);
    assert_true(free_workers->counter.tries);
    assert_int_equal(free_workers->counter.kind, GUARD_TOKENS);
    assert_true(free_workers->counter.initial == 2);
    assert_true(free_workers->tally.violations == 0);
    assert_int_equal(count_outcomes(free_workers, &sections, OUTCOME_YES), 2 + 12);
    assert_int_equal(count_outcomes(free_workers, &sections, OUTCOME_NO), 12);
    monitors_free(&monitors);
    sections_free(&sections, trace);
    trace_free(trace);
}

/* Too few of them, or those who add look as well. */
static void attempts_alone_are_doubted(void **state) {
    (void)state;
    for (int few = 0; few <= 1; few++) {
        struct trace *trace = two_free_workers(few ? 6 : 12, !few);
        struct sections sections = sections_find(trace, builder_no_pools);
        struct monitors monitors = monitors_find(trace, &sections, NULL, NULL);
        for (size_t g = 0; g < count_by(&monitors, BY_COUNTER); g++)
            assert_false(number_by(&monitors, BY_COUNTER, g)->counter.tries);
        monitors_free(&monitors);
        sections_free(&sections, trace);
        trace_free(trace);
    }
}

static void contradictions_make_a_counter_doubtful(void **state) {
    (void)state;
    struct explanation guard = {
        .counter.condition = 1, .tally.decisions = 500, .tally.violations = 24};
    assert_true(explanation_is_doubtful(&guard));
    guard.tally.decisions = 5000; /* clocks and races make so few */
    assert_false(explanation_is_doubtful(&guard));
    guard.tally.decisions = 60;
    guard.tally.violations = 3;
    assert_false(explanation_is_doubtful(&guard));
    guard = (struct explanation){
        .counter.condition = -1, .tally.decisions = 500, .tally.violations = 24};
    assert_false(explanation_is_doubtful(&guard)); /* the source proposed it: nobody waited */
}

/* Worker 1 finds nothing made and makes it; worker 2 comes meanwhile and waits; then both go on. */
static void who_comes_first_tries_and_the_others_wait(void **state) {
    (void)state;
    struct trace *trace = builder_new_with_workers(2);
    section(trace, 1, "look", 10, 0, 1000, 0, false);
    section(trace, 2, "look", 10, 0, 1100, 2005, false);
    section(trace, 1, "make", 20, 0, 2000, 0, true);
    for (uint64_t at = 3000; at <= 12000; at += 1000)
        for (int worker = 1; worker <= 2; worker++)
            section(trace, worker, "look", 10, 0, at + 100 * (uint64_t)worker, 0, false);
    builder_finish(trace, 13000);
    struct sections sections = sections_find(trace, builder_no_pools);
    struct monitors monitors = monitors_find(trace, &sections, NULL, NULL);
    assert_int_equal(count_by(&monitors, BY_COUNTER), 2);
    const struct explanation *first = number_by(&monitors, BY_COUNTER, 0),
                             *level = number_by(&monitors, BY_COUNTER, 1);
    assert_int_equal(first->counter.kind, GUARD_FIRST);
    assert_int_equal(level->counter.kind, GUARD_LEVEL);
    for (size_t s = 0; s < sections.n_sections; s++) {
        const char *function = monitors.classes[monitors.class_of[s]].function;
        bool is_first = s == 0, looks = strcmp(function, "look") == 0;
        assert_int_equal(first->counter.outcome[s], is_first ? OUTCOME_YES
                                                    : looks  ? OUTCOME_NO
                                                             : OUTCOME_ANY);
        assert_int_equal(level->counter.outcome[s], looks && !is_first ? OUTCOME_YES : OUTCOME_ANY);
    }
    monitors_free(&monitors);
    sections_free(&sections, trace);
    trace_free(trace);
}

/* ---- who waits and who wakes ---- */

static void rare_sections_that_wait_and_wake_take_part(void **state) {
    (void)state;
    struct trace *trace = builder_new_with_workers(2);
    section(trace, 1, "finished", 500, 0, 100, 4000, false);
    for (int place = 0; place < 12; place++)
        for (uint64_t i = 0; i < 3; i++)
            section(trace, 2, "ask", 10 + 10 * place, 0, 200 + 30 * (uint64_t)place + 10 * i, 0,
                    false);
    section(trace, 0, "finish", 600, 0, 3990, 0, true);
    builder_finish(trace, 5000);
    struct sections sections = sections_find(trace, builder_no_pools);
    struct monitors monitors = monitors_find(trace, &sections, NULL, NULL);
    assert_true(only_guard(&monitors)->tally.waited == 1);
    for (size_t s = 0; s < sections.n_sections; s++)
        assert_true(monitors_explain(&monitors, s) == (sections.sections[s].n_waits > 0));
    monitors_free(&monitors);
    sections_free(&sections, trace);
    trace_free(trace);
}

/* ---- batches ---- */

enum { JOBS = CONDITION, ALL_DONE, ROUNDS = 4, JOBS_EACH = 4 };

/* A section that tells a condition (0: none) before it waits for another one (0: not at all). */
static void tell_and_wait(struct trace *trace, int thread, const char *function, uint64_t start,
                          uint64_t told, uint64_t awaited, uint64_t woken) {
    builder_section(trace, thread,
                    (struct builder_section){.function = function,
                                             .line = 10,
                                             .mutex = MUTEX,
                                             .start_ns = start,
                                             .signals_before = told,
                                             .waits_for = awaited,
                                             .woken_ns = woken,
                                             .broadcasts = true});
}

/* Main gives out four jobs at once and waits until all are done. Workers report a job, and wait for
 * the next, in one section. */
static struct trace *batches(void) {
    struct trace *trace = builder_new_with_workers(2);
    for (int worker = 1; worker <= 2; worker++)
        tell_and_wait(trace, worker, "start", 100 * (uint64_t)worker, 0, JOBS,
                      1000 + 10 * (uint64_t)worker);
    for (uint64_t at = 1000; at <= ROUNDS * 1000; at += 1000) {
        tell_and_wait(trace, 0, "execute", at, JOBS, ALL_DONE, at + 330);
        tell_and_wait(trace, 1, "run", at + 100, 0, 0, 0);
        tell_and_wait(trace, 2, "run", at + 120, 0, 0, 0);
        tell_and_wait(trace, 1, "run", at + 200, 0, JOBS, at + 1010);
        tell_and_wait(trace, 2, "run", at + 320, ALL_DONE, JOBS, at + 1020);
    }
    tell_and_wait(trace, 0, "finish", (ROUNDS + 1) * 1000, JOBS, 0, 0);
    builder_finish(trace, 9000);
    return trace;
}

static void a_batch_is_added_by_one_section_and_done_before_the_next_wait(void **state) {
    (void)state;
    struct trace *trace = batches();
    struct sections sections = sections_find(trace, builder_no_pools);
    struct monitors monitors = monitors_find(trace, &sections, NULL, NULL);
    assert_int_equal(count_by(&monitors, BY_COUNTER), 2);
    for (int g = 0; g < 2; g++) {
        const struct explanation *guard = number_by(&monitors, BY_COUNTER, g);
        bool of_jobs = guard->counter.take == 1;
        assert_true(guard->tally.violations == 0);
        assert_int_equal(guard->counter.kind, of_jobs ? GUARD_QUEUE : GUARD_TOKENS);
        assert_true(guard->counter.take == (of_jobs ? 1 : JOBS_EACH));
        for (size_t c = 0; c < monitors.n_classes; c++) {
            bool adds = strcmp(monitors.classes[c].function, of_jobs ? "execute" : "run") == 0;
            assert_int_equal(guard->counter.weight[c] > 0, adds);
            assert_true(!adds || guard->counter.early[c]);
            assert_true(!adds || guard->counter.weight[c] == (of_jobs ? JOBS_EACH : 1));
        }
    }
    assert_true(number_by(&monitors, BY_COUNTER, 0)->counter.take !=
                number_by(&monitors, BY_COUNTER, 1)->counter.take);
    monitors_free(&monitors);
    sections_free(&sections, trace);
    trace_free(trace);
}

/* The same code waits for one condition at two places. What explains the few waits at one of them
 * by chance is not believed against the many at the other. */
static void what_is_found_must_hold_wherever_the_operation_is_called(void **state) {
    (void)state;
    struct trace *trace = builder_new_with_workers(2);
    uint32_t inside = builder_context(trace, "fetch", 12, "thread", 100);
    for (uint64_t i = 0; i < 30; i++) { /* waits though two have been stored, twice of three */
        uint64_t at = 1000 * (i + 1);
        bool last = i >= 27;
        uint32_t context = builder_context(trace, "fetch", 10, "main", last ? 200 : 150);
        section(trace, 1, "store", 20, 0, at, 0, true);
        if (!last)
            section(trace, 2, "store", 20, 0, at + 20, 0, true);
        bool waits = !last && i % 3 > 0;
        builder_record(trace, 0, "pthread_mutex_lock", at + 100, 0, MUTEX, context, 0);
        if (waits || last)
            builder_record(trace, 0, "pthread_cond_wait", at + 101, 98, CONDITION, inside, 0);
        builder_record(trace, 0, "pthread_mutex_unlock", at + 205, 0, MUTEX, inside, 0);
    }
    builder_finish(trace, 40000);
    struct sections sections = sections_find(trace, builder_no_pools);
    struct monitors monitors = monitors_find(trace, &sections, NULL, NULL);
    assert_int_equal(count_by(&monitors, BY_COUNTER), 0);
    monitors_free(&monitors);
    sections_free(&sections, trace);
    trace_free(trace);
}

/* The same code gives at the end, at another place and when nobody waits, or `in_vain` before that:
 * who then comes to take waits. */
static struct trace *last_gifts(bool in_vain) {
    struct trace *trace = builder_new_with_workers(2);
    uint32_t lock = builder_context(trace, "give", 10, "thread", 200);
    for (uint64_t at = 1000; at <= 10000; at += 1000) {
        if (in_vain) {
            builder_record(trace, 2, "pthread_mutex_lock", at + 50, 0, MUTEX, lock, 0);
            builder_record(trace, 2, "pthread_mutex_unlock", at + 53, 0, MUTEX, lock, 0);
        }
        section(trace, 1, "take", 20, 0, at + 100, at + 205, false);
        section(trace, 0, "give", 10, 0, at + 200, 0, true);
        section(trace, 0, "give", 10, 0, at + 300, 0, true);
        section(trace, 1, "take", 20, 0, at + 400, 0, false);
    }
    builder_record(trace, 2, "pthread_mutex_lock", 11000, 0, MUTEX, lock, 0);
    builder_record(trace, 2, "pthread_mutex_unlock", 11003, 0, MUTEX, lock, 0);
    builder_finish(trace, 12000);
    return trace;
}

static void who_never_had_to_signal_adds_as_the_same_code_does_elsewhere(void **state) {
    (void)state;
    for (int in_vain = 0; in_vain <= 1; in_vain++) {
        struct trace *trace = last_gifts(in_vain);
        struct sections sections = sections_find(trace, builder_no_pools);
        struct monitors monitors = monitors_find(trace, &sections, NULL, NULL);
        const struct explanation *guard = only_guard(&monitors);
        assert_true(guard->tally.violations == 0);
        for (size_t c = 0; c < monitors.n_classes; c++) {
            const struct section_class *class = &monitors.classes[c];
            bool gives = strcmp(class->function, "give") == 0;
            bool adds = gives && (class->n_signals > 0 || !in_vain);
            assert_int_equal(guard->counter.weight[c], adds ? 1 : gives ? 0 : -1);
        }
        monitors_free(&monitors);
        sections_free(&sections, trace);
        trace_free(trace);
    }
}

/* ---- names ---- */

static void namesakes_are_told_apart_by_who_makes_them(void **state) {
    (void)state;
    struct trace *trace = builder_new_with_workers(2);
    builder_record(trace, 0, "pthread_mutex_init", 1, 0, MUTEX,
                   builder_context(trace, "pool_create", 10, "reader_open", 50), 0);
    builder_record(trace, 0, "pthread_mutex_init", 2, 0, MUTEX + 1,
                   builder_context(trace, "pool_create", 10, "writer_open", 60), 0);
    for (uint64_t i = 0; i < 2; i++) {
        builder_record(trace, 1, "pthread_mutex_lock", 10 + 20 * i, 0, MUTEX + i,
                       builder_context(trace, i ? "write" : "read", 20, "worker", 100), 0);
        builder_record(trace, 1, "pthread_mutex_unlock", 20 + 20 * i, 0, MUTEX + i,
                       builder_context(trace, i ? "write" : "read", 21, "worker", 100), 0);
    }
    builder_finish(trace, 100);
    struct sections sections = sections_find(trace, builder_no_pools);
    struct lower_input input = {.trace = trace, .sections = &sections};
    char *first = name_of_object(&input, 0, "mutex", NULL);
    char *second = name_of_object(&input, 1, "mutex", "struct pool");
    assert_string_equal(first, "mutex, pool_create (t.c:10), in reader_open");
    assert_string_equal(second, "mutex struct pool, pool_create (t.c:10), in writer_open");
    free(first);
    free(second);
    sections_free(&sections, trace);
    trace_free(trace);
}

/* ---- what proves little ---- */

/* The worker takes ten times without waiting, then waits for what main gives; which gives `back`
 * more times. */
static struct trace *stock_trace(int back) {
    struct trace *trace = builder_new_with_workers(2);
    for (uint64_t i = 1; i <= 10; i++)
        section(trace, 1, "take", 20, 1, 100 * i, 0, false);
    section(trace, 1, "take", 20, 1, 2000, 3005, false);
    section(trace, 0, "give", 10, 1, 3000, 0, true);
    for (int i = 0; i < back; i++)
        section(trace, 0, "give", 10, 1, 4000 + 100 * (uint64_t)i, 0, true);
    section(trace, 1, "take", 20, 1, 6000, back ? 0 : 6105, false);
    section(trace, 0, "give", 10, 1, 6100, 0, true);
    builder_run_all(trace, 7000);
    builder_finish(trace, 7000);
    return trace;
}

/* ---- two counters at once ---- */

/* Takes a job when there is one, and room for its result; the first at a place of its own. */
static void take(struct trace *trace, uint64_t start, uint64_t woken) {
    static const int before_loop = 20, in_loop = 30;
    section(trace, 1, "take", trace->threads[1].n_records ? in_loop : before_loop, 1, start, woken,
            false);
}

/* There is room for one result. In each round the worker waits for a job, then, with more jobs than
 * that, twice for the result to be collected. */
static struct trace *jobs_and_room(void) {
    struct trace *trace = builder_new_with_workers(2);
    for (uint64_t at = 1000; at <= 10000; at += 1000) {
        take(trace, at + 100, at + 205);
        section(trace, 0, "submit", 10, 1, at + 200, 0, true);
        section(trace, 0, "collect", 40, 1, at + 300, 0, true);
        for (uint64_t i = 0; i < 3; i++)
            section(trace, 0, "submit", 10, 1, at + 400 + 10 * i, 0, true);
        take(trace, at + 450, 0);
        take(trace, at + 460, at + 505);
        section(trace, 0, "collect", 40, 1, at + 500, 0, true);
        take(trace, at + 550, at + 605);
        section(trace, 0, "collect", 40, 1, at + 600, 0, true);
        section(trace, 0, "collect", 40, 1, at + 700, 0, true);
    }
    builder_finish(trace, 12000);
    return trace;
}

static void a_job_and_room_for_its_result_are_waited_for_together(void **state) {
    (void)state;
    struct trace *trace = jobs_and_room();
    struct sections sections = sections_find(trace, builder_no_pools);
    struct monitors monitors = monitors_find(trace, &sections, NULL, NULL);
    assert_int_equal(count_by(&monitors, BY_COUNTER), 2);
    const struct explanation *room = number_by(&monitors, BY_COUNTER, 0),
                             *jobs = number_by(&monitors, BY_COUNTER, 1);
    assert_int_equal(room->counter.kind, GUARD_TOKENS);
    assert_true(room->counter.initial == 1);
    assert_int_equal(jobs->counter.kind, GUARD_QUEUE);
    assert_true(room->tally.violations + jobs->tally.violations == 0);
    for (size_t s = 0; s < sections.n_sections; s++) {
        bool takes = sections.sections[s].thread == 1;
        assert_int_equal(room->counter.outcome[s], takes ? OUTCOME_YES : OUTCOME_ANY);
        assert_int_equal(jobs->counter.outcome[s], takes ? OUTCOME_YES : OUTCOME_ANY);
    }
    monitors_free(&monitors);
    sections_free(&sections, trace);
    trace_free(trace);
}

static void a_stock_that_never_comes_back_proves_nothing(void **state) {
    (void)state;
    for (int back = 0; back <= 8; back += 8) {
        struct trace *trace = stock_trace(back);
        struct sections sections = sections_find(trace, builder_no_pools);
        struct monitors monitors = monitors_find(trace, &sections, NULL, NULL);
        if (back) {
            const struct explanation *guard = only_guard(&monitors);
            assert_int_equal(guard->counter.kind, GUARD_TOKENS);
            assert_true(guard->counter.initial == 10);
        } else {
            assert_int_equal(count_by(&monitors, BY_COUNTER), 0);
        }
        monitors_free(&monitors);
        sections_free(&sections, trace);
        trace_free(trace);
    }
}

/* The source was read, and does not take the mutex for anything: then two waits prove nothing. */
static void few_waits_that_the_source_does_not_explain_prove_nothing(void **state) {
    (void)state;
    struct trace *trace = stock_trace(8);
    for (int line = 50; line < 53; line++) /* there are many that it could depend on */
        section(trace, 2, "look", line, 1, 6500 + 10 * (uint64_t)line, 0, false);
    struct sections sections = sections_find(trace, builder_no_pools);
    char *files[] = {"t.c", "other.c"};
    for (int first = 0; first <= 1; first++) {
        struct facts facts = {.version = FACTS_VERSION, .n_files = 1, .files = &files[first]};
        struct monitors monitors = monitors_find(trace, &sections, &facts, NULL);
        assert_int_equal(count_by(&monitors, BY_COUNTER), first);
        monitors_free(&monitors);
    }
    sections_free(&sections, trace);
    trace_free(trace);
}

struct judge {
    bool stalls, hates_tokens;
    int asked;
};

static struct modelgen_trial try_out(const struct model *model, void *context) {
    struct judge *judge = context;
    judge->asked++;
    for (size_t n = 0; n < model->n_nodes; n++)
        if (model->nodes[n].kind == NODE_ACQUIRE)
            return (struct modelgen_trial){.misfit = judge->hates_tokens ? 1 : 0.01,
                                           .stalls = judge->stalls};
    return (struct modelgen_trial){.misfit = 0.1, .stalls = judge->stalls};
}

static int times_decided(const struct decision_log *log, const char *pass, const char *verdict) {
    int times = 0;
    for (size_t i = 0; i < log->count; i++)
        times +=
            strcmp(log->items[i].pass, pass) == 0 && strcmp(log->items[i].verdict, verdict) == 0;
    return times;
}

static void what_little_proves_is_given_up_where_the_model_stalls(void **state) {
    (void)state;
    for (int i = 0; i < 4; i++) {
        struct trace *trace = stock_trace(8);
        struct judge judge = {.stalls = i & 1, .hates_tokens = i >> 1};
        struct decision_log decisions = {0};
        struct modelgen_options options = {
            .try_out = try_out, .context = &judge, .decisions = &decisions};
        struct error error = {0};
        struct model *model = modelgen_build(trace, NULL, NULL, &options, &error);
        assert_non_null(model);
        bool given_up = judge.stalls && judge.hates_tokens;
        struct judge again = {.hates_tokens = true};
        assert_true(try_out(model, &again).misfit == (given_up ? 0.1 : 1));
        assert_int_equal(judge.asked, given_up ? 3 : 1); /* also with the order of puts */
        assert_int_equal(times_decided(&decisions, "doubts", "given up"), given_up);
        assert_int_equal(times_decided(&decisions, "monitor_search", "tokens"), !given_up);
        decision_log_free(&decisions);
        model_free(model);
        trace_free(trace);
    }
}

/* With tokens it stalls, and misses its run by little; without, by more. */
static struct modelgen_trial try_out_failing(const struct model *model, void *context) {
    for (size_t n = 0; n < model->n_nodes; n++)
        if (model->nodes[n].kind == NODE_ACQUIRE)
            return (struct modelgen_trial){
                .misfit = 0.01, .stalls = true, .fails = *(const bool *)context};
    return (struct modelgen_trial){.misfit = 0.1};
}

/* How near the run's end is says nothing of a model that leaves much undone. */
static void what_little_proves_is_given_up_where_there_are_no_figures(void **state) {
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct trace *trace = stock_trace(8);
        bool fails = i;
        struct modelgen_options options = {.try_out = try_out_failing, .context = &fails};
        struct error error = {0};
        struct model *model = modelgen_build(trace, NULL, NULL, &options, &error);
        assert_non_null(model);
        assert_true(try_out_failing(model, &fails).stalls == !fails);
        model_free(model);
        trace_free(trace);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mailboxes_of_a_pool_are_one_queue),
        cmocka_unit_test(what_is_owed_until_it_is_done_is_no_queue),
        cmocka_unit_test(what_is_removed_when_done_is_taken_by_the_first_look),
        cmocka_unit_test(queues_of_a_pool_at_which_nobody_waited_are_told_by_the_source),
        cmocka_unit_test(what_one_thread_alone_fills_and_empties_is_no_queue_between_threads),
        cmocka_unit_test(waiting_at_what_stands_for_several_is_alike),
        cmocka_unit_test(what_comes_next_tells_what_was_found),
        cmocka_unit_test(attempts_alone_are_believed_beyond_doubt),
        cmocka_unit_test(attempts_alone_are_doubted),
        cmocka_unit_test(contradictions_make_a_counter_doubtful),
        cmocka_unit_test(who_comes_first_tries_and_the_others_wait),
        cmocka_unit_test(rare_sections_that_wait_and_wake_take_part),
        cmocka_unit_test(a_batch_is_added_by_one_section_and_done_before_the_next_wait),
        cmocka_unit_test(what_is_found_must_hold_wherever_the_operation_is_called),
        cmocka_unit_test(who_never_had_to_signal_adds_as_the_same_code_does_elsewhere),
        cmocka_unit_test(namesakes_are_told_apart_by_who_makes_them),
        cmocka_unit_test(a_job_and_room_for_its_result_are_waited_for_together),
        cmocka_unit_test(a_stock_that_never_comes_back_proves_nothing),
        cmocka_unit_test(few_waits_that_the_source_does_not_explain_prove_nothing),
        cmocka_unit_test(what_little_proves_is_given_up_where_the_model_stalls),
        cmocka_unit_test(what_little_proves_is_given_up_where_there_are_no_figures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
