/* Which call sites are one place in the source. */
/* tests/run: beside others */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "modelgen/events/source_correlation.h"
#include "tests/unit/trace_builder.h"

static uint32_t at(struct trace *trace, int line, uint64_t offset, int caller_line) {
    const struct trace_frame chain[] = {
        {.function = "put", .file = "t.c", .line = line, .module = "t", .offset = offset},
        {.function = "main", .file = "t.c", .line = caller_line, .module = "t", .offset = 7}};
    return builder_chain(trace, 2, chain);
}

/* The compiler may have copied the code. */
static void copies_of_one_line_are_one_place(void **state) {
    (void)state;
    struct trace *trace = builder_new(1);
    uint32_t one = at(trace, 10, 0x100, 20), copy = at(trace, 10, 0x200, 20);
    uint32_t *places = source_places(trace);
    assert_int_not_equal(one, copy);
    assert_int_equal(places[copy], places[one]);
    free(places);
    trace_free(trace);
}

static void other_lines_and_callers_are_others(void **state) {
    (void)state;
    struct trace *trace = builder_new(1);
    uint32_t one = at(trace, 10, 0x100, 20), line = at(trace, 11, 0x100, 20),
             caller = at(trace, 10, 0x100, 21);
    uint32_t *places = source_places(trace), *innermost = source_places_within(trace, 1);
    assert_int_not_equal(places[line], places[one]);
    assert_int_not_equal(places[caller], places[one]);
    assert_int_equal(innermost[caller], innermost[one]);
    free(places);
    free(innermost);
    trace_free(trace);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies_of_one_line_are_one_place),
        cmocka_unit_test(other_lines_and_callers_are_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
