/* Where objects come from: told by a table, not by their addresses. */
/* tests/run: beside others */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "modelgen/events/critical_sections.h"
#include "modelgen/events/event_log.h"
#include "tests/unit/trace_builder.h"

/* As high as a program's memory gets. */
enum { MAIN, RECORDED = 0x7fff };
#define HIGHEST 0x7fffffffffff

static void each_new_object_is_another_one_and_keeps_its_origin(void **state) {
    (void)state;
    struct object_origins origins = {0};
    uint64_t addresses[200];
    for (size_t i = 0; i < 200; i++) {
        addresses[i] = object_origins_add(&origins, i % 2 ? ORIGIN_SPINNING_BARRIER : ORIGIN_PIPE);
        struct trace_record record = {.object = addresses[i]};
        assert_true(record.object == addresses[i]); /* a record has room for it */
        for (size_t j = 0; j < i; j++)
            assert_true(addresses[i] != addresses[j]);
    }
    for (size_t i = 0; i < 200; i++)
        assert_int_equal(object_origins_get(&origins, addresses[i]),
                         i % 2 ? ORIGIN_SPINNING_BARRIER : ORIGIN_PIPE);
    object_origins_free(&origins);
}

static void objects_that_nobody_made_were_recorded(void **state) {
    (void)state;
    struct object_origins origins = {0};
    uint64_t one = object_origins_add(&origins, ORIGIN_FUTURE);
    assert_int_equal(object_origins_get(&origins, RECORDED), ORIGIN_RECORDED);
    assert_int_equal(object_origins_get(&origins, HIGHEST), ORIGIN_RECORDED);
    assert_int_equal(object_origins_get(&origins, one + 1), ORIGIN_RECORDED);
    assert_int_equal(object_origins_get(NULL, one), ORIGIN_RECORDED);
    object_origins_free(&origins);
}

static void sections_know_where_their_objects_come_from(void **state) {
    (void)state;
    struct trace *trace = builder_new(1);
    builder_thread(trace, "main", -1);
    uint32_t context = builder_context(trace, "work", 10, "main", 20);
    builder_record(trace, MAIN, "sem_post", 10, 0, RECORDED, context, 0);
    builder_record(trace, MAIN, "sem_post", 20, 0, RECORDED + 1, context, 0);
    builder_finish(trace, 100);
    struct event_log log = event_log_of(trace);
    event_log_change(&log, MAIN, 1)->object = event_log_new_object(&log, ORIGIN_COUNTDOWN);
    struct sections sections = sections_find(&log.trace, (int[]){0});
    sections_set_origins(&sections, &log.origins);
    const struct trace_record *records = log.trace.threads[MAIN].records;
    int first = sections_object(&sections, &records[0]);
    int second = sections_object(&sections, &records[1]);
    assert_int_equal(sections.objects[first].origin, ORIGIN_RECORDED);
    assert_int_equal(sections.objects[second].origin, ORIGIN_COUNTDOWN);
    sections_free(&sections, trace);
    event_log_free(&log);
    trace_free(trace);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_new_object_is_another_one_and_keeps_its_origin),
        cmocka_unit_test(objects_that_nobody_made_were_recorded),
        cmocka_unit_test(sections_know_where_their_objects_come_from),
    };
    return cmocka_run_group_tests_name("object origin", tests, NULL, NULL);
}
