/* Which of the machine's scheduling events are the program's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/memory.h"
#include "tracer/sched.h"

enum { PROGRAM = 100, THREAD = 101, CHILD = 200, STRANGER = 300 };

static void happens(struct sched *sched, uint64_t ns, uint32_t tid, enum sched_kind kind) {
    *VECTOR_ADD(&sched->unsettled) = (struct unsettled_event){
        .event = {.mono_ns = ns, .tid = tid, .kind = (uint16_t)kind},
    };
}

static void is_born(struct sched *sched, uint64_t ns, uint32_t tid, uint32_t pid,
                    uint32_t creator) {
    *VECTOR_ADD(&sched->unsettled) = (struct unsettled_event){
        .event = {.mono_ns = ns, .tid = tid, .kind = SCHED_BORN},
        .pid = pid,
        .creator = creator,
    };
}

static struct sched of_program(void) {
    struct sched sched = {0};
    map_put(&sched.threads, PROGRAM, 1);
    return sched;
}

static size_t events_of(const struct sched *sched, uint32_t tid) {
    size_t n = 0;
    for (size_t i = 0; i < sched->events.count; i++)
        n += sched->events.items[i].tid == tid;
    return n;
}

static void strangers_are_dropped_and_descendants_kept(void **state) {
    (void)state;
    struct sched sched = of_program();
    happens(&sched, 10, STRANGER, SCHED_IN);
    is_born(&sched, 20, THREAD, PROGRAM, PROGRAM);
    is_born(&sched, 30, CHILD, CHILD, THREAD);
    is_born(&sched, 40, STRANGER + 1, STRANGER, STRANGER);
    happens(&sched, 50, CHILD, SCHED_IN);
    happens(&sched, 60, STRANGER + 1, SCHED_IN);
    sched_settle(&sched, UINT64_MAX);
    assert_int_equal(sched.events.count, 3);
    assert_int_equal(events_of(&sched, CHILD), 2);
    assert_int_equal(map_get(&sched.processes, THREAD, 0), PROGRAM);
    assert_int_equal(map_get(&sched.processes, CHILD, 0), CHILD);
    sched_free(&sched);
}

/* A core's ring is emptied before that of another one, on which the thread was made. */
static void the_order_in_which_cores_tell_does_not_matter(void **state) {
    (void)state;
    struct sched sched = of_program();
    happens(&sched, 50, CHILD, SCHED_IN);
    is_born(&sched, 30, CHILD, CHILD, THREAD);
    sched_settle(&sched, 30);
    assert_int_equal(sched.events.count, 0);
    is_born(&sched, 20, THREAD, PROGRAM, PROGRAM);
    sched_settle(&sched, 40);
    assert_int_equal(events_of(&sched, THREAD), 1);
    assert_int_equal(events_of(&sched, CHILD), 1);
    assert_int_equal(map_get(&sched.threads, CHILD, 0), 1);
    sched_settle(&sched, UINT64_MAX);
    assert_int_equal(events_of(&sched, CHILD), 2);
    sched_free(&sched);
}

static void a_new_thread_is_known_before_its_events_are_settled(void **state) {
    (void)state;
    struct sched sched = of_program();
    is_born(&sched, 20, THREAD, PROGRAM, PROGRAM);
    sched_settle(&sched, 10);
    assert_int_equal(map_get(&sched.threads, THREAD, 0), 1);
    assert_int_equal(sched.events.count, 0);
    sched_free(&sched);
}

static void numbers_are_given_anew(void **state) {
    (void)state;
    struct sched sched = of_program();
    is_born(&sched, 20, THREAD, PROGRAM, PROGRAM);
    happens(&sched, 30, THREAD, SCHED_IN);
    happens(&sched, 40, THREAD, SCHED_EXIT);
    happens(&sched, 45, THREAD, SCHED_OUT); /* its last, after its end */
    is_born(&sched, 50, THREAD, STRANGER, STRANGER);
    happens(&sched, 60, THREAD, SCHED_IN);
    happens(&sched, 70, THREAD, SCHED_EXIT);
    is_born(&sched, 80, THREAD, PROGRAM, PROGRAM);
    happens(&sched, 90, THREAD, SCHED_IN);
    sched_settle(&sched, UINT64_MAX);
    assert_int_equal(events_of(&sched, THREAD), 5);
    sched_sort(sched.events.items, sched.events.count);
    assert_int_equal(sched.events.items[2].mono_ns, 40);
    assert_int_equal(sched.events.items[3].mono_ns, 80);
    sched_free(&sched);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strangers_are_dropped_and_descendants_kept),
        cmocka_unit_test(the_order_in_which_cores_tell_does_not_matter),
        cmocka_unit_test(a_new_thread_is_known_before_its_events_are_settled),
        cmocka_unit_test(numbers_are_given_anew),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
