/* html/: what is written into a page, and where things stand in its drawings. */
/* tests/run: beside others */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "html/lanes.h"
#include "html/page.h"
#include "html/plot.h"
#include "html/scale.h"
#include "html/writer.h"

/* ---- a page in memory ---- */

static char *page;
static size_t page_bytes;

static FILE *begin(void) {
    return open_memstream(&page, &page_bytes);
}

/* What was written, until the next begin(). */
static const char *end(FILE *out) {
    static char *kept;
    fclose(out);
    free(kept);
    kept = page;
    page = NULL;
    return kept;
}

static size_t count(const char *text, const char *part) {
    size_t n = 0;
    for (text = strstr(text, part); text; text = strstr(text + 1, part))
        n++;
    return n;
}

/* ---- the writer ---- */

static const char *written(const char *text) {
    FILE *out = begin();
    html_text(out, text);
    return end(out);
}

static void what_has_a_meaning_in_html_is_escaped(void **state) {
    (void)state;
    assert_string_equal(written("</code><script>alert('x')&\"</script>"),
                        "&lt;/code&gt;&lt;script&gt;alert(&#39;x&#39;)&amp;&quot;&lt;/script&gt;");
    assert_string_equal(written("std::map<int, A&>"), "std::map&lt;int, A&amp;&gt;");
    assert_string_equal(written(NULL), "");
}

static void control_characters_and_broken_utf8_are_question_marks(void **state) {
    (void)state;
    assert_string_equal(written("a\033[31mb\n"), "a?[31mb?");
    assert_string_equal(written("\xff<"), "?&lt;");
    assert_string_equal(written("\xE2\x80\xAE turned"), "? turned");
    assert_string_equal(written("\xC3\xA9t\xC3\xA9"), "\xC3\xA9t\xC3\xA9");
}

static void a_format_escapes_its_texts_and_nothing_else(void **state) {
    (void)state;
    FILE *out = begin();
    html_print(out, "<b title=\"%s\">%d %zu 100%%</b>", "\"><i>", -3, (size_t)7);
    assert_string_equal(end(out), "<b title=\"&quot;&gt;&lt;i&gt;\">-3 7 100%</b>");
}

static void a_number_that_is_none_is_a_dash(void **state) {
    (void)state;
    FILE *out = begin();
    html_print(out, "%.1f %.3g %.2e|%.1f|%.9g|%g", 1.25, 0.00012345, 12345.0, NAN, INFINITY, 0.5);
    assert_string_equal(end(out), "1.2 0.000123 1.23e+04|-|-|0.5");
}

static void assert_shortened(const char *text, size_t most, const char *expected) {
    char *shortened = html_shorten(text, most);
    assert_string_equal(shortened, expected);
    free(shortened);
}

static void a_long_name_keeps_both_its_ends(void **state) {
    (void)state;
    assert_shortened("short", 8, "short");
    assert_shortened("exactly8", 8, "exactly8");
    assert_shortened("queue.mutex (queue.c:46)", 11,
                     "queue\xE2\x80\xA6"
                     "c:46)");
    assert_shortened("\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9", 5,
                     "\xC3\xA9\xC3\xA9\xE2\x80\xA6\xC3\xA9\xC3\xA9");
}

static void a_page_has_its_title_escaped_and_refers_to_nothing(void **state) {
    (void)state;
    FILE *out = begin();
    page_begin(out, "</title><script>");
    page_section(out, "a", "Head <1>", "Lead & more");
    page_section_end(out);
    page_end(out);
    const char *text = end(out);
    assert_non_null(strstr(text, "<title>&lt;/title&gt;&lt;script&gt;</title>"));
    assert_non_null(strstr(text, "<h2>Head &lt;1&gt;</h2>"));
    assert_null(strstr(text, "<script"));
    assert_null(strstr(text, "http"));
    assert_null(strstr(text, "url("));
    assert_null(strstr(text, "@import"));
}

/* ---- scales ---- */

static void a_scale_from_zero_ends_at_a_round_value(void **state) {
    (void)state;
    assert_true(scale_from_zero(9.3, 0, 1).to == 10);
    assert_true(scale_from_zero(10, 0, 1).to == 10);
    assert_true(scale_from_zero(201, 0, 1).to == 250);
    assert_true(fabs(scale_from_zero(0.0012, 0, 1).to - 0.0015) < 1e-12);
}

static void nothing_above_zero_still_has_a_scale(void **state) {
    (void)state;
    assert_true(scale_from_zero(0, 0, 1).to == 1);
    assert_true(scale_from_zero(NAN, 0, 1).to == 1);
    assert_true(scale_from_zero(INFINITY, 0, 1).to == 1);
}

static void values_stand_at_their_shares_of_the_axis(void **state) {
    (void)state;
    struct scale up = scale_from_zero(10, 200, 0);
    assert_true(scale_place(&up, 0) == 200);
    assert_true(scale_place(&up, 10) == 0);
    assert_true(scale_place(&up, 2.5) == 150);
}

static void one_value_stands_in_the_middle(void **state) {
    (void)state;
    const double one = 4;
    struct scale scale = scale_over(&one, 1, 10, 30);
    assert_true(scale_place(&scale, 4) == 20);
}

static void a_wide_range_goes_by_powers_of_two(void **state) {
    (void)state;
    const double narrow[] = {1, 8, 16}, wide[] = {1, 2, 64}, with_zero[] = {0, 64};
    double ticks[SCALE_MOST_TICKS];
    assert_false(scale_over(narrow, 3, 0, 1).is_logarithmic);
    assert_false(scale_over(with_zero, 2, 0, 1).is_logarithmic);
    struct scale scale = scale_over(wide, 3, 0, 60);
    assert_true(scale.is_logarithmic);
    assert_true(fabs(scale_place(&scale, 8) - 30) < 1e-9);
    assert_int_equal(scale_ticks(&scale, 8, true, ticks), 7);
    assert_true(ticks[0] == 1 && ticks[6] == 64);
}

static void ticks_of_counts_are_whole_and_few(void **state) {
    (void)state;
    const double counts[] = {1, 4}, many[] = {1, 31};
    double ticks[SCALE_MOST_TICKS];
    struct scale scale = scale_over(counts, 2, 0, 1);
    size_t n = scale_ticks(&scale, 8, true, ticks);
    assert_int_equal(n, 4);
    for (size_t i = 0; i < n; i++)
        assert_true(ticks[i] == (double)i + 1);
    scale = scale_over(many, 2, 0, 1);
    assert_in_range(scale_ticks(&scale, 8, true, ticks), 4, 8);
}

/* ---- plots ---- */

static struct plot plot_of(const struct plot_series *series, size_t n) {
    return (struct plot){.title = "Running time",
                         .x_title = "threads",
                         .unit = "s",
                         .unit_size = 1e9,
                         .x_limit = NAN,
                         .whole_x = true,
                         .n_series = n,
                         .series = series};
}

static const char *drawn(const struct plot *plot) {
    FILE *out = begin();
    plot_print(out, plot);
    return end(out);
}

static const struct plot_point three[] = {{1, 3e9, 0.3e9, "3.00 s", NULL},
                                          {2, 2e9, 0.2e9, "2.00 s", NULL},
                                          {3, 1e9, 0.1e9, "1.00 s", NULL}};

static void a_series_is_a_line_with_a_band_marks_and_its_values(void **state) {
    (void)state;
    const struct plot_series series = {.label = "", .n_points = 3, .points = three};
    const struct plot plot = plot_of(&series, 1);
    const char *text = drawn(&plot);
    assert_int_equal(count(text, "class=\"line k0\""), 1);
    assert_int_equal(count(text, "class=\"band k0\""), 1);
    assert_int_equal(count(text, "class=\"point k0\""), 3);
    assert_non_null(strstr(text, "<title>2 threads: 2.00 s</title>"));
    assert_non_null(strstr(text, "<td class=\"n\"><data value=\"3e+09\">3.00 s</data></td>"));
    assert_non_null(strstr(text, ">threads</text>"));
    assert_non_null(strstr(text, ">s</text>"));
}

static void several_series_differ_in_class_and_shape_and_bear_their_names(void **state) {
    (void)state;
    const struct plot_series series[] = {{.label = "1 core", .n_points = 3, .points = three},
                                         {.label = "<2> cores", .n_points = 3, .points = three}};
    const struct plot plot = plot_of(series, 2);
    const char *text = drawn(&plot);
    assert_int_equal(count(text, "class=\"name k0\""), 1);
    assert_int_equal(count(text, "class=\"name k1\""), 1);
    assert_non_null(strstr(text, "&lt;2&gt; cores</text>"));
    assert_int_equal(count(text, "m-3.2 0a3.2"), 3); /* discs of the first */
    assert_int_equal(count(text, "m-3-3h6v6h-6z"), 3);
}

static void a_value_that_is_unknown_breaks_the_line_and_says_so(void **state) {
    (void)state;
    const struct plot_point points[] = {{1, 3e9, NAN, "3.00 s", NULL},
                                        {2, 2e9, NAN, "2.00 s", NULL},
                                        {3, NAN, NAN, "-", "no <rule>"},
                                        {4, 1e9, INFINITY, "1.00 s", NULL}};
    const struct plot_series series = {.label = "", .n_points = 4, .points = points};
    const struct plot plot = plot_of(&series, 1);
    const char *text = drawn(&plot);
    assert_int_equal(count(text, "class=\"line k0\""), 1);
    assert_int_equal(count(text, "class=\"band"), 0);
    assert_int_equal(count(text, "class=\"none k0\""), 1);
    assert_non_null(strstr(text, "3 threads: - (no &lt;rule&gt;)"));
    assert_non_null(strstr(text, "<th scope=\"row\">3</th><td class=\"n\">-</td>"));
    assert_null(strstr(text, "nan"));
    assert_null(strstr(text, "inf\""));
}

static void without_a_known_value_there_is_a_sentence(void **state) {
    (void)state;
    const struct plot_point points[] = {{1, NAN, NAN, "-", NULL}};
    const struct plot_series unknown = {.label = "", .n_points = 1, .points = points};
    const struct plot_series empty = {.label = ""};
    const struct plot plots[] = {plot_of(&unknown, 1), plot_of(&empty, 1), plot_of(NULL, 0)};
    for (size_t i = 0; i < 3; i++) {
        const char *text = drawn(&plots[i]);
        assert_null(strstr(text, "<svg"));
        assert_non_null(strstr(text, "No figures"));
    }
}

static void one_point_has_its_interval_as_a_bar(void **state) {
    (void)state;
    const struct plot_series series = {.label = "", .n_points = 1, .points = three};
    const struct plot plot = plot_of(&series, 1);
    const char *text = drawn(&plot);
    assert_int_equal(count(text, "class=\"line"), 0);
    assert_int_equal(count(text, "class=\"band"), 0);
    assert_int_equal(count(text, "class=\"bar k0\""), 1);
    assert_int_equal(count(text, "class=\"point k0\""), 1);
    assert_null(strstr(text, "nan"));
}

static void what_was_measured_is_a_ring_with_its_range(void **state) {
    (void)state;
    const struct plot_mark mark = {2, 2.1e9, 2e9, 2.3e9, "2.10 s", "measured, 3 runs"};
    const struct plot_series series = {
        .label = "", .n_points = 3, .points = three, .n_marks = 1, .marks = &mark};
    const struct plot plot = plot_of(&series, 1);
    const char *text = drawn(&plot);
    assert_int_equal(count(text, "class=\"mark k0\""), 1);
    assert_int_equal(count(text, "class=\"bar k0\""), 1);
    assert_non_null(strstr(text, "<title>measured, 3 runs: 2.10 s</title>"));
    assert_non_null(strstr(text, "title=\"measured, 3 runs\">2.10 s</td>"));
}

static void an_axis_that_ends_at_a_value_is_not_left(void **state) {
    (void)state;
    const struct plot_point points[] = {{1, 0.99, 0.2, "99 %", NULL}, {2, 0.98, 0.2, "98 %", NULL}};
    const struct plot_series series = {.label = "", .n_points = 2, .points = points};
    struct plot plot = plot_of(&series, 1);
    plot.unit = "%";
    plot.unit_size = 0.01;
    plot.top = 1;
    const char *text = drawn(&plot);
    assert_non_null(strstr(text, ">100</text>"));
    assert_null(strstr(text, ">120</text>"));
}

static void a_limit_is_an_upright_line_with_a_name(void **state) {
    (void)state;
    const struct plot_series series = {.label = "", .n_points = 3, .points = three};
    struct plot plot = plot_of(&series, 1);
    plot.x_limit = 4;
    plot.x_limit_name = "saturation 4 /s";
    const char *text = drawn(&plot);
    assert_int_equal(count(text, "class=\"limit\""), 1);
    assert_non_null(strstr(text, ">saturation 4 /s</text>"));
    assert_non_null(strstr(text, ">4</text>"));
}

/* ---- lanes ---- */

static void a_lane_has_steps_where_what_the_thread_does_changes(void **state) {
    (void)state;
    const float computing[] = {1, 1, 0, 0.5F}, ready[] = {0, 0, 0, 0.5F};
    const struct lane lane = {.name = "1 <worker>",
                              .title = "worker & more",
                              .computing = computing,
                              .ready = ready,
                              .from = 0,
                              .to = 1};
    const struct lanes lanes = {
        .n_lanes = 1, .n_bins = 4, .items = &lane, .begin = "0", .end = "4.00 s"};
    FILE *out = begin();
    lanes_print(out, &lanes);
    const char *text = end(out);
    assert_non_null(strstr(text, "class=\"computing\" d=\"M0 20H0V0H2V20H3V10H4V20z\""));
    assert_non_null(strstr(text, "class=\"ready\" d=\"M0 20H0V0H2V20H3V0H4V20z\""));
    assert_non_null(strstr(text, "1 &lt;worker&gt;"));
    assert_non_null(strstr(text, "title=\"worker &amp; more\""));
    assert_non_null(strstr(text, "4.00 s"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_has_a_meaning_in_html_is_escaped),
        cmocka_unit_test(control_characters_and_broken_utf8_are_question_marks),
        cmocka_unit_test(a_format_escapes_its_texts_and_nothing_else),
        cmocka_unit_test(a_number_that_is_none_is_a_dash),
        cmocka_unit_test(a_long_name_keeps_both_its_ends),
        cmocka_unit_test(a_page_has_its_title_escaped_and_refers_to_nothing),
        cmocka_unit_test(a_scale_from_zero_ends_at_a_round_value),
        cmocka_unit_test(nothing_above_zero_still_has_a_scale),
        cmocka_unit_test(values_stand_at_their_shares_of_the_axis),
        cmocka_unit_test(one_value_stands_in_the_middle),
        cmocka_unit_test(a_wide_range_goes_by_powers_of_two),
        cmocka_unit_test(ticks_of_counts_are_whole_and_few),
        cmocka_unit_test(a_series_is_a_line_with_a_band_marks_and_its_values),
        cmocka_unit_test(several_series_differ_in_class_and_shape_and_bear_their_names),
        cmocka_unit_test(a_value_that_is_unknown_breaks_the_line_and_says_so),
        cmocka_unit_test(without_a_known_value_there_is_a_sentence),
        cmocka_unit_test(one_point_has_its_interval_as_a_bar),
        cmocka_unit_test(what_was_measured_is_a_ring_with_its_range),
        cmocka_unit_test(an_axis_that_ends_at_a_value_is_not_left),
        cmocka_unit_test(a_limit_is_an_upright_line_with_a_name),
        cmocka_unit_test(a_lane_has_steps_where_what_the_thread_does_changes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
