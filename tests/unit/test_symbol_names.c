/* Lambdas get the names that the source's analysis has for them. */
/* tests/run: beside others */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "modelgen/events/symbol_names.h"
#include "tests/unit/trace_builder.h"

/* A lambda on the lines 10 to 30 of t.c, and another one inside it. */
static struct facts_lambda lambdas[] = {
    {.file = "t.c", .first_line = 10, .last_line = 30, .name = "operator():10"},
    {.file = "t.c", .first_line = 18, .last_line = 22, .name = "operator():18"},
};
static const struct facts facts = {.lambdas = lambdas, .n_lambdas = 2};

static const char *name_at(struct trace *trace, const char *function, int line) {
    uint32_t context = builder_context(trace, function, line, "main", 5);
    symbol_names_of_lambdas(&facts, trace, NULL);
    return trace->contexts[context].frames[0].function;
}

static void a_call_operator_is_the_innermost_lambda_around_it(void **state) {
    (void)state;
    struct trace *trace = builder_new(1);
    assert_string_equal(name_at(trace, "operator()", 12), "operator():10");
    assert_string_equal(name_at(trace, "operator()", 20), "operator():18");
    trace_free(trace);
}

static void other_functions_and_files_keep_their_names(void **state) {
    (void)state;
    struct trace *trace = builder_new(1);
    assert_string_equal(name_at(trace, "work", 12), "work");
    assert_string_equal(name_at(trace, "operator()", 31), "operator()");
    struct trace_frame elsewhere = {.function = "operator()", .file = "u.c", .line = 12};
    uint32_t context = builder_chain(trace, 1, &elsewhere);
    symbol_names_of_lambdas(&facts, trace, NULL);
    assert_string_equal(trace->contexts[context].frames[0].function, "operator()");
    trace_free(trace);
}

static void samples_are_renamed_alike(void **state) {
    (void)state;
    struct trace *trace = builder_new(1);
    struct sample_node node = {
        .parent = -1, .function = memory_strdup("operator()"), .file = "t.c", .line = 11};
    struct sample sample = {.nodes = &node, .n_nodes = 1};
    symbol_names_of_lambdas(&facts, trace, &sample);
    assert_string_equal(node.function, "operator():10");
    free(node.function);
    trace_free(trace);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_call_operator_is_the_innermost_lambda_around_it),
        cmocka_unit_test(other_functions_and_files_keep_their_names),
        cmocka_unit_test(samples_are_renamed_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
