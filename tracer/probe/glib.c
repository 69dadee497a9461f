/* GLib's locks, conditions, queues and thread pools.
 *
 * GLib makes them of futexes and of each other, bound inside the library: nothing that we could see
 * from outside. So its functions stand in the catalog themselves, and what they call is not
 * recorded besides. The exceptions are threads: those that it makes and joins are recorded as made
 * and joined by the GLib function that the program called.
 *
 * Nothing here depends on GLib being there. Its types are opaque: only addresses count. */
#include "tracer/probe/interposer.h"

/* ---- recorded calls, quiet inside ---- */

#define KNOWN(name) FIND(real.name, #name)

/* Between the two the thread records nothing. GLib's locks are left neither by longjmp nor by
 * cancellation. */
static inline uint64_t be_quiet(void) {
    uint64_t end = probe_thread.end;
    probe_thread.quiet = true;
    probe_thread.end = 0;
    return end;
}

static inline void speak(uint64_t end) {
    probe_thread.end = end;
    probe_thread.quiet = false;
}

#define QUIETLY(statement)                                                                         \
    do {                                                                                           \
        uint64_t heard = be_quiet();                                                               \
        statement;                                                                                 \
        speak(heard);                                                                              \
    } while (0)

/* Never waits. The record is written afterwards: outside the critical section that an unlock ends.
 */
#define CALL(name, object, params, args)                                                           \
    PROBE_EXPORT void name params {                                                                \
        if (!KNOWN(name))                                                                          \
            return;                                                                                \
        if (!probe_recording()) {                                                                  \
            real.name args;                                                                        \
            return;                                                                                \
        }                                                                                          \
        uint64_t ticks = clock_before();                                                           \
        QUIETLY(real.name args);                                                                   \
        probe_stamp(PROBE_CONTEXT, ticks, API_##name, (uint64_t)(object), 0, 0);                   \
    }

/* Never waits; a result of 0 (NULL, FALSE) is a failure. */
#define ATTEMPT(name, ret, object, params, args)                                                   \
    PROBE_EXPORT ret name params {                                                                 \
        if (!KNOWN(name))                                                                          \
            return 0;                                                                              \
        if (!probe_recording())                                                                    \
            return real.name args;                                                                 \
        ret result;                                                                                \
        QUIETLY(result = real.name args);                                                          \
        probe_stamp(PROBE_CONTEXT, clock_after(), API_##name, (uint64_t)(object),                  \
                    result ? 0 : TRACE_FAILED, !result);                                           \
        return result;                                                                             \
    }

/* Waits, unless the attempt succeeds. */
#define LOCK(name, attempt, params, args)                                                          \
    PROBE_EXPORT void name params {                                                                \
        if (!KNOWN(name))                                                                          \
            return;                                                                                \
        if (!probe_recording() || !KNOWN(attempt)) {                                               \
            real.name args;                                                                        \
            return;                                                                                \
        }                                                                                          \
        uint32_t context = PROBE_CONTEXT;                                                          \
        int done;                                                                                  \
        QUIETLY(done = real.attempt args);                                                         \
        if (LIKELY(done)) {                                                                        \
            probe_stamp(context, clock_after(), API_##name, (uint64_t)lock, 0, 0);                 \
            return;                                                                                \
        }                                                                                          \
        struct probe_call call = probe_begin(context, API_##name, (uint64_t)lock, TRACE_WAITED);   \
        QUIETLY(real.name args);                                                                   \
        probe_end(&call, TRACE_WAITED, 0);                                                         \
    }

/* ---- locks and conditions ---- */

#define LOCK_PARAMS (void *lock)
#define LOCK_ARGS   (lock)
#define MUTEX(kind)                                                                                \
    CALL(kind##_init, lock, LOCK_PARAMS, LOCK_ARGS)                                                \
    CALL(kind##_clear, lock, LOCK_PARAMS, LOCK_ARGS)                                               \
    LOCK(kind##_lock, kind##_trylock, LOCK_PARAMS, LOCK_ARGS)                                      \
    ATTEMPT(kind##_trylock, int, lock, LOCK_PARAMS, LOCK_ARGS)                                     \
    CALL(kind##_unlock, lock, LOCK_PARAMS, LOCK_ARGS)
MUTEX(g_mutex)
MUTEX(g_rec_mutex)
CALL(g_rw_lock_init, lock, LOCK_PARAMS, LOCK_ARGS)
CALL(g_rw_lock_clear, lock, LOCK_PARAMS, LOCK_ARGS)
LOCK(g_rw_lock_reader_lock, g_rw_lock_reader_trylock, LOCK_PARAMS, LOCK_ARGS)
ATTEMPT(g_rw_lock_reader_trylock, int, lock, LOCK_PARAMS, LOCK_ARGS)
CALL(g_rw_lock_reader_unlock, lock, LOCK_PARAMS, LOCK_ARGS)
LOCK(g_rw_lock_writer_lock, g_rw_lock_writer_trylock, LOCK_PARAMS, LOCK_ARGS)
ATTEMPT(g_rw_lock_writer_trylock, int, lock, LOCK_PARAMS, LOCK_ARGS)
CALL(g_rw_lock_writer_unlock, lock, LOCK_PARAMS, LOCK_ARGS)

#define CONDITION_PARAMS (void *condition)
#define CONDITION_ARGS   (condition)
CALL(g_cond_init, condition, CONDITION_PARAMS, CONDITION_ARGS)
CALL(g_cond_clear, condition, CONDITION_PARAMS, CONDITION_ARGS)
CALL(g_cond_signal, condition, CONDITION_PARAMS, CONDITION_ARGS)
CALL(g_cond_broadcast, condition, CONDITION_PARAMS, CONDITION_ARGS)

PROBE_EXPORT void g_cond_wait(void *condition, void *mutex) {
    if (!KNOWN(g_cond_wait))
        return;
    if (!probe_recording()) {
        real.g_cond_wait(condition, mutex);
        return;
    }
    struct probe_call call =
        probe_begin(PROBE_CONTEXT, API_g_cond_wait, (uint64_t)condition, TRACE_WAITED);
    QUIETLY(real.g_cond_wait(condition, mutex));
    probe_end(&call, TRACE_WAITED, MUTEX_VALUE(mutex));
}

/* Waits for something or for a time to pass; a result of 0 is that the time has passed. */
#define TIMED_WAIT(name, ret, object, params, args, value)                                         \
    PROBE_EXPORT ret name params {                                                                 \
        if (!KNOWN(name))                                                                          \
            return 0;                                                                              \
        if (!probe_recording())                                                                    \
            return real.name args;                                                                 \
        struct probe_call call =                                                                   \
            probe_begin(PROBE_CONTEXT, API_##name, (uint64_t)(object), TRACE_WAITED);              \
        ret result;                                                                                \
        QUIETLY(result = real.name args);                                                          \
        probe_end(&call, TRACE_WAITED | (result ? 0 : TRACE_FAILED | TRACE_TIMEDOUT), value);      \
        return result;                                                                             \
    }
TIMED_WAIT(g_cond_wait_until, int, condition, (void *condition, void *mutex, int64_t end_us),
           (condition, mutex, end_us), MUTEX_VALUE(mutex))

/* ---- queues ---- */

#define NEW_QUEUE(name, params, args)                                                              \
    PROBE_EXPORT void *name params {                                                               \
        if (!KNOWN(name))                                                                          \
            return NULL;                                                                           \
        if (!probe_recording())                                                                    \
            return real.name args;                                                                 \
        void *result;                                                                              \
        QUIETLY(result = real.name args);                                                          \
        probe_stamp(PROBE_CONTEXT, clock_after(), API_##name, (uint64_t)result, 0, 0);             \
        return result;                                                                             \
    }
NEW_QUEUE(g_async_queue_new, (void), ())
NEW_QUEUE(g_async_queue_new_full, (void (*free_item)(void *)), (free_item))

/* A sorted push calls the program's function, which may lock. */
#define SORTED_PUSH(name)                                                                          \
    PROBE_EXPORT void name(void *queue, void *item,                                                \
                           int (*order)(const void *, const void *, void *), void *data) {         \
        if (!KNOWN(name))                                                                          \
            return;                                                                                \
        if (probe_recording())                                                                     \
            probe_stamp(PROBE_CONTEXT, clock_before(), API_##name, (uint64_t)queue, 0, 0);         \
        real.name(queue, item, order, data);                                                       \
    }

#define POP(name, attempt)                                                                         \
    PROBE_EXPORT void *name(void *queue) {                                                         \
        if (!KNOWN(name))                                                                          \
            return NULL;                                                                           \
        if (!probe_recording() || !KNOWN(attempt))                                                 \
            return real.name(queue);                                                               \
        uint32_t context = PROBE_CONTEXT;                                                          \
        void *item;                                                                                \
        QUIETLY(item = real.attempt(queue));                                                       \
        if (item != NULL) {                                                                        \
            probe_stamp(context, clock_after(), API_##name, (uint64_t)queue, 0, 0);                \
            return item;                                                                           \
        }                                                                                          \
        struct probe_call call = probe_begin(context, API_##name, (uint64_t)queue, TRACE_WAITED);  \
        QUIETLY(item = real.name(queue));                                                          \
        probe_end(&call, TRACE_WAITED, 0);                                                         \
        return item;                                                                               \
    }

#define ITEM_PARAMS (void *queue, void *item)
#define ITEM_ARGS   (queue, item)
#define QUEUE_OPERATIONS(suffix)                                                                   \
    CALL(g_async_queue_push##suffix, queue, ITEM_PARAMS, ITEM_ARGS)                                \
    CALL(g_async_queue_push_front##suffix, queue, ITEM_PARAMS, ITEM_ARGS)                          \
    SORTED_PUSH(g_async_queue_push_sorted##suffix)                                                 \
    POP(g_async_queue_pop##suffix, g_async_queue_try_pop##suffix)                                  \
    ATTEMPT(g_async_queue_try_pop##suffix, void *, queue, (void *queue), (queue))                  \
    TIMED_WAIT(g_async_queue_timeout_pop##suffix, void *, queue,                                   \
               (void *queue, uint64_t timeout_us), (queue, timeout_us),                            \
               timeout_us < INT32_MAX ? (int32_t)timeout_us : INT32_MAX)
QUEUE_OPERATIONS()
QUEUE_OPERATIONS(_unlocked)

/* There is no attempt to lock a queue: whether it waited shows in how long it took. */
PROBE_EXPORT void g_async_queue_lock(void *queue) {
    if (!KNOWN(g_async_queue_lock))
        return;
    if (!probe_recording()) {
        real.g_async_queue_lock(queue);
        return;
    }
    struct probe_call call =
        probe_begin(PROBE_CONTEXT, API_g_async_queue_lock, (uint64_t)queue, TRACE_WAITED);
    QUIETLY(real.g_async_queue_lock(queue));
    probe_end(&call, TRACE_WAITED, 0);
}
CALL(g_async_queue_unlock, queue, (void *queue), (queue))

/* ---- threads ---- */

static struct probe_behalf begin_behalf(enum api api, uint32_t context, uint64_t routine) {
    struct probe_behalf outer = probe_behalf;
    probe_behalf = (struct probe_behalf){true, api, context, routine};
    return outer;
}

#define ON_BEHALF(api, routine, statement)                                                         \
    do {                                                                                           \
        struct probe_behalf outer = begin_behalf(api, PROBE_CONTEXT, (uint64_t)(routine));         \
        statement;                                                                                 \
        probe_behalf = outer;                                                                      \
    } while (0)

#define THREAD(name, routine, params, args)                                                        \
    PROBE_EXPORT void *name params {                                                               \
        if (!KNOWN(name))                                                                          \
            return NULL;                                                                           \
        if (!probe_recording())                                                                    \
            return real.name args;                                                                 \
        void *result;                                                                              \
        ON_BEHALF(API_##name, routine, result = real.name args);                                   \
        return result;                                                                             \
    }
THREAD(g_thread_new, routine, (const char *name, void *(*routine)(void *), void *data),
       (name, routine, data))
THREAD(g_thread_try_new, routine,
       (const char *name, void *(*routine)(void *), void *data, void **error),
       (name, routine, data, error))
THREAD(g_thread_join, 0, (void *thread), (thread))

/* ---- thread pools ---- */

/* The pool's function is replaced by one of ours that belongs to the pool, so that its user data,
 * which the program may look at, stays what it is. Pools beyond the limit are not recorded. */
#define POOLS        64
#define POOL_MEMBERS 256

typedef void task_function(void *item, void *data);

struct task_pool {
    int taken;
    task_function *function;
    uint64_t object;  /* the pool's address; 0 while it is being made */
    uint32_t context; /* of what its threads do: the function, called where the pool was made */
    uint32_t n_members;
    int32_t members[POOL_MEMBERS]; /* threads that ran tasks */
};

static struct task_pool pools[POOLS];

/* The calling thread's wait for its next task. */
static _Thread_local __attribute__((tls_model("initial-exec"))) struct {
    struct task_pool *pool; /* the last one that it worked for */
    uint64_t object;        /* of that pool: places are used again */
    struct probe_call call;
} waiting;

static void join_members(struct task_pool *pool) {
    uint32_t place = __atomic_fetch_add(&pool->n_members, 1, __ATOMIC_RELAXED);
    if (place < POOL_MEMBERS)
        __atomic_store_n(&pool->members[place], probe_thread.index + 1, __ATOMIC_RELEASE);
}

static void begin_wait(struct task_pool *pool, uint64_t object) {
    waiting.call = probe_begin(pool->context, API_g_async_queue_pop, object, TRACE_WAITED);
    waiting.pool = pool;
    waiting.object = object;
}

/* A thread's first wait for the pool began with the thread; that for a pool before ended in vain.
 */
static void end_wait(struct task_pool *pool, uint64_t object) {
    bool is_first = waiting.pool == NULL;
    if (!is_first && waiting.pool == pool && waiting.object == object) {
        probe_end(&waiting.call, TRACE_WAITED, 0);
        return;
    }
    if (!is_first)
        probe_end(&waiting.call, TRACE_WAITED | TRACE_FAILED, 1);
    join_members(pool);
    begin_wait(pool, object);
    if (is_first && waiting.call.record != NULL && probe_holds(&waiting.call)) {
        waiting.call.start = probe_thread.start_ticks;
        waiting.call.record->start = waiting.call.start;
    }
    probe_end(&waiting.call, TRACE_WAITED, 0);
}

static void run_task(struct task_pool *pool, void *item, void *data) {
    uint64_t object = __atomic_load_n(&pool->object, __ATOMIC_ACQUIRE);
    bool recorded = object != 0 && probe_recording();
    if (recorded)
        end_wait(pool, object);
    pool->function(item, data);
    if (recorded && probe_recording())
        begin_wait(pool, object);
}

#define TASK(n)                                                                                    \
    static void run_task_##n(void *item, void *data) {                                             \
        run_task(&pools[0##n], item, data);                                                        \
    }
#define TASKS(n)                                                                                   \
    TASK(n##0) TASK(n##1) TASK(n##2) TASK(n##3) TASK(n##4) TASK(n##5) TASK(n##6) TASK(n##7)
#define NAMES(n)                                                                                   \
    run_task_##n##0, run_task_##n##1, run_task_##n##2, run_task_##n##3, run_task_##n##4,           \
        run_task_##n##5, run_task_##n##6, run_task_##n##7
/* In octal. */
TASKS(0)
TASKS(1)
TASKS(2)
TASKS(3)
TASKS(4)
TASKS(5)
TASKS(6)
TASKS(7)
static task_function *const run_tasks[POOLS] = {NAMES(0), NAMES(1), NAMES(2), NAMES(3),
                                                NAMES(4), NAMES(5), NAMES(6), NAMES(7)};

static struct task_pool *take_place(task_function *function, uint32_t context) {
    for (size_t i = 0; i < POOLS; i++) {
        int free_place = 0;
        if (!__atomic_compare_exchange_n(&pools[i].taken, &free_place, 1, false, __ATOMIC_ACQ_REL,
                                         __ATOMIC_RELAXED))
            continue;
        pools[i].function = function;
        pools[i].context = context_within(context, (uint64_t)function);
        pools[i].n_members = 0;
        memset(pools[i].members, 0, sizeof pools[i].members);
        return &pools[i];
    }
    return NULL;
}

static struct task_pool *find_place(const void *pool) {
    for (size_t i = 0; i < POOLS; i++)
        if (__atomic_load_n(&pools[i].object, __ATOMIC_ACQUIRE) == (uint64_t)pool)
            return &pools[i];
    return NULL;
}

static void give_place(struct task_pool *place) {
    __atomic_store_n(&place->object, 0, __ATOMIC_RELEASE);
    __atomic_store_n(&place->taken, 0, __ATOMIC_RELEASE);
}

/* Threads of a pool that is made exclusive are made with it. */
#define NEW_POOL(name, params, args, args_with)                                                    \
    PROBE_EXPORT void *name params {                                                               \
        if (!KNOWN(name))                                                                          \
            return NULL;                                                                           \
        if (!probe_recording())                                                                    \
            return real.name args;                                                                 \
        uint32_t context = PROBE_CONTEXT;                                                          \
        struct task_pool *place = take_place(task, context);                                       \
        if (place == NULL)                                                                         \
            return real.name args;                                                                 \
        task_function *stand_in = run_tasks[place - pools];                                        \
        void *result;                                                                              \
        ON_BEHALF(API_g_thread_new, task, result = real.name args_with);                           \
        if (result == NULL) {                                                                      \
            give_place(place);                                                                     \
            return NULL;                                                                           \
        }                                                                                          \
        __atomic_store_n(&place->object, (uint64_t)result, __ATOMIC_RELEASE);                      \
        probe_stamp(context, clock_after(), API_##name, (uint64_t)result, 0, 0);                   \
        return result;                                                                             \
    }
NEW_POOL(g_thread_pool_new,
         (task_function * task, void *data, int threads, int exclusive, void **error),
         (task, data, threads, exclusive, error), (stand_in, data, threads, exclusive, error))
NEW_POOL(g_thread_pool_new_full,
         (task_function * task, void *data, void (*free_item)(void *), int threads, int exclusive,
          void **error),
         (task, data, free_item, threads, exclusive, error),
         (stand_in, data, free_item, threads, exclusive, error))

/* May make a thread for the task. */
PROBE_EXPORT int g_thread_pool_push(void *pool, void *item, void **error) {
    if (!KNOWN(g_thread_pool_push))
        return 0;
    const struct task_pool *place = probe_recording() ? find_place(pool) : NULL;
    if (place == NULL)
        return real.g_thread_pool_push(pool, item, error);
    probe_stamp(PROBE_CONTEXT, clock_before(), API_g_thread_pool_push, (uint64_t)pool, 0, 0);
    int result;
    ON_BEHALF(API_g_thread_new, place->function,
              result = real.g_thread_pool_push(pool, item, error));
    return result;
}

/* Waiting for the tasks to be done is joining the threads, though they may live on for other pools.
 */
PROBE_EXPORT void g_thread_pool_free(void *pool, int at_once, int waits) {
    if (!KNOWN(g_thread_pool_free))
        return;
    struct task_pool *place = probe_recording() ? find_place(pool) : NULL;
    if (place == NULL) {
        real.g_thread_pool_free(pool, at_once, waits);
        return;
    }
    uint32_t context = PROBE_CONTEXT;
    probe_stamp(context, clock_before(), API_g_thread_pool_free, (uint64_t)pool, 0, 0);
    if (!waits) {
        real.g_thread_pool_free(pool, at_once,
                                waits); /* tasks may still run: the place is theirs */
        return;
    }
    struct probe_call call = probe_begin(context, API_g_thread_join, RAW_NO_OBJECT, TRACE_WAITED);
    QUIETLY(real.g_thread_pool_free(pool, at_once, waits));
    probe_end(&call, TRACE_WAITED, place->members[0] - 1);
    uint64_t ticks = clock_after();
    for (uint32_t i = 1; i < place->n_members && i < POOL_MEMBERS; i++)
        probe_stamp(context, ticks, API_g_thread_join, RAW_NO_OBJECT, 0, place->members[i] - 1);
    give_place(place);
}
