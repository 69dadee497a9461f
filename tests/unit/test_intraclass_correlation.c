/* Rounds of a computation: what all threads have in common in one, the ways that all go alike, and
 * what comes of a thread's place in them all. */
/* tests/run: beside others */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "modelgen/modelgen.h"
#include "tests/unit/trace_builder.h"

#define US 1000ULL

enum { THREADS = 2, STEPS = 20, BARRIER = 0x100 };

static int cores = THREADS, steps = STEPS;
static const struct facts *source; /* NULL: it is not there */

/* Threads that meet after each step; `lengths[t]`: how long thread t computes in it, 100 us each.
 */
static struct model *model_of(const uint64_t lengths[THREADS][STEPS]) {
    struct trace *trace = builder_new(THREADS);
    int main_thread = builder_thread(trace, "main", -1);
    uint32_t create = builder_context(trace, "main", 900, "main", 900);
    uint32_t join = builder_context(trace, "main", 910, "main", 910);
    uint32_t meet = builder_context(trace, "step", 30, "worker", 100);
    uint64_t end = 0;
    for (int t = 1; t <= THREADS; t++)
        builder_create(trace, main_thread, (uint64_t)t, 0, create, t);
    for (int t = 1; t <= THREADS; t++)
        builder_thread(trace, "worker", main_thread);
    uint64_t now = 10 * US;
    for (int step = 0; step < steps; step++) {
        uint64_t longest = 0;
        for (int t = 0; t < THREADS; t++)
            longest = lengths[t][step] > longest ? lengths[t][step] : longest;
        for (int t = 0; t < THREADS; t++) {
            uint64_t done = now + lengths[t][step] * 100 * US;
            builder_slice(trace, t + 1, now, done);
            builder_record(trace, t + 1, "pthread_barrier_wait", done,
                           now + longest * 100 * US - done + 1, BARRIER, meet, THREADS);
        }
        end = now += longest * 100 * US + 10;
    }
    for (int t = 1; t <= THREADS; t++)
        builder_join(trace, main_thread, 100 + (uint64_t)t, end - 100, join, t);
    builder_finish(trace, end + 100);
    trace->meta.cores = cores;
    return builder_model(trace, source);
}

/* The way from one meeting to the next. */
static const struct edge *step_edge(const struct model *model) {
    for (size_t n = 0; n < model->n_nodes; n++)
        for (size_t e = 0; e < model->nodes[n].n_edges; e++)
            if (model->nodes[n].kind == NODE_BARRIER && model->nodes[n].edges[e].to == (int)n)
                return &model->nodes[n].edges[e];
    fail_msg("the steps are no loop");
    return NULL;
}

static struct dist step_cpu(const struct model *model) {
    return step_edge(model)->cpu_ns;
}

static void steps_that_differ_alike_for_all_are_rounds(void **state) {
    (void)state;
    uint64_t lengths[THREADS][STEPS];
    for (int step = 0; step < STEPS; step++)
        for (int t = 0; t < THREADS; t++)
            lengths[t][step] = step % 3 ? 10 : 50 + (uint64_t)t;
    struct model *model = model_of(lengths);
    struct dist cpu = step_cpu(model);
    assert_true(cpu.common > 0.95 && cpu.common <= 1);
    assert_int_equal(cpu.sharers, THREADS);
    model_free(model);
}

/* In each step another thread has most to do. */
static void alternate(uint64_t lengths[THREADS][STEPS]) {
    for (int step = 0; step < STEPS; step++)
        for (int t = 0; t < THREADS; t++)
            lengths[t][step] = (step + t) % 2 ? 10 : 50;
}

static void steps_that_differ_for_each_are_not(void **state) {
    (void)state;
    uint64_t lengths[THREADS][STEPS];
    alternate(lengths);
    struct model *model = model_of(lengths);
    assert_true(step_cpu(model).common == 0);
    model_free(model);
}

/* The source of the threads: their steps take from what all have, until there is no more. */
static void read_source(struct facts *facts) {
    static char *files[] = {"t.c"};
    static struct facts_loop loop = {.file = "t.c",
                                     .function = "worker",
                                     .first_line = 90,
                                     .last_line = 110,
                                     .bound = BOUND_FIXED,
                                     .has_fragments = true,
                                     .why = "steps"};
    static struct facts_share share = {.place = {.file = "t.c", .function = "worker", .line = 95},
                                       .callee = "take_all",
                                       .why = "next",
                                       .shared = true};
    static struct facts_creation creation = {
        .place = {.file = "t.c", .function = "main", .line = 900},
        .object = ON_THREAD,
        .per_thread = true};
    *facts = (struct facts){.version = FACTS_VERSION,
                            .n_files = 1,
                            .files = files,
                            .n_loops = 1,
                            .loops = &loop,
                            .n_shares = 1,
                            .shares = &share,
                            .n_creations = 1,
                            .creations = &creation};
    source = facts;
}

/* The node at which threads take more of what a step has; NULL: there is none. */
static const struct node *step_supply(const struct model *model) {
    for (size_t n = 0; n < model->n_nodes; n++)
        if (model->nodes[n].kind == NODE_ACQUIRE)
            return &model->nodes[n];
    return NULL;
}

/* Who has a core takes more, and all of a step is there anew in the next one. */
static void what_threads_take_in_each_step_is_one_supply(void **state) {
    (void)state;
    uint64_t lengths[THREADS][STEPS];
    alternate(lengths);
    struct facts facts;
    read_source(&facts);
    for (cores = 1; cores <= THREADS; cores++) {
        struct model *model = model_of(lengths);
        const struct node *taker = step_supply(model);
        assert_non_null(taker);
        assert_true(taker->timeout_ns == 0 && taker->n_edges == 2);
        assert_int_equal(taker->edges[0].when, OUTCOME_YES);
        assert_ptr_equal(&model->nodes[taker->edges[0].to], taker);
        assert_int_equal(taker->edges[1].when, OUTCOME_NO);
        assert_int_equal(model->nodes[taker->edges[1].to].kind, NODE_BARRIER);
        const struct object *supply = &model->objects[taker->object];
        double all_ns = supply->amount.base * taker->edges[0].cpu_ns.mean;
        assert_true(all_ns > 0.9 * 60 * 100 * US && all_ns < 1.1 * 60 * 100 * US);
        assert_true(supply->amount.base >= 4 * THREADS && supply->amount.n_terms == 0);
        assert_int_equal(supply->refilled_after.n_terms, 1); /* when each has found nothing left */
        model_free(model);
    }
    cores = THREADS;
    source = NULL;
}

/* Where threads wait for cores, who has one takes more, also of what is there but once. */
static void what_threads_take_in_turns_on_a_core_is_evened_out(void **state) {
    (void)state;
    uint64_t lengths[THREADS][STEPS];
    alternate(lengths);
    struct facts facts;
    read_source(&facts);
    steps = 2; /* only one from meeting to meeting */
    for (cores = 1; cores <= THREADS; cores++) {
        struct model *model = model_of(lengths);
        struct dist cpu = step_cpu(model);
        bool varies = cpu.kind == DIST_EMPIRICAL && cpu.values[cpu.n_values - 1] > cpu.mean * 1.1;
        assert_true(varies == (cores == THREADS));
        assert_true(cpu.mean > 0.9 * 30 * 100 * US && cpu.mean < 1.1 * 30 * 100 * US);
        model_free(model);
    }
    steps = STEPS;
    cores = THREADS;
    source = NULL;
}

/* The steps are shared out: `shared`, by taking, else by the thread's number. */
static struct model *model_of_parts(const uint64_t lengths[THREADS][STEPS], bool shared) {
    struct facts facts;
    read_source(&facts);
    struct facts_share share = facts.shares[0];
    share.shared = shared;
    facts.shares = &share;
    struct model *model = model_of(lengths);
    source = NULL;
    return model;
}

static void parts_that_always_differ_cost_so_by_their_place(void **state) {
    (void)state;
    uint64_t lengths[THREADS][STEPS];
    for (int step = 0; step < STEPS; step++)
        for (int t = 0; t < THREADS; t++)
            lengths[t][step] = (t ? 30 : 10) * (step % 4 ? 1 : 2);
    struct model *model = model_of_parts(lengths, false);
    const struct edge *edge = step_edge(model);
    assert_int_equal(edge->n_cpu_by_place, THREADS);
    assert_true(fabs(edge->cpu_by_place[0] - 0.5) < 1e-3);
    assert_true(fabs(edge->cpu_by_place[1] - 1.5) < 1e-3);
    assert_true(edge->cpu_ns.common > 0.99); /* a long step is twice a short one for both */
    assert_int_equal(edge->cpu_ns.sharers, THREADS);
    bool said = false;
    for (size_t i = 0; i < model->n_notes; i++)
        said |= strstr(model->notes[i], "0.50 to 1.50 times the mean") != NULL;
    assert_true(said);
    model_free(model);

    model = model_of_parts(lengths, true);
    assert_non_null(step_supply(model)); /* who takes has no place */
    for (size_t n = 0; n < model->n_nodes; n++)
        for (size_t e = 0; e < model->nodes[n].n_edges; e++)
            assert_int_equal(model->nodes[n].edges[e].n_cpu_by_place, 0);
    model_free(model);
    model = model_of(lengths); /* without source */
    assert_int_equal(step_edge(model)->n_cpu_by_place, 0);
    model_free(model);
}

static void parts_that_differ_little_or_by_chance_have_no_place(void **state) {
    (void)state;
    uint64_t little[THREADS][STEPS], chance[THREADS][STEPS];
    for (int step = 0; step < STEPS; step++)
        for (int t = 0; t < THREADS; t++) {
            little[t][step] = t ? 55 : 50;
            chance[t][step] = step == 7 && t ? 400 : 10 + (uint64_t)((step * 7 + t * 3) % 11);
        }
    struct model *model = model_of_parts(little, false);
    assert_int_equal(step_edge(model)->n_cpu_by_place, 0);
    model_free(model);
    model = model_of_parts(chance, false);
    assert_int_equal(step_edge(model)->n_cpu_by_place, 0);
    model_free(model);
}

/* Steps and barriers of two kinds; `kinds[t]`: at which of them thread t is in each step. */
static struct model *model_of_kinds(const char *kinds[THREADS]) {
    struct trace *trace = builder_new(THREADS);
    int main_thread = builder_thread(trace, "main", -1);
    uint32_t create = builder_context(trace, "main", 900, "main", 900);
    uint32_t meet[2] = {builder_context(trace, "step", 30, "worker", 100),
                        builder_context(trace, "step", 40, "worker", 105)};
    for (int t = 1; t <= THREADS; t++)
        builder_create(trace, main_thread, (uint64_t)t, 0, create, t);
    for (int t = 1; t <= THREADS; t++)
        builder_thread(trace, "worker", main_thread);
    uint64_t now = 10 * US;
    for (int step = 0; kinds[0][step]; step++, now += 1000 * US)
        for (int t = 0; t < THREADS; t++) {
            int kind = kinds[t][step] == 'b';
            builder_slice(trace, t + 1, now, now + 900 * US);
            builder_record(trace, t + 1, "pthread_barrier_wait", now + 900 * US, 1,
                           BARRIER + (uint64_t)kind, meet[kind], THREADS);
        }
    builder_finish(trace, now);
    trace->meta.cores = cores;
    return builder_model(trace, NULL);
}

static size_t count_courses(const struct model *model) {
    size_t n = 0;
    for (size_t i = 0; i < model->n_nodes; i++)
        n += model->nodes[i].n_course > 0;
    return n;
}

/* The way to `to` is taken in its turns only: so often in a row, then not so often, and so on. */
static void assert_course(const struct node *node, int to, size_t n, const double times[]) {
    assert_int_equal(node->n_course, 2 * n);
    for (size_t i = 0; i < n; i++) {
        const struct edge *edge = &node->edges[(size_t)node->course[2 * i]];
        assert_true((edge->to == to) == (i % 2 == 0));
        assert_float_equal(node->course[2 * i + 1], times[i], 0);
    }
}

static void ways_that_all_went_alike_are_a_course(void **state) {
    (void)state;
    const char *alike[THREADS] = {"aaababaababaaaab", "aaababaababaaaab"};
    struct model *model = model_of_kinds(alike);
    const double at_a[] = {2, 2, 1, 2, 3, 1}; /* behind an a: another one, or not */
    size_t found = 0;
    for (size_t n = 0; n < model->n_nodes; n++)
        if (model->nodes[n].n_course > 0) {
            assert_course(&model->nodes[n], (int)n, 6, at_a);
            found++;
        }
    assert_int_equal(found, 1);
    model_free(model);
    const char *apart[THREADS] = {"aababbbabaabbaab", "abbaaabbbabbaaba"};
    model = model_of_kinds(apart);
    assert_int_equal(count_courses(model), 0);
    model_free(model);
    const char *always[THREADS] = {"aaaaaaaaaaaaaaaa", "aaaaaaaaaaaaaaaa"};
    model = model_of_kinds(always); /* there is nothing to decide */
    assert_int_equal(count_courses(model), 0);
    model_free(model);
}

/* A program of one thread that sleeps here or there, now this way, now that. */
static struct model *model_of_naps(int naps) {
    struct trace *trace = builder_new(2);
    builder_thread(trace, "main", -1);
    uint32_t at[2] = {builder_context(trace, "here", 30, "main", 100),
                      builder_context(trace, "there", 40, "main", 105)};
    uint64_t now = 1000 * US;
    unsigned dice = 1;
    for (int i = 0; i < naps; i++, now += 1000 * US) {
        dice = dice * 1103515245 + 12345;
        builder_record(trace, 0, "usleep", now, 900 * US, 0, at[dice >> 16 & 1], 0);
    }
    builder_finish(trace, now);
    return builder_model(trace, NULL);
}

static void who_is_alone_keeps_to_its_course_unless_it_is_long(void **state) {
    (void)state;
    struct model *model = model_of_naps(100);
    assert_int_equal(count_courses(model), 2);
    model_free(model);
    model = model_of_naps(4000);
    assert_int_equal(count_courses(model), 0);
    model_free(model);
}

/* In each of a few rounds one thread sleeps so often between two meetings. */
static struct model *model_of_solo(const struct facts *facts) {
    const int naps[] = {1, 3, 2};
    struct trace *trace = builder_new(THREADS);
    int main_thread = builder_thread(trace, "main", -1);
    uint32_t create = builder_context(trace, "main", 900, "main", 900);
    uint32_t before = builder_context(trace, "step", 30, "worker", 100);
    uint32_t nap = builder_context(trace, "step", 40, "worker", 105);
    uint32_t behind = builder_context(trace, "step", 50, "worker", 110);
    for (int t = 1; t <= THREADS; t++)
        builder_create(trace, main_thread, (uint64_t)t, 0, create, t);
    for (int t = 1; t <= THREADS; t++)
        builder_thread(trace, "worker", main_thread);
    uint64_t now = 10 * US;
    for (size_t round = 0; round < sizeof naps / sizeof *naps; round++, now += 10000 * US)
        for (int t = 1; t <= THREADS; t++) {
            uint64_t at = now + 1000 * US;
            builder_slice(trace, t, now, at);
            builder_record(trace, t, "pthread_barrier_wait", at, 1, BARRIER, before, THREADS);
            for (int i = 0; i < naps[round] && t == 1; i++)
                builder_record(trace, t, "usleep", at += 1000 * US, 1000 * US - 10, 0, nap, 0);
            builder_record(trace, t, "pthread_barrier_wait", at + 1000 * US,
                           now + 9000 * US - at - 1000 * US, BARRIER, behind, THREADS);
        }
    builder_finish(trace, now);
    return builder_model(trace, facts);
}

static const struct node *nap_of(const struct model *model) {
    for (size_t n = 0; n < model->n_nodes; n++)
        if (model->nodes[n].kind == NODE_SLEEP)
            return &model->nodes[n];
    fail_msg("nobody sleeps");
    return NULL;
}

static bool is_reached_by_leader(const struct model *model, const struct node *to) {
    for (size_t n = 0; n < model->n_nodes; n++)
        for (size_t e = 0; e < model->nodes[n].n_edges; e++)
            if (model->nodes[n].edges[e].taker == TAKER_LEADER &&
                &model->nodes[model->nodes[n].edges[e].to] == to)
                return true;
    return false;
}

static void what_the_source_gives_to_one_thread_is_done_on_its_course(void **state) {
    (void)state;
    struct facts facts;
    read_source(&facts);
    facts.n_loops = facts.n_shares = 0;
    struct facts_solo solo = {
        .file = "t.c", .function = "worker", .first_line = 104, .last_line = 106};
    struct model *model = model_of_solo(&facts);
    assert_false(is_reached_by_leader(model, nap_of(model))); /* three rounds may be chance */
    model_free(model);

    for (int others = 0; others <= 1; others++) {
        solo.others = others;
        if (others)
            solo.first_line = solo.last_line = 110;
        facts.n_solos = 1;
        facts.solos = &solo;
        model = model_of_solo(&facts);
        const struct node *nap = nap_of(model);
        assert_true(is_reached_by_leader(model, nap));
        const double away[] = {1, 2, 1, 1, 1};
        assert_int_equal(nap->n_edges, 2);
        int again = (int)(nap - model->nodes);
        assert_course(nap, nap->edges[nap->edges[0].to == again].to, 5, away);
        model_free(model);
    }
    source = NULL;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_that_differ_alike_for_all_are_rounds),
        cmocka_unit_test(steps_that_differ_for_each_are_not),
        cmocka_unit_test(what_threads_take_in_each_step_is_one_supply),
        cmocka_unit_test(what_threads_take_in_turns_on_a_core_is_evened_out),
        cmocka_unit_test(parts_that_always_differ_cost_so_by_their_place),
        cmocka_unit_test(parts_that_differ_little_or_by_chance_have_no_place),
        cmocka_unit_test(ways_that_all_went_alike_are_a_course),
        cmocka_unit_test(what_the_source_gives_to_one_thread_is_done_on_its_course),
        cmocka_unit_test(who_is_alone_keeps_to_its_course_unless_it_is_long),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
