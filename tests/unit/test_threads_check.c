/* threads_check() and sections_check(): what passes make is sound, and damage is found. */
/* tests/run: beside others */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "modelgen/events/critical_sections.h"
#include "modelgen/events/sections_check.h"
#include "modelgen/threads/threads_check.h"
#include "tests/unit/trace_builder.h"

enum { MAIN, FIRST, SECOND, MUTEX = 0x10, CONDITION = 0x20, LIFE = 1000 };

/* Two workers: the first waits under a mutex until the second tells it. */
static struct trace *two_workers(void) {
    struct trace *trace = builder_new_with_workers(2);
    builder_section(trace, FIRST,
                    (struct builder_section){.function = "wait",
                                             .line = 10,
                                             .mutex = MUTEX,
                                             .start_ns = 100,
                                             .waits_for = CONDITION,
                                             .woken_ns = 300});
    builder_section(trace, SECOND,
                    (struct builder_section){.function = "tell",
                                             .line = 20,
                                             .mutex = MUTEX,
                                             .start_ns = 200,
                                             .signals_before = CONDITION,
                                             .end_ns = 250});
    builder_finish(trace, LIFE);
    return trace;
}

static void assert_says(int status, const struct error *error, const char *with) {
    assert_int_equal(status, -1);
    if (!strstr(error->text, with))
        fail_msg("\"%s\" does not say \"%s\"", error->text, with);
}

/* ---- threads ---- */

static void assert_threads_found(void (*damage)(struct trace *trace, struct thread_pools *pools),
                                 const char *with) {
    struct trace *trace = two_workers();
    struct event_log log = event_log_of(trace);
    struct teams teams = teams_none(&log.trace);
    const double cpu_ns[] = {LIFE, LIFE, LIFE};
    struct thread_pools pools =
        thread_pools_find(&log.trace, &teams, log.thread_origins, NULL, cpu_ns);
    struct error error = {0};
    assert_int_equal(threads_check(&log.trace, &pools, &error), 0);
    assert_int_equal(pools.n_pools, 2);
    damage(&log.trace, &pools);
    assert_says(threads_check(&log.trace, &pools, &error), &error, with);
    thread_pools_free(&pools);
    teams_free(&teams);
    event_log_free(&log);
    trace_free(trace);
}

static void create_by_nobody(struct trace *trace, struct thread_pools *pools) {
    (void)pools;
    trace->threads[FIRST].creator = 3;
}
static void end_too_early(struct trace *trace, struct thread_pools *pools) {
    (void)pools;
    trace->threads[FIRST].start_ns = LIFE + 1;
}
static void be_a_part_of_another(struct trace *trace, struct thread_pools *pools) {
    (void)trace;
    ((struct thread_origin *)pools->origins)[SECOND].part_of = FIRST;
}
static void be_in_no_pool(struct trace *trace, struct thread_pools *pools) {
    (void)trace;
    pools->pool_of[SECOND] = 2;
}
static void be_in_another_pool(struct trace *trace, struct thread_pools *pools) {
    (void)trace;
    pools->pool_of[SECOND] = 0;
}
static void list_twice(struct trace *trace, struct thread_pools *pools) {
    (void)trace;
    pools->pools[1].threads[1] = FIRST;
}
static void list_too_few(struct trace *trace, struct thread_pools *pools) {
    (void)trace;
    pools->pools[1].n_threads = 1;
    pools->pools[1].size = 1;
}
static void be_larger_than_all(struct trace *trace, struct thread_pools *pools) {
    (void)trace;
    pools->pools[1].size = 3;
}
static void have_the_same_name(struct trace *trace, struct thread_pools *pools) {
    (void)trace;
    free(pools->pools[1].name);
    pools->pools[1].name = memory_strdup(pools->pools[0].name);
}
static void have_no_name(struct trace *trace, struct thread_pools *pools) {
    (void)trace;
    *pools->pools[1].name = 0;
}
static void stand_first(struct trace *trace, struct thread_pools *pools) {
    (void)trace;
    pools->pools[0].creator = 1;
}

static void damaged_threads_are_found(void **state) {
    (void)state;
    assert_threads_found(create_by_nobody, "thread 1 was created by 3");
    assert_threads_found(end_too_early, "thread 1 ends before it begins");
    assert_threads_found(be_a_part_of_another, "thread 2 is a part of 1");
    assert_threads_found(be_in_no_pool, "thread 2 is in pool 2, of 2");
    assert_threads_found(be_in_another_pool, "lists thread 2, which is not its own");
    assert_threads_found(list_twice, "lists thread 1 twice");
    assert_threads_found(list_too_few, "thread 2 is in pool worker, which does not list it");
    assert_threads_found(be_larger_than_all, "pool worker has 3 threads at a time, of 2");
    assert_threads_found(have_the_same_name, "two pools are called main");
    assert_threads_found(have_no_name, "pool 1 has no name");
    assert_threads_found(stand_first, "pool main stands before the one that creates it");
}

/* ---- sections ---- */

static void assert_sections_found(void (*damage)(struct sections *sections), const char *with) {
    struct trace *trace = two_workers();
    struct sections sections = sections_find(trace, builder_no_pools);
    struct error error = {0};
    assert_int_equal(sections_check(trace, &sections, &error), 0);
    assert_int_equal(sections.n_sections, 2);
    damage(&sections);
    assert_says(sections_check(trace, &sections, &error), &error, with);
    sections_free(&sections, trace);
    trace_free(trace);
}

static void be_of_no_kind(struct sections *sections) {
    sections->objects[0].kind = ON_FILE;
}
static void be_of_no_class(struct sections *sections) {
    sections->objects[0].class_id = (int)sections->n_objects;
}
static void be_of_a_class_within_a_class(struct sections *sections) {
    sections->objects[0].class_id = 1;
    sections->objects[1].class_id = 0;
}
static void be_of_no_thread(struct sections *sections) {
    sections->sections[0].thread = 3;
}
static void be_under_no_mutex(struct sections *sections) {
    sections->sections[0].mutex = -1;
}
static void end_before_the_lock(struct sections *sections) {
    sections->sections[0].unlock_record = sections->sections[0].lock_record;
}
static void end_in_the_past(struct sections *sections) {
    sections->sections[0].release_ns = sections->sections[0].acquire_ns - 1;
}
static void be_opened_by_no_lock(struct sections *sections) {
    sections->section_of_lock[FIRST][sections->sections[0].lock_record] = 1;
}
static void wait_for_nothing(struct sections *sections) {
    sections->waits[0].condition = -1;
}
static void wait_outside(struct sections *sections) {
    sections->waits[0].record = sections->sections[0].lock_record;
}
static void signal_nothing(struct sections *sections) {
    sections->signals[0].condition = (int)sections->n_objects;
}
static void be_listed_twice(struct sections *sections) {
    sections->of_mutex[1] = sections->of_mutex[0];
}
static void be_listed_nowhere(struct sections *sections) {
    for (size_t o = 0; o <= sections->n_objects; o++)
        sections->first_of_mutex[o] = 0;
}

static void damaged_sections_are_found(void **state) {
    (void)state;
    assert_sections_found(be_of_no_kind, "object 0 is of no kind");
    assert_sections_found(be_of_no_class, "object 0 is of a class");
    assert_sections_found(be_of_a_class_within_a_class, "which is of another one");
    assert_sections_found(be_of_no_thread, "section 0 is of a thread");
    assert_sections_found(be_under_no_mutex, "section 0 is of a thread or a mutex");
    assert_sections_found(end_before_the_lock, "section 0 does not end behind its begin");
    assert_sections_found(end_in_the_past, "section 0 does not end behind its begin");
    assert_sections_found(be_opened_by_no_lock, "the lock of section 0 opens another one");
    assert_sections_found(wait_for_nothing, "section 0 waits for an object");
    assert_sections_found(wait_outside, "section 0 waits outside of it");
    assert_sections_found(signal_nothing, "signals an object that is not there");
    assert_sections_found(be_listed_twice, "which is not its own");
    assert_sections_found(be_listed_nowhere, "section 0 is not listed by its mutex");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(damaged_threads_are_found),
        cmocka_unit_test(damaged_sections_are_found),
    };
    return cmocka_run_group_tests_name("checks of threads and sections", tests, NULL, NULL);
}
