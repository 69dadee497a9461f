/* Creators that do their threads' work too, and what the last user gives back. */
/* tests/run: beside others */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "modelgen/events/events_check.h"
#include "modelgen/graph/token_returns.h"
#include "modelgen/rewrite/participating_creator.h"
#include "tests/unit/model_builder.h"
#include "tests/unit/shown_calls.h"
#include "tests/unit/trace_builder.h"

enum { MUTEX = 0x1000, LIFE = 1000000 };

/* ---- creators that take part ---- */

/* A call at `line` of `function`, below those called. */
static uint32_t calls(struct trace *trace, const char *function, int line, const char *below,
                      const char *outermost) {
    char file[] = "t.c", module[] = "t";
    const struct trace_frame frames[] = {{(char *)function, file, line, 1, module, (uint64_t)line},
                                         {(char *)below, file, 7, 1, module, (uint64_t)line + 100},
                                         {(char *)outermost, file, 7, 1, module, 7}};
    return builder_chain(trace, 3, frames);
}

static void lock_twice(struct trace *trace, int thread, uint64_t first_ns, uint32_t a, uint32_t b) {
    builder_record(trace, thread, "pthread_mutex_lock", first_ns, 0, MUTEX, a, 0);
    builder_record(trace, thread, "pthread_mutex_unlock", first_ns + 10, 0, MUTEX, a, 0);
    builder_record(trace, thread, "pthread_mutex_lock", first_ns + LIFE / 2, 0, MUTEX, b, 0);
    builder_record(trace, thread, "pthread_mutex_unlock", first_ns + LIFE / 2 + 10, 0, MUTEX, b, 0);
}

/* Main, thread 0, creates thread 1, which begins with start(). */
static struct trace *main_and_thread(void) {
    struct trace *trace = builder_new(2);
    int main_thread = builder_thread(trace, "main", -1);
    int thread = builder_thread(trace, "start", 0);
    trace->threads[thread].creation_context = calls(trace, "setup", 1, "main", "main");
    builder_create(trace, main_thread, 100, 10, trace->threads[thread].creation_context, thread);
    return trace;
}

/* Main creates one thread that does rows() by way of start(), does `own` itself, and joins. */
static struct trace *helping_main(const char *own, uint64_t own_ns) {
    enum { MAIN, THREAD };
    struct trace *trace = main_and_thread();
    lock_twice(trace, THREAD, 200, calls(trace, "take", 2, "rows", "start"),
               calls(trace, "give", 3, "rows", "start"));
    lock_twice(trace, MAIN, 200, calls(trace, "take", 2, own, "main"),
               calls(trace, "give", 3, own, "main"));
    builder_join(trace, MAIN, own_ns, 50, calls(trace, "finish", 4, "main", "main"), THREAD);
    builder_slice(trace, MAIN, 0, own_ns);
    builder_slice(trace, THREAD, 150, LIFE);
    builder_finish(trace, own_ns + 1000 > LIFE ? own_ns + 1000 : LIFE);
    builder_life(trace, THREAD, 150, LIFE);
    return trace;
}

static struct event_log unfold_with(const struct trace *trace, const struct teams *teams,
                                    const struct sample *sample) {
    struct event_log log = event_log_of(trace);
    event_log_begin_pass(&log, "participating_creator");
    participating_creator_unfold(&log, teams, sample);
    struct error error = {0};
    if (events_check(&log, &error) < 0)
        fail_msg("%s", error.text);
    return log;
}

static struct event_log unfold(const struct trace *trace, const struct sample *sample) {
    struct teams teams = teams_none(trace);
    struct event_log log = unfold_with(trace, &teams, sample);
    teams_free(&teams);
    return log;
}

static void a_creator_that_does_its_threads_work_is_one_of_them(void **state) {
    (void)state;
    struct trace *trace = helping_main("rows", LIFE);
    struct event_log unfolded = unfold(trace, NULL);
    assert_true(unfolded.n_thread_edits > 0);
    assert_int_equal(unfolded.trace.n_threads, 3);
    const struct trace_thread *part = &unfolded.trace.threads[2];
    assert_string_equal(part->start_routine, "start");
    assert_int_equal(part->creator, 0);
    assert_int_equal(unfolded.thread_origins[2].part_of, 0);
    assert_int_equal(unfolded.thread_origins[2].recorded, 0);
    assert_int_equal(unfolded.thread_origins[1].part_of, -1);
    assert_int_equal(unfolded.thread_origins[1].recorded, 1);
    assert_int_equal(part->n_records, 4);
    assert_int_equal(part->start_ns, 110);
    assert_int_equal(part->end_ns, LIFE);
    assert_int_equal(part->slices[0].on_ns, 110);
    /* its calls look like the other thread's */
    const struct trace_context *own = &unfolded.trace.contexts[part->records[0].context];
    assert_int_equal(own->n_frames, 2);
    assert_string_equal(own->frames[1].function, "rows");
    /* what is left: it creates both, waits for its part, and joins */
    const struct trace_thread *creator = &unfolded.trace.threads[0];
    assert_int_equal(creator->n_records, 4);
    assert_int_equal(creator->records[1].api, API_pthread_create);
    assert_int_equal(creator->records[1].value, 2);
    assert_int_equal(creator->records[2].api, API_pthread_join);
    assert_int_equal(creator->records[2].value, 2);
    assert_int_equal(creator->records[2].duration_ns, LIFE - 110);
    assert_int_equal(creator->records[3].value, 1);
    assert_int_equal(creator->n_slices, 1);
    assert_int_equal(creator->slices[0].off_ns, 110);
    event_log_free(&unfolded);
    trace_free(trace);
}

/* rows() by way of dispatch(), which does nothing else than to call it. */
static uint32_t dispatched(struct trace *trace, const char *function, int line,
                           const char *outermost) {
    char file[] = "t.c", module[] = "t", rows[] = "rows", dispatch[] = "dispatch";
    const struct trace_frame frames[] = {{(char *)function, file, line, 1, module, (uint64_t)line},
                                         {rows, file, 7, 1, module, (uint64_t)line + 100},
                                         {dispatch, file, 7, 1, module, 50},
                                         {(char *)outermost, file, 7, 1, module, 7}};
    return builder_chain(trace, 4, frames);
}

/* An event loop's library has such a function. */
static void the_work_may_lie_below_a_function_that_only_passes_on(void **state) {
    (void)state;
    struct trace *trace = main_and_thread();
    lock_twice(trace, 1, 200, dispatched(trace, "take", 2, "start"),
               dispatched(trace, "give", 3, "start"));
    lock_twice(trace, 0, 200, dispatched(trace, "take", 2, "main"),
               dispatched(trace, "give", 3, "main"));
    builder_join(trace, 0, LIFE, 50, calls(trace, "finish", 4, "main", "main"), 1);
    builder_slice(trace, 0, 0, LIFE);
    builder_slice(trace, 1, 150, LIFE);
    builder_finish(trace, LIFE + 1000);
    builder_life(trace, 1, 150, LIFE);
    struct event_log unfolded = unfold(trace, NULL);
    assert_int_equal(unfolded.trace.n_threads, 3);
    assert_int_equal(unfolded.thread_origins[2].part_of, 0);
    assert_int_equal(unfolded.trace.threads[2].n_records, 4);
    event_log_free(&unfolded);
    trace_free(trace);
}

/* All calls are made at one place of work(), which the library's own function calls in the thread.
 */
static void a_creator_that_does_what_it_handed_to_the_library_is_one_of_them(void **state) {
    (void)state;
    enum { MAIN, THREAD };
    struct trace *trace = helping_main("other", LIFE);
    uint32_t inside = calls(trace, "take", 2, "work", "0x1234"), own;
    struct trace_frame *outermost = &trace->contexts[inside].frames[2];
    free(outermost->file);
    free(outermost->module);
    outermost->file = NULL;
    outermost->module = memory_strdup("libstdc++.so.6");
    own = calls(trace, "take", 2, "work", "main");
    for (size_t r = 0; r < trace->threads[THREAD].n_records; r++)
        trace->threads[THREAD].records[r].context = inside;
    for (size_t r = 1; r <= trace->threads[THREAD].n_records; r++)
        trace->threads[MAIN].records[r].context = own;
    struct event_log unfolded = unfold(trace, NULL);
    assert_true(unfolded.n_thread_edits > 0);
    assert_int_equal(unfolded.trace.n_threads, 3);
    assert_int_equal(unfolded.trace.threads[2].n_records, 4);
    event_log_free(&unfolded);
    trace_free(trace);
}

/* The thread's first function ends with a call of rows(), which the compiler has made a jump: only
 * its first call is still made below start(). */
static void a_function_that_ends_in_a_call_hides_no_work(void **state) {
    (void)state;
    enum { MAIN, THREAD, TIMES = 30 };
    struct trace *trace = main_and_thread();
    uint32_t first = calls(trace, "number", 2, "start", "start");
    uint32_t of_thread[] = {calls(trace, "take", 3, "rows", "rows"),
                            calls(trace, "give", 4, "rows", "rows")};
    uint32_t of_main[] = {calls(trace, "take", 3, "rows", "main"),
                          calls(trace, "give", 4, "rows", "main")};
    builder_record(trace, THREAD, "pthread_mutex_lock", 160, 0, MUTEX, first, 0);
    builder_record(trace, THREAD, "pthread_mutex_unlock", 170, 0, MUTEX, first, 0);
    for (uint64_t i = 0; i < TIMES; i++) {
        uint64_t at = 200 + i * LIFE / 40;
        builder_record(trace, THREAD, "pthread_mutex_lock", at, 0, MUTEX, of_thread[i % 2], 0);
        builder_record(trace, THREAD, "pthread_mutex_unlock", at + 5, 0, MUTEX, of_thread[i % 2],
                       0);
        builder_record(trace, MAIN, "pthread_mutex_lock", at + 10, 0, MUTEX, of_main[i % 2], 0);
        builder_record(trace, MAIN, "pthread_mutex_unlock", at + 15, 0, MUTEX, of_main[i % 2], 0);
    }
    builder_join(trace, MAIN, LIFE, 50, calls(trace, "finish", 5, "main", "main"), THREAD);
    builder_slice(trace, MAIN, 0, LIFE);
    builder_slice(trace, THREAD, 150, LIFE);
    builder_finish(trace, LIFE + 1000);
    builder_life(trace, THREAD, 150, LIFE);
    struct event_log unfolded = unfold(trace, NULL);
    assert_true(unfolded.n_thread_edits > 0);
    assert_int_equal(unfolded.trace.n_threads, 3);
    assert_int_equal(unfolded.trace.threads[2].n_records, 2 * TIMES);
    event_log_free(&unfolded);
    trace_free(trace);
}

/* Of a server: the creator has an event loop too, but the thread takes all that comes. */
static void a_creator_that_leaves_the_requests_to_its_threads_is_none_of_them(void **state) {
    (void)state;
    struct trace *trace = helping_main("rows", LIFE);
    struct event_log log = event_log_of(trace);
    struct teams teams = teams_none(&log.trace);
    event_log_begin_pass(&log, "requests");
    struct trace_record *take = event_log_change(&log, 1, 0);
    take->api = ROLE_get;
    take->object = event_log_new_object(&log, ORIGIN_OUTSIDE);
    event_log_begin_pass(&log, "participating_creator");
    participating_creator_unfold(&log, &teams, NULL);
    assert_int_equal(log.trace.n_threads, 2);
    teams_free(&teams);
    event_log_free(&log);
    trace_free(trace);
}

static void a_creator_that_does_something_else_is_none_of_them(void **state) {
    (void)state;
    struct trace *trace = helping_main("produce", LIFE);
    struct event_log unfolded = unfold(trace, NULL);
    assert_int_equal(unfolded.n_thread_edits, 0);
    assert_shown_as_recorded(&unfolded, trace);
    event_log_free(&unfolded);
    trace_free(trace);
}

/* It gets what its thread puts, by way of the same function, and does something else with it. */
static void a_creator_that_meets_its_thread_in_a_function_is_none_of_them(void **state) {
    (void)state;
    struct trace *trace = helping_main("rows", LIFE);
    struct trace_thread *creator = &trace->threads[0];
    creator->records[3].context = calls(trace, "write", 5, "main", "main");
    struct event_log unfolded = unfold(trace, NULL);
    assert_int_equal(unfolded.n_thread_edits, 0);
    event_log_free(&unfolded);
    trace_free(trace);
}

/* Its calls are over after 4 % of the thread's life. */
static void a_creator_that_only_lends_a_hand_is_none_of_them(void **state) {
    (void)state;
    struct trace *trace = helping_main("rows", LIFE);
    struct trace_thread *creator = &trace->threads[0];
    for (size_t r = 1; r < creator->n_records; r++)
        creator->records[r].start_ns = 200 + r * (LIFE / 100);
    struct event_log unfolded = unfold(trace, NULL);
    assert_int_equal(unfolded.n_thread_edits, 0);
    event_log_free(&unfolded);
    trace_free(trace);
}

/* Threads that call nothing: samples tell that main was in their function, the longest time
 * between two calls when. */
static void without_calls_stack_samples_tell_the_creators_part(void **state) {
    (void)state;
    struct trace *trace = helping_main("rows", LIFE);
    trace->threads[1].n_records = 0;
    struct trace_thread *creator = &trace->threads[0];
    creator->records[1] = creator->records[creator->n_records - 1]; /* the join */
    creator->n_records = 2;
    struct sample_node nodes[] = {{.parent = -1, .function = "main"},
                                  {.parent = 0, .function = "start"}};
    struct sample sample = {.n_nodes = 1, .nodes = nodes};
    struct event_log unfolded = unfold(trace, &sample);
    assert_int_equal(unfolded.n_thread_edits, 0); /* main was not seen in start() */
    event_log_free(&unfolded);
    sample.n_nodes = 2;
    unfolded = unfold(trace, &sample);
    assert_true(unfolded.n_thread_edits > 0);
    assert_int_equal(unfolded.trace.threads[2].n_records, 0);
    assert_int_equal(unfolded.trace.threads[2].start_ns, 110);
    assert_int_equal(unfolded.trace.threads[2].end_ns, LIFE);
    assert_int_equal(unfolded.trace.threads[0].n_records, 4);
    event_log_free(&unfolded);
    trace_free(trace);
}

/* In every step main creates a thread, does rows() as that does, by way of `last` in the last one,
 * and joins. */
static struct trace *steps_of_main(const char *last) {
    enum { STEPS = 3, STEP_NS = 10000 };
    struct trace *trace = builder_new(2);
    int main_thread = builder_thread(trace, "main", -1);
    uint32_t create = calls(trace, "setup", 1, "main", "main");
    uint32_t join = calls(trace, "finish", 4, "main", "main");
    uint32_t take = calls(trace, "take", 2, "rows", "start");
    uint32_t give = calls(trace, "give", 3, "rows", "start");
    for (int step = 0; step < STEPS; step++) {
        uint64_t at_ns = (uint64_t)step * STEP_NS;
        const char *own = step < STEPS - 1 ? "rows" : last;
        int thread = builder_thread(trace, "start", 0);
        trace->threads[thread].creation_context = create;
        builder_create(trace, main_thread, at_ns + 100, 10, create, thread);
        builder_record(trace, thread, "pthread_mutex_lock", at_ns + 200, 0, MUTEX, take, 0);
        builder_record(trace, thread, "pthread_mutex_unlock", at_ns + 8000, 0, MUTEX, give, 0);
        builder_record(trace, main_thread, "pthread_mutex_lock", at_ns + 8100, 0, MUTEX,
                       calls(trace, "take", 2, own, "main"), 0);
        builder_record(trace, main_thread, "pthread_mutex_unlock", at_ns + 8900, 0, MUTEX,
                       calls(trace, "give", 3, own, "main"), 0);
        builder_join(trace, main_thread, at_ns + 9000, 10, join, thread);
        builder_slice(trace, thread, at_ns + 150, at_ns + 8500);
    }
    builder_slice(trace, main_thread, 0, STEPS * STEP_NS);
    builder_finish(trace, STEPS * STEP_NS);
    for (int step = 0; step < STEPS; step++) {
        builder_life(trace, 1 + step, (uint64_t)step * STEP_NS + 150,
                     (uint64_t)step * STEP_NS + 8500);
    }
    return trace;
}

static void a_creator_does_its_part_again_and_again(void **state) {
    (void)state;
    struct trace *trace = steps_of_main("rows");
    struct event_log unfolded = unfold(trace, NULL);
    assert_true(unfolded.n_thread_edits > 0);
    assert_int_equal(unfolded.trace.n_threads, 7); /* a part in each step */
    const struct trace_thread *creator = &unfolded.trace.threads[0];
    assert_int_equal(creator->n_records, 3 * 4);
    for (size_t r = 0; r < creator->n_records; r++) /* two created, two joined, in each */
        assert_int_equal(creator->records[r].api,
                         r % 4 < 2 ? API_pthread_create : API_pthread_join);
    for (int t = 4; t < 7; t++)
        assert_int_equal(unfolded.trace.threads[t].n_records, 2);
    assert_int_equal(unfolded.trace.threads[6].start_ns, 110); /* the last part is cut out first */
    event_log_free(&unfolded);
    trace_free(trace);

    trace = steps_of_main("other"); /* whoever does it only sometimes is not one of them */
    unfolded = unfold(trace, NULL);
    assert_int_equal(unfolded.n_thread_edits, 0);
    event_log_free(&unfolded);
    trace_free(trace);
}

/* Main creates a thread for rows and one for columns, then does both itself, with another call in
 * between, and joins. */
static struct trace *main_of_two_kinds(void) {
    enum { MAIN };
    const char *const work[] = {"rows", "columns"}, *const starts[] = {"start", "begin"};
    struct trace *trace = builder_new(2);
    builder_thread(trace, "main", -1);
    for (int kind = 0; kind < 2; kind++) {
        int thread = builder_thread(trace, starts[kind], MAIN);
        uint32_t context = calls(trace, "setup", 1 + kind, "main", "main");
        trace->threads[thread].creation_context = context;
        builder_create(trace, MAIN, 100 + 20 * (uint64_t)kind, 10, context, thread);
    }
    for (int kind = 0; kind < 2; kind++) {
        uint64_t at_ns = kind ? LIFE / 2 : 200;
        if (kind)
            builder_record(trace, MAIN, "sem_post", at_ns - 100, 0, 0x3000,
                           calls(trace, "tell", 5, "main", "main"), 0);
        for (int call = 0; call < 2; call++, at_ns += LIFE / 4) {
            const char *api = call ? "pthread_mutex_unlock" : "pthread_mutex_lock";
            const char *inner = call ? "give" : "take";
            builder_record(trace, MAIN, api, at_ns, 0, MUTEX,
                           calls(trace, inner, 2 + call, work[kind], "main"), 0);
            builder_record(trace, 1 + kind, api, at_ns, 0, MUTEX,
                           calls(trace, inner, 2 + call, work[kind], starts[kind]), 0);
        }
    }
    for (int kind = 0; kind < 2; kind++)
        builder_join(trace, MAIN, LIFE - 100 + 20 * (uint64_t)kind, 10,
                     calls(trace, "finish", 4, "main", "main"), 1 + kind);
    builder_slice(trace, MAIN, 0, LIFE);
    builder_finish(trace, LIFE);
    return trace;
}

/* The second kind is created before the first part begins. */
static void a_creator_does_parts_of_two_kinds(void **state) {
    (void)state;
    struct trace *trace = main_of_two_kinds();
    struct event_log unfolded = unfold(trace, NULL);
    assert_int_equal(unfolded.trace.n_threads, 5);
    for (int part = 3; part < 5; part++) {
        const struct trace_thread *thread = &unfolded.trace.threads[part];
        assert_string_equal(thread->start_routine, part == 3 ? "begin" : "start");
        assert_int_equal(thread->n_records, 2);
        assert_int_equal(thread->records[0].api, API_pthread_mutex_lock);
        assert_int_equal(thread->records[0].start_ns, part == 3 ? LIFE / 2 : 200);
        assert_int_equal(thread->records[1].api, API_pthread_mutex_unlock);
    }
    const int created[] = {1, 4, 2, 3}, joined[] = {4, 0, 3, 1, 2};
    const struct trace_thread *creator = &unfolded.trace.threads[0];
    assert_int_equal(creator->n_records, 4 + 5);
    for (size_t r = 0; r < 4; r++) {
        assert_int_equal(creator->records[r].api, API_pthread_create);
        assert_int_equal(creator->records[r].value, created[r]);
    }
    for (size_t r = 0; r < 5; r++) {
        assert_int_equal(creator->records[4 + r].api, r == 1 ? API_sem_post : API_pthread_join);
        assert_int_equal(creator->records[4 + r].value, joined[r]);
    }
    event_log_free(&unfolded);
    trace_free(trace);
}

/* Main and its thread come to a barrier by way of meet(), which each calls itself, and again at the
 * end of render(), which each calls too; main `times` times. */
static struct trace *meeting_main(int times) {
    enum { BARRIER = 0x2000 };
    enum { MAIN, THREAD };
    struct trace *trace = main_and_thread();
    const char *functions[] = {"meet", "render"};
    for (int i = 0; i < 2; i++) {
        uint64_t at_ns = i ? LIFE - 1000 : 1000;
        builder_record(trace, THREAD, "pthread_barrier_wait", at_ns, 10, BARRIER,
                       calls(trace, "arrive", 2, functions[i], "start"), 2);
        if (i < times)
            builder_record(trace, MAIN, "pthread_barrier_wait", at_ns, 10, BARRIER,
                           calls(trace, "arrive", 2, functions[i], "main"), 2);
    }
    builder_join(trace, MAIN, LIFE - 100, 50, calls(trace, "finish", 4, "main", "main"), THREAD);
    builder_slice(trace, MAIN, 0, LIFE);
    builder_slice(trace, THREAD, 150, LIFE);
    builder_finish(trace, LIFE);
    return trace;
}

static void a_creator_that_meets_its_threads_and_works_like_them_is_one_of_them(void **state) {
    (void)state;
    struct sample_node nodes[] = {{.parent = -1, .function = "main"},
                                  {.parent = 0, .function = "render", .running = 50},
                                  {.parent = -1, .function = "start"},
                                  {.parent = 2, .function = "render", .running = 50}};
    struct sample sample = {.n_nodes = 4, .nodes = nodes};
    struct trace *trace = meeting_main(2);
    struct event_log unfolded = unfold(trace, &sample);
    assert_true(unfolded.n_thread_edits > 0);
    const struct trace_thread *part = &unfolded.trace.threads[2];
    assert_string_equal(part->start_routine, "start");
    assert_int_equal(part->n_records, 2);
    assert_int_equal(part->start_ns, 1000);
    for (size_t r = 0; r < 2; r++) /* its calls are where the other one makes them */
        assert_int_equal(part->records[r].context, unfolded.trace.threads[1].records[r].context);
    const struct trace_thread *creator = &unfolded.trace.threads[0];
    assert_int_equal(creator->n_records, 4);
    assert_int_equal(creator->records[2].api, API_pthread_join);
    assert_int_equal(creator->records[2].value, 2);
    event_log_free(&unfolded);
    nodes[1].function = "merge"; /* it does something else between the meetings */
    unfolded = unfold(trace, &sample);
    assert_int_equal(unfolded.n_thread_edits, 0);
    event_log_free(&unfolded);
    trace_free(trace);
    nodes[1].function = "render";
    trace = meeting_main(1); /* the thread comes once more than main */
    unfolded = unfold(trace, &sample);
    assert_int_equal(unfolded.n_thread_edits, 0);
    event_log_free(&unfolded);
    trace_free(trace);
}

/* libgomp's threads and who forks them are told apart before. */
static void members_of_teams_are_left_alone(void **state) {
    (void)state;
    struct trace *trace = helping_main("rows", LIFE);
    int team_of[] = {-1, 0};
    struct team team = {.function = "start", .size = 2};
    struct teams teams = {.n_threads = 2, .team_of = team_of, .n_teams = 1, .teams = &team};
    struct event_log unfolded = unfold_with(trace, &teams, NULL);
    assert_int_equal(unfolded.n_thread_edits, 0);
    event_log_free(&unfolded);
    trace_free(trace);
}

/* rows() creates a thread for half of its rows and calls itself for the other half; so does the
 * thread that it creates. */
static void threads_that_their_like_create_belong_to_the_first_creator(void **state) {
    (void)state;
    struct trace *trace = builder_new(2);
    int main_thread = builder_thread(trace, "main", -1);
    int first = builder_thread(trace, "start", main_thread);
    int second = builder_thread(trace, "start", first);
    uint32_t by_main = calls(trace, "rows", 1, "main", "main");
    uint32_t by_first = calls(trace, "rows", 1, "start", "start");
    trace->threads[first].creation_context = by_main;
    trace->threads[second].creation_context = by_first;
    builder_create(trace, main_thread, 100, 10, by_main, first);
    builder_create(trace, first, 200, 10, by_first, second);
    lock_twice(trace, main_thread, 300, calls(trace, "rows", 2, "rows", "main"),
               calls(trace, "rows", 3, "rows", "main"));
    lock_twice(trace, first, 300, calls(trace, "rows", 2, "rows", "start"),
               calls(trace, "rows", 3, "rows", "start"));
    lock_twice(trace, second, 300, calls(trace, "take", 2, "rows", "start"),
               calls(trace, "take", 3, "rows", "start"));
    builder_join(trace, first, LIFE - 100, 10, by_first, second);
    builder_join(trace, main_thread, LIFE - 50, 10, by_main, first);
    builder_run_all(trace, LIFE);
    builder_finish(trace, LIFE);
    struct event_log unfolded = unfold(trace, NULL);
    assert_int_equal(unfolded.trace.n_threads, 4);
    for (int t = 1; t < 4; t++) {
        assert_int_equal(unfolded.trace.threads[t].creator, main_thread);
        assert_int_equal(unfolded.trace.threads[t].creation_context, by_main);
        for (size_t r = 0; r < unfolded.trace.threads[t].n_records; r++) {
            enum api_op op = api_catalog[unfolded.trace.threads[t].records[r].api].op;
            assert_true(op == OP_LOCK || op == OP_UNLOCK);
        }
    }
    event_log_free(&unfolded);
    trace_free(trace);
}

/* ---- handbacks ---- */

/* A thread that goes round `total` times and gives a token back `given` times, in a side path. */
static int add_worker(struct model *model, int object, double given, double total) {
    int pool = build_pool(model, 1, true);
    int fork = build_next(model, model->pools[pool].entry, (struct dist){0}, NODE_STEP, MODEL_NONE);
    int give = build_node(model, NODE_RELEASE, object);
    int join = build_node(model, NODE_STEP, MODEL_NONE);
    int end = build_node(model, NODE_END, MODEL_NONE);
    build_edge(model, fork, give)->probability = given;
    build_edge(model, fork, join)->probability = total - given;
    build_edge(model, give, join);
    build_edge(model, join, fork);
    build_edge(model, join, end)->leaves = true;
    model->nodes[join].stays = constant(total - 1);
    return fork;
}

static size_t releases(const struct model *model) {
    size_t n_releases = 0;
    for (size_t n = 0; n < model->n_nodes; n++)
        n_releases += model->nodes[n].kind == NODE_RELEASE;
    return n_releases;
}

static void what_one_of_two_gives_back_is_given_back_by_one(void **state) {
    (void)state;
    struct model *model = build_model(2);
    int tokens = build_object(model, OBJECT_TOKENS, 4);
    int often = add_worker(model, tokens, 80, 100);
    add_worker(model, tokens, 20, 100);
    size_t nodes = model->n_nodes;
    token_returns_settle(model);
    assert_int_equal(model->n_nodes, nodes - 1);
    assert_int_equal(releases(model), 1);
    assert_int_equal(model->nodes[often].n_edges, 1);
    assert_int_equal(model->nodes[model->nodes[often].edges[0].to].kind, NODE_RELEASE);
    struct error error = {0};
    assert_int_equal(model_check(model, &error), 0);
    model_free(model);
}

static void what_is_not_given_back_once_for_each_item_stays_a_choice(void **state) {
    (void)state;
    static const double given[][2] = {{80, 100}, {40, 100}}; /* 120 of 100 */
    static const double few[][2] = {{80, 100}, {20, 60}};    /* 40 items do not come by */
    for (int i = 0; i < 2; i++) {
        const double(*of)[2] = i ? few : given;
        struct model *model = build_model(2);
        int tokens = build_object(model, OBJECT_TOKENS, 4);
        add_worker(model, tokens, of[0][0], of[0][1]);
        add_worker(model, tokens, of[1][0], of[1][1]);
        token_returns_settle(model);
        assert_int_equal(releases(model), 2);
        model_free(model);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_creator_that_does_its_threads_work_is_one_of_them),
        cmocka_unit_test(the_work_may_lie_below_a_function_that_only_passes_on),
        cmocka_unit_test(a_creator_that_does_what_it_handed_to_the_library_is_one_of_them),
        cmocka_unit_test(a_function_that_ends_in_a_call_hides_no_work),
        cmocka_unit_test(a_creator_that_leaves_the_requests_to_its_threads_is_none_of_them),
        cmocka_unit_test(a_creator_that_does_something_else_is_none_of_them),
        cmocka_unit_test(a_creator_that_meets_its_thread_in_a_function_is_none_of_them),
        cmocka_unit_test(a_creator_that_only_lends_a_hand_is_none_of_them),
        cmocka_unit_test(without_calls_stack_samples_tell_the_creators_part),
        cmocka_unit_test(a_creator_does_its_part_again_and_again),
        cmocka_unit_test(a_creator_does_parts_of_two_kinds),
        cmocka_unit_test(a_creator_that_meets_its_threads_and_works_like_them_is_one_of_them),
        cmocka_unit_test(members_of_teams_are_left_alone),
        cmocka_unit_test(threads_that_their_like_create_belong_to_the_first_creator),
        cmocka_unit_test(what_one_of_two_gives_back_is_given_back_by_one),
        cmocka_unit_test(what_is_not_given_back_once_for_each_item_stays_a_choice),
    };
    return cmocka_run_group_tests_name("crews", tests, NULL, NULL);
}
