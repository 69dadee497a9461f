/* base/output and base/printable: files appear whole, and text is fit for a terminal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/output.h"
#include "base/printable.h"
#include "tests/unit/scratch_folder.h"

static void write_text(const char *path, const char *text) {
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fputs(text, out);
    fclose(out);
}

static void assert_text(const char *path, const char *text) {
    FILE *in = fopen(path, "r");
    assert_non_null(in);
    char line[64] = "";
    assert_non_null(fgets(line, sizeof line, in));
    assert_string_equal(line, text);
    fclose(in);
}

static void put_out(const char *path, const char *text) {
    struct output output;
    assert_int_equal(output_begin(&output, path), 0);
    fputs(text, output.file);
    assert_int_equal(output_commit(&output), 0);
}

static void a_file_appears_when_it_is_complete_and_is_private(void **state) {
    (void)state;
    char *path = scratch_folder_path("whole");
    struct output output;
    struct stat about;
    assert_int_equal(output_begin(&output, path), 0);
    fputs("all", output.file);
    fflush(output.file);
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(output_commit(&output), 0);
    assert_text(path, "all");
    assert_int_equal(stat(path, &about), 0);
    assert_int_equal(about.st_mode & 07777, 0600);
    free(path);
}

static void an_abandoned_one_leaves_what_was_there(void **state) {
    (void)state;
    char *path = scratch_folder_path("abandoned");
    write_text(path, "before");
    struct output output;
    assert_int_equal(output_begin(&output, path), 0);
    fputs("after", output.file);
    output_abandon(&output);
    assert_text(path, "before");
    free(path);
}

static void a_symbolic_link_is_replaced_and_not_followed(void **state) {
    (void)state;
    char *victim = scratch_folder_path("victim"), *link = scratch_folder_path("link");
    struct stat about;
    write_text(victim, "precious");
    assert_int_equal(symlink(victim, link), 0);
    put_out(link, "drawing");
    assert_text(victim, "precious");
    assert_text(link, "drawing");
    assert_int_equal(lstat(link, &about), 0);
    assert_true(S_ISREG(about.st_mode));
    free(victim);
    free(link);
}

/* A process killed between its last two steps leaves it, or somebody put it there. */
static void what_has_the_name_of_incomplete_files_goes(void **state) {
    (void)state;
    char *victim = scratch_folder_path("victim2"), *path = scratch_folder_path("next"),
         *partial = scratch_folder_path(".next.persik-new");
    write_text(victim, "precious");
    write_text(partial, "left behind");
    put_out(path, "one");
    assert_text(path, "one");
    assert_int_equal(access(partial, F_OK), -1);
    assert_int_equal(symlink(victim, partial), 0);
    put_out(path, "two");
    assert_text(path, "two");
    assert_text(victim, "precious");
    assert_int_equal(faccessat(AT_FDCWD, partial, F_OK, AT_SYMLINK_NOFOLLOW), -1);
    free(victim);
    free(path);
    free(partial);
}

static void a_folder_that_is_not_there_is_told(void **state) {
    (void)state;
    char *path = scratch_folder_path("nowhere/file");
    struct output output;
    assert_int_equal(output_begin(&output, path), -1);
    assert_int_equal(errno, ENOENT);
    free(path);
}

static void assert_printable(const char *text, const char *shown) {
    char *made = printable(text);
    assert_string_equal(made, shown);
    free(made);
}

static void control_characters_are_not_shown(void **state) {
    (void)state;
    assert_printable("plain, and \xC3\xA4 \xE2\x82\xAC \xF0\x9F\x8D\x91",
                     "plain, and \xC3\xA4 \xE2\x82\xAC \xF0\x9F\x8D\x91");
    assert_printable("a\033]0;pwned\007b\r\n\tc\x7F", "a?]0;pwned?b???c?");
    assert_printable("C1 \xC2\x9B"
                     "31m",
                     "C1 ?31m");
    assert_printable("bare \x9B"
                     "31m",
                     "bare ?31m");
    assert_printable("turned \xE2\x80\xAE end", "turned ? end");
    assert_null(printable(NULL));
}

static void what_is_not_utf8_is_not_shown(void **state) {
    (void)state;
    assert_printable("cut \xE2\x82", "cut ?");
    assert_printable("cut \xE2\x82 here", "cut ? here");
    assert_printable("cut \xE2\033[m", "cut ??[m");
    assert_printable("overlong \xC0\x9B \xE0\x80\x9B", "overlong ?? ?");
    assert_printable("surrogate \xED\xA0\x80", "surrogate ?");
    assert_printable("large \xF4\x90\x80\x80 \xFF", "large ? ?");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_appears_when_it_is_complete_and_is_private),
        cmocka_unit_test(an_abandoned_one_leaves_what_was_there),
        cmocka_unit_test(a_symbolic_link_is_replaced_and_not_followed),
        cmocka_unit_test(what_has_the_name_of_incomplete_files_goes),
        cmocka_unit_test(a_folder_that_is_not_there_is_told),
        cmocka_unit_test(control_characters_are_not_shown),
        cmocka_unit_test(what_is_not_utf8_is_not_shown),
    };
    return cmocka_run_group_tests(tests, scratch_folder_make, scratch_folder_remove);
}
