/* The run at one moment: what each thread, object and core is at, and the steps so far. */
#ifndef PERSIK_MODELGEN_DEPENDENCIES_RUN_STATE_H
#define PERSIK_MODELGEN_DEPENDENCIES_RUN_STATE_H

#include "modelgen/dependencies/device_waits.h"
#include "modelgen/dependencies/step_log.h"
#include "modelgen/dependencies/sync_state.h"
#include "modelgen/dependencies/task_moments.h"
#include "modelgen/dependencies/thread_moments.h"
#include "modelgen/dependencies/token_uses.h"

enum { HELD_LOCKS = 16 }; /* more at a time are not told apart */

struct thread_run {
    struct thread_moments at;
    bool has_begun;
    bool is_signalled; /* in this wait for a condition: from then on it is for the mutex */
    bool is_paused;    /* that wait is one that pools stand for */
    uint32_t mutex;    /* of the wait for a condition that it is in; DEPENDENCIES_NONE: not known */
    uint32_t object;   /* of the call that it is in */
    size_t next_use;   /* of pools */
    size_t n_held;
    uint32_t held[HELD_LOCKS]; /* locks that it holds, the innermost last */
};

struct run_state {
    const struct trace *trace;
    struct step_log log;
    struct sync_states sync;
    const struct token_uses *uses; /* its pools are the first objects; NULL: none is known */
    struct device_waits devices;
    struct task_moments tasks;
    struct thread_run *threads; /* one for each of the trace's */
    struct giver *cores;        /* per core: who left it last */
    size_t n_cores;
    struct giver sender; /* the last one to begin writing to a descriptor */
    uint64_t sender_until_ns;
};

struct sync_object *run_state_object(const struct run_state *run, uint32_t index);

/* The thread's step up to `now_ns` ends there, so that others may depend on it; gives its index. */
uint32_t run_state_cut(struct run_state *run, uint32_t thread, uint64_t now_ns);

/* A step of the thread of this kind, in the place where it is now. */
struct dependency_step run_state_step(const struct run_state *run, uint32_t thread,
                                      enum step_kind kind);

#endif
