/* Interposers that the catalog's columns cannot express: threads, variadic functions, functions
 * without a result. */
#include "tracer/probe/interposer.h"
#include "tracer/probe/wrap.h"

#include <stdarg.h>

/* ---- creating threads ---- */

#define MAX_STARTS                                                                                 \
    2048 /* of threads that were created and have not begun; others are attached                   \
          * unnamed */

/* What a new thread must do. Taken by its creator, given back by itself. */
struct start {
    uint32_t taken;
    int32_t index;
    void *(*routine)(void *); /* or */
    thrd_start_t c11_routine;
    void *argument;
    uint64_t shown_routine; /* what the program calls it */
    uint64_t stack_bytes;   /* 0 = default */
    int32_t creator;
    uint32_t context;
};

static struct start starts[MAX_STARTS];

_Thread_local struct probe_behalf probe_behalf;

static uint32_t outer_context(struct probe_site site) {
    return probe_behalf.active ? probe_behalf.context : probe_context(site);
}

static enum api outer_api(enum api api) {
    return probe_behalf.active ? probe_behalf.api : api;
}

static struct start *new_start(struct probe_site site) {
    int32_t index = buffer_new_index();
    for (uint32_t tries = 0; tries < MAX_STARTS; tries++) {
        struct start *start = &starts[((uint32_t)index + tries) % MAX_STARTS];
        if (__atomic_exchange_n(&start->taken, 1, __ATOMIC_ACQUIRE) != 0)
            continue;
        start->index = index;
        start->creator = probe_thread.index;
        start->context = outer_context(site);
        start->stack_bytes = 0;
        return start;
    }
    return NULL;
}

static void free_start(struct start *start) {
    __atomic_store_n(&start->taken, 0, __ATOMIC_RELEASE);
}

static void attach_started(const struct start *start) {
    buffer_attach(start->index, start->creator, start->context, start->shown_routine,
                  start->stack_bytes);
    modules_note(start->shown_routine);
}

static void *run_thread(void *given) {
    struct start *start = given;
    void *(*routine)(void *) = start->routine;
    void *argument = start->argument;
    attach_started(start);
    free_start(start);
    return routine(argument);
}

static int run_c11_thread(void *given) {
    struct start *start = given;
    thrd_start_t routine = start->c11_routine;
    void *argument = start->argument;
    attach_started(start);
    free_start(start);
    return routine(argument);
}

/* `start` has been given back by the thread, if there is one. */
static void created(struct probe_call *call, const void *thread, struct start *start, int32_t index,
                    int result) {
    pthread_t handle = 0;
    if (result == 0) {
        memcpy(&handle, thread, sizeof handle);
        threads_register(handle, index, true);
        call->object = handle & RAW_NO_OBJECT;
        if (call->record != NULL && probe_holds(call))
            call->record->object = call->object;
    } else {
        free_start(start);
    }
    probe_end(call, outcome_sync(result), result == 0 ? index : -1);
}

/* Threads are followed also when they are made inside a function that hides what it calls. */

PROBE_EXPORT int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                                void *(*routine)(void *), void *argument) {
    wrap_lift();
    struct start *start = probe_recording() ? new_start(PROBE_SITE) : NULL;
    if (start == NULL) {
        wrap_lower();
        return real.pthread_create(thread, attributes, routine, argument);
    }
    start->routine = routine;
    start->shown_routine =
        probe_behalf.active && probe_behalf.routine ? probe_behalf.routine : (uint64_t)routine;
    start->argument = argument;
    int32_t index = start->index;
    if (attributes != NULL)
        pthread_attr_getstacksize(attributes, &start->stack_bytes);
    struct probe_call call =
        probe_begin(outer_context(PROBE_SITE), outer_api(API_pthread_create), RAW_NO_OBJECT, 0);
    int result = real.pthread_create(thread, attributes, run_thread, start);
    created(&call, thread, start, index, result);
    wrap_lower();
    return result;
}

PROBE_EXPORT int thrd_create(thrd_t *thread, thrd_start_t routine, void *argument) {
    wrap_lift();
    struct start *start = probe_recording() ? new_start(PROBE_SITE) : NULL;
    if (start == NULL) {
        wrap_lower();
        return real.thrd_create(thread, routine, argument);
    }
    start->c11_routine = routine;
    start->shown_routine = (uint64_t)routine;
    start->argument = argument;
    int32_t index = start->index;
    struct probe_call call = probe_begin(PROBE_CONTEXT, API_thrd_create, RAW_NO_OBJECT, 0);
    int result = real.thrd_create(thread, run_c11_thread, start);
    created(&call, thread, start, index, result);
    wrap_lower();
    return result;
}

/* ---- other threads by their handle ---- */

/* The index is looked up first: once joined, the handle may belong to a new thread. */
#define DEFINE_OTHER_THREAD(name, params, args)                                                    \
    PROBE_EXPORT int name params {                                                                 \
        int32_t other = threads_find(thread);                                                      \
        TIMED_BODY(API_##name, THREAD, THREAD, 0, int, real.name, args, other);                    \
    }
PROBE_EXPORT int pthread_join(pthread_t thread, void **value_out) {
    int32_t other = threads_find(thread);
    if (!probe_recording())
        return real.pthread_join(thread, value_out);
    struct probe_call call =
        probe_begin(outer_context(PROBE_SITE), outer_api(API_pthread_join), thread, WAITS_THREAD);
    int result = real.pthread_join(thread, value_out);
    probe_end(&call, WAITS_THREAD | outcome_sync(result), other);
    return result;
}
DEFINE_OTHER_THREAD(pthread_tryjoin_np, (pthread_t thread, void **value_out), (thread, value_out))
DEFINE_OTHER_THREAD(pthread_timedjoin_np,
                    (pthread_t thread, void **value_out, const struct timespec *limit),
                    (thread, value_out, limit))
DEFINE_OTHER_THREAD(pthread_clockjoin_np,
                    (pthread_t thread, void **value_out, clockid_t clock,
                     const struct timespec *limit),
                    (thread, value_out, clock, limit))
DEFINE_OTHER_THREAD(pthread_detach, (pthread_t thread), (thread))
DEFINE_OTHER_THREAD(thrd_join, (thrd_t thread, int *value_out), (thread, value_out))
DEFINE_OTHER_THREAD(thrd_detach, (thrd_t thread), (thread))

/* ---- signals ---- */

/* A signal may end the program, or wake who ends it, before the call comes back, and its handler
 * makes calls meanwhile: the record is written first. */
#define DEFINE_SEND(name, params, args, object, value)                                             \
    PROBE_EXPORT int name params {                                                                 \
        if (probe_recording() && number != 0)                                                      \
            probe_stamp(PROBE_CONTEXT, clock_before(), API_##name, (uint64_t)(object), 0, value);  \
        return real.name args;                                                                     \
    }
DEFINE_SEND(kill, (pid_t process, int number), (process, number), process, number)
DEFINE_SEND(sigqueue, (pid_t process, int number, const union sigval word), (process, number, word),
            process, number)
DEFINE_SEND(pthread_kill, (pthread_t thread, int number), (thread, number), thread,
            threads_find(thread))
DEFINE_SEND(pthread_sigqueue, (pthread_t thread, int number, const union sigval word),
            (thread, number, word), thread, threads_find(thread))

/* ---- functions without a result ---- */

#define STAMP_BEFORE(name, object)                                                                 \
    if (probe_recording())                                                                         \
        probe_stamp(PROBE_CONTEXT, clock_before(), API_##name, object, 0, 0);                      \
    real.name

#define TIMED_VOID(name, class_, object, args)                                                     \
    if (!probe_recording()) {                                                                      \
        real.name args;                                                                            \
        return;                                                                                    \
    }                                                                                              \
    struct probe_call call =                                                                       \
        probe_begin(PROBE_CONTEXT, API_##name, (uint64_t)(object), WAITS_##class_);                \
    real.name args;                                                                                \
    probe_end(&call, WAITS_##class_, 0)

PROBE_EXPORT void pthread_exit(void *value) {
    STAMP_BEFORE(pthread_exit, RAW_NO_OBJECT)(value);
    __builtin_unreachable();
}

PROBE_EXPORT void thrd_exit(int value) {
    STAMP_BEFORE(thrd_exit, RAW_NO_OBJECT)(value);
    __builtin_unreachable();
}

PROBE_EXPORT void mtx_destroy(mtx_t *mutex) {
    STAMP_BEFORE(mtx_destroy, (uint64_t)mutex)(mutex);
}

PROBE_EXPORT void cnd_destroy(cnd_t *condition) {
    TIMED_VOID(cnd_destroy, CREATE, condition, (condition));
}

/* ---- the lock of a stream, whose object is not its descriptor ---- */

/* As of any lock, a record with a duration says that it was not free. */
PROBE_EXPORT void flockfile(FILE *stream) {
    if (!probe_recording()) {
        real.flockfile(stream);
        return;
    }
    uint32_t context = PROBE_CONTEXT;
    if (real.ftrylockfile(stream) == 0) {
        probe_stamp(context, clock_after(), API_flockfile, (uint64_t)stream, 0, 0);
        return;
    }
    struct probe_call call = probe_begin(context, API_flockfile, (uint64_t)stream, TRACE_WAITED);
    real.flockfile(stream);
    probe_end(&call, TRACE_WAITED, 0);
}

PROBE_EXPORT int ftrylockfile(FILE *stream) {
    int result = real.ftrylockfile(stream);
    if (probe_recording())
        probe_stamp(PROBE_CONTEXT, clock_after(), API_ftrylockfile, (uint64_t)stream,
                    outcome_sync(result), result);
    return result;
}

PROBE_EXPORT void funlockfile(FILE *stream) {
    if (!probe_recording()) {
        real.funlockfile(stream);
        return;
    }
    uint64_t ticks = clock_before();
    real.funlockfile(stream);
    probe_stamp(PROBE_CONTEXT, ticks, API_funlockfile, (uint64_t)stream, 0, 0);
}

/* A once that is done is a load and a branch, and run-time libraries pass through one all the time
 * (libgcc at every throw): recorded are those that run the routine or wait for it. glibc sets this
 * bit when done. */
#define ONCE_DONE 2

static bool is_done(const int *once) {
    return (__atomic_load_n(once, __ATOMIC_ACQUIRE) & ONCE_DONE) != 0;
}

PROBE_EXPORT int pthread_once(pthread_once_t *once, void (*routine)(void)) {
    if (is_done(once))
        return 0;
    TIMED_BODY(API_pthread_once, SYNC, ONCE, 0, int, real.pthread_once, (once, routine), result);
}

PROBE_EXPORT void call_once(once_flag *once, void (*routine)(void)) {
    if (is_done(&once->__data))
        return;
    TIMED_VOID(call_once, SYNC, once, (once, routine));
}

PROBE_EXPORT void thrd_yield(void) {
    TIMED_VOID(thrd_yield, THREAD, RAW_NO_OBJECT, ());
}

/* ---- variadic functions ---- */

/* The mode is there only when a file may be made. */
static mode_t read_mode(int flags, va_list rest) {
    bool creates = (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
    return creates ? va_arg(rest, mode_t) : 0;
}

PROBE_EXPORT int open(const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    mode_t mode = read_mode(flags, rest);
    va_end(rest);
    TIMED_BODY(API_open, IO, FILE, -1, int, real.open, (path, flags, mode), result);
}

PROBE_EXPORT int openat(int directory, const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    mode_t mode = read_mode(flags, rest);
    va_end(rest);
    TIMED_BODY(API_openat, IO, FILE, -1, int, real.openat, (directory, path, flags, mode), result);
}

/* The last argument is a word in a register, whether the caller passes one or not. */
PROBE_EXPORT int semctl(int set, int number, int command, ...) {
    va_list rest;
    va_start(rest, command);
    void *word = va_arg(rest, void *);
    va_end(rest);
    int result = real.semctl(set, number, command, word);
    if (command == SETVAL && result == 0 && probe_recording())
        probe_stamp(PROBE_CONTEXT, clock_before(), API_semctl, (uint64_t)set, 0,
                    sysv_value(number, (int)(intptr_t)word));
    return result;
}

#define SAME(symbol, name)                                                                         \
    PROBE_EXPORT extern __typeof__(name) same_##symbol __asm__(#symbol)                            \
        __attribute__((alias(#name), copy(name)))
SAME(open64, open);
SAME(openat64, openat);
