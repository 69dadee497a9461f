/* Writes traces by hand for unit tests: threads, call sites, calls, critical sections, times on
 * cores. All times are in nanoseconds. A text that is passed stays the caller's; the trace has
 * copies. trace_free() ends a trace. Pointers to threads, contexts and records hold until the next
 * call that adds one of these. */
#ifndef PERSIK_TESTS_TRACE_BUILDER_H
#define PERSIK_TESTS_TRACE_BUILDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "formats/facts.h"
#include "formats/trace.h"
#include "modelgen/modelgen.h"

/* As many threads as have a pool in the tables of pools that tests pass: see builder_no_pools. */
enum { BUILDER_THREADS = 8 };

/* For functions that want the pool of each thread: all are in pool 0. */
extern const int builder_no_pools[BUILDER_THREADS];

/* ---- the trace and its threads ---- */

/* An empty, complete trace on so many cores, whose scheduling was recorded. */
struct trace *builder_new(int cores);

/* The same on two cores, with thread 0, "main", and so many that it created, which begin with
 * worker(). */
struct trace *builder_new_with_workers(int workers);

/* Adds a thread, created by the thread `creator` in line 900 of main() (-1: a process's first
 * thread, which nobody created). Gives its index. */
int builder_thread(struct trace *trace, const char *start_routine, int creator);

/* Sets when the thread began and ended. builder_finish() overwrites it. */
void builder_life(struct trace *trace, int thread, uint64_t start_ns, uint64_t end_ns);

/* Sets every thread's life and the run to [0, end). */
void builder_finish(struct trace *trace, uint64_t end_ns);

/* ---- call sites ---- */

/* The chain of calls, innermost frame first. Equal chains are one context. */
uint32_t builder_chain(struct trace *trace, size_t n_frames, const struct trace_frame *frames);

/* A call on `line` of `function`, called in line `root_line` of `root`, the outermost function. All
 * are in the file t.c and the module "t". */
uint32_t builder_context(struct trace *trace, const char *function, int line, const char *root,
                         int root_line);

/* ---- calls ---- */

/* A call of the thread; the test fails if it begins before the previous one. `api`: its name in the
 * catalogue; the test fails if it is unknown. A call with a duration has waited (TRACE_WAITED).
 * The record is given to be changed. */
struct trace_record *builder_record(struct trace *trace, int thread, const char *api,
                                    uint64_t start_ns, uint64_t duration_ns, uint64_t object,
                                    uint32_t context, int value);

/* The same by the time when it returned, and with the value 0. */
struct trace_record *builder_call(struct trace *trace, int thread, const char *api,
                                  uint64_t start_ns, uint64_t end_ns, uint64_t object,
                                  uint32_t context);

/* The thread creates the thread with this index, which may be added later on. */
void builder_create(struct trace *trace, int thread, uint64_t start_ns, uint64_t duration_ns,
                    uint32_t context, int created);

/* The thread waits until the thread with this index has ended. */
void builder_join(struct trace *trace, int thread, uint64_t start_ns, uint64_t duration_ns,
                  uint32_t context, int joined);

/* The thread makes the same calls, at the same times, as another one. */
void builder_copy_calls(struct trace *trace, int thread, int from);

/* The thread's last call. */
struct trace_record *builder_last(const struct trace *trace, int thread);

/* The program ended in the thread's last call. */
void builder_unfinished(struct trace *trace, int thread);

/* ---- critical sections ---- */

/* What a thread does with a mutex in its hands, in this order. A field that is left out (0) stands
 * for what does not happen. */
struct builder_section {
    const char *function; /* makes all these calls */
    int line;             /* of the lock; of a signal before the wait and of the wait: the next
                           * one; of a signal after it: + 2; of the unlock: + 3 */
    const char *caller;   /* of the function, outermost; left out: "thread" */
    int caller_line;      /* left out: 100 */
    uint64_t mutex;
    uint64_t start_ns;       /* of the lock, which does not wait */
    uint64_t signals_before; /* condition that is signalled at start + 1 */
    uint64_t waits_for;      /* condition that is waited for from then on, until: */
    uint64_t woken_ns;
    uint64_t signals_after; /* condition that is signalled 1 ns before the unlock */
    bool broadcasts;        /* the signals are for all who wait */
    uint64_t end_ns;        /* of the unlock; left out: woken + 1, without a wait start + 3 */
};

void builder_section(struct trace *trace, int thread, struct builder_section section);

/* ---- times on cores, and what else was seen ---- */

/* The thread ran on core 0 throughout [on, off). */
void builder_slice(struct trace *trace, int thread, uint64_t on_ns, uint64_t off_ns);

/* The same on core `cpu`, woken at `wake_ns` (0: not known), and at the end preempted or not. */
void builder_run(struct trace *trace, int thread, uint32_t cpu, uint64_t wake_ns, uint64_t on_ns,
                 uint64_t off_ns, bool preempted);

/* All threads run throughout [0, end). */
void builder_run_all(struct trace *trace, uint64_t end_ns);

/* What a thread did with pages of the page cache. */
void builder_pages(struct trace *trace, struct trace_pages pages);

/* An interval in which persik disturbed the program on purpose. */
void builder_eviction(struct trace *trace, struct trace_eviction eviction);

/* A request at a block device; given in the order in which they were queued. */
void builder_block(struct trace *trace, struct trace_block block);

/* A run of the same program without probes. */
void builder_plain_run(struct trace *trace, uint64_t run_ns, uint64_t cpu_ns);

/* What a variable held when the thread had just taken the mutex. */
void builder_value(struct trace *trace, const char *name, uint64_t mutex, int thread,
                   uint64_t time_ns, int64_t value);

/* ---- what becomes of it ---- */

/* The trace's model, which must be without fault. Frees the trace; `facts` may be NULL. */
struct model *builder_model(struct trace *trace, const struct facts *facts);

/* What the source says of a queue without limit: where it is put into and taken from. */
struct builder_queue {
    struct facts_operation operations[2];
    struct facts_monitor monitor;
    char *file;
    struct facts facts; /* points into this struct; nothing to free */
};

const struct facts *builder_queue_facts(struct builder_queue *queue, char *put, int put_line,
                                        char *get, int get_line);

#endif
