/* What a model says of its recorded run as a whole. */
/* tests/run: beside others */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "modelgen/modelgen.h"
#include "tests/unit/trace_builder.h"

enum { END = 1000 };

static bool has_note(const struct model *model, const char *text) {
    for (size_t i = 0; i < model->n_notes; i++)
        if (strstr(model->notes[i], text))
            return true;
    return false;
}

/* Main, which computes throughout [0, END). */
static struct trace *run(void) {
    struct trace *trace = builder_new(1);
    builder_thread(trace, "main", -1);
    builder_slice(trace, 0, 0, END);
    builder_finish(trace, END);
    return trace;
}

static void copies(char ***list, size_t n, const char *const *texts) {
    *list = memory_alloc(n, sizeof **list);
    for (size_t i = 0; i < n; i++)
        (*list)[i] = memory_strdup(texts[i]);
}

static void the_run_is_named_and_measured(void **state) {
    (void)state;
    struct trace *trace = run();
    trace->meta.n_args = 2;
    copies(&trace->meta.args, 2, (const char *const[]){"./prog", "7"});
    builder_plain_run(trace, 1000, 500);
    builder_plain_run(trace, 1000, 400);
    builder_plain_run(trace, 1000, 600);
    struct model *model = builder_model(trace, NULL);
    assert_string_equal(model->program, "./prog 7");
    assert_true(model->measured_run_ns == END);
    assert_true(model->plain_cpu_ns == 500);
    assert_true(model->plain_cpu_spread == (600 - 400) / 500.0);
    assert_false(has_note(model, "was cut off"));
    assert_false(has_note(model, "were lost"));
    assert_false(has_note(model, "was blocked outside"));
    assert_true(model->explained_share == 1);
    model_free(model);
}

/* Two programs; the second one begins then. */
static bool is_predicted(uint64_t second_ns) {
    struct trace *trace = builder_new(1);
    for (int p = 0; p < 2; p++) {
        int thread = builder_thread(trace, "main", -1);
        uint64_t from = p ? second_ns : 0, to = p ? END : END / 2;
        trace->threads[thread].pid = trace->threads[thread].tid;
        builder_slice(trace, thread, from, to);
    }
    builder_finish(trace, END);
    builder_life(trace, 0, 0, END / 2);
    builder_life(trace, 1, second_ns, END);
    struct model *model = builder_model(trace, NULL);
    bool is = !model->unpredicted;
    assert_true(is != has_note(model, "begin in the model when they did"));
    model_free(model);
    return is;
}

static void programs_one_after_the_other_are_known_as_they_were_recorded(void **state) {
    (void)state;
    assert_true(is_predicted(END / 4)); /* as the commands of a pipeline */
    assert_false(is_predicted(END / 2));
}

static void what_is_missing_in_it_is_said(void **state) {
    (void)state;
    struct trace *trace = run();
    trace->meta.complete = false;
    trace->meta.lost_records = 5;
    trace->meta.lost_events = 2;
    trace->meta.n_lacks = 2;
    copies(&trace->meta.lacks, 2,
           (const char *const[]){"block I/O: only root may see it",
                                 "12.5 % of the CPU time: other processes had it"});
    struct model *model = builder_model(trace, NULL);
    assert_true(has_note(model, "was cut off"));
    assert_true(has_note(model, "7 events were lost"));
    assert_true(has_note(model, "block I/O: only root may see it"));
    assert_true(model->foreign_share == 0.125);
    model_free(model);
}

static void time_blocked_outside_of_every_call_is_unexplained(void **state) {
    (void)state;
    struct trace *trace = builder_new(1);
    builder_thread(trace, "main", -1);
    builder_slice(trace, 0, 0, 600);
    builder_slice(trace, 0, 900, END);
    builder_finish(trace, END);
    struct model *model = builder_model(trace, NULL);
    assert_true(fabs(model->explained_share - 0.7) < 1e-9);
    assert_true(has_note(model, "30.0 % of the threads' time was blocked outside"));
    model_free(model);
}

/* Main computes for 80 and is stopped for 20 behind that, ten times, or in one piece. */
static struct trace *stopped_run(bool often) {
    struct trace *trace = builder_new(1);
    builder_thread(trace, "main", -1);
    for (uint64_t from = 0; often && from < END; from += 100)
        builder_slice(trace, 0, from, from + 80);
    if (!often) {
        builder_slice(trace, 0, 0, 800);
        builder_slice(trace, 0, END - 1, END);
    }
    builder_finish(trace, END);
    return trace;
}

static void threads_that_are_stopped_again_and_again_are_told_from_one_long_stop(void **state) {
    (void)state;
    struct model *model = builder_model(stopped_run(true), NULL);
    assert_true(fabs(model->stopped_share - 160 / 960.0) <
                1e-9); /* 9 stops, of which 1 is chance */
    model_free(model);
    model = builder_model(stopped_run(false), NULL);
    assert_true(model->stopped_share == 0);
    model_free(model);
}

static void threads_that_wait_in_calls_are_not_stopped(void **state) {
    (void)state;
    struct trace *trace = stopped_run(true);
    for (uint64_t from = 80; from < END; from += 100)
        builder_record(trace, 0, "nanosleep", from, 20, 0,
                       builder_context(trace, "nap", 20, "main", 5), 0);
    struct model *model = builder_model(trace, NULL);
    assert_true(model->stopped_share == 0);
    model_free(model);
}

/* Main is off its core for half of the time, in no call; a disk reads for it for part of that, but
 * it touched no mapped file. */
static bool has_no_figures(uint64_t read_ns) {
    struct trace *trace = builder_new(1);
    builder_thread(trace, "main", -1);
    builder_slice(trace, 0, 0, END / 4);
    builder_slice(trace, 0, 3 * END / 4, END);
    trace->meta.has_blocks = trace->meta.has_pages = true;
    builder_block(trace, (struct trace_block){.queued_ns = END / 4,
                                              .issued_ns = END / 4,
                                              .completed_ns = END / 4 + read_ns,
                                              .device = 7,
                                              .bytes = 4096,
                                              .kind = BLOCK_READ,
                                              .tid = trace->threads[0].tid});
    builder_finish(trace, END);
    struct model *model = builder_model(trace, NULL);
    bool refused = model->standstill != NULL;
    assert_true(!refused || strstr(model->standstill, "in calls that are not recorded"));
    assert_true(has_note(model, "1 requests to disks"));
    model_free(model);
    return refused;
}

static void threads_that_wait_for_disks_in_no_call_have_no_figures(void **state) {
    (void)state;
    assert_true(has_no_figures(END / 2));
    assert_false(has_no_figures(END / 20));
}

static void a_run_without_scheduling_says_so(void **state) {
    (void)state;
    struct trace *trace = builder_new(1);
    builder_thread(trace, "main", -1);
    builder_finish(trace, END);
    trace->meta.has_slices = false;
    struct model *model = builder_model(trace, NULL);
    assert_true(has_note(model, "scheduling was not recorded"));
    model_free(model);
}

/* The first thread's share is no part of the measured running time, that of others is. */
static void much_time_for_attaching_to_new_threads_is_said(void **state) {
    (void)state;
    for (int workers = 0; workers <= 1; workers++) {
        struct trace *trace = builder_new_with_workers(workers);
        builder_run_all(trace, END);
        builder_finish(trace, END);
        for (size_t t = 0; t < trace->n_threads; t++)
            trace->threads[t].attach = (struct trace_span){0, 100};
        struct model *model = builder_model(trace, NULL);
        assert_true(has_note(model, "5.0 % of the CPU time went into recording threads") ==
                    (workers > 0));
        model_free(model);
    }
}

static void threads_bound_to_cores_are_noted(void **state) {
    (void)state;
    for (int result = 0; result <= 1; result++) {
        struct trace *trace = builder_new(1);
        int main_thread = builder_thread(trace, "main", -1);
        builder_record(trace, main_thread, "sched_setaffinity", 10, 0, 0,
                       builder_context(trace, "bind", 20, "main", 5), result);
        builder_slice(trace, main_thread, 0, 1000);
        builder_finish(trace, 1000);
        struct model *model = builder_model(trace, NULL);
        assert_true(has_note(model, "sched_setaffinity in bind") == (result == 0));
        assert_true((model->asks_cores != NULL) == (result == 0));
        model_free(model);
    }
}

/* The source works on permits in two places; one of them calls `api`, if it is not NULL. */
static struct model *model_of_permits(const char *api) {
    struct trace *trace = builder_new(1);
    builder_thread(trace, "main", -1);
    builder_slice(trace, 0, 0, END);
    if (api)
        builder_call(trace, 0, api, 100, 100, 0x1000,
                     builder_context(trace, "work", 30, "main", 5));
    builder_finish(trace, END);
    char file[] = "t.c", function[] = "work", object[] = "global:permits";
    struct facts_fragment fragments[] = {
        {.api = API_sem_wait, .object = object, .place = {file, function, 30, 1}},
        {.api = API_sem_post, .object = object, .place = {file, function, 32, 1}}};
    fragments[0].spelling = fragments[0].place;
    fragments[1].spelling = fragments[1].place;
    const struct facts facts = {.fragments = fragments, .n_fragments = 2};
    return builder_model(trace, &facts);
}

static void semaphores_that_were_not_called_are_said(void **state) {
    (void)state;
    struct model *model = model_of_permits(NULL);
    size_t notes = 0;
    for (size_t i = 0; i < model->n_notes; i++)
        notes += strstr(model->notes[i], "semaphore global:permits (t.c:30)") != NULL;
    assert_int_equal(notes, 1);
    model_free(model);
    model = model_of_permits("sem_wait");
    assert_false(has_note(model, "no call for it was recorded"));
    model_free(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(semaphores_that_were_not_called_are_said),
        cmocka_unit_test(the_run_is_named_and_measured),
        cmocka_unit_test(programs_one_after_the_other_are_known_as_they_were_recorded),
        cmocka_unit_test(what_is_missing_in_it_is_said),
        cmocka_unit_test(time_blocked_outside_of_every_call_is_unexplained),
        cmocka_unit_test(threads_that_are_stopped_again_and_again_are_told_from_one_long_stop),
        cmocka_unit_test(threads_that_wait_in_calls_are_not_stopped),
        cmocka_unit_test(threads_that_wait_for_disks_in_no_call_have_no_figures),
        cmocka_unit_test(a_run_without_scheduling_says_so),
        cmocka_unit_test(much_time_for_attaching_to_new_threads_is_said),
        cmocka_unit_test(threads_bound_to_cores_are_noted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
