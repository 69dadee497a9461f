/* Models put together at random, sound but without sense: locks released by nobody, barriers that
 * never fill, loops of all kinds. Whatever they are, the simulator comes to an end, and its books
 * balance. */
/* tests/run: beside others */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "simulator/random.h"
#include "simulator/simulator.h"
#include "tests/unit/model_builder.h"

#define MODELS     1500
#define HORIZON_NS 1e5
#define N_KINDS    ((int)NODE_TASK_END + 1)
#define N_OBJECTS  ((int)OBJECT_LINK + 1)
#define N_SECTIONS 4

static int below(struct random_stream *random, int n) {
    return (int)random_below(random, (uint32_t)n);
}

static struct dist random_dist(struct random_stream *random, double scale) {
    double values[3] = {0, scale, scale * 2.5};
    switch (below(random, 5)) {
    case 0:
        return (struct dist){.kind = DIST_NONE};
    case 1:
        return constant(scale);
    case 2:
        return exponential(scale);
    case 3:
        return dist_from_values(values, 3, 3);
    default:
        return constant(scale / 3);
    }
}

static const char *pick(struct random_stream *random, const char *const *texts, int n) {
    return texts[below(random, n)];
}

/* Variables 0 and 1 are shared, 2 is of each thread. */
static void add_statements(struct model *model, int monitor, struct random_stream *random) {
    static const char *const values[] = {"$0 1 +", "$1 1 -", "$0 $2 +", "0", "$2 $1 - 3 %"};
    static const char *const predicates[] = {"$0 2 >", "$1 0 ==", "$0 $1 < $2 3 < &&", "$2 1 >"};
    bool answers = false;
    build_statements(model, monitor);
    for (int n = below(random, 5); n >= 0; n--) {
        const char *guard = below(random, 2) ? pick(random, predicates, 4) : NULL;
        int kind = below(random, 4), condition = below(random, 3);
        if (kind == STATEMENT_WAIT) {
            build_wait(model, monitor, guard, condition, pick(random, predicates, 4));
        } else if (kind == STATEMENT_UPDATE) {
            bool tells = guard && !answers && below(random, 3) == 0;
            answers |= tells;
            build_update(model, monitor, guard, below(random, 3), pick(random, values, 5))
                ->answers = tells;
        } else {
            build_telling(model, monitor, guard, (enum statement_kind)kind, condition);
        }
    }
}

static void add_parts(struct model *model, int monitor, struct random_stream *random) {
    for (int i = 0; i < 3; i++) {
        build_variable(model, monitor, below(random, 3), i == 2);
        build_condition(model, monitor);
    }
    for (int i = 0; i < N_SECTIONS; i++)
        add_statements(model, monitor, random);
}

/* One object of each kind, in the order of the kinds. */
static void add_objects(struct model *model, struct random_stream *random) {
    for (int kind = 0; kind < N_OBJECTS; kind++) {
        int object = build_object(model, (enum object_kind)kind, 1 + below(random, 4));
        struct object *added = &model->objects[object];
        added->bounded = below(random, 2);
        added->condition = below(random, 2);
        added->wakes_all = below(random, 2);
        added->when_enough = below(random, 2);
        added->handed = below(random, 2);
        if (kind == OBJECT_QUEUE && below(random, 2))
            added->condition_of = OBJECT_TOKENS;
        if (kind == OBJECT_ORDER && below(random, 2))
            added->dealt_to = 0;
        if (kind == OBJECT_ORDER && below(random, 2)) {
            added->in_steps = true;
            added->distance = below(random, 3);
            added->lead = below(random, 4) - 1;
        }
        added->initial_items = below(random, 3);
        if (kind == OBJECT_DISK)
            added->service_ns = constant(70);
        if (kind == OBJECT_QUEUE && below(random, 3) == 0)
            added->interarrival_ns = exponential(500);
        if (kind == OBJECT_QUEUE && below(random, 2)) {
            added->comes_by = added->goes_by = OBJECT_LINK;
            added->request_bytes = added->reply_bytes = exponential(200);
            added->connects = below(random, 2);
        }
        if (kind == OBJECT_LINK) {
            added->latency_ns = below(random, 300);
            added->bytes_per_s = 1e9 * below(random, 3);
        }
        if (kind == OBJECT_MONITOR)
            add_parts(model, object, random);
    }
}

static const int object_of[N_KINDS] = {
    [NODE_START] = MODEL_NONE,      [NODE_END] = MODEL_NONE,
    [NODE_STEP] = MODEL_NONE,       [NODE_LOCK] = OBJECT_MUTEX,
    [NODE_UNLOCK] = OBJECT_MUTEX,   [NODE_RDLOCK] = OBJECT_RWLOCK,
    [NODE_WRLOCK] = OBJECT_RWLOCK,  [NODE_RWUNLOCK] = OBJECT_RWLOCK,
    [NODE_ACQUIRE] = OBJECT_TOKENS, [NODE_RELEASE] = OBJECT_TOKENS,
    [NODE_PUT] = OBJECT_QUEUE,      [NODE_GET] = OBJECT_QUEUE,
    [NODE_CLOSE] = OBJECT_QUEUE,    [NODE_WAIT] = OBJECT_FLAG,
    [NODE_SIGNAL] = OBJECT_FLAG,    [NODE_BARRIER] = OBJECT_BARRIER,
    [NODE_CREATE] = MODEL_NONE,     [NODE_JOIN] = MODEL_NONE,
    [NODE_SLEEP] = MODEL_NONE,      [NODE_IO] = OBJECT_DISK,
    [NODE_TASK_BEGIN] = MODEL_NONE, [NODE_TASK_END] = MODEL_NONE,
    [NODE_DRAW] = OBJECT_ORDER,     [NODE_TURN] = OBJECT_ORDER,
    [NODE_PASS] = OBJECT_ORDER,     [NODE_COLLECT] = OBJECT_ORDER,
    [NODE_ADVANCE] = OBJECT_ORDER,  [NODE_STATEMENTS] = OBJECT_MONITOR,
};

static bool can_wait_in_monitor(enum node_kind kind) {
    return kind == NODE_ACQUIRE || kind == NODE_PUT || kind == NODE_GET || kind == NODE_WAIT;
}

static bool can_time_out(enum node_kind kind) {
    return can_wait_in_monitor(kind) || kind == NODE_LOCK || kind == NODE_RDLOCK ||
           kind == NODE_WRLOCK;
}

static void add_node(struct model *model, struct random_stream *random) {
    enum node_kind kind = (enum node_kind)(NODE_STEP + below(random, N_KINDS - NODE_STEP));
    int object = object_of[kind];
    if ((kind == NODE_LOCK || kind == NODE_UNLOCK) && below(random, 3) == 0)
        object = OBJECT_SPIN;
    int index = build_node(model, kind, object);
    struct node *node = &model->nodes[index];
    if (can_wait_in_monitor(kind) && below(random, 2))
        node->mutex = OBJECT_MUTEX;
    if (kind == NODE_STATEMENTS) {
        node->mutex = OBJECT_MUTEX;
        node->section = below(random, N_SECTIONS);
    }
    if (kind == NODE_CREATE || kind == NODE_JOIN)
        node->target_pool = below(random, (int)model->n_pools);
    if (can_time_out(kind))
        node->timeout_ns = below(random, 3) * 150.0 - 150;
    node->count = below(random, 4) / 2.0;
    if (kind == NODE_PUT && model->objects[object].bounded && node->count > 1)
        node->count = 1;
    node->cpu_ns = random_dist(random, 20);
    node->wait_ns = random_dist(random, 200);
    node->operations = random_dist(random, 1.5);
}

/* May the node end with "no"? */
static bool can_fail(const struct model *model, const struct node *node) {
    return can_time_out(node->kind) ||
           (node->kind == NODE_STATEMENTS &&
            statement_section_answers(&model->objects[OBJECT_MONITOR].sections[node->section]));
}

static void add_edges(struct model *model, int node, struct random_stream *random) {
    bool has_runs = below(random, 2);
    int n = 2 + below(random, 3);
    for (int i = 0; i < n; i++) {
        struct edge *edge = build_edge(model, node, below(random, (int)model->n_nodes));
        edge->probability = 0.1 + below(random, 3);
        edge->cpu_ns = random_dist(random, 100);
        if (i == 2 && below(random, 4) == 0)
            edge->taker = (enum taker)(TAKER_FIRST + below(random, 3));
        if (has_runs) {
            edge->runs = random_dist(random, 2);
            edge->first = below(random, 2);
            edge->runs_scaling = (struct scaling){.share = below(random, 2), .pool = 0};
        }
        /* the first for yes, the second for no, so that every outcome has a way on */
        if (can_fail(model, &model->nodes[node]))
            edge->when = i == 0   ? OUTCOME_YES
                         : i == 1 ? OUTCOME_NO
                                  : (enum outcome)below(random, 3);
    }
}

static struct model *build_random_model(uint64_t seed) {
    struct random_stream random = random_open(seed, 0, 0, 0);
    struct model *model = build_model(1 + below(&random, 4));
    model->machine.quantum_ns = 50 + below(&random, 2000);
    model->machine.switch_cpu_ns = below(&random, 2) * 3.0;
    model->machine.signals_wait = below(&random, 2);
    model->machine.block_cpu_ns = below(&random, 2) * 2.0;
    model->machine.wake_cpu_ns = below(&random, 2) * 2.0;
    model->machine.wake_latency_ns = random_dist(&random, 30);
    add_objects(model, &random);
    int n_pools = 1 + below(&random, 3);
    for (int i = 0; i < n_pools; i++)
        build_pool(model, 1 + below(&random, 5), i == 0 || below(&random, 2));
    build_node(model, NODE_END, MODEL_NONE);
    int n = 5 + below(&random, 25);
    for (int i = 0; i < n; i++)
        add_node(model, &random);
    for (size_t i = 0; i < model->n_nodes; i++) {
        if (model->nodes[i].kind != NODE_END)
            add_edges(model, (int)i, &random);
    }
    return model;
}

/* Every thread's time is CPU, ready or blocked, and no more CPU is used than there is. */
static void assert_books_balance(const struct sim_result *result, const struct model *model,
                                 double window_ns) {
    const double rounding = 1e-6 * HORIZON_NS;
    assert_true(result->cpu_ns.mean <= model->machine.cores * window_ns + rounding);
    for (size_t i = 0; i < result->n_pools; i++) {
        const struct sim_pool_result *pool = &result->pools[i];
        double life = pool->cpu_ns.mean + pool->ready_ns.mean + pool->blocked_ns.mean;
        assert_true(pool->cpu_ns.mean >= 0 && pool->ready_ns.mean >= 0);
        assert_true(pool->blocked_ns.mean >= 0 && life <= window_ns + rounding);
    }
    for (size_t i = 0; i < result->n_objects; i++) {
        const struct sim_object_result *object = &result->objects[i];
        assert_true(object->utilisation.mean >= 0 && object->utilisation.mean <= 1 + 1e-9);
        assert_true(object->length.mean >= 0 && object->wait_ns.mean >= 0);
    }
    const struct object *queue = &model->objects[OBJECT_QUEUE];
    if (queue->bounded && queue->initial_items <= queue->amount.base)
        assert_true(result->objects[OBJECT_QUEUE].length.mean <= queue->amount.base + 1e-9);
}

static void test_any_sound_model_comes_to_an_end_and_its_books_balance(void **state) {
    (void)state;
    int finished = 0;
    double stalls = 0;
    for (uint64_t seed = 1; seed <= MODELS; seed++) {
        struct model *model = build_random_model(seed);
        struct sim_config config = {
            .seed = seed, .min_replications = 2, .max_replications = 2, .horizon_ns = HORIZON_NS};
        struct sim_result result;
        struct error error = {0};
        assert_int_equal(model_check(model, &error), 0);
        if (sim_predict(model, &config, &result, &error) == 0) {
            finished++;
            stalls += result.stalls;
            assert_true(result.run_ns.mean <= HORIZON_NS);
            assert_books_balance(&result, model, result.run_ns.mean);
        } else if (!strstr(error.text, "without time passing") &&
                   !strstr(error.text, "stalls all the time")) {
            fail_msg("seed %d: %s", (int)seed, error.text);
        }
        sim_result_free(&result);
        model_free(model);
    }
    assert_true(finished > MODELS * 9 / 10);
    assert_true(stalls > 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_any_sound_model_comes_to_an_end_and_its_books_balance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
