/* Which pools follow the thread count, and how far, where a helper creates as many threads as its
 * callers say. */
/* tests/run: beside others */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/memory.h"
#include "modelgen/events/peak_threads.h"
#include "modelgen/modelgen.h"
#include "tests/unit/sourceless_pools.h"
#include "tests/unit/trace_builder.h"

enum { WORK_NS = 10000000, CALL_LINE = 50 };

static char file[] = "t.c", helper[] = "run", caller[] = "main";

/* The threads that main created are there for as long as they have a core. */
static void live_while_running(struct trace *trace) {
    for (int t = 1; t < (int)trace->n_threads; t++)
        builder_life(trace, t, trace->threads[t].slices[0].on_ns,
                     trace->threads[t].slices[0].off_ns);
}

/* For each of `sizes` main calls run(), on a line of its own, and that creates so many threads. The
 * later, the more they compute. */
static struct trace *trace_of(const int *sizes, int n_pools) {
    struct trace *trace = builder_new(4);
    int main_thread = builder_thread(trace, "main", -1);
    uint64_t end = 0;
    for (int p = 0; p < n_pools; p++) {
        uint32_t create = builder_context(trace, helper, 10, caller, CALL_LINE + p);
        uint32_t join = builder_context(trace, helper, 12, caller, CALL_LINE + p);
        uint64_t begin = end, first = trace->n_threads;
        end += (uint64_t)(p + 1) * WORK_NS;
        for (int t = 0; t < sizes[p]; t++) {
            int thread = builder_thread(trace, "work", main_thread);
            trace->threads[thread].creation_context = create;
            builder_create(trace, main_thread, begin, 0, create, thread);
            builder_slice(trace, thread, begin, end - 10);
        }
        for (int t = 0; t < sizes[p]; t++)
            builder_join(trace, main_thread, begin + 10, end - begin - 10, join, (int)first + t);
    }
    builder_finish(trace, end);
    live_while_running(trace);
    return trace;
}

/* The pools of the model are main and those of `sizes`, for which the source has these counts, in
 * their order; the calls are filled in. */
static struct model *model_of(const int *sizes, int n_pools, struct facts_count *counts) {
    struct facts_place calls[4];
    for (int p = 0; p < n_pools; p++) {
        calls[p] = (struct facts_place){.file = file, .function = caller, .line = CALL_LINE + p};
        counts[p].calls = &calls[p];
        counts[p].n_calls = 1;
    }
    struct facts_creation creation = {.place = {.file = file, .function = helper, .line = 10},
                                      .object = ON_THREAD,
                                      .per_thread = true,
                                      .n_counts = (size_t)n_pools,
                                      .counts = counts};
    struct facts facts = {.version = FACTS_VERSION, .n_creations = 1, .creations = &creation};
    struct trace *trace = trace_of(sizes, n_pools);
    struct model *model = builder_model(trace, &facts);
    assert_int_equal(model->n_pools, 1 + n_pools);
    for (int p = 0; p < n_pools; p++)
        assert_int_equal(model->pools[1 + p].profiled_threads, sizes[p]);
    return model;
}

static struct facts_count follows(int at_most, int at_least) {
    return (struct facts_count){
        .follows_threads = true, .factor = 1, .at_most = at_most, .at_least = at_least};
}

static struct facts_count one_of(int *numbers, size_t n, bool one_alone) {
    return (struct facts_count){.one_of = numbers, .n_one_of = n, .one_alone = one_alone};
}

static void assert_pool(const struct model *model, int index, bool scales, int most, int least,
                        const char *rule) {
    const struct pool *pool = &model->pools[index];
    assert_int_equal(pool->scales, scales);
    assert_int_equal(pool->most_threads, most);
    assert_int_equal(pool->least_threads, least);
    if (!strstr(pool->rule, rule))
        fail_msg("'%s' is not in '%s'", rule, pool->rule);
}

static void a_pool_follows_the_thread_count_as_far_as_its_caller_lets_it(void **state) {
    (void)state;
    struct facts_count counts[] = {follows(3, 0), follows(0, 0), follows(0, 2)};
    struct model *model = model_of((int[]){2, 2, 2}, 3, counts);
    assert_pool(model, 1, true, 3, 0, "; at most 3 threads");
    assert_pool(model, 2, true, 0, 0, "");
    assert_pool(model, 3, true, 0, 2, "; at least 2 threads");
    model_free(model);
}

/* Of 3 threads with 2 * N - 1 of them the thread count is 2, and so it is of 2 with N. */
static void a_pool_may_be_a_formula_of_the_thread_count(void **state) {
    (void)state;
    struct facts_count counts[] = {follows(0, 0), follows(0, 0)};
    counts[0].factor = 2;
    counts[0].offset = -1;
    struct model *model = model_of((int[]){3, 2}, 2, counts);
    assert_pool(model, 1, true, 0, 0, "; 2 * N - 1 of them for --threads N");
    assert_pool(model, 2, true, 0, 0, "");
    assert_true(model->pools[1].asked_factor == 2 && model->pools[1].asked_offset == -1);
    assert_true(model->pools[2].asked_factor == 0);
    model_free(model);
    model = model_of((int[]){4, 2}, 2, counts); /* the formula gives no even number */
    assert_true(model->pools[1].asked_factor == 0);
    model_free(model);
}

static void a_bound_that_was_met_explains_another_size(void **state) {
    (void)state;
    struct facts_count counts[] = {follows(0, 0), follows(2, 0)};
    struct model *model = model_of((int[]){4, 2}, 2, counts);
    assert_pool(model, 1, true, 0, 0, "");
    assert_pool(model, 2, true, 2, 0, "; at most 2 threads");
    model_free(model);
    model = model_of((int[]){4, 3}, 2, counts); /* that the bound does not explain */
    assert_pool(model, 2, false, 0, 0, "does not follow --threads");
    model_free(model);
}

static void of_pools_with_bounds_the_largest_shows_the_thread_count(void **state) {
    (void)state;
    struct facts_count counts[] = {follows(3, 0), follows(2, 0)};
    struct model *model = model_of((int[]){3, 2}, 2, counts);
    assert_pool(model, 1, true, 3, 0, "");
    assert_pool(model, 2, true, 2, 0, "");
    model_free(model);
}

static void a_constant_stays_whatever_the_thread_count(void **state) {
    (void)state;
    int two[] = {2}, choice[] = {2, 3};
    struct facts_count counts[] = {follows(0, 0), one_of(two, 1, false), one_of(choice, 2, true)};
    struct model *model = model_of((int[]){2, 2, 2}, 3, counts);
    assert_pool(model, 1, true, 0, 0, "");
    assert_pool(model, 2, false, 0, 0, "(always 2 threads: main calls run with 2)");
    assert_pool(model, 3, false, 0, 0,
                "(always 2 threads: main calls run with 1 for one thread, else 2 or 3)");
    model_free(model);
}

static void where_all_are_constant_one_of_them_is_the_thread_count(void **state) {
    (void)state;
    int two[] = {2};
    struct facts_count counts[] = {one_of(two, 1, false), one_of(two, 1, false)};
    struct model *model = model_of((int[]){2, 2}, 2, counts);
    assert_pool(model, 1, true, 0, 0, "");
    assert_pool(model, 2, true, 0, 0, "");
    model_free(model);
}

static void a_constant_that_the_trace_refutes_is_not_believed(void **state) {
    (void)state;
    int three[] = {3};
    struct facts_count counts[] = {follows(0, 0), one_of(three, 1, false)};
    struct model *model = model_of((int[]){2, 2}, 2, counts);
    assert_pool(model, 2, true, 0, 0, "");
    model_free(model);
}

static void one_thread_does_not_show_how_many_more_there_are(void **state) {
    (void)state;
    int choice[] = {2, 3};
    struct facts_count counts[] = {follows(0, 0), one_of(choice, 2, true)};
    struct model *model = model_of((int[]){1, 1}, 2, counts);
    assert_int_equal(model->pools[2].most_threads, model->pools[2].scales ? 3 : 0);
    model_free(model);
}

/* Three threads at a time, for 100 us, again and again; main joins them before it goes on. */
static void short_rounds_are_no_larger_pool(void **state) {
    (void)state;
    enum { ROUNDS = 2, EACH = 3, ROUND_NS = 300000 };
    struct trace *trace = builder_new(4);
    int main_thread = builder_thread(trace, "main", -1);
    uint32_t create = builder_context(trace, helper, 10, caller, CALL_LINE);
    uint32_t join = builder_context(trace, helper, 12, caller, CALL_LINE);
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t begin = (uint64_t)round * ROUND_NS;
        int first = (int)trace->n_threads;
        for (int t = 0; t < EACH; t++) {
            int thread = builder_thread(trace, "work", main_thread);
            trace->threads[thread].creation_context = create;
            builder_create(trace, main_thread, begin, 0, create, thread);
            builder_slice(trace, thread, begin + 10, begin + 100000);
        }
        for (int t = 0; t < EACH; t++)
            builder_join(trace, main_thread, begin + 110000, 10, join, first + t);
    }
    builder_finish(trace, ROUNDS * ROUND_NS);
    live_while_running(trace);
    struct model *model = builder_model(trace, NULL);
    assert_int_equal(model->n_pools, 2);
    assert_int_equal(model->pools[1].profiled_threads, EACH);
    model_free(model);
}

/* Threads that end at the moment when another one starts are not there with it. */
static void who_lives_at_one_time_is_counted(void **state) {
    (void)state;
    static const uint64_t lives[][2] = {{0, 10}, {10, 30}, {20, 40}, {25, 28}, {50, 50}, {50, 50}};
    struct trace *trace = builder_new(2);
    for (size_t t = 0; t < 6; t++)
        builder_life(trace, builder_thread(trace, "main", -1), lives[t][0], lives[t][1]);
    const size_t all[] = {5, 3, 1, 0, 2, 4}, some[] = {0, 1};
    assert_int_equal(peak_threads(trace, all, 6), 3);
    assert_int_equal(peak_threads(trace, some, 2), 1);
    assert_int_equal(peak_threads(trace, all, 0), 0);
    trace_free(trace);
}

/* A thread that another one makes by these calls, the innermost first; it lives throughout. */
static int made_by(struct trace *trace, int creator, const char *innermost, const char *outermost,
                   const char *routine, uint64_t at_ns) {
    int made = builder_thread(trace, routine, creator);
    uint32_t context = builder_context(trace, innermost, 34, outermost, 40);
    trace->threads[made].creation_context = context;
    builder_create(trace, creator, at_ns, 1, context, made);
    return made;
}

/* Main makes a thread, and that the next one, both in `innermost`, which `first` and `second` call.
 */
static struct model *model_of_two(const char *innermost, const char *first, const char *second,
                                  const struct facts *facts) {
    struct trace *trace = builder_new(2);
    builder_thread(trace, "main", -1);
    int one = made_by(trace, 0, innermost, first, "sort_half", 10);
    made_by(trace, one, innermost, second, "sort_half", 20);
    builder_finish(trace, WORK_NS);
    builder_run_all(trace, WORK_NS);
    struct model *model = builder_model(trace, facts);
    assert_int_equal(model->n_pools, 3);
    return model;
}

/* How many there are with another number of threads, nobody knows. */
static void threads_that_make_each_other_are_a_tree(void **state) {
    (void)state;
    struct model *model = model_of_two("sort", "main", "sort_half", NULL);
    for (int p = 1; p <= 2; p++) {
        assert_false(model->pools[p].scales);
        assert_string_equal(model->pools[p].tree, "sort (t.c:34)");
    }
    model_free(model);
}

static void a_wrapper_that_both_use_makes_no_tree(void **state) {
    (void)state;
    struct trace *trace = builder_new(2);
    builder_thread(trace, "main", -1);
    const struct trace_frame calls[] = {{.function = (char *)"start", .line = 34},
                                        {.function = (char *)"read_all", .line = 50},
                                        {.function = (char *)"sort_half", .line = 60}};
    int one = made_by(trace, 0, "start", "main", "sort_half", 10);
    int two = made_by(trace, one, "start", "sort_half", "sort_half", 20);
    trace->threads[two].creation_context = builder_chain(trace, 3, calls);
    builder_finish(trace, WORK_NS);
    builder_run_all(trace, WORK_NS);
    struct model *model = builder_model(trace, NULL);
    for (size_t p = 1; p < model->n_pools; p++)
        assert_null(model->pools[p].tree);
    model_free(model);
}

/* One that the source shows to be made outside of any loop over threads. */
static void one_thread_alone_is_no_number_of_threads(void **state) {
    (void)state;
    struct facts_creation creation = {.place = {.file = file, .function = helper, .line = 10},
                                      .object = ON_THREAD};
    struct facts facts = {.version = FACTS_VERSION, .n_creations = 1, .creations = &creation};
    const int one[] = {1}, two[] = {2};
    struct model *model = builder_model(trace_of(one, 1), &facts);
    assert_false(model->pools[1].scales);
    model_free(model);
    model = builder_model(trace_of(two, 1), &facts); /* there was a loop that it does not show */
    assert_true(model->pools[1].scales);
    model_free(model);
}

/* Who makes it works along, and may be counted. */
static void one_thread_that_got_a_part_need_not_be_the_number(void **state) {
    (void)state;
    struct facts_creation creation = {.place = {.file = file, .function = helper, .line = 10},
                                      .object = ON_THREAD,
                                      .per_thread = true,
                                      .divides_work = true};
    struct facts facts = {.version = FACTS_VERSION, .n_creations = 1, .creations = &creation};
    struct model *model = builder_model(trace_of((int[]){1}, 1), &facts);
    assert_non_null(model->pools[1].uncounted);
    model_free(model);
    creation.divides_work = false;
    model = builder_model(trace_of((int[]){1}, 1), &facts);
    assert_null(model->pools[1].uncounted);
    model_free(model);
}

/* On four cores. `asked`: what the command names. */
static struct trace *asked_trace(int threads, const char *asked) {
    struct trace *trace = trace_of(&threads, 1);
    trace->meta.n_args = 2;
    trace->meta.args = memory_alloc(2, sizeof *trace->meta.args);
    trace->meta.args[0] = memory_strdup("./program");
    trace->meta.args[1] = memory_strdup(asked);
    return trace;
}

/* NULL where the pool has no doubtful cap. */
static const char *cap_of(int threads, const char *asked) {
    struct trace *trace = asked_trace(threads, asked);
    struct thread_pools pools = sourceless_pools(trace);
    const char *capped = pools.pools[1].capped;
    thread_pools_free(&pools);
    trace_free(trace);
    return capped;
}

static void as_many_threads_as_cores_may_be_all_that_there_ever_are(void **state) {
    (void)state;
    assert_non_null(cap_of(4, "8"));
    assert_null(cap_of(4, "4")); /* as was asked for */
    assert_null(cap_of(4, "2")); /* nothing larger */
    assert_null(cap_of(3, "8")); /* no cores have anything to do with it */
}

static double asked_of(int threads, const char *asked) {
    struct trace *trace = asked_trace(threads, asked);
    struct thread_pools pools = sourceless_pools(trace);
    assert_true(pools.pools[1].scales);
    double found = thread_pools_asked(&pools.pools[1]);
    thread_pools_free(&pools);
    trace_free(trace);
    return found;
}

static void one_less_than_the_command_names_is_who_asks_and_works_along(void **state) {
    (void)state;
    assert_true(asked_of(3, "-T4") == 4);
    assert_true(asked_of(3, "3") == 3);
    assert_true(asked_of(3, "5") == 3); /* no number that tells anything */
}

/* A script runs the program "t" and, before and after it, "u" twice. */
static struct trace *trace_of_script(void) {
    struct trace *trace = builder_new(2);
    uint32_t of_t = builder_context(trace, "f", 10, "main", 20);
    struct trace_frame other = {"g", file, 10, 0, "u", 0};
    uint32_t of_u = builder_chain(trace, 1, &other);
    const uint64_t begin[] = {0, WORK_NS, 2 * WORK_NS}, end = 3 * WORK_NS;
    for (int p = 0; p < 3; p++) {
        int thread = builder_thread(trace, "main", -1);
        trace->threads[thread].pid = trace->threads[thread].tid;
        builder_call(trace, thread, "nanosleep", begin[p] + 10, begin[p] + 20, 0,
                     p == 1 ? of_t : of_u);
        builder_slice(trace, thread, begin[p], begin[p] + WORK_NS);
    }
    builder_finish(trace, end);
    for (int p = 0; p < 3; p++)
        builder_life(trace, p, begin[p], begin[p] + WORK_NS);
    return trace;
}

static void each_program_of_a_script_is_a_pool_and_begins_when_it_did(void **state) {
    (void)state;
    struct model *model = builder_model(trace_of_script(), NULL);
    assert_int_equal(model->n_pools, 2);
    assert_int_equal(model->pools[0].profiled_threads, 2); /* though one lived at a time */
    assert_int_equal(model->pools[1].profiled_threads, 1);
    const struct node *start = &model->nodes[model->pools[1].entry];
    const struct node *first = &model->nodes[start->edges[0].to];
    assert_int_equal(first->kind, NODE_SLEEP);
    assert_true(first->wait_ns.mean == WORK_NS);
    model_free(model);
}

static void of_processes_with_tasks_as_many_count_as_lived_at_a_time(void **state) {
    (void)state;
    struct trace *trace = trace_of_script();
    trace->threads[2].records[0].api = ROLE_task_end;
    struct thread_pools pools = sourceless_pools(trace);
    assert_int_equal(pools.n_pools, 2);
    assert_int_equal(pools.pools[0].size, 1);
    thread_pools_free(&pools);
    trace_free(trace);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pool_follows_the_thread_count_as_far_as_its_caller_lets_it),
        cmocka_unit_test(a_pool_may_be_a_formula_of_the_thread_count),
        cmocka_unit_test(a_bound_that_was_met_explains_another_size),
        cmocka_unit_test(of_pools_with_bounds_the_largest_shows_the_thread_count),
        cmocka_unit_test(a_constant_stays_whatever_the_thread_count),
        cmocka_unit_test(where_all_are_constant_one_of_them_is_the_thread_count),
        cmocka_unit_test(a_constant_that_the_trace_refutes_is_not_believed),
        cmocka_unit_test(one_thread_does_not_show_how_many_more_there_are),
        cmocka_unit_test(short_rounds_are_no_larger_pool),
        cmocka_unit_test(who_lives_at_one_time_is_counted),
        cmocka_unit_test(threads_that_make_each_other_are_a_tree),
        cmocka_unit_test(a_wrapper_that_both_use_makes_no_tree),
        cmocka_unit_test(one_thread_alone_is_no_number_of_threads),
        cmocka_unit_test(one_thread_that_got_a_part_need_not_be_the_number),
        cmocka_unit_test(as_many_threads_as_cores_may_be_all_that_there_ever_are),
        cmocka_unit_test(one_less_than_the_command_names_is_who_asks_and_works_along),
        cmocka_unit_test(each_program_of_a_script_is_a_pool_and_begins_when_it_did),
        cmocka_unit_test(of_processes_with_tasks_as_many_count_as_lived_at_a_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
