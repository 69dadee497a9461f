/* What the model file promises: it comes back as it was written, a person's slip is named by its
 * place, and nothing half-written or foreign is taken for a model. */
/* tests/run: beside others */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/model.h"
#include "tests/unit/model_builder.h"
#include "tests/unit/scratch_folder.h"

static const char *file_in_folder(const char *name) {
    static char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", scratch_folder, name);
    return path;
}

static char *read_file(const char *path) {
    FILE *file = fopen(path, "re");
    assert_non_null(file);
    char *text = memory_alloc(1 << 20, 1);
    size_t n = fread(text, 1, (1 << 20) - 1, file);
    text[n] = '\0';
    fclose(file);
    return text;
}

static void write_file(const char *path, const char *text, size_t length) {
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
}

static struct dist empirical(const double *values, size_t n) {
    double *copy = memory_alloc(n, sizeof *copy);
    memcpy(copy, values, n * sizeof *copy);
    struct dist dist = dist_from_values(copy, n, n);
    free(copy);
    return dist;
}

/* One of everything; nodes 0 start, 1 lock, 2 get, 3 unlock, 4 io, 5 end. */
static struct model *build_rich_model(void) {
    struct model *model = build_model(2);
    model->machine.switch_cpu_ns = 1500.25;
    model->machine.wake_latency_ns = exponential(40000);
    model->measured_run_ns = 1.25e9;
    model->explained_share = 0.995;
    model->perturbation = 0.0125;
    int mutex = build_object(model, OBJECT_MUTEX, 0);
    int queue = build_object(model, OBJECT_QUEUE, 8);
    int disk = build_object(model, OBJECT_DISK, 0);
    model->objects[queue].bounded = true;
    model->objects[queue].evidence = memory_strdup("replayed \"1024\" operations");
    const double services[] = {1e5, 2.5e5, 1e7 / 3};
    model->objects[disk].service_ns = empirical(services, 3);
    model->objects[disk].service_ns.common = 0.5;
    model->objects[disk].service_ns.sharers = 3;
    model->objects[disk].servers = 4;
    int pool = build_pool(model, 3, true);
    model->pools[pool].most_threads = 7;
    model->pools[pool].asked_factor = 2;
    model->pools[pool].asked_offset = -1;
    model->pools[pool].least_threads = 2;
    model->pools[pool].displaces_per_ns = 2.5e-7;
    model->pools[pool].cold_cpu_ns = 2e5;
    model->pools[pool].cold_pace_ns = 8e5;
    model->pools[pool].n_refill = 2;
    model->pools[pool].refill = memory_alloc(2, sizeof *model->pools[pool].refill);
    model->pools[pool].refill[0] = (struct refill_point){4e6, 33333.5};
    model->pools[pool].refill[1] = (struct refill_point){1.2e7, 5e5};
    struct linear *amount = &model->objects[queue].amount;
    amount->n_terms = 1;
    amount->terms = memory_alloc(1, sizeof *amount->terms);
    amount->terms[0] = (struct linear_term){.pool = pool, .factor = 2};
    const double demands[] = {0.1, 1.0 / 3, 1e6};
    int lock = build_next(model, 0, empirical(demands, 3), NODE_LOCK, mutex);
    int get = build_next(model, lock, constant(12.5), NODE_GET, queue);
    int unlock = build_node(model, NODE_UNLOCK, mutex);
    int io = build_next(model, unlock, exponential(7), NODE_IO, disk);
    int end = build_node(model, NODE_END, MODEL_NONE);
    model->nodes[get].mutex = mutex;
    model->nodes[get].timeout_ns = 5e6;
    model->nodes[io].operations = constant(2);
    model->nodes[lock].n_course = 4;
    model->nodes[lock].course = memory_alloc(4, sizeof(double));
    model->nodes[lock].course[1] = 3;
    model->nodes[lock].course[3] = 7;
    struct edge *edge = build_edge(model, get, unlock);
    edge->when = OUTCOME_YES;
    edge->runs = constant(10);
    edge->runs_scaling = (struct scaling){.share = 0.5, .growth = 0.25, .pool = pool};
    edge->cpu_ns.kind = DIST_UNIFORM;
    edge->cpu_ns.n_values = 2;
    edge->cpu_ns.values = memory_alloc(2, sizeof(double));
    edge->cpu_ns.values[1] = 9;
    edge->n_cpu_by_place = 2;
    edge->cpu_by_place = memory_alloc(2, sizeof(double));
    edge->cpu_by_place[0] = 0.1;
    edge->cpu_by_place[1] = 1.9;
    edge = build_edge(model, get, end);
    edge->when = OUTCOME_NO;
    edge->probability = 0.25;
    build_edge(model, io, lock);
    model->n_monitors = 1;
    model->monitors = memory_alloc(1, sizeof *model->monitors);
    struct hand_made *monitor = model->monitors;
    *monitor = (struct hand_made){.name = memory_strdup("bounded queue struct q, put (q.c:1)"),
                                  .kind = HAND_MADE_BOUNDED_QUEUE,
                                  .amount = {.base = 8},
                                  .n_made_of = 1,
                                  .n_operations = 1,
                                  .n_evidence = 1,
                                  .replayed = 120,
                                  .violations = 2,
                                  .confidence = 0.75,
                                  .how = MODELLED_BY_FALLBACK,
                                  .why = memory_strdup("found in the trace")};
    monitor->made_of = memory_alloc(1, sizeof *monitor->made_of);
    monitor->made_of[0].object = queue;
    monitor->operations = memory_alloc(1, sizeof *monitor->operations);
    monitor->operations[0] = (struct hand_made_operation){AS_WRITE_LOCK, memory_strdup("wrlock")};
    monitor->evidence = memory_alloc(1, sizeof *monitor->evidence);
    monitor->evidence[0] = memory_strdup("items: 0 at the start");
    model->n_waiting = 1;
    model->waiting = memory_alloc(1, sizeof *model->waiting);
    model->waiting[0] = (struct waiting_share){memory_strdup("queue"), MODELLED_NOT, 5e8};
    model->n_notes = 1;
    model->notes = memory_alloc(1, sizeof *model->notes);
    model->notes[0] = memory_strdup("epoll_wait is a timed fragment");
    model->n_checks = 1;
    model->checks = memory_alloc(1, sizeof *model->checks);
    model->checks[0] = (struct model_check){
        .what = memory_strdup("running time"), .measured = 1.25e9, .simulated = 1.24e9};
    return model;
}

static void assert_saves(const struct model *model, const char *path) {
    struct error error = {0};
    if (model_save(model, path, &error) != 0)
        fail_msg("%s", error.text);
}

static struct model *assert_loads(const char *path) {
    struct error error = {0};
    struct model *model = model_load(path, &error);
    if (!model)
        fail_msg("%s", error.text);
    return model;
}

static void assert_same_dist(const struct dist *a, const struct dist *b) {
    assert_int_equal(a->kind, b->kind);
    assert_int_equal(a->n_values, b->n_values);
    assert_true(a->common == b->common);
    assert_int_equal(a->sharers, b->sharers);
    assert_true(fabs(dist_mean(a) - dist_mean(b)) <= 1e-12 * dist_mean(a));
    for (size_t i = 0; a->values && b->values && i < a->n_values; i++)
        assert_true(fabs(a->values[i] - b->values[i]) <= 1e-14 * a->values[i]);
}

static void test_a_saved_model_comes_back_as_it_was(void **state) {
    (void)state;
    struct model *model = build_rich_model();
    assert_saves(model, file_in_folder("a.json"));
    struct model *back = assert_loads(file_in_folder("a.json"));
    assert_int_equal(back->n_objects, model->n_objects);
    assert_int_equal(back->n_nodes, model->n_nodes);
    assert_true(back->perturbation == model->perturbation);
    assert_true(back->machine.switch_cpu_ns == 1500.25);
    assert_same_dist(&back->machine.wake_latency_ns, &model->machine.wake_latency_ns);
    for (size_t i = 0; i < model->n_objects; i++) {
        const struct object *a = &model->objects[i];
        const struct object *b = &back->objects[i];
        assert_string_equal(a->name, b->name);
        assert_int_equal(a->kind, b->kind);
        assert_int_equal(a->bounded, b->bounded);
        const int threads[] = {5};
        assert_true(linear_value(&a->amount, threads) == linear_value(&b->amount, threads));
        assert_same_dist(&a->service_ns, &b->service_ns);
        assert_float_equal(a->servers, b->servers, 0);
    }
    assert_int_equal(back->pools[0].most_threads, 7);
    assert_true(back->pools[0].asked_factor == 2 && back->pools[0].asked_offset == -1);
    assert_int_equal(back->pools[0].least_threads, 2);
    assert_null(back->objects[0].evidence);
    assert_string_equal(back->objects[1].evidence, model->objects[1].evidence);
    for (size_t i = 0; i < model->n_nodes; i++) {
        const struct node *a = &model->nodes[i];
        const struct node *b = &back->nodes[i];
        assert_int_equal(a->kind, b->kind);
        assert_int_equal(a->object, b->object);
        assert_int_equal(a->mutex, b->mutex);
        assert_int_equal(a->target_pool, b->target_pool);
        assert_true(a->timeout_ns == b->timeout_ns);
        assert_int_equal(a->n_course, b->n_course);
        for (size_t k = 0; k < a->n_course; k++)
            assert_true(a->course[k] == b->course[k]);
        assert_int_equal(a->n_edges, b->n_edges);
        for (size_t k = 0; k < a->n_edges; k++) {
            assert_int_equal(a->edges[k].to, b->edges[k].to);
            assert_int_equal(a->edges[k].when, b->edges[k].when);
            assert_true(a->edges[k].probability == b->edges[k].probability);
            assert_same_dist(&a->edges[k].runs, &b->edges[k].runs);
            assert_same_dist(&a->edges[k].cpu_ns, &b->edges[k].cpu_ns);
            assert_int_equal(a->edges[k].runs_scaling.pool, b->edges[k].runs_scaling.pool);
            assert_true(a->edges[k].runs_scaling.growth == b->edges[k].runs_scaling.growth);
            assert_int_equal(a->edges[k].n_cpu_by_place, b->edges[k].n_cpu_by_place);
            for (size_t p = 0; p < a->edges[k].n_cpu_by_place; p++)
                assert_true(a->edges[k].cpu_by_place[p] == b->edges[k].cpu_by_place[p]);
        }
    }
    assert_string_equal(back->notes[0], model->notes[0]);
    assert_true(back->pools[0].displaces_per_ns == model->pools[0].displaces_per_ns);
    assert_true(back->pools[0].cold_cpu_ns == model->pools[0].cold_cpu_ns);
    assert_true(back->pools[0].cold_pace_ns == model->pools[0].cold_pace_ns);
    assert_int_equal(back->pools[0].n_refill, 2);
    for (size_t i = 0; i < 2; i++) {
        assert_true(back->pools[0].refill[i].away_ns == model->pools[0].refill[i].away_ns);
        assert_true(back->pools[0].refill[i].cpu_ns == model->pools[0].refill[i].cpu_ns);
    }
    assert_int_equal(back->n_monitors, 1);
    assert_int_equal(back->monitors[0].kind, HAND_MADE_BOUNDED_QUEUE);
    assert_int_equal(back->monitors[0].how, MODELLED_BY_FALLBACK);
    assert_int_equal(back->monitors[0].made_of[0].object, model->monitors[0].made_of[0].object);
    assert_int_equal(back->monitors[0].operations[0].as, AS_WRITE_LOCK);
    assert_string_equal(back->monitors[0].operations[0].function, "wrlock");
    assert_string_equal(back->monitors[0].evidence[0], "items: 0 at the start");
    assert_true(back->monitors[0].violations == 2);
    assert_int_equal(back->n_waiting, 1);
    assert_int_equal(back->waiting[0].how, MODELLED_NOT);
    assert_string_equal(back->checks[0].what, "running time");
    model_free(model);
    model_free(back);
}

static void test_saving_what_was_loaded_gives_the_same_bytes(void **state) {
    (void)state;
    struct model *model = build_rich_model();
    assert_saves(model, file_in_folder("a.json"));
    struct model *back = assert_loads(file_in_folder("a.json"));
    char *first = read_file(file_in_folder("a.json"));
    assert_saves(back, file_in_folder("b.json"));
    char *second = read_file(file_in_folder("b.json"));
    assert_string_equal(first, second);
    free(first);
    free(second);
    model_free(model);
    model_free(back);
}

/* A queue may have room for nothing: its items go from hand to hand. */
static void test_an_amount_of_none_is_no_unknown_amount(void **state) {
    (void)state;
    const struct linear amounts[] = {{.base = 0}, LINEAR_UNKNOWN};
    for (size_t i = 0; i < 2; i++) {
        struct model *model = build_rich_model();
        model->monitors[0].amount = amounts[i];
        assert_saves(model, file_in_folder("a.json"));
        struct model *back = assert_loads(file_in_folder("a.json"));
        assert_int_equal(linear_is_known(&back->monitors[0].amount), linear_is_known(&amounts[i]));
        if (linear_is_known(&amounts[i]))
            assert_float_equal(back->monitors[0].amount.base, 0, 0);
        model_free(model);
        model_free(back);
    }
}

static void test_unknown_perturbation_stays_unknown(void **state) {
    (void)state;
    struct model *model = build_rich_model();
    model->perturbation = NAN;
    assert_saves(model, file_in_folder("a.json"));
    struct model *back = assert_loads(file_in_folder("a.json"));
    assert_true(isnan(back->perturbation));
    model_free(model);
    model_free(back);
}

static void test_the_file_names_what_its_indices_mean(void **state) {
    (void)state;
    struct model *model = build_rich_model();
    assert_saves(model, file_in_folder("a.json"));
    char *text = read_file(file_in_folder("a.json"));
    assert_non_null(strstr(text, "\"object\": 1"));
    assert_non_null(strstr(text, "\"object_name\": \"queue-1\""));
    assert_non_null(strstr(text, "\"to_name\": \"unlock-3\""));
    free(text);
    model_free(model);
}

static void test_a_saved_model_is_private_and_leaves_no_other_file(void **state) {
    (void)state;
    struct model *model = build_rich_model();
    mode_t before = umask(0);
    assert_saves(model, file_in_folder("only.json"));
    umask(before);
    struct stat status;
    assert_int_equal(stat(file_in_folder("only.json"), &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);
    DIR *listing = opendir(scratch_folder);
    assert_non_null(listing);
    for (const struct dirent *entry; (entry = readdir(listing));)
        assert_true(entry->d_name[0] == '.' || !strstr(entry->d_name, ".json."));
    closedir(listing);
    model_free(model);
}

static void test_a_failed_save_leaves_the_old_file_alone(void **state) {
    (void)state;
    struct model *model = build_rich_model();
    assert_saves(model, file_in_folder("a.json"));
    char *before = read_file(file_in_folder("a.json"));
    model->nodes[1].edges[0].to = 99;
    struct error error = {0};
    assert_int_equal(model_save(model, file_in_folder("a.json"), &error), -1);
    assert_non_null(strstr(error.text, "nodes[1].edges[0].to"));
    char *after = read_file(file_in_folder("a.json"));
    assert_string_equal(before, after);
    model->nodes[1].edges[0].to = 2;
    assert_int_equal(model_save(model, file_in_folder("no/such/folder.json"), &error), -1);
    assert_non_null(strstr(error.text, "no/such/folder.json"));
    free(before);
    free(after);
    model_free(model);
}

/* ---- refusals ---- */

static void assert_violation(struct model *model, const char *place) {
    struct error error = {0};
    assert_int_equal(model_check(model, &error), -1);
    if (strncmp(error.text, place, strlen(place)) != 0 || error.text[strlen(place)] != ':')
        fail_msg("\"%s\" does not name %s", error.text, place);
    model_free(model);
}

/* Checks that a rich model is refused at `place` after `change`, a statement on `model`. */
#define REFUSED(place, change)                                                                     \
    do {                                                                                           \
        struct model *model = build_rich_model();                                                  \
        change;                                                                                    \
        assert_violation(model, place);                                                            \
    } while (0)

static void test_a_sound_model_passes(void **state) {
    (void)state;
    struct model *model = build_rich_model();
    struct error error = {0};
    assert_int_equal(model_check(model, &error), 0);
    assert_string_equal(error.text, "");
    model_free(model);
}

static void test_indices_out_of_range_are_refused(void **state) {
    (void)state;
    REFUSED("nodes[2].edges[0].to", model->nodes[2].edges[0].to = 6);
    REFUSED("nodes[2].edges[1].to", model->nodes[2].edges[1].to = -1);
    REFUSED("nodes[1].object", model->nodes[1].object = 3);
    REFUSED("nodes[1].object", model->nodes[1].object = MODEL_NONE);
    REFUSED("nodes[2].mutex", model->nodes[2].mutex = 77);
    REFUSED("pools[0].entry", model->pools[0].entry = 12);
    REFUSED("objects[1].amount.per_thread[0].pool", model->objects[1].amount.terms[0].pool = 1);
    REFUSED("monitors[0].made_of[0].object", model->monitors[0].made_of[0].object = 3);
    REFUSED("nodes[2].edges[0].runs_scaling.pool",
            model->nodes[2].edges[0].runs_scaling.pool = MODEL_NONE);
}

static void test_references_of_the_wrong_kind_are_refused(void **state) {
    (void)state;
    REFUSED("nodes[1].object", model->nodes[1].object = 1);
    REFUSED("nodes[2].mutex", model->nodes[2].mutex = 1);
    REFUSED("nodes[1].mutex", model->nodes[1].mutex = 0);
    REFUSED("nodes[0].object", model->nodes[0].object = 0);
    REFUSED("nodes[1].target_pool", model->nodes[1].target_pool = 0);
    REFUSED("nodes[3].target_pool", {
        model->nodes[3].kind = NODE_JOIN;
        model->nodes[3].object = MODEL_NONE;
    });
    REFUSED("pools[0].entry", model->pools[0].entry = 1);
    REFUSED("nodes[1].timeout_ns", model->nodes[1].timeout_ns = INFINITY);
    REFUSED("nodes[3].timeout_ns", model->nodes[3].timeout_ns = 10);
}

static void test_kinds_that_do_not_exist_are_refused(void **state) {
    (void)state;
    REFUSED("nodes[1].kind", model->nodes[1].kind = (enum node_kind)99);
    REFUSED("objects[0].kind", model->objects[0].kind = (enum object_kind)99);
    REFUSED("nodes[2].edges[0].when", model->nodes[2].edges[0].when = (enum outcome)7);
    REFUSED("nodes[2].edges[0].cpu_ns.kind",
            model->nodes[2].edges[0].cpu_ns.kind = (enum dist_kind)7);
    REFUSED("version", model->version = 0);
}

static void test_quantities_without_sense_are_refused(void **state) {
    (void)state;
    REFUSED("machine.cores", model->machine.cores = 0);
    REFUSED("machine.quantum_ns", model->machine.quantum_ns = 0);
    REFUSED("machine.tick_ns", model->machine.tick_ns = 0.5);
    REFUSED("machine.switch_cpu_ns", model->machine.switch_cpu_ns = -1);
    REFUSED("machine.wake_latency_ns.mean", model->machine.wake_latency_ns.mean = NAN);
    REFUSED("measured_run_ns", model->measured_run_ns = INFINITY);
    REFUSED("objects[2].servers", model->objects[2].servers = -1);
    REFUSED("objects[1].condition_of", model->objects[1].condition_of = 2);
    REFUSED("objects[1].condition_of", model->objects[1].condition_of = 100000);
    REFUSED("objects[2].service_ns", model->objects[2].service_ns.kind = DIST_NONE);
    REFUSED("objects[2].service_ns.values[1]", model->objects[2].service_ns.values[1] = -5);
    REFUSED("objects[2].service_ns.values[2]", model->objects[2].service_ns.values[2] = 6);
    REFUSED("objects[2].service_ns.common", model->objects[2].service_ns.common = 1.5);
    REFUSED("objects[2].service_ns.sharers", model->objects[2].service_ns.sharers = 0);
    REFUSED("objects[0].interarrival_ns", model->objects[0].interarrival_ns = constant(5));
    REFUSED("objects[1].interarrival_ns", model->objects[1].interarrival_ns = constant(0));
    REFUSED("objects[0].clients", model->objects[0].clients = 5);
    REFUSED("objects[1].clients", model->objects[1].clients = -1);
    REFUSED("objects[1].clients", model->objects[1].clients = 1.5);
    REFUSED("objects[1].clients", model->objects[1].clients = 1e12);
    REFUSED("objects[1].clients",
            (model->objects[1].clients = 5, model->objects[1].interarrival_ns = constant(5)));
    REFUSED("objects[1].think_ns", model->objects[1].think_ns = constant(5));
    REFUSED("objects[1].think_ns.mean",
            (model->objects[1].clients = 5, model->objects[1].think_ns = constant(-5)));
    REFUSED("objects[1].comes_by", model->objects[1].comes_by = 2);
    REFUSED("objects[1].goes_by", model->objects[1].goes_by = 100000);
    REFUSED("objects[0].comes_by", model->objects[0].comes_by = 2);
    REFUSED("objects[1]", model->objects[1].latency_ns = 5);
    REFUSED("objects[1].bytes_per_s", model->objects[1].bytes_per_s = -5);
    REFUSED("objects[1].request_bytes.mean", model->objects[1].request_bytes = constant(-5));
    REFUSED("objects[1].initial_items", model->objects[1].initial_items = 1e12);
    REFUSED("objects[1].amount.base", model->objects[1].amount.base = NAN);
    REFUSED("pools[0].profiled_threads", model->pools[0].profiled_threads = -1);
    REFUSED("pools[0].most_threads", model->pools[0].most_threads = -1);
    REFUSED("pools[0].asked_factor", model->pools[0].asked_factor = -2);
    REFUSED("pools[0].asked_offset", model->pools[0].asked_offset = INFINITY);
    REFUSED("pools[0].least_threads", model->pools[0].least_threads = -1);
    REFUSED("pools[0].least_threads",
            (model->pools[0].most_threads = 2, model->pools[0].least_threads = 3));
    REFUSED("pools[0].displaces_per_ns", model->pools[0].displaces_per_ns = -1);
    REFUSED("pools[0].cold_cpu_ns", model->pools[0].cold_cpu_ns = NAN);
    REFUSED("pools[0].cold_pace_ns", model->pools[0].cold_pace_ns = 0);
    REFUSED("pools[0].refill[1].away_ns", model->pools[0].refill[1].away_ns = NAN);
    REFUSED("pools[0].refill[1]", model->pools[0].refill[1].away_ns = 4e6);
    REFUSED("pools[0].refill[1]", model->pools[0].refill[1].cpu_ns = 1);
    REFUSED("pools[0].refill",
            (model->pools[0].n_refill = 1, model->pools[0].refill[0].cpu_ns = 0));
    REFUSED("nodes[4].operations.mean", model->nodes[4].operations.mean = INFINITY);
    REFUSED("nodes[2].edges[0].runs_scaling.share",
            model->nodes[2].edges[0].runs_scaling.share = 1.5);
    REFUSED("nodes[2].edges[0].runs_scaling.growth",
            model->nodes[2].edges[0].runs_scaling.growth = 0.75);
    REFUSED("nodes[2].edges[0]", { /* which the outcome decides */
                                   model->nodes[2].course = model->nodes[1].course;
                                   model->nodes[2].n_course = model->nodes[1].n_course;
                                   model->nodes[1].course = NULL;
                                   model->nodes[1].n_course = 0;
    });
    REFUSED("nodes[1].course[2]", model->nodes[1].course[2] = 1);
    REFUSED("nodes[1].course[3]", model->nodes[1].course[3] = 0.5);
    REFUSED("nodes[1].course", model->nodes[1].n_course = 3);
    REFUSED("nodes[2].edges[0].cpu_by_place", model->nodes[2].edges[0].cpu_by_place[1] = 2);
    REFUSED("nodes[2].edges[0].cpu_by_place[0]", model->nodes[2].edges[0].cpu_by_place[0] = -0.1);
    REFUSED("checks[0]", model->checks[0].simulated = NAN);
}

static void test_nodes_without_a_way_on_are_refused(void **state) {
    (void)state;
    REFUSED("nodes[2].edges[1].probability", model->nodes[2].edges[1].probability = -0.5);
    REFUSED("nodes[1].edges", model->nodes[1].edges[0].probability = 0);
    REFUSED("nodes[2].edges", model->nodes[2].edges[0].when = OUTCOME_NO);
    REFUSED("nodes[2].edges", model->nodes[2].edges[1].when = OUTCOME_YES);
    REFUSED("nodes[5].edges", build_edge(model, 5, 0));
    REFUSED("nodes[6].edges", build_node(model, NODE_STEP, MODEL_NONE));
    REFUSED("pools", model->pools[0].at_start = false);
    /* Closed by a node, and the one that waits for it cannot hear of it. */
    REFUSED("nodes[2].edges", {
        int close = build_node(model, NODE_CLOSE, 1);
        build_edge(model, close, 5);
        model->nodes[2].timeout_ns = -1;
        model->nodes[2].edges[1].when = OUTCOME_ANY;
    });
}

/* Loads `text` and expects a refusal that names the file and says `why`. */
static void assert_file_refused(const char *text, size_t length, const char *why) {
    write_file(file_in_folder("bad.json"), text, length);
    struct error error = {0};
    assert_null(model_load(file_in_folder("bad.json"), &error));
    assert_non_null(strstr(error.text, "bad.json: "));
    if (!strstr(error.text, why))
        fail_msg("\"%s\" does not say \"%s\"", error.text, why);
    assert_null(strchr(error.text, '\n'));
}

/* The rich model's file with the first `from` replaced by `to`. */
static void assert_edit_refused(const char *from, const char *to, const char *why) {
    struct model *model = build_rich_model();
    assert_saves(model, file_in_folder("a.json"));
    char *text = read_file(file_in_folder("a.json"));
    char *at = strstr(text, from);
    if (!at)
        fail_msg("the file has no %s", from);
    char *edited = memory_format("%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    assert_file_refused(edited, strlen(edited), why);
    free(edited);
    free(text);
    model_free(model);
}

static void test_a_slip_of_the_pen_is_named_by_its_place(void **state) {
    (void)state;
    assert_edit_refused("\"timeout_ns\"", "\"timeout_ms\"", "nodes[2].timeout_ms: an unknown key");
    assert_edit_refused("\"kind\": \"lock\"", "\"kind\": \"lok\"",
                        "nodes[1].kind: an unknown kind");
    assert_edit_refused("\"kind\": \"lock\"", "\"note\": 1", "nodes[1].note: an unknown key");
    assert_edit_refused("\"bounded\": true", "\"bounded\": 1", "objects[1].bounded: neither");
    assert_edit_refused("\"kind\": \"get\"", "\"count\": 2, \"kind\": \"put\"",
                        "nodes[2].count: more than one item at once into a bounded queue");
    assert_edit_refused("\"kind\": \"get\"", "\"item_kind\": 1, \"kind\": \"get\"",
                        "nodes[2].item_kind: not a positive number of a put or a step");
    assert_edit_refused("\"kind\": \"get\"", "\"item_kind\": -1, \"kind\": \"put\"",
                        "nodes[2].item_kind: not a positive number of a put or a step");
    assert_edit_refused("\"bounded\": true", "\"bounded\": true, \"item_kind\": -1",
                        "objects[1].item_kind: not a positive number of a queue");
    assert_edit_refused("\"kind\": \"lock\"", "\"goes_on\": [0], \"kind\": \"lock\"",
                        "nodes[1].goes_on: there are 1 for 0 calls");
    assert_edit_refused("\"kind\": \"lock\"", "\"tasks\": [0], \"kind\": \"lock\"",
                        "nodes[1].tasks: there are 1 for 0 calls");
    assert_edit_refused("\"probability\": 0.25", "\"probability\": \"0.25\"",
                        "nodes[2].edges[1].probability: not a number");
    assert_edit_refused("\"to\": 1", "\"to\": 1.5", "nodes[0].edges[0].to: not a whole number");
    assert_edit_refused("\"to\": 1", "\"to\": 42", "nodes[0].edges[0].to: 42 is not the index");
    assert_edit_refused("\"cores\": 2,", "", "machine.cores: missing");
    assert_edit_refused("\"factor\": 2", "\"factr\": 2",
                        "objects[1].amount.per_thread[0].factr: an unknown key");
    assert_edit_refused("[100000, ", "[\"fast\", ", "objects[2].service_ns.values[0]");
}

static void test_a_missing_pool_is_refused(void **state) {
    (void)state;
    assert_edit_refused("\"pools\"", "\"pool\"", "pool: an unknown key");
    assert_edit_refused("\"pool\": 0", "\"pool\": 3", "is not the index of a pool (there are 1)");
}

static void test_a_newer_version_is_refused_before_its_new_keys_are(void **state) {
    (void)state;
    const char *text = "{\"version\": 999, \"invented_later\": true}";
    assert_file_refused(text, strlen(text), "version 999 is newer");
    assert_file_refused(text, strlen(text), "use a newer persik");
}

static void test_what_is_no_model_is_refused(void **state) {
    (void)state;
    assert_file_refused("", 0, "not JSON");
    assert_file_refused("[]", 2, "version");
    assert_file_refused("{\"a\": 1}", 8, "not a persik model");
    assert_file_refused("{\"version\": 1}", 14, "machine: missing");
    struct error error = {0};
    assert_null(model_load(file_in_folder("absent.json"), &error));
    assert_non_null(strstr(error.text, "persik build-model"));
    assert_null(model_load(scratch_folder, &error));
}

static void test_a_file_cut_short_anywhere_is_refused(void **state) {
    (void)state;
    struct model *model = build_rich_model();
    assert_saves(model, file_in_folder("a.json"));
    char *text = read_file(file_in_folder("a.json"));
    size_t length = strlen(text) - 2; /* "}\n" */
    for (size_t cut = 1; cut <= length; cut += 37)
        assert_file_refused(text, cut, "cut short");
    free(text);
    model_free(model);
}

/* Bytes overwritten at random: the file is refused in one line, or what is loaded is sound. */
static void test_a_damaged_file_never_gives_a_damaged_model(void **state) {
    (void)state;
    struct model *model = build_rich_model();
    assert_saves(model, file_in_folder("a.json"));
    char *text = read_file(file_in_folder("a.json"));
    size_t length = strlen(text);
    const char bytes[] = "0123456789-.eE\"[]{}:, xtn";
    unsigned lottery = 12345;
    int refused = 0;
    for (int i = 0; i < 3000; i++) {
        char *damaged = memory_strdup(text);
        for (int k = 0; k <= i % 3; k++) {
            lottery = lottery * 1103515245U + 12345U;
            size_t at = (lottery >> 8) % length;
            lottery = lottery * 1103515245U + 12345U;
            damaged[at] = bytes[(lottery >> 16) % (sizeof bytes - 1)];
        }
        write_file(file_in_folder("bad.json"), damaged, length);
        struct error error = {0};
        struct model *loaded = model_load(file_in_folder("bad.json"), &error);
        if (loaded) {
            assert_int_equal(model_check(loaded, &error), 0);
        } else {
            refused++;
            assert_true(error.text[0] && !strchr(error.text, '\n'));
        }
        model_free(loaded);
        free(damaged);
    }
    assert_true(refused > 1000);
    free(text);
    model_free(model);
}

/* ---- distributions and quantities ---- */

static void test_a_summary_keeps_the_total_and_the_order(void **state) {
    (void)state;
    const size_t sizes[] = {2, 3, 50, 63, 64, 65, 100, 1000, 1001};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        size_t n = sizes[i];
        double *values = memory_alloc(n, sizeof *values);
        double sum = 0;
        for (size_t k = 0; k < n; k++) {
            values[k] = (double)((k * 7919) % n) * (double)((k * 7919) % n) + 0.1;
            sum += values[k];
        }
        struct dist dist = dist_from_values(values, n, 64);
        assert_int_equal(dist.kind, DIST_EMPIRICAL);
        assert_int_equal(dist.n_values, n < 64 ? n : 64);
        double kept = 0;
        for (size_t k = 0; k < dist.n_values; k++) {
            kept += dist.values[k];
            assert_true(k == 0 || dist.values[k] >= dist.values[k - 1]);
        }
        assert_true(fabs(kept / (double)dist.n_values - sum / (double)n) < 1e-12 * sum);
        assert_true(fabs(dist_mean(&dist) - sum / (double)n) < 1e-12 * sum);
        free(values);
        free(dist.values);
    }
}

static void test_summaries_of_nothing_and_of_equals_are_simple(void **state) {
    (void)state;
    double equal[] = {5, 5, 5};
    assert_int_equal(dist_from_values(NULL, 0, 10).kind, DIST_NONE);
    struct dist dist = dist_from_values(equal, 3, 10);
    assert_int_equal(dist.kind, DIST_CONSTANT);
    assert_true(dist_mean(&dist) == 5);
    double two[] = {1, 2};
    dist = dist_from_values(two, 2, 1);
    assert_int_equal(dist.kind, DIST_CONSTANT);
    assert_true(dist.mean == 1.5);
}

static void test_a_quantity_follows_the_threads_of_its_pools(void **state) {
    (void)state;
    struct linear_term terms[] = {{.pool = 0, .factor = 1}, {.pool = 2, .factor = -0.5}};
    struct linear linear = {.base = 3, .n_terms = 2, .terms = terms};
    const int threads[] = {4, 100, 6};
    assert_true(linear_value(&linear, threads) == 4);
}

/* start -> a <-> b -> end: what leads to a place need not lead back. */
static void test_a_search_marks_what_the_edges_lead_to(void **state) {
    (void)state;
    struct model *model = build_model(1);
    int start = build_node(model, NODE_START, MODEL_NONE);
    int a = build_next(model, start, constant(0), NODE_STEP, MODEL_NONE);
    int b = build_next(model, a, constant(0), NODE_STEP, MODEL_NONE);
    build_edge(model, b, a);
    int end = build_next(model, b, constant(0), NODE_END, MODEL_NONE);
    bool from_start[4] = {false}, from_a[4] = {false}, without_b[4] = {false};
    model_mark_reached(model, start, NULL, from_start);
    assert_true(!from_start[start] && from_start[a] && from_start[b] && from_start[end]);
    model_mark_reached(model, a, NULL, from_a);
    assert_true(!from_a[start] && from_a[a] && from_a[b] && from_a[end]);
    bool may_pass[4] = {true, true, true, true};
    may_pass[b] = false;
    model_mark_reached(model, start, may_pass, without_b);
    assert_true(!without_b[start] && without_b[a] && !without_b[b] && !without_b[end]);
    model_free(model);
}

static void test_names_are_those_of_the_file(void **state) {
    (void)state;
    assert_string_equal(object_kind_name(OBJECT_MUTEX), "mutex");
    assert_string_equal(object_kind_name(OBJECT_DISK), "disk");
    assert_string_equal(node_kind_name(NODE_START), "start");
    assert_string_equal(node_kind_name(NODE_RWUNLOCK), "rwunlock");
    assert_string_equal(node_kind_name(NODE_TASK_END), "task_end");
    assert_string_equal(hand_made_kind_name(HAND_MADE_OTHER), "other");
    assert_string_equal(hand_made_role_name(AS_RUN), "run");
    assert_string_equal(modelled_name(MODELLED_NOT), "none");
}

static int remove_folder(void **state) {
    const char *names[] = {"a.json", "b.json", "bad.json", "only.json"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unlink(file_in_folder(names[i]));
    return scratch_folder_remove_empty(state);
}

/* "ns" and "ns::run" begin alike, and so do their nodes' names. */
static void test_nodes_belong_to_the_pool_whose_threads_come_to_them(void **state) {
    (void)state;
    struct model *model = build_model(2);
    const char *names[] = {"ns", "ns::run"};
    for (int p = 0; p < 2; p++) {
        int pool = build_pool(model, 1, true);
        free(model->pools[pool].name);
        model->pools[pool].name = memory_strdup(names[p]);
        int step = build_next(model, model->pools[pool].entry, constant(5), NODE_STEP, MODEL_NONE);
        free(model->nodes[step].name);
        model->nodes[step].name = memory_format("%s: main", names[p]);
        build_next(model, step, constant(5), NODE_END, MODEL_NONE);
    }
    int nobody = build_next(model, build_node(model, NODE_STEP, MODEL_NONE), constant(5), NODE_END,
                            MODEL_NONE);
    int ahead = build_node(model, NODE_STEP, MODEL_NONE); /* nobody comes to it, but it leads on */
    build_edge(model, ahead, model->pools[1].entry + 1);
    const char *path = file_in_folder("pools.json");
    struct error error = {0};
    assert_int_equal(model_save(model, path, &error), 0);
    struct model *loaded = model_load(path, &error);
    assert_non_null(loaded);
    const int pools[] = {0, 0, 0, 1, 1, 1, MODEL_NONE, MODEL_NONE, 1};
    assert_int_equal(nobody, 7);
    for (size_t n = 0; n < loaded->n_nodes; n++)
        assert_int_equal(loaded->nodes[n].pool, pools[n]);
    char *text = read_file(path);
    assert_int_equal(model_save(loaded, path, &error), 0);
    char *again = read_file(path);
    assert_string_equal(again, text); /* it is not written */
    unlink(path);
    free(again);
    free(text);
    model_free(loaded);
    model_free(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_saved_model_comes_back_as_it_was),
        cmocka_unit_test(test_saving_what_was_loaded_gives_the_same_bytes),
        cmocka_unit_test(test_an_amount_of_none_is_no_unknown_amount),
        cmocka_unit_test(test_unknown_perturbation_stays_unknown),
        cmocka_unit_test(test_the_file_names_what_its_indices_mean),
        cmocka_unit_test(test_a_saved_model_is_private_and_leaves_no_other_file),
        cmocka_unit_test(test_a_failed_save_leaves_the_old_file_alone),
        cmocka_unit_test(test_a_sound_model_passes),
        cmocka_unit_test(test_indices_out_of_range_are_refused),
        cmocka_unit_test(test_references_of_the_wrong_kind_are_refused),
        cmocka_unit_test(test_kinds_that_do_not_exist_are_refused),
        cmocka_unit_test(test_quantities_without_sense_are_refused),
        cmocka_unit_test(test_nodes_without_a_way_on_are_refused),
        cmocka_unit_test(test_a_slip_of_the_pen_is_named_by_its_place),
        cmocka_unit_test(test_a_missing_pool_is_refused),
        cmocka_unit_test(test_a_newer_version_is_refused_before_its_new_keys_are),
        cmocka_unit_test(test_what_is_no_model_is_refused),
        cmocka_unit_test(test_a_file_cut_short_anywhere_is_refused),
        cmocka_unit_test(test_a_damaged_file_never_gives_a_damaged_model),
        cmocka_unit_test(test_a_summary_keeps_the_total_and_the_order),
        cmocka_unit_test(test_summaries_of_nothing_and_of_equals_are_simple),
        cmocka_unit_test(test_a_quantity_follows_the_threads_of_its_pools),
        cmocka_unit_test(test_a_search_marks_what_the_edges_lead_to),
        cmocka_unit_test(test_names_are_those_of_the_file),
        cmocka_unit_test(test_nodes_belong_to_the_pool_whose_threads_come_to_them),
    };
    return cmocka_run_group_tests(tests, scratch_folder_make, remove_folder);
}
