/* cli/workspace: a recording takes the old one's place whole, or not at all. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "cli/workspace.h"

static char folder[] = "/tmp/persik-test.XXXXXX";

static void write_text(const char *directory, const char *name, const char *text) {
    char *path = workspace_path(directory, name);
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fputs(text, out);
    fclose(out);
    free(path);
}

static void assert_text(const char *directory, const char *name, const char *text) {
    char *path = workspace_path(directory, name);
    FILE *in = fopen(path, "r");
    assert_non_null(in);
    char line[64] = "";
    assert_non_null(fgets(line, sizeof line, in));
    assert_string_equal(line, text);
    fclose(in);
    free(path);
}

/* A recording whose trace is `text`, committed as folder/NAME. */
static void record(const char *name, const char *text, const char *const *carried) {
    char *directory = workspace_path(folder, name);
    struct workspace workspace;
    struct error error;
    assert_int_equal(workspace_begin(&workspace, directory, &error), 0);
    write_text(workspace.building, WORKSPACE_TRACE, text);
    assert_int_equal(workspace_commit(&workspace, carried, &error), 0);
    free(directory);
}

static void the_first_recording_gets_its_name_and_is_private(void **state) {
    (void)state;
    record("first", "one", NULL);
    char *directory = workspace_path(folder, "first");
    struct stat status;
    assert_int_equal(stat(directory, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0700);
    assert_text(directory, WORKSPACE_TRACE, "one");
    free(directory);
}

static void the_next_recording_keeps_one_old_one(void **state) {
    (void)state;
    record("next", "one", NULL);
    record("next", "two", NULL);
    record("next", "three", NULL);
    char *directory = workspace_path(folder, "next");
    char *old = workspace_path(folder, "next.old");
    assert_text(directory, WORKSPACE_TRACE, "three");
    assert_text(old, WORKSPACE_TRACE, "two");
    free(directory);
    free(old);
}

static void carried_files_are_in_both_and_new_ones_win(void **state) {
    (void)state;
    static const char *const carried[] = {WORKSPACE_SAMPLE, WORKSPACE_TRACE, "missing", NULL};
    record("carry", "one", NULL);
    char *directory = workspace_path(folder, "carry");
    char *old = workspace_path(folder, "carry.old");
    write_text(directory, WORKSPACE_SAMPLE, "samples");
    write_text(directory, WORKSPACE_MODEL, "model");
    record("carry", "two", carried);
    assert_text(directory, WORKSPACE_SAMPLE, "samples");
    assert_text(old, WORKSPACE_SAMPLE, "samples");
    assert_text(directory, WORKSPACE_TRACE, "two");
    assert_false(workspace_has(directory, WORKSPACE_MODEL)); /* of another trace */
    free(directory);
    free(old);
}

static void an_abandoned_recording_leaves_the_old_one_and_nothing_else(void **state) {
    (void)state;
    record("abandoned", "one", NULL);
    char *directory = workspace_path(folder, "abandoned");
    struct workspace workspace;
    struct error error;
    assert_int_equal(workspace_begin(&workspace, directory, &error), 0);
    write_text(workspace.building, WORKSPACE_TRACE, "half");
    char *building = memory_strdup(workspace.building);
    workspace_abandon(&workspace);
    assert_int_equal(access(building, F_OK), -1);
    assert_text(directory, WORKSPACE_TRACE, "one");
    free(building);
    free(directory);
}

static void what_a_killed_run_left_is_removed_but_not_what_a_living_one_uses(void **state) {
    (void)state;
    char *directory = workspace_path(folder, "killed");
    char *leftover = workspace_path(folder, "killed.new.abcdef");
    assert_int_equal(mkdir(leftover, 0700), 0);
    write_text(leftover, WORKSPACE_TRACE, "half");
    struct workspace living;
    struct workspace other;
    struct error error;
    assert_int_equal(workspace_begin(&living, directory, &error), 0);
    assert_int_equal(access(leftover, F_OK), -1);
    assert_int_equal(workspace_begin(&other, directory, &error), 0);
    assert_int_equal(access(living.building, F_OK), 0);
    workspace_abandon(&living);
    workspace_abandon(&other);
    free(directory);
    free(leftover);
}

static void a_folder_with_other_things_in_it_is_refused(void **state) {
    (void)state;
    char *directory = workspace_path(folder, "home");
    assert_int_equal(mkdir(directory, 0700), 0);
    write_text(directory, "precious", "letter");
    struct workspace workspace;
    struct error error = {0};
    assert_int_equal(workspace_begin(&workspace, directory, &error), -1);
    assert_non_null(strstr(error.text, "other things"));
    assert_text(directory, "precious", "letter");
    free(directory);
}

static int make_folder(void **state) {
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state) {
    (void)state;
    char *command = memory_format("rm -rf %s", folder);
    int status = system(command); /* NOLINT(bugprone-command-processor): a name of our own making */
    free(command);
    return status;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_recording_gets_its_name_and_is_private),
        cmocka_unit_test(the_next_recording_keeps_one_old_one),
        cmocka_unit_test(carried_files_are_in_both_and_new_ones_win),
        cmocka_unit_test(an_abandoned_recording_leaves_the_old_one_and_nothing_else),
        cmocka_unit_test(what_a_killed_run_left_is_removed_but_not_what_a_living_one_uses),
        cmocka_unit_test(a_folder_with_other_things_in_it_is_refused),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
