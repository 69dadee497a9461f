/* What happens to a thread, moment by moment: calls that begin and return, times on a core. */
#ifndef PERSIK_MODELGEN_DEPENDENCIES_THREAD_MOMENTS_H
#define PERSIK_MODELGEN_DEPENDENCIES_THREAD_MOMENTS_H

#include "formats/trace.h"

/* In the order in which they happen at the same time: who leaves a core makes room for another one.
 */
enum moment_kind {
    MOMENT_BORN,
    MOMENT_OFF,
    MOMENT_WOKEN,
    MOMENT_ON,
    MOMENT_CALL,   /* the thread makes the call `record` */
    MOMENT_RETURN, /* and is back from it; calls that took no time have none */
    MOMENT_END,
    MOMENT_NEVER /* nothing happens to it any more */
};

enum thread_state { THREAD_ON_CORE, THREAD_READY, THREAD_BLOCKED };

struct thread_moments {
    const struct trace_thread *thread;
    /* The next moment. */
    uint64_t time_ns;
    enum moment_kind kind;
    /* Until then. */
    enum thread_state state;
    bool in_call;
    size_t record; /* the call it is in, else the one it makes next */
    size_t slice;  /* the time on a core that it is in, else the next one */
};

/* In front of the thread's first moment. Without times on cores it is on one throughout. */
struct thread_moments thread_moments_of(const struct trace_thread *thread);

/* When the thread began to wait for its first core. */
uint64_t thread_moments_begin(const struct trace_thread *thread);

/* Goes behind the next moment. */
void thread_moments_pass(struct thread_moments *at);

/* The call that the thread is in; NULL: none. */
const struct trace_record *thread_moments_call(const struct thread_moments *at);

/* The call that it has begun last, whether it is back from it or not; NULL: none yet. */
const struct trace_record *thread_moments_last_call(const struct thread_moments *at);

/* Where it is between two calls, or in one: TRACE_NO_CONTEXT: not known. */
uint32_t thread_moments_context(const struct thread_moments *at);

#endif
