/* Monitors that are simulated by their own statements: the expressions, what the checks refuse, and
 * that well-known objects written as statements give what the simulator's own objects give. */
/* tests/run: beside others */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "model/postfix.h"
#include "tests/unit/model_builder.h"
#include "tests/unit/simulation.h"

#define MS 1e6 /* in nanoseconds */

/* ---- expressions ---- */

static const bool third_is_own[] = {false, false, true};

static struct value evaluate(const char *text) {
    const struct value shared[] = {{7, true}, {0, false}, {0, true}};
    const struct value own[] = {{0, true}, {0, true}, {3, true}};
    struct postfix program;
    const char *wrong = postfix_parse(text, 3, third_is_own, &program);
    if (wrong)
        fail_msg("%s: %s", text, wrong);
    struct value value = postfix_value(&program, shared, own);
    postfix_free(&program);
    return value;
}

static void assert_value(const char *text, double expected) {
    struct value value = evaluate(text);
    if (!value.known || value.number != expected)
        fail_msg("%s is %g%s", text, value.number, value.known ? "" : " (unknown)");
}

static void test_expressions_mean_what_they_mean_in_c(void **state) {
    (void)state;
    assert_value("$0 $2 -", 4);
    assert_value("$0 2 /", 3);
    assert_value("-7 2 %", -1);
    assert_value("$0 8 == !", 1);
    assert_value("$2 1 + 4 <= $0 0 > &&", 1);
    assert_value("1 $2 << 6 &", 0);
    assert_value("6 3 ^ 8 |", 13);
    assert_value("5 neg ~", 4);
    assert_value("16 2 >> 3 >= $0 7 != ||", 1);
}

static void test_what_is_not_known_matters_only_where_it_decides(void **state) {
    (void)state;
    assert_value("$1 0 &&", 0);
    assert_value("? $0 ||", 1);
    assert_false(evaluate("$1 1 &&").known);
    assert_false(evaluate("$1 1 +").known);
    assert_false(evaluate("1 0 /").known);
    assert_false(evaluate("1 -1 <<").known);
    assert_false(evaluate("?").known);
}

static void test_expressions_that_are_none_are_refused(void **state) {
    (void)state;
    static const char *const bad[] = {"",    " ",   "1 2", "1 +", "+",      "$3",  "$",
                                      "$-1", "$1x", "1 x", "1e",  "1 2 **", "- 1", "0 !x"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct postfix program;
        if (!postfix_parse(bad[i], 3, third_is_own, &program))
            fail_msg("\"%s\" was taken", bad[i]);
        assert_int_equal(program.n_words, 0);
    }
    char deep[81] = "";
    for (int i = 0; i < 40; i++)
        memcpy(deep + (ptrdiff_t)2 * i, "1 ", 3);
    struct postfix program;
    assert_non_null(postfix_parse(deep, 0, NULL, &program));
    assert_null(postfix_parse(NULL, 0, NULL, &program)); /* nothing build_expression: unknown */
    assert_false(postfix_value(&program, NULL, NULL).known);
}

/* ---- building ---- */

/* A critical section after `from`: takes the mutex, does this, and gives it back. Returns the
 * unlock; where `act` is not NULL, it gets the node that acts. */
static int build_section(struct model *model, int from, struct dist cpu, int mutex,
                         enum node_kind kind, int object, int section, int *act) {
    int lock = build_next(model, from, cpu, NODE_LOCK, mutex);
    int node = build_next(model, lock, constant(0), kind, object);
    bool may_wait = kind != NODE_RWUNLOCK && kind != NODE_CLOSE;
    model->nodes[node].mutex = may_wait ? mutex : MODEL_NONE;
    model->nodes[node].section = section;
    int unlock = build_next(model, node, constant(0), NODE_UNLOCK, mutex);
    if (act)
        *act = node;
    return unlock;
}

/* ---- a bounded queue ---- */

enum { PUT, GET, CLOSE };

/* Variables: items, closed. */
static int queue_of_statements(struct model *model, const char *is_full) {
    int queue = build_object(model, OBJECT_MONITOR, 0);
    int items = build_variable(model, queue, 0, false),
        closed = build_variable(model, queue, 0, false);
    int not_full = build_condition(model, queue), not_empty = build_condition(model, queue);
    build_statements(model, queue);
    build_wait(model, queue, NULL, not_full, is_full);
    build_update(model, queue, NULL, items, "$0 1 +");
    build_telling(model, queue, NULL, STATEMENT_SIGNAL, not_empty);
    build_statements(model, queue);
    build_wait(model, queue, NULL, not_empty, "$0 0 == $1 ! &&");
    build_update(model, queue, "$0 0 >", items, "$0 1 -")->answers = true;
    build_telling(model, queue, "$0 0 >", STATEMENT_SIGNAL, not_full);
    build_statements(model, queue);
    build_update(model, queue, NULL, closed, "1");
    build_telling(model, queue, NULL, STATEMENT_BROADCAST, not_empty);
    return queue;
}

/* A producer needs 2 ms for each of 60 items, the consumers 5 ms and now and then 9. */
static struct model *build_pipeline(bool by_statements, int consumers) {
    struct model *model = build_model(3);
    int mutex = build_object(model, OBJECT_MUTEX, 0);
    int queue = by_statements ? queue_of_statements(model, "$0 4 ==")
                              : build_object(model, OBJECT_QUEUE, 4);
    model->objects[queue].bounded = !by_statements;
    enum node_kind put = by_statements ? NODE_STATEMENTS : NODE_PUT;
    enum node_kind get = by_statements ? NODE_STATEMENTS : NODE_GET;
    enum node_kind close = by_statements ? NODE_STATEMENTS : NODE_CLOSE;

    int producer = build_pool(model, 1, true), done;
    int head = build_next(model, model->pools[producer].entry, constant(0), NODE_STEP, MODEL_NONE);
    int body = build_loop(model, head, constant(60), &done);
    int given;
    int back = build_section(model, body, constant(2 * MS), mutex, put, queue, PUT, &given);
    build_edge(model, back, head);
    int last = build_section(model, done, constant(0), mutex, close, queue, CLOSE, NULL);
    int end = build_next(model, last, constant(0), NODE_END, MODEL_NONE);
    if (!by_statements) /* never taken */
        build_edge(model, given, end)->when = OUTCOME_NO;

    int consumer = build_pool(model, consumers, true), take;
    int unlock = build_section(model, model->pools[consumer].entry, constant(0), mutex, get, queue,
                               GET, &take);
    int lock = model->nodes[model->pools[consumer].entry].edges[0].to;
    model->nodes[take].edges[0].when = OUTCOME_YES;
    static const double work[] = {5 * MS, 5 * MS, 9 * MS};
    struct dist *cpu = &build_edge(model, unlock, lock)->cpu_ns;
    *cpu = (struct dist){.kind = DIST_EMPIRICAL, .n_values = 3, .mean = 19 * MS / 3};
    cpu->values = memory_alloc(3, sizeof *cpu->values);
    memcpy(cpu->values, work, sizeof work);
    int over = build_node(model, NODE_UNLOCK, mutex);
    build_edge(model, take, over)->when = OUTCOME_NO;
    build_next(model, over, constant(0), NODE_END, MODEL_NONE);
    return model;
}

/* Not to the last digit: who looks in vain waits at the end of the line, where the simulator's own
 * queue lets it wait at the head. */
static void test_a_queue_of_statements_is_a_queue(void **state) {
    (void)state;
    for (int consumers = 1; consumers <= 5; consumers++) {
        struct sim_config config = {.cores = 1 + consumers % 4};
        double expected = run_ns(build_pipeline(false, consumers), config);
        assert_close(run_ns(build_pipeline(true, consumers), config), expected, 0.005);
    }
}

/* ---- a cyclic barrier ---- */

/* Variables: generation, arrived, parties; own generation. */
static int barrier_of_statements(struct model *model, int pool) {
    int barrier = build_object(model, OBJECT_MONITOR, 0);
    build_variable(model, barrier, 0, false);
    build_variable(model, barrier, 0, false);
    int parties = build_variable(model, barrier, 0, false);
    build_variable(model, barrier, 0, true);
    struct linear *amount = &model->objects[barrier].variables[parties].initial;
    amount->terms = memory_alloc(1, sizeof *amount->terms);
    amount->n_terms = 1;
    amount->terms[0] = (struct linear_term){.pool = pool, .factor = 1};
    int condition = build_condition(model, barrier);
    build_statements(model, barrier);
    build_update(model, barrier, NULL, 3, "$0");
    build_update(model, barrier, NULL, 1, "$1 1 +");
    build_update(model, barrier, "$1 $2 ==", 1, "0");
    build_update(model, barrier, "$1 $2 ==", 0, "$0 1 +"); /* the same branch, though $1 is 0 now */
    build_telling(model, barrier, "$1 $2 ==", STATEMENT_BROADCAST, condition);
    build_wait(model, barrier, NULL, condition, "$3 $0 ==");
    return barrier;
}

static struct model *build_team(bool by_statements, int threads) {
    struct model *model = build_model(4);
    int mutex = build_object(model, OBJECT_MUTEX, 0);
    int pool = build_pool(model, threads, true), done;
    int barrier =
        by_statements ? barrier_of_statements(model, pool) : build_object(model, OBJECT_BARRIER, 0);
    if (!by_statements) {
        struct linear *amount = &model->objects[barrier].amount;
        amount->terms = memory_alloc(1, sizeof *amount->terms);
        amount->n_terms = 1;
        amount->terms[0] = (struct linear_term){.pool = pool, .factor = 1};
    }
    int head = build_next(model, model->pools[pool].entry, constant(0), NODE_STEP, MODEL_NONE);
    int body = build_loop(model, head, constant(30), &done);
    int back = build_section(model, body, exponential(3 * MS), mutex,
                             by_statements ? NODE_STATEMENTS : NODE_BARRIER, barrier, 0, NULL);
    build_edge(model, back, head);
    build_next(model, done, constant(0), NODE_END, MODEL_NONE);
    return model;
}

static void test_a_barrier_of_statements_follows_the_threads(void **state) {
    (void)state;
    for (int threads = 1; threads <= 8; threads *= 2) {
        struct sim_config config = {.pool_threads = &threads};
        double expected = run_ns(build_team(false, 3), config);
        assert_close(run_ns(build_team(true, 3), config), expected, 1e-9);
    }
}

/* ---- a read-write lock in which writers come first ---- */

enum { READ, READ_END, WRITE, WRITE_END };

/* Variables: readers, writing, writers that wait. */
static int rwlock_of_statements(struct model *model) {
    int lock = build_object(model, OBJECT_MONITOR, 0);
    for (int i = 0; i < 3; i++)
        build_variable(model, lock, 0, false);
    int readers = build_condition(model, lock), writers = build_condition(model, lock);
    build_statements(model, lock);
    build_wait(model, lock, NULL, readers, "$1 $2 + 0 >");
    build_update(model, lock, NULL, 0, "$0 1 +");
    build_statements(model, lock);
    build_update(model, lock, NULL, 0, "$0 1 -");
    build_telling(model, lock, "$0 0 == $2 0 > &&", STATEMENT_SIGNAL, writers);
    build_statements(model, lock);
    build_update(model, lock, NULL, 2, "$2 1 +");
    build_wait(model, lock, NULL, writers, "$0 $1 + 0 >");
    build_update(model, lock, NULL, 2, "$2 1 -");
    build_update(model, lock, NULL, 1, "1");
    build_statements(model, lock);
    build_update(model, lock, NULL, 1, "0");
    build_telling(model, lock, "$2 0 >", STATEMENT_SIGNAL, writers);
    build_telling(model, lock, "$2 0 > !", STATEMENT_BROADCAST, readers);
    return lock;
}

static void build_users(struct model *model, int threads, int lock, int mutex, bool by_statements,
                        bool write) {
    int pool = build_pool(model, threads, true), done;
    enum node_kind take = by_statements ? NODE_STATEMENTS : write ? NODE_WRLOCK : NODE_RDLOCK;
    enum node_kind give = by_statements ? NODE_STATEMENTS : NODE_RWUNLOCK;
    int head = build_next(model, model->pools[pool].entry, constant(0), NODE_STEP, MODEL_NONE);
    int body = build_loop(model, head, constant(write ? 40 : 100), &done);
    int in = build_section(model, body, constant(write ? 7 * MS : 1.3 * MS), mutex, take, lock,
                           write ? WRITE : READ, NULL);
    int out = build_section(model, in, constant(write ? 2 * MS : 3.1 * MS), mutex, give, lock,
                            write ? WRITE_END : READ_END, NULL);
    build_edge(model, out, head);
    build_next(model, done, constant(0), NODE_END, MODEL_NONE);
}

static double run_of_rwlock(bool by_statements, int cores) {
    struct model *model = build_model(cores);
    int mutex = build_object(model, OBJECT_MUTEX, 0);
    int lock = by_statements ? rwlock_of_statements(model) : build_object(model, OBJECT_RWLOCK, 0);
    model->objects[lock].writers_first = !by_statements;
    build_users(model, 4, lock, mutex, by_statements, false);
    build_users(model, 2, lock, mutex, by_statements, true);
    return run_ns(model, (struct sim_config){0});
}

static void test_a_rwlock_of_statements_lets_writers_first(void **state) {
    (void)state;
    for (int cores = 1; cores <= 8; cores *= 2)
        assert_close(run_of_rwlock(true, cores), run_of_rwlock(false, cores), 0.005);
}

/* ---- what is special to statements ---- */

/* Two threads want 3 of 4 units each for 10 ms, a third one 1: the sum of two variables decides. */
static void test_a_wait_may_be_for_several_variables(void **state) {
    (void)state;
    struct model *model = build_model(4);
    int mutex = build_object(model, OBJECT_MUTEX, 0);
    int budget = build_object(model, OBJECT_MONITOR, 0);
    int used = build_variable(model, budget, 0, false),
        limit = build_variable(model, budget, 4, false);
    int freed = build_condition(model, budget);
    assert_int_equal(limit, 1);
    static const char *const takes[] = {"$0 3 + $1 >", "$0 1 + $1 >"};
    static const char *const adds[] = {"$0 3 +", "$0 1 +"}, *const subtracts[] = {"$0 3 -",
                                                                                  "$0 1 -"};
    for (int i = 0; i < 2; i++) {
        build_statements(model, budget);
        build_wait(model, budget, NULL, freed, takes[i]);
        build_update(model, budget, NULL, used, adds[i]);
        build_statements(model, budget);
        build_update(model, budget, NULL, used, subtracts[i]);
        build_telling(model, budget, NULL, STATEMENT_BROADCAST, freed);
    }
    for (int i = 0; i < 2; i++) {
        int pool = build_pool(model, i == 0 ? 2 : 1, true);
        int in = build_section(model, model->pools[pool].entry, constant(0), mutex, NODE_STATEMENTS,
                               budget, 2 * i, NULL);
        int out = build_section(model, in, constant((i == 0 ? 10 : 15) * MS), mutex,
                                NODE_STATEMENTS, budget, 2 * i + 1, NULL);
        build_next(model, out, constant(0), NODE_END, MODEL_NONE);
    }
    assert_close(run_ns(model, (struct sim_config){0}), 20 * MS, 1e-9);
}

/* Who signals may have to sleep until those woken before have run, as with flags
 * (test_simulator.c), and then goes on behind the signal. Going to sleep costs 1 ms. */
static double cpu_of_signalling(bool signals_wait) {
    struct model *model = build_model(1);
    model->machine.quantum_ns = 1000 * MS;
    model->machine.block_cpu_ns = 1 * MS;
    model->machine.signals_wait = signals_wait;
    int mutex = build_object(model, OBJECT_MUTEX, 0);
    int gate = build_object(model, OBJECT_MONITOR, 0);
    model->objects[gate].condition = true;
    int passes = build_variable(model, gate, 0, false), condition = build_condition(model, gate);
    build_statements(model, gate);
    build_wait(model, gate, NULL, condition, "$0 0 ==");
    build_update(model, gate, NULL, passes, "$0 1 -");
    for (int count = 1; count <= 2; count++) {
        build_statements(model, gate);
        for (int i = 0; i < count; i++) {
            build_telling(model, gate, NULL, STATEMENT_SIGNAL, condition);
            build_update(model, gate, NULL, passes, "$0 1 +");
        }
    }
    int waiters = build_pool(model, 2, true);
    int at = build_section(model, model->pools[waiters].entry, constant(0), mutex, NODE_STATEMENTS,
                           gate, 0, NULL);
    at = build_section(model, at, constant(5 * MS), mutex, NODE_STATEMENTS, gate, 0, NULL);
    build_next(model, at, constant(0), NODE_END, MODEL_NONE);
    int signaller = build_pool(model, 1, true);
    at = build_sleep(model, model->pools[signaller].entry, constant(0), constant(1 * MS));
    at = build_section(model, at, constant(0), mutex, NODE_STATEMENTS, gate, 1, NULL);
    at = build_sleep(model, at, constant(0), constant(20 * MS));
    at = build_section(model, at, constant(0), mutex, NODE_STATEMENTS, gate, 2, NULL);
    at = build_sleep(model, at, constant(10 * MS), constant(50 * MS));
    at = build_section(model, at, constant(0), mutex, NODE_STATEMENTS, gate, 1, NULL);
    build_next(model, at, constant(0), NODE_END, MODEL_NONE);
    struct sim_result result = simulate(model, (struct sim_config){0});
    assert_true(result.stalls == 0);
    double cpu_ns = result.pools[signaller].cpu_ns.mean;
    sim_result_free(&result);
    model_free(model);
    return cpu_ns;
}

static void test_a_signal_among_statements_waits_for_those_woken_before(void **state) {
    (void)state;
    assert_close(cpu_of_signalling(true), cpu_of_signalling(false) + 1 * MS, 1e-9);
}

static void test_a_value_that_is_none_is_reported(void **state) {
    (void)state;
    struct model *model = build_model(1);
    int mutex = build_object(model, OBJECT_MUTEX, 0);
    int monitor = build_object(model, OBJECT_MONITOR, 0);
    build_variable(model, monitor, 0, false);
    build_statements(model, monitor);
    build_update(model, monitor, NULL, 0, "1 $0 /");
    int pool = build_pool(model, 1, true);
    int out = build_section(model, model->pools[pool].entry, constant(1 * MS), mutex,
                            NODE_STATEMENTS, monitor, 0, NULL);
    build_next(model, out, constant(0), NODE_END, MODEL_NONE);
    struct sim_result result = simulate(model, (struct sim_config){0});
    assert_true(result.stalls > 0);
    sim_result_free(&result);
    model_free(model);
}

/* ---- what is refused ---- */

static void assert_violation(struct model *model, const char *place) {
    struct error error = {0};
    if (model_check(model, &error) == 0)
        fail_msg("taken, though %s is wrong", place);
    if (strncmp(error.text, place, strlen(place)) != 0)
        fail_msg("\"%s\" does not begin with \"%s\"", error.text, place);
    model_free(model);
}

/* `change` works on `queue`, the monitor, and `model`. */
#define ASSERT_REFUSED(place, change)                                                              \
    do {                                                                                           \
        struct model *model = build_pipeline(true, 2);                                             \
        struct object *queue = &model->objects[1];                                                 \
        (void)queue;                                                                               \
        change;                                                                                    \
        assert_violation(model, place);                                                            \
    } while (0)

#define GETS queue->sections[GET].statements

static void replace(char **text, const char *by) {
    free(*text);
    *text = memory_strdup(by);
}

static int node_of_kind(const struct model *model, enum node_kind kind) {
    for (size_t n = 0; n < model->n_nodes; n++)
        if (model->nodes[n].kind == kind)
            return (int)n;
    return -1;
}

static void test_statements_that_cannot_be_carried_out_are_refused(void **state) {
    (void)state;
    ASSERT_REFUSED("objects[1].sections[1].statements[1].variable", GETS[1].variable = 2);
    ASSERT_REFUSED("objects[1].sections[1].statements[1].if.postfix",
                   replace(&GETS[1].guard.postfix, "$2 0 >"));
    ASSERT_REFUSED("objects[1].sections[1].statements[1].value.postfix",
                   replace(&GETS[1].value.postfix, "$0 1"));
    ASSERT_REFUSED("objects[1].sections[1].statements[0].while.postfix",
                   replace(&GETS[0].predicate.postfix, "$0 ? =="));
    ASSERT_REFUSED("objects[1].sections[1].statements[0].condition", GETS[0].condition = 2);
    ASSERT_REFUSED("objects[1].sections[1].statements[0].do",
                   GETS[0].kind = (enum statement_kind)9);
    ASSERT_REFUSED("objects[1].sections[1].statements[0]: update", GETS[0].kind = STATEMENT_UPDATE);
    ASSERT_REFUSED("objects[1].sections[1].statements[2]: wait", GETS[2].kind = STATEMENT_WAIT);
    ASSERT_REFUSED("objects[1].sections[1].statements[2].answers", GETS[2].answers = true);
    ASSERT_REFUSED("objects[1].sections[0].statements[1].answers",
                   queue->sections[PUT].statements[1].answers = true);
    ASSERT_REFUSED("objects[1].variables[1].initial", queue->variables[1].initial.base = INFINITY);
    ASSERT_REFUSED("objects[1]: a queue", queue->kind = OBJECT_QUEUE);
}

static void test_nodes_of_statements_need_section_mutex_and_answers(void **state) {
    (void)state;
    ASSERT_REFUSED("nodes[", model->nodes[node_of_kind(model, NODE_STATEMENTS)].section = 3);
    ASSERT_REFUSED("nodes[", model->nodes[node_of_kind(model, NODE_STATEMENTS)].section = -1);
    ASSERT_REFUSED("nodes[", model->nodes[node_of_kind(model, NODE_STATEMENTS)].mutex = MODEL_NONE);
    ASSERT_REFUSED("nodes[", model->nodes[node_of_kind(model, NODE_STATEMENTS)].object = 0);
    ASSERT_REFUSED("nodes[", for (size_t n = 0; n < model->n_nodes;
                                  n++) if (model->nodes[n].section == GET) model->nodes[n]
                                 .edges[1]
                                 .when = OUTCOME_YES);
}

/* ---- in a file ---- */

static void test_monitors_come_back_from_a_file(void **state) {
    (void)state;
    char path[] = "/tmp/persik-statements-XXXXXX", again[] = "/tmp/persik-statements-XXXXXX";
    close(mkstemp(path));
    close(mkstemp(again));
    struct model *model = build_pipeline(true, 2);
    struct error error = {0};
    assert_int_equal(model_save(model, path, &error), 0);
    struct model *back = model_load(path, &error);
    assert_non_null(back);
    assert_int_equal(model_save(back, again, &error), 0);
    char *command = memory_format("cmp %s %s", path, again);
    assert_int_equal(system(command), 0);
    free(command);
    if (back)
        assert_true(back->objects[1].sections[GET].statements[1].answers);
    assert_close(run_ns(back, (struct sim_config){0}), run_ns(model, (struct sim_config){0}), 0);
    unlink(path);
    unlink(again);
}

static bool adds_to_first(const char *text) {
    struct postfix program;
    assert_null(postfix_parse(text, 3, third_is_own, &program));
    bool adds = postfix_adds_to(&program, 0);
    postfix_free(&program);
    return adds;
}

static void what_is_added_to_a_variable_is_told_from_what_is_made_of_it(void **state) {
    (void)state;
    assert_true(adds_to_first("$0 $1 +"));
    assert_true(adds_to_first("$0 $2 3 * -"));
    assert_true(adds_to_first("$2 ? + $0 +"));
    assert_true(adds_to_first("$0 ? -"));
    assert_false(adds_to_first("$1 $0 -"));
    assert_false(adds_to_first("$0 $0 +"));
    assert_false(adds_to_first("$0 1 + $1 %"));
    assert_false(adds_to_first("$0 $1 % 1 +"));
    assert_false(adds_to_first("$1 $2 +"));
    assert_false(adds_to_first("$0"));
    assert_false(adds_to_first("$0 !"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_added_to_a_variable_is_told_from_what_is_made_of_it),
        cmocka_unit_test(test_expressions_mean_what_they_mean_in_c),
        cmocka_unit_test(test_what_is_not_known_matters_only_where_it_decides),
        cmocka_unit_test(test_expressions_that_are_none_are_refused),
        cmocka_unit_test(test_a_queue_of_statements_is_a_queue),
        cmocka_unit_test(test_a_barrier_of_statements_follows_the_threads),
        cmocka_unit_test(test_a_rwlock_of_statements_lets_writers_first),
        cmocka_unit_test(test_a_wait_may_be_for_several_variables),
        cmocka_unit_test(test_a_signal_among_statements_waits_for_those_woken_before),
        cmocka_unit_test(test_a_value_that_is_none_is_reported),
        cmocka_unit_test(test_statements_that_cannot_be_carried_out_are_refused),
        cmocka_unit_test(test_nodes_of_statements_need_section_mutex_and_answers),
        cmocka_unit_test(test_monitors_come_back_from_a_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
