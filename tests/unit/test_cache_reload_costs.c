/* What it costs threads that others have used their core's cache: estimated from traces written by
 * hand, in which it is known. */
/* tests/run: beside others */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "modelgen/calibrate/cache_reload_costs.h"
#include "tests/unit/trace_builder.h"

#define US 1000ULL
#define MS (1000 * US)

enum { MAIN, WORKER, OTHER };

/* A worker that unlocks something after each fragment of its work. */
struct story {
    struct trace *trace;
    uint32_t cpu;
    uint64_t now_ns, on_ns;
    uint64_t until_next_ns; /* CPU time until the next eviction */
    uint32_t random;
};

static struct story begin_story(void) {
    struct story story = {.trace = builder_new_with_workers(1), .random = 1};
    return story;
}

static struct trace *end_story(struct story *story) {
    builder_run(story->trace, WORKER, story->cpu, 0, story->on_ns, story->now_ns, false);
    builder_finish(story->trace, story->now_ns);
    return story->trace;
}

/* 0 .. below, evenly. */
static uint64_t any(struct story *story, uint64_t below) {
    story->random = story->random * 1664525u + 1013904223u;
    return story->random % below;
}

static void evict(struct story *story, enum trace_eviction_kind kind, uint64_t ns) {
    builder_run(story->trace, WORKER, story->cpu, 0, story->on_ns, story->now_ns, true);
    builder_eviction(story->trace, (struct trace_eviction){.from_ns = story->now_ns,
                                                           .to_ns = story->now_ns + ns,
                                                           .planned_ns = ns,
                                                           .cpu = story->cpu,
                                                           .kind = kind});
    story->now_ns += ns;
    story->on_ns = story->now_ns;
}

static void compute(struct story *story, uint64_t ns) {
    story->now_ns += ns;
    builder_record(story->trace, WORKER, "pthread_mutex_unlock", story->now_ns, 0, 0x1000,
                   builder_context(story->trace, "work", 10, "worker", 20), 0);
}

static int compare_evictions(const void *a, const void *b) {
    const struct trace_eviction *x = a, *y = b;
    if (x->cpu != y->cpu)
        return x->cpu < y->cpu ? -1 : 1;
    return (x->from_ns > y->from_ns) - (x->from_ns < y->from_ns);
}

/* What of a cost comes up while the worker is followed: the rest comes so much later that it is
 * part of what any fragment takes. */
static uint64_t seen_ns(uint64_t cost_ns, uint64_t pace_ns) {
    return pace_ns ? (uint64_t)((double)cost_ns * -expm1(-FRAGMENTS_HORIZON_NS / (double)pace_ns))
                   : 0;
}

/* Fragments of 2 to 4 ms; after every 8 to 20 ms of them an eviction, of 4 or 12 ms in turn, which
 * makes the one that it falls into so much longer. After each third one the worker goes on on
 * another core, which costs it `moved_cost`; 0: it always stays. */
static struct trace *moving_run(uint64_t short_cost_ns, uint64_t long_cost_ns,
                                uint64_t moved_cost_ns) {
    struct story story = begin_story();
    bool is_long = false;
    story.until_next_ns = 10 * MS;
    for (int i = 0; i < 3000; i++) {
        uint64_t left_ns = 2 * MS + any(&story, 2 * MS);
        while (left_ns > story.until_next_ns) {
            left_ns -= story.until_next_ns;
            story.now_ns += story.until_next_ns;
            evict(&story, EVICTION_HOLD, is_long ? 12 * MS : 4 * MS);
            bool moves = moved_cost_ns && any(&story, 3) == 0;
            story.cpu ^= moves;
            left_ns += seen_ns(moves     ? moved_cost_ns
                               : is_long ? long_cost_ns
                                         : short_cost_ns,
                               long_cost_ns);
            is_long = !is_long;
            story.until_next_ns = 8 * MS + any(&story, 12 * MS);
        }
        story.until_next_ns -= left_ns;
        compute(&story, left_ns);
    }
    struct trace *trace = end_story(&story);
    qsort(trace->evictions, trace->n_evictions, sizeof *trace->evictions, compare_evictions);
    return trace;
}

static struct trace *evicted_run(uint64_t short_cost_ns, uint64_t long_cost_ns) {
    return moving_run(short_cost_ns, long_cost_ns, 0);
}

/* ---- two workers on one core ---- */

struct sharing {
    struct trace *trace;
    uint64_t now_ns, on_ns, left_ns[3]; /* per thread: of its fragment */
    uint32_t running;
};

/* Until the running worker has had so much CPU time. */
static void share(struct sharing *all, struct story *random, uint64_t ns) {
    uint64_t *left_ns = &all->left_ns[all->running], end_ns = all->now_ns + ns;
    for (; all->now_ns + *left_ns <= end_ns; *left_ns = 2 * MS + any(random, 2 * MS)) {
        all->now_ns += *left_ns;
        builder_record(all->trace, all->running, "pthread_mutex_unlock", all->now_ns, 0, 0x1000,
                       builder_context(all->trace, "work", 10, "worker", 20), 0);
    }
    *left_ns -= end_ns - all->now_ns;
    all->now_ns = end_ns;
}

static void leave(struct sharing *all) {
    builder_run(all->trace, all->running, 0, 0, all->on_ns, all->now_ns, true);
}

static void note(struct sharing *all, enum trace_eviction_kind kind, uint64_t from_ns,
                 double survived) {
    bool holds = kind == EVICTION_HOLD;
    builder_eviction(all->trace, (struct trace_eviction){.from_ns = from_ns,
                                                         .to_ns = from_ns + (holds ? 4 * MS : 0),
                                                         .planned_ns = holds ? 4 * MS : 0,
                                                         .survived = survived,
                                                         .kind = kind});
}

/* Turns of 4 ms, which cost `turn_cost_ns`. In every third to fifth the core is taken for
 * 4 ms, which costs the worker that has the turn and the one that waits `cost_ns`. Of lines put
 * there before, an e-th is left after `lines_ns`; 0: nobody looks. */
static struct trace *shared_run(uint64_t cost_ns, uint64_t turn_cost_ns, uint64_t lines_ns) {
    struct story random = {.random = 1};
    struct sharing all = {.trace = builder_new(1), .running = WORKER};
    builder_thread(all.trace, "main", -1);
    for (uint32_t t = WORKER; t <= OTHER; t++) {
        builder_thread(all.trace, "worker", 0);
        all.left_ns[t] = 3 * MS;
    }
    uint64_t next = 3;
    for (uint64_t turn = 0; turn < 2000; turn++) {
        uint64_t before_ns = any(&random, 4 * MS);
        share(&all, &random, before_ns);
        if (turn == next) {
            next += 3 + any(&random, 3);
            leave(&all);
            note(&all, EVICTION_HOLD, all.now_ns, 0);
            all.on_ns = all.now_ns += 4 * MS;
            all.left_ns[WORKER] += seen_ns(cost_ns, cost_ns);
            all.left_ns[OTHER] += seen_ns(cost_ns, cost_ns);
        } else if (lines_ns && turn % 16 == 0) {
            note(&all, EVICTION_PRIME, all.on_ns + MS, 0);
            note(&all, EVICTION_PROBE, all.on_ns + 2 * MS, exp(-(double)MS / (double)lines_ns));
        }
        share(&all, &random, 4 * MS - before_ns);
        leave(&all);
        all.on_ns = all.now_ns;
        all.running = all.running == WORKER ? OTHER : WORKER;
        all.left_ns[all.running] += turn_cost_ns;
    }
    builder_finish(all.trace, all.now_ns);
    return all.trace;
}

/* ---- what is measured ---- */

static struct cache_reload_cost worker_refill(const struct cache_reload_costs *reload_costs,
                                              const struct trace *trace) {
    for (size_t i = 0; i < reload_costs->count; i++)
        if (reload_costs->items[i].role == fragments_role(trace, WORKER))
            return reload_costs->items[i];
    fail_msg("nothing is known of the worker");
    return (struct cache_reload_cost){0};
}

/* Of one run; frees it. */
static struct cache_reload_cost measure(struct trace *trace) {
    struct cache_reload_costs reload_costs = cache_reload_costs_measure(&trace, 1);
    struct cache_reload_cost refill = worker_refill(&reload_costs, trace);
    free(reload_costs.items);
    trace_free(trace);
    return refill;
}

static void longer_fragments_after_evictions_tell_their_cost(void **state) {
    (void)state;
    struct cache_reload_cost refill = measure(evicted_run(400 * US, 900 * US));
    assert_int_equal(refill.n_points, 2);
    assert_true(fabs(refill.points[0].away_ns - 4 * MS) < 1);
    assert_true(fabs(refill.points[1].away_ns - 12 * MS) < 1);
    assert_true(fabs(refill.points[0].cpu_ns - 400 * US) < 150 * US);
    assert_true(fabs(refill.points[1].cpu_ns - 900 * US) < 150 * US);
}

static void what_costs_nothing_is_not_mistaken_for_a_cost(void **state) {
    (void)state;
    assert_int_equal(measure(evicted_run(0, 0)).n_points, 0);
}

static void being_away_longer_does_not_cost_less(void **state) {
    (void)state;
    struct cache_reload_cost refill = measure(evicted_run(900 * US, 500 * US));
    assert_int_equal(refill.n_points, 2);
    assert_true(refill.points[0].cpu_ns == refill.points[1].cpu_ns);
    assert_true(fabs(refill.points[0].cpu_ns - 700 * US) < 150 * US);
}

/* Otherwise they would make fragments longer of which nobody knows why, and evictions would seem to
 * cost less. */
static void who_waits_for_the_core_pays_for_evictions_too(void **state) {
    (void)state;
    struct cache_reload_cost refill = measure(shared_run(600 * US, 100 * US, 0));
    assert_int_equal(refill.n_points, 1);
    assert_true(fabs(refill.points[0].cpu_ns - 600 * US) < 100 * US);
}

/* What a thread finds on another core, where its like runs, is shared with that one. */
static void what_threads_share_they_keep_for_each_other(void **state) {
    (void)state;
    struct cache_reload_cost refill = measure(moving_run(1200 * US, 1200 * US, 600 * US));
    assert_int_equal(refill.n_points, 2);
    assert_true(fabs(refill.points[0].cpu_ns - 600 * US) < 200 * US);
    assert_true(fabs(refill.points[1].cpu_ns - 600 * US) < 200 * US);
}

/* Who takes turns with its like, which displaces all that is its own, misses that and nothing else.
 */
static void what_threads_share_their_turns_leave(void **state) {
    (void)state;
    struct cache_reload_cost refill =
        measure(shared_run(1200 * US, seen_ns(300 * US, 1200 * US), 500 * US));
    assert_int_equal(refill.n_points, 1);
    assert_true(fabs(refill.points[0].cpu_ns - 300 * US) < 100 * US);
    refill = measure(shared_run(1200 * US, seen_ns(1200 * US, 1200 * US), 500 * US));
    assert_true(fabs(refill.points[0].cpu_ns - 1200 * US) < 150 * US);
}

/* Where no line can be looked at, and turns of 4 ms cost half of what all of it does. */
static void turns_tell_how_fast_threads_displace_each_others_lines(void **state) {
    (void)state;
    struct cache_reload_cost refill =
        measure(shared_run(1200 * US, seen_ns(600 * US, 1200 * US), 0));
    assert_int_equal(refill.n_points, 1);
    assert_true(fabs(refill.points[0].cpu_ns - 1200 * US) < 150 * US);
    assert_true(fabs(1 - exp(-refill.displaces_per_ns * 4 * MS) - 0.5) < 0.1);
}

static void several_runs_are_taken_together(void **state) {
    (void)state;
    struct trace *runs[] = {evicted_run(400 * US, 400 * US), evicted_run(800 * US, 800 * US)};
    assert_true(fragments_role(runs[0], WORKER) == fragments_role(runs[1], WORKER));
    assert_true(fragments_role(runs[0], WORKER) != fragments_role(runs[0], MAIN));
    struct cache_reload_costs reload_costs = cache_reload_costs_measure(runs, 2);
    struct cache_reload_cost refill = worker_refill(&reload_costs, runs[0]);
    assert_int_equal(reload_costs.count, 2);
    assert_true(fabs(refill.points[0].cpu_ns - 600 * US) < 150 * US);
    free(reload_costs.items);
    trace_free(runs[0]);
    trace_free(runs[1]);
}

static void one_run_of_several_does_not_tell(void **state) {
    (void)state;
    for (int costs_always = 0; costs_always <= 1; costs_always++) {
        struct trace *runs[3];
        for (int i = 0; i < 3; i++)
            runs[i] = costs_always || i == 1 ? evicted_run(1 * MS, 2 * MS) : evicted_run(0, 0);
        struct cache_reload_costs reload_costs = cache_reload_costs_measure(runs, 3);
        assert_true((worker_refill(&reload_costs, runs[0]).n_points > 0) == costs_always);
        free(reload_costs.items);
        for (int i = 0; i < 3; i++)
            trace_free(runs[i]);
    }
}

static void a_run_without_evictions_tells_nothing(void **state) {
    (void)state;
    struct story story = begin_story();
    for (int i = 0; i < 100; i++)
        compute(&story, 3 * MS);
    struct cache_reload_cost refill = measure(end_story(&story));
    assert_int_equal(refill.n_points, 0);
    assert_true(refill.displaces_per_ns == 0);
    struct cache_reload_costs none = cache_reload_costs_measure(NULL, 0);
    assert_int_equal(none.count, 0);
}

/* An e-th of the lines is left after 2 ms of the worker. */
static void lines_that_are_gone_tell_how_fast_a_thread_displaces_them(void **state) {
    (void)state;
    struct story story = begin_story();
    for (int i = 0; i < 100; i++) {
        evict(&story, EVICTION_PRIME, MS);
        uint64_t ran_ns = 300 * US + any(&story, 2 * MS);
        compute(&story, ran_ns);
        evict(&story, EVICTION_PROBE, 100 * US);
        story.trace->evictions[story.trace->n_evictions - 1].survived =
            exp(-(double)ran_ns / (2.0 * MS));
        compute(&story, 3 * MS);
    }
    struct cache_reload_cost refill = measure(end_story(&story));
    assert_true(fabs(refill.displaces_per_ns * 2 * MS - 1) < 0.01);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(longer_fragments_after_evictions_tell_their_cost),
        cmocka_unit_test(what_costs_nothing_is_not_mistaken_for_a_cost),
        cmocka_unit_test(being_away_longer_does_not_cost_less),
        cmocka_unit_test(who_waits_for_the_core_pays_for_evictions_too),
        cmocka_unit_test(what_threads_share_they_keep_for_each_other),
        cmocka_unit_test(what_threads_share_their_turns_leave),
        cmocka_unit_test(turns_tell_how_fast_threads_displace_each_others_lines),
        cmocka_unit_test(several_runs_are_taken_together),
        cmocka_unit_test(one_run_of_several_does_not_tell),
        cmocka_unit_test(a_run_without_evictions_tells_nothing),
        cmocka_unit_test(lines_that_are_gone_tell_how_fast_a_thread_displaces_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
