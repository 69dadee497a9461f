/* What several cores cost each other, by runs on one; threads within the number of cores. */
/* tests/run: beside others */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "modelgen/calibrate/one_core.h"
#include "tests/unit/model_builder.h"
#include "tests/unit/trace_builder.h"

enum { MS = 1000000, CPU = 1000 * MS };

static void add_one_core_run(struct trace *trace, uint64_t cpu_ns) {
    struct trace_meta *meta = &trace->meta;
    meta->one_core = memory_resize(meta->one_core, meta->n_one_core + 1, sizeof *meta->one_core);
    meta->one_core[meta->n_one_core++] = (struct trace_plain_run){cpu_ns, cpu_ns, {0}};
}

static struct trace *recorded(uint64_t one_core_cpu_ns) {
    struct trace *trace = builder_new(2);
    builder_thread(trace, "main", -1);
    builder_finish(trace, CPU / 2);
    builder_plain_run(trace, CPU / 2, CPU);
    builder_plain_run(trace, CPU / 2, CPU + 10 * MS);
    add_one_core_run(trace, one_core_cpu_ns);
    return trace;
}

static struct model *compare(struct trace *trace, double busy_cores) {
    struct model *model = memory_alloc(1, sizeof *model);
    model->machine.busy_cores = busy_cores;
    one_core_compare(trace, 0, CPU, model);
    trace_free(trace);
    return model;
}

static void what_one_core_saves_is_noted_where_it_is_more_than_chance(void **state) {
    (void)state;
    struct model *model = compare(recorded(700 * MS), 1.8);
    assert_true(model->one_core_cpu > 0.69 && model->one_core_cpu < 0.71);
    one_core_note(model, model->one_core_cpu, false);
    assert_int_equal(model->n_notes, 1);
    assert_non_null(strstr(model->notes[0], "with one core the program takes 70 %"));
    model_free(model);
    model = compare(recorded(950 * MS), 1.8);
    assert_true(model->one_core_cpu == 0);
    model_free(model);
}

/* The runs on several cores differ by 1 %. */
static void runs_made_twice_tell_what_is_chance(void **state) {
    (void)state;
    struct trace *alike = recorded(950 * MS), *scattered = recorded(950 * MS);
    add_one_core_run(alike, 952 * MS);
    add_one_core_run(scattered, 900 * MS);
    struct model *model = compare(alike, 1.8);
    assert_true(model->one_core_cpu > 0.95 && model->one_core_cpu < 0.952);
    model_free(model);
    model = compare(scattered, 1.8);
    assert_true(model->one_core_cpu == 0 && model->one_core_doubt > 0.06);
    model_free(model);
}

/* Two plain runs with pieces of work of one length, one with one core only. */
static struct trace *at_speeds(uint64_t one_core_cpu_ns, double piece_ns,
                               double one_core_piece_ns) {
    struct trace *trace = recorded(one_core_cpu_ns);
    trace->meta.pace.piece_ns[PACE_COMPUTING] = trace->meta.pace.piece_ns[PACE_MEMORY] = piece_ns;
    for (size_t i = 0; i < 2; i++) {
        trace->meta.untraced[i].piece_ns[PACE_COMPUTING] = piece_ns;
        trace->meta.untraced[i].piece_ns[PACE_MEMORY] = piece_ns;
    }
    trace->meta.one_core[0].piece_ns[PACE_COMPUTING] = one_core_piece_ns;
    trace->meta.one_core[0].piece_ns[PACE_MEMORY] = one_core_piece_ns;
    return trace;
}

/* On two hardware threads of one core pieces of work take longer, what waits for its own results
 * does not. */
static void what_only_the_cores_speed_tells_is_no_difference(void **state) {
    (void)state;
    const struct {
        uint64_t cpu_ns;
        double piece_ns, one_core_piece_ns, low, high;
    } cases[] = {
        {1000 * MS, 22, 17, 0, 0},      /* dearer at equal speed, alike as measured */
        {800 * MS, 22, 17, 0, 0},       /* cheaper as measured, alike at equal speed */
        {700 * MS, 20, 20, 0.69, 0.71}, /* both */
        {1300 * MS, 20, 16, 1.29, 1.31} /* both: the smaller one of 1.3 and 1.6 */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct model *model =
            compare(at_speeds(cases[i].cpu_ns, cases[i].piece_ns, cases[i].one_core_piece_ns), 1.8);
        assert_true(model->one_core_cpu >= cases[i].low && model->one_core_cpu <= cases[i].high);
        model_free(model);
    }
}

static void a_run_that_kept_one_core_busy_tells_nothing(void **state) {
    (void)state;
    struct model *model = compare(recorded(700 * MS), 1.0);
    assert_true(model->one_core_cpu == 0);
    model_free(model);
}

static void a_program_that_asks_for_its_cores_may_be_another_one(void **state) {
    (void)state;
    struct trace *trace = recorded(700 * MS);
    trace->meta.asks_cores = memory_strdup("sched_getaffinity");
    struct model *model = compare(trace, 1.8);
    assert_true(model->one_core_cpu == 0);
    assert_non_null(strstr(model->asks_cores, "sched_getaffinity"));
    model_free(model);
}

static void threads_that_are_bound_to_cores_are_not_compared(void **state) {
    (void)state;
    struct trace *trace = recorded(700 * MS);
    builder_record(trace, 0, "pthread_setaffinity_np", 5, 0, 0, TRACE_NO_CONTEXT, 0);
    struct model *model = compare(trace, 1.8);
    assert_true(model->one_core_cpu == 0);
    model_free(model);
}

static void a_run_that_does_not_end_on_one_core_spins(void **state) {
    (void)state;
    struct trace_meta meta = {.cpu_ns = 20 * MS, .left_cpu_ns = 1000 * MS};
    struct model *model = build_model(2);
    one_core_note_spinning(&meta, model);
    assert_non_null(model->unpredicted);
    assert_non_null(strstr(model->unpredicted, "50 times as long"));
    model_free(model);
    model = build_model(2);
    meta.left_cpu_ns = 30 * MS; /* others had the core */
    one_core_note_spinning(&meta, model);
    assert_null(model->unpredicted);
    meta.left_cpu_ns = 1000 * MS; /* how a team waits is known */
    int pool = build_pool(model, 2, true);
    model->pools[pool].awake = true;
    one_core_note_spinning(&meta, model);
    assert_null(model->unpredicted);
    model_free(model);
}

static void threads_are_kept_within_the_cores(void **state) {
    (void)state;
    const struct pool allowed = {.cores_factor = 1},
                      twice = {.cores_factor = 2, .cores_offset = -1},
                      online = {.cores_factor = 1, .cores_online = true}, free_pool = {0};
    assert_int_equal(model_within_cores(&free_pool, 8, 1, 2), 8);
    assert_int_equal(model_within_cores(&allowed, 8, 2, 2), 2);
    assert_int_equal(model_within_cores(&allowed, 8, 1, 2), 1);
    assert_int_equal(model_within_cores(&allowed, 3, 4, 2), 3);
    assert_int_equal(model_within_cores(&twice, 8, 2, 2), 3);
    assert_int_equal(model_within_cores(&online, 8, 1, 2), 2); /* the machine's are as many */
    assert_int_equal(model_within_cores(&online, 8, 4, 2), 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_one_core_saves_is_noted_where_it_is_more_than_chance),
        cmocka_unit_test(runs_made_twice_tell_what_is_chance),
        cmocka_unit_test(what_only_the_cores_speed_tells_is_no_difference),
        cmocka_unit_test(a_run_that_kept_one_core_busy_tells_nothing),
        cmocka_unit_test(a_program_that_asks_for_its_cores_may_be_another_one),
        cmocka_unit_test(threads_that_are_bound_to_cores_are_not_compared),
        cmocka_unit_test(a_run_that_does_not_end_on_one_core_spins),
        cmocka_unit_test(threads_are_kept_within_the_cores),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
