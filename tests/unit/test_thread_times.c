/* cli/recording/thread_times: how long a program's threads had a core, and how long they waited for
 * one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/recording/thread_times.h"

#define CPU_NS 200000000u

static void *compute(void *unused) {
    while (clock_now_ns(CLOCK_THREAD_CPUTIME_ID) < CPU_NS)
        ;
    return unused;
}

/* Two threads that compute on one core. */
static _Noreturn void share_a_core(void) {
    cpu_set_t cpus;
    int first = 0;
    sched_getaffinity(0, sizeof cpus, &cpus);
    while (!CPU_ISSET(first, &cpus))
        first++;
    CPU_ZERO(&cpus);
    CPU_SET(first, &cpus);
    sched_setaffinity(0, sizeof cpus, &cpus);
    pthread_t other;
    pthread_create(&other, NULL, compute, NULL);
    compute(NULL);
    pthread_join(other, NULL);
    _exit(0);
}

static void threads_that_share_a_core_wait_for_each_other(void **state) {
    (void)state;
    if (access("/proc/self/schedstat", R_OK) != 0)
        skip();
    pid_t child = fork();
    if (child == 0)
        share_a_core();
    struct thread_watch *watch = thread_watch_start(child);
    assert_non_null(watch);
    siginfo_t unused;
    assert_int_equal(waitid(P_PID, (id_t)child, &unused, WEXITED | WNOWAIT), 0);
    struct thread_times times = thread_watch_stop(watch);
    waitpid(child, NULL, 0);
    assert_true(times.cpu_ns > CPU_NS && times.cpu_ns < 3ull * CPU_NS);
    assert_true(times.longest_cpu_ns > CPU_NS / 2 && times.longest_cpu_ns <= times.cpu_ns);
    assert_true(times.delay_ns > CPU_NS / 2);
    assert_true(thread_times_delay_ns(&times, times.cpu_ns) == (double)times.delay_ns);
}

static void what_was_hardly_seen_is_not_known(void **state) {
    (void)state;
    const struct thread_times times = {.cpu_ns = 90, .longest_cpu_ns = 50, .delay_ns = 18};
    assert_true(thread_times_delay_ns(&times, 100) == 20);
    assert_true(thread_times_delay_ns(&times, 1000) < 0);
    assert_true(thread_times_delay_ns(&times, 0) < 0);
    struct thread_times none = thread_watch_stop(NULL);
    assert_true(none.cpu_ns == 0 && none.delay_ns == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_that_share_a_core_wait_for_each_other),
        cmocka_unit_test(what_was_hardly_seen_is_not_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
