/* modelgen/graph/steps and graph_check: a step has what its kind has, and each kind of damage to
 * the threads' steps is found. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "modelgen/graph/graph_check.h"

enum { MUTEX, QUEUE, MONITOR, DISK, N_OBJECTS };
enum { BEGIN, LOCK, PUT, STATEMENTS, CREATE, READ, KIND, FINISH, N_STEPS };

/* One thread of one pool that does something of each form. */
struct run {
    struct object objects[N_OBJECTS];
    struct pool pool;
    struct model model;
    struct trace_context context;
    struct trace_thread thread;
    struct trace trace;
    struct step steps[N_STEPS];
    struct stream stream;
};

static struct step *step_at(struct run *run, size_t s, enum node_kind kind) {
    run->steps[s] = step_new(kind, 10 * s, 10 * s + 5, TRACE_NO_CONTEXT);
    return &run->steps[s];
}

static void make_run(struct run *run) {
    *run = (struct run){.objects = {[MUTEX] = {.kind = OBJECT_MUTEX, .name = "mutex"},
                                    [QUEUE] = {.kind = OBJECT_QUEUE, .name = "queue"},
                                    [MONITOR] = {.kind = OBJECT_MONITOR, .n_sections = 2},
                                    [DISK] = {.kind = OBJECT_DISK, .name = "disk"}},
                        .thread = {.n_records = 4}};
    for (size_t o = 0; o < N_OBJECTS; o++)
        run->objects[o].condition_of = run->objects[o].comes_by = run->objects[o].goes_by =
            MODEL_NONE;
    run->model = (struct model){
        .n_objects = N_OBJECTS, .objects = run->objects, .n_pools = 1, .pools = &run->pool};
    run->trace = (struct trace){
        .n_contexts = 1, .contexts = &run->context, .n_threads = 1, .threads = &run->thread};
    step_at(run, BEGIN, NODE_START);
    step_at(run, LOCK, NODE_LOCK)->use.object = MUTEX;
    struct step *put = step_at(run, PUT, NODE_PUT);
    put->use.object = QUEUE;
    put->use.mutex = MUTEX;
    put->use.amount.count = 3;
    struct step *statements = step_at(run, STATEMENTS, NODE_STATEMENTS);
    statements->use.object = MONITOR;
    statements->use.section = 1;
    step_at(run, CREATE, NODE_CREATE)->target_pool = 0;
    struct step *read = step_at(run, READ, NODE_IO);
    read->time = (struct step_time){.disk = DISK, .cpu_ns = 5, .wait_ns = 7, .operations = 1};
    step_at(run, KIND, NODE_STEP)->item_kind = 2;
    step_at(run, FINISH, NODE_END)->records = 4;
    run->stream = (struct stream){N_STEPS, run->steps};
}

static int check(struct run *run, struct error *error) {
    return steps_check(&run->stream, &run->trace, &run->model, error);
}

static void assert_found(struct run *run, const char *with) {
    struct error error = {0};
    assert_int_equal(check(run, &error), -1);
    assert_non_null(strstr(error.text, with));
}

/* The run with one field as it should not be. */
#define ASSERT_FOUND(with, field, value)                                                           \
    do {                                                                                           \
        struct run damaged;                                                                        \
        make_run(&damaged);                                                                        \
        damaged.field = value;                                                                     \
        assert_found(&damaged, with);                                                              \
    } while (0)

static void a_sound_stream_passes(void **state) {
    (void)state;
    struct run run;
    make_run(&run);
    assert_int_equal(check(&run, NULL), 0);
}

static void a_step_has_only_what_its_kind_has(void **state) {
    (void)state;
    struct run run;
    make_run(&run);
    const struct step *steps = run.steps;
    assert_int_equal(step_object(&steps[PUT]), QUEUE);
    assert_int_equal(step_object(&steps[READ]), DISK);
    assert_int_equal(step_object(&steps[CREATE]), MODEL_NONE);
    assert_int_equal(step_mutex(&steps[PUT]), MUTEX);
    assert_int_equal(step_mutex(&steps[READ]), MODEL_NONE);
    assert_int_equal(step_section(&steps[STATEMENTS]), 1);
    assert_int_equal(step_section(&steps[PUT]), 0);
    assert_int_equal(step_target_pool(&steps[CREATE]), 0);
    assert_int_equal(step_target_pool(&steps[KIND]), MODEL_NONE);
    assert_int_equal(step_item_kind(&steps[KIND]), 2);
    assert_int_equal(step_item_kind(&steps[CREATE]), 0);
    assert_true(step_amount(&steps[PUT]).count == 3);
    assert_true(step_amount(&steps[STATEMENTS]).count == 0);
    assert_true(step_timeout_ns(&steps[READ]) == -1);
}

static void damage_to_the_order_is_found(void **state) {
    (void)state;
    ASSERT_FOUND("both start and end", stream.n_steps, 1);
    ASSERT_FOUND("step 0 (step): is not where", steps[BEGIN].kind, NODE_STEP);
    ASSERT_FOUND("step 6 (start): is not where", steps[KIND].kind, NODE_START);
    ASSERT_FOUND("step 7 (task_end): is not where", steps[FINISH].kind, NODE_TASK_END);
    ASSERT_FOUND("step 2 (put): ends before it starts", steps[PUT].start_ns, 1000);
    ASSERT_FOUND("count 5 of its 4 records", steps[LOCK].records, 1);
}

static void damage_to_what_all_steps_have_is_found(void **state) {
    (void)state;
    ASSERT_FOUND("calling context", steps[LOCK].context, 1);
    ASSERT_FOUND("unknown outcome", steps[LOCK].outcome, 7);
    ASSERT_FOUND("unknown outcome", steps[LOCK].within, 7);
}

static void damage_to_what_a_kind_has_is_found(void **state) {
    (void)state;
    ASSERT_FOUND("no object of its kind", steps[LOCK].use.object, MODEL_NONE);
    ASSERT_FOUND("no object of its kind", steps[LOCK].use.object, N_OBJECTS);
    ASSERT_FOUND("no object of its kind", steps[LOCK].use.object, QUEUE);
    ASSERT_FOUND("no mutex", steps[PUT].use.mutex, QUEUE);
    ASSERT_FOUND("no mutex", steps[PUT].use.mutex, N_OBJECTS);
    ASSERT_FOUND("no sound limit", steps[PUT].use.timeout_ns, NAN);
    ASSERT_FOUND("no sound amount", steps[PUT].use.amount.count, INFINITY);
    ASSERT_FOUND("no sound amount", steps[PUT].use.amount.item_kind, -1);
    ASSERT_FOUND("no sound kind of item", steps[KIND].item_kind, -1);
    ASSERT_FOUND("section that its monitor", steps[STATEMENTS].use.section, 2);
    ASSERT_FOUND("joins no pool", steps[CREATE].target_pool, 1);
    ASSERT_FOUND("no object of its kind", steps[READ].time.disk, MUTEX);
    ASSERT_FOUND("no sound time", steps[READ].time.cpu_ns, -1);
    ASSERT_FOUND("no sound time", steps[READ].time.wait_ns, NAN);
    ASSERT_FOUND("no sound time", steps[READ].time.operations, INFINITY);
}

static void an_object_that_nobody_uses_is_found(void **state) {
    (void)state;
    struct run run;
    make_run(&run);
    run.steps[LOCK] = step_new(NODE_STEP, 1, 1, TRACE_NO_CONTEXT);
    assert_int_equal(check(&run, NULL), 0); /* the mutex is given up elsewhere */
    run.steps[PUT].use.mutex = MODEL_NONE;
    assert_found(&run, "object 0 (mutex): no step works on it");
    run.objects[MONITOR].condition_of = MUTEX;
    assert_int_equal(check(&run, NULL), 0);
    run.steps[READ].time.disk = MODEL_NONE;
    assert_found(&run, "object 3 (disk): no step works on it");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sound_stream_passes),
        cmocka_unit_test(a_step_has_only_what_its_kind_has),
        cmocka_unit_test(damage_to_the_order_is_found),
        cmocka_unit_test(damage_to_what_all_steps_have_is_found),
        cmocka_unit_test(damage_to_what_a_kind_has_is_found),
        cmocka_unit_test(an_object_that_nobody_uses_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
