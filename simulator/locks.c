/* Read-write locks are handed over, as glibc's: a writer that leaves makes all waiting readers
 * holders, and the last reader that leaves the first waiting writer, before these have woken.
 * Readers are preferred (glibc's default): a reader waits only for a writer that holds the lock.
 * Where the model says so a waiting writer comes before all readers instead. With writers alone,
 * and where the lock is made by hand from a mutex and conditions, those who were woken try again.
 *
 * Waiting for a spin lock burns CPU. A waiter that is on a core gets the lock the instant it is
 * freed; one that was preempted finds out when it runs again. */
#include "simulator/locks.h"

#include <math.h>

#include "simulator/cpu.h"
#include "simulator/mutexes.h"
#include "simulator/stalls.h"
#include "simulator/wait_account.h"
#include "simulator/wait_list.h"
#include "simulator/waiting.h"
#include "simulator/waking.h"

static enum progress take_spin(struct engine *engine, struct thread *thread,
                               struct shared *object) {
    if (thread->is_spinning) {
        shared_touch(engine, object);
        wait_list_remove(thread);
        heap_remove(&engine->clock, thread->id);
        cpu_stop_spinning(engine, thread);
    }
    if (!object->owner) {
        mutex_own(engine, thread, object);
        return PROGRESS_YES;
    }
    if (object->owner == thread || thread->due_ns <= engine->now_ns)
        return object->owner == thread ? PROGRESS_YES : PROGRESS_NO;
    shared_touch(engine, object);
    if (thread->waits_since_ns < 0) {
        thread->waits_since_ns = engine->now_ns;
        object->waits++;
    }
    if (isfinite(thread->due_ns))
        heap_set(&engine->clock, thread->id, thread->due_ns);
    wait_list_append(&object->waiters[SIDE_TAKERS], thread);
    thread->phase = PHASE_RETRY;
    cpu_spin(engine, thread);
    return PROGRESS_WAITS;
}

static void free_spin(struct engine *engine, struct shared *object) {
    shared_touch(engine, object);
    object->owner = NULL;
    struct thread *waiter = object->waiters[SIDE_TAKERS].head;
    while (waiter && waiter->state != THREAD_RUNNING)
        waiter = waiter->next;
    if (!waiter)
        return;
    wait_list_remove(waiter);
    heap_remove(&engine->clock, waiter->id);
    object->owner = waiter;
    waiter->phase = PHASE_GRANTED;
    waiter->granted = OUTCOME_YES;
    cpu_stop_spinning(engine, waiter);
}

enum progress lock_take(struct engine *engine, struct thread *thread, struct shared *object) {
    wait_open(engine, thread, object);
    return object->kind == OBJECT_SPIN ? take_spin(engine, thread, object)
                                       : mutex_take(engine, thread, object);
}

enum progress lock_release(struct engine *engine, struct thread *thread, struct shared *object) {
    if (object->owner != thread)
        stall_note(engine, thread, "released by a thread that does not hold it");
    else if (object->kind == OBJECT_SPIN)
        free_spin(engine, object);
    else if (--object->depth == 0)
        mutex_free(engine, thread, object);
    return PROGRESS_YES;
}

static bool writers_wait(const struct shared *object) {
    return object->waiters[SIDE_WRITERS].n > 0 || object->announced[SIDE_WRITERS] > 0;
}

enum progress rwlock_read(struct engine *engine, struct thread *thread, struct shared *object) {
    wait_open(engine, thread, object);
    if (object->owner || (object->writers_first && writers_wait(object)))
        return wait_for(engine, thread, object, SIDE_READERS, PHASE_RETRY);
    shared_touch(engine, object);
    object->readers++;
    return PROGRESS_YES;
}

enum progress rwlock_write(struct engine *engine, struct thread *thread, struct shared *object) {
    wait_open(engine, thread, object);
    wait_drop_claim(thread, object, SIDE_WRITERS);
    if (object->owner || object->readers > 0) {
        thread->wanted = 1;
        return wait_for(engine, thread, object, SIDE_WRITERS, PHASE_RETRY);
    }
    mutex_own(engine, thread, object);
    return PROGRESS_YES;
}

/* Whoever sleeps on a lock of the library, and not on a program's condition, need not try again. */
static bool takes_over(const struct thread *sleeper) {
    return sleeper->phase == PHASE_RETRY;
}

enum progress rwlock_release(struct engine *engine, struct thread *thread, struct shared *object) {
    if (object->owner != thread && object->readers == 0) {
        stall_note(engine, thread, "released by a thread that does not hold it");
        return PROGRESS_YES;
    }
    shared_touch(engine, object);
    bool was_read = object->owner != thread;
    if (was_read)
        object->readers--;
    else
        object->owner = NULL;
    if (object->readers > 0)
        return PROGRESS_YES;
    struct thread *writer = object->waiters[SIDE_WRITERS].head;
    if (was_read && writer && takes_over(writer)) {
        mutex_own(engine, writer, object);
        wait_grant(engine, thread, writer);
        return PROGRESS_YES;
    }
    struct wait_list *readers = &object->waiters[SIDE_READERS];
    if (readers->n == 0 || (object->writers_first && writers_wait(object))) {
        wait_announce(engine, thread, object, SIDE_WRITERS, 1);
        return PROGRESS_YES;
    }
    while (readers->head)
        if (takes_over(readers->head)) {
            object->readers++;
            wait_grant(engine, thread, readers->head);
        } else {
            wait_wake(engine, thread, readers->head);
        }
    return PROGRESS_YES;
}
