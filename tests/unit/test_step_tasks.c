/* modelgen/graph/step_tasks: which request a thread works on when it asks a disk. */
/* tests/run: beside others */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "formats/trace.h"
#include "modelgen/graph/step_tasks.h"

enum { REQUESTS, JOBS, DISK, N_OBJECTS };
enum { ACCEPTOR, FIRST, SECOND, N_THREADS };
enum { MOST_STEPS = 16, ARRIVED = 1, RETURNED = 2 };

/* Two workers take from a queue what an acceptor puts into it. */
struct run {
    struct object objects[N_OBJECTS];
    struct model model;
    struct stream streams[N_THREADS];
    struct step steps[N_THREADS][MOST_STEPS];
};

static void make_run(struct run *run) {
    *run = (struct run){
        .objects = {[REQUESTS] = {.kind = OBJECT_QUEUE, .interarrival_ns = {.kind = DIST_CONSTANT}},
                    [JOBS] = {.kind = OBJECT_QUEUE},
                    [DISK] = {.kind = OBJECT_DISK}}};
    run->model = (struct model){.n_objects = N_OBJECTS, .objects = run->objects};
    for (int t = 0; t < N_THREADS; t++)
        run->streams[t].steps = run->steps[t];
}

/* Gives the number of the step, which lasts for the time and one unit more. */
static size_t add(struct run *run, int thread, enum node_kind kind, int object, uint64_t at_ns) {
    struct stream *stream = &run->streams[thread];
    struct step *step = &stream->steps[stream->n_steps];
    assert_true(stream->n_steps < MOST_STEPS);
    *step = step_new(kind, at_ns, at_ns + 1, TRACE_NO_CONTEXT);
    if (kind == NODE_IO)
        step->time.disk = object;
    else if (step_has_use(kind))
        step->use.object = object;
    return stream->n_steps++;
}

static void accept_one(struct run *run, uint64_t at_ns) {
    add(run, ACCEPTOR, NODE_GET, REQUESTS, at_ns);
    add(run, ACCEPTOR, NODE_PUT, JOBS, at_ns + 2);
}

static void a_task_is_the_request_that_a_queue_brought(void **state) {
    (void)state;
    struct run run;
    make_run(&run);
    accept_one(&run, 10);
    accept_one(&run, 20);
    accept_one(&run, 30);
    add(&run, SECOND, NODE_GET, JOBS, 14);
    add(&run, FIRST, NODE_GET, JOBS, 24);
    size_t of_first = add(&run, FIRST, NODE_IO, DISK, 26);
    size_t of_second = add(&run, SECOND, NODE_IO, DISK, 28), again, late;
    add(&run, SECOND, NODE_TASK_END, MODEL_NONE, 29);
    late = add(&run, SECOND, NODE_IO, DISK, 30);
    add(&run, SECOND, NODE_GET, JOBS, 40);
    again = add(&run, SECOND, NODE_IO, DISK, 42);
    add(&run, SECOND, NODE_TASK_END, MODEL_NONE, 44);
    add(&run, FIRST, NODE_TASK_END, MODEL_NONE, 50);
    int **tasks = step_tasks_find(&run.model, run.streams, N_THREADS);
    assert_non_null(tasks);
    assert_int_equal(tasks[SECOND][of_second], 0);
    assert_int_equal(tasks[SECOND][late], STEP_OF_NO_TASK);
    assert_int_equal(tasks[FIRST][of_first], 1);
    assert_int_equal(tasks[SECOND][again], 2);
    step_tasks_free(tasks, N_THREADS);
}

/* Of a loop whose requests helpers put back into the queue where they come from outside. */
static void what_is_returned_is_the_request_that_was_handed_over(void **state) {
    (void)state;
    struct run run;
    make_run(&run);
    run.objects[REQUESTS].item_kind = ARRIVED;
    size_t reads[2];
    const int kinds[] = {ARRIVED, ARRIVED, RETURNED, RETURNED};
    for (uint64_t i = 0; i < 4; i++) {
        add(&run, ACCEPTOR, NODE_GET, REQUESTS, 10 + 10 * i);
        size_t kind = add(&run, ACCEPTOR, NODE_STEP, MODEL_NONE, 11 + 10 * i);
        run.steps[ACCEPTOR][kind].item_kind = kinds[i];
        if (kinds[i] == ARRIVED)
            add(&run, ACCEPTOR, NODE_PUT, JOBS, 13 + 10 * i);
        else
            reads[i - 2] = add(&run, ACCEPTOR, NODE_IO, DISK, 13 + 10 * i);
        if (kinds[i] == RETURNED)
            add(&run, ACCEPTOR, NODE_TASK_END, MODEL_NONE, 15 + 10 * i);
    }
    for (uint64_t i = 0; i < 2; i++) { /* the first helper takes longer */
        add(&run, i ? SECOND : FIRST, NODE_GET, JOBS, 14 + 10 * i);
        add(&run, i ? SECOND : FIRST, NODE_PUT, REQUESTS, i ? 26 : 28);
    }
    int **tasks = step_tasks_find(&run.model, run.streams, N_THREADS);
    assert_non_null(tasks);
    assert_int_equal(tasks[ACCEPTOR][reads[0]], 1);
    assert_int_equal(tasks[ACCEPTOR][reads[1]], 0);
    step_tasks_free(tasks, N_THREADS);
}

static void nothing_is_known_where_tasks_end_that_nobody_brought(void **state) {
    (void)state;
    struct run run;
    make_run(&run);
    accept_one(&run, 10);
    add(&run, FIRST, NODE_TASK_END, MODEL_NONE, 20);
    assert_null(step_tasks_find(&run.model, run.streams, N_THREADS));
    make_run(&run);
    run.objects[REQUESTS].interarrival_ns.kind = DIST_NONE; /* a queue like others */
    accept_one(&run, 10);
    assert_null(step_tasks_find(&run.model, run.streams, N_THREADS));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_task_is_the_request_that_a_queue_brought),
        cmocka_unit_test(what_is_returned_is_the_request_that_was_handed_over),
        cmocka_unit_test(nothing_is_known_where_tasks_end_that_nobody_brought),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
