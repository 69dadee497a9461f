/* What the recorded threads do not account for: child processes, other threads, a quota. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "base/memory.h"
#include "formats/model.h"
#include "formats/trace.h"
#include "host/quota.h"
#include "host/reclaim.h"
#include "modelgen/report/external_activity.h"
#include "tests/unit/scratch_folder.h"
#include "tests/unit/trace_builder.h"
#include "tracer/elsewhere.h"

/* ---- quotas ---- */

/* Writes scratch_folder/path with the folders it needs. */
static void put(const char *path, const char *text) {
    char *whole = memory_format("%s/%s", scratch_folder, path);
    for (char *slash = whole + strlen(scratch_folder) + 1; (slash = strchr(slash, '/'));
         *slash++ = '/') {
        *slash = '\0';
        mkdir(whole, 0700);
    }
    FILE *file = fopen(whole, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    free(whole);
}

static void without_control_groups_there_is_no_quota(void **state) {
    (void)state;
    struct quota quota = quota_read(scratch_folder);
    assert_true(quota.cores == 0);
    assert_int_equal(quota.throttled_ns, 0);
}

static void a_monitor_that_pages_out_what_is_cold_is_seen(void **state) {
    (void)state;
    assert_false(reclaim_is_proactive(scratch_folder));
    put("sys/kernel/mm/damon/admin/kdamonds/0/state", "off\n");
    put("sys/kernel/mm/damon/admin/kdamonds/0/contexts/0/schemes/0/action", "stat\n");
    put("sys/kernel/mm/damon/admin/kdamonds/0/contexts/0/schemes/1/action", "pageout\n");
    assert_false(reclaim_is_proactive(scratch_folder)); /* it does not run */
    put("sys/kernel/mm/damon/admin/kdamonds/0/state", "on\n");
    assert_true(reclaim_is_proactive(scratch_folder));
    put("sys/kernel/mm/damon/admin/kdamonds/0/contexts/0/schemes/1/action", "stat\n");
    assert_false(reclaim_is_proactive(scratch_folder)); /* it only counts */
    put("sys/module/damon_reclaim/parameters/enabled", "Y\n");
    assert_true(reclaim_is_proactive(scratch_folder));
}

static void version_2_the_tightest_of_all_ancestors_counts(void **state) {
    (void)state;
    put("proc/self/cgroup", "0::/jobs/one/part\n");
    put("proc/self/mountinfo", "30 20 0:26 / /proc rw - proc proc rw\n31 20 0:27 / /sys/fs/cgroup "
                               "rw,nosuid shared:4 - cgroup2 "
                               "cgroup2 rw,nsdelegate\n");
    put("sys/fs/cgroup/jobs/cpu.max", "150000 100000\n");
    put("sys/fs/cgroup/jobs/cpu.stat", "usage_usec 5\nnr_throttled 3\nthrottled_usec 250000\n");
    put("sys/fs/cgroup/jobs/one/cpu.max", "400000 100000\n");
    put("sys/fs/cgroup/jobs/one/cpu.stat", "throttled_usec 7\n");
    put("sys/fs/cgroup/jobs/one/part/cpu.max", "max 100000\n");
    struct quota quota = quota_read(scratch_folder);
    assert_float_equal(quota.cores, 1.5, 1e-9);
    assert_int_equal(quota.throttled_ns, 250007000);
}

static void version_1_has_a_hierarchy_of_its_own(void **state) {
    (void)state;
    put("proc/self/cgroup", "5:memory:/x\n4:cpuset:/y\n3:cpu,cpuacct:/box\n0::/\n");
    put("proc/self/mountinfo",
        "40 30 0:33 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n41 30 0:34 / "
        "/sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n");
    put("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
    put("sys/fs/cgroup/cpu,cpuacct/box/cpu.cfs_quota_us", "50000\n");
    put("sys/fs/cgroup/cpu,cpuacct/box/cpu.cfs_period_us", "100000\n");
    put("sys/fs/cgroup/cpu,cpuacct/box/cpu.stat",
        "nr_periods 9\nnr_throttled 4\nthrottled_time 51724231\n");
    struct quota quota = quota_read(scratch_folder);
    assert_float_equal(quota.cores, 0.5, 1e-9);
    assert_int_equal(quota.throttled_ns, 51724231);
}

/* A container sees its own group as the top of what is mounted. */
static void a_part_of_the_hierarchy_may_be_mounted(void **state) {
    (void)state;
    put("proc/self/cgroup", "0::/docker/abc\n");
    put("proc/self/mountinfo", "31 20 0:27 /docker/abc /sys/fs/cgroup ro - cgroup2 cgroup rw\n");
    put("sys/fs/cgroup/cpu.max", "200000 100000\n");
    assert_float_equal(quota_read(scratch_folder).cores, 2, 1e-9);
}

static void nonsense_sets_no_limit(void **state) {
    (void)state;
    put("proc/self/cgroup", "\n:\n0:\nwhat\n0::/a/../b\n");
    put("proc/self/mountinfo", "\n - \n1 2 3 - cgroup2\n31 20 0:27 / /c rw - cgroup2 x rw\n");
    put("c/cpu.max", "-5 x\n");
    assert_true(quota_read(scratch_folder).cores == 0);
    put("c/cpu.max", "100000 0\n");
    assert_true(quota_read(scratch_folder).cores == 0);
}

/* ---- processes and threads ---- */

enum { PROGRAM = 100, THREAD = 101, CHILD = 200, GRANDCHILD = 300 };

static void add(struct sched *sched, uint32_t tid, uint64_t ns, enum sched_kind kind) {
    *VECTOR_ADD(&sched->events) =
        (struct sched_event){.mono_ns = ns, .tid = tid, .kind = (uint16_t)kind};
}

static void ran(struct sched *sched, uint32_t tid, uint64_t from_ns, uint64_t to_ns) {
    add(sched, tid, from_ns, SCHED_IN);
    add(sched, tid, to_ns, SCHED_OUT);
}

/* The program's first thread ran for 10 ns; another one of it for 20, its child for 300, and the
 * child's child, which goes on, for 4,000. */
static struct sched made_up(void) {
    struct sched sched = {.has_switches = true};
    map_put(&sched.processes, THREAD, PROGRAM);
    map_put(&sched.processes, CHILD, CHILD);
    map_put(&sched.processes, GRANDCHILD, GRANDCHILD);
    ran(&sched, PROGRAM, 1000, 1010);
    add(&sched, PROGRAM, 9000, SCHED_EXIT);
    ran(&sched, THREAD, 1000, 1020);
    add(&sched, THREAD, 1020, SCHED_EXIT);
    ran(&sched, CHILD, 2000, 2300);
    add(&sched, CHILD, 2300, SCHED_EXIT);
    ran(&sched, GRANDCHILD, 3000, 7000);
    sched_sort(sched.events.items, sched.events.count);
    return sched;
}

static const struct launch launched = {
    .pid = PROGRAM, .start_mono_ns = 1000, .end_mono_ns = 9000, .children_cpu_ns = 77};

static void add_thread(struct trace *trace, int pid, int tid) {
    int thread = builder_thread(trace, "main", -1);
    trace->threads[thread].pid = pid;
    trace->threads[thread].tid = tid;
}

static void what_ran_elsewhere_is_added_up_by_process(void **state) {
    (void)state;
    struct trace *trace = builder_new(2);
    add_thread(trace, PROGRAM, PROGRAM);
    struct sched sched = made_up();
    struct trace_elsewhere elsewhere = elsewhere_find(trace, &sched, &launched);
    assert_int_equal(elsewhere.threads_cpu_ns, 20);
    assert_int_equal(elsewhere.children_cpu_ns, 4300);
    assert_int_equal(elsewhere.children, 2);
    assert_int_equal(elsewhere.left_running, 1);
    assert_int_equal(elsewhere_all_cpu_ns(&sched, &launched), 4330);
    sched_free(&sched);
    trace_free(trace);
}

static void recorded_children_are_not_elsewhere(void **state) {
    (void)state;
    struct trace *trace = builder_new(2);
    add_thread(trace, PROGRAM, PROGRAM);
    add_thread(trace, PROGRAM, THREAD);
    add_thread(trace, CHILD, CHILD);
    struct sched sched = made_up();
    struct trace_elsewhere elsewhere = elsewhere_find(trace, &sched, &launched);
    assert_int_equal(elsewhere.threads_cpu_ns, 0);
    assert_int_equal(elsewhere.children_cpu_ns, 4000);
    sched_free(&sched);
    trace_free(trace);
}

static void without_scheduling_events_the_kernels_sum_of_children_counts(void **state) {
    (void)state;
    struct trace *trace = builder_new(2);
    add_thread(trace, PROGRAM, PROGRAM);
    struct sched none = {0};
    assert_int_equal(elsewhere_find(trace, &none, &launched).children_cpu_ns, 77);
    trace_free(trace);
}

/* ---- what is said ---- */

static const char *said(struct trace_elsewhere elsewhere, struct model *model) {
    struct trace *trace = builder_new(2);
    add_thread(trace, PROGRAM, PROGRAM);
    builder_finish(trace, 1000);
    trace->meta.elsewhere = elsewhere;
    external_activity_tell(trace, 100, model);
    external_activity_tell_handlers(trace, model);
    trace->meta.elsewhere.handlers = NULL; /* is not the trace's own */
    trace_free(trace);
    return model->n_outside == 1 ? model->outside[0] : "";
}

static void check_said(struct trace_elsewhere elsewhere, const char *text) {
    struct model *model = memory_alloc(1, sizeof *model);
    const char *line = said(elsewhere, model);
    if (!*text)
        assert_int_equal(model->n_outside, 0);
    else if (!strstr(line, text))
        fail_msg("'%s' is not in '%s'", text, line);
    model_free(model);
}

static void each_kind_of_work_elsewhere_is_said_with_its_share(void **state) {
    (void)state;
    check_said((struct trace_elsewhere){0}, "");
    check_said((struct trace_elsewhere){.children_cpu_ns = 300},
               "75.0 % of the CPU time was used by child");
    check_said((struct trace_elsewhere){.threads_cpu_ns = 100},
               "50.0 % of the CPU time was used by threads");
    check_said((struct trace_elsewhere){.left_running = 2}, "2 of its processes still ran");
    check_said((struct trace_elsewhere){.handlers = (char[]){"a line"}}, "a line");
    check_said((struct trace_elsewhere){.quota_cores = 1.5}, "leaves 1.5 of 2 cores");
    check_said((struct trace_elsewhere){.quota_cores = 1.5, .throttled_ns = 310},
               "quota of 1.5 cores stopped the recorded run for 31 %");
    check_said((struct trace_elsewhere){.quota_cores = 4}, "");
}

static void the_recorded_share_is_of_all_cpu_time(void **state) {
    (void)state;
    struct trace *trace = builder_new(2);
    trace->meta.elsewhere.children_cpu_ns = 200;
    trace->meta.elsewhere.threads_cpu_ns = 100;
    assert_float_equal(external_activity_recorded_share(trace, 100), 0.25, 1e-9);
    assert_float_equal(external_activity_recorded_share(trace, 0), 0, 1e-9);
    trace->meta.elsewhere = (struct trace_elsewhere){0};
    assert_float_equal(external_activity_recorded_share(trace, 0), 1, 1e-9);
    trace_free(trace);
}

#define WITH_ROOT(test)                                                                            \
    cmocka_unit_test_setup_teardown(test, scratch_folder_make, scratch_folder_remove)

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_ROOT(without_control_groups_there_is_no_quota),
        WITH_ROOT(version_2_the_tightest_of_all_ancestors_counts),
        WITH_ROOT(version_1_has_a_hierarchy_of_its_own),
        WITH_ROOT(a_part_of_the_hierarchy_may_be_mounted),
        WITH_ROOT(nonsense_sets_no_limit),
        WITH_ROOT(a_monitor_that_pages_out_what_is_cold_is_seen),
        cmocka_unit_test(what_ran_elsewhere_is_added_up_by_process),
        cmocka_unit_test(recorded_children_are_not_elsewhere),
        cmocka_unit_test(without_scheduling_events_the_kernels_sum_of_children_counts),
        cmocka_unit_test(each_kind_of_work_elsewhere_is_said_with_its_share),
        cmocka_unit_test(the_recorded_share_is_of_all_cpu_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
