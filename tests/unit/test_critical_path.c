/* The longest path through steps written by hand, and the file that keeps them. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/memory.h"
#include "critical-path/critical_path.h"
#include "tests/unit/scratch_folder.h"
#include "tests/unit/steps_builder.h"

enum { MAIN, WORKER };
enum { IN_MAIN, IN_WORK };
enum { LOCK };

static const struct steps_names names = {
    .threads = {"main", "work"},
    .places = {"main", "work"},
    .objects = {{.kind = "mutex", .name = "struct jobs.lock"}}};

/* What threads do at the ends of their steps is not known. */
static struct dependencies *new_run(void) {
    struct dependencies *all = steps_new(&names, 2);
    all->has_operations = false;
    return all;
}

/* MAIN computes 100, then waits for WORKER, which sleeps 700 from the start with the lock and whose
 * release MAIN gets 10 later; MAIN computes 90 more. */
static struct dependencies *two_threads(void) {
    struct dependencies *all = new_run();
    steps_add(all, MAIN, IN_MAIN, STEP_COMPUTE, 100);
    steps_add(all, WORKER, IN_WORK, STEP_SLEEP, 700)->object = LOCK;
    struct dependency_step *wait = steps_add(all, MAIN, IN_MAIN, STEP_BLOCKED, 710);
    wait->cause = 1;
    wait->cause_kind = LINK_LOCK;
    wait->object = LOCK;
    steps_add(all, MAIN, IN_MAIN, STEP_COMPUTE, 800);
    return all;
}

/* MAIN locks for 100 every 100. Twice WORKER comes while it does; waking it takes MAIN 10, and 50
 * more before it locks again. */
static struct dependencies *some_wakings(void) {
    enum { ROUNDS = 6 };
    struct dependencies *all = steps_new(&names, 2);
    uint64_t now_ns = 0;
    for (int round = 0; round < ROUNDS; round++) {
        bool wakes = round == 2 || round == 4;
        steps_act(all, MAIN, IN_MAIN, STEP_COMPUTE, now_ns += 100, OPERATION_LOCK, LOCK);
        if (wakes)
            steps_add(all, WORKER, IN_WORK, STEP_COMPUTE, now_ns + 50);
        steps_act(all, MAIN, IN_MAIN, STEP_COMPUTE, now_ns += 100, OPERATION_UNLOCK, LOCK);
        if (!wakes)
            continue;
        steps_add(all, MAIN, IN_MAIN, STEP_COMPUTE, now_ns += 10);
        struct dependency_step *wait = steps_add(all, WORKER, IN_WORK, STEP_BLOCKED, now_ns);
        wait->cause = (uint32_t)all->n_steps - 2;
        wait->cause_kind = LINK_LOCK;
        wait->object = LOCK;
        wait->in_call = 1;
        steps_act(all, WORKER, IN_WORK, STEP_COMPUTE, now_ns + 1, OPERATION_LOCK, LOCK)->in_call =
            1;
        steps_act(all, WORKER, IN_WORK, STEP_COMPUTE, now_ns + 2, OPERATION_UNLOCK, LOCK);
        now_ns += 50;
    }
    all->run_ns = now_ns;
    return all;
}

static double predict(const struct dependencies *all, enum scale_of of, const char *name,
                      double factor) {
    struct scale scale = {.of = of, .name = name, .factor = factor};
    struct what_if predicted = critical_path_predict(all, &scale, 1, 0);
    assert_true(scale.n_steps > 0);
    return predicted.as_recorded_ns;
}

static void the_path_follows_what_ended_the_wait(void **state) {
    (void)state;
    struct error error;
    struct dependencies *all = two_threads();
    struct critical_path *path = critical_path_find(all, &error);
    assert_true(path->checks.traced_ns == 800 && path->checks.as_recorded_ns == 800);
    assert_int_equal(path->rows[0].subject, PATH_SLEEPING);
    assert_string_equal(path->rows[0].name, "work (t.c:11)");
    assert_true(path->rows[0].path_ns == 700 && path->rows[0].least_slack_ns == 0);
    assert_true(path->threads[WORKER].path_ns == 700 && path->threads[MAIN].path_ns == 100);
    assert_int_equal(path->objects[LOCK].handed, 1);
    assert_true(path->objects[LOCK].held_ns == 700);
    assert_true(path->checks.explained_ns == path->checks.blocked_ns);
    critical_path_free(path);
    dependencies_free(all);
}

/* MAIN's first 100 may take 600 more before anybody notices. */
static void slack_is_what_the_end_does_not_notice(void **state) {
    (void)state;
    struct error error;
    struct dependencies *all = two_threads();
    double slack_ns = 0;
    all->steps[0].place = NONE; /* a row of its own, by the thread's name */
    struct critical_path *path = critical_path_find(all, &error);
    for (size_t r = 0; r < path->n_rows; r++)
        if (path->rows[r].subject == PATH_COMPUTING && strcmp(path->rows[r].name, "main") == 0) {
            slack_ns = path->rows[r].least_slack_ns;
        }
    assert_true(slack_ns == 610);
    critical_path_free(path);
    dependencies_free(all);
}

/* What a sleep lasts longer than it was asked to does not change, so half of 700 ms is a bit more.
 */
static void half_a_sleep_is_half_of_what_was_asked_for(void **state) {
    (void)state;
    struct dependencies *all = two_threads();
    for (size_t i = 0; i < all->n_steps; i++)
        all->steps[i].end_ns *= 1000000;
    double half_ns = 350e6 + 25000 + 10e6 + 90e6;
    assert_true(predict(all, SCALE_SLEEPS, "work", 0.5) == half_ns);
    assert_true(predict(all, SCALE_HOLDING, "jobs.lock", 0.5) == half_ns);
    dependencies_free(all);
}

static void changed_weights_move_the_path(void **state) {
    (void)state;
    struct dependencies *all = two_threads();
    assert_true(predict(all, SCALE_SLEEPS, "work", 0) == 100 + 90); /* then nobody is waited for */
    assert_true(predict(all, SCALE_COMPUTING, "main", 2) == 700 + 10 + 180);
    assert_true(predict(all, SCALE_COMPUTING, "main", 10) == 1000 + 900);
    dependencies_free(all);
}

/* What nobody waited for holds all the same when the others are faster. */
static void a_limit_binds_when_it_is_later(void **state) {
    (void)state;
    struct dependencies *all = two_threads();
    all->steps[2].cause = NONE;
    all->steps[2].kind = STEP_SLEEP;
    all->steps[2].limit = 1;
    all->steps[2].limit_kind = LINK_PERMIT;
    assert_true(predict(all, SCALE_SLEEPS, "main", 0) == 700 + 90);
    dependencies_free(all);
}

static void no_steps_are_no_path(void **state) {
    (void)state;
    struct error error = {0};
    struct dependencies *all = new_run();
    assert_null(critical_path_find(all, &error));
    dependencies_free(all);
}

/* ---- the file ---- */

static char path[160];

static void save(const struct dependencies *all) {
    struct error error;
    snprintf(path, sizeof path, "%s/dependencies.persik", scratch_folder);
    assert_int_equal(dependencies_save(all, path, &error), 0);
}

static void assert_refused(const char *what) {
    struct error error = {0};
    assert_null(dependencies_load(path, &error));
    if (!strstr(error.text, what))
        fail_msg("'%s' does not say '%s'", error.text, what);
}

static void what_is_saved_is_loaded(void **state) {
    (void)state;
    struct error error;
    struct dependencies *all = two_threads();
    all->start_real_ns = 77;
    all->records = 5;
    save(all);
    struct dependencies *again = dependencies_load(path, &error);
    if (!again)
        fail_msg("%s", error.text);
    assert_int_equal(again->n_steps, all->n_steps);
    assert_memory_equal(again->steps, all->steps, all->n_steps * sizeof *all->steps);
    assert_string_equal(again->places[IN_WORK].frames[0].function, "work");
    assert_string_equal(again->objects[LOCK].name, "struct jobs.lock");
    assert_true(again->start_real_ns == 77 && again->records == 5 && again->has_wakers);
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);
    dependencies_free(again);
    dependencies_free(all);
}

static void who_wakes_nobody_does_not_pay_for_it(void **state) {
    (void)state;
    struct dependencies *all = some_wakings();
    struct scale unchanged = {.of = SCALE_COMPUTING, .name = "work", .factor = 1},
                 gone = {.of = SCALE_COMPUTING, .name = "work", .factor = 0};
    double traced_ns = (double)all->run_ns;
    double unchanged_ns = critical_path_predict(all, &unchanged, 1, 0).rescheduled_ns;
    double changed_ns = critical_path_predict(all, &gone, 1, 0).rescheduled_ns;
    assert_true(fabs(unchanged_ns - traced_ns) <= 1);
    assert_true(fabs(changed_ns - (traced_ns - 2 * (10 + 50))) <= 1);
    dependencies_free(all);
}

static void a_step_that_depends_on_a_later_one_is_refused(void **state) {
    (void)state;
    struct dependencies *all = two_threads();
    all->steps[1].cause = 2;
    save(all);
    assert_refused("cycle");
    all->steps[1].cause = NONE;
    all->steps[2].cause = 2;
    save(all);
    assert_refused("cycle");
    all->steps[2].cause = 1;
    all->steps[1].end_ns = 720; /* behind the end of the wait that it ended */
    save(all);
    assert_refused("before its cause");
    dependencies_free(all);
}

static void indices_are_checked(void **state) {
    (void)state;
    struct dependencies *all = two_threads();
    all->steps[0].thread = (uint32_t)all->n_threads;
    save(all);
    assert_refused("thread");
    all->steps[0].thread = MAIN;
    all->steps[0].place = (uint32_t)all->n_places;
    save(all);
    assert_refused("place");
    all->steps[0].place = IN_MAIN;
    all->steps[3].end_ns = 709;
    save(all);
    assert_refused("time");
    dependencies_free(all);
}

static void every_cut_is_noticed(void **state) {
    (void)state;
    struct dependencies *all = two_threads();
    save(all);
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    for (off_t size = 8; size < status.st_size; size++) {
        save(all);
        assert_int_equal(truncate(path, size), 0);
        assert_refused("truncated");
    }
    assert_int_equal(truncate(path, 3), 0);
    assert_refused("holds no dependencies");
    dependencies_free(all);
}

static void a_newer_version_is_refused_by_number(void **state) {
    (void)state;
    struct dependencies *all = two_threads();
    save(all);
    FILE *file = fopen(path, "r+b");
    uint32_t version = DEPENDENCIES_VERSION + 1;
    fseek(file, 8, SEEK_SET);
    assert_int_equal(fwrite(&version, sizeof version, 1, file), 1);
    fclose(file);
    assert_refused("format version 7");
    dependencies_free(all);
}

/* As versions before 6 had it: steps of `step_bytes` that are not packed. */
static struct dependencies *saved_unpacked(const struct dependencies *all, uint32_t version,
                                           size_t step_bytes) {
    struct error error;
    save(all);
    FILE *file = fopen(path, "r+b");
    uint64_t text_bytes;
    fseek(file, 16, SEEK_SET);
    assert_int_equal(fread(&text_bytes, sizeof text_bytes, 1, file), 1);
    fseek(file, 8, SEEK_SET);
    assert_int_equal(fwrite(&version, sizeof version, 1, file), 1);
    fseek(file, (long)(32 + text_bytes), SEEK_SET);
    for (size_t i = 0; i < all->n_steps; i++)
        assert_int_equal(fwrite(&all->steps[i], step_bytes, 1, file), 1);
    fclose(file);
    assert_int_equal(truncate(path, (long)(32 + text_bytes + step_bytes * all->n_steps)), 0);
    struct dependencies *again = dependencies_load(path, &error);
    if (!again)
        fail_msg("%s", error.text);
    return again;
}

/* Version 1 had steps of 32 bytes, which do not say what threads do to locks. */
static void steps_of_version_1_are_read(void **state) {
    (void)state;
    struct dependencies *all = two_threads();
    struct dependencies *again = saved_unpacked(all, 1, 32);
    assert_false(again->has_operations);
    for (size_t i = 0; i < all->n_steps; i++) {
        assert_memory_equal(&again->steps[i], &all->steps[i], 32);
        assert_int_equal(again->steps[i].operation, OPERATION_NONE);
        assert_int_equal(again->steps[i].operand, NONE);
    }
    dependencies_free(again);
    dependencies_free(all);
}

static void steps_that_are_not_packed_are_read(void **state) {
    (void)state;
    struct dependencies *all = two_threads();
    struct dependencies *again = saved_unpacked(all, 5, sizeof *all->steps);
    assert_int_equal(again->n_steps, all->n_steps);
    assert_memory_equal(again->steps, all->steps, all->n_steps * sizeof *all->steps);
    dependencies_free(again);
    assert_int_equal(truncate(path, 100), 0);
    assert_refused("truncated");
    dependencies_free(all);
}

/* The saved file's bytes; the caller frees. */
static char *read_saved(size_t *size) {
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    *size = (size_t)status.st_size;
    char *bytes = memory_alloc(*size, 1);
    FILE *file = fopen(path, "rb");
    assert_int_equal(fread(bytes, 1, *size, file), *size);
    fclose(file);
    return bytes;
}

/* Changes a byte of it. */
static void put_byte(long at, int byte) {
    FILE *file = fopen(path, "r+b");
    fseek(file, at, SEEK_SET);
    fputc(byte, file);
    fclose(file);
}

/* The steps' checksum tells. */
static void a_changed_byte_is_noticed(void **state) {
    (void)state;
    struct dependencies *all = two_threads();
    save(all);
    size_t size;
    char *saved = read_saved(&size);
    put_byte((long)size - 8, saved[size - 8] ^ 1);
    assert_refused("corrupted");
    free(saved);
    dependencies_free(all);
}

/* Byte 5 of a zstd frame is the size of its window: RFC 8878, section 3.1.1.1.2. */
static void a_frame_that_wants_much_memory_is_refused(void **state) {
    (void)state;
    static const char magic[] = {0x28, (char)0xB5, 0x2F, (char)0xFD};
    struct dependencies *all = two_threads();
    save(all);
    size_t size;
    char *saved = read_saved(&size);
    char *frame = memmem(saved, size, magic, sizeof magic);
    assert_non_null(frame);
    put_byte(frame - saved + 5, 0x85); /* 104 MB */
    assert_refused("corrupted");
    free(saved);
    dependencies_free(all);
}

static void a_step_behind_the_runs_end_is_refused(void **state) {
    (void)state;
    struct dependencies *all = two_threads();
    all->run_ns = all->steps[all->n_steps - 1].end_ns - 1;
    save(all);
    assert_refused("a step's time");
    dependencies_free(all);
}

/* A reader takes no more memory than a file is worth: steps that pack too well get a longer one. */
static void steps_that_are_alike_are_read(void **state) {
    (void)state;
    enum { STEPS = 3000000 };
    struct error error;
    struct dependencies *all = two_threads();
    free(all->steps);
    all->n_steps = STEPS;
    all->run_ns = all->threads[0].start_ns + STEPS;
    all->steps = memory_alloc(STEPS, sizeof *all->steps);
    for (uint64_t i = 0; i < STEPS; i++)
        all->steps[i] = (struct dependency_step){.end_ns = all->threads[0].start_ns + i,
                                                 .place = NONE,
                                                 .object = NONE,
                                                 .cause = NONE,
                                                 .limit = NONE,
                                                 .operand = NONE};
    save(all);
    struct dependencies *again = dependencies_load(path, &error);
    if (!again)
        fail_msg("%s", error.text);
    assert_int_equal(again->n_steps, STEPS);
    assert_memory_equal(again->steps, all->steps, STEPS * sizeof *all->steps);
    dependencies_free(again);
    dependencies_free(all);
}

/* MAIN up to the creation is not on the path: WORKER sleeps from the start, hands over, MAIN ends.
 */
static void pieces_are_the_run(void **state) {
    (void)state;
    struct dependencies *all = two_threads();
    size_t n;
    struct path_piece *pieces = critical_path_pieces(all, &n);
    assert_int_equal(n, 3);
    assert_int_equal(pieces[0].subject, PATH_SLEEPING);
    assert_int_equal(pieces[0].thread, WORKER);
    assert_int_equal(pieces[0].giver, NONE);
    assert_int_equal(pieces[1].subject, PATH_HAND_OVER);
    assert_string_equal(pieces[1].link, "a lock");
    assert_int_equal(pieces[1].object, LOCK);
    assert_int_equal(pieces[1].giver, WORKER);
    assert_int_equal(pieces[2].subject, PATH_COMPUTING);
    assert_int_equal(pieces[0].from_ns, 0);
    assert_int_equal(pieces[2].to_ns, 800);
    for (size_t i = 1; i < n; i++)
        assert_int_equal(pieces[i].from_ns, pieces[i - 1].to_ns);
    free(pieces);
    dependencies_free(all);
}

static const struct candidate *candidate_named(const struct candidate *candidates, size_t n,
                                               enum scale_of of, const char *name) {
    for (size_t i = 0; i < n; i++)
        if (!candidates[i].is_cores && candidates[i].of == of &&
            strcmp(candidates[i].name, name) == 0)
            return &candidates[i];
    fail_msg("no candidate %s", name);
    return NULL;
}

static void what_takes_time_is_a_candidate(void **state) {
    (void)state;
    struct dependencies *all = two_threads();
    struct error error;
    struct critical_path *path = critical_path_find(all, &error);
    size_t n;
    struct candidate *candidates = critical_path_candidates(path, all, &n);
    assert_int_equal(n, 4);
    assert_float_equal(candidate_named(candidates, n, SCALE_SLEEPS, "work")->total_ns, 700, 0);
    assert_float_equal(candidate_named(candidates, n, SCALE_COMPUTING, "main")->total_ns, 190, 0);
    assert_float_equal(candidate_named(candidates, n, SCALE_HOLDING, "struct jobs.lock")->total_ns,
                       700, 0);
    assert_true(candidates[n - 1].is_cores);
    assert_float_equal(candidates[n - 1].limit, 2, 0);
    free(candidates);
    critical_path_free(path);
    dependencies_free(all);
}

/* Less than a hundredth of the run is none. */
static void what_takes_next_to_nothing_is_no_candidate(void **state) {
    (void)state;
    struct dependencies *all = new_run();
    struct error error;
    steps_add(all, MAIN, IN_MAIN, STEP_COMPUTE, 991);
    steps_add(all, MAIN, IN_WORK, STEP_SLEEP, 1000);
    struct critical_path *path = critical_path_find(all, &error);
    size_t n;
    struct candidate *candidates = critical_path_candidates(path, all, &n);
    assert_int_equal(n, 2);
    assert_string_equal(candidates[0].name, "main");
    assert_true(candidates[1].is_cores);
    free(candidates);
    critical_path_free(path);
    dependencies_free(all);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_path_follows_what_ended_the_wait),
        cmocka_unit_test(slack_is_what_the_end_does_not_notice),
        cmocka_unit_test(half_a_sleep_is_half_of_what_was_asked_for),
        cmocka_unit_test(changed_weights_move_the_path),
        cmocka_unit_test(a_limit_binds_when_it_is_later),
        cmocka_unit_test(no_steps_are_no_path),
        cmocka_unit_test(pieces_are_the_run),
        cmocka_unit_test(what_takes_time_is_a_candidate),
        cmocka_unit_test(what_takes_next_to_nothing_is_no_candidate),
        cmocka_unit_test(what_is_saved_is_loaded),
        cmocka_unit_test(who_wakes_nobody_does_not_pay_for_it),
        cmocka_unit_test(a_step_that_depends_on_a_later_one_is_refused),
        cmocka_unit_test(indices_are_checked),
        cmocka_unit_test(every_cut_is_noticed),
        cmocka_unit_test(a_newer_version_is_refused_by_number),
        cmocka_unit_test(steps_of_version_1_are_read),
        cmocka_unit_test(steps_that_are_not_packed_are_read),
        cmocka_unit_test(a_changed_byte_is_noticed),
        cmocka_unit_test(a_frame_that_wants_much_memory_is_refused),
        cmocka_unit_test(a_step_behind_the_runs_end_is_refused),
        cmocka_unit_test(steps_that_are_alike_are_read),
    };
    return cmocka_run_group_tests(tests, scratch_folder_make, scratch_folder_remove);
}
