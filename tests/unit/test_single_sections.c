/* What one thread of a pool does in each round for all of them. */
/* tests/run: beside others */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "modelgen/modelgen.h"
#include "tests/unit/trace_builder.h"

#define US 1000ULL

enum { THREADS = 3, ROUNDS = 20, BARRIER = 0x100, MUTEX = 0x200, PART = 100, ALONE = 400 };

/* Threads meet, one does something alone, meet again, and each does its part. */
struct program {
    int rounds;
    int (*one_of)(int round); /* the thread that does it alone */
    bool locks;               /* under a mutex, else it only computes */
    bool is_shared;           /* main takes that, too, at last */
    uint64_t others_us;       /* what the others compute meanwhile */
    bool comes_late;          /* who does it leaves the meeting last, else first */
};

static struct model *model_with(const struct program *program, const struct facts *facts) {
    struct trace *trace = builder_new(THREADS);
    int main_thread = builder_thread(trace, "main", -1);
    uint32_t create = builder_context(trace, "main", 900, "main", 900);
    uint32_t join = builder_context(trace, "main", 910, "main", 910);
    uint32_t meet = builder_context(trace, "solve", 30, "worker", 100);
    uint32_t lock = builder_context(trace, "solve", 32, "worker", 100);
    uint32_t unlock = builder_context(trace, "solve", 34, "worker", 100);
    uint32_t again = builder_context(trace, "solve", 40, "worker", 100);
    for (int t = 1; t <= THREADS; t++)
        builder_create(trace, main_thread, (uint64_t)t, 0, create, t);
    for (int t = 1; t <= THREADS; t++)
        builder_thread(trace, "worker", main_thread);
    uint64_t now = 10 * US;
    for (int round = 0; round < program->rounds; round++) {
        uint64_t met = now + PART * US, done = met + ALONE * US;
        for (int t = 0; t < THREADS; t++) {
            bool alone = t == program->one_of(round);
            uint64_t left = met + (uint64_t)(alone != program->comes_late ? 1 : 2 + t);
            uint64_t ready = alone ? done : left + program->others_us * US;
            builder_slice(trace, t + 1, now, met);
            builder_record(trace, t + 1, "pthread_barrier_wait", met, left - met, BARRIER, meet,
                           THREADS);
            builder_slice(trace, t + 1, left, ready);
            if (alone && program->locks) {
                builder_record(trace, t + 1, "pthread_mutex_lock", left + 5, 0, MUTEX, lock, 0);
                builder_record(trace, t + 1, "pthread_mutex_unlock", ready - 5, 0, MUTEX, unlock,
                               0);
            }
            builder_record(trace, t + 1, "pthread_barrier_wait", ready, done + 1 - ready, BARRIER,
                           again, THREADS);
        }
        now = done + 10;
    }
    for (int t = 1; t <= THREADS; t++)
        builder_join(trace, main_thread, 100 + (uint64_t)t, now - 100, join, t);
    if (program->is_shared) {
        builder_record(trace, main_thread, "pthread_mutex_lock", now + 50, 0, MUTEX, join, 0);
        builder_record(trace, main_thread, "pthread_mutex_unlock", now + 60, 0, MUTEX, join, 0);
    }
    builder_finish(trace, now + 100);
    return builder_model(trace, facts);
}

static struct model *model_of(const struct program *program) {
    return model_with(program, NULL);
}

/* Who takes an edge for one; TAKER_ANY: there is none. `cpu_ns` of what he computes on it. */
static enum taker taker_of(const struct program *program, double *cpu_ns) {
    struct model *model = model_of(program);
    enum taker found = TAKER_ANY;
    *cpu_ns = 0;
    for (size_t n = 0; n < model->n_nodes; n++)
        for (size_t e = 0; e < model->nodes[n].n_edges; e++) {
            const struct edge *edge = &model->nodes[n].edges[e];
            if (edge->taker == TAKER_ANY)
                continue;
            assert_int_equal(found, TAKER_ANY);
            found = edge->taker;
            *cpu_ns = dist_mean(&edge->cpu_ns);
        }
    model_free(model);
    return found;
}

static int always_thread_1(int round) {
    (void)round;
    return 1;
}

static int by_turns(int round) {
    return round % THREADS;
}

static void a_thread_that_alone_computes_is_the_leader(void **state) {
    (void)state;
    double cpu_ns;
    const struct program program = {.rounds = ROUNDS, .one_of = always_thread_1};
    assert_int_equal(taker_of(&program, &cpu_ns), TAKER_LEADER);
    assert_true(cpu_ns > 0.95 * ALONE * US && cpu_ns < 1.05 * ALONE * US);
}

/* Its history would tell where it goes, if that were what decides. */
static void a_thread_that_alone_goes_another_way_is_the_leader(void **state) {
    (void)state;
    double cpu_ns;
    const struct program program = {.rounds = ROUNDS, .one_of = always_thread_1, .locks = true};
    assert_int_equal(taker_of(&program, &cpu_ns), TAKER_LEADER);
}

static void who_comes_first_or_last_does_it(void **state) {
    (void)state;
    double cpu_ns;
    for (int locks = 0; locks < 2; locks++)
        for (int late = 0; late < 2; late++) {
            const struct program program = {
                .rounds = ROUNDS, .one_of = by_turns, .locks = locks, .comes_late = late};
            assert_int_equal(taker_of(&program, &cpu_ns), late ? TAKER_LAST : TAKER_FIRST);
        }
}

static void few_rounds_may_be_chance(void **state) {
    (void)state;
    double cpu_ns;
    struct program program = {.rounds = 5, .one_of = by_turns, .others_us = ALONE / 20};
    assert_int_equal(taker_of(&program, &cpu_ns), TAKER_ANY);
    program.others_us = 0; /* nothing at all: as if the first one made a table */
    assert_int_equal(taker_of(&program, &cpu_ns), TAKER_FIRST);
}

static void the_slowest_of_many_does_not_do_it_for_all(void **state) {
    (void)state;
    double cpu_ns;
    const struct program program = {.rounds = ROUNDS, .one_of = by_turns, .others_us = ALONE / 4};
    assert_int_equal(taker_of(&program, &cpu_ns), TAKER_ANY);
}

static int in_some_rounds(int round) {
    return round % 5 == 4 ? 1 : -1;
}

/* if (me == 0 && round % 5 == 4) */
static void what_one_thread_does_at_times_is_not_modelled(void **state) {
    (void)state;
    char *file = "t.c";
    struct facts_creation creation = {.place = {.function = "main", .file = file, .line = 900},
                                      .object = ON_THREAD,
                                      .per_thread = true};
    struct facts_solo solo = {.file = file, .function = "solve", .first_line = 31, .last_line = 35};
    struct facts facts = {.version = FACTS_VERSION,
                          .n_creations = 1,
                          .creations = &creation,
                          .n_solos = 1,
                          .solos = &solo,
                          .n_files = 1,
                          .files = &file};
    struct program program = {
        .rounds = ROUNDS, .one_of = in_some_rounds, .locks = true, .is_shared = true};
    struct model *model = model_with(&program, &facts);
    assert_int_equal(model->pools[1].partition, PARTITION_UNKNOWN);
    if (!strstr(model->pools[1].rule, "one of its threads alone comes to worker: solve"))
        fail_msg("%s", model->pools[1].rule);
    model_free(model);
    program.one_of = always_thread_1;
    model = model_with(&program, &facts);
    assert_null(strstr(model->pools[1].rule, "alone comes to"));
    model_free(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_thread_that_alone_computes_is_the_leader),
        cmocka_unit_test(a_thread_that_alone_goes_another_way_is_the_leader),
        cmocka_unit_test(who_comes_first_or_last_does_it),
        cmocka_unit_test(few_rounds_may_be_chance),
        cmocka_unit_test(what_one_thread_does_at_times_is_not_modelled),
        cmocka_unit_test(the_slowest_of_many_does_not_do_it_for_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
