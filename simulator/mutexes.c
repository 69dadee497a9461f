/* Mutexes barge, as glibc's: unlocking frees the mutex and wakes one waiter, and whoever runs first
 * gets it. Its futex word has three values: free, taken, taken with somebody waiting. A thread that
 * has to wait sets the third, and so does one that was woken, since others may wait beside it; an
 * unlock that finds the third wakes one waiter. So between a wake-up and the moment when the woken
 * thread runs, unlocking wakes nobody else unless another thread has come to wait meanwhile.
 * Taking a mutex twice nests, since the program that was measured did not hang there. */
#include "simulator/mutexes.h"

#include <math.h>

#include "simulator/cpu.h"
#include "simulator/wait_account.h"
#include "simulator/wait_list.h"
#include "simulator/waking.h"

void mutex_own(const struct engine *engine, struct thread *thread, struct shared *object) {
    shared_touch(engine, object);
    object->owner = thread;
    object->depth = 1;
}

/* Mutexes are waited for both as an operation of their own and at the end of a wait inside a
 * monitor; the latter has a wait of its own going on, hence separate fields. */
static bool try_mutex(struct engine *engine, struct thread *thread, struct shared *mutex) {
    if (mutex->owner == thread) {
        mutex->depth++;
        return true;
    }
    if (mutex->owner)
        return false;
    mutex_own(engine, thread, mutex);
    mutex->is_contended = thread->locks_since_ns >= 0;
    return true;
}

static void close_mutex_wait(struct engine *engine, struct thread *thread, struct shared *mutex) {
    if (thread->locks_since_ns < 0)
        return;
    mutex->wait_ns += engine->now_ns - thread->locks_since_ns;
    thread->locks_since_ns = -1;
}

static void wait_for_mutex(struct engine *engine, struct thread *thread, struct shared *mutex) {
    shared_touch(engine, mutex);
    mutex->is_contended = true;
    if (thread->locks_since_ns < 0) {
        thread->locks_since_ns = engine->now_ns;
        mutex->waits++;
    }
    wait_list_append(&mutex->waiters[SIDE_TAKERS], thread);
    cpu_block(engine, thread);
}

enum progress mutex_take(struct engine *engine, struct thread *thread, struct shared *mutex) {
    bool taken = try_mutex(engine, thread, mutex);
    if (taken || thread->due_ns <= engine->now_ns) {
        close_mutex_wait(engine, thread, mutex);
        return taken ? PROGRESS_YES : PROGRESS_NO;
    }
    thread->phase = PHASE_RETRY;
    if (isfinite(thread->due_ns))
        heap_set(&engine->clock, thread->id, thread->due_ns);
    wait_for_mutex(engine, thread, mutex);
    return PROGRESS_WAITS;
}

bool mutex_retake(struct engine *engine, struct thread *thread, struct shared *mutex) {
    if (thread->locks_since_ns < 0)
        mutex->operations++;
    if (try_mutex(engine, thread, mutex)) {
        mutex->is_contended = true; /* other waiters may have been moved here with it */
        close_mutex_wait(engine, thread, mutex);
        return true;
    }
    wait_for_mutex(engine, thread, mutex);
    return false;
}

void mutex_free(struct engine *engine, struct thread *thread, struct shared *mutex) {
    shared_touch(engine, mutex);
    mutex->owner = NULL;
    struct thread *sleeper = mutex->waiters[SIDE_TAKERS].head;
    if (sleeper && mutex->is_contended)
        wait_wake(engine, thread, sleeper);
    mutex->is_contended = false;
}

void mutex_give_up(struct engine *engine, struct thread *thread, struct shared *mutex) {
    if (mutex->owner == thread)
        mutex_free(engine, thread, mutex);
}
