#include "sampler/recorder.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/map.h"
#include "base/memory.h"
#include "sampler/perf.h"
#include "sampler/procfs.h"
#include "sampler/unwind.h"

/* Reading the maps again may take one part in this many of the time. */
#define REFRESH_SHARE 20
#define ENDED         (-2) /* instead of an index */
/* The kernel takes so many samples of a running thread for one that counts. It takes them at equal
 * distances, and a program that does the same thing again and again may keep in step with it: then
 * all samples show the same moment. Which one of so many counts is drawn by lot. */
#define DRAWN_FROM 7

/* Where a thread was last found blocked, so that it is unwound again only after it has moved. */
struct resting_place {
    struct procfs_position position;
    bool known; /* `position` and `node` are set */
    int node;   /* of the trie; -1: the stack could not be followed */
};

/* Which of a thread's samples count. */
struct lot {
    int taken; /* of the DRAWN_FROM at hand */
    int drawn; /* the one of them that counts */
};

struct recorder {
    pid_t pid;
    struct recording recording;
    struct perf *perf;
    struct procfs *procfs;
    struct unwinder *unwinder;
    struct map threads;     /* tid -> index; ENDED after its end, for the kernel uses tids again */
    struct map address_ids; /* address -> index into recording.addresses */
    struct {
        struct resting_place *items;
        size_t count, capacity;
    } resting; /* by thread */
    struct {
        struct lot *items;
        size_t count, capacity;
    } lots;                 /* by thread */
    unsigned short dice[3]; /* the state of nrand48() */
    uint64_t refreshed_ns, refresh_cost_ns;
    unsigned char stack[PROCFS_STACK_BYTES]; /* of the blocked thread at hand */
};

/* ---- threads ---- */

static int thread_index(struct recorder *recorder, pid_t tid) {
    int index = map_get(&recorder->threads, (uint64_t)tid, -1);
    if (index >= 0)
        return index;
    index = (int)recorder->recording.n_threads++;
    map_put(&recorder->threads, (uint64_t)tid, index);
    VECTOR_ADD(&recorder->resting);
    VECTOR_ADD(&recorder->lots);
    return index;
}

/* Does this sample of the thread count? */
static bool is_drawn(struct recorder *recorder, int thread) {
    struct lot *lot = &recorder->lots.items[thread];
    if (lot->taken == 0)
        lot->drawn = (int)(nrand48(recorder->dice) % DRAWN_FROM);
    bool is_it = lot->taken == lot->drawn;
    lot->taken = (lot->taken + 1) % DRAWN_FROM;
    return is_it;
}

/* ---- stacks ---- */

static int address_id(struct recorder *recorder, uint64_t address) {
    int id = map_get(&recorder->address_ids, address, -1);
    if (id >= 0)
        return id;
    id = (int)recorder->recording.addresses.count;
    *VECTOR_ADD(&recorder->recording.addresses) = address;
    map_put(&recorder->address_ids, address, id);
    return id;
}

static void read_program(struct recorder *recorder) {
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/%d/exe", (int)recorder->pid);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length <= 0)
        return;
    path[length] = '\0';
    free(recorder->recording.program);
    recorder->recording.program = memory_strdup(path);
}

/* Something new may have been loaded. Not too often: there may be code of which nothing is known.
 * What it costs is CPU time: who had to wait for a core meanwhile took nothing from the program. */
static bool refresh_modules(struct recorder *recorder, pid_t tid) {
    uint64_t start = clock_now_ns(CLOCK_THREAD_CPUTIME_ID);
    if (clock_now_ns(CLOCK_MONOTONIC) - recorder->refreshed_ns <
        REFRESH_SHARE * recorder->refresh_cost_ns)
        return false;
    int status = modules_refresh(&recorder->recording.modules, recorder->pid, tid);
    read_program(recorder);
    recorder->refreshed_ns = clock_now_ns(CLOCK_MONOTONIC);
    recorder->refresh_cost_ns = clock_now_ns(CLOCK_THREAD_CPUTIME_ID) - start;
    return status == 0;
}

/* The trie node of the stack, -1 when it cannot be followed. */
static int follow_stack(struct recorder *recorder, const struct unwind_input *input) {
    uint64_t addresses[UNWIND_MAX_FRAMES];
    size_t n = unwinder_run(recorder->unwinder, input, addresses);
    if (n == 0 && refresh_modules(recorder, input->tid))
        n = unwinder_run(recorder->unwinder, input, addresses);
    int node = TRIE_ROOT;
    while (n > 0)
        node = trie_child(&recorder->recording.trie, node, address_id(recorder, addresses[--n]));
    return node;
}

static void count(struct recorder *recorder, int node, int thread, bool blocked, uint64_t samples) {
    if (node == TRIE_ROOT)
        recorder->recording.failed_unwinds += samples;
    else
        trie_add(&recorder->recording.trie, node, thread, blocked, samples);
}

/* ---- the two sources ---- */

static void take_running(struct recorder *recorder, const struct perf_record *record) {
    const struct unwind_input input = {
        .tid = record->tid,
        .registers = record->registers,
        .stack = record->stack,
        .stack_bytes = record->stack_bytes,
    };
    int thread = thread_index(recorder, record->tid);
    if (!is_drawn(recorder, thread))
        return;
    int node = record->registers.known ? follow_stack(recorder, &input) : TRIE_ROOT;
    count(recorder, node, thread, false, 1);
}

static void forget_recording(struct recorder *recorder) {
    struct recording *recording = &recorder->recording;
    trie_free(&recording->trie);
    modules_free(&recording->modules);
    map_free(&recorder->address_ids);
    map_free(&recorder->threads);
    free(recording->addresses.items);
    free(recording->program);
    free(recorder->resting.items);
    free(recorder->lots.items);
    memset(recording, 0, sizeof *recording);
    memset(&recorder->resting, 0, sizeof recorder->resting);
    memset(&recorder->lots, 0, sizeof recorder->lots);
    recorder->address_ids = recorder->threads = MAP_EMPTY;
}

/* Exec: what was recorded belongs to a program that is gone, and so do all threads but one. */
static void start_again(struct recorder *recorder) {
    forget_recording(recorder);
    unwinder_forget(recorder->unwinder);
    recorder->refresh_cost_ns = 0;
    thread_index(recorder, recorder->pid);
    read_program(recorder); /* it may end before a sample falls */
}

static void take_record(struct recorder *recorder, const struct perf_record *record) {
    if (record->pid != recorder->pid)
        return; /* a child process */
    switch (record->kind) {
    case PERF_SAMPLE:
        take_running(recorder, record);
        break;
    case PERF_THREAD_BORN:
        thread_index(recorder, record->tid);
        break;
    case PERF_THREAD_ENDED:
        map_put(&recorder->threads, (uint64_t)record->tid, ENDED);
        break;
    case PERF_EXEC:
        start_again(recorder);
        break;
    }
}

static bool has_rested(const struct resting_place *place, const struct procfs_position *position) {
    return place->known && place->position.timeslices == position->timeslices &&
           place->position.stack_pointer == position->stack_pointer &&
           place->position.program_counter == position->program_counter;
}

/* False when the thread went on while it was looked at. A stack that could not be followed counts
 * as known only when the maps were read for it: it may have been too early for that. */
static bool find_resting_place(struct recorder *recorder, const struct procfs_thread *thread,
                               struct resting_place *place) {
    struct unwind_input input = {.tid = thread->tid, .stack = recorder->stack};
    uint64_t refreshed_ns = recorder->refreshed_ns;
    registers_set(&input.registers, REGISTER_STACK_POINTER, thread->position.stack_pointer);
    registers_set(&input.registers, REGISTER_PROGRAM_COUNTER, thread->position.program_counter);
    input.stack_bytes = procfs_read(thread->tid, thread->position.stack_pointer, recorder->stack,
                                    sizeof recorder->stack);
    int node = follow_stack(recorder, &input);
    if (!procfs_is_still(recorder->procfs, thread))
        return false;
    bool known = node != TRIE_ROOT || recorder->refreshed_ns != refreshed_ns;
    *place = (struct resting_place){thread->position, known, node};
    return true;
}

/* What has told its end is still to be seen in /proc until it has left the kernel. */
static void take_blocked(struct recorder *recorder, const struct procfs_thread *thread,
                         uint64_t periods) {
    if (map_get(&recorder->threads, (uint64_t)thread->tid, -1) == ENDED)
        return;
    int index = thread_index(recorder, thread->tid);
    struct resting_place *place = &recorder->resting.items[index];
    if (has_rested(place, &thread->position) || find_resting_place(recorder, thread, place))
        count(recorder, place->node, index, true, periods);
    else
        recorder->recording.skipped += periods;
}

void sampler_recorder_take(struct recorder *recorder, uint64_t periods) {
    const struct perf_record *records;
    size_t n_records = perf_drain(recorder->perf, &records);
    for (size_t i = 0; i < n_records; i++)
        take_record(recorder, &records[i]);
    recorder->recording.lost = perf_lost(recorder->perf);
    const struct procfs_thread *threads;
    size_t n_threads = periods > 0 ? procfs_scan(recorder->procfs, &threads) : 0;
    for (size_t i = 0; i < n_threads; i++)
        if (threads[i].blocked)
            take_blocked(recorder, &threads[i], periods);
}

/* ---- life ---- */

struct recorder *sampler_recorder_create(pid_t pid, double rate_hz, struct error *error) {
    struct perf *perf = perf_open(pid, DRAWN_FROM * rate_hz, error);
    if (!perf)
        return NULL;
    struct recorder *recorder = memory_alloc(1, sizeof *recorder);
    recorder->pid = pid;
    recorder->perf = perf;
    recorder->procfs = procfs_open(pid);
    recorder->unwinder = unwinder_create(&recorder->recording.modules);
    thread_index(recorder, pid);
    return recorder;
}

const struct recording *sampler_recorder_recording(const struct recorder *recorder) {
    return &recorder->recording;
}

void sampler_recorder_free(struct recorder *recorder) {
    forget_recording(recorder);
    unwinder_free(recorder->unwinder);
    procfs_close(recorder->procfs);
    perf_close(recorder->perf);
    free(recorder);
}
