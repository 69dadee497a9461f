/* OpenMP programs compiled by gcc: the entry points of libgomp.
 *
 * A parallel region is one call, GOMP_parallel, with the function that the compiler made of the
 * region's body. libgomp runs it in every member of the team, the caller included, and waits for
 * all of them inside: that is where its threads spin and sleep, without another call that we could
 * see. So the function is handed over wrapped: each member's entering and leaving is recorded, and
 * the time from leaving one region to entering the next is the wait.
 *
 * Nothing here depends on libgomp being there: the program may load it late or not at all. */
#include "tracer/probe/interposer.h"

/* One execution of a region. Lives on the stack of the thread that forks, which returns last. */
struct region {
    void (*function)(void *);
    void *data;
    uint32_t context; /* of the members: the function, called where the region is */
    uint64_t id;      /* where it lives */
};

/* What the calling thread is a member of. */
struct member {
    const struct region *region; /* NULL: of nothing */
    bool knows_its_number;
    bool has_left;             /* ... a region, and not gone on yet: */
    struct region left;        /* what it was; the region itself may be gone by then */
    struct probe_call leaving; /* the record of that */
    int32_t left_size;         /* of that region's team */
};

/* A call in which libgomp may run tasks. */
struct waiting {
    struct probe_call call;
    uint32_t context;
    enum api api;
    uint64_t object;
};

static _Thread_local __attribute__((tls_model("initial-exec"))) struct member member;

static _Thread_local __attribute__((tls_model("initial-exec"))) struct waiting *waiting;

static int (*real_team_size)(void);

static int32_t team_size(void) {
    return FIND(real_team_size, "omp_get_num_threads") ? real_team_size() : 1;
}

static void goes_on(void) {
    if (member.has_left)
        probe_end(&member.leaving, TRACE_WAITED | TRACE_LEAVES, member.left_size);
    member.has_left = false;
}

static void leaves(const struct region *region) {
    member.leaving =
        probe_begin(region->context, API_GOMP_parallel, region->id, TRACE_WAITED | TRACE_LEAVES);
    member.left_size = team_size();
    member.left = *region;
    member.has_left = true;
    if (member.leaving.record != NULL && probe_holds(&member.leaving)) /* should it never go on */
        member.leaving.record->value = member.left_size;
}

/* Stands in for the region's function. */
static void run_member(void *argument) {
    const struct region *region = argument;
    if (!probe_recording()) {
        region->function(region->data);
        return;
    }
    goes_on();
    struct member outer = member;
    member = (struct member){.region = region};
    probe_stamp(region->context, clock_after(), API_GOMP_parallel, region->id, TRACE_ENTERS,
                team_size());
    region->function(region->data);
    member = outer;
    leaves(region);
}

/* Records the fork; the region then lives as long as the call. */
static struct region fork_region(struct probe_site site, void (*function)(void *), void *data,
                                 unsigned n_threads) {
    uint32_t context = probe_context(site);
    probe_stamp(context, clock_before(), API_GOMP_parallel, RAW_NO_OBJECT, 0, clamp(n_threads));
    return (struct region){
        .function = function, .data = data, .context = context_within(context, (uint64_t)function)};
}

/* FORK(symbol, real, (more parameters), (more arguments)): the region is forked by a function whose
 * parameters are the function, its data, the threads, and `more`. */
#define UNPACK(...) __VA_ARGS__
#define FORK(symbol, real_symbol, more, args)                                                      \
    PROBE_EXPORT void symbol(void (*function)(void *), void *data, unsigned n_threads,             \
                             UNPACK more) {                                                        \
        if (!FIND(real_symbol, #symbol)) {                                                         \
            function(data);                                                                        \
            return;                                                                                \
        }                                                                                          \
        if (!probe_recording()) {                                                                  \
            real_symbol(function, data, n_threads, UNPACK args);                                   \
            return;                                                                                \
        }                                                                                          \
        struct region region = fork_region(PROBE_SITE, function, data, n_threads);                 \
        region.id = (uint64_t)&region;                                                             \
        real_symbol(run_member, &region, n_threads, UNPACK args);                                  \
        goes_on();                                                                                 \
    }
#define FORK_VARIANT(symbol, more, args)                                                           \
    static void (*real_##symbol)(void (*)(void *), void *, unsigned, UNPACK more);                 \
    FORK(symbol, real_##symbol, more, args)

FORK(GOMP_parallel, real.GOMP_parallel, (unsigned flags), (flags))
FORK_VARIANT(GOMP_parallel_sections, (unsigned count, unsigned flags), (count, flags))
#define LOOP(symbol)                                                                               \
    FORK_VARIANT(symbol, (long start, long end, long step, long chunk, unsigned flags),            \
                 (start, end, step, chunk, flags))
#define RUNTIME_LOOP(symbol)                                                                       \
    FORK_VARIANT(symbol, (long start, long end, long step, unsigned flags),                        \
                 (start, end, step, flags))
LOOP(GOMP_parallel_loop_static)
LOOP(GOMP_parallel_loop_dynamic)
LOOP(GOMP_parallel_loop_guided)
LOOP(GOMP_parallel_loop_nonmonotonic_dynamic)
LOOP(GOMP_parallel_loop_nonmonotonic_guided)
RUNTIME_LOOP(GOMP_parallel_loop_runtime)
RUNTIME_LOOP(GOMP_parallel_loop_nonmonotonic_runtime)
RUNTIME_LOOP(GOMP_parallel_loop_maybe_nonmonotonic_runtime)

static unsigned (*real_parallel_reductions)(void (*)(void *), void *, unsigned, unsigned);

PROBE_EXPORT unsigned GOMP_parallel_reductions(void (*function)(void *), void *data,
                                               unsigned n_threads, unsigned flags) {
    if (!FIND(real_parallel_reductions, "GOMP_parallel_reductions")) {
        function(data);
        return 1;
    }
    if (!probe_recording())
        return real_parallel_reductions(function, data, n_threads, flags);
    /* libgomp reads and writes the data itself: the function cannot be wrapped. */
    probe_stamp(PROBE_CONTEXT, clock_before(), API_GOMP_parallel, RAW_NO_OBJECT, 0,
                clamp(n_threads));
    return real_parallel_reductions(function, data, n_threads, flags);
}

/* ---- what the members of a team share ---- */

/* What they wait for and share belongs to the region; outside of any, to the thread itself. */
static uint64_t team(void) {
    return member.region != NULL ? member.region->id : RAW_NO_OBJECT;
}

/* TAKE(symbol, real, api, type, (parameters), (arguments)): takes a part of the team's work. */
#define TAKE(symbol, real_symbol, api, ret, params, args)                                          \
    PROBE_EXPORT ret symbol params {                                                               \
        if (!FIND(real_symbol, #symbol))                                                           \
            return 0;                                                                              \
        ret result = real_symbol args;                                                             \
        if (probe_recording())                                                                     \
            probe_stamp(PROBE_CONTEXT, clock_after(), API_##api, team(), 0, result != 0);          \
        return result;                                                                             \
    }
#define TAKE_KNOWN(symbol, ret, params, args) TAKE(symbol, real.symbol, symbol, ret, params, args)
#define TAKE_VARIANT(symbol, api, params, args)                                                    \
    static __typeof__(bool params) *real_##symbol;                                                 \
    TAKE(symbol, real_##symbol, api, bool, params, args)

#define START_PARAMS       (long start, long end, long step, long chunk, long *first, long *last)
#define START_ARGS         (start, end, step, chunk, first, last)
#define RUNTIME_PARAMS     (long start, long end, long step, long *first, long *last)
#define RUNTIME_ARGS       (start, end, step, first, last)
#define NEXT_PARAMS        (long *first, long *last)
#define NEXT_ARGS          (first, last)
#define ULL                unsigned long long
#define ULL_START_PARAMS   (bool up, ULL start, ULL end, ULL step, ULL chunk, ULL *first, ULL *last)
#define ULL_START_ARGS     (up, start, end, step, chunk, first, last)
#define ULL_RUNTIME_PARAMS (bool up, ULL start, ULL end, ULL step, ULL *first, ULL *last)
#define ULL_RUNTIME_ARGS   (up, start, end, step, first, last)
#define ULL_NEXT_PARAMS    (ULL * first, ULL * last)

TAKE_KNOWN(GOMP_loop_static_start, bool, START_PARAMS, START_ARGS)
TAKE_KNOWN(GOMP_loop_static_next, bool, NEXT_PARAMS, NEXT_ARGS)
TAKE_KNOWN(GOMP_loop_dynamic_start, bool, START_PARAMS, START_ARGS)
TAKE_KNOWN(GOMP_loop_dynamic_next, bool, NEXT_PARAMS, NEXT_ARGS)
TAKE_KNOWN(GOMP_loop_guided_start, bool, START_PARAMS, START_ARGS)
TAKE_KNOWN(GOMP_loop_guided_next, bool, NEXT_PARAMS, NEXT_ARGS)
TAKE_KNOWN(GOMP_loop_runtime_start, bool, RUNTIME_PARAMS, RUNTIME_ARGS)
TAKE_KNOWN(GOMP_loop_runtime_next, bool, NEXT_PARAMS, NEXT_ARGS)
TAKE_KNOWN(GOMP_sections_start, unsigned, (unsigned count), (count))
TAKE_KNOWN(GOMP_sections_next, unsigned, (void), ())
TAKE_KNOWN(GOMP_single_start, bool, (void), ())

/* Variants of a kind of loop: the prefix before the kind, start and next. */
#define TAKES(prefix, kind)                                                                        \
    TAKE_VARIANT(GOMP_loop_##prefix##kind##_start, GOMP_loop_##kind##_start, START_PARAMS,         \
                 START_ARGS)                                                                       \
    TAKE_VARIANT(GOMP_loop_##prefix##kind##_next, GOMP_loop_##kind##_next, NEXT_PARAMS, NEXT_ARGS)
#define ULL_TAKES(prefix, kind)                                                                    \
    TAKE_VARIANT(GOMP_loop_ull_##prefix##kind##_start, GOMP_loop_##kind##_start, ULL_START_PARAMS, \
                 ULL_START_ARGS)                                                                   \
    TAKE_VARIANT(GOMP_loop_ull_##prefix##kind##_next, GOMP_loop_##kind##_next, ULL_NEXT_PARAMS,    \
                 NEXT_ARGS)
#define RUNTIME_TAKES(prefix)                                                                      \
    TAKE_VARIANT(GOMP_loop_##prefix##runtime_start, GOMP_loop_runtime_start, RUNTIME_PARAMS,       \
                 RUNTIME_ARGS)                                                                     \
    TAKE_VARIANT(GOMP_loop_##prefix##runtime_next, GOMP_loop_runtime_next, NEXT_PARAMS, NEXT_ARGS)
#define ULL_RUNTIME_TAKES(prefix)                                                                  \
    TAKE_VARIANT(GOMP_loop_ull_##prefix##runtime_start, GOMP_loop_runtime_start,                   \
                 ULL_RUNTIME_PARAMS, ULL_RUNTIME_ARGS)                                             \
    TAKE_VARIANT(GOMP_loop_ull_##prefix##runtime_next, GOMP_loop_runtime_next, ULL_NEXT_PARAMS,    \
                 NEXT_ARGS)
TAKES(nonmonotonic_, dynamic)
TAKES(nonmonotonic_, guided)
TAKES(ordered_, static)
TAKES(ordered_, dynamic)
TAKES(ordered_, guided)
RUNTIME_TAKES(nonmonotonic_)
RUNTIME_TAKES(maybe_nonmonotonic_)
RUNTIME_TAKES(ordered_)
ULL_TAKES(, static)
ULL_TAKES(, dynamic)
ULL_TAKES(, guided)
ULL_TAKES(nonmonotonic_, dynamic)
ULL_TAKES(nonmonotonic_, guided)
ULL_TAKES(ordered_, static)
ULL_TAKES(ordered_, dynamic)
ULL_TAKES(ordered_, guided)
ULL_RUNTIME_TAKES()
ULL_RUNTIME_TAKES(nonmonotonic_)
ULL_RUNTIME_TAKES(maybe_nonmonotonic_)
ULL_RUNTIME_TAKES(ordered_)

/* A member that asks for its number divides work by it; so do loops with a static schedule, which
 * the compiler computes in place. Once a region is enough: some ask in every round of a loop. */
PROBE_EXPORT int omp_get_thread_num(void) {
    if (!FIND(real.omp_get_thread_num, "omp_get_thread_num"))
        return 0;
    int result = real.omp_get_thread_num();
    if (member.region != NULL && !member.knows_its_number && probe_recording()) {
        member.knows_its_number = true;
        probe_stamp(PROBE_CONTEXT, clock_after(), API_omp_get_thread_num, team(), 0, result);
    }
    return result;
}

/* ---- waiting ---- */

static struct waiting begin_wait(uint32_t context, enum api api, uint64_t object) {
    return (struct waiting){probe_begin(context, api, object, TRACE_WAITED), context, api, object};
}

#define WAIT(name, object, params, args)                                                           \
    PROBE_EXPORT void name params {                                                                \
        if (!FIND(real.name, #name))                                                               \
            return;                                                                                \
        if (!probe_recording()) {                                                                  \
            real.name args;                                                                        \
            return;                                                                                \
        }                                                                                          \
        struct waiting wait = begin_wait(PROBE_CONTEXT, API_##name, object);                       \
        struct waiting *outer = waiting;                                                           \
        waiting = &wait;                                                                           \
        real.name args;                                                                            \
        waiting = outer;                                                                           \
        probe_end(&wait.call, TRACE_WAITED, 0);                                                    \
    }
#define LEAVE(name, object, params, args)                                                          \
    PROBE_EXPORT void name params {                                                                \
        if (!FIND(real.name, #name))                                                               \
            return;                                                                                \
        if (probe_recording())                                                                     \
            probe_stamp(PROBE_CONTEXT, clock_before(), API_##name, object, 0, 0);                  \
        real.name args;                                                                            \
    }
WAIT(GOMP_barrier, team(), (void), ())
WAIT(GOMP_loop_end, team(), (void), ())
WAIT(GOMP_sections_end, team(), (void), ())
WAIT(GOMP_ordered_start, team(), (void), ())
WAIT(GOMP_taskwait, team(), (void), ())
WAIT(GOMP_taskgroup_end, team(), (void), ())

/* The critical sections without a name are one lock of the whole program, and so are all atomics.
 */
static char unnamed_critical, atomic;
WAIT(GOMP_critical_start, (uint64_t)&unnamed_critical, (void), ())
LEAVE(GOMP_critical_end, (uint64_t)&unnamed_critical, (void), ())
WAIT(GOMP_critical_name_start, (uint64_t)name, (void **name), (name))
LEAVE(GOMP_critical_name_end, (uint64_t)name, (void **name), (name))
WAIT(GOMP_atomic_start, (uint64_t)&atomic, (void), ())
LEAVE(GOMP_atomic_end, (uint64_t)&atomic, (void), ())
LEAVE(GOMP_doacross_post, team(), (long *counts), (counts))
LEAVE(GOMP_doacross_ull_post, team(), (unsigned long long *counts), (counts))
LEAVE(omp_unset_lock, (uint64_t)lock, (void *lock), (lock))

PROBE_EXPORT int omp_test_lock(void *lock) {
    if (!FIND(real.omp_test_lock, "omp_test_lock"))
        return 0;
    int result = real.omp_test_lock(lock);
    if (probe_recording())
        probe_stamp(PROBE_CONTEXT, clock_after(), API_omp_test_lock, (uint64_t)lock,
                    result == 0 ? TRACE_FAILED : 0, result);
    return result;
}

PROBE_EXPORT void omp_set_lock(void *lock) {
    if (!FIND(real.omp_set_lock, "omp_set_lock") || !FIND(real.omp_test_lock, "omp_test_lock"))
        return;
    if (!probe_recording()) {
        real.omp_set_lock(lock);
        return;
    }
    uint32_t context = PROBE_CONTEXT;
    if (real.omp_test_lock(lock) != 0) {
        probe_stamp(context, clock_after(), API_omp_set_lock, (uint64_t)lock, 0, 0);
        return;
    }
    struct probe_call call = probe_begin(context, API_omp_set_lock, (uint64_t)lock, TRACE_WAITED);
    real.omp_set_lock(lock);
    probe_end(&call, TRACE_WAITED, 0);
}

PROBE_EXPORT void *GOMP_single_copy_start(void) {
    if (!FIND(real.GOMP_single_copy_start, "GOMP_single_copy_start"))
        return NULL;
    if (!probe_recording())
        return real.GOMP_single_copy_start();
    struct probe_call call =
        probe_begin(PROBE_CONTEXT, API_GOMP_single_copy_start, team(), TRACE_WAITED);
    void *result = real.GOMP_single_copy_start();
    probe_end(&call, TRACE_WAITED, result == NULL);
    return result;
}

/* ---- tasks ---- */

/* A task's data with our own in front of it. */
struct task {
    void (*function)(void *);
    void (*copy)(void *, void *);
    void *data; /* what is copied from */
};

#define TASK_ALIGNMENT   64
#define TASK_MAX_BYTES   4096 /* of data that we are willing to copy once more */
#define TASK_KNOWN_FLAGS 31u  /* untied, final, mergeable, depend, priority; others use the data */

static bool can_wrap(long size, long alignment, unsigned flags) {
    return size >= 0 && size <= TASK_MAX_BYTES && alignment <= TASK_ALIGNMENT &&
           (flags & ~TASK_KNOWN_FLAGS) == 0;
}
_Static_assert(sizeof(struct task) <= TASK_ALIGNMENT, "the data begins at a multiple of that");

static void copy_task(void *to, void *from) {
    const struct task *task = from;
    *(struct task *)to = *task;
    task->copy((char *)to + TASK_ALIGNMENT, task->data);
}

/* Runs in whatever member of the team has time: where it was created, in a wait, or in the wait for
 * the region's end, after its own part. Such a wait is recorded in pieces, with the tasks between
 * them. */
static void run_task(void *argument) {
    const struct task *task = argument;
    void *data = (char *)argument + TASK_ALIGNMENT;
    if (!probe_recording()) {
        task->function(data);
        return;
    }
    struct waiting *wait = waiting;
    struct member outer = member;
    bool is_last = wait == NULL && outer.has_left;
    if (wait != NULL)
        probe_end(&wait->call, TRACE_WAITED, 0);
    if (is_last) {
        probe_end(&outer.leaving, TRACE_WAITED | TRACE_LEAVES | TRACE_FAILED, outer.left_size);
        member = (struct member){.region = &outer.left};
    }
    waiting = NULL;
    uint32_t context = member.region != NULL ? member.region->context : TRACE_NO_CONTEXT;
    probe_stamp(context, clock_after(), API_GOMP_task, team(), TRACE_ENTERS, 0);
    task->function(data);
    waiting = wait;
    if (wait != NULL)
        *wait = begin_wait(wait->context, wait->api, wait->object);
    if (is_last) {
        member = outer;
        leaves(&outer.left);
    }
}

PROBE_EXPORT void GOMP_task(void (*function)(void *), void *data, void (*copy)(void *, void *),
                            long size, long alignment, bool deferred, unsigned flags, void **depend,
                            int priority, void *detach) {
    if (!FIND(real.GOMP_task, "GOMP_task")) {
        function(data);
        return;
    }
    if (!probe_recording()) {
        real.GOMP_task(function, data, copy, size, alignment, deferred, flags, depend, priority,
                       detach);
        return;
    }
    probe_stamp(PROBE_CONTEXT, clock_before(), API_GOMP_task, team(), 0, deferred);
    if (!can_wrap(size, alignment, flags)) {
        real.GOMP_task(function, data, copy, size, alignment, deferred, flags, depend, priority,
                       detach);
        return;
    }
    /* libgomp copies the data before it returns. */
    _Alignas(TASK_ALIGNMENT) char room[TASK_ALIGNMENT + (copy == NULL ? (size_t)size : 0)];
    *(struct task *)room = (struct task){function, copy, data};
    if (copy == NULL && size > 0)
        memcpy(room + TASK_ALIGNMENT, data, (size_t)size);
    real.GOMP_task(run_task, room, copy == NULL ? NULL : copy_task, TASK_ALIGNMENT + size,
                   TASK_ALIGNMENT, deferred, flags, depend, priority, detach);
}
