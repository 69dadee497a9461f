/* Steps at one place are one node; edges tell how often and with how much computation threads go
 * from node to node. */
/* tests/run: beside others */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "modelgen/modelgen.h"
#include "tests/unit/trace_builder.h"

enum { ROUNDS = 7, ROUND_NS = 10000, NAP_NS = 1000, CPU_NS = 4000 };

/* Main computes and naps so often in one loop, and once more elsewhere. */
static struct model *napping(void) {
    struct trace *trace = builder_new(1);
    builder_thread(trace, "main", -1);
    for (uint64_t i = 1; i <= ROUNDS + 1; i++) {
        uint64_t nap = ROUND_NS * i;
        builder_slice(trace, 0, nap - CPU_NS, nap);
        builder_call(trace, 0, "nanosleep", nap, nap + NAP_NS, 0,
                     builder_context(trace, i <= ROUNDS ? "inside" : "behind", 10, "main", 20));
    }
    builder_finish(trace, ROUND_NS * (ROUNDS + 2));
    return builder_model(trace, NULL);
}

static int node_at(const struct model *model, const char *place) {
    int found = MODEL_NONE;
    for (size_t n = 0; n < model->n_nodes; n++)
        if (strstr(model->nodes[n].name, place)) {
            assert_int_equal(found, MODEL_NONE); /* there is one */
            found = (int)n;
        }
    assert_int_not_equal(found, MODEL_NONE);
    return found;
}

static void a_loop_is_left_after_as_many_rounds_as_it_had(void **state) {
    (void)state;
    struct model *model = napping();
    int inside = node_at(model, "inside ("), behind = node_at(model, "behind (");
    const struct node *node = &model->nodes[inside];
    assert_int_equal(node->n_edges, 2);
    for (size_t e = 0; e < 2; e++) {
        assert_true(node->edges[e].to == (node->edges[e].leaves ? behind : inside));
        assert_true(node->edges[e].leaves != node->edges[1 - e].leaves);
    }
    assert_true(dist_mean(&node->stays) == ROUNDS - 1);
    model_free(model);
}

static void what_is_computed_on_the_way_is_on_the_edges(void **state) {
    (void)state;
    struct model *model = napping();
    const struct node *node = &model->nodes[node_at(model, "inside (")];
    for (size_t e = 0; e < node->n_edges; e++)
        assert_true(dist_mean(&node->edges[e].cpu_ns) == CPU_NS);
    model_free(model);
}

static void a_pool_begins_at_its_entry_and_ends(void **state) {
    (void)state;
    struct model *model = napping();
    assert_int_equal(model->nodes[model->pools[0].entry].kind, NODE_START);
    const struct node *last = &model->nodes[node_at(model, "behind (")];
    assert_int_equal(last->n_edges, 1);
    assert_int_equal(model->nodes[last->edges[0].to].kind, NODE_END);
    model_free(model);
}

enum { WORKERS = 3, SEMAPHORE = 9 };

/* Main takes `taken` of a semaphore that each of its threads has given one to, the last one
 * `by_last`. */
static struct model *handshake(int taken, int by_last) {
    struct trace *trace = builder_new_with_workers(WORKERS);
    uint64_t now = 1000;
    for (int w = 1; w <= WORKERS; w++)
        for (int i = 0; i < (w == WORKERS ? by_last : 1); i++, now += 100)
            builder_call(trace, w, "sem_post", now, now, SEMAPHORE,
                         builder_context(trace, "up", 10, "worker", 20));
    for (int i = 0; i < taken; i++, now += 100)
        builder_call(trace, 0, "sem_wait", now, now + 50, SEMAPHORE,
                     builder_context(trace, "wait", 30, "main", 40));
    for (int w = 1; w <= WORKERS; w++, now += 100)
        builder_join(trace, 0, now, 10, builder_context(trace, "end", 50, "main", 60), w);
    builder_finish(trace, now + 1000);
    builder_run_all(trace, now + 1000);
    return builder_model(trace, NULL);
}

static double growth_of_waits(struct model *model) {
    double growth = model->nodes[node_at(model, "wait (")].stays_scaling.growth;
    model_free(model);
    return growth;
}

static void who_takes_one_of_each_thread_takes_as_many_as_there_are(void **state) {
    (void)state;
    assert_true(growth_of_waits(handshake(WORKERS, 1)) == 1);
}

static void who_takes_what_one_thread_gives_twice_does_not_follow_them(void **state) {
    (void)state;
    assert_true(growth_of_waits(handshake(WORKERS + 1, 2)) == 0);
    assert_true(growth_of_waits(handshake(WORKERS - 1, 1)) == 0);
}

enum { CREATING_NS = 300, BEHIND_NS = 100 };

/* Main creates its workers one behind the other and then a helper, computes, and joins all. */
static struct model *creating(void) {
    struct trace *trace = builder_new_with_workers(WORKERS);
    int helper = builder_thread(trace, "help", 0);
    uint64_t now = 1000;
    for (int w = 1; w <= helper; w++, now += CREATING_NS)
        builder_create(trace, 0, now, CREATING_NS,
                       builder_context(trace, w == helper ? "assist" : "make", 10, "main", 20), w);
    now += BEHIND_NS;
    for (int w = 1; w <= helper; w++, now += 100)
        builder_join(trace, 0, now, 10, builder_context(trace, "end", 50, "main", 60), w);
    builder_finish(trace, now + 1000);
    builder_run_all(trace, now + 1000);
    return builder_model(trace, NULL);
}

static void what_creating_takes_follows_the_number_of_threads(void **state) {
    (void)state;
    struct model *model = creating();
    const struct edge *edge = &model->nodes[node_at(model, "make (")].edges[0];
    assert_true(dist_mean(&edge->cpu_ns) == WORKERS * CREATING_NS);
    assert_true(edge->cpu_scaling.growth == 1);
    assert_string_equal(model->pools[edge->cpu_scaling.pool].name, "worker");
    edge = &model->nodes[node_at(model, "assist (")].edges[0];
    assert_true(dist_mean(&edge->cpu_ns) == CREATING_NS + BEHIND_NS);
    assert_true(edge->cpu_scaling.growth == 0);
    model_free(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_loop_is_left_after_as_many_rounds_as_it_had),
        cmocka_unit_test(what_is_computed_on_the_way_is_on_the_edges),
        cmocka_unit_test(a_pool_begins_at_its_entry_and_ends),
        cmocka_unit_test(what_creating_takes_follows_the_number_of_threads),
        cmocka_unit_test(who_takes_one_of_each_thread_takes_as_many_as_there_are),
        cmocka_unit_test(who_takes_what_one_thread_gives_twice_does_not_follow_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
