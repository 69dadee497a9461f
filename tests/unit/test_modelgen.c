/* modelgen on traces whose truth is known because they were written by hand. */
/* tests/run: beside others */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "modelgen/events/critical_sections.h"
#include "modelgen/modelgen.h"
#include "modelgen/sync/monitor.h"
#include "modelgen/sync/monitor_search.h"
#include "tests/unit/explanations_by.h"
#include "tests/unit/simulation.h"
#include "tests/unit/trace_builder.h"

enum { MUTEX = 0x1000, NOT_EMPTY = 0x2000, NOT_FULL = 0x3000 };

/* ---- writing a bounded queue's history ---- */

struct history {
    struct trace *trace;
    uint64_t now_ns;
};

/* A section that lasts 30 ns longer than its wait. */
static void section(struct history *history, int thread, const char *function, uint64_t condition,
                    uint64_t waited_ns, uint64_t signal) {
    uint64_t now = history->now_ns, after = now + 20 + waited_ns;
    builder_section(history->trace, thread,
                    (struct builder_section){.function = function,
                                             .line = 10,
                                             .mutex = MUTEX,
                                             .start_ns = now,
                                             .waits_for = waited_ns ? condition : 0,
                                             .woken_ns = now + 10 + waited_ns,
                                             .signals_after = signal,
                                             .end_ns = after + 10});
    history->now_ns = after + 100;
}

/* A section that waits from `start` until now, and signals before it ends. */
static void waiting_section(struct history *history, int thread, const char *function,
                            uint64_t start, uint64_t condition, uint64_t signal) {
    uint64_t woken = history->now_ns;
    builder_section(history->trace, thread,
                    (struct builder_section){.function = function,
                                             .line = 10,
                                             .mutex = MUTEX,
                                             .start_ns = start,
                                             .waits_for = condition,
                                             .woken_ns = woken,
                                             .signals_after = signal,
                                             .end_ns = woken + 20});
    history->now_ns = woken + 100;
}

/* A put inside the wait of a get, so that the get goes on just afterwards. */
static void waiting_get(struct history *history, int getter, int putter) {
    uint64_t start = history->now_ns;
    history->now_ns = start + 100;
    section(history, putter, "put", 0, 0, NOT_EMPTY);
    waiting_section(history, getter, "get", start, NOT_EMPTY, NOT_FULL);
}

/* A get inside the wait of a put. */
static void waiting_put(struct history *history, int putter, int getter) {
    uint64_t start = history->now_ns;
    history->now_ns = start + 100;
    section(history, getter, "get", 0, 0, NOT_FULL);
    waiting_section(history, putter, "put", start, NOT_FULL, NOT_EMPTY);
}

static struct trace *queue_trace(int capacity, int rounds) {
    struct history history = {builder_new(2), 1000};
    int putter = builder_thread(history.trace, "main", -1);
    int getter = builder_thread(history.trace, "worker", 0);
    for (int r = 0; r < rounds; r++) {
        waiting_get(&history, getter, putter);
        for (int i = 0; i < capacity; i++)
            section(&history, putter, "put", 0, 0, NOT_EMPTY);
        waiting_put(&history, putter, getter);
        for (int i = 0; i < capacity; i++)
            section(&history, getter, "get", 0, 0, NOT_FULL);
    }
    builder_finish(history.trace, history.now_ns);
    return history.trace;
}

static void a_bounded_queue_is_two_counters_with_its_capacity(void **state) {
    (void)state;
    struct trace *trace = queue_trace(5, 7);
    struct sections sections = sections_find(trace, builder_no_pools);
    struct monitors monitors = monitors_find(trace, &sections, NULL, NULL);
    assert_int_equal(count_by(&monitors, BY_COUNTER), 2);
    bool items = false, slots = false;
    for (size_t g = 0; g < count_by(&monitors, BY_COUNTER); g++) {
        const struct explanation *guard = number_by(&monitors, BY_COUNTER, g);
        assert_true(guard->tally.violations == 0);
        items |= guard->counter.kind == GUARD_QUEUE && guard->counter.initial == 0;
        slots |= guard->counter.kind == GUARD_TOKENS && guard->counter.initial == 5;
    }
    assert_true(items);
    assert_true(slots);
    monitors_free(&monitors);
    sections_free(&sections, trace);
    trace_free(trace);
}

/* The capacity of the queue, which is 5 with one worker, with three of them. */
static double capacity_with_three(const struct facts_choice *choices, size_t n_choices) {
    struct trace *trace = queue_trace(5, 7);
    builder_run_all(trace, trace->meta.run_ns);
    struct facts_operation operations[] = {
        {FACTS_PUT, {.function = "put", .file = "t.c", .line = 10}},
        {FACTS_GET, {.function = "get", .file = "t.c", .line = 10}}};
    struct facts_monitor queue = {
        .kind = MONITOR_BOUNDED_QUEUE,
        .name = "struct queue",
        .mutex = "struct queue.mutex",
        .n_operations = 2,
        .operations = operations,
        .amount = {.text = "size", .n_choices = n_choices, .choices = (void *)choices}};
    struct facts facts = {.version = FACTS_VERSION, .n_monitors = 1, .monitors = &queue};
    struct error error = {0};
    struct model *model = modelgen_build(trace, &facts, NULL, NULL, &error);
    assert_string_equal(error.text, "");
    double capacity = 0;
    for (size_t o = 0; o < model->n_objects; o++)
        if (model->objects[o].kind == OBJECT_TOKENS)
            capacity = linear_value(&model->objects[o].amount, (int[]){1, 3});
    model_free(model);
    trace_free(trace);
    return capacity;
}

static void of_several_amounts_that_the_source_gives_the_trace_takes_one(void **state) {
    (void)state;
    const struct facts_choice any[] = {
        {.amount = {.factor = 2, .follows_threads = true}},
        {.amount = {.offset = 5, .constant = true}},
        {.amount = {.factor = 4, .offset = 1, .follows_threads = true}}};
    assert_true(capacity_with_three(any, 1) == 5);
    assert_true(capacity_with_three(any, 2) == 5);
    assert_true(capacity_with_three(any, 3) == 13);
}

/* It is first used on line 100 of "thread"; one place is taken for good before the trace tells. */
static void amounts_are_of_the_objects_that_their_call_makes(void **state) {
    (void)state;
    const struct facts_choice placed[] = {
        {.amount = {.factor = 5, .follows_threads = true},
         .place = {.file = "t.c", .function = "thread", .line = 101}},
        {.amount = {.factor = 3, .offset = 3, .follows_threads = true},
         .place = {.file = "t.c", .function = "thread", .line = 100}}};
    assert_true(capacity_with_three(placed, 1) == 5);
    assert_true(capacity_with_three(placed, 2) == 11);
}

/* It is made in column 1; else 5, as the trace shows, is all that is known. */
static void of_calls_on_one_line_the_column_tells_which_makes_an_object(void **state) {
    (void)state;
    struct facts_choice on_a_line[] = {
        {.amount = {.factor = 5, .follows_threads = true},
         .place = {.file = "t.c", .function = "thread", .line = 100, .column = 30}},
        {.amount = {.factor = 4, .offset = 1, .follows_threads = true},
         .place = {.file = "t.c", .function = "thread", .line = 100, .column = 1}}};
    assert_true(capacity_with_three(on_a_line, 1) == 15);
    assert_true(capacity_with_three(on_a_line, 2) == 13);
    on_a_line[1].place.column = 60;
    assert_true(capacity_with_three(on_a_line, 2) == 5);
}

/* (threads + 9) / 2 in C: with two it is 5, as with one. */
static void what_a_division_leaves_over_stays_in_the_amount(void **state) {
    (void)state;
    const struct facts_choice half[] = {
        {.amount = {.factor = 0.5, .offset = 4.25, .follows_threads = true}}};
    assert_true(capacity_with_three(half, 1) == 5.75);
}

/* The worker waits for an item; in every round it takes another one at a place where it never
 * waits. */
static void items_are_also_taken_where_nobody_waits(void **state) {
    (void)state;
    struct history history = {builder_new(2), 1000};
    int putter = builder_thread(history.trace, "main", -1);
    int getter = builder_thread(history.trace, "worker", 0);
    for (int r = 0; r < 8; r++) {
        waiting_get(&history, getter, putter);
        for (int i = 0; i < 3; i++)
            section(&history, putter, "put", 0, 0, NOT_EMPTY);
        section(&history, getter, "get", 0, 0, NOT_FULL);
        section(&history, getter, "skip", 0, 0, 0);
        section(&history, getter, "get", 0, 0, NOT_FULL);
    }
    for (int t = putter; t <= getter; t++)
        builder_slice(history.trace, t, 0, history.now_ns);
    builder_finish(history.trace, history.now_ns);
    struct error error = {0};
    struct model *model = modelgen_build(history.trace, NULL, NULL, NULL, &error);
    assert_string_equal(error.text, "");
    size_t skips = 0;
    for (size_t n = 0; n < model->n_nodes; n++)
        skips += model->nodes[n].kind == NODE_GET && strstr(model->nodes[n].name, "skip");
    assert_int_equal(skips, 1);
    model_free(model);
    trace_free(history.trace);
}

static void broadcast(struct history *history, int thread, const char *function) {
    builder_section(history->trace, thread,
                    (struct builder_section){.function = function,
                                             .line = 10,
                                             .mutex = MUTEX,
                                             .start_ns = history->now_ns,
                                             .signals_after = NOT_EMPTY,
                                             .broadcasts = true,
                                             .end_ns = history->now_ns + 20});
    history->now_ns += 100;
}

/* "Something was put once" explains the only wait as well; but as much is taken as is put. Of the
 * two broadcasts it was the first that let the getter go. */
static void a_queue_that_was_empty_only_at_first_is_a_queue(void **state) {
    (void)state;
    struct history history = {builder_new(2), 1000};
    int putter = builder_thread(history.trace, "main", -1);
    int getter = builder_thread(history.trace, "worker", 0);
    waiting_get(&history, getter, putter);
    for (int i = 0; i < 5; i++)
        section(&history, putter, "put", 0, 0, NOT_EMPTY);
    for (int i = 0; i < 30; i++) {
        section(&history, putter, "put", 0, 0, NOT_EMPTY);
        section(&history, getter, "get", 0, 0, NOT_FULL);
    }
    for (int i = 0; i < 5; i++)
        section(&history, getter, "get", 0, 0, NOT_FULL);
    broadcast(&history, putter, "finish");
    section(&history, getter, "get", 0, 0, 0); /* nothing is there any more: it leaves */
    broadcast(&history, putter, "clean_up");
    builder_finish(history.trace, history.now_ns);
    struct sections sections = sections_find(history.trace, builder_no_pools);
    struct monitors monitors = monitors_find(history.trace, &sections, NULL, NULL);
    assert_int_equal(count_by(&monitors, BY_COUNTER), 1);
    const struct explanation *guard = number_by(&monitors, BY_COUNTER, 0);
    assert_int_equal(guard->counter.kind, GUARD_QUEUE);
    assert_true(guard->tally.violations == 0);
    assert_true(guard->counter.close_class >= 0);
    assert_string_equal(monitors.classes[guard->counter.close_class].function, "finish");
    monitors_free(&monitors);
    sections_free(&sections, history.trace);
    trace_free(history.trace);
}

static void nap(struct history *history, int thread) {
    builder_record(history->trace, thread, "nanosleep", history->now_ns, 5000, 0,
                   builder_context(history->trace, "rest", 20, "thread", 102), 0);
    history->now_ns += 5100;
}

/* Of two workers that rest after each item one is told by the queue that there is no more, and one
 * sees it when it has rested, `late` after the queue was closed. */
static struct model *resting_model(bool late) {
    struct history history = {builder_new(2), 1000};
    int creator = builder_thread(history.trace, "main", -1);
    int one = builder_thread(history.trace, "worker", creator);
    int two = builder_thread(history.trace, "worker", creator);
    for (int r = 0; r < 20; r++)
        for (int worker = one; worker <= two; worker++) {
            waiting_get(&history, worker, creator);
            if (late && r == 19 && worker == two)
                broadcast(&history, creator, "finish");
            nap(&history, worker);
        }
    uint64_t end_ns = history.now_ns;
    if (!late)
        broadcast(&history, creator, "finish");
    section(&history, one, "get", 0, 0, 0);
    builder_finish(history.trace, history.now_ns);
    history.trace->threads[two].end_ns = end_ns;
    struct error error = {0};
    struct model *model = modelgen_build(history.trace, NULL, NULL, NULL, &error);
    assert_string_equal(error.text, "");
    trace_free(history.trace);
    return model;
}

static void who_sees_that_a_queue_is_closed_does_not_count_rounds(void **state) {
    (void)state;
    for (int late = 0; late <= 1; late++) {
        struct model *model = resting_model(late);
        int rests = 0;
        for (size_t n = 0; n < model->n_nodes; n++) {
            const struct node *node = &model->nodes[n];
            if (node->kind != NODE_SLEEP)
                continue;
            rests++;
            assert_true((node->stays.kind == DIST_NONE) == late);
            assert_int_equal(node->n_edges, late ? 1 : 2);
        }
        assert_int_equal(rests, 1);
        model_free(model);
    }
}

/* Two workers hand items to each other by one queue: each item leads to one more, until one of them
 * puts what tells both to go home. */
static struct trace *refilled_queue_trace(int rounds) {
    struct history history = {builder_new(2), 1000};
    int creator = builder_thread(history.trace, "main", -1);
    int one = builder_thread(history.trace, "worker", creator);
    int two = builder_thread(history.trace, "worker", creator);
    section(&history, one, "put", 0, 0, NOT_EMPTY);
    section(&history, one, "get", 0, 0, 0);
    for (int r = 0; r < rounds; r++) {
        history.now_ns += 5000;
        waiting_get(&history, two, one);
        history.now_ns += 5000;
        waiting_get(&history, one, two);
    }
    history.now_ns += 5000;
    for (int thread = one; thread <= two; thread++) {
        if (thread == one)
            section(&history, one, "put", 0, 0, NOT_EMPTY);
        section(&history, thread, "get", 0, 0, 0);
        section(&history, thread, "put", 0, 0, NOT_EMPTY);
    }
    for (int thread = one; thread <= two; thread++)
        builder_slice(history.trace, thread, 0, history.now_ns);
    builder_finish(history.trace, history.now_ns);
    return history.trace;
}

static void a_queue_that_its_takers_fill_again_ends_with_its_last_item(void **state) {
    (void)state;
    struct trace *trace = refilled_queue_trace(12);
    struct error error = {0};
    struct model *model = modelgen_build(trace, NULL, NULL, NULL, &error);
    assert_string_equal(error.text, "");
    int queues = 0;
    for (size_t o = 0; o < model->n_objects; o++)
        if (model->objects[o].kind == OBJECT_QUEUE) {
            queues++;
            assert_true(model->objects[o].items_in_all == 25);
        }
    assert_int_equal(queues, 1);
    for (size_t n = 0; n < model->n_nodes; n++)
        assert_int_not_equal(model->nodes[n].kind, NODE_CLOSE);
    model_free(model);
    trace_free(trace);
}

/* The same without items that end the threads: who comes for more while the other one waits finds
 * that nobody is left who could put any, and tells that. One of them has work from the start; the
 * other one takes every second item at another place. */
static struct trace *idle_takers_trace(int rounds) {
    struct history history = {builder_new(2), 1000};
    int creator = builder_thread(history.trace, "main", -1);
    int one = builder_thread(history.trace, "worker", creator);
    int two = builder_thread(history.trace, "worker", creator);
    for (int r = 0; r < rounds; r++) {
        uint64_t start = history.now_ns;
        history.now_ns += 5000;
        section(&history, one, "put", 0, 0, NOT_EMPTY);
        builder_section(history.trace, two,
                        (struct builder_section){.function = "get",
                                                 .line = 10,
                                                 .caller_line = r % 2 ? 90 : 0,
                                                 .mutex = MUTEX,
                                                 .start_ns = start,
                                                 .waits_for = NOT_EMPTY,
                                                 .woken_ns = history.now_ns});
        history.now_ns += 5000;
        waiting_get(&history, one, two);
    }
    uint64_t idle_ns = history.now_ns;
    history.now_ns += 5000;
    section(&history, two, "get", 0, 0, 0);
    broadcast(&history, two, "finish");
    waiting_section(&history, one, "get", idle_ns, NOT_EMPTY, 0);
    builder_run_all(history.trace, history.now_ns);
    builder_finish(history.trace, history.now_ns);
    return history.trace;
}

static void a_queue_that_the_last_idle_taker_closes_ends_with_its_last_item(void **state) {
    (void)state;
    struct trace *trace = idle_takers_trace(12);
    struct error error = {0};
    struct model *model = modelgen_build(trace, NULL, NULL, NULL, &error);
    assert_string_equal(error.text, "");
    int gets = 0;
    for (size_t n = 0; n < model->n_nodes; n++) {
        const struct node *node = &model->nodes[n];
        assert_int_not_equal(node->kind, NODE_CLOSE);
        if (node->kind != NODE_GET)
            continue;
        gets++;
        assert_true(model->objects[node->object].items_in_all == 24);
        int answers[3] = {0}; /* whoever waits when it ends is told, wherever he does */
        for (size_t e = 0; e < node->n_edges; e++)
            answers[node->edges[e].when]++;
        assert_int_equal(answers[OUTCOME_ANY], 0);
        assert_int_equal(answers[OUTCOME_NO], 1);
    }
    assert_true(gets >= 2);
    model_free(model);
    trace_free(trace);
}

static void waits_that_follow_no_counter_stay_unexplained(void **state) {
    (void)state;
    struct history history = {builder_new(2), 1000};
    int a = builder_thread(history.trace, "main", -1);
    int b = builder_thread(history.trace, "worker", 0);
    unsigned random = 7;
    for (int i = 0; i < 200; i++) {
        random = random * 1664525u + 1013904223u;
        if (random >> 31)
            section(&history, a, "put", 0, 0, NOT_EMPTY);
        section(&history, b, "get", NOT_EMPTY, (random >> 30 & 1) ? 50 : 0, 0);
    }
    builder_finish(history.trace, history.now_ns);
    struct sections sections = sections_find(history.trace, builder_no_pools);
    struct monitors monitors = monitors_find(history.trace, &sections, NULL, NULL);
    assert_int_equal(count_by(&monitors, BY_COUNTER), 0);
    bool unexplained = false;
    for (size_t o = 0; o < sections.n_objects; o++)
        unexplained |= sections.objects[o].kind == ON_CONDITION && sections.objects[o].waits > 0 &&
                       !monitors_explain_condition(&monitors, &sections, (int)o, false);
    assert_true(unexplained);
    monitors_free(&monitors);
    sections_free(&sections, history.trace);
    trace_free(history.trace);
}

/* Main and two workers meet at a barrier five times. */
static struct trace *barrier_trace(void) {
    struct trace *trace = builder_new(2);
    int threads[3] = {builder_thread(trace, "main", -1), builder_thread(trace, "worker", 0),
                      builder_thread(trace, "worker", 0)};
    uint32_t barrier = builder_context(trace, "step", 10, "thread", 100);
    uint32_t own = builder_context(trace, "merge", 20, "main", 905);
    uint32_t create = builder_context(trace, "main", 900, "main", 900);
    builder_record(trace, threads[0], "pthread_barrier_init", 1, 0, 0x4000, create, 3);
    builder_create(trace, threads[0], 2, 1, create, 1);
    builder_create(trace, threads[0], 4, 1, create, 2);
    for (uint64_t round = 0; round < 5; round++)
        for (int t = 0; t < 3; t++)
            builder_record(trace, threads[t], "pthread_barrier_wait", 100 + 1000 * round, 500,
                           0x4000, t == 0 ? own : barrier, 0);
    for (int t = 0; t < 3; t++)
        builder_slice(trace, threads[t], 0, 6000);
    builder_finish(trace, 6000);
    return trace;
}

static void barrier_parties_follow_the_pool_that_meets_there(void **state) {
    (void)state;
    struct trace *trace = barrier_trace();
    struct error error = {0};
    struct model *model = modelgen_build(trace, NULL, NULL, NULL, &error);
    assert_string_equal(error.text, "");
    assert_non_null(model);
    size_t barriers = 0;
    for (size_t o = 0; o < model->n_objects; o++)
        if (model->objects[o].kind == OBJECT_BARRIER) {
            int sizes[2] = {1, 7};
            barriers++;
            assert_true(linear_value(&model->objects[o].amount, sizes) == 8);
        }
    assert_int_equal(barriers, 1);
    /* the loop around the barrier keeps its measured count: 4 repetitions, then the end */
    bool exact = false;
    for (size_t n = 0; n < model->n_nodes; n++)
        for (size_t e = 0; e < model->nodes[n].n_edges; e++)
            exact |= model->nodes[n].kind == NODE_BARRIER && model->nodes[n].edges[e].leaves &&
                     dist_mean(&model->nodes[n].stays) == 4;
    assert_true(exact);
    model_free(model);
    trace_free(trace);
}

static void all_pools_that_meet_at_a_barrier_are_its_parties(void **state) {
    (void)state;
    struct trace *trace = barrier_trace();
    int writer = builder_thread(trace, "writer", 0);
    trace->threads[0].records[0].value = 5; /* main, two workers, two writers */
    for (int t = writer; t < writer + 2; t++) {
        if (t > writer)
            builder_thread(trace, "writer", 0);
        builder_copy_calls(trace, t, 1);
        builder_slice(trace, t, 0, 5000);
    }
    builder_finish(trace, 6000);
    struct error error = {0};
    struct model *model = modelgen_build(trace, NULL, NULL, NULL, &error);
    assert_string_equal(error.text, "");
    assert_int_equal(model->n_pools, 3);
    assert_true(model->pools[1].scales && model->pools[2].scales);
    for (size_t o = 0; o < model->n_objects; o++)
        if (model->objects[o].kind == OBJECT_BARRIER)
            assert_true(linear_value(&model->objects[o].amount, (int[]){1, 7, 3}) == 11);
    model_free(model);
    trace_free(trace);
}

/* Two workers meet five times, end, and two writers do so at the same address; nobody saw how many
 * parties that barrier has. */
static void those_who_meet_one_after_the_other_are_not_added_up(void **state) {
    (void)state;
    struct trace *trace = builder_new(2);
    builder_thread(trace, "main", -1);
    uint32_t step = builder_context(trace, "step", 10, "thread", 100);
    for (int t = 1; t <= 4; t++) {
        int thread = builder_thread(trace, t <= 2 ? "worker" : "writer", 0);
        uint64_t begin = t <= 2 ? 0 : 6000;
        for (uint64_t round = 0; round < 5; round++)
            builder_record(trace, thread, "pthread_barrier_wait", begin + 100 + 1000 * round, 500,
                           0x4000, step, 0);
        builder_slice(trace, thread, begin, begin + 5900);
    }
    builder_finish(trace, 12000);
    for (int t = 1; t <= 4; t++) {
        builder_life(trace, t, t <= 2 ? 0 : 6000, t <= 2 ? 5900 : 11900);
    }
    struct error error = {0};
    struct model *model = modelgen_build(trace, NULL, NULL, NULL, &error);
    assert_string_equal(error.text, "");
    assert_int_equal(model->n_pools, 3);
    size_t barriers = 0;
    for (size_t o = 0; o < model->n_objects; o++)
        if (model->objects[o].kind == OBJECT_BARRIER) {
            barriers++;
            assert_true(linear_value(&model->objects[o].amount, (int[]){1, 6, 6}) == 6);
        }
    assert_true(barriers > 0);
    model_free(model);
    trace_free(trace);
}

/* Main writes five items into a pipe, a worker reads them; the last item has `last_bytes`. The
 * descriptors have been those of a file before. */
static struct trace *pipe_trace(int last_bytes) {
    struct trace *trace = builder_new(2);
    int main_thread = builder_thread(trace, "main", -1);
    int worker = builder_thread(trace, "worker", 0);
    uint32_t setup = builder_context(trace, "main", 900, "main", 900);
    uint32_t sends = builder_context(trace, "send", 10, "main", 910);
    uint32_t takes = builder_context(trace, "take", 20, "worker", 100);
    builder_record(trace, main_thread, "read", 1, 1, 3, setup, 100);
    builder_record(trace, main_thread, "close", 3, 1, 3, setup, 0);
    builder_record(trace, main_thread, "pipe", 5, 0, 0, setup, 3 | 4 << 16);
    builder_create(trace, main_thread, 7, 1, setup, 1);
    uint64_t after = 10;
    for (uint64_t i = 0; i < 5; i++) {
        int bytes = i < 4 ? 8 : last_bytes;
        uint64_t at = 100000 * (i + 1);
        builder_record(trace, main_thread, "write", at, 10, 4, sends, bytes);
        builder_record(trace, worker, "read", after, at + 20 - after, 3, takes, bytes);
        after = at + 50000;
    }
    builder_record(trace, main_thread, "close", 600000, 10, 4, setup, 0);
    builder_record(trace, worker, "read", after, 600020 - after, 3, takes, 0);
    for (int t = main_thread; t <= worker; t++)
        builder_slice(trace, t, 0, 700000);
    builder_finish(trace, 700000);
    return trace;
}

static double count_nodes(const struct model *model, enum node_kind kind) {
    double n = 0;
    for (size_t i = 0; i < model->n_nodes; i++)
        n += model->nodes[i].kind == kind;
    return n;
}

/* A worker tries five times to take an item, finds one each time, and leaves at its sixth attempt;
 * main puts another item then, or none. */
static struct trace *attempts_trace(bool put_after_the_end) {
    struct trace *trace = builder_new(2);
    int main_thread = builder_thread(trace, "main", -1);
    int worker = builder_thread(trace, "worker", 0);
    uint32_t puts = builder_context(trace, "send", 10, "main", 910);
    uint32_t tries = builder_context(trace, "take", 20, "worker", 100);
    uint32_t setup = builder_context(trace, "main", 900, "main", 900);
    uint64_t queue = 0x1000;
    builder_create(trace, main_thread, 7, 1, setup, 1);
    for (uint64_t i = 0; i < 6; i++) {
        uint64_t at = 100000 * (i + 1);
        if (i < 5)
            builder_record(trace, main_thread, "g_async_queue_push", at, 0, queue, puts, 0);
        builder_record(trace, worker, "g_async_queue_try_pop", at + 50000, 0, queue, tries, 0);
    }
    struct trace_thread *taker = &trace->threads[worker];
    taker->records[taker->n_records - 1].flags |= TRACE_FAILED;
    if (put_after_the_end)
        builder_record(trace, main_thread, "g_async_queue_push", 660000, 0, queue, puts, 0);
    builder_join(trace, main_thread, 680000, 10, setup, 1);
    for (int t = main_thread; t <= worker; t++)
        builder_slice(trace, t, 0, 700000);
    builder_finish(trace, 700000);
    return trace;
}

static void who_fails_first_when_nothing_more_comes_was_lucky_before(void **state) {
    (void)state;
    for (int early = 0; early <= 1; early++) {
        struct trace *trace = attempts_trace(early);
        struct error error = {0};
        struct model *model = modelgen_build(trace, NULL, NULL, NULL, &error);
        assert_string_equal(error.text, "");
        int n_gets = 0;
        for (size_t n = 0; n < model->n_nodes; n++) {
            if (model->nodes[n].kind != NODE_GET)
                continue;
            n_gets++;
            assert_true((model->nodes[n].timeout_ns == 0) == early);
        }
        assert_int_equal(n_gets, 1);
        assert_true(count_nodes(model, NODE_CLOSE) == !early);
        model_free(model);
        trace_free(trace);
    }
}

/* Main joins two workers that wait for a semaphore: after it has told both that they can go, or
 * each before it tells the next one. */
static struct trace *ends_trace(bool one_by_one) {
    struct trace *trace = builder_new(2);
    int main_thread = builder_thread(trace, "main", -1);
    uint32_t setup = builder_context(trace, "main", 900, "main", 900);
    uint32_t tells = builder_context(trace, "stop", 10, "main", 910);
    uint32_t joins = builder_context(trace, "stop", 11, "main", 910);
    uint32_t waits = builder_context(trace, "work", 20, "worker", 100);
    uint64_t semaphore = 0x1000;
    for (int w = 1; w <= 2; w++) {
        uint64_t told = one_by_one ? (uint64_t)w * 100000 : 90000 + (uint64_t)w * 10000;
        assert_int_equal(builder_thread(trace, "worker", main_thread), w);
        builder_create(trace, main_thread, (uint64_t)w, 1, setup, w);
        builder_record(trace, w, "sem_wait", 1000, told - 1000, semaphore, waits, 0);
        builder_slice(trace, w, 500, 1000);
        builder_slice(trace, w, told, told + 50000);
    }
    for (int w = 1; w <= 2; w++) {
        uint64_t told = trace->threads[w].slices[1].on_ns;
        builder_record(trace, main_thread, "sem_post", told, 0, semaphore, tells, 0);
        if (one_by_one)
            builder_join(trace, main_thread, told + 10, 60000, joins, w);
    }
    for (int w = 1; w <= 2 && !one_by_one; w++)
        builder_join(trace, main_thread, 200000 + (uint64_t)w, 1, joins, w);
    builder_slice(trace, main_thread, 0, 300000);
    builder_finish(trace, 300000);
    return trace;
}

static void nobody_is_waited_for_who_is_still_to_be_told_to_end(void **state) {
    (void)state;
    for (int one_by_one = 0; one_by_one <= 1; one_by_one++) {
        struct trace *trace = ends_trace(one_by_one);
        struct error error = {0};
        struct model *model = modelgen_build(trace, NULL, NULL, NULL, &error);
        assert_string_equal(error.text, "");
        assert_true(count_nodes(model, NODE_JOIN) == 1);
        assert_true(count_nodes(model, NODE_RELEASE) + count_nodes(model, NODE_PUT) > 0);
        struct sim_result result = simulate(model, (struct sim_config){.cores = 2});
        assert_true(result.stalls == 0);
        sim_result_free(&result);
        model_free(model);
        trace_free(trace);
    }
}

static void a_pipe_between_threads_is_a_queue(void **state) {
    (void)state;
    for (int last_bytes = 8; last_bytes >= 4; last_bytes -= 4) {
        bool is_queue = last_bytes == 8;
        struct trace *trace = pipe_trace(last_bytes);
        struct error error = {0};
        struct model *model = modelgen_build(trace, NULL, NULL, NULL, &error);
        assert_string_equal(error.text, "");
        assert_true(count_nodes(model, NODE_PUT) == is_queue);
        assert_true(count_nodes(model, NODE_GET) == is_queue);
        assert_true(count_nodes(model, NODE_CLOSE) == is_queue);
        for (size_t o = 0; o < model->n_objects; o++)
            assert_true(model->objects[o].bounded && model->objects[o].amount.base == 8192);
        assert_int_equal(model->n_objects, is_queue);
        model_free(model);
        trace_free(trace);
    }
}

/* Main waits from 1000 to 500000 for a signal that the worker, or main itself, sends it or another
 * thread. The process is number 1. */
struct sending {
    const char *by;   /* the function */
    int target;       /* process, or index of the thread */
    int sender;       /* index of the thread */
    uint64_t time_ns; /* of the sending */
    uint64_t wait_ns; /* how long main waits */
    uint64_t woken_ns;
    bool pairs;
};

static struct trace *signal_trace(const struct sending *sending) {
    struct trace *trace = builder_new(2);
    int main_thread = builder_thread(trace, "main", -1);
    int worker = builder_thread(trace, "worker", 0);
    uint32_t setup = builder_context(trace, "main", 900, "main", 900);
    uint32_t waits = builder_context(trace, "await", 10, "main", 910);
    uint32_t sends = builder_context(trace, "tell", 20, "worker", 100);
    builder_create(trace, main_thread, 7, 1, setup, 1);
    bool to_thread = strcmp(sending->by, "pthread_kill") == 0;
    if (sending->sender == main_thread)
        builder_record(trace, main_thread, sending->by, sending->time_ns, 0, 1, setup, SIGUSR1);
    else
        builder_record(trace, worker, sending->by, sending->time_ns, 0,
                       to_thread ? 0x7000 : (uint64_t)sending->target, sends,
                       to_thread ? sending->target : SIGUSR1);
    builder_record(trace, main_thread, "sigsuspend", 1000, sending->wait_ns, 0, waits, -1);
    struct trace_thread *threads = trace->threads;
    builder_last(trace, main_thread)->flags |= TRACE_FAILED;
    builder_slice(trace, main_thread, 0, 1000);
    builder_slice(trace, main_thread, 1000 + sending->wait_ns, 700000);
    threads[main_thread].slices[1].wake_ns = sending->woken_ns;
    builder_slice(trace, worker, 0, 690000);
    builder_finish(trace, 700000);
    return trace;
}

static void a_wait_for_another_threads_signal_is_one_for_that_thread(void **state) {
    (void)state;
    const struct sending sendings[] = {
        {"kill", 1, 1, 400000, 499000, 0, true},
        {"kill", 0, 1, 400000, 499000, 0, true}, /* the group, of which it is one */
        {"sigqueue", 1, 1, 400000, 499000, 401000, true},
        {"pthread_kill", 0, 1, 400000, 499000, 0, true},
        {"kill", 1, 1, 500, 2000, 0, true},            /* it was there already ... */
        {"kill", 1, 1, 500, 499000, 0, false},         /* ... and did not end this wait */
        {"kill", 1, 1, 400000, 499000, 300000, false}, /* something else had woken it */
        {"kill", 1, 1, 600000, 499000, 0, false},
        {"kill", 1, 0, 500, 2000, 0, false}, /* main's own */
        {"kill", 77, 1, 400000, 499000, 0, false},
        {"pthread_kill", 1, 1, 400000, 499000, 0, false},
        {"pthread_kill", -1, 1, 400000, 499000, 0, false},
    };
    for (size_t i = 0; i < sizeof sendings / sizeof *sendings; i++) {
        struct trace *trace = signal_trace(&sendings[i]);
        struct error error = {0};
        struct model *model = modelgen_build(trace, NULL, NULL, NULL, &error);
        assert_string_equal(error.text, "");
        assert_true(count_nodes(model, NODE_ACQUIRE) == sendings[i].pairs);
        assert_true(count_nodes(model, NODE_RELEASE) == sendings[i].pairs);
        assert_true(count_nodes(model, NODE_SLEEP) == !sendings[i].pairs);
        assert_int_equal(model->n_objects, sendings[i].pairs);
        for (size_t o = 0; o < model->n_objects; o++) {
            assert_int_equal(model->objects[o].kind, OBJECT_TOKENS);
            assert_true(model->objects[o].amount.base == 0);
            assert_string_equal(model->objects[o].name, "signal to main, await (t.c:10)");
        }
        assert_int_equal(trace->threads[0].records[1 + (sendings[i].sender == 0)].api,
                         API_sigsuspend); /* the trace is as it was */
        model_free(model);
        trace_free(trace);
    }
}

static void a_wait_for_a_signal_that_never_ended_stays_as_it_is(void **state) {
    (void)state;
    struct trace *trace = signal_trace(&(struct sending){"kill", 1, 1, 400000, 699000, 0, false});
    trace->threads[0].records[1].flags |= TRACE_UNFINISHED;
    struct error error = {0};
    struct model *model = modelgen_build(trace, NULL, NULL, NULL, &error);
    assert_string_equal(error.text, "");
    assert_int_equal(model->n_objects, 0);
    assert_true(count_nodes(model, NODE_SLEEP) == 1);
    model_free(model);
    trace_free(trace);
}

static void a_lone_helper_that_computes_most_does_not_scale(void **state) {
    (void)state;
    struct trace *trace = barrier_trace();
    int helper = builder_thread(trace, "helper", 0);
    builder_slice(trace, helper, 0, 30000); /* the two workers: 12000 */
    builder_finish(trace, 30000);
    struct error error = {0};
    struct model *model = modelgen_build(trace, NULL, NULL, NULL, &error);
    assert_string_equal(error.text, "");
    assert_int_equal(model->n_pools, 3);
    assert_string_equal(model->pools[1].name, "worker");
    assert_true(model->pools[1].scales);
    assert_string_equal(model->pools[2].name, "helper");
    assert_false(model->pools[2].scales);
    model_free(model);
    trace_free(trace);
}

static void a_pool_whose_rounds_are_split_says_so(void **state) {
    (void)state;
    struct trace *trace = barrier_trace();
    struct facts_loop loop = {.file = "t.c",
                              .function = "thread",
                              .first_line = 90,
                              .last_line = 110,
                              .bound = BOUND_SHARE,
                              .has_fragments = true};
    char *file = "t.c";
    struct facts facts = {
        .version = FACTS_VERSION, .n_loops = 1, .loops = &loop, .n_files = 1, .files = &file};
    struct error error = {0};
    struct model *model = modelgen_build(trace, &facts, NULL, NULL, &error);
    assert_non_null(model);
    assert_true(model->pools[1].scales);
    assert_non_null(strstr(model->pools[1].rule, "splits a fixed total"));
    model_free(model);
    trace_free(trace);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_queue_that_was_empty_only_at_first_is_a_queue),
        cmocka_unit_test(a_bounded_queue_is_two_counters_with_its_capacity),
        cmocka_unit_test(of_several_amounts_that_the_source_gives_the_trace_takes_one),
        cmocka_unit_test(amounts_are_of_the_objects_that_their_call_makes),
        cmocka_unit_test(of_calls_on_one_line_the_column_tells_which_makes_an_object),
        cmocka_unit_test(what_a_division_leaves_over_stays_in_the_amount),
        cmocka_unit_test(items_are_also_taken_where_nobody_waits),
        cmocka_unit_test(who_sees_that_a_queue_is_closed_does_not_count_rounds),
        cmocka_unit_test(a_queue_that_its_takers_fill_again_ends_with_its_last_item),
        cmocka_unit_test(a_queue_that_the_last_idle_taker_closes_ends_with_its_last_item),
        cmocka_unit_test(waits_that_follow_no_counter_stay_unexplained),
        cmocka_unit_test(barrier_parties_follow_the_pool_that_meets_there),
        cmocka_unit_test(all_pools_that_meet_at_a_barrier_are_its_parties),
        cmocka_unit_test(those_who_meet_one_after_the_other_are_not_added_up),
        cmocka_unit_test(who_fails_first_when_nothing_more_comes_was_lucky_before),
        cmocka_unit_test(nobody_is_waited_for_who_is_still_to_be_told_to_end),
        cmocka_unit_test(a_pipe_between_threads_is_a_queue),
        cmocka_unit_test(a_wait_for_another_threads_signal_is_one_for_that_thread),
        cmocka_unit_test(a_wait_for_a_signal_that_never_ended_stays_as_it_is),
        cmocka_unit_test(a_lone_helper_that_computes_most_does_not_scale),
        cmocka_unit_test(a_pool_whose_rounds_are_split_says_so),
    };
    return cmocka_run_group_tests_name("modelgen", tests, NULL, NULL);
}
