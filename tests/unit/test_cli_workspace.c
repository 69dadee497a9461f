/* cli/recording/workspace: a recording takes the old one's place whole, or not at all. */
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
#include "cli/recording/workspace.h"
#include "tests/unit/scratch_folder.h"

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
    char *directory = workspace_path(scratch_folder, name);
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
    char *directory = workspace_path(scratch_folder, "first");
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
    char *directory = workspace_path(scratch_folder, "next");
    char *old = workspace_path(scratch_folder, "next.old");
    assert_text(directory, WORKSPACE_TRACE, "three");
    assert_text(old, WORKSPACE_TRACE, "two");
    free(directory);
    free(old);
}

static void carried_files_are_in_both_and_new_ones_win(void **state) {
    (void)state;
    static const char *const carried[] = {WORKSPACE_SAMPLE, WORKSPACE_TRACE, "missing", NULL};
    record("carry", "one", NULL);
    char *directory = workspace_path(scratch_folder, "carry");
    char *old = workspace_path(scratch_folder, "carry.old");
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
    char *directory = workspace_path(scratch_folder, "abandoned");
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

/* A folder as workspace_begin() makes it, whose process is gone. */
static char *leave_behind(const char *recording) {
    char *directory = workspace_path(scratch_folder, recording);
    struct workspace workspace;
    struct error error;
    assert_int_equal(workspace_begin(&workspace, directory, &error), 0);
    char *left = memory_strdup(workspace.building);
    close(workspace.folder);
    close(workspace.parent);
    free(workspace.directory);
    free(workspace.building);
    free(directory);
    return left;
}

static void what_a_killed_run_left_is_removed_but_not_what_a_living_one_uses(void **state) {
    (void)state;
    char *directory = workspace_path(scratch_folder, "killed");
    char *leftover = leave_behind("killed");
    write_text(leftover, WORKSPACE_TRACE, "half");
    char *raw = workspace_path(leftover, "raw");
    assert_int_equal(mkdir(raw, 0700), 0);
    write_text(raw, "1-0.records", "records");
    free(raw);
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

static void folders_that_persik_did_not_make_stay(void **state) {
    (void)state;
    char *directory = workspace_path(scratch_folder, "taken");
    char *alike = workspace_path(scratch_folder, "taken.new.backup");
    char *other = workspace_path(scratch_folder, "report.new.abcdef");
    assert_int_equal(mkdir(alike, 0700), 0);
    assert_int_equal(mkdir(other, 0700), 0);
    write_text(alike, WORKSPACE_TRACE, "precious");
    write_text(other, "keep", "precious");
    record("taken", "one", NULL);
    record("*", "one", NULL);
    record("r?port", "one", NULL);
    assert_text(alike, WORKSPACE_TRACE, "precious");
    assert_text(other, "keep", "precious");
    free(directory);
    free(alike);
    free(other);
}

static void an_empty_folder_of_a_run_killed_at_once_goes(void **state) {
    (void)state;
    char *empty = workspace_path(scratch_folder, "early.new.abcdef");
    char *unmarked = workspace_path(scratch_folder, "early.new.ghijkl");
    assert_int_equal(mkdir(empty, 0700), 0);
    assert_int_equal(mkdir(unmarked, 0700), 0);
    write_text(unmarked, ".persik-building", "Th"); /* killed while it wrote its mark */
    record("early", "one", NULL);
    assert_int_equal(access(empty, F_OK), -1);
    assert_int_equal(access(unmarked, F_OK), -1);
    free(empty);
    free(unmarked);
}

static void symbolic_links_are_not_followed(void **state) {
    (void)state;
    char *home = workspace_path(scratch_folder, "victim");
    assert_int_equal(mkdir(home, 0700), 0);
    write_text(home, WORKSPACE_TRACE, "precious");
    char *leftover = leave_behind("links");
    char *inside = workspace_path(leftover, "raw");
    char *named = workspace_path(scratch_folder, "links.new.abcdef");
    assert_int_equal(symlink(home, inside), 0);
    assert_int_equal(symlink(home, named), 0);
    record("links", "one", NULL);
    assert_int_equal(access(leftover, F_OK), -1);
    assert_text(home, WORKSPACE_TRACE, "precious");
    char *linked = workspace_path(scratch_folder, "linked");
    struct workspace workspace;
    struct error error = {0};
    assert_int_equal(symlink(home, linked), 0);
    assert_int_equal(workspace_begin(&workspace, linked, &error), -1);
    assert_non_null(strstr(error.text, "symbolic link"));
    free(home);
    free(leftover);
    free(inside);
    free(named);
    free(linked);
}

/* Only root can give folders away. */
static void what_another_user_owns_stays(void **state) {
    (void)state;
    if (geteuid() != 0)
        skip();
    char *leftover = leave_behind("foreign");
    char *inner = workspace_path(leftover, "raw");
    assert_int_equal(mkdir(inner, 0700), 0);
    write_text(inner, "file", "precious");
    assert_int_equal(chown(inner, 65534, 65534), 0);
    char *whole = leave_behind("gift");
    write_text(whole, "file", "precious");
    assert_int_equal(chown(whole, 65534, 65534), 0);
    record("foreign", "one", NULL);
    record("gift", "one", NULL);
    assert_text(inner, "file", "precious");
    assert_text(whole, "file", "precious");
    free(leftover);
    free(inner);
    free(whole);
}

/* Killed between the exchange of the names and the last rename: it is the recording before. */
static void an_interrupted_exchange_is_ended(void **state) {
    (void)state;
    record("exchange", "one", NULL);
    record("exchange", "two", NULL);
    char *directory = workspace_path(scratch_folder, "exchange");
    char *old = workspace_path(scratch_folder, "exchange.old");
    char *between = workspace_path(scratch_folder, "exchange.new.abcdef");
    assert_int_equal(rename(old, between), 0);
    struct workspace workspace;
    struct error error;
    assert_int_equal(workspace_begin(&workspace, directory, &error), 0);
    workspace_abandon(&workspace);
    assert_text(directory, WORKSPACE_TRACE, "two");
    assert_text(old, WORKSPACE_TRACE, "one");
    assert_int_equal(access(between, F_OK), -1);
    free(directory);
    free(old);
    free(between);
}

static void what_the_user_put_into_the_old_recording_is_not_removed(void **state) {
    (void)state;
    record("kept", "one", NULL);
    record("kept", "two", NULL);
    char *directory = workspace_path(scratch_folder, "kept");
    char *old = workspace_path(scratch_folder, "kept.old");
    write_text(old, "notes", "precious");
    struct workspace workspace;
    struct error error = {0};
    assert_int_equal(workspace_begin(&workspace, directory, &error), -1);
    assert_non_null(strstr(error.text, "notes"));
    assert_text(old, "notes", "precious");
    free(directory);
    free(old);
}

static void a_folder_with_other_things_in_it_is_refused(void **state) {
    (void)state;
    char *directory = workspace_path(scratch_folder, "home");
    assert_int_equal(mkdir(directory, 0700), 0);
    write_text(directory, "precious", "letter");
    struct workspace workspace;
    struct error error = {0};
    assert_int_equal(workspace_begin(&workspace, directory, &error), -1);
    assert_non_null(strstr(error.text, "other things"));
    assert_text(directory, "precious", "letter");
    free(directory);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_recording_gets_its_name_and_is_private),
        cmocka_unit_test(the_next_recording_keeps_one_old_one),
        cmocka_unit_test(carried_files_are_in_both_and_new_ones_win),
        cmocka_unit_test(an_abandoned_recording_leaves_the_old_one_and_nothing_else),
        cmocka_unit_test(what_a_killed_run_left_is_removed_but_not_what_a_living_one_uses),
        cmocka_unit_test(folders_that_persik_did_not_make_stay),
        cmocka_unit_test(an_empty_folder_of_a_run_killed_at_once_goes),
        cmocka_unit_test(symbolic_links_are_not_followed),
        cmocka_unit_test(what_another_user_owns_stays),
        cmocka_unit_test(an_interrupted_exchange_is_ended),
        cmocka_unit_test(what_the_user_put_into_the_old_recording_is_not_removed),
        cmocka_unit_test(a_folder_with_other_things_in_it_is_refused),
    };
    return cmocka_run_group_tests(tests, scratch_folder_make, scratch_folder_remove);
}
