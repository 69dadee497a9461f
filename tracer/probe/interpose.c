/* The interposers, made from the catalog: PLAIN, TRY, TIMED and BUFFERED (formats/catalog.h). */
#include "tracer/probe/interposer.h"

#include "tracer/probe/elf.h"

struct probe_real real;

/* ---- finding the real functions ---- */

static const struct elf_wanted wanted[] = {
#define API(name, ...)     {#name, (void **)&real.name},
#define VARIANT(name, ...) {#name, (void **)&real.name},
#define BUFFERED           VARIANT
#define FUTURE             VARIANT
#define SAME(symbol, name)
#include "formats/catalog.def"
#include "tracer/probe/variants.def"
#undef API
#undef VARIANT
#undef BUFFERED
#undef FUTURE
#undef SAME
};

/* Called before main, or by the first call from a constructor that runs before ours: of an
 * allocator that locks, perhaps. Not by dlsym, which may allocate and so come back to us. */
void interpose_resolve(void) {
    static bool resolved;
    if (LIKELY(__atomic_load_n(&resolved, __ATOMIC_ACQUIRE)))
        return;
    elf_resolve(wanted, sizeof wanted / sizeof *wanted);
    process_resolve();
    system_calls_resolve();
    __atomic_store_n(&resolved, true, __ATOMIC_RELEASE);
}

/* Those of libraries that the program loads while it runs: its calls reach us whatever library they
 * are for. */
void *interpose_find(const char *name) {
    return elf_anywhere(name);
}

/* ---- attempts of TRY calls ---- */

#define PTHREAD_MUTEX_ROBUST_BIT 16 /* in glibc's __kind */

/* libc's timed forms look at the time limit before anything else, and reject a bad one even when
 * the lock is free: leave that to them. */
static inline bool is_valid_limit(const struct timespec *limit, clockid_t clock) {
    return limit != NULL && (unsigned long)limit->tv_nsec < 1000000000ul &&
           (clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC);
}
#define TRY_TIMED(limit, clock, attempt) (is_valid_limit(limit, clock) ? (attempt) : EBUSY)

/* A robust mutex is not tried: glibc's pthread_mutex_trylock leaves it locked after it said
 * ENOTRECOVERABLE (seen with 2.36), and the blocking form would wait for ever. Any other refusal
 * (in use, ours already, too deep) changes nothing, and the blocking form will say why. */
static inline int try_mutex(pthread_mutex_t *mutex) {
    bool robust = (mutex->__data.__kind & PTHREAD_MUTEX_ROBUST_BIT) != 0;
    return LIKELY(!robust) ? real.pthread_mutex_trylock(mutex) : EBUSY;
}

/* sem_wait is a cancellation point even when it does not wait. */
static inline int try_semaphore(sem_t *semaphore) {
    pthread_testcancel();
    int saved_errno = errno;
    int result = real.sem_trywait(semaphore);
    if (result != 0)
        errno = saved_errno;
    return result;
}

static inline bool is_attempt(enum api_op op) {
    return op == OP_TRYLOCK || op == OP_TRYRDLOCK || op == OP_TRYWRLOCK || op == OP_TRYACQUIRE;
}

/* ---- streams whose buffer serves a call ---- */

/* Nobody else has the stream's lock: waiting for it would be worth a record. Without system calls
 * these fields of <bits/types/struct_FILE.h> are all that libc looks at. */
static inline bool is_free(const FILE *stream) {
    const int *lock = stream ? (const int *)(const void *)stream->_lock : NULL;
    return lock && __atomic_load_n(lock, __ATOMIC_RELAXED) == 0;
}

static inline bool has_bytes(const FILE *stream, size_t size, size_t count) {
    size_t bytes;
    return is_free(stream) && !__builtin_mul_overflow(size, count, &bytes) &&
           (size_t)(stream->_IO_read_end - stream->_IO_read_ptr) >= bytes;
}

/* In a stream that is written line by line, the end is where the room begins. */
static inline bool has_room(const FILE *stream, size_t size, size_t count) {
    size_t bytes;
    return is_free(stream) && !__builtin_mul_overflow(size, count, &bytes) &&
           stream->_IO_write_end > stream->_IO_write_ptr &&
           (size_t)(stream->_IO_write_end - stream->_IO_write_ptr) >= bytes;
}

static inline bool has_line(const FILE *stream, int end) {
    return is_free(stream) && stream->_IO_read_end > stream->_IO_read_ptr &&
           memchr(stream->_IO_read_ptr, end,
                  (size_t)(stream->_IO_read_end - stream->_IO_read_ptr)) != NULL;
}

/* ---- std::future ---- */

/* It waits by syscall(2), which is not to be recorded besides. */
static bool wait_for_future(void *base, unsigned *state, unsigned until, bool limited,
                            int64_t seconds, int64_t nanoseconds, real_future_wait *real_wait) {
    uint64_t interrupted = probe_thread.future; /* by a signal whose handler waits, too */
    probe_thread.future = (uint64_t)state;
    bool done = real_wait(base, state, until, limited, seconds, nanoseconds);
    probe_thread.future = interrupted;
    return done;
}

static inline __attribute__((always_inline)) bool
future_wait(real_future_wait *real_wait, void *base, unsigned *state, unsigned until, bool limited,
            int64_t seconds, int64_t nanoseconds) {
    TIMED_BODY(API_std_future_wait, TIME, NONE, 1, bool, wait_for_future,
               (base, state, until, limited, seconds, nanoseconds, real_wait), result ? 0 : -1);
}

/* ---- the interposers ---- */

/* The record is written after the call: outside the critical section that an unlock ends. */
#define DEFINE_PLAIN(name, class_, object_, op, o, ret, params, args, value_)                      \
    PROBE_EXPORT ret name params {                                                                 \
        if (!probe_recording())                                                                    \
            return real.name args;                                                                 \
        uint64_t ticks = is_attempt(OP_##op) ? 0 : clock_before();                                 \
        int32_t seen = 0;                                                                          \
        bool has_seen = OP_##op == OP_UNLOCK && ON_##object_ == ON_MUTEX &&                        \
                        probe_watched(OBJECT(o, args), &seen);                                     \
        ret result = real.name args;                                                               \
        if (is_attempt(OP_##op))                                                                   \
            ticks = clock_after();                                                                 \
        int32_t value = (int32_t)(value_);                                                         \
        unsigned marks = OUTCOME_##object_(result, value);                                         \
        if (has_seen && marks == 0) {                                                              \
            marks = TRACE_LOOKED;                                                                  \
            value = seen;                                                                          \
        }                                                                                          \
        probe_stamp(PROBE_CONTEXT, ticks, API_##name, OBJECT(o, args), marks, value);              \
        return result;                                                                             \
    }

/* Whoever has a mutex now may have to look at what it guards. */
#define LOOK(op, object_, context, object)                                                         \
    do {                                                                                           \
        if (OP_##op == OP_LOCK && ON_##object_ == ON_MUTEX &&                                      \
            UNLIKELY(probe_thread.look == (uint64_t)(context) + 1))                                \
            probe_look(context, object);                                                           \
    } while (0)

/* The chain is looked up before the lock is taken, not in the critical section. */
#define DEFINE_TRY(name, class_, object_, op, o, ret, params, args, value_, attempt)               \
    PROBE_EXPORT ret name params {                                                                 \
        if (!probe_recording())                                                                    \
            return real.name args;                                                                 \
        uint32_t context = PROBE_CONTEXT;                                                          \
        ret result = attempt;                                                                      \
        if (LIKELY(result == 0)) {                                                                 \
            uint64_t ticks = clock_after();                                                        \
            int32_t value = (int32_t)(value_);                                                     \
            probe_stamp(context, ticks, API_##name, OBJECT(o, args),                               \
                        OUTCOME_##object_(result, value), value);                                  \
            LOOK(op, object_, context, OBJECT(o, args));                                           \
            return result;                                                                         \
        }                                                                                          \
        struct probe_call call = probe_begin(context, API_##name, OBJECT(o, args), TRACE_WAITED);  \
        result = real.name args;                                                                   \
        int32_t value = (int32_t)(value_);                                                         \
        probe_end(&call, TRACE_WAITED | OUTCOME_##object_(result, value), value);                  \
        if (result == 0)                                                                           \
            LOOK(op, object_, context, OBJECT(o, args));                                           \
        return result;                                                                             \
    }

#define DEFINE_TIMED(name, class_, object_, op, o, ret, params, args, value_)                      \
    PROBE_EXPORT ret name params {                                                                 \
        TIMED_BODY(API_##name, class_, object_, o, ret, real.name, args, value_);                  \
    }

#define DEFINE_BUFFERED(name, class_, object_, op, o, ret, params, args, value_, served)           \
    PROBE_EXPORT ret name params {                                                                 \
        if (LIKELY(real.name != NULL) && (served)) /* else some constructor calls before ours */   \
            return real.name args;                                                                 \
        TIMED_BODY(API_##name, class_, object_, o, ret, real.name, args, value_);                  \
    }

#define DEFINE_SPECIAL(...)

#define API(name, class_, object_, op, probe, o, m, a, t, ret, params, args, ...)                  \
    DEFINE_##probe(name, class_, object_, op, o, ret, params, args, __VA_ARGS__)
#include "formats/catalog.def"
#undef API

/* Declared under names of our own, since headers may declare the symbols differently. */
#define VARIANT(symbol, name, o, ret, params, args, value_)                                        \
    PROBE_EXPORT ret variant_##symbol params __asm__(#symbol);                                     \
    ret variant_##symbol params {                                                                  \
        TIMED_BODY(API_##name, IO, FILE, o, ret, real.symbol, args, value_);                       \
    }
#define BUFFERED(symbol, name, o, ret, params, args, value_, served)                               \
    PROBE_EXPORT ret variant_##symbol params __asm__(#symbol);                                     \
    ret variant_##symbol params {                                                                  \
        if (LIKELY(real.symbol != NULL) && (served))                                               \
            return real.symbol args;                                                               \
        TIMED_BODY(API_##name, IO, FILE, o, ret, real.symbol, args, value_);                       \
    }
#define FUTURE(symbol)                                                                             \
    PROBE_EXPORT bool variant_##symbol(void *, unsigned *, unsigned, bool, int64_t,                \
                                       int64_t) __asm__(#symbol);                                  \
    bool variant_##symbol(void *base, unsigned *state, unsigned value, bool limited,               \
                          int64_t seconds, int64_t nanoseconds) {                                  \
        (void)FIND(real.symbol, #symbol); /* it is there: the program called it */                 \
        return future_wait(real.symbol, base, state, value, limited, seconds, nanoseconds);        \
    }
#define SAME(symbol, name)                                                                         \
    PROBE_EXPORT extern __typeof__(name) same_##symbol __asm__(#symbol)                            \
        __attribute__((alias(#name), copy(name)));
#include "tracer/probe/variants.def"
