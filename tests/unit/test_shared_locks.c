/* modelgen/calibrate/shared_locks: how often locks are taken that several threads take. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "modelgen/calibrate/shared_locks.h"
#include "tests/unit/trace_builder.h"

enum { FIRST, SECOND, SHARED = 100, OWN };

static void lock(struct trace *trace, int thread, const char *api, uint64_t lock, uint64_t at_ns,
                 int failed) {
    struct trace_record *record = builder_record(trace, thread, api, at_ns, 10, lock,
                                                 builder_context(trace, api, 1, "thread", 2), 0);
    record->flags |= failed ? TRACE_FAILED : 0;
}

static void only_locks_of_several_threads_count(void **state) {
    (void)state;
    struct trace *trace = builder_new_with_workers(1);
    for (uint64_t i = 0; i < 10; i++) {
        lock(trace, FIRST, "pthread_mutex_lock", SHARED, 1000 + 100 * i, 0);
        lock(trace, FIRST, "pthread_mutex_lock", OWN, 1050 + 100 * i, 0);
    }
    lock(trace, SECOND, "pthread_mutex_trylock", SHARED, 4000, 0);
    lock(trace, SECOND, "pthread_mutex_trylock", SHARED, 4100, 1);
    builder_run(trace, FIRST, 0, 900, 1000, 3000, false);
    builder_run(trace, SECOND, 0, 3000, 3000, 5000, false);
    builder_finish(trace, 5000);
    double taken = shared_locks_hz(trace) * 4000 * 1e-9;
    assert_float_equal(taken, 11, 1e-6);
    trace_free(trace);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(only_locks_of_several_threads_count)};
    return cmocka_run_group_tests_name("shared locks", tests, NULL, NULL);
}
