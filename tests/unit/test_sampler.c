/* What the sampler makes of stacks, without running anything: trie, pools, functions, folded
 * stacks, and sample.json. */
/* tests/run: beside others */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "formats/sample.h"
#include "sampler/pools.h"
#include "sampler/profile.h"
#include "sampler/trie.h"

/* ---- trie ---- */

static void trie_keeps_chains_apart_and_adds_up_threads(void **state) {
    (void)state;
    struct trie trie = TRIE_EMPTY;
    int a = trie_child(&trie, TRIE_ROOT, 7);
    int b = trie_child(&trie, a, 8);
    int other = trie_child(&trie, trie_child(&trie, TRIE_ROOT, 9), 8);
    assert_int_equal(trie_child(&trie, a, 8), b);
    assert_int_not_equal(other, b);
    assert_int_equal(trie.count, 4);
    trie_add(&trie, b, 0, false, 2);
    trie_add(&trie, b, 5, false, 3);
    trie_add(&trie, b, 5, true, 10);
    assert_int_equal(trie.items[b].n_counts, 2);
    assert_int_equal(trie_running(&trie.items[b]), 5);
    assert_int_equal(trie_blocked(&trie.items[b]), 10);
    trie_free(&trie);
}

/* ---- the paper's pools ---- */

struct tuple {
    int threads[8];
    size_t n;
    uint64_t count;
};

static void assign(const struct tuple *tuples, size_t n, int *pool_of) {
    struct pools_tuples counted = {NULL, 0, 0};
    for (size_t i = 0; i < n; i++)
        sample_pools_add(&counted, tuples[i].threads, tuples[i].n, tuples[i].count);
    sample_pools_assign(&counted, pool_of);
    sample_pools_free(&counted);
}

static void pools_of_the_papers_example(void **state) {
    (void)state;
    const struct tuple tuples[] = {
        {{1}, 1, 268}, {{2, 3}, 2, 2556}, {{4, 5}, 2, 660}, {{4}, 1, 12}, {{5}, 1, 25},
    };
    int pool_of[6] = {-1, -1, -1, -1, -1, -1};
    assign(tuples, 5, pool_of);
    const int expected[6] = {-1, 0, 1, 1, 2, 2};
    assert_memory_equal(pool_of, expected, sizeof expected);
}

static void tuples_of_several_locations_add_up(void **state) {
    (void)state;
    /* {1} alone would be spurious against either half of {1, 2} only if they add up. */
    const struct tuple tuples[] = {{{1, 2}, 2, 60}, {{1}, 1, 11}, {{1, 2}, 2, 60}};
    int pool_of[3] = {-1, -1, -1};
    assign(tuples, 3, pool_of);
    assert_int_equal(pool_of[1], 0);
    assert_int_equal(pool_of[2], 0);
}

static void pools_that_share_a_function_stay_apart(void **state) {
    (void)state;
    const struct tuple tuples[] = {{{0, 1}, 2, 900}, {{2, 3}, 2, 800}, {{0, 1, 2, 3}, 4, 850}};
    int pool_of[4] = {-1, -1, -1, -1};
    assign(tuples, 3, pool_of);
    const int expected[4] = {0, 0, 1, 1};
    assert_memory_equal(pool_of, expected, sizeof expected);
}

static void a_contained_tuple_with_a_like_count_is_a_pool(void **state) {
    (void)state;
    const struct tuple tuples[] = {{{0, 1}, 2, 500}, {{0}, 1, 400}};
    int pool_of[2] = {-1, -1};
    assign(tuples, 2, pool_of);
    assert_int_equal(pool_of[0], 1);
    assert_int_equal(pool_of[1], 0);
}

/* ---- profiles ---- */

enum {
    MAIN,
    READER,
    WORKER,
    WORKER_LATER, /* the same function at another line */
    COPY,
    LOCK,
    GENERIC,
    TASK_A,
    TASK_B,
    N_SYMBOLS
};

static const struct symbol symbols[N_SYMBOLS] = {
    [MAIN] = {"main", "prog.c", 10, "prog"},
    [READER] = {"reader", "prog.c", 20, "prog"},
    [WORKER] = {"worker", "prog.c", 30, "prog"},
    [WORKER_LATER] = {"worker", "prog.c", 33, "prog"},
    [COPY] = {"copy", "copy.c", 5, "prog"},
    [LOCK] = {"lock", NULL, 0, "libx.so"},
    [GENERIC] = {"thread_main", NULL, 0, "libx.so"},
    [TASK_A] = {"task_a", "prog.c", 40, "prog"},
    [TASK_B] = {"task_b", "prog.c", 50, "prog"},
};

/* `samples` of `thread` at the end of a chain of two calls. */
static void see(struct trie *trie, int thread, int outer, int inner, bool blocked,
                uint64_t samples) {
    trie_add(trie, trie_child(trie, trie_child(trie, TRIE_ROOT, outer), inner), thread, blocked,
             samples);
}

static struct sample *describe(struct trie *trie, size_t n_threads) {
    const struct profile_calls calls = {*trie, symbols, n_threads, "prog"};
    struct sample *sample = memory_alloc(1, sizeof *sample);
    sample->rate_hz = 100;
    profile_describe(&calls, sample);
    trie_free(trie);
    return sample;
}

/* main waits, a reader and two workers copy, the second worker also locks. */
static struct sample *build_usual(void) {
    struct trie trie = TRIE_EMPTY;
    see(&trie, 0, MAIN, LOCK, true, 100);
    see(&trie, 1, READER, COPY, false, 40);
    see(&trie, 2, WORKER, COPY, false, 60);
    see(&trie, 3, WORKER_LATER, COPY, false, 1);
    see(&trie, 3, WORKER_LATER, LOCK, true, 70);
    return describe(&trie, 5);
}

static void a_start_routine_of_the_program_is_one_pool(void **state) {
    (void)state;
    struct sample *sample = build_usual();
    assert_int_equal(sample->n_threads, 5); /* thread 4 was never seen */
    assert_int_equal(sample->n_pools, 3);
    assert_string_equal(sample->pools[0].name, "main");
    assert_string_equal(sample->pools[1].name, "reader");
    assert_string_equal(sample->pools[2].name, "worker");
    assert_int_equal(sample->pools[2].n_threads, 2);
    assert_int_equal(sample->pools[2].threads[0], 2);
    assert_int_equal(sample->pools[2].threads[1], 3);
    assert_int_equal(sample->pools[2].running, 61);
    assert_int_equal(sample->pools[2].blocked, 70);
    assert_int_equal(sample->samples, 271);
    sample_free(sample);
}

static void a_librarys_start_routine_is_split_by_what_its_threads_do(void **state) {
    (void)state;
    struct trie trie = TRIE_EMPTY;
    see(&trie, 0, MAIN, LOCK, true, 100);
    for (int thread = 1; thread <= 4; thread++) {
        see(&trie, thread, GENERIC, thread <= 2 ? TASK_A : TASK_B, false, 200);
        see(&trie, thread, GENERIC, LOCK, true, 100);
    }
    struct sample *sample = describe(&trie, 5);
    assert_int_equal(sample->n_pools, 3);
    assert_string_equal(sample->pools[1].name, "task_a");
    assert_string_equal(sample->pools[2].name, "task_b");
    assert_int_equal(sample->pools[1].threads[1], 2);
    assert_int_equal(sample->pools[2].threads[0], 3);
    sample_free(sample);
}

static void library_functions_have_several_callers(void **state) {
    (void)state;
    struct trie trie = TRIE_EMPTY;
    see(&trie, 0, MAIN, COPY, false, 1);
    see(&trie, 0, READER, COPY, false, 1);
    see(&trie, 0, WORKER, LOCK, false, 1);
    see(&trie, 0, WORKER_LATER, LOCK, false, 1); /* the same caller at another line */
    see(&trie, 0, TASK_A, TASK_A, false, 1);     /* recursion */
    see(&trie, 0, MAIN, TASK_A, false, 1);
    struct sample *sample = describe(&trie, 1);
    assert_int_equal(sample->n_library_functions, 1);
    assert_string_equal(sample->library_functions[0], "copy");
    sample_free(sample);
}

static void reached_functions_are_sorted_unique_and_know_their_file(void **state) {
    (void)state;
    struct sample *sample = build_usual();
    const char *const expected[] = {"copy", "lock", "main", "reader", "worker"};
    assert_int_equal(sample->n_functions, 5);
    for (size_t i = 0; i < 5; i++)
        assert_string_equal(sample->functions[i], expected[i]);
    assert_string_equal(sample->function_files[0], "copy.c");
    assert_null(sample->function_files[1]);
    sample_free(sample);
}

/* ---- files ---- */

static char *temporary_path(void) {
    char *path = memory_strdup("/tmp/persik-test-XXXXXX");
    int descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    close(descriptor);
    return path;
}

static void drop(char *path) {
    unlink(path);
    free(path);
}

static char *read_file(const char *path) {
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    char *text = memory_alloc(1, 100000);
    text[fread(text, 1, 99999, file)] = '\0';
    fclose(file);
    return text;
}

static void write_text(const char *path, const char *text) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static void folded_stacks_are_summed_sorted_and_marked(void **state) {
    (void)state;
    struct trie trie = TRIE_EMPTY;
    see(&trie, 0, WORKER, COPY, false, 4);
    see(&trie, 1, WORKER_LATER, COPY, false, 3);
    see(&trie, 1, WORKER_LATER, LOCK, true, 9);
    trie_add(&trie, trie_child(&trie, TRIE_ROOT, MAIN), 0, false, 1);
    struct sample *sample = describe(&trie, 2);
    char *path = temporary_path();
    struct error error;
    assert_int_equal(profile_write_folded(sample, path, &error), 0);
    char *text = read_file(path);
    assert_string_equal(text, "main 1\nworker;copy 7\nworker;lock [blocked] 9\n");
    free(text);
    drop(path);
    sample_free(sample);
}

static void a_saved_sample_is_read_back_the_same(void **state) {
    (void)state;
    struct sample *sample = build_usual();
    sample->exit_status = 9;
    sample->run_ns = 123456789012;
    sample->rate_hz = 99.5;
    sample->failed_unwinds = 3;
    sample->libraries = memory_alloc(1, sizeof *sample->libraries);
    sample->libraries[sample->n_libraries++] = memory_strdup("/lib/libwork.so");
    sample->program = memory_strdup("/opt/a \"server\"");
    char *path = temporary_path(), *again = temporary_path();
    struct error error;
    assert_int_equal(sample_save(sample, path, &error), 0);
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);
    struct sample *read = sample_load(path, &error);
    assert_non_null(read);
    assert_int_equal(read->exit_status, 9);
    assert_int_equal(read->run_ns, 123456789012);
    assert_true(read->rate_hz == 99.5);
    assert_int_equal(read->n_nodes, sample->n_nodes);
    assert_int_equal(read->n_pools, 3);
    assert_null(read->function_files[1]);
    assert_int_equal(read->n_libraries, 1);
    assert_string_equal(read->libraries[0], "/lib/libwork.so");
    assert_string_equal(read->program, "/opt/a \"server\"");
    assert_int_equal(sample_save(read, again, &error), 0);
    char *first = read_file(path), *second = read_file(again);
    assert_string_equal(first, second);
    free(first);
    free(second);
    drop(path);
    drop(again);
    sample_free(read);
    sample_free(sample);
}

#define HEAD                                                                                       \
    "{\"version\":1,\"exit_status\":0,\"rate_hz\":100,\"run_ns\":1,\"samples\":1,"                 \
    "\"failed_unwinds\":0,\"n_threads\":1,\"functions\":[{\"name\":\"f\"}],"                       \
    "\"library_functions\":[],"
#define POOLS "\"pools\":[{\"name\":\"f\",\"threads\":[0],\"running\":1,\"blocked\":0}],"
#define NODE(parent)                                                                               \
    "{\"parent\":" #parent ",\"function\":\"f\",\"line\":1,\"module\":\"m\",\"running\":1,"        \
    "\"blocked\":0}"

static void broken_samples_are_refused_by_place(void **state) {
    (void)state;
    static const struct {
        const char *text, *complaint; /* NULL: none */
    } cases[] = {
        {HEAD POOLS "\"nodes\":[" NODE(-1) "]}", NULL},
        {"{\"version\":2,\"new\":1}", "version 2 is newer than this persik"},
        {"{}", "version: missing"},
        {"[1]", "version: missing"},
        {"{\"version\":1}", "exit_status: missing"},
        {HEAD POOLS "\"nodes\":[" NODE(-1), "cut short"},
        {"", "cut short"},
        {HEAD POOLS "\"nodes\":[" NODE(0) "]}", "nodes[0].parent: does not come before"},
        {HEAD POOLS "\"nodes\":[" NODE(-2) "]}", "nodes[0].parent: out of range"},
        {HEAD POOLS "\"nodes\":[" NODE("x") "]}", "nodes[0].parent: missing or not a whole"},
        {HEAD POOLS "\"nodes\":[7]}", "nodes[0].parent: missing"},
        {HEAD POOLS "\"nodes\":{}}", "nodes: missing or not a list"},
        {HEAD "\"pools\":[{\"name\":\"f\",\"threads\":[1],\"running\":1,\"blocked\":0}],"
              "\"nodes\":[]}",
         "pools[0].threads: holds something that is no thread"},
        {HEAD "\"pools\":[{\"name\":3,\"threads\":[],\"running\":1,\"blocked\":0}],\"nodes\":[]}",
         "pools[0].name: missing or not a text"},
        {HEAD "\"pools\":[{\"name\":\"f\",\"threads\":[0],\"running\":-1,\"blocked\":0}],"
              "\"nodes\":[]}",
         "pools[0].running: out of range"},
    };
    char *path = temporary_path();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct error error = {0};
        write_text(path, cases[i].text);
        struct sample *sample = sample_load(path, &error);
        assert_int_equal(sample == NULL, cases[i].complaint != NULL);
        if (cases[i].complaint && !strstr(error.text, cases[i].complaint))
            fail_msg("case %zu: \"%s\" does not say \"%s\"", i, error.text, cases[i].complaint);
        assert_null(strchr(error.text, '\n'));
        sample_free(sample);
    }
    drop(path);
}

static void a_missing_file_and_an_impossible_folder_are_told(void **state) {
    (void)state;
    struct error error = {0};
    assert_null(sample_load("/nonexistent/sample.json", &error));
    assert_non_null(strstr(error.text, "run `persik sample` first"));
    struct sample *sample = build_usual();
    assert_int_equal(sample_save(sample, "/nonexistent/sample.json", &error), -1);
    assert_non_null(strstr(error.text, "cannot write the samples"));
    sample_free(sample);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trie_keeps_chains_apart_and_adds_up_threads),
        cmocka_unit_test(pools_of_the_papers_example),
        cmocka_unit_test(tuples_of_several_locations_add_up),
        cmocka_unit_test(pools_that_share_a_function_stay_apart),
        cmocka_unit_test(a_contained_tuple_with_a_like_count_is_a_pool),
        cmocka_unit_test(a_start_routine_of_the_program_is_one_pool),
        cmocka_unit_test(a_librarys_start_routine_is_split_by_what_its_threads_do),
        cmocka_unit_test(library_functions_have_several_callers),
        cmocka_unit_test(reached_functions_are_sorted_unique_and_know_their_file),
        cmocka_unit_test(folded_stacks_are_summed_sorted_and_marked),
        cmocka_unit_test(a_saved_sample_is_read_back_the_same),
        cmocka_unit_test(broken_samples_are_refused_by_place),
        cmocka_unit_test(a_missing_file_and_an_impossible_folder_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
