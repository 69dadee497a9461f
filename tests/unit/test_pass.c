/* modelgen/pass and modelgen/decision_log: passes run in an order that makes sense, and what they
 * decide is kept. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "modelgen/decision_log.h"
#include "modelgen/pass.h"
#include "modelgen/passes.h"

/* The runner does not look into it: this one only says which passes ran. */
struct build {
    char ran[8];
};

enum { WATER = 1, TEA = 2, MILK = 4 };

static void run_boil(struct build *build) {
    strcat(build->ran, "b");
}
static void run_steep(struct build *build) {
    strcat(build->ran, "s");
}
static void run_sweeten(struct build *build) {
    strcat(build->ran, "w");
}
static void run_pour(struct build *build) {
    strcat(build->ran, "p");
}

static void dump_water(const struct build *build, FILE *out) {
    fprintf(out, "water after %s\n", build->ran);
}
static void dump_tea(const struct build *build, FILE *out) {
    fprintf(out, "tea after %s\n", build->ran);
}

static const struct form forms[] = {{"water", "hot", dump_water}, {"tea", "black", dump_tea}};

static struct pass kitchen[] = {
    {"boil", 0, WATER, false, "first", run_boil},
    {"steep", WATER, TEA, false, "in hot water", run_steep},
    {"sweeten", TEA, TEA, true, "before it is poured", run_sweeten},
    {"pour", TEA, 0, false, "last", run_pour},
};
/* Tea with sugar in it is cold. */
static int check(const char *form, const struct build *build, struct error *error) {
    if (strcmp(form, "tea") == 0 && strchr(build->ran, 'w'))
        return error_set(error, "after %s it is cold", build->ran);
    return 0;
}

static const struct pass_list list = {
    .passes = kitchen, .n_passes = 4, .forms = forms, .n_forms = 2};
static const struct pass_list checked = {
    .passes = kitchen, .n_passes = 4, .forms = forms, .n_forms = 2, .check = check};

static struct build run(const struct pass_list *of, struct pass_choice choice, enum pass_end *end,
                        char **said, struct error *error) {
    struct build build = {""};
    size_t bytes;
    FILE *out = open_memstream(said, &bytes);
    assert_int_equal(pass_choice_check(of, &choice, NULL), 0);
    *end = pass_run(of, &choice, &build, out, error);
    fclose(out);
    return build;
}

static void assert_runs(struct pass_choice choice, const char *ran, bool is_whole,
                        const char *said) {
    enum pass_end end;
    char *printed;
    struct build build = run(&list, choice, &end, &printed, NULL);
    assert_string_equal(build.ran, ran);
    assert_int_equal(end, is_whole ? PASS_END : PASS_STOPPED);
    assert_string_equal(printed, said);
    free(printed);
}

static void all_passes_run_in_the_order_of_the_list(void **state) {
    (void)state;
    assert_runs((struct pass_choice){0}, "bswp", true, "");
}

static void a_pass_that_is_left_out_does_not_run(void **state) {
    (void)state;
    const char *without[] = {"sweeten"};
    assert_runs((struct pass_choice){.without = without, .n_without = 1}, "bsp", true, "");
}

static void nothing_runs_behind_the_pass_to_stop_after(void **state) {
    (void)state;
    const char *without[] = {"sweeten"};
    assert_runs((struct pass_choice){.stop_after = "steep"}, "bs", false, "");
    assert_runs((struct pass_choice){.stop_after = "sweeten", .without = without, .n_without = 1},
                "bs", false, "");
}

static void what_a_pass_wrote_is_printed_right_after_it(void **state) {
    (void)state;
    assert_runs((struct pass_choice){.dump_after = "boil"}, "bswp", true,
                "== water after boil: hot\nwater after b\n");
    assert_runs((struct pass_choice){.dump_after = "sweeten", .stop_after = "sweeten"}, "bsw",
                false, "== tea after sweeten: black\ntea after bsw\n");
    assert_runs((struct pass_choice){.dump_after = "pour"}, "bswp", true,
                "== pour writes no form\n");
}

static void a_form_that_a_pass_broke_ends_the_run(void **state) {
    (void)state;
    enum pass_end end;
    char *printed;
    struct error error = {0};
    struct build build =
        run(&checked, (struct pass_choice){.dump_after = "sweeten", .strict = true}, &end, &printed,
            &error);
    assert_int_equal(end, PASS_BROKEN);
    assert_string_equal(build.ran, "bsw");
    assert_string_equal(error.text, "internal error: pass 'sweeten' broke the form 'tea': after "
                                    "bsw it is cold: report it with this recording");
    assert_string_equal(printed, "== tea after sweeten: black\ntea after bsw\n");
    free(printed);
}

static char broke[sizeof((struct error *)NULL)->text];

static void keep_broken(struct build *build, const char *what) {
    (void)build;
    strcpy(broke, what);
}

static void a_run_that_is_not_strict_goes_on_and_tells_what_broke(void **state) {
    (void)state;
    struct pass_list telling = checked;
    telling.broke = keep_broken;
    enum pass_end end;
    char *printed;
    struct error error = {0};
    struct build build = run(&telling, (struct pass_choice){0}, &end, &printed, &error);
    assert_int_equal(end, PASS_END);
    assert_string_equal(build.ran, "bswp");
    assert_non_null(strstr(broke, "pass 'sweeten' broke the form 'tea'"));
    free(printed);
}

static void a_form_is_not_checked_after_a_pass_that_did_not_run(void **state) {
    (void)state;
    const char *without[] = {"sweeten"};
    enum pass_end end;
    char *printed;
    struct build build = run(&checked, (struct pass_choice){.without = without, .n_without = 1},
                             &end, &printed, NULL);
    assert_int_equal(end, PASS_END);
    assert_string_equal(build.ran, "bsp");
    free(printed);
}

static void assert_refused(struct pass_choice choice, const char *with) {
    struct error error = {0};
    assert_int_equal(pass_choice_check(&list, &choice, &error), -1);
    assert_non_null(strstr(error.text, with));
}

static void choices_that_make_no_sense_are_refused(void **state) {
    (void)state;
    const char *unknown[] = {"brew"}, *needed[] = {"steep"}, *optional[] = {"sweeten"};
    assert_refused((struct pass_choice){.without = unknown, .n_without = 1}, "--without brew");
    assert_refused((struct pass_choice){.without = needed, .n_without = 1}, "--without steep");
    assert_refused((struct pass_choice){.stop_after = "brew"}, "--stop-after brew");
    assert_refused((struct pass_choice){.dump_after = "brew"}, "--dump-after brew");
    assert_refused((struct pass_choice){.dump_after = "pour", .stop_after = "boil"}, "behind");
    assert_refused(
        (struct pass_choice){.dump_after = "sweeten", .without = optional, .n_without = 1},
        "leaves this pass out");
}

/* The list with one pass as it should not be. */
static void assert_bad_list(size_t at, struct pass pass, const char *with) {
    struct pass copy[4];
    memcpy(copy, kitchen, sizeof copy);
    copy[at] = pass;
    const struct pass_list bad = {.passes = copy, .n_passes = 4, .forms = forms, .n_forms = 2};
    struct error error = {0};
    assert_int_equal(pass_list_check(&bad, &error), -1);
    assert_non_null(strstr(error.text, with));
}

static void reading_a_form_before_it_is_written_is_refused(void **state) {
    (void)state;
    assert_int_equal(pass_list_check(&list, NULL), 0);
    assert_bad_list(0, (struct pass){"boil", TEA, WATER, false, "", run_boil},
                    "'boil' reads 'tea'");
    assert_bad_list(3, (struct pass){"pour", MILK, 0, false, "", run_pour}, "'pour' reads");
}

static void an_optional_pass_is_never_the_first_to_write_a_form(void **state) {
    (void)state;
    assert_bad_list(1, (struct pass){"steep", WATER, TEA, true, "", run_steep},
                    "'steep' is optional");
}

static void the_passes_of_modelgen_are_in_order(void **state) {
    (void)state;
    assert_true(passes.n_passes > 30);
    assert_int_equal(pass_list_check(&passes, NULL), 0);
    for (size_t p = 0; p < passes.n_passes; p++)
        for (size_t other = 0; other < p; other++)
            assert_string_not_equal(passes.passes[p].name, passes.passes[other].name);
}

/* ---- decisions ---- */

static const char *text_of(const json_t *decisions, size_t i, const char *key) {
    return json_string_value(json_object_get(json_array_get(decisions, i), key));
}

static void decisions_are_kept_in_their_order_as_json(void **state) {
    (void)state;
    char folder[] = "/tmp/persik-test.XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/decisions.json", folder);
    struct decision_log kept = {0};
    struct decision_log *before = decision_log_use(&kept);
    decision("pipes", "pipe 3", "queue", "%d items", 7);
    decision_alias("pipe 3", "queue of lines");
    decision_alias("pipe 3", "queue of lines");
    decision("pipes", "pipe \"\xff\n", "rejected", "half a line");
    assert_ptr_equal(decision_log_use(before), &kept);
    decision("pipes", "pipe 5", "queue", "nobody asks");
    assert_int_equal(kept.count, 2);
    assert_int_equal(decision_log_save(&kept, path, NULL), 0);
    decision_log_free(&kept);
    assert_int_equal(kept.count, 0);

    struct stat about;
    assert_int_equal(stat(path, &about), 0);
    assert_int_equal(about.st_mode & 0777, 0600);
    json_t *json = json_load_file(path, 0, NULL);
    const json_t *decisions = json_object_get(json, "decisions");
    assert_int_equal(json_array_size(decisions), 2);
    assert_string_equal(text_of(decisions, 0, "pass"), "pipes");
    assert_string_equal(text_of(decisions, 0, "subject"), "pipe 3");
    assert_string_equal(text_of(decisions, 0, "verdict"), "queue");
    assert_string_equal(text_of(decisions, 0, "evidence"), "7 items");
    assert_string_equal(text_of(decisions, 1, "subject"), "pipe \"??");
    const json_t *aliases = json_object_get(json_array_get(decisions, 0), "aliases");
    assert_int_equal(json_array_size(aliases), 1);
    assert_string_equal(json_string_value(json_array_get(aliases, 0)), "queue of lines");
    assert_null(json_object_get(json_array_get(decisions, 1), "aliases"));
    json_decref(json);
    unlink(path);
    rmdir(folder);
}

static void what_is_decided_on_a_subject_is_found_by_its_other_names(void **state) {
    (void)state;
    struct decision_log kept = {0};
    struct decision_log *before = decision_log_use(&kept);
    decision("pipes", "main (m.c:3)", "shown as", "put");
    decision_alias("main (m.c:3)", "object 0xf0");
    decision("monitor_search", "mutex 0x1", "queue", "a counter");
    decision("monitor_search", "mutex 0x2", "queue", "a counter");
    decision_alias("mutex 0x1", "queue of jobs");
    decision_alias("object 0xf0", "queue of jobs");
    decision_alias("queue of jobs", "mutex 0x1"); /* a circle */
    decision("lower", "queue of jobs", "queue", "replayed");
    decision_log_use(before);
    decision_alias("mutex 0x2", "queue of jobs"); /* without a log */
    bool on[4] = {false};
    decision_log_mark(&kept, "queue of jobs", on);
    assert_true(on[0] && on[1] && !on[2] && on[3]);
    decision_log_mark(&kept, "mutex 0x2", on);
    assert_true(on[2]);
    decision_log_free(&kept);
}

static void a_log_that_cannot_be_written_says_where(void **state) {
    (void)state;
    struct decision_log empty = {0};
    struct error error = {0};
    assert_int_equal(decision_log_save(&empty, "/nonexistent/decisions.json", &error), -1);
    assert_non_null(strstr(error.text, "/nonexistent/decisions.json"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_passes_run_in_the_order_of_the_list),
        cmocka_unit_test(a_pass_that_is_left_out_does_not_run),
        cmocka_unit_test(nothing_runs_behind_the_pass_to_stop_after),
        cmocka_unit_test(what_a_pass_wrote_is_printed_right_after_it),
        cmocka_unit_test(a_form_that_a_pass_broke_ends_the_run),
        cmocka_unit_test(a_run_that_is_not_strict_goes_on_and_tells_what_broke),
        cmocka_unit_test(a_form_is_not_checked_after_a_pass_that_did_not_run),
        cmocka_unit_test(choices_that_make_no_sense_are_refused),
        cmocka_unit_test(reading_a_form_before_it_is_written_is_refused),
        cmocka_unit_test(an_optional_pass_is_never_the_first_to_write_a_form),
        cmocka_unit_test(the_passes_of_modelgen_are_in_order),
        cmocka_unit_test(decisions_are_kept_in_their_order_as_json),
        cmocka_unit_test(what_is_decided_on_a_subject_is_found_by_its_other_names),
        cmocka_unit_test(a_log_that_cannot_be_written_says_where),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
