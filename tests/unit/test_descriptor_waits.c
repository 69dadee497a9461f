/* Threads that wait for each other by descriptors. */
/* tests/run: beside others */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "modelgen/report/descriptor_waits.h"
#include "tests/unit/trace_builder.h"

enum { MAIN, READER, CALLS = 10, PERIOD_NS = 1000, LIFE_NS = CALLS * PERIOD_NS };

/* The reader is off its core for so long in each call, until `waker` wakes it. */
static struct model *tell(const char *api, uint64_t wait_ns, unsigned waker) {
    struct trace *trace = builder_new(2);
    builder_thread(trace, "main", -1);
    builder_thread(trace, "read", MAIN);
    uint32_t place = builder_context(trace, "read", 13, "run", 20);
    builder_slice(trace, MAIN, 0, LIFE_NS);
    uint64_t on_ns = 0;
    for (uint64_t i = 0; i < CALLS; i++) {
        uint64_t from_ns = i * PERIOD_NS + 100;
        builder_record(trace, READER, api, from_ns - 5, wait_ns + 10, 7, place, 8);
        builder_slice(trace, READER, on_ns, from_ns);
        on_ns = from_ns + wait_ns + 2;
    }
    builder_slice(trace, READER, on_ns, LIFE_NS);
    for (size_t s = 1; s < trace->threads[READER].n_slices; s++) {
        struct trace_slice *slice = &trace->threads[READER].slices[s];
        slice->wake_ns = slice->on_ns - 2;
        slice->waker = waker;
    }
    trace->meta.has_wakers = true;
    builder_finish(trace, LIFE_NS);
    struct model *model = memory_alloc(1, sizeof *model);
    descriptor_waits_tell(trace, model);
    trace_free(trace);
    return model;
}

static void such_waits_have_no_figures_elsewhere(void **state) {
    (void)state;
    struct model *model = tell("recv", 400, 1 + MAIN);
    assert_non_null(model->unpredicted);
    assert_non_null(strstr(model->unpredicted, "recv at read (t.c:13) for 20 % of their time"));
    assert_int_equal(model->n_notes, 1);
    model_free(model);
}

static void assert_nothing_is_said(struct model *model) {
    assert_null(model->unpredicted);
    assert_int_equal(model->n_notes, 0);
    model_free(model);
}

static void what_comes_from_outside_is_no_such_wait(void **state) {
    (void)state;
    assert_nothing_is_said(tell("recv", 400, 0));
}

static void short_ones_do_not_matter(void **state) {
    (void)state;
    assert_nothing_is_said(tell("recv", 50, 1 + MAIN));
}

static void what_objects_of_the_model_make_wait_is_none(void **state) {
    (void)state;
    assert_nothing_is_said(tell("sem_wait", 400, 1 + MAIN));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(such_waits_have_no_figures_elsewhere),
        cmocka_unit_test(what_comes_from_outside_is_no_such_wait),
        cmocka_unit_test(short_ones_do_not_matter),
        cmocka_unit_test(what_objects_of_the_model_make_wait_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
