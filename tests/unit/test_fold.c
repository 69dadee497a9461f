/* base/fold and cli/text/fit: what is printed fits a page. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/fold.h"
#include "cli/text/fit.h"

static char written[4096];

static void put(void *context, const char *bytes, size_t n) {
    (void)context;
    strncat(written, bytes, n);
}

/* In pieces of so many bytes. */
static const char *fold_in_pieces(const char *text, int width, size_t piece) {
    static struct fold fold;
    written[0] = '\0';
    fold_start(&fold, width, put, NULL);
    for (size_t n = strlen(text), at = 0; at < n; at += piece)
        fold_write(&fold, text + at, n - at < piece ? n - at : piece);
    fold_end(&fold);
    return written;
}

static void folds_to(const char *text, int width, const char *expected) {
    for (size_t piece = 1; piece < 9; piece++)
        assert_string_equal(fold_in_pieces(text, width, piece), expected);
}

static void long_lines_break_between_words(void **state) {
    (void)state;
    folds_to("one two three four\nfive\n", 9, "one two\n  three\n  four\nfive\n");
    folds_to("  one two three\n", 9, "  one two\n    three\n");
    folds_to("\n\none\n", 9, "\n\none\n");
}

static void what_follows_stands_below_the_text(void **state) {
    (void)state;
    folds_to("lacks  one two three\n", 15, "lacks  one two\n       three\n");
}

static void short_lines_and_long_words_stay_as_they_are(void **state) {
    (void)state;
    folds_to("a  b   c \n", 9, "a  b   c \n");
    folds_to("one-two-three-four\n", 9, "one-two-three-four\n");
    folds_to("\u00b1\u00b1\u00b1 \u00b1\u00b1\n", 6, "\u00b1\u00b1\u00b1 \u00b1\u00b1\n");
    folds_to("no line feed", 0, "no line feed");
}

static void columns_that_fit_are_whole(void **state) {
    (void)state;
    struct fit_column columns[] = {{.natural = 40, .is_text = true}, {.natural = 38}};
    fit_columns(columns, 2, 80);
    assert_int_equal(columns[0].width, 40);
    assert_int_equal(columns[1].width, 38);
}

static void names_are_cut_before_columns_go(void **state) {
    (void)state;
    struct fit_column columns[] = {
        {.natural = 90, .is_text = true}, {.natural = 10, .spare = 1}, {.natural = 10}};
    fit_columns(columns, 3, 80);
    assert_int_equal(columns[0].width, 80 - 2 * (10 + FIT_GAP));
    assert_int_equal(columns[1].width, 10);
}

static void spare_columns_go_before_names_say_nothing(void **state) {
    (void)state;
    struct fit_column columns[] = {{.natural = 90, .is_text = true},
                                   {.natural = 20, .spare = 2},
                                   {.natural = 20, .spare = 1},
                                   {.natural = 20}};
    fit_columns(columns, 4, 80);
    assert_int_equal(columns[0].width, 80 - 2 * (20 + FIT_GAP));
    assert_int_equal(columns[1].width, 20);
    assert_int_equal(columns[2].width, 0);
    assert_int_equal(columns[3].width, 20);
}

static void the_last_ones_go_where_nothing_is_spare(void **state) {
    (void)state;
    struct fit_column columns[] = {{.natural = 50}, {.natural = 20}, {.natural = 20}};
    fit_columns(columns, 3, 80);
    assert_int_equal(columns[0].width, 50);
    assert_int_equal(columns[1].width, 20);
    assert_int_equal(columns[2].width, 0);
    fit_columns(columns, 3, 0);
    assert_int_equal(columns[2].width, 20);
}

static void cut_is(const char *text, int width, int head, const char *expected) {
    char *cut = fit_cut(text, width, head);
    assert_string_equal(cut, expected);
    free(cut);
}

static void names_lose_their_middle(void **state) {
    (void)state;
    cut_is("abcdefghij", 10, 4, "abcdefghij");
    cut_is("abcdefghij", 9, 4, "abcd…ghij");
    cut_is("abcdefghij", 9, 2, "ab…efghij");
    cut_is("äöüäöüäöü", 5, 4, "äö…öü");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(long_lines_break_between_words),
        cmocka_unit_test(what_follows_stands_below_the_text),
        cmocka_unit_test(short_lines_and_long_words_stay_as_they_are),
        cmocka_unit_test(columns_that_fit_are_whole),
        cmocka_unit_test(names_are_cut_before_columns_go),
        cmocka_unit_test(spare_columns_go_before_names_say_nothing),
        cmocka_unit_test(the_last_ones_go_where_nothing_is_spare),
        cmocka_unit_test(names_lose_their_middle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
