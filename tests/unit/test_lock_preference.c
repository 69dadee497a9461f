/* Whether read-write locks prefer readers or writers, told by readers that came while a writer
 * waited. */
/* tests/run: beside others */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "modelgen/lower/lock_preference.h"
#include "tests/unit/trace_builder.h"

enum { MAIN, WRITER, EARLY, LATE, WORKERS = LATE, LOCK = 0x1000, ROUND_NS = 1000 };

static bool prefers_writers(struct trace *trace) {
    builder_finish(trace, 100000);
    struct sections sections = sections_find(trace, builder_no_pools);
    bool *writers_first = lock_preference_writers_first(trace, &sections);
    bool found = writers_first[0];
    free(writers_first);
    sections_free(&sections, trace);
    trace_free(trace);
    return found;
}

static void use(struct trace *trace, int thread, const char *api, uint64_t comes_ns,
                uint64_t enters_ns, uint64_t leaves_ns) {
    builder_call(trace, thread, api, comes_ns, enters_ns, LOCK, TRACE_NO_CONTEXT);
    builder_call(trace, thread, "pthread_rwlock_unlock", leaves_ns, leaves_ns, LOCK,
                 TRACE_NO_CONTEXT);
}

/* A reader is in for 300 ns, a writer comes after 100, another reader after 200. */
static void add_round(struct trace *trace, uint64_t start_ns, bool writers_first) {
    uint64_t write_ns = start_ns + (writers_first ? 310 : 510);
    uint64_t read_ns = start_ns + (writers_first ? 620 : 200);
    use(trace, EARLY, "pthread_rwlock_rdlock", start_ns, start_ns, start_ns + 300);
    use(trace, WRITER, "pthread_rwlock_wrlock", start_ns + 100, write_ns, write_ns + 300);
    use(trace, LATE, "pthread_rwlock_rdlock", start_ns + 200, read_ns, read_ns + 300);
}

static struct trace *rounds(int n, bool writers_first) {
    struct trace *trace = builder_new_with_workers(WORKERS);
    for (int i = 0; i < n; i++)
        add_round(trace, (uint64_t)(i + 1) * ROUND_NS, writers_first);
    return trace;
}

static void readers_that_are_held_back_tell_of_writers_first(void **state) {
    (void)state;
    assert_true(prefers_writers(rounds(5, true)));
}

static void readers_that_pass_a_waiting_writer_tell_of_readers_first(void **state) {
    (void)state;
    assert_false(prefers_writers(rounds(5, false)));
}

static void one_reader_tells_nothing(void **state) {
    (void)state;
    assert_false(prefers_writers(rounds(1, true)));
}

/* While a writer is in, every reader waits, and for those who wait with it, too. */
static void readers_that_wait_for_a_writer_who_is_in_tell_nothing(void **state) {
    (void)state;
    struct trace *trace = builder_new_with_workers(WORKERS);
    for (uint64_t i = 1; i <= 5; i++) {
        use(trace, WRITER, "pthread_rwlock_wrlock", i * ROUND_NS, i * ROUND_NS, i * ROUND_NS + 300);
        use(trace, EARLY, "pthread_rwlock_wrlock", i * ROUND_NS + 100, i * ROUND_NS + 310,
            i * ROUND_NS + 500);
        use(trace, LATE, "pthread_rwlock_rdlock", i * ROUND_NS + 200, i * ROUND_NS + 510,
            i * ROUND_NS + 600);
    }
    assert_false(prefers_writers(trace));
}

/* As the lock was not free, they did not come in. */
static void attempts_that_failed_tell_nothing(void **state) {
    (void)state;
    struct trace *trace = builder_new_with_workers(WORKERS);
    for (uint64_t i = 1; i <= 5; i++) {
        use(trace, EARLY, "pthread_rwlock_rdlock", i * ROUND_NS, i * ROUND_NS, i * ROUND_NS + 300);
        use(trace, WRITER, "pthread_rwlock_wrlock", i * ROUND_NS + 100, i * ROUND_NS + 310,
            i * ROUND_NS + 500);
        builder_call(trace, LATE, "pthread_rwlock_tryrdlock", i * ROUND_NS + 200,
                     i * ROUND_NS + 200, LOCK, TRACE_NO_CONTEXT)
            ->flags |= TRACE_FAILED;
    }
    assert_false(prefers_writers(trace));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(readers_that_are_held_back_tell_of_writers_first),
        cmocka_unit_test(readers_that_pass_a_waiting_writer_tell_of_readers_first),
        cmocka_unit_test(one_reader_tells_nothing),
        cmocka_unit_test(readers_that_wait_for_a_writer_who_is_in_tell_nothing),
        cmocka_unit_test(attempts_that_failed_tell_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
