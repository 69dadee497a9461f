/* What happened between each lock and unlock of a mutex. */
/* tests/run: beside others */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "modelgen/events/critical_sections.h"
#include "tests/unit/trace_builder.h"

enum { MUTEX = 0x1000, OTHER_MUTEX = 0x1100, NOT_EMPTY = 0x2000 };

static void sections_know_their_waits_signals_and_hold_time(void **state) {
    (void)state;
    struct trace *trace = builder_new_with_workers(1);
    builder_section(trace, 0,
                    (struct builder_section){.function = "put",
                                             .line = 10,
                                             .mutex = MUTEX,
                                             .start_ns = 200,
                                             .signals_after = NOT_EMPTY,
                                             .end_ns = 240});
    builder_section(trace, 1,
                    (struct builder_section){.function = "get",
                                             .line = 20,
                                             .mutex = MUTEX,
                                             .start_ns = 100,
                                             .waits_for = NOT_EMPTY,
                                             .woken_ns = 250,
                                             .end_ns = 260});
    builder_finish(trace, 300);
    struct sections sections = sections_find(trace, builder_no_pools);
    assert_int_equal(sections.n_sections, 2);
    const struct section *put = &sections.sections[0], *get = &sections.sections[1];
    assert_int_equal(put->thread, 0);
    assert_int_equal(put->n_signals, 1);
    assert_int_equal(put->n_waits, 0);
    assert_int_equal(section_passed_ns(&sections, put), 200);
    assert_int_equal(get->n_waits, 1);
    assert_int_equal(sections.waits[get->first_wait].end_ns, 250);
    assert_int_equal(section_passed_ns(&sections, get), 250);
    const struct sync_object *mutex = &sections.objects[put->mutex];
    assert_int_equal(put->mutex, get->mutex);
    assert_true(mutex->hold_ns == 40 + 160 - 149); /* but for the wait, from 101 to 250 */
    size_t n = 0;
    sections_of(&sections, put->mutex, &n);
    assert_int_equal(n, 2);
    sections_free(&sections, trace);
    trace_free(trace);
}

static void a_signal_after_the_unlock_belongs_to_the_section(void **state) {
    (void)state;
    struct trace *trace = builder_new(1);
    int thread = builder_thread(trace, "main", -1);
    uint32_t here = builder_context(trace, "put", 10, "thread", 100);
    builder_record(trace, thread, "pthread_mutex_lock", 10, 0, MUTEX, here, 0);
    builder_record(trace, thread, "pthread_mutex_unlock", 20, 0, MUTEX, here, 0);
    builder_record(trace, thread, "pthread_cond_signal", 30, 0, NOT_EMPTY, here, 0);
    builder_finish(trace, 100);
    struct sections sections = sections_find(trace, builder_no_pools);
    assert_int_equal(sections.n_sections, 1);
    assert_int_equal(sections.sections[0].n_signals, 1);
    sections_free(&sections, trace);
    trace_free(trace);
}

/* Thread 0 signals NOT_EMPTY behind a section of MUTEX and inside of one of OTHER_MUTEX; thread 1
 * waits for it with this one. Gives how many signals the sections of MUTEX have. */
static size_t signals_of_inner_section(uint64_t mutex_of_wait) {
    struct trace *trace = builder_new_with_workers(1);
    uint32_t outer = builder_context(trace, "fill", 5, "thread", 100);
    uint32_t put = builder_context(trace, "put", 10, "thread", 100);
    uint32_t get = builder_context(trace, "get", 20, "thread", 100);
    builder_record(trace, 0, "pthread_mutex_lock", 5, 0, OTHER_MUTEX, outer, 0);
    builder_record(trace, 0, "pthread_mutex_lock", 10, 0, MUTEX, put, 0);
    builder_record(trace, 0, "pthread_mutex_unlock", 20, 0, MUTEX, put, 0);
    builder_record(trace, 0, "pthread_cond_signal", 30, 0, NOT_EMPTY, put, 0);
    builder_record(trace, 0, "pthread_mutex_unlock", 40, 0, OTHER_MUTEX, outer, 0);
    builder_record(trace, 1, "pthread_mutex_lock", 1, 0, mutex_of_wait, get, 0);
    builder_record(trace, 1, "pthread_cond_wait", 2, 48, NOT_EMPTY, get,
                   trace_mutex_value(mutex_of_wait));
    builder_record(trace, 1, "pthread_mutex_unlock", 60, 0, mutex_of_wait, get, 0);
    builder_finish(trace, 100);
    struct sections sections = sections_find(trace, builder_no_pools);
    assert_int_equal(sections.n_sections, 3);
    assert_int_equal(sections.sections[0].lock_record, 1); /* the inner one is closed first */
    assert_int_equal(sections.sections[0].n_signals + sections.sections[1].n_signals, 1);
    size_t n = sections.sections[0].n_signals;
    sections_free(&sections, trace);
    trace_free(trace);
    return n;
}

static void in_another_section_it_belongs_to_the_mutex_of_who_waits(void **state) {
    (void)state;
    assert_int_equal(signals_of_inner_section(MUTEX), 1);
    assert_int_equal(signals_of_inner_section(OTHER_MUTEX), 0);
}

/* It never went on: nobody can say how its section would have ended. */
static void a_section_in_whose_wait_the_program_ended_is_cut(void **state) {
    (void)state;
    struct trace *trace = builder_new_with_workers(1);
    uint32_t here = builder_context(trace, "get", 20, "thread", 100);
    builder_call(trace, 1, "pthread_mutex_lock", 100, 100, MUTEX, here);
    builder_call(trace, 1, "pthread_cond_wait", 110, 300, NOT_EMPTY, here);
    builder_unfinished(trace, 1);
    builder_finish(trace, 300);
    struct sections sections = sections_find(trace, builder_no_pools);
    assert_int_equal(sections.n_sections, 1);
    assert_true(sections.sections[0].cut);
    sections_free(&sections, trace);
    trace_free(trace);
}

/* Two queues that are made at one place and used by the same code. */
static void objects_of_the_same_call_sites_are_alike(void **state) {
    (void)state;
    struct trace *trace = builder_new_with_workers(1);
    const uint64_t mutexes[] = {MUTEX, OTHER_MUTEX};
    for (uint64_t i = 0; i < 4; i++)
        builder_section(
            trace, 1,
            (struct builder_section){
                .function = "get", .line = 20, .mutex = mutexes[i % 2], .start_ns = 100 + 10 * i});
    builder_section(trace, 0,
                    (struct builder_section){
                        .function = "report", .line = 50, .mutex = 0x1200, .start_ns = 100});
    builder_finish(trace, 300);
    struct sections sections = sections_find(trace, builder_no_pools);
    int first = sections_object(&sections, &trace->threads[1].records[0]);
    int second = sections_object(&sections, &trace->threads[1].records[2]);
    int alone = sections_object(&sections, &trace->threads[0].records[0]);
    assert_int_not_equal(first, second);
    assert_int_equal(sections_first_like(&sections, second), sections_first_like(&sections, first));
    assert_int_not_equal(sections_first_like(&sections, alone),
                         sections_first_like(&sections, first));
    assert_true(sections.objects[alone].alone);
    assert_false(sections.objects[first].alone);
    sections_free(&sections, trace);
    trace_free(trace);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sections_know_their_waits_signals_and_hold_time),
        cmocka_unit_test(a_signal_after_the_unlock_belongs_to_the_section),
        cmocka_unit_test(in_another_section_it_belongs_to_the_mutex_of_who_waits),
        cmocka_unit_test(a_section_in_whose_wait_the_program_ended_is_cut),
        cmocka_unit_test(objects_of_the_same_call_sites_are_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
