#include "simulator/disk.h"

#include <math.h>

#include "simulator/cpu.h"
#include "simulator/draws.h"
#include "simulator/walk.h"

/* How long the request takes, which the thread's node makes. */
static double service_of(struct engine *engine, struct shared *disk, const struct thread *thread) {
    const struct plan_node *node = &engine->plan->nodes[thread->node];
    bool is_near = node->stream > 0 && node->stream == disk->last_stream;
    int draw = is_near && node->near != PLAN_NONE ? node->near : node->service;
    if (draw == PLAN_NONE)
        draw = node->near;
    bool moves = node->stream > 0 || draw == PLAN_NONE; /* a flush does not */
    disk->last_stream = moves ? node->stream : disk->last_stream;
    if (draw == PLAN_NONE)
        draw = engine_planned(engine, disk)->service;
    return draws_one(engine, draw, &disk->random);
}

static void serve(struct engine *engine, struct shared *disk, struct thread *thread) {
    if (thread->waits_since_ns >= 0)
        wait_close(engine, thread, disk);
    disk->being_served++;
    heap_set(&engine->clock, thread->id, engine->now_ns + service_of(engine, disk, thread));
}

static void submit(struct engine *engine, struct shared *disk, struct thread *thread) {
    shared_touch(engine, disk);
    disk->operations++;
    if (disk->being_served < engine_planned(engine, disk)->servers) {
        serve(engine, disk, thread);
        return;
    }
    disk->waits++;
    thread->waits_since_ns = engine->now_ns;
    wait_list_append(&disk->waiters[SIDE_TAKERS], thread);
}

bool disk_ask(struct engine *engine, struct thread *thread, struct shared *disk) {
    const struct plan_node *node = &engine->plan->nodes[thread->node];
    double requests = draws_one(engine, node->operations, &thread->random);
    thread->wanted = random_round(&thread->random, requests);
    if (thread->wanted < 1)
        return false;
    thread->phase = PHASE_GRANTED;
    thread->granted = OUTCOME_YES;
    submit(engine, disk, thread);
    return true;
}

/* What is done later, one after the other, nobody waits for while there is room for it. */
static enum progress put_off(struct engine *engine, struct thread *thread, struct shared *disk) {
    const struct plan_node *node = &engine->plan->nodes[thread->node];
    double requests = draws_one(engine, node->operations, &thread->random);
    disk->promised_ns =
        fmax(disk->promised_ns, engine->now_ns) + requests * service_of(engine, disk, thread);
    double wait_ns = disk->promised_ns - engine->now_ns - engine_planned(engine, disk)->room_ns;
    shared_touch(engine, disk);
    disk->operations++;
    if (wait_ns <= 0)
        return PROGRESS_YES;
    disk->waits++;
    disk->wait_ns += wait_ns;
    thread->phase = PHASE_GRANTED;
    thread->granted = OUTCOME_YES;
    heap_set(&engine->clock, thread->id, engine->now_ns + wait_ns);
    cpu_block(engine, thread);
    return PROGRESS_WAITS;
}

enum progress disk_access(struct engine *engine, struct thread *thread, struct shared *disk) {
    if (engine_planned(engine, disk)->room_ns > 0)
        return put_off(engine, thread, disk);
    if (!disk_ask(engine, thread, disk))
        return PROGRESS_YES;
    cpu_block(engine, thread);
    return PROGRESS_WAITS;
}

void disk_complete(struct engine *engine, struct thread *thread, struct shared *disk) {
    if (engine_planned(engine, disk)->room_ns > 0) {
        cpu_wake(engine, thread, NULL);
        return;
    }
    shared_touch(engine, disk);
    disk->being_served--;
    struct thread *next = disk->waiters[SIDE_TAKERS].head;
    if (next) {
        wait_list_remove(next);
        serve(engine, disk, next);
    }
    if (--thread->wanted >= 1)
        submit(engine, disk, thread);
    else
        walk_asleep(engine, thread);
}

enum progress pause_thread(struct engine *engine, struct thread *thread) {
    double length = draws_one(engine, engine->plan->nodes[thread->node].wait, &thread->random);
    if (length <= 0)
        return PROGRESS_YES;
    thread->phase = PHASE_GRANTED;
    thread->granted = OUTCOME_YES;
    heap_set(&engine->clock, thread->id, engine->now_ns + length);
    cpu_block(engine, thread);
    return PROGRESS_WAITS;
}
