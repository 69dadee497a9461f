/* Threads that are made one for each piece of work, at most so many at a time. */
/* tests/run: beside others */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/memory.h"
#include "modelgen/threads/alive_limit.h"
#include "modelgen/threads/thread_pools.h"
#include "tests/unit/sourceless_pools.h"
#include "tests/unit/trace_builder.h"

enum { PIECES = 24, MOST = 2, EACH_NS = 1000, PERMITS = 0x10, MUTEX = 0x20, CONDITION = 0x30 };

/* How the limit is kept, and what else is done. */
struct kind {
    bool by_mutex;   /* a count under a mutex, else a semaphore */
    bool joins;      /* the creator waits for the last thread's end */
    bool works_on;   /* a thread gives back before its last call */
    bool is_cut_off; /* the program ends before the last thread gives back */
    bool makes_more; /* the first one without a permit */
};

/* Piece i begins when its permit is taken, and gives it back MOST pieces later. */
static uint64_t taken_ns(int piece) {
    return (uint64_t)(piece + 1) * EACH_NS;
}

static uint64_t given_ns(int piece) {
    return taken_ns(piece + MOST) - 20;
}

static void take(struct trace *trace, const struct kind *kind, int piece) {
    bool waits = piece >= MOST;
    uint64_t from = waits ? given_ns(piece - MOST) - 100 : taken_ns(piece);
    uint32_t at = builder_context(trace, "take", 10, "main", 20);
    if (kind->by_mutex)
        builder_section(trace, 0,
                        (struct builder_section){.function = "take",
                                                 .line = 10,
                                                 .caller = "main",
                                                 .caller_line = 20,
                                                 .mutex = MUTEX,
                                                 .start_ns = from - 5,
                                                 .waits_for = waits ? CONDITION : 0,
                                                 .woken_ns = waits ? taken_ns(piece) : 0});
    else
        builder_call(trace, 0, "sem_wait", from, taken_ns(piece), PERMITS, at);
}

static void give(struct trace *trace, const struct kind *kind, int thread, int piece) {
    if (kind->by_mutex)
        builder_section(trace, thread,
                        (struct builder_section){.function = "give",
                                                 .line = 30,
                                                 .mutex = MUTEX,
                                                 .start_ns = given_ns(piece) - 3,
                                                 .signals_after = CONDITION});
    else
        builder_call(trace, thread, "sem_post", given_ns(piece), given_ns(piece), PERMITS,
                     builder_context(trace, "give", 30, "thread", 100));
}

static struct trace *trace_of(struct kind kind) {
    struct trace *trace = builder_new(2);
    builder_thread(trace, "main", -1);
    builder_record(trace, 0, "sem_init", 1, 0, PERMITS,
                   builder_context(trace, "main", 2, "main", 2), MOST);
    for (int piece = 0; piece < PIECES; piece++) {
        if (piece > 0 || !kind.makes_more)
            take(trace, &kind, piece);
        int made = builder_thread(trace, "work", 0);
        builder_create(trace, 0, taken_ns(piece) + 10, 10,
                       builder_context(trace, "pthread_create", 3, "main", 4), made);
        if (piece + 1 < PIECES || !kind.is_cut_off)
            give(trace, &kind, made, piece);
        if (kind.works_on)
            builder_call(trace, made, "sem_wait", given_ns(piece) + 5, given_ns(piece) + 6, 0x40,
                         builder_context(trace, "work", 40, "thread", 100));
    }
    if (kind.joins)
        builder_join(trace, 0, given_ns(PIECES), 10,
                     builder_context(trace, "pthread_join", 5, "main", 6), PIECES);
    builder_finish(trace, given_ns(PIECES) + 100);
    return trace;
}

static struct alive_limit limit_of(struct kind kind) {
    struct trace *trace = trace_of(kind);
    size_t threads[PIECES];
    for (size_t i = 0; i < PIECES; i++)
        threads[i] = i + 1;
    struct alive_limit limit = alive_limit_of(trace, threads, PIECES);
    trace_free(trace);
    return limit;
}

static void a_semaphore_has_the_permits(void **state) {
    (void)state;
    struct alive_limit limit = limit_of((struct kind){0});
    assert_int_equal(limit.most, MOST);
    assert_int_equal(limit.object, PERMITS);
}

static void they_are_counted_under_a_mutex(void **state) {
    (void)state;
    struct alive_limit limit = limit_of((struct kind){.by_mutex = true});
    assert_int_equal(limit.most, MOST);
    assert_int_equal(limit.object, MUTEX);
}

static void who_is_joined_is_waited_for_otherwise(void **state) {
    (void)state;
    assert_int_equal(limit_of((struct kind){.joins = true}).most, 0);
}

/* As in a start-up handshake. */
static void a_thread_that_gives_and_works_on_lives_on(void **state) {
    (void)state;
    assert_int_equal(limit_of((struct kind){.works_on = true}).most, 0);
    assert_int_equal(limit_of((struct kind){.works_on = true, .by_mutex = true}).most, 0);
}

static void each_needs_a_permit(void **state) {
    (void)state;
    assert_int_equal(limit_of((struct kind){.makes_more = true}).most, 0);
}

static void few_threads_tell_nothing(void **state) {
    (void)state;
    struct trace *trace = trace_of((struct kind){0});
    const size_t threads[] = {1, 2, 3, 4};
    assert_int_equal(alive_limit_of(trace, threads, 4).most, 0);
    trace_free(trace);
}

static void the_end_of_the_program_may_come_first(void **state) {
    (void)state;
    struct trace *trace = trace_of((struct kind){.is_cut_off = true});
    assert_true(alive_limit_is_given_back(&trace->threads[PIECES - 1], PERMITS));
    assert_false(alive_limit_is_given_back(&trace->threads[PIECES], PERMITS));
    trace_free(trace);
    assert_int_equal(limit_of((struct kind){.is_cut_off = true}).most, MOST);
}

static void the_limit_is_the_number_of_threads(void **state) {
    (void)state;
    struct trace *trace = trace_of((struct kind){0});
    struct thread_pools pools = sourceless_pools(trace);
    assert_int_equal(pools.n_pools, 2);
    assert_int_equal(pools.pools[1].n_threads, PIECES);
    assert_int_equal(pools.pools[1].size, MOST);
    assert_true(pools.pools[1].per_task);
    assert_true(pools.pools[1].scales);
    thread_pools_free(&pools);
    trace_free(trace);
}

static void the_model_has_as_many_permits_as_threads_may_live(void **state) {
    (void)state;
    struct trace *trace = trace_of((struct kind){0});
    builder_run_all(trace, trace->meta.run_ns);
    struct model *model = builder_model(trace, NULL);
    size_t permits = 0;
    for (size_t o = 0; o < model->n_objects; o++)
        for (size_t t = 0; t < model->objects[o].amount.n_terms; t++)
            permits += model->objects[o].amount.terms[t].pool == 1;
    assert_int_equal(permits, 1);
    assert_true(model->pools[1].scales);
    assert_true(model->pools[1].per_task);
    assert_int_equal(model->pools[1].partition, PARTITION_SHARED);
    model_free(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_semaphore_has_the_permits),
        cmocka_unit_test(they_are_counted_under_a_mutex),
        cmocka_unit_test(who_is_joined_is_waited_for_otherwise),
        cmocka_unit_test(a_thread_that_gives_and_works_on_lives_on),
        cmocka_unit_test(each_needs_a_permit),
        cmocka_unit_test(few_threads_tell_nothing),
        cmocka_unit_test(the_end_of_the_program_may_come_first),
        cmocka_unit_test(the_limit_is_the_number_of_threads),
        cmocka_unit_test(the_model_has_as_many_permits_as_threads_may_live),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
