/* Queues that are filled at one place and told apart by who empties them. */
/* tests/run: beside others */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "modelgen/events/critical_sections.h"
#include "tests/unit/trace_builder.h"

enum { DISPATCHER, FIRST, SECOND, N_THREADS, ITEMS = 20 };

/* Addresses of the mutex and the condition of each queue. */
struct queue {
    uint64_t mutex, not_empty;
};

static void put(struct trace *trace, uint64_t mutex, uint64_t start_ns, uint64_t told) {
    builder_section(trace, DISPATCHER,
                    (struct builder_section){.function = "put",
                                             .line = 10,
                                             .mutex = mutex,
                                             .start_ns = start_ns,
                                             .signals_before = told});
}

/* The dispatcher puts into both queues by turns, in `put`; a thread each waits in `get` for what
 * comes. `silent`: so many of the dispatcher's sections tell nobody. */
static struct trace *dispatch(const struct queue *queues, int silent) {
    struct trace *trace = builder_new(2);
    builder_thread(trace, "main", -1);
    builder_thread(trace, "first", DISPATCHER);
    builder_thread(trace, "second", DISPATCHER);
    for (uint64_t i = 0; i < ITEMS; i++) {
        const struct queue *queue = &queues[i % 2];
        uint64_t told = (int)i < silent ? 0 : queue->not_empty, now = 1000 * (i + 1);
        builder_section(trace, FIRST + (int)(i % 2),
                        (struct builder_section){.function = "get",
                                                 .line = 20,
                                                 .mutex = queue->mutex,
                                                 .start_ns = now,
                                                 .waits_for = queue->not_empty,
                                                 .woken_ns = now + 500});
        put(trace, queue->mutex, now + 400, told);
    }
    builder_finish(trace, 1000 * (ITEMS + 2));
    return trace;
}

static const struct sync_object *mutex_in(const struct sections *sections, size_t section) {
    return &sections->objects[sections->sections[section].mutex];
}

/* Sections are numbered by thread: the dispatcher's come first. */
static const struct sync_object *mutex_of_turn(const struct sections *sections, size_t turn) {
    return mutex_in(sections, turn);
}

static const struct sync_object *mutex_of_thread(const struct sections *sections, int thread) {
    return mutex_in(sections, thread == FIRST ? ITEMS : ITEMS + ITEMS / 2);
}

/* What the thread waits for. */
static const struct sync_object *condition_of_thread(const struct sections *sections, int thread) {
    const struct section *section =
        &sections->sections[thread == FIRST ? ITEMS : ITEMS + ITEMS / 2];
    return &sections->objects[sections->waits[section->first_wait].condition];
}

static const int own_pools[N_THREADS] = {0, 1, 2};
static const int one_pool[N_THREADS] = {0, 1, 1};

static void queues_of_other_users_are_others(void **state) {
    (void)state;
    struct trace *trace = dispatch((struct queue[]){{0x10, 0x11}, {0x20, 0x21}}, 0);
    struct sections sections = sections_find(trace, own_pools);
    const struct sync_object *first = mutex_of_thread(&sections, FIRST),
                             *second = mutex_of_thread(&sections, SECOND);
    assert_int_not_equal(first->class_id, second->class_id);
    assert_true(first->alone && second->alone);
    assert_int_equal(first->own_pool, 1);
    assert_int_equal(second->own_pool, 2);
    assert_ptr_equal(mutex_of_turn(&sections, 0), first);
    assert_ptr_equal(mutex_of_turn(&sections, 1), second);
    sections_free(&sections, trace);
    trace_free(trace);
}

static void queues_of_one_pool_are_alike(void **state) {
    (void)state;
    struct trace *trace = dispatch((struct queue[]){{0x10, 0x11}, {0x20, 0x21}}, 0);
    struct sections sections = sections_find(trace, one_pool);
    const struct sync_object *first = mutex_of_thread(&sections, FIRST);
    assert_int_equal(first->class_id, mutex_of_thread(&sections, SECOND)->class_id);
    assert_false(first->alone);
    assert_int_equal(first->own_pool, -1);
    sections_free(&sections, trace);
    trace_free(trace);
}

static void a_mutex_of_two_monitors_has_parts(void **state) {
    (void)state;
    struct trace *trace = dispatch((struct queue[]){{0x10, 0x11}, {0x10, 0x21}}, 0);
    struct sections sections = sections_find(trace, own_pools);
    const struct sync_object *first = mutex_of_thread(&sections, FIRST),
                             *second = mutex_of_thread(&sections, SECOND);
    assert_ptr_not_equal(first, second);
    assert_int_equal(first->whole, second->whole);
    assert_true(sections.objects[first->whole].operations > 0);
    assert_true(first->operations == 0); /* they are the mutex' own */
    assert_int_equal(second->own_pool, 2);
    assert_ptr_equal(mutex_of_turn(&sections, 4), first);
    assert_ptr_equal(mutex_of_turn(&sections, 5), second);
    assert_int_not_equal(condition_of_thread(&sections, FIRST)->class_id,
                         condition_of_thread(&sections, SECOND)->class_id);
    sections_free(&sections, trace);
    trace_free(trace);
}

static void a_mutex_that_one_pool_waits_with_is_one(void **state) {
    (void)state;
    struct trace *trace = dispatch((struct queue[]){{0x10, 0x11}, {0x10, 0x21}}, 0);
    struct sections sections = sections_find(trace, one_pool);
    const struct sync_object *mutex = mutex_of_thread(&sections, FIRST);
    assert_ptr_equal(mutex, mutex_of_thread(&sections, SECOND));
    assert_int_equal(mutex->whole, sections.sections[0].mutex);
    sections_free(&sections, trace);
    trace_free(trace);
}

/* Each taker tells that there is room, which nobody waits for. Of the first four, some find an item
 * at once: what they tell says whose they are. */
static void conditions_nobody_waits_for_belong_to_those_who_signal_them(void **state) {
    (void)state;
    enum { EMPTY = 4 };
    struct trace *trace = builder_new(2);
    builder_thread(trace, "main", -1);
    builder_thread(trace, "first", DISPATCHER);
    builder_thread(trace, "second", DISPATCHER);
    for (uint64_t i = 0; i < ITEMS; i++) {
        uint64_t not_empty = 0x11 + 0x10 * (i % 2), not_full = 0x12 + 0x10 * (i % 2);
        uint64_t now = 1000 * (i + 1);
        bool waits = i >= EMPTY;
        builder_section(trace, FIRST + (int)(i % 2),
                        (struct builder_section){.function = "get",
                                                 .line = 20,
                                                 .mutex = 0x10,
                                                 .start_ns = now + (waits ? 0 : 600),
                                                 .signals_before = not_full,
                                                 .waits_for = waits ? not_empty : 0,
                                                 .woken_ns = now + 500});
        put(trace, 0x10, now + 400, not_empty);
    }
    builder_finish(trace, 1000 * (ITEMS + 2));
    struct sections sections = sections_find(trace, own_pools);
    const struct sync_object *first = mutex_of_thread(&sections, FIRST),
                             *second = mutex_of_thread(&sections, SECOND);
    assert_ptr_not_equal(first, second);
    assert_int_equal(first->own_pool, 1);
    assert_int_equal(second->own_pool, 2);
    sections_free(&sections, trace);
    trace_free(trace);
}

/* Whose are they? */
static void a_mutex_with_many_silent_sections_is_one(void **state) {
    (void)state;
    struct trace *trace = dispatch((struct queue[]){{0x10, 0x11}, {0x10, 0x21}}, 4);
    struct sections sections = sections_find(trace, own_pools);
    assert_ptr_equal(mutex_of_thread(&sections, FIRST), mutex_of_thread(&sections, SECOND));
    assert_int_equal(condition_of_thread(&sections, FIRST)->class_id,
                     condition_of_thread(&sections, SECOND)->class_id);
    sections_free(&sections, trace);
    trace_free(trace);
}

/* A lock for each piece of data, of which the program needs one. */
static void what_is_only_made_is_no_object(void **state) {
    (void)state;
    struct trace *trace = builder_new(1);
    builder_thread(trace, "main", -1);
    uint32_t here = builder_context(trace, "make", 10, "main", 100);
    for (uint64_t lock = 1; lock <= 20; lock++)
        builder_record(trace, 0, "pthread_mutex_init", lock, 0, 0x1000 * lock, here, 0);
    builder_record(trace, 0, "pthread_mutex_lock", 30, 0, 0x7000, here, 0);
    builder_record(trace, 0, "pthread_mutex_unlock", 31, 0, 0x7000, here, 0);
    builder_record(trace, 0, "pthread_mutex_destroy", 40, 0, 0x8000, here, 0);
    builder_finish(trace, 100);
    struct sections sections = sections_find(trace, (int[]){0});
    assert_int_equal(sections.n_objects, 1);
    assert_int_equal(sections.objects[0].address, 0x7000);
    size_t n;
    assert_int_equal(*sections_of(&sections, 0, &n), 0);
    assert_int_equal(n, 1);
    sections_free(&sections, trace);
    trace_free(trace);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_only_made_is_no_object),
        cmocka_unit_test(queues_of_other_users_are_others),
        cmocka_unit_test(queues_of_one_pool_are_alike),
        cmocka_unit_test(a_mutex_of_two_monitors_has_parts),
        cmocka_unit_test(a_mutex_that_one_pool_waits_with_is_one),
        cmocka_unit_test(conditions_nobody_waits_for_belong_to_those_who_signal_them),
        cmocka_unit_test(a_mutex_with_many_silent_sections_is_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
