/* tracer_run() on a real program: this one, started again with the name of an act below. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "formats/trace.h"
#include "tracer/host.h"
#include "tracer/tracer.h"

/* ---- acts: what the traced program does ---- */

#define LOCKERS      3
#define LOCKS        101 /* a prime: no other count comes out as a multiple by chance */
#define SPIN_NS      150000000ull
#define NAPS         7
#define NAP_NS       5000000
#define DISK_BLOCKS  5
#define DISK_BYTES   4096
#define KILLED_LOCKS 11

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *lock_often(void *argument) {
    for (int i = 0; i < LOCKS; i++) {
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
    }
    return argument;
}
enum { LOCK_LINE = __LINE__ - 5 };

static void *spin(void *argument) {
    struct timespec used;
    do {
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    } while ((uint64_t)used.tv_sec * 1000000000u + (uint64_t)used.tv_nsec < SPIN_NS);
    return argument;
}

static void *nap(void *argument) {
    struct timespec time = {.tv_nsec = NAP_NS};
    for (int i = 0; i < NAPS; i++)
        nanosleep(&time, NULL);
    sigset_t signals;
    int number;
    sigemptyset(&signals);
    sigaddset(&signals, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    pthread_kill(pthread_self(), SIGUSR1);
    sigwait(&signals, &number);                          /* it is there already */
    sigtimedwait(&signals, NULL, &(struct timespec){0}); /* and does not come again */
    return argument;
}

static void run_threads(void *(*const *routines)(void *), int n) {
    pthread_t threads[LOCKERS];
    for (int i = 0; i < n; i++)
        pthread_create(&threads[i], NULL, routines[i], NULL);
    for (int i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
}

static int use_disk(const char *path) {
    static _Alignas(DISK_BYTES) char block[DISK_BYTES];
    int file = open(path, O_CREAT | O_TRUNC | O_RDWR | O_DIRECT | O_SYNC, 0600);
    if (file < 0)
        return 3;
    int failed = 0;
    for (int i = 0; i < DISK_BLOCKS; i++)
        failed += pwrite(file, block, DISK_BYTES, (off_t)i * DISK_BYTES) != DISK_BYTES;
    for (int i = 0; i < DISK_BLOCKS; i++)
        failed += pread(file, block, DISK_BYTES, (off_t)i * DISK_BYTES) != DISK_BYTES;
    close(file);
    return failed ? 3 : 0;
}

static void lock_until_killed(void) {
    for (int i = 1;; i++) {
        pthread_mutex_lock(&mutex);
        if (i == KILLED_LOCKS)
            raise(SIGKILL);
        pthread_mutex_unlock(&mutex);
    }
}

/* Longer than what a run must take to be worth while. */
#define BUSY_NS 300000000u

static void *compute(void *unused) {
    struct timespec now, start;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &start);
    do {
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    } while ((now.tv_sec - start.tv_sec) * 1000000000L + now.tv_nsec - start.tv_nsec < BUSY_NS);
    return unused;
}

#define GATE_LEFT   5
#define GATE_LIMIT  (-3)
#define GATE_PASSES 4

/* One that its limit stands before, one whose variable would be where no memory is, one whose mutex
 * lies elsewhere, and one of globals. */
struct gate {
    struct {
        short limit;
    } made_for;
    pthread_mutex_t mutex;
    long left;
};

struct distant_gate {
    pthread_mutex_t mutex;
    char between[1 << 30];
    long left;
};

struct pointing_gate {
    pthread_mutex_t *mutex;
    long left;
};

/* Of which each takes as many as it likes; its count is on the mutex's page, or behind it. */
struct budget {
    pthread_mutex_t mutex;
    long left;
};

struct long_budget {
    pthread_mutex_t mutex;
    char between[1 << 12];
    long left;
};

static pthread_mutex_t open_gate = PTHREAD_MUTEX_INITIALIZER;
static unsigned char open_left = 200;

static inline __attribute__((always_inline)) void enter(pthread_mutex_t *gate) {
    pthread_mutex_lock(gate);
}

static void pass_gate(struct gate *gate) {
    enter(&gate->mutex);
    gate->left--;
    pthread_mutex_unlock(&gate->mutex);
}
enum { GATE_LINE = __LINE__ - 4 };

static void pass_distant(struct distant_gate *gate) {
    pthread_mutex_lock(&gate->mutex);
    pthread_mutex_unlock(&gate->mutex);
}
enum { DISTANT_LINE = __LINE__ - 3 };

static void pass_pointing(struct pointing_gate *gate) {
    pthread_mutex_lock(gate->mutex);
    pthread_mutex_unlock(gate->mutex);
}
enum { POINTING_LINE = __LINE__ - 3 };

static void pass_open(void) {
    pthread_mutex_lock(&open_gate);
    open_left++;
    pthread_mutex_unlock(&open_gate);
}
enum { OPEN_LINE = __LINE__ - 4 };

static void pass_budget(struct budget *budget, long units) {
    pthread_mutex_lock(&budget->mutex);
    budget->left -= units;
    pthread_mutex_unlock(&budget->mutex);
}
enum { BUDGET_LINE = __LINE__ - 4 };

static void pass_long_budget(struct long_budget *budget, long units) {
    pthread_mutex_lock(&budget->mutex);
    budget->left -= units;
    pthread_mutex_unlock(&budget->mutex);
}
enum { LONG_BUDGET_LINE = __LINE__ - 4 };

#define BUDGET 1000000000000l

static void pass_budgets(void) {
    struct budget *budget = aligned_alloc(64, 128); /* on one page */
    static struct long_budget apart = {PTHREAD_MUTEX_INITIALIZER, {0}, BUDGET};
    if (!budget)
        abort();
    *budget = (struct budget){PTHREAD_MUTEX_INITIALIZER, BUDGET};
    for (int i = 1; i <= GATE_PASSES; i++) {
        pass_budget(budget, 7 * i);
        pass_long_budget(&apart, 7 * i);
    }
    free(budget);
}

static void pass_gates(void) {
    struct gate *gate = malloc(sizeof *gate);
    struct distant_gate *distant =
        mmap(NULL, sizeof *distant, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (!gate || distant == MAP_FAILED || mprotect(distant, 1 << 12, PROT_READ | PROT_WRITE) != 0)
        abort();
    *gate = (struct gate){{GATE_LIMIT}, PTHREAD_MUTEX_INITIALIZER, GATE_LEFT};
    struct pointing_gate pointing = {&mutex, GATE_LEFT};
    for (int i = 0; i < GATE_PASSES; i++) {
        pass_gate(gate);
        pass_distant(distant);
        pass_pointing(&pointing);
        pass_open();
    }
    free(gate);
}

static int act(const char *name, const char *argument) {
    if (strcmp(name, "locks") == 0)
        run_threads((void *(*const[])(void *)){lock_often, lock_often, lock_often}, LOCKERS);
    else if (strcmp(name, "spin") == 0)
        run_threads((void *(*const[])(void *)){spin, nap}, 2);
    else if (strcmp(name, "busy") == 0)
        run_threads((void *(*const[])(void *)){compute, compute}, 2);
    else if (strcmp(name, "disk") == 0 && argument)
        return use_disk(argument);
    else if (strcmp(name, "killed") == 0)
        lock_until_killed();
    else if (strcmp(name, "gates") == 0)
        pass_gates();
    else if (strcmp(name, "budgets") == 0)
        pass_budgets();
    else if (strcmp(name, "exec") == 0)
        execl("/proc/self/exe", "other", "locks", (char *)NULL);
    return 0;
}

/* ---- tracing them ---- */

static char self[PATH_MAX];
static char probe[PATH_MAX];
static char folder[PATH_MAX];

static const struct facts *known; /* facts that the tracer gets */

static struct trace *trace_act(const char *name, const char *argument, int plain_runs) {
    if (access(probe, R_OK) != 0) {
        print_message("%s: skipped: the probe library is not built\n", name);
        skip();
    }
    char *args[] = {self, (char *)name, (char *)argument, NULL};
    struct tracer_options options = {.args = args,
                                     .directory = folder,
                                     .probe_library = probe,
                                     .block_io = argument != NULL,
                                     .facts = known,
                                     .ignore_failure = true, /* one act kills itself */
                                     .plain_runs = plain_runs};
    struct error error = {0};
    if (tracer_run(&options, &error) != 0)
        fail_msg("%s", error.text);
    char path[PATH_MAX + 16];
    snprintf(path, sizeof path, "%s/trace.persik", folder);
    struct trace *trace = trace_load(path, &error);
    if (!trace)
        fail_msg("%s", error.text);
    return trace;
}

static size_t count_records(const struct trace_thread *thread, enum api api) {
    size_t n = 0;
    for (size_t i = 0; i < thread->n_records; i++)
        n += thread->records[i].api == api;
    return n;
}

static const struct trace_thread *find_thread(const struct trace *trace, const char *routine) {
    for (size_t i = 0; i < trace->n_threads; i++)
        if (strcmp(trace->threads[i].start_routine, routine) == 0)
            return &trace->threads[i];
    fail_msg("no thread runs %s", routine);
    return NULL;
}

static uint64_t on_core_ns(const struct trace_thread *thread) {
    uint64_t sum_ns = 0;
    for (size_t i = 0; i < thread->n_slices; i++)
        sum_ns += thread->slices[i].off_ns - thread->slices[i].on_ns;
    return sum_ns;
}

static bool without_slices(struct trace *trace) {
    if (trace->meta.has_slices)
        return false;
    print_message("skipped: scheduling is not permitted here\n");
    trace_free(trace);
    return true;
}

/* ---- tests ---- */

static void every_call_is_recorded_with_thread_and_source_line(void **state) {
    (void)state;
    struct trace *trace = trace_act("locks", NULL, 0);
    assert_true(trace->meta.complete);
    assert_int_equal(trace->meta.lost_records, 0);
    assert_int_equal(trace->n_threads, 1 + LOCKERS);
    assert_string_equal(trace->threads[0].start_routine, "main");
    assert_int_equal(count_records(&trace->threads[0], API_pthread_create), LOCKERS);
    for (int i = 1; i <= LOCKERS; i++) {
        const struct trace_thread *thread = &trace->threads[i];
        assert_string_equal(thread->start_routine, "lock_often");
        assert_true(thread->index == i && thread->creator == 0 && thread->end_seen);
        assert_true(thread->attach.from_ns < thread->attach.to_ns);
        assert_true(thread->attach.to_ns <= thread->records[0].start_ns);
        assert_true(trace_end_ns(&thread->records[thread->n_records - 1]) <= thread->end_ns);
        assert_int_not_equal(thread->creation_context, TRACE_NO_CONTEXT);
        assert_int_equal(count_records(thread, API_pthread_mutex_lock), LOCKS);
        assert_int_equal(count_records(thread, API_pthread_mutex_unlock), LOCKS);
        const struct trace_frame *frame = &trace->contexts[thread->records[0].context].frames[0];
        assert_string_equal(frame->function, "lock_often");
        assert_string_equal(basename(frame->file), "test_tracer_live.c");
        assert_int_equal(frame->line, LOCK_LINE);
        assert_int_equal(frame->column, 9);
    }
    trace_free(trace);
}

static void records_are_ordered_and_lie_in_their_threads_life(void **state) {
    (void)state;
    struct trace *trace = trace_act("locks", NULL, 0);
    uint64_t last_ns = 0;
    for (size_t t = 0; t < trace->n_threads; t++) {
        const struct trace_thread *thread = &trace->threads[t];
        uint64_t end_ns = thread->start_ns;
        assert_true(thread->n_records > 0 && thread->end_ns <= trace->meta.run_ns);
        last_ns = thread->end_ns > last_ns ? thread->end_ns : last_ns;
        for (size_t i = 0; i < thread->n_records; i++) {
            const struct trace_record *record = &thread->records[i];
            assert_true(record->start_ns >= end_ns);
            end_ns = record->start_ns + record->duration_ns;
        }
        assert_true(end_ns <= thread->end_ns);
    }
    assert_int_equal(last_ns,
                     trace->meta.run_ns); /* who waits for the program waits for all of it */
    trace_free(trace);
}

static void slices_are_apart_and_in_their_threads_life(void **state) {
    (void)state;
    struct trace *trace = trace_act("spin", NULL, 0);
    if (without_slices(trace))
        skip();
    for (size_t t = 0; t < trace->n_threads; t++) {
        const struct trace_thread *thread = &trace->threads[t];
        assert_true(thread->n_slices > 0);
        uint64_t off_ns = thread->start_ns;
        for (size_t i = 0; i < thread->n_slices; i++) {
            const struct trace_slice *slice = &thread->slices[i];
            assert_true(slice->on_ns >= off_ns && slice->off_ns > slice->on_ns);
            assert_true(slice->wake_ns <= slice->on_ns);
            off_ns = slice->off_ns;
        }
        assert_true(off_ns <= thread->end_ns);
    }
    trace_free(trace);
}

#define STOLEN_UNIT_NS 20000000u /* what the kernel counts of each of two cores, at most */

/* The thread stops by its own CPU clock, so load on the machine does not matter. What the host of a
 * virtual machine takes is part of a slice, but not of that clock. */
static void slices_sum_up_to_the_threads_cpu_time(void **state) {
    (void)state;
    double before_ns = host_use().stolen_ns;
    struct trace *trace = trace_act("spin", NULL, 0);
    if (without_slices(trace))
        skip();
    double stolen_ns = host_use().stolen_ns - before_ns;
    uint64_t taken_ns = stolen_ns > 0 ? (uint64_t)stolen_ns + STOLEN_UNIT_NS : 0;
    uint64_t spun_ns = on_core_ns(find_thread(trace, "spin"));
    assert_true(spun_ns > SPIN_NS / 100 * 98 && spun_ns < SPIN_NS / 100 * 105 + taken_ns);
    const struct trace_thread *napper = find_thread(trace, "nap");
    assert_true(napper->n_slices >= NAPS);
    assert_true(on_core_ns(napper) < (napper->end_ns - napper->start_ns) / 4 + taken_ns);
    assert_int_equal(count_records(napper, API_nanosleep), NAPS);
    assert_int_equal(count_records(napper, API_sigwait), 1);
    assert_int_equal(count_records(napper, API_sigtimedwait), 1);
    trace_free(trace);
}

/* A timer wakes a sleeper, so this is a wake-up from an interrupt; the sleep is over before the
 * thread is back from it. */
static void sleepers_wake_up_before_they_run(void **state) {
    (void)state;
    struct trace *trace = trace_act("spin", NULL, 0);
    if (!trace->meta.has_wakes) {
        print_message("skipped: wake-ups may not be seen here\n");
        trace_free(trace);
        skip();
    }
    const struct trace_thread *napper = find_thread(trace, "nap");
    size_t woken = 0;
    for (size_t i = 0; i < napper->n_records; i++) {
        const struct trace_record *record = &napper->records[i];
        uint64_t end_ns = record->start_ns + record->duration_ns;
        for (size_t s = 0; s < napper->n_slices; s++) {
            bool is_continued = s > 0 && napper->slices[s - 1].preempted; /* others are about */
            woken += !is_continued && napper->slices[s].wake_ns >= record->start_ns + NAP_NS &&
                     napper->slices[s].wake_ns < end_ns;
        }
    }
    assert_int_equal(woken, NAPS);
    trace_free(trace);
}

/* A core learns from another one that it has a thread to run; its own thread would know at once. */
static void another_core_is_not_reached_for_nothing(void **state) {
    (void)state;
    struct trace *trace = trace_act("spin", NULL, 0);
    bool has_others = trace->meta.cores > 1;
    assert_true(has_others == (trace->meta.preempt_ns > 0));
    assert_true(has_others == (trace->meta.wake_cpu_ns > 0));
    assert_true(has_others == (trace->meta.idle_wake_ns > 0));
    assert_true(has_others == (trace->meta.sleep_cpu_ns > 0));
    trace_free(trace);
}

/* Only root may hold a core; nobody needs to say so of a run that is too short. */
static void a_run_more_has_its_caches_emptied(void **state) {
    (void)state;
    char *args[] = {self, "busy", NULL};
    struct tracer_options options = {
        .args = args, .directory = folder, .probe_library = probe, .evictions = true};
    struct error error = {0};
    if (access(probe, R_OK) != 0)
        skip();
    assert_int_equal(tracer_run(&options, &error), 0);
    char path[PATH_MAX + 32];
    snprintf(path, sizeof path, "%s/evictions-1.persik", folder);
    struct trace *trace = trace_load(path, &error);
    if (!trace && (geteuid() != 0 || sysconf(_SC_LEVEL2_CACHE_SIZE) <= 0)) {
        print_message("skipped: holding cores is not permitted here\n");
        skip();
    }
    if (!trace) {
        fail_msg("%s", error.text);
        return;
    }
    assert_true(find_thread(trace, "compute")->n_records > 0);
    size_t held = 0, preempted = 0;
    for (size_t i = 0; i < trace->n_evictions; i++) {
        const struct trace_eviction *eviction = &trace->evictions[i];
        assert_true(eviction->from_ns < eviction->to_ns && eviction->to_ns <= trace->meta.run_ns);
        assert_true(eviction->survived >= 0 && eviction->survived <= 1);
        assert_true(eviction->kind != EVICTION_HOLD ||
                    eviction->to_ns - eviction->from_ns >= eviction->planned_ns);
        held += eviction->kind == EVICTION_HOLD;
    }
    for (size_t t = 0; t < trace->n_threads; t++)
        for (size_t s = 0; s < trace->threads[t].n_slices; s++)
            preempted += trace->threads[t].slices[s].preempted;
    assert_true(held > 0 && preempted > 0);
    trace_free(trace);
    for (int i = 1; i == 1 || unlink(path) == 0; i++)
        snprintf(path, sizeof path, "%s/evictions-%d.persik", folder, i);
}

static void direct_disk_accesses_are_requests_of_their_thread(void **state) {
    (void)state;
    char path[PATH_MAX + 16];
    snprintf(path, sizeof path, "%s/blocks", folder);
    struct trace *trace = trace_act("disk", path, 0);
    unlink(path);
    const char *reason = NULL;
    if (!trace->meta.has_blocks)
        reason = "block I/O may not be seen here";
    else if (WEXITSTATUS(trace->meta.exit_status) != 0 || trace->n_blocks == 0)
        reason = "the temporary folder is on no disk";
    if (reason) {
        print_message("skipped: %s\n", reason);
        trace_free(trace);
        skip();
    }
    size_t reads = 0;
    size_t writes = 0;
    for (size_t i = 0; i < trace->n_blocks; i++) {
        const struct trace_block *block = &trace->blocks[i];
        assert_int_equal(block->tid, trace->threads[0].tid);
        reads += block->kind == BLOCK_READ && block->bytes == DISK_BYTES;
        writes += block->kind == BLOCK_WRITE && block->bytes == DISK_BYTES;
        if (block->kind != BLOCK_READ)
            continue;
        assert_true(block->queued_ns <= block->issued_ns);
        assert_true(block->issued_ns < block->completed_ns);
    }
    assert_int_equal(reads, DISK_BLOCKS);
    assert_true(writes >= DISK_BLOCKS);
    trace_free(trace);
}

static const struct trace_value *value_of(const struct trace *trace, const char *name) {
    const struct trace_value *found = NULL;
    for (size_t v = 0; v < trace->n_values; v++)
        if (strcmp(trace->values[v].name, name) == 0) {
            assert_null(found); /* once is enough */
            found = &trace->values[v];
        }
    return found;
}

/* It was looked at by the first who had the mutex. */
static void assert_first_look(const struct trace *trace, const struct trace_value *value,
                              int line) {
    assert_int_equal(value->thread, 0);
    const struct trace_thread *thread = &trace->threads[0];
    for (size_t r = 0; r < thread->n_records; r++) {
        const struct trace_record *record = &thread->records[r];
        const struct trace_context *calls = &trace->contexts[record->context];
        bool is_here = false;
        for (size_t f = 0; f < calls->n_frames; f++)
            is_here |= calls->frames[f].line == line;
        if (record->api != API_pthread_mutex_lock || !is_here)
            continue;
        assert_true(record->object == value->mutex);
        assert_true(trace_end_ns(record) <= value->time_ns);
        assert_true(value->time_ns <= record[1].start_ns);
        return;
    }
    fail_msg("no lock at line %d", line);
}

static void limits_and_counters_are_looked_at_once_under_their_mutex(void **state) {
    (void)state;
    struct facts_section sections[] = {{.place = {__FILE__, "pass_gate", GATE_LINE, 5}},
                                       {.place = {__FILE__, "pass_distant", DISTANT_LINE, 5}},
                                       {.place = {__FILE__, "pass_open", OPEN_LINE, 5}},
                                       {.place = {__FILE__, "pass_pointing", POINTING_LINE, 5}}};
    struct facts_monitor monitors[] = {{.kind = MONITOR_SEMAPHORE,
                                        .mutex = "struct gate.mutex",
                                        .count = "struct gate.left",
                                        .amount.text = "struct gate.made_for.limit - 1",
                                        .n_sections = 1,
                                        .sections = &sections[0]},
                                       {.kind = MONITOR_SEMAPHORE,
                                        .mutex = "struct distant_gate.mutex",
                                        .count = "struct distant_gate.left",
                                        .n_sections = 1,
                                        .sections = &sections[1]},
                                       {.kind = MONITOR_TOKEN_POOL,
                                        .mutex = "global:open_gate",
                                        .count = "global:open_left",
                                        .n_sections = 1,
                                        .sections = &sections[2]},
                                       {.kind = MONITOR_SEMAPHORE,
                                        .mutex = "struct pointing_gate.mutex",
                                        .count = "struct pointing_gate.left",
                                        .n_sections = 1,
                                        .sections = &sections[3]}};
    struct facts facts = {.n_monitors = 4, .monitors = monitors};
    known = &facts;
    struct trace *trace = trace_act("gates", NULL, 0);
    known = NULL;
    assert_true(trace->meta.complete && WEXITSTATUS(trace->meta.exit_status) == 0);
    assert_int_equal(count_records(&trace->threads[0], API_pthread_mutex_lock), 4 * GATE_PASSES);
    const struct trace_value *left = value_of(trace, "struct gate.left");
    const struct trace_value *limit = value_of(trace, "struct gate.made_for.limit");
    const struct trace_value *open = value_of(trace, "global:open_left");
    assert_true(left && limit && open);
    assert_int_equal(left->value, GATE_LEFT);
    assert_int_equal(limit->value, GATE_LIMIT);
    assert_int_equal(open->value, 200);
    assert_first_look(trace, left, GATE_LINE);
    assert_first_look(trace, limit, GATE_LINE);
    assert_first_look(trace, open, OPEN_LINE);
    assert_null(value_of(trace, "struct distant_gate.left"));
    assert_null(value_of(trace, "struct pointing_gate.left"));
    trace_free(trace);
    trace = trace_act("gates", NULL, 0); /* nobody asks */
    assert_int_equal(trace->n_values, 0);
    trace_free(trace);
}

/* The mutex's unlocks tell what the counter held, if that was `looked` at. */
static void assert_unlocks(const struct trace *trace, uint64_t mutex, bool looked) {
    const struct trace_thread *thread = &trace->threads[0];
    int64_t left = BUDGET;
    int n = 0;
    for (size_t r = 0; r < thread->n_records; r++) {
        const struct trace_record *record = &thread->records[r];
        if (record->api != API_pthread_mutex_unlock || record->object != mutex)
            continue;
        left -= 7 * ++n;
        assert_true(((record->flags & TRACE_LOOKED) != 0) == looked);
        assert_int_equal(record->value, looked ? (int32_t)(uint32_t)left : 0);
    }
    assert_int_equal(n, GATE_PASSES);
}

static void a_counter_that_changes_by_amounts_is_looked_at_each_time(void **state) {
    (void)state;
    struct facts_step takes = {
        .kind = STEP_UPDATE, .change = CHANGE_OTHER, .value = {"left - units", "$0 $1 -"}};
    struct facts_section sections[] = {
        {.place = {__FILE__, "pass_budget", BUDGET_LINE, 5}, .n_steps = 1, .steps = &takes},
        {.place = {__FILE__, "pass_long_budget", LONG_BUDGET_LINE, 5},
         .n_steps = 1,
         .steps = &takes}};
    struct facts_variable variables[][2] = {
        {{.name = "struct budget.left"}, {.name = "local:units", .local = true}},
        {{.name = "struct long_budget.left"}, {.name = "local:units", .local = true}}};
    struct facts_monitor monitors[2];
    for (int i = 0; i < 2; i++)
        monitors[i] =
            (struct facts_monitor){.kind = MONITOR_SEMAPHORE,
                                   .mutex = i ? "struct long_budget.mutex" : "struct budget.mutex",
                                   .count = variables[i][0].name,
                                   .n_variables = 2,
                                   .variables = variables[i],
                                   .n_sections = 1,
                                   .sections = &sections[i]};
    struct facts facts = {.n_monitors = 2, .monitors = monitors};
    known = &facts;
    struct trace *trace = trace_act("budgets", NULL, 0);
    known = NULL;
    assert_true(trace->meta.complete && WEXITSTATUS(trace->meta.exit_status) == 0);
    for (int i = 0; i < 2; i++) {
        const struct trace_value *left = value_of(trace, variables[i][0].name);
        assert_non_null(left);
        assert_true(left->value == BUDGET);
        assert_unlocks(trace, left->mutex, i == 0);
    }
    takes.change = CHANGE_ADD; /* by a number that the source tells */
    known = &facts;
    trace_free(trace);
    trace = trace_act("budgets", NULL, 0);
    known = NULL;
    assert_unlocks(trace, value_of(trace, variables[0][0].name)->mutex, false);
    trace_free(trace);
}

static void killed_program_leaves_an_incomplete_trace(void **state) {
    (void)state;
    struct trace *trace = trace_act("killed", NULL, 0);
    assert_false(trace->meta.complete);
    assert_true(WIFSIGNALED(trace->meta.exit_status));
    assert_int_equal(WTERMSIG(trace->meta.exit_status), SIGKILL);
    assert_int_equal(count_records(&trace->threads[0], API_pthread_mutex_lock), KILLED_LOCKS);
    assert_false(trace->threads[0].end_seen);
    trace_free(trace);
}

static bool tells(const struct trace *trace, const char *text) {
    bool found = false;
    for (size_t i = 0; i < trace->meta.n_lacks; i++)
        found |= strstr(trace->meta.lacks[i], text) != NULL;
    return found;
}

static void a_program_is_recorded_as_what_it_becomes(void **state) {
    (void)state;
    struct trace *trace = trace_act("exec", NULL, 0);
    assert_int_equal(trace->n_threads, 1 + LOCKERS);
    assert_int_equal(count_records(&trace->threads[1], API_pthread_mutex_lock), LOCKS);
    assert_false(tells(trace, "another one"));
    trace_free(trace);
}

static void plain_runs_are_measured_and_raw_files_deleted(void **state) {
    (void)state;
    struct trace *trace = trace_act("spin", NULL, 3);
    assert_true(trace->meta.untraced_run_ns > SPIN_NS);
    assert_true(trace->meta.run_ns > SPIN_NS);
    assert_true(trace->meta.untraced_spread_ns > 0);
    trace_free(trace);
    char raw[PATH_MAX + 16];
    snprintf(raw, sizeof raw, "%s/raw", folder);
    assert_int_not_equal(access(raw, F_OK), 0);
}

static void program_that_cannot_start_is_an_error_and_keeps_the_trace(void **state) {
    (void)state;
    trace_free(trace_act("locks", NULL, 0));
    char *args[] = {"no-such-program-here", NULL};
    struct tracer_options options = {
        .args = args, .directory = folder, .probe_library = probe, .plain_runs = 2};
    struct error error = {0};
    assert_int_equal(tracer_run(&options, &error), -1);
    assert_non_null(strstr(error.text, "no such program"));
    char path[PATH_MAX + 16];
    snprintf(path, sizeof path, "%s/trace.persik", folder);
    assert_int_equal(access(path, R_OK), 0);
}

static int prepare(void **state) {
    (void)state;
    char binary[PATH_MAX];
    ssize_t bytes = readlink("/proc/self/exe", self, sizeof self - 1);
    if (bytes <= 0)
        return -1;
    memcpy(binary, self, sizeof binary);
    snprintf(probe, sizeof probe, "%s/../libpersik-probe.so", dirname(binary));
    memcpy(binary, self, sizeof binary);
    /* Beside the binary: the folder for temporary files may be in memory, not on a disk. */
    snprintf(folder, sizeof folder, "%s/trace-XXXXXX", dirname(binary));
    return mkdtemp(folder) ? 0 : -1;
}

static int clean_up(void **state) {
    (void)state;
    char path[PATH_MAX + 16];
    snprintf(path, sizeof path, "%s/trace.persik", folder);
    unlink(path);
    return rmdir(folder);
}

int main(int n_args, char **args) {
    if (n_args > 1)
        return act(args[1], n_args > 2 ? args[2] : NULL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_call_is_recorded_with_thread_and_source_line),
        cmocka_unit_test(records_are_ordered_and_lie_in_their_threads_life),
        cmocka_unit_test(slices_are_apart_and_in_their_threads_life),
        cmocka_unit_test(slices_sum_up_to_the_threads_cpu_time),
        cmocka_unit_test(sleepers_wake_up_before_they_run),
        cmocka_unit_test(another_core_is_not_reached_for_nothing),
        cmocka_unit_test(a_run_more_has_its_caches_emptied),
        cmocka_unit_test(direct_disk_accesses_are_requests_of_their_thread),
        cmocka_unit_test(limits_and_counters_are_looked_at_once_under_their_mutex),
        cmocka_unit_test(a_counter_that_changes_by_amounts_is_looked_at_each_time),
        cmocka_unit_test(killed_program_leaves_an_incomplete_trace),
        cmocka_unit_test(a_program_is_recorded_as_what_it_becomes),
        cmocka_unit_test(plain_runs_are_measured_and_raw_files_deleted),
        cmocka_unit_test(program_that_cannot_start_is_an_error_and_keeps_the_trace),
    };
    return cmocka_run_group_tests(tests, prepare, clean_up);
}
