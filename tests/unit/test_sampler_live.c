/* The sampler on real programs: tests/programs/sampled_*.c, compiled here in several ways. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"
#include "formats/sample.h"
#include "sampler/sampler.h"
#include "tests/unit/scratch_folder.h"
#include "tracer/host.h"

#define RATE_HZ 500

/* Compiles tests/programs/`name`.c into the folder; the path of the result, the caller's. */
static char *compile(const char *name, const char *flags) {
    int room = (int)(strrchr(__FILE__, '/') - __FILE__);
    char *binary = memory_format("%s/%s", scratch_folder, name);
    char *command = memory_format("gcc -g %s -o %s %.*s/../programs/%s.c -lpthread -ldl "
                                  "2>%s/warnings",
                                  flags, binary, room, __FILE__, name, scratch_folder);
    if (system(command) != 0)
        fail_msg("%s", command);
    free(command);
    return binary;
}

/* Of the samples that are due, so many may be missing: the host of a virtual machine that takes a
 * core away takes the sample with it, and the thread's CPU clock does not count that time. */
static uint64_t missing;

/* Runs and samples the program; skips the test where sampling is not permitted. */
static struct sample *sample_program(char *const *args) {
    const struct sampler_options options = {
        .args = args, .directory = scratch_folder, .rate_hz = RATE_HZ};
    struct error error = {0};
    double stolen_ns = host_use().stolen_ns;
    int status = sampler_run(&options, &error);
    missing = (uint64_t)((host_use().stolen_ns - stolen_ns) / 1e9 * RATE_HZ);
    if (status != 0) {
        if (strstr(error.text, "not permitted")) {
            print_message("skipped: %s\n", error.text);
            skip();
        }
        fail_msg("%s", error.text);
    }
    char *path = memory_format("%s/sample.json", scratch_folder);
    struct sample *sample = sample_load(path, &error);
    free(path);
    if (!sample)
        fail_msg("%s", error.text);
    return sample;
}

static bool is_below(const struct sample *sample, int node, const char *function) {
    for (; node >= 0; node = sample->nodes[node].parent)
        if (strcmp(sample->nodes[node].function, function) == 0)
            return true;
    return false;
}

/* Samples whose stack is: `start` outermost, `function` somewhere further in. */
static uint64_t count_in(const struct sample *sample, const char *start, const char *function,
                         bool blocked) {
    uint64_t sum = 0;
    for (int i = 0; i < (int)sample->n_nodes; i++) {
        int outermost = i;
        while (sample->nodes[outermost].parent >= 0)
            outermost = sample->nodes[outermost].parent;
        if (strcmp(sample->nodes[outermost].function, start) == 0 && is_below(sample, i, function))
            sum += blocked ? sample->nodes[i].blocked : sample->nodes[i].running;
    }
    return sum;
}

static const struct sample_pool *find_pool(const struct sample *sample, const char *name) {
    for (size_t i = 0; i < sample->n_pools; i++)
        if (strcmp(sample->pools[i].name, name) == 0)
            return &sample->pools[i];
    fail_msg("no pool %s", name);
    return NULL;
}

/* Half a second of CPU time is 250 samples of the computing thread, give or take some. */
enum { LEAST_COMPUTED = 200, MOST_COMPUTED = 300, ATTEMPTS = 3 };

/* A host may also take cores without telling, but not each time: what is sampled then counts. */
static struct sample *sample_undisturbed(char *const *args, const char *computing) {
    for (int i = 1;; i++) {
        struct sample *sample = sample_program(args);
        if (i == ATTEMPTS ||
            count_in(sample, "computer_run", computing, false) + missing >= LEAST_COMPUTED)
            return sample;
        sample_free(sample);
    }
}

/* Its caller frees what it checked. */
static struct sample *check_threads(char *const *args, const char *computing) {
    struct sample *sample = sample_undisturbed(args, computing);
    assert_int_equal(sample->exit_status, 0);
    assert_int_equal(sample->n_threads, 3);
    assert_int_equal(sample->n_pools, 3);
    uint64_t computed = count_in(sample, "computer_run", computing, false);
    assert_in_range(computed + (missing < 150 ? missing : 150), LEAST_COMPUTED,
                    MOST_COMPUTED + missing);
    assert_true(computed * 10 > find_pool(sample, "computer_run")->running * 9);
    assert_true(count_in(sample, "sleeper_run", "sleep_here", true) > 100);
    assert_true(count_in(sample, "main", "main", true) > 100);
    assert_true(find_pool(sample, "sleeper_run")->running < 20);
    assert_true(find_pool(sample, "computer_run")->blocked < 20);
    assert_int_equal(find_pool(sample, "main")->threads[0], 0);
    assert_true(sample->failed_unwinds * 20 < sample->samples);
    return sample;
}

static void check_build(const char *flags) {
    char *binary = compile("sampled_threads", flags);
    sample_free(check_threads((char *[]){binary, NULL}, "compute_here"));
    free(binary);
}

static void threads_are_found_without_frame_pointers(void **state) {
    (void)state;
    check_build("-O2 -fomit-frame-pointer");
}

static void threads_are_found_without_optimisation(void **state) {
    (void)state;
    check_build("-O0");
}

static void threads_are_found_in_a_static_program(void **state) {
    (void)state;
    check_build("-O2 -static");
}

static void functions_have_names_without_debug_information(void **state) {
    (void)state;
    check_build("-O2 -g0");
}

static void code_loaded_at_run_time_is_found(void **state) {
    (void)state;
    char *binary = compile("sampled_threads", "-O2");
    char *plugin = compile("sampled_plugin", "-O2 -shared -fPIC");
    sample_free(check_threads((char *[]){binary, plugin, NULL}, "plugin_compute"));
    free(binary);
    free(plugin);
}

static void lines_and_files_are_known(void **state) {
    (void)state;
    char *binary = compile("sampled_threads", "-O2");
    struct sample *sample = sample_program((char *[]){binary, NULL});
    bool found = false;
    for (size_t i = 0; i < sample->n_nodes; i++) {
        const struct sample_node *node = &sample->nodes[i];
        if (strcmp(node->function, "compute_here") != 0 || node->running == 0)
            continue;
        assert_non_null(node->file);
        assert_non_null(strstr(node->file, "sampled_threads.c"));
        assert_true(node->line > 0);
        assert_string_equal(node->module, "sampled_threads");
        found = true;
    }
    assert_true(found);
    sample_free(sample);
    free(binary);
}

static void no_system_call_is_interrupted(void **state) {
    (void)state;
    char *binary = compile("sampled_waits", "-O2");
    struct sample *sample = sample_program((char *[]){binary, NULL});
    assert_int_equal(sample->exit_status, 0);
    assert_true(count_in(sample, "wait_in_epoll", "wait_in_epoll", true) > 50);
    assert_true(count_in(sample, "wait_in_nanosleep", "wait_in_nanosleep", true) > 50);
    assert_true(count_in(sample, "wait_in_read", "wait_in_read", true) > 50);
    sample_free(sample);
    free(binary);
}

/* 125 samples of each are due, most of them in the vdso. Samples at equal distances would all be of
 * one of them. */
static void a_program_in_step_with_the_samples_is_seen_as_it_is(void **state) {
    (void)state;
    char *binary = compile("sampled_steps", "-O2");
    struct sample *sample = sample_program((char *[]){binary, NULL});
    assert_int_equal(sample->exit_status, 0);
    assert_true(sample->failed_unwinds * 20 < sample->samples);
    assert_true(count_in(sample, "main", "step_left", false) + missing > 75);
    assert_true(count_in(sample, "main", "step_right", false) + missing > 75);
    sample_free(sample);
    free(binary);
}

static void a_program_that_is_killed_leaves_its_samples(void **state) {
    (void)state;
    struct sample *sample =
        sample_program((char *[]){"sh", "-c",
                                  "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; "
                                  "kill -9 $$",
                                  NULL});
    assert_true(WIFSIGNALED(sample->exit_status));
    assert_int_equal(WTERMSIG(sample->exit_status), SIGKILL);
    assert_true(sample->samples > 0);
    sample_free(sample);
}

/* The program asks for it itself: it signals its parent, which is this process. */
static void a_signal_to_the_sampler_ends_the_program(void **state) {
    (void)state;
    struct sample *sample =
        sample_program((char *[]){"sh", "-c", "kill -TERM $PPID; exec sleep 60", NULL});
    assert_true(WIFSIGNALED(sample->exit_status));
    assert_int_equal(WTERMSIG(sample->exit_status), SIGTERM);
    sample_free(sample);
}

static void a_wrapper_that_execs_leaves_no_trace(void **state) {
    (void)state;
    char *binary = compile("sampled_threads", "-O2");
    char *const args[] = {
        "sh", "-c", "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; exec \"$0\"", binary, NULL};
    struct sample *sample = check_threads(args, "compute_here");
    for (size_t i = 0; i < sample->n_nodes; i++)
        assert_string_not_equal(sample->nodes[i].module, "dash");
    sample_free(sample);
    free(binary);
}

static void assert_refused(const char *program, const char *complaint) {
    char *const args[] = {(char *)program, NULL};
    const struct sampler_options options = {
        .args = args, .directory = scratch_folder, .rate_hz = RATE_HZ};
    struct error error = {0};
    assert_int_equal(sampler_run(&options, &error), -1);
    if (!strstr(error.text, complaint) && !strstr(error.text, "not permitted"))
        fail_msg("\"%s\" does not say \"%s\"", error.text, complaint);
}

static void what_cannot_run_is_told(void **state) {
    (void)state;
    assert_refused("/nonexistent/program", "no such program");
    assert_refused(scratch_folder, "not executable");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_are_found_without_frame_pointers),
        cmocka_unit_test(threads_are_found_without_optimisation),
        cmocka_unit_test(threads_are_found_in_a_static_program),
        cmocka_unit_test(functions_have_names_without_debug_information),
        cmocka_unit_test(code_loaded_at_run_time_is_found),
        cmocka_unit_test(lines_and_files_are_known),
        cmocka_unit_test(no_system_call_is_interrupted),
        cmocka_unit_test(a_program_in_step_with_the_samples_is_seen_as_it_is),
        cmocka_unit_test(a_program_that_is_killed_leaves_its_samples),
        cmocka_unit_test(a_signal_to_the_sampler_ends_the_program),
        cmocka_unit_test(a_wrapper_that_execs_leaves_no_trace),
        cmocka_unit_test(what_cannot_run_is_told),
    };
    return cmocka_run_group_tests(tests, scratch_folder_make, scratch_folder_remove);
}
