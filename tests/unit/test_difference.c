/* cli/difference, cli/text/demangle: what differs between two recordings and models. */
/* tests/run: beside others */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/difference/costs.h"
#include "cli/difference/model_changes.h"
#include "cli/text/demangle.h"
#include "tests/unit/trace_builder.h"

/* ---- costs ---- */

static void samples_are_summed_by_function_with_their_error(void **state) {
    (void)state;
    char parse[] = "parse", emit[] = "emit";
    struct sample_node nodes[] = {
        {.parent = -1, .function = parse, .running = 60},
        {.parent = 0, .function = emit, .running = 9, .blocked = 100},
        {.parent = 1, .function = parse, .running = 40},
        {.parent = -1, .function = emit},
    };
    const struct sample sample = {.rate_hz = 1000, .n_nodes = 4, .nodes = nodes};
    struct costs costs = costs_of_functions(&sample);
    assert_int_equal(costs.count, 2);
    assert_string_equal(costs.items[0].name, "emit");
    assert_float_equal(costs.items[0].ns, 9e6, 1);
    assert_float_equal(costs.items[0].error_ns, 3e6, 1);
    assert_string_equal(costs.items[1].name, "parse");
    assert_float_equal(costs.items[1].ns, 100e6, 1);
    assert_float_equal(costs.items[1].error_ns, 10e6, 1);
    costs_free(&costs);
}

static void calls_are_summed_by_caller_and_function(void **state) {
    (void)state;
    char put[] = "put", file[] = "/src/queue.c", module[] = "queue";
    const struct trace_frame frames[] = {
        {.function = put, .file = file, .line = 10, .module = module, .offset = 0x10},
        {.function = put, .file = file, .line = 12, .module = module, .offset = 0x20},
    };
    struct trace *trace = builder_new(1);
    builder_thread(trace, "main", -1);
    builder_call(trace, 0, "pthread_mutex_lock", 1000, 1700, 1, builder_chain(trace, 1, frames));
    builder_call(trace, 0, "pthread_mutex_lock", 2000, 2050, 1,
                 builder_chain(trace, 1, frames + 1));
    builder_call(trace, 0, "pthread_mutex_unlock", 3000, 3000, 1, TRACE_NO_CONTEXT);
    struct costs costs = costs_of_calls(trace);
    assert_int_equal(costs.count, 2);
    assert_string_equal(costs.items[0].name, "?: pthread_mutex_unlock");
    assert_string_equal(costs.items[1].name, "put: pthread_mutex_lock");
    assert_float_equal(costs.items[1].ns, 750, 0.1);
    assert_float_equal(costs.items[1].count, 2, 0.1);
    costs_free(&costs);
    trace_free(trace);
}

static void what_only_one_has_is_paired_with_nothing(void **state) {
    (void)state;
    char a[] = "a", b[] = "b", c[] = "c";
    struct cost old[] = {{.name = a, .ns = 100, .error_ns = 3}, {.name = b, .ns = 50}};
    struct cost new[] = {{.name = a, .ns = 90, .error_ns = 4}, {.name = c, .ns = 20}};
    const struct costs before = {.items = old, .count = 2}, after = {.items = new, .count = 2};
    struct cost_pairs pairs = costs_pair(&before, &after);
    assert_int_equal(pairs.count, 3);
    assert_string_equal(pairs.items[0].name, "b");
    assert_null(pairs.items[0].after);
    assert_float_equal(pairs.items[0].change_ns, -50, 0.1);
    assert_string_equal(pairs.items[1].name, "c");
    assert_null(pairs.items[1].before);
    assert_float_equal(pairs.items[1].change_ns, 20, 0.1);
    assert_float_equal(pairs.items[2].change_ns, -10, 0.1);
    assert_float_equal(pairs.items[2].error_ns, 5, 0.1);
    free(pairs.items);
}

/* ---- models ---- */

static struct model *load_two_pools(const void *unused, struct error *error) {
    (void)unused;
    return model_load("tests/data/two-pools.json", error);
}

static void predict(const struct model *model, const struct thread_choice *threads,
                    struct prediction *prediction) {
    struct error error;
    const struct sim_config config = {.seed = 1};
    assert_int_equal(prediction_make(model, threads, 2, &config, prediction, &error), 0);
    assert_null(prediction->no_figures);
}

/* The later model's first pool that computes does so twice as long. */
static void what_a_pool_computes_is_put_into_the_earlier_model(void **state) {
    (void)state;
    struct error error;
    char own[] = "own";
    const struct thread_choice threads = {.label = own};
    struct model *models[] = {load_two_pools(NULL, &error), load_two_pools(NULL, &error)};
    assert_true(models[0] && models[1]);
    for (size_t i = 0; i < models[1]->n_nodes; i++)
        for (size_t e = 0; e < models[1]->nodes[i].n_edges; e++)
            models[1]->nodes[i].edges[e].cpu_ns.mean *= 2;
    struct prediction predictions[2];
    predict(models[0], &threads, &predictions[0]);
    predict(models[1], &threads, &predictions[1]);
    const struct predicted_model before = {models[0], &predictions[0]};
    const struct predicted_model after = {models[1], &predictions[1]};
    const struct model_source source = {.load = load_two_pools};
    const struct sim_config config = {.seed = 1};
    struct model_changes changes;
    assert_int_equal(model_changes_find(&before, &after, &source, &config, &changes, &error), 0);
    assert_true(changes.count > 0);
    double whole = predictions[1].result.run_ns.mean / predictions[0].result.run_ns.mean - 1;
    assert_non_null(strstr(changes.items[0].what, " computes"));
    assert_true(changes.items[0].factor > 1.5 && changes.items[0].factor < 2.5);
    assert_float_equal(changes.items[0].effect, whole, 0.05);
    model_changes_free(&changes);
    assert_int_equal(model_changes_find(&before, &before, &source, &config, &changes, &error), 0);
    assert_int_equal(changes.count, 0);
    model_changes_free(&changes);
    for (int i = 0; i < 2; i++) {
        prediction_free(&predictions[i]);
        model_free(models[i]);
    }
}

static void lines_are_left_out_of_names(void **state) {
    (void)state;
    static const char *const names[][2] = {
        {"worker: use (bank.c:40)", "worker: use (bank.c)"},
        {"a (x.c:1), b (y.c:22)", "a (x.c), b (y.c)"},
        {"std::thread", "std::thread"},
        {"global:hot", "global:hot"},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *name = name_without_line(names[i][0]);
        assert_string_equal(name, names[i][1]);
        free(name);
    }
}

static void mangled_words_are_demangled_in_place(void **state) {
    (void)state;
    static const char *const texts[][2] = {
        {"_ZNSt6thread4joinEv: pthread_join", "std::thread::join: pthread_join"},
        {"in _ZN5Queue3putEi (q.cpp:3)", "in Queue::put (q.cpp:3)"},
        {"_Zebra", "_Zebra"},
        {"plain", "plain"},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char *shown = demangle_words(texts[i][0]);
        assert_string_equal(shown, texts[i][1]);
        free(shown);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_are_summed_by_function_with_their_error),
        cmocka_unit_test(calls_are_summed_by_caller_and_function),
        cmocka_unit_test(what_only_one_has_is_paired_with_nothing),
        cmocka_unit_test(what_a_pool_computes_is_put_into_the_earlier_model),
        cmocka_unit_test(lines_are_left_out_of_names),
        cmocka_unit_test(mangled_words_are_demangled_in_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
