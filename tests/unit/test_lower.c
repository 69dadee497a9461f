/* Calls become steps of the model: what nobody waits for is left out, what belongs together is one.
 */
/* tests/run: beside others */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "modelgen/modelgen.h"
#include "tests/unit/trace_builder.h"

enum { MUTEX = 0x1000, ROUNDS = 20, ROUND_NS = 10000, LONG_NS = 1000 };

static size_t nodes_of(const struct model *model, enum node_kind kind) {
    size_t n = 0;
    for (size_t i = 0; i < model->n_nodes; i++)
        n += model->nodes[i].kind == kind;
    return n;
}

/* Two workers hold a mutex for so long in each round; the second one comes when the first has it,
 * or later. */
static struct model *workers_at_mutex(uint64_t hold_ns, bool meet) {
    struct trace *trace = builder_new_with_workers(2);
    uint32_t create = builder_context(trace, "main", 900, "main", 900);
    uint32_t join = builder_context(trace, "main", 910, "main", 910);
    uint32_t lock = builder_context(trace, "work", 10, "worker", 100);
    uint32_t unlock = builder_context(trace, "work", 12, "worker", 100);
    uint64_t end = ROUND_NS * (ROUNDS + 1);
    for (int t = 1; t <= 2; t++)
        builder_create(trace, 0, (uint64_t)t, 0, create, t);
    for (uint64_t i = 1; i <= ROUNDS; i++) {
        uint64_t now = ROUND_NS * i, then = meet ? now + 100 : now + 3000;
        uint64_t got = meet ? now + hold_ns + 10 : then;
        builder_call(trace, 1, "pthread_mutex_lock", now, now, MUTEX, lock);
        builder_call(trace, 1, "pthread_mutex_unlock", now + hold_ns, now + hold_ns, MUTEX, unlock);
        builder_call(trace, 2, "pthread_mutex_lock", then, got, MUTEX, lock);
        builder_call(trace, 2, "pthread_mutex_unlock", got + hold_ns, got + hold_ns, MUTEX, unlock);
    }
    for (int t = 1; t <= 2; t++)
        builder_join(trace, 0, end - ROUND_NS + (uint64_t)t, ROUND_NS - 10, join, t);
    builder_run_all(trace, end);
    builder_finish(trace, end);
    return builder_model(trace, NULL);
}

static void a_mutex_that_is_waited_for_is_locked(void **state) {
    (void)state;
    struct model *model = workers_at_mutex(LONG_NS, true);
    assert_int_equal(model->n_objects, 1);
    assert_int_equal(model->objects[0].kind, OBJECT_MUTEX);
    assert_int_equal(nodes_of(model, NODE_LOCK), 1);
    assert_int_equal(nodes_of(model, NODE_UNLOCK), 1);
    model_free(model);
}

/* More threads would wait for it. */
static void so_is_one_that_is_held_for_long(void **state) {
    (void)state;
    struct model *model = workers_at_mutex(LONG_NS, false);
    assert_int_equal(nodes_of(model, NODE_LOCK), 1);
    model_free(model);
}

/* With more threads, too, nobody would wait for it: what is computed there joins what is around. */
static void one_that_is_hardly_held_vanishes(void **state) {
    (void)state;
    struct model *model = workers_at_mutex(1, false);
    assert_int_equal(nodes_of(model, NODE_LOCK), 0);
    assert_int_equal(nodes_of(model, NODE_UNLOCK), 0);
    model_free(model);
}

static void the_creations_of_a_pool_are_one(void **state) {
    (void)state;
    struct model *model = workers_at_mutex(LONG_NS, true);
    assert_int_equal(model->n_pools, 2);
    assert_int_equal(model->pools[1].profiled_threads, 2);
    assert_int_equal(nodes_of(model, NODE_CREATE), 1);
    assert_int_equal(nodes_of(model, NODE_JOIN), 1);
    model_free(model);
}

static void a_sleep_takes_as_long_as_it_did(void **state) {
    (void)state;
    struct trace *trace = builder_new(1);
    builder_thread(trace, "main", -1);
    builder_call(trace, 0, "nanosleep", 100, 600100, 0,
                 builder_context(trace, "rest", 10, "main", 20));
    builder_finish(trace, 1000000);
    struct model *model = builder_model(trace, NULL);
    assert_int_equal(nodes_of(model, NODE_SLEEP), 1);
    for (size_t n = 0; n < model->n_nodes; n++)
        if (model->nodes[n].kind == NODE_SLEEP)
            assert_true(dist_mean(&model->nodes[n].wait_ns) == 600000);
    model_free(model);
}

/* A call that returns at `end`; a thread that sleeps in it is woken 50 ns before. */
static void on_socket(struct trace *trace, int thread, const char *api, int descriptor,
                      uint64_t start_ns, uint64_t end_ns, int value) {
    builder_record(trace, thread, api, start_ns, end_ns - start_ns, (uint64_t)descriptor,
                   builder_context(trace, api, 1, "serve", 2), value);
}

/* Main accepts, and makes a thread for each connection; over each come so many requests. */
static struct model *thread_for_each_connection(uint64_t requests) {
    enum { LISTENER = 3, CONNECTIONS = 4, EACH_NS = 10000 };
    struct trace *trace = builder_new(2);
    trace->meta.has_wakes = true;
    uint64_t end = EACH_NS * (CONNECTIONS + 2) * (requests + 1);
    builder_thread(trace, "main", -1);
    for (uint64_t i = 1; i <= CONNECTIONS; i++) {
        uint64_t at = i * EACH_NS;
        on_socket(trace, 0, "accept", LISTENER, at - 5000, at, 10 + (int)i);
        builder_run(trace, 0, 0, at - 50, at - 40, at + 500, false);
        int made = builder_thread(trace, "serve", 0);
        builder_create(trace, 0, at + 10, 20, builder_context(trace, "main", 900, "main", 900),
                       made);
        for (uint64_t r = 0; r < requests; r++) {
            uint64_t came = at + 1000 + r * EACH_NS;
            on_socket(trace, made, "read", 10 + (int)i, r ? came - 4000 : came - 100, came, 16);
            builder_run(trace, made, 1, r ? came - 50 : came - 200, came - 40, came + 900, false);
            on_socket(trace, made, "write", 10 + (int)i, came + 790, came + 800, 16);
        }
    }
    on_socket(trace, 0, "accept", LISTENER, (CONNECTIONS + 1) * EACH_NS, end, -1);
    builder_finish(trace, end);
    for (int t = 1; t <= CONNECTIONS; t++)
        builder_life(trace, t, (uint64_t)t * EACH_NS + 20,
                     (uint64_t)t * EACH_NS + 2000 + requests * EACH_NS);
    return builder_model(trace, NULL);
}

static void a_thread_that_is_made_for_a_request_is_made_for_each(void **state) {
    (void)state;
    struct model *model = thread_for_each_connection(1);
    assert_int_equal(model->n_pools, 2);
    assert_true(model->pools[1].per_task);
    assert_false(model->pools[1].scales);
    assert_int_equal(nodes_of(model, NODE_GET), 1);
    assert_int_equal(nodes_of(model, NODE_CREATE), 1);
    assert_int_equal(nodes_of(model, NODE_TASK_END), 1);
    model_free(model);
}

/* Else the program would end while threads take requests. */
static void who_listens_to_the_end_waits_for_those_who_serve(void **state) {
    (void)state;
    struct model *model = thread_for_each_connection(3);
    assert_int_equal(model->n_pools, 2);
    assert_false(model->pools[1].per_task);
    assert_false(model->pools[1].scales);
    assert_int_equal(nodes_of(model, NODE_CREATE), 1);
    assert_int_equal(nodes_of(model, NODE_JOIN), 1);
    model_free(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_mutex_that_is_waited_for_is_locked),
        cmocka_unit_test(so_is_one_that_is_held_for_long),
        cmocka_unit_test(one_that_is_hardly_held_vanishes),
        cmocka_unit_test(the_creations_of_a_pool_are_one),
        cmocka_unit_test(a_sleep_takes_as_long_as_it_did),
        cmocka_unit_test(a_thread_that_is_made_for_a_request_is_made_for_each),
        cmocka_unit_test(who_listens_to_the_end_waits_for_those_who_serve),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
