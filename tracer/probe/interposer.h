/* What an interposer is made of. Included by interpose.c and special.c only. */
#ifndef PERSIK_PROBE_INTERPOSER_H
#define PERSIK_PROBE_INTERPOSER_H

#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include "formats/sysv_value.h"
#include "tracer/probe/inside.h"

/* Not <sys/socket.h>: for GNU C it declares accept and others with a transparent union, which
 * cannot be cast. */
struct sockaddr;
struct msghdr;
struct mmsghdr;

#undef fread_unlocked
#undef fwrite_unlocked

/* The C++ library's: base, word, value, limited, seconds, nanoseconds. */
typedef bool real_future_wait(void *, unsigned *, unsigned, bool, int64_t, int64_t);

/* The functions ours stand in for. */
struct probe_real {
#define API(name, class_, object_, op, probe, o, m, a, t, ret, params, ...) ret(*name) params;
#define VARIANT(symbol, name, o, ret, params, ...)                          ret(*symbol) params;
#define BUFFERED                                                            VARIANT
#define FUTURE(symbol)                                                      real_future_wait *(symbol);
#define SAME(symbol, name)
#include "formats/catalog.def"
#include "tracer/probe/variants.def"
#undef API
#undef VARIANT
#undef BUFFERED
#undef FUTURE
#undef SAME
};
extern struct probe_real real __attribute__((visibility("hidden")));

/* Makes sure that `pointer` (to a function of a library that the program need not have, or may load
 * late) is known; false: nobody defines it. Any thread may be first: all find the same. */
#define FIND(pointer, name)                                                                        \
    (LIKELY(__atomic_load_n(&(pointer), __ATOMIC_RELAXED) != NULL) ||                              \
     interpose_bind((void **)&(pointer), name))
static inline bool interpose_bind(void **pointer, const char *name) {
    void *found = interpose_find(name);
    __atomic_store_n(pointer, found, __ATOMIC_RELAXED);
    return found != NULL;
}

/* Values are 32 bits. */
static inline int32_t clamp(int64_t value) {
    return value > INT32_MAX ? INT32_MAX : value < INT32_MIN ? INT32_MIN : (int32_t)value;
}
#define CLAMP(value) clamp((int64_t)(value))

#define MUTEX_VALUE(mutex) trace_mutex_value((uint64_t)(mutex))

/* Both ends of a pipe, the one to read from in the low 16 bits; -1 where they do not fit. */
static inline int32_t pipe_ends(int result, const int ends[2]) {
    bool fits = result == 0 && ends[0] <= UINT16_MAX && ends[1] <= INT16_MAX;
    return fits ? ends[0] | ends[1] << 16 : -1;
}

/* What a call does to the semaphores of a set; -1: it failed. */
static inline int32_t sysv_operation(int result, const struct sembuf *operations, size_t count) {
    return result != 0  ? -1
           : count == 1 ? sysv_value(operations->sem_num, operations->sem_op)
                        : SYSV_SEVERAL;
}

/* fileno without its errno. NULL is every stream's fflush. */
static inline uint64_t stream_descriptor(uint64_t address) {
    const FILE *stream = (const FILE *)address;
    return stream == NULL ? RAW_NO_OBJECT : (uint64_t)(int64_t)stream->_fileno;
}

/* OBJECT(n, (arguments)): the n-th as a record's object; -1: none. The array is folded away. */
#define OBJECT_OF(x)                                                                               \
    _Generic((x), FILE * : stream_descriptor((uint64_t)(x)), default : (uint64_t)(x))
#define OBJECTS_1(x, ...) , OBJECT_OF(x) __VA_OPT__(OBJECTS_2(__VA_ARGS__))
#define OBJECTS_2(x, ...) , OBJECT_OF(x) __VA_OPT__(OBJECTS_3(__VA_ARGS__))
#define OBJECTS_3(x, ...) , OBJECT_OF(x) __VA_OPT__(OBJECTS_4(__VA_ARGS__))
#define OBJECTS_4(x, ...) , OBJECT_OF(x) __VA_OPT__(OBJECTS_5(__VA_ARGS__))
#define OBJECTS_5(x, ...) , OBJECT_OF(x) __VA_OPT__(OBJECTS_6(__VA_ARGS__))
#define OBJECTS_6(x, ...) , OBJECT_OF(x) __VA_OPT__(OBJECTS_7(__VA_ARGS__))
#define OBJECTS_7(x)      , OBJECT_OF(x)
#define OBJECTS(...)      __VA_OPT__(OBJECTS_1(__VA_ARGS__))
#define OBJECT(n, args)   (((const uint64_t[]){RAW_NO_OBJECT OBJECTS args})[(n) + 1])

/* Flags from what the call returned. */
static inline unsigned outcome_sync(int64_t result) {
    if (LIKELY(result == 0))
        return 0;
    /* C11 gives thrd_timedout; no pthread function returns EINTR, which has the same value. */
    return result == ETIMEDOUT || result == thrd_timedout ? TRACE_FAILED | TRACE_TIMEDOUT
                                                          : TRACE_FAILED;
}
static inline unsigned outcome_errno(int64_t result) {
    if (LIKELY(result >= 0))
        return 0;
    return errno == ETIMEDOUT ? TRACE_FAILED | TRACE_TIMEDOUT : TRACE_FAILED;
}
#define OUTCOME_NONE(result, value)      outcome_errno(value)
#define OUTCOME_MUTEX(result, value)     outcome_sync((intptr_t)(result))
#define OUTCOME_RWLOCK(result, value)    outcome_sync((intptr_t)(result))
#define OUTCOME_CONDITION(result, value) outcome_sync((intptr_t)(result))
#define OUTCOME_SEMAPHORE(result, value) outcome_errno((intptr_t)(result))
#define OUTCOME_BARRIER(result, value)                                                             \
    outcome_sync((result) == PTHREAD_BARRIER_SERIAL_THREAD ? 0 : (intptr_t)(result))
#define OUTCOME_SPIN(result, value)   outcome_sync((intptr_t)(result))
#define OUTCOME_ONCE(result, value)   outcome_sync((intptr_t)(result))
#define OUTCOME_THREAD(result, value) outcome_sync((intptr_t)(result))
#define OUTCOME_FILE(result, value)   outcome_errno(value)
#define OUTCOME_SOCKET(result, value) outcome_errno(value)
#define OUTCOME_QUEUE(result, value)  outcome_errno(value)

/* Which timed calls may block on other threads. */
#define WAITS_SYNC   TRACE_WAITED
#define WAITS_THREAD TRACE_WAITED
#define WAITS_TIME   TRACE_WAITED
#define WAITS_IN     TRACE_WAITED
#define WAITS_OUT    TRACE_WAITED
#define WAITS_IO     0
#define WAITS_CREATE 0

/* The body of a timed interposer. */
#define TIMED_BODY(api, class_, object_, o, ret, call_, args, value_)                              \
    if (!probe_recording())                                                                        \
        return call_ args;                                                                         \
    struct probe_call call = probe_begin(PROBE_CONTEXT, api, OBJECT(o, args), WAITS_##class_);     \
    ret result = call_ args;                                                                       \
    int32_t value = (int32_t)(value_);                                                             \
    probe_end(&call, WAITS_##class_ | OUTCOME_##object_(result, value), value);                    \
    return result

#endif
