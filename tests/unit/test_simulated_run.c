/* One simulated run as it happened: who had which core when, who woke whom, what threads did. */
/* tests/run: beside others */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "cli/prediction/simulated_run.h"
#include "simulator/engine.h"
#include "simulator/plan_make.h"
#include "tests/unit/model_builder.h"
#include "tests/unit/simulation.h"

#define MS 1000000u /* in nanoseconds */

/* Two threads that compute 1 ms, then 2 ms under one mutex. */
static struct model *build_lockers(int cores) {
    struct model *model = build_model(cores);
    int mutex = build_object(model, OBJECT_MUTEX, 0);
    int pool = build_pool(model, 2, true);
    int lock = build_next(model, model->pools[pool].entry, constant(1.0 * MS), NODE_LOCK, mutex);
    int unlock = build_next(model, lock, constant(2.0 * MS), NODE_UNLOCK, mutex);
    build_next(model, unlock, constant(0), NODE_END, MODEL_NONE);
    return model;
}

static struct simulated_run watch(const struct model *model) {
    struct simulated_run run;
    struct error error = {0};
    const struct sim_config config = {.seed = 1};
    if (simulated_run_make(model, &config, &run, &error) < 0)
        fail_msg("%s", error.text);
    return run;
}

static void times_on_cores_and_wakers_are_known(void **state) {
    (void)state;
    struct model *model = build_lockers(2);
    struct simulated_run run = watch(model);
    assert_int_equal(run.trace->n_threads, 2);
    assert_int_equal(run.trace->meta.run_ns, 5 * MS);
    size_t first = run.trace->threads[0].n_slices == 1 ? 0 : 1;
    const struct trace_thread *holder = &run.trace->threads[first];
    const struct trace_thread *waiter = &run.trace->threads[1 - first];
    assert_int_equal(holder->n_slices, 1);
    assert_int_equal(holder->slices[0].off_ns, 3 * MS);
    assert_int_equal(holder->end_ns, 3 * MS);
    assert_int_equal(waiter->n_slices, 2);
    assert_int_equal(waiter->slices[0].off_ns, 1 * MS);
    assert_int_equal(waiter->slices[1].wake_ns, 3 * MS);
    assert_int_equal(waiter->slices[1].on_ns, 3 * MS);
    assert_int_equal(waiter->slices[1].off_ns, 5 * MS);
    assert_int_equal(waiter->slices[1].waker, 1 + first);
    assert_false(waiter->slices[0].preempted);
    assert_int_not_equal(holder->slices[0].cpu, waiter->slices[0].cpu);
    simulated_run_free(&run);
    model_free(model);
}

static void operations_last_until_the_thread_goes_on(void **state) {
    (void)state;
    struct model *model = build_lockers(2);
    struct simulated_run run = watch(model);
    uint64_t waited_ns = 0;
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(run.operations[i].count, 2);
        const struct simulated_operation *lock = &run.operations[i].items[0];
        assert_int_equal(model->nodes[lock->node].kind, NODE_LOCK);
        assert_int_equal(lock->start_ns, 1 * MS);
        assert_true(lock->is_yes);
        waited_ns += lock->end_ns - lock->start_ns;
        assert_int_equal(run.operations[i].items[1].start_ns, lock->end_ns + 2 * MS);
    }
    assert_int_equal(waited_ns, 2 * MS);
    simulated_run_free(&run);
    model_free(model);
}

static void one_core_has_one_thread_at_a_time(void **state) {
    (void)state;
    struct model *model = build_lockers(1);
    struct simulated_run run = watch(model);
    uint64_t busy_ns = 0;
    for (size_t i = 0; i < 2; i++)
        for (size_t j = 0; j < run.trace->threads[i].n_slices; j++)
            busy_ns +=
                run.trace->threads[i].slices[j].off_ns - run.trace->threads[i].slices[j].on_ns;
    assert_int_equal(busy_ns, 6 * MS);
    assert_int_equal(run.trace->meta.run_ns, 6 * MS);
    for (size_t i = 0; i < run.trace->threads[0].n_slices; i++)
        for (size_t j = 0; j < run.trace->threads[1].n_slices; j++) {
            const struct trace_slice *a = &run.trace->threads[0].slices[i];
            const struct trace_slice *b = &run.trace->threads[1].slices[j];
            assert_true(a->off_ns <= b->on_ns || b->off_ns <= a->on_ns);
        }
    simulated_run_free(&run);
    model_free(model);
}

/* It is the run that everybody else gets. */
static void watching_changes_nothing(void **state) {
    (void)state;
    struct model *model = build_lockers(1);
    model->machine.tick_ns = 4e6;
    model->machine.switch_cpu_ns = 2000;
    const struct sim_config config = {.seed = 1};
    struct error error = {0};
    struct plan *plan = plan_make(model, &config, &error);
    struct engine *engine = engine_make(plan);
    assert_int_equal(engine_run(engine, 1, 0), 0);
    struct simulated_run run = watch(model);
    assert_int_equal(run.trace->meta.run_ns, llround(engine->now_ns));
    simulated_run_free(&run);
    engine_free(engine);
    plan_free(plan);
    model_free(model);
}

static void places_are_parts_of_names(void **state) {
    (void)state;
    struct node node = {.name = (char[]){"main: std::f (pigz.c:1449)"}};
    assert_string_equal(simulated_place(&node), "std::f (pigz.c:1449)");
    node.name = (char[]){"lock-1"};
    assert_string_equal(simulated_place(&node), "lock-1");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_on_cores_and_wakers_are_known),
        cmocka_unit_test(operations_last_until_the_thread_goes_on),
        cmocka_unit_test(one_core_has_one_thread_at_a_time),
        cmocka_unit_test(watching_changes_nothing),
        cmocka_unit_test(places_are_parts_of_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
