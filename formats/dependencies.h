/* What each thread of a run did, step by step, and what ended each of its waits: the run as a graph
 * of dependencies. `modelgen/dependencies/` makes it of a trace, `critical-path/` reads it; the
 * file dependencies.persik (docs/formats.md) keeps it.
 *
 * A step ends in a moment of its thread. The steps stand in an order in which each comes behind
 * those that it depends on: the step before it of the same thread, and up to two others. Hence the
 * graph has no cycles, and whoever goes through it needs to do so once. */
#ifndef PERSIK_FORMATS_DEPENDENCIES_H
#define PERSIK_FORMATS_DEPENDENCIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "formats/sample.h"

#define DEPENDENCIES_VERSION 6
#define DEPENDENCIES_OLDEST  1 /* that is still read: it does not know the operations */
#define DEPENDENCIES_NONE    UINT32_MAX

enum step_kind {
    STEP_COMPUTE,     /* on a core */
    STEP_READY,       /* ready, without a core */
    STEP_BLOCKED,     /* waits for what its cause tells */
    STEP_SLEEP,       /* until a time that the program chose: a sleep, a time limit that passed */
    STEP_DEVICE,      /* waits for a disk */
    STEP_OUTSIDE,     /* waits for something from outside of what was recorded */
    STEP_UNEXPLAINED, /* waits, and nothing that was recorded tells for what */
    STEP_KINDS
};

/* Why a step could not end before another one had. */
enum link_kind {
    LINK_NONE,
    LINK_LOCK,    /* another thread gave the lock back */
    LINK_SIGNAL,  /* another one signalled the condition */
    LINK_PERMIT,  /* gave a permit of the semaphore */
    LINK_BARRIER, /* was the last one to arrive */
    LINK_CREATE,  /* created this thread */
    LINK_JOIN,    /* ended */
    LINK_ONCE,    /* had done what is done once */
    LINK_ITEM,    /* put the item that was taken */
    LINK_SPACE,   /* took the item in whose place this one was put */
    LINK_BYTES,   /* wrote to the other end of the pipe, socket or eventfd, or took from it */
    LINK_NOTICE,  /* sent a signal to this thread */
    LINK_CORE,    /* had the core */
    LINK_WAKER,   /* woke it, as the kernel says; by what, no record tells */
    LINK_KINDS
};

/* What the kernel, which knows the thread that woke another one, says of a cause that the recorded
 * calls tell. */
enum step_witness { WITNESS_NONE, WITNESS_CONFIRMS, WITNESS_DENIES };

/* What the thread does in the moment in which the step ends, so that the run can be replayed in
 * another order. What takes is done when it has been got, what gives when it is there. */
enum step_operation {
    OPERATION_NONE,
    OPERATION_LOCK,   /* takes the operand, as nobody else can then */
    OPERATION_SPIN,   /* the same, and would wait for it on its core */
    OPERATION_SHARE,  /* takes it to read, as others may, too */
    OPERATION_UNLOCK, /* gives it back */
    OPERATION_WAIT,   /* gives it back to wait for a condition */
    OPERATION_PERMIT, /* the operand begins with `amount` permits */
    OPERATION_BOUND,  /* the operand begins without items and has room for `amount`; 0: for all */
    OPERATION_TAKE,   /* a permit or an item */
    OPERATION_GIVE,   /* the same */
    /* Of a pool (struct dependency_object), `amount` at once. What takes stands behind the locking
     * of the mutex under which the pool is kept; who replays waits before that. */
    OPERATION_OWE,    /* takes without waiting: the next ones given are not there for others */
    OPERATION_PASS,   /* waits until one is there, and leaves it there */
    OPERATION_LEFT,   /* waits until the pool is closed */
    OPERATION_CLOSE,  /* from now on nobody waits for it any more */
    OPERATION_PAUSE,  /* gives the operand back to wait for a condition that pools stand for */
    OPERATION_RESUME, /* has it back */
    OPERATION_SIGNAL, /* signals a condition while it holds the operand: others may wait under it */
    OPERATIONS
};

struct dependency_step {
    uint64_t end_ns : 56; /* since the run's start; never before the thread's previous step's */
    uint64_t kind : 8;    /* enum step_kind */
    uint32_t thread;      /* index into threads */
    uint32_t place;       /* index into places; DEPENDENCIES_NONE: not known */
    uint32_t object;      /* that it waits for, or works on; of computing, the lock that it holds */
    uint32_t cause;       /* index of the step that ended this one; DEPENDENCIES_NONE */
    uint32_t limit;       /* the same, of one that it also had to wait for if that had been later */
    uint8_t cause_kind;   /* enum link_kind */
    uint8_t limit_kind;
    uint8_t witness;        /* enum step_witness */
    uint8_t in_call;        /* 1: inside of a recorded call */
    uint32_t operand;       /* index of the object that the operation is on; DEPENDENCIES_NONE */
    uint32_t operation : 8; /* enum step_operation */
    uint32_t amount : 24;
};
_Static_assert(sizeof(struct dependency_step) == 40, "as documented");

struct dependency_frame {
    char *function;
    char *file; /* NULL: not known */
    int line;   /* 0: not known */
};

/* A chain of calls, innermost first. */
struct dependency_place {
    size_t n_frames;
    struct dependency_frame *frames;
};

/* A pool is what a program counts itself, under a mutex: items, room for them, permits. modelgen
 * has recognised it by who waited. */
struct dependency_object {
    char *kind; /* "mutex", "semaphore"; of a pool "items", "room", "permits" or "level" */
    char *name; /* as a person would say it */
    bool is_pool;
    int start; /* of a pool: how many are there at first; below 0: so many are owed */
};

struct dependency_thread {
    char *name;
    uint64_t start_ns;
    bool is_made; /* no thread: it stands for a barrier, whose steps take no time */
};

/* A request, or what the user marked: what passes from its begin to its end is its response time.
 */
struct dependency_task {
    uint64_t begin_ns, end_ns; /* it came, it was done: as its calls tell, since the run's start */
    uint32_t taken; /* with the end of this step a thread began to work on it; DEPENDENCIES_NONE:
                     * as it came */
    uint32_t end;   /* with the end of this step it was done */
};
_Static_assert(sizeof(struct dependency_task) == 24, "as documented");

struct dependencies {
    uint32_t version; /* of the file that was read; 0: of none */
    /* Which trace they are of. */
    uint64_t start_real_ns, records;
    uint64_t run_ns;
    int cores;
    bool has_cores, has_wakers;   /* the trace knows when threads had a core, who woke them */
    bool has_operations;          /* the steps say what threads do to locks, semaphores, queues */
    double tick_ns;               /* period of the kernel's timer tick; 0: not known */
    uint64_t lost;                /* records and events that the trace lacks */
    const struct sample *sampled; /* not in the file, and not owned: stacks of another run of the
                                   * same program, for what lies between two calls; NULL: none */
    bool are_pools_off;           /* not in the file: critical_path_find() found that the run does
                                   * not come out with what they tell */
    char *task_kind;              /* "requests", "marked tasks"; NULL: there are none */
    size_t n_steps, n_places, n_objects, n_threads, n_tasks;
    struct dependency_step *steps;
    struct dependency_place *places;
    struct dependency_object *objects;
    struct dependency_thread *threads;
    struct dependency_task *tasks;
};

/* The step that put the item which this one has taken; DEPENDENCIES_NONE: it has taken none, or
 * from an unknown one. */
static inline uint32_t dependency_item(const struct dependency_step *step) {
    return step->limit_kind == LINK_ITEM   ? step->limit
           : step->cause_kind == LINK_ITEM ? step->cause
                                           : DEPENDENCIES_NONE;
}

/* Reads a file. NULL and `error`: missing, of another kind, newer, truncated, or with steps that
 * depend on later ones. dependencies_free() ends it. */
struct dependencies *dependencies_load(const char *path, struct error *error);

/* Writes it as a whole or not at all, mode 0600. */
int dependencies_save(const struct dependencies *dependencies, const char *path,
                      struct error *error);

void dependencies_free(struct dependencies *dependencies);

#endif
