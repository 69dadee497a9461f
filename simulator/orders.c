#include "simulator/orders.h"

#include <math.h>

#include "simulator/wait_account.h"
#include "simulator/wait_list.h"
#include "simulator/waiting.h"
#include "simulator/waking.h"

/* `amount` is the next number to be drawn, `arrived` the next one to be collected. In an order in
 * rounds `arrived` is the number of passes, and a thread's steps are its turns. */

static struct held_number *held_by(const struct engine *engine, const struct thread *thread,
                                   const struct shared *object) {
    return &thread->numbers[engine_planned(engine, object)->order];
}

static double *number_of(const struct engine *engine, const struct thread *thread,
                         const struct shared *object) {
    return &held_by(engine, thread, object)->number;
}

/* The lowest number that has not passed. */
static double lowest(const struct engine *engine, const struct shared *object) {
    double low = object->amount;
    for (int i = 0; i < engine->plan->n_threads; i++)
        low = fmin(low, *number_of(engine, &engine->threads[i], object));
    return low;
}

/* In an order in steps: has the number that leads passed, or is it far enough ahead? */
static bool is_led(const struct engine *engine, const struct held_number *held,
                   const struct shared *object) {
    const struct plan_object *plan = engine_planned(engine, object);
    for (int i = 0; i < engine->plan->n_threads; i++) {
        const struct held_number *before = held_by(engine, &engine->threads[i], object);
        if (before->number == held->number - plan->distance)
            return before->steps >= held->steps + plan->lead;
    }
    return true;
}

/* In an order in groups: did another one take this number along, and has it passed? */
static bool was_led(const struct engine *engine, const struct thread *thread,
                    const struct shared *object) {
    return engine_planned(engine, object)->in_groups && thread->waits_since_ns >= 0 &&
           !isfinite(*number_of(engine, thread, object));
}

static bool is_turn(const struct engine *engine, const struct thread *thread,
                    const struct shared *object, double low) {
    const struct held_number *held = held_by(engine, thread, object);
    if (engine_planned(engine, object)->in_steps)
        return is_led(engine, held, object);
    return held->number <= low;
}

/* All who have drawn a number by now and have not passed go with the thread. */
static void lead(const struct engine *engine, struct thread *thread, struct shared *object) {
    object->led = object->amount;
    for (int i = 0; i < engine->plan->n_threads; i++)
        if (&engine->threads[i] != thread &&
            isfinite(*number_of(engine, &engine->threads[i], object)))
            thread->debt_ns += engine_planned(engine, object)->led_cpu_ns;
}

/* The kernel wakes all who were led, and is to go on at once for whose turn it is now. */
static void go_on_by_kernel(struct engine *engine, struct shared *object) {
    struct thread *next, *leader = NULL;
    double low = lowest(engine, object);
    for (struct thread *thread = object->waiters[SIDE_FIRST].head; thread; thread = next) {
        next = thread->next;
        if (was_led(engine, thread, object))
            wait_wake(engine, NULL, thread);
        else if (is_turn(engine, thread, object, low))
            leader = thread;
    }
    if (!leader)
        return;
    wait_list_remove(leader);
    wait_close(engine, leader, object);
    lead(engine, leader, object);
    leader->phase = PHASE_GRANTED;
    leader->granted = OUTCOME_YES;
    engine->kernel_leader = leader;
}

static void wake_ready(struct engine *engine, struct thread *waker, struct shared *object) {
    double low = lowest(engine, object);
    struct thread *next;
    if (engine_planned(engine, object)->by_kernel) {
        go_on_by_kernel(engine, object);
        return;
    }
    for (struct thread *thread = object->waiters[SIDE_FIRST].head; thread; thread = next) {
        next = thread->next;
        if (is_turn(engine, thread, object, low) || was_led(engine, thread, object))
            wait_wake(engine, waker, thread);
    }
    while (object->waiters[SIDE_SECOND].head && object->arrived < low)
        wait_wake(engine, waker, object->waiters[SIDE_SECOND].head);
}

static enum progress take_round(struct engine *engine, struct thread *thread,
                                struct shared *object) {
    struct held_number *held = held_by(engine, thread, object);
    if (held->steps >= object->arrived)
        return wait_for(engine, thread, object, SIDE_FIRST, PHASE_RETRY);
    held->steps++;
    return PROGRESS_YES;
}

static enum progress open_round(struct engine *engine, struct thread *thread,
                                struct shared *object) {
    shared_touch(engine, object);
    if (thread->phase != PHASE_SIGNAL)
        object->arrived++;
    return wait_wake_all(engine, thread, object, SIDE_FIRST);
}

void order_reset(struct engine *engine, struct shared *object) {
    int pool = engine_planned(engine, object)->dealt_to;
    for (int i = 0; pool != MODEL_NONE && i < engine->plan->n_threads; i++)
        if (engine->threads[i].pool == pool)
            *number_of(engine, &engine->threads[i], object) = object->amount++;
}

enum progress order_draw(struct engine *engine, struct thread *thread, struct shared *object) {
    shared_touch(engine, object);
    *held_by(engine, thread, object) = (struct held_number){object->amount++, 0};
    wake_ready(engine, thread, object); /* if it held one */
    return PROGRESS_YES;
}

static void pass_led(const struct engine *engine, const struct shared *object) {
    for (int i = 0; i < engine->plan->n_threads; i++) {
        double *number = number_of(engine, &engine->threads[i], object);
        *number = *number < object->led ? INFINITY : *number;
    }
}

enum progress order_turn(struct engine *engine, struct thread *thread, struct shared *object) {
    wait_open(engine, thread, object);
    if (engine_planned(engine, object)->in_rounds)
        return take_round(engine, thread, object);
    if (was_led(engine, thread, object))
        return PROGRESS_NO;
    if (isfinite(*number_of(engine, thread, object)) &&
        !is_turn(engine, thread, object, lowest(engine, object)))
        return wait_for(engine, thread, object, SIDE_FIRST, PHASE_RETRY);
    if (engine_planned(engine, object)->in_groups)
        lead(engine, thread, object);
    return PROGRESS_YES;
}

/* Whoever follows is told of each step, to look for himself; where all wait on one condition that
 * is broadcast, everybody is. */
enum progress order_advance(struct engine *engine, struct thread *thread, struct shared *object) {
    shared_touch(engine, object);
    struct held_number *held = held_by(engine, thread, object);
    if (thread->phase != PHASE_SIGNAL)
        held->steps++;
    if (engine_planned(engine, object)->wakes_all)
        return wait_wake_all(engine, thread, object, SIDE_FIRST);
    struct thread *next;
    for (struct thread *other = object->waiters[SIDE_FIRST].head; other; other = next) {
        next = other->next;
        if (*number_of(engine, other, object) ==
            held->number + engine_planned(engine, object)->distance)
            wait_wake(engine, thread, other);
    }
    return PROGRESS_YES;
}

static enum progress pass(struct engine *engine, struct thread *waker, struct thread *thread,
                          struct shared *object) {
    shared_touch(engine, object);
    *number_of(engine, thread, object) = INFINITY; /* and still is, in PHASE_SIGNAL */
    if (engine_planned(engine, object)->in_groups && thread->phase != PHASE_SIGNAL)
        pass_led(engine, object);
    if (!engine_planned(engine, object)->wakes_all) {
        wake_ready(engine, waker, object);
        return PROGRESS_YES;
    }
    enum progress progress = wait_wake_all(engine, waker, object, SIDE_FIRST);
    return progress == PROGRESS_YES ? wait_wake_all(engine, waker, object, SIDE_SECOND) : progress;
}

enum progress order_pass(struct engine *engine, struct thread *thread, struct shared *object) {
    if (engine_planned(engine, object)->in_rounds)
        return open_round(engine, thread, object);
    return pass(engine, thread, thread, object);
}

void order_pass_for(struct engine *engine, struct thread *thread, struct shared *object) {
    pass(engine, NULL, thread, object);
}

enum progress order_collect(struct engine *engine, struct thread *thread, struct shared *object) {
    wait_open(engine, thread, object);
    if (object->arrived >= lowest(engine, object))
        return wait_for(engine, thread, object, SIDE_SECOND, PHASE_RETRY);
    shared_touch(engine, object);
    object->arrived++;
    return PROGRESS_YES;
}

void order_leave(struct engine *engine, struct thread *thread, struct shared *object) {
    if (isfinite(*number_of(engine, thread, object)))
        pass(engine, NULL, thread, object);
}
