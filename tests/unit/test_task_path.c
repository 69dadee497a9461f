/* What tasks hang on: graphs written by hand, and tasks that are found in traces written by hand.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "critical-path/critical_path.h"
#include "tests/unit/scratch_folder.h"
#include "tests/unit/steps_builder.h"
#include "tests/unit/trace_builder.h"

/* ---- graphs ---- */

enum { MAIN, WORKER };
enum { IN_PUT, IN_WORK };
enum { MUTEX, ITEMS };

static const struct steps_names names = {
    .threads = {"main", "worker"},
    .places = {"put", "work"},
    .objects = {{.kind = "mutex", .name = "lock"},
                {.kind = "items", .name = "jobs", .is_pool = true}}};

static struct dependency_step *add(struct dependencies *all, int thread, enum step_kind kind,
                                   uint64_t end_ns) {
    return steps_add(all, thread, thread == MAIN ? IN_PUT : IN_WORK, kind, end_ns);
}

static uint32_t operate(struct dependencies *all, int thread, enum step_operation operation,
                        uint32_t operand, uint64_t end_ns) {
    struct dependency_step *step = add(all, thread, STEP_COMPUTE, end_ns);
    step->operation = operation;
    step->operand = operand;
    return (uint32_t)(step - all->steps);
}

static void take(struct dependencies *all, uint32_t put, uint64_t now_ns) {
    operate(all, WORKER, OPERATION_LOCK, MUTEX, now_ns);
    uint32_t taken = operate(all, WORKER, OPERATION_TAKE, ITEMS, now_ns);
    all->steps[taken].limit = put;
    all->steps[taken].limit_kind = LINK_ITEM;
    operate(all, WORKER, OPERATION_UNLOCK, MUTEX, now_ns);
}

/* MAIN puts jobs at 100, 200, 300. WORKER takes the first one at 100, which takes it until 400; the
 * second one until 450 and the third one until 550; then it comes once more, in vain. */
static struct dependencies *three_jobs(void) {
    struct dependencies *all = steps_new(&names, 2);
    uint32_t puts[3];
    for (uint32_t j = 0; j < 3; j++)
        puts[j] = operate(all, MAIN, OPERATION_GIVE, ITEMS, 100 * (j + 1));
    add(all, WORKER, STEP_SLEEP, 100);
    take(all, puts[0], 100);
    take(all, puts[1], 400);
    take(all, puts[2], 450);
    operate(all, WORKER, OPERATION_LOCK, MUTEX, 550);
    operate(all, WORKER, OPERATION_LEFT, ITEMS, 550);
    add(all, MAIN, STEP_COMPUTE, 600);
    return all;
}

static double path_in(const struct task_path *path, enum task_part part, enum path_subject subject,
                      enum task_group group) {
    double sum_ns = 0;
    for (size_t r = 0; r < path->n_rows; r++)
        if (path->rows[r].part == part && path->rows[r].subject == subject)
            sum_ns += path->rows[r].path_ns[group];
    return sum_ns;
}

/* Whatever they hang on, all of their time is told. */
static struct task_path *path_of(struct dependencies *all, double quantile) {
    struct error error;
    struct task_path *path = critical_path_of_tasks(all, quantile, &error);
    assert_non_null(path);
    for (int g = 0; g < TASK_GROUPS; g++) {
        double sum_ns = 0;
        for (size_t r = 0; r < path->n_rows; r++)
            sum_ns += path->rows[r].path_ns[g];
        assert_true(fabs(path->groups[g].path_ns - path->groups[g].response_ns) < 0.01);
        assert_true(fabs(path->groups[g].path_ns - sum_ns) < 0.01);
    }
    return path;
}

static void jobs_last_from_their_put_until_who_took_them_comes_again(void **state) {
    (void)state;
    struct dependencies *all = three_jobs();
    struct task_path *path = path_of(all, 0);
    assert_string_equal(path->what, "jobs of the queue jobs");
    assert_int_equal(path->n_tasks, 3);
    assert_int_equal(path->n_slowest, 3);
    assert_true(fabs(path->groups[TASKS_ALL].response_ns - (300 + 250 + 250) / 3.0) < 0.01);
    assert_true(fabs(path->groups[TASKS_ALL].waits_ns - (0 + 200 + 150) / 3.0) < 0.01);
    task_path_free(path);
    dependencies_free(all);
}

/* While they wait, what the worker does for others is on their path. */
static void who_waits_hangs_on_what_the_worker_does(void **state) {
    (void)state;
    struct dependencies *all = three_jobs();
    struct task_path *path = path_of(all, 0);
    double waits_ns = path_in(path, TASK_WAITS, PATH_COMPUTING, TASKS_ALL);
    double in_work_ns = path_in(path, TASK_IN_WORK, PATH_COMPUTING, TASKS_ALL);
    assert_true(fabs(waits_ns - 350 / 3.0) < 0.01);
    assert_true(fabs(in_work_ns - 450 / 3.0) < 0.01);
    assert_true(path_in(path, TASK_WAITS, PATH_SLEEPING, TASKS_ALL) == 0);
    task_path_free(path);
    dependencies_free(all);
}

static void the_slowest_are_told_beside_all(void **state) {
    (void)state;
    struct dependencies *all = three_jobs();
    struct task_path *path = path_of(all, 0.66);
    assert_int_equal(path->n_slowest, 1);
    assert_true(path->at_least_ns == 300);
    assert_true(path->groups[TASKS_SLOWEST].response_ns == 300);
    assert_true(path->groups[TASKS_SLOWEST].waits_ns == 0);
    assert_true(path_in(path, TASK_IN_WORK, PATH_COMPUTING, TASKS_SLOWEST) == 300);
    task_path_free(path);
    dependencies_free(all);
}

/* Times between the ends of steps cut the pieces there. */
static void a_task_may_begin_and_be_taken_within_a_step(void **state) {
    (void)state;
    struct dependencies *all = three_jobs();
    all->task_kind = memory_strdup("requests");
    all->n_tasks = 1;
    all->tasks = memory_alloc(1, sizeof *all->tasks);
    uint32_t taken = NONE, end = NONE;
    for (uint32_t i = 0; i < all->n_steps; i++) {
        taken =
            all->steps[i].operation == OPERATION_UNLOCK && all->steps[i].end_ns == 400 ? i : taken;
        end = all->steps[i].operation == OPERATION_UNLOCK && all->steps[i].end_ns == 450 ? i : end;
    }
    all->tasks[0] = (struct dependency_task){.begin_ns = 30, .end_ns = 450, taken, end};
    struct task_path *path = path_of(all, 0.99);
    assert_string_equal(path->what, "requests");
    assert_true(path_in(path, TASK_WAITS, PATH_SLEEPING, TASKS_ALL) == 70);
    assert_true(path_in(path, TASK_WAITS, PATH_COMPUTING, TASKS_ALL) == 300);
    assert_true(path_in(path, TASK_IN_WORK, PATH_COMPUTING, TASKS_ALL) == 50);
    task_path_free(path);
    dependencies_free(all);
}

static void without_tasks_that_is_said(void **state) {
    (void)state;
    struct dependencies *all = steps_new(&names, 2);
    struct error error;
    add(all, MAIN, STEP_COMPUTE, 100);
    assert_null(critical_path_of_tasks(all, 0.99, &error));
    assert_non_null(strstr(error.text, "--task-begin"));
    dependencies_free(all);
}

static void tasks_are_kept(void **state) {
    (void)state;
    struct dependencies *all = three_jobs();
    all->task_kind = memory_strdup("marked tasks");
    all->n_tasks = 1;
    all->tasks = memory_alloc(1, sizeof *all->tasks);
    all->tasks[0] = (struct dependency_task){100, 400, NONE, 7};
    struct error error;
    char *path = scratch_folder_path("tasks.persik");
    assert_int_equal(dependencies_save(all, path, &error), 0);
    struct dependencies *read = dependencies_load(path, &error);
    assert_non_null(read);
    assert_string_equal(read->task_kind, "marked tasks");
    assert_int_equal(read->n_tasks, 1);
    assert_memory_equal(read->tasks, all->tasks, sizeof *all->tasks);
    dependencies_free(read);
    all->tasks[0].end = (uint32_t)all->n_steps; /* which is none */
    assert_int_equal(dependencies_save(all, path, &error), 0);
    assert_null(dependencies_load(path, &error));
    assert_non_null(strstr(error.text, "a task"));
    free(path);
    dependencies_free(all);
}

/* ---- traces ---- */

#define END 10000

static struct trace *new_trace(int workers) {
    struct trace *trace = builder_new_with_workers(workers);
    for (int t = 0; t <= workers; t++)
        builder_run(trace, t, (uint32_t)t, 0, 0, END, false);
    builder_finish(trace, END);
    return trace;
}

static void mark(struct trace *trace, int thread, enum api role, uint64_t time_ns) {
    struct trace_record *record = builder_call(trace, thread, "sched_yield", time_ns, time_ns, 0,
                                               builder_context(trace, "mark", 5, "worker", 100));
    record->api = (uint16_t)role;
}

static struct dependencies *made_of(struct trace *trace) {
    struct dependencies *all = modelgen_dependencies(trace, NULL);
    trace_free(trace);
    return all;
}

static void marks_of_a_thread_are_tasks(void **state) {
    (void)state;
    struct trace *trace = new_trace(1);
    mark(trace, 1, ROLE_task_from, 1000);
    mark(trace, 1, ROLE_task_until, 1500);
    mark(trace, 1, ROLE_task_from, 1500);
    mark(trace, 1, ROLE_task_until, 1700);
    mark(trace, 1, ROLE_task_until, 1800); /* of none */
    mark(trace, 1, ROLE_task_from, 1900);  /* that does not end */
    struct dependencies *all = made_of(trace);
    assert_string_equal(all->task_kind, "marked tasks");
    assert_int_equal(all->n_tasks, 2);
    assert_int_equal(all->tasks[0].begin_ns, 1000);
    assert_int_equal(all->tasks[0].end_ns, 1500);
    assert_int_equal(all->tasks[1].begin_ns, 1500);
    assert_int_equal(all->tasks[1].end_ns, 1700);
    dependencies_free(all);
}

/* MAIN begins a task and puts it into a queue; WORKER takes it and ends it. */
static void an_item_brings_a_task_to_another_thread(void **state) {
    (void)state;
    enum { QUEUE = 0x5000 };
    struct trace *trace = new_trace(1);
    uint32_t in = builder_context(trace, "use", 10, "worker", 100);
    builder_record(trace, 0, "user:create_queue", 10, 0, QUEUE, in, 4);
    mark(trace, 0, ROLE_task_from, 1000);
    builder_call(trace, 0, "user:put", 1200, 1200, QUEUE, in);
    mark(trace, 0, ROLE_task_from, 1300);
    builder_call(trace, 0, "user:put", 1400, 1400, QUEUE, in);
    builder_call(trace, 1, "user:get", 2000, 2000, QUEUE, in);
    mark(trace, 1, ROLE_task_until, 2500);
    builder_call(trace, 1, "user:get", 2600, 2600, QUEUE, in);
    mark(trace, 1, ROLE_task_until, 2900);
    struct dependencies *all = made_of(trace);
    assert_int_equal(all->n_tasks, 2);
    assert_int_equal(all->tasks[0].begin_ns, 1000);
    assert_int_equal(all->tasks[0].end_ns, 2500);
    assert_int_equal(all->steps[all->tasks[0].taken].end_ns, 2000);
    assert_int_equal(all->tasks[1].begin_ns, 1300);
    assert_int_equal(all->tasks[1].end_ns, 2900);
    assert_int_equal(all->steps[all->tasks[1].taken].end_ns, 2600);
    dependencies_free(all);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jobs_last_from_their_put_until_who_took_them_comes_again),
        cmocka_unit_test(who_waits_hangs_on_what_the_worker_does),
        cmocka_unit_test(the_slowest_are_told_beside_all),
        cmocka_unit_test(a_task_may_begin_and_be_taken_within_a_step),
        cmocka_unit_test(without_tasks_that_is_said),
        cmocka_unit_test(tasks_are_kept),
        cmocka_unit_test(marks_of_a_thread_are_tasks),
        cmocka_unit_test(an_item_brings_a_task_to_another_thread),
    };
    return cmocka_run_group_tests(tests, scratch_folder_make, scratch_folder_remove);
}
