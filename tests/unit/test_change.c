/* cli/arguments/change, cli/prediction/change_apply: what a user would change, and what becomes of
 * a model by it. */
/* tests/run: beside others */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/whole_words.h"
#include "cli/prediction/change_apply.h"
#include "tests/unit/model_builder.h"
#include "tests/unit/steps_builder.h"

#define MS 1e6

/* ---- the words ---- */

static void assert_scale(const char *text, enum change_kind kind, const char *name, double value) {
    struct changes list = {0};
    struct error error;
    if (changes_add_scale(&list, text, &error) < 0)
        fail_msg("%s", error.text);
    assert_int_equal(list.items[0].kind, kind);
    assert_string_equal(list.items[0].name, name);
    assert_true(fabs(list.items[0].value - value) < 1e-12);
    changes_free(&list);
}

static void factors_are_of_calls_locks_waits_and_disks(void **state) {
    (void)state;
    assert_scale("parse=0.5", CHANGE_CPU, "parse", 0.5);
    assert_scale("parse=50%", CHANGE_CPU, "parse", 0.5);
    assert_scale("lock:queue.mutex=0", CHANGE_HOLD, "queue.mutex", 0);
    assert_scale("io:read_all=2", CHANGE_IO, "read_all", 2);
    assert_scale("sleep:nap (a.c:3)=1e-1", CHANGE_SLEEP, "nap (a.c:3)", 0.1);
    assert_scale("disk:8:0=0.25", CHANGE_SERVICE, "8:0", 0.25);
    assert_scale("ns::parse=0.5", CHANGE_CPU, "ns::parse", 0.5);
    assert_scale("lock::hold=0.5", CHANGE_CPU, "lock::hold", 0.5); /* a namespace */
    assert_scale("operator===2", CHANGE_CPU, "operator==", 2);
}

static void assert_set(const char *text, enum change_kind kind, const char *name, double value) {
    struct changes list = {0};
    struct error error;
    if (changes_add_set(&list, text, &error) < 0)
        fail_msg("%s", error.text);
    assert_int_equal(list.items[0].kind, kind);
    assert_string_equal(list.items[0].name, name);
    assert_true(list.items[0].value == value);
    changes_free(&list);
}

static void values_have_a_parameter(void **state) {
    (void)state;
    assert_set("jobs.capacity=64", CHANGE_CAPACITY, "jobs", 64);
    assert_set("struct queue.mutex.capacity=unlimited", CHANGE_CAPACITY, "struct queue.mutex",
               INFINITY);
    assert_set("credits.permits=8", CHANGE_PERMITS, "credits", 8);
    assert_set("step.parties=3", CHANGE_PARTIES, "step", 3);
    assert_set("8:0.servers=2", CHANGE_SERVERS, "8:0", 2);
    assert_set("8:0.service=2ms", CHANGE_SERVICE_TIME, "8:0", 2 * MS);
    assert_set("work (w.c:13).delay=0us", CHANGE_DELAY, "work (w.c:13)", 0);
}

static void what_is_not_understood_is_refused_by_its_option(void **state) {
    (void)state;
    const char *const factors[] = {"",           "parse",     "=0.5",          "lock:=0.5",
                                   "parse=",     "parse=-1",  "parse=fast",    "parse=0.5x",
                                   "parse=nan",  "parse=inf", "parse=0.5 0.5", "lock:",
                                   "parse=1e300"};
    const char *const values[] = {"",
                                  "jobs",
                                  "jobs=64",
                                  ".capacity=64",
                                  "jobs.size=64",
                                  "jobs.capacity=",
                                  "jobs.capacity=0",
                                  "jobs.capacity=-1",
                                  "jobs.capacity=1.5",
                                  "jobs.capacity=1e10",
                                  "jobs.capacity=nan",
                                  "jobs.parties=unlimited",
                                  "d.service=2",
                                  "d.delay=-1ms",
                                  "d.delay=1e300s"};
    struct changes list = {0};
    struct error error;
    for (size_t i = 0; i < sizeof factors / sizeof *factors; i++) {
        if (changes_add_scale(&list, factors[i], &error) == 0)
            fail_msg("--scale '%s' is taken", factors[i]);
        assert_true(strncmp(error.text, "--scale '", 9) == 0 && !strchr(error.text, '\n'));
    }
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        if (changes_add_set(&list, values[i], &error) == 0)
            fail_msg("--set '%s' is taken", values[i]);
        assert_true(strncmp(error.text, "--set '", 7) == 0 && !strchr(error.text, '\n'));
    }
    assert_int_equal(list.count, 0);
    changes_free(&list);
}

static void names_are_whole_words(void **state) {
    (void)state;
    assert_true(whole_words_stand_in("parse", "ns::parse (main.c:12)"));
    assert_true(whole_words_stand_in("main.c:12", "ns::parse (main.c:12)"));
    assert_true(whole_words_stand_in("parse (main.c:12)", "ns::parse (main.c:12)"));
    assert_true(whole_words_stand_in("q.mutex", "struct q.mutex, q_init (q.c:4)"));
    assert_true(whole_words_stand_in("a", "aa a"));
    assert_false(whole_words_stand_in("main.c:1", "ns::parse (main.c:12)"));
    assert_false(whole_words_stand_in("parse", "parse_all (domain.c:12)"));
    assert_false(whole_words_stand_in("main.c", "parse_all (domain.c:12)"));
    assert_false(whole_words_stand_in("", "parse"));
    assert_false(whole_words_stand_in("Parse", "parse"));
}

/* ---- a model ---- */

static void rename_to(char **name, const char *text) {
    free(*name);
    *name = memory_strdup(text);
}

/* Two pools: "worker" computes at two calls of parse, sleeps and holds a lock, "writer" waits for
 * a device. */
static struct model *make(void) {
    struct model *model = build_model(2);
    int mutex = build_object(model, OBJECT_MUTEX, 0);
    int queue = build_object(model, OBJECT_QUEUE, 8);
    int permits = build_object(model, OBJECT_TOKENS, 3);
    int disk = build_object(model, OBJECT_DISK, 0);
    rename_to(&model->objects[mutex].name, "struct jobs.mutex, jobs_init (jobs.c:4)");
    rename_to(&model->objects[queue].name, "jobs");
    rename_to(&model->objects[permits].name, "licences");
    rename_to(&model->objects[disk].name, "disk 8:0");
    model->objects[queue].bounded = true;
    model->objects[disk].service_ns = constant(4 * MS);
    int worker = build_pool(model, 2, true), writer = build_pool(model, 1, true);
    rename_to(&model->pools[worker].name, "worker");
    rename_to(&model->pools[writer].name, "writer");
    int lock = build_next(model, model->pools[worker].entry, constant(1 * MS), NODE_LOCK, mutex);
    int unlock = build_next(model, lock, constant(2 * MS), NODE_UNLOCK, mutex);
    int sleep = build_sleep(model, unlock, constant(3 * MS), constant(5 * MS));
    build_next(model, sleep, constant(4 * MS), NODE_END, MODEL_NONE);
    rename_to(&model->nodes[lock].name, "worker: parse (p.c:1)");
    rename_to(&model->nodes[unlock].name, "worker: parse (p.c:2)");
    rename_to(&model->nodes[sleep].name, "worker: parse_end (p.c:3)");
    int io = build_next(model, model->pools[writer].entry, constant(0), NODE_IO, MODEL_NONE);
    model->nodes[io].wait_ns = constant(7 * MS);
    rename_to(&model->nodes[io].name, "writer: flush (w.c:9)");
    build_next(model, io, constant(6 * MS), NODE_END, MODEL_NONE);
    model_find_pools(model);
    return model;
}

enum { LOCK = 2, UNLOCK, SLEEP, IO = 6 };

static struct model *changed_by(const char *option, const char *text, struct changed_parts *parts) {
    struct model *model = make();
    struct changes list = {0};
    struct error error;
    int status = strcmp(option, "--set") == 0 ? changes_add_set(&list, text, &error)
                                              : changes_add_scale(&list, text, &error);
    if (status < 0 || changes_apply(&list, NULL, model, parts, &error) < 0)
        fail_msg("%s", error.text);
    changes_free(&list);
    return model;
}

static double leaves_after(const struct model *model, int node) {
    return model->nodes[node].edges[0].cpu_ns.mean / MS;
}

static void a_function_is_what_is_computed_from_its_calls_on(void **state) {
    (void)state;
    struct changed_parts parts = {0};
    struct model *model = changed_by("--scale", "parse=0.5", &parts);
    assert_true(leaves_after(model, LOCK) == 1 && leaves_after(model, UNLOCK) == 1.5);
    assert_true(leaves_after(model, SLEEP) == 4 && leaves_after(model, IO) == 6);
    assert_true(model->nodes[SLEEP].wait_ns.mean == 5 * MS);
    assert_int_equal(parts.count, 2);
    assert_string_equal(parts.items[0].part, "worker: parse (p.c:1)");
    assert_string_equal(parts.items[1].change, "computing x 0.5");
    changed_parts_free(&parts);
    model_free(model);
    model = changed_by("--scale", "p.c:2=0", &parts);
    assert_true(leaves_after(model, LOCK) == 2 && leaves_after(model, UNLOCK) == 0);
    assert_int_equal(parts.count, 1);
    changed_parts_free(&parts);
    model_free(model);
}

static void a_pool_is_all_that_its_threads_compute(void **state) {
    (void)state;
    struct changed_parts parts = {0};
    struct model *model = changed_by("--scale", "worker=2", &parts);
    assert_true(leaves_after(model, LOCK) == 4 && leaves_after(model, UNLOCK) == 6);
    assert_true(leaves_after(model, SLEEP) == 8 && leaves_after(model, IO) == 6);
    assert_int_equal(parts.count, 4);
    changed_parts_free(&parts);
    model_free(model);
}

/* The worker computes 1 ms until it calls parse(), which is in run() and calls something at t.c:10,
 * 2 ms until emit() does at t.c:11, and 3 ms until it ends. */
static struct dependencies *recorded_run(void) {
    static const struct steps_names names = {
        .threads = {"worker"}, .places = {"parse", "emit"}, .root = "run"};
    struct dependencies *all = steps_new(&names, 1);
    for (int place = 0; place < 2; place++) {
        uint64_t end_ns = place == 0 ? MS : 3 * MS;
        steps_add(all, 0, place, STEP_COMPUTE, end_ns);
        steps_add(all, 0, place, STEP_COMPUTE, end_ns)->in_call = 1;
    }
    steps_add(all, 0, 1, STEP_COMPUTE, 6 * MS)->place = NONE;
    return all;
}

/* The same as a model, in which the worker has another number in its name. */
static struct model *model_of_it(int *entry) {
    struct model *model = build_model(1);
    int worker = build_pool(model, 2, true);
    rename_to(&model->pools[worker].name, "worker#2");
    int parse =
        build_next(model, model->pools[worker].entry, constant(1 * MS), NODE_STEP, MODEL_NONE);
    int emit = build_next(model, parse, constant(2 * MS), NODE_STEP, MODEL_NONE);
    rename_to(&model->nodes[parse].name, "worker#2: parse (t.c:10)");
    rename_to(&model->nodes[emit].name, "worker#2: emit (t.c:11)");
    build_next(model, emit, constant(3 * MS), NODE_END, MODEL_NONE);
    model_find_pools(model);
    *entry = model->pools[worker].entry;
    return model;
}

/* Between its calls and the ones before, not behind them, as a recorded run knows. */
static void what_a_function_computes_is_known_of_a_recorded_run(void **state) {
    (void)state;
    int entry;
    struct model *model = model_of_it(&entry);
    struct dependencies *recorded = recorded_run();
    struct changes list = {0};
    struct changed_parts parts = {0};
    struct error error;
    assert_int_equal(changes_add_scale(&list, "emit=0.5", &error), 0);
    assert_int_equal(changes_apply(&list, recorded, model, &parts, &error), 0);
    assert_true(leaves_after(model, entry) == 1 && leaves_after(model, entry + 1) == 1 &&
                leaves_after(model, entry + 2) == 3);
    assert_string_equal(parts.items[0].part, "emit");
    assert_string_equal(parts.items[0].change, "computing x 0.5, 33.3 % of the CPU time");
    changed_parts_free(&parts);
    changes_free(&list);
    dependencies_free(recorded);
    model_free(model);
}

static void waits_and_locks_are_changed_apart(void **state) {
    (void)state;
    struct changed_parts parts = {0};
    struct model *model = changed_by("--scale", "lock:jobs.mutex=0.5", &parts);
    assert_true(leaves_after(model, LOCK) == 1 && leaves_after(model, UNLOCK) == 3);
    assert_string_equal(parts.items[0].change, "held x 0.5");
    changed_parts_free(&parts);
    model_free(model);
    model = changed_by("--scale", "sleep:parse_end=0.2", &parts);
    assert_true(model->nodes[SLEEP].wait_ns.mean == 1 * MS && leaves_after(model, SLEEP) == 4);
    changed_parts_free(&parts);
    model_free(model);
    model = changed_by("--scale", "io:writer=2", &parts);
    assert_true(model->nodes[IO].wait_ns.mean == 14 * MS && leaves_after(model, IO) == 6);
    changed_parts_free(&parts);
    model_free(model);
    model = changed_by("--scale", "disk:8:0=0.5", &parts);
    assert_true(model->objects[3].service_ns.mean == 2 * MS);
    changed_parts_free(&parts);
    model_free(model);
}

static void amounts_and_times_are_set(void **state) {
    (void)state;
    struct changed_parts parts = {0};
    struct model *model = changed_by("--set", "jobs.capacity=64", &parts);
    assert_true(model->objects[1].amount.base == 64 && model->objects[1].bounded);
    assert_string_equal(parts.items[0].part, "jobs");
    assert_string_equal(parts.items[0].change, "capacity 8 to 64");
    changed_parts_free(&parts);
    model_free(model);
    model = changed_by("--set", "jobs.capacity=unlimited", &parts);
    assert_false(model->objects[1].bounded);
    assert_string_equal(parts.items[0].change, "capacity 8 to unlimited");
    changed_parts_free(&parts);
    model_free(model);
    model = changed_by("--set", "licences.permits=2", &parts);
    assert_true(model->objects[2].amount.base == 2);
    changed_parts_free(&parts);
    model_free(model);
    model = changed_by("--set", "8:0.servers=unlimited", &parts);
    assert_true(model->objects[3].servers == 0);
    changed_parts_free(&parts);
    model_free(model);
    model = changed_by("--set", "disk 8:0.service=1ms", &parts);
    assert_true(model->objects[3].service_ns.mean == 1 * MS);
    assert_string_equal(parts.items[0].change, "service 4.00 ms to 1.00 ms");
    changed_parts_free(&parts);
    model_free(model);
    model = changed_by("--set", "flush.delay=2ms", &parts);
    assert_true(model->nodes[IO].wait_ns.mean == 2 * MS);
    changed_parts_free(&parts);
    model_free(model);
}

/* The room of a bounded queue, made of a mutex and conditions, is tokens in the model. */
static void the_room_of_a_hand_made_queue_is_its_capacity(void **state) {
    (void)state;
    struct model *model = make();
    model->monitors = memory_alloc(1, sizeof *model->monitors);
    model->n_monitors = 1;
    model->monitors[0] = (struct hand_made){
        .name = memory_strdup("licences"), .kind = HAND_MADE_BOUNDED_QUEUE, .n_made_of = 1};
    model->monitors[0].made_of = memory_alloc(1, sizeof *model->monitors[0].made_of);
    model->monitors[0].made_of[0].object = 2;
    struct changes list = {0};
    struct changed_parts parts = {0};
    struct error error;
    assert_int_equal(changes_add_set(&list, "licences.capacity=9", &error), 0);
    assert_int_equal(changes_apply(&list, NULL, model, &parts, &error), 0);
    assert_true(model->objects[2].amount.base == 9);
    changed_parts_free(&parts);
    changes_free(&list);
    model_free(model);
}

static void assert_refused(const char *option, const char *text, const char *words) {
    struct model *model = make();
    struct changes list = {0};
    struct changed_parts parts = {0};
    struct error error = {0};
    if (strcmp(option, "--set") == 0)
        assert_int_equal(changes_add_set(&list, text, &error), 0);
    else
        assert_int_equal(changes_add_scale(&list, text, &error), 0);
    assert_int_equal(changes_apply(&list, NULL, model, &parts, &error), -1);
    if (!strstr(error.text, words) || strchr(error.text, '\n'))
        fail_msg("'%s' does not say '%s'", error.text, words);
    changes_free(&list);
    changed_parts_free(&parts);
    model_free(model);
}

static void names_without_anything_to_change_are_refused_with_the_nearest(void **state) {
    (void)state;
    assert_refused("--scale", "prase=0.5", "nearest: 'parse (p.c:1)', 'parse (p.c:2)'");
    assert_refused("--scale", "wroker=0.5", "nearest: 'worker'");
    assert_refused("--scale", "lock:job.mutex=0", "nearest: 'struct jobs.mutex, jobs_init (jobs");
    assert_refused("--scale", "sleep:flush=0", "nearest: 'parse_end (p.c:3)', 'worker'");
    assert_refused("--set", "licences.capacity=3", "nearest: 'jobs'");
    assert_refused("--set", "jobs.parties=3", "the model has no barrier");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(factors_are_of_calls_locks_waits_and_disks),
        cmocka_unit_test(values_have_a_parameter),
        cmocka_unit_test(what_is_not_understood_is_refused_by_its_option),
        cmocka_unit_test(names_are_whole_words),
        cmocka_unit_test(a_function_is_what_is_computed_from_its_calls_on),
        cmocka_unit_test(a_pool_is_all_that_its_threads_compute),
        cmocka_unit_test(what_a_function_computes_is_known_of_a_recorded_run),
        cmocka_unit_test(waits_and_locks_are_changed_apart),
        cmocka_unit_test(amounts_and_times_are_set),
        cmocka_unit_test(the_room_of_a_hand_made_queue_is_its_capacity),
        cmocka_unit_test(names_without_anything_to_change_are_refused_with_the_nearest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
