/* Names of files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "base/memory.h"
#include "base/path.h"

static void assert_normal(const char *path, const char *expected) {
    char *text = memory_strdup(path);
    path_normalise(text);
    assert_string_equal(text, expected);
    free(text);
}

static void a_file_has_one_name_however_its_compiler_was_told_of_it(void **state) {
    (void)state;
    assert_normal("/build/unix/../src/render.c", "/build/src/render.c");
    assert_normal("/build/./a//b.c", "/build/a/b.c");
    assert_normal("/build/a/b/../../../src/c.c", "/src/c.c");
    assert_normal("/../a.c", "/a.c");
    assert_normal("/", "/");
    assert_normal("", "");
    assert_normal("/a/..b/.c", "/a/..b/.c");
}

static void a_relative_name_keeps_what_leads_out(void **state) {
    (void)state;
    assert_normal("../../src/a.c", "../../src/a.c");
    assert_normal("../x/../a.c", "../a.c");
    assert_normal("./a.c", "a.c");
    assert_normal("x/../a.c", "a.c");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_has_one_name_however_its_compiler_was_told_of_it),
        cmocka_unit_test(a_relative_name_keeps_what_leads_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
