#include "simulator/disk.h"

#include <math.h>

#include "simulator/cpu.h"
#include "simulator/draws.h"
#include "simulator/wait_account.h"
#include "simulator/wait_list.h"

/* 1 + who asks. */
static uint32_t asker_of(const struct thread *thread) {
    return 1 + (thread->reads_for ? thread->reads_for->id : thread->id);
}

/* Is the request one of which the recorded run had none? Nodes with times of their own have what
 * was recorded of just these calls. */
static bool is_unseen(const struct engine *engine, const struct shared *disk,
                      const struct thread *thread) {
    const struct plan_object *planned = engine_planned(engine, disk);
    const struct plan_node *node = &engine->plan->nodes[thread->node];
    if (node->service != PLAN_NONE || node->near != PLAN_NONE)
        return false;
    /* Who waited found all servers at work, and more is never asked for. */
    bool is_shallow = thread->waits_since_ns < 0 && disk->being_served + 1 < planned->least_depth;
    bool is_deep = planned->most_depth > 0 && disk->being_served + 1 > planned->most_depth;
    return is_shallow || is_deep ||
           (planned->never_continued && disk->last_thread == asker_of(thread));
}

/* How long a request of the thread's node takes. */
static double node_service(struct engine *engine, struct shared *disk,
                           const struct thread *thread) {
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

/* The same of one whose place is known (NULL: it is not), by how far that is from where the last
 * one ended. */
static double service_time(struct engine *engine, struct shared *disk, const struct thread *thread,
                           const struct plan_request *request) {
    const struct plan_object *planned = engine_planned(engine, disk);
    if (!request || planned->n_distances == 0)
        return node_service(engine, disk, thread);
    double distance = fabs(request->sector - disk->head);
    disk->head = request->sector + request->sectors;
    const struct plan_distance *of = &engine->plan->distances[planned->first_distance];
    int n = planned->n_distances;
    while (n > 1 && of[n - 1].least > distance)
        n--;
    return draws_one(engine, of[n - 1].service, &disk->random);
}

/* The thread's request; of a disk that serves one at a time also those that came with it, which
 * nobody else's can come between. */
static void serve(struct engine *engine, struct shared *disk, struct thread *thread) {
    const struct plan_object *planned = engine_planned(engine, disk);
    const struct plan_request *request =
        thread->request == PLAN_NONE ? NULL : &engine->plan->requests[thread->request];
    bool unseen = is_unseen(engine, disk, thread);
    disk->unseen += unseen;
    disk->last_thread = asker_of(thread);
    if (thread->waits_since_ns >= 0)
        wait_close(engine, thread, disk);
    disk->being_served++;
    double service = service_time(engine, disk, thread, request);
    if (unseen && planned->alone != PLAN_NONE)
        service = draws_one(engine, planned->alone, &disk->random);
    while (request && engine_planned(engine, disk)->servers <= 1 && thread->wanted > 1 &&
           request[1].with_previous) {
        request++;
        thread->request++;
        thread->wanted--;
        disk->operations++;
        service += service_time(engine, disk, thread, request);
    }
    heap_set(&engine->clock, thread->id, engine->now_ns + service);
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

/* ---- which call it is ---- */

/* The first of the node's calls from `place` on that has not been made; with `only_first` of those
 * that begin a row, or are in none. n_calls: there is none. */
static int find_call(const struct engine *engine, const struct plan_node *node, int place,
                     bool only_first) {
    while (place < node->n_calls &&
           (engine->is_made[node->first_call + place] ||
            (only_first && engine->plan->calls[node->first_call + place].goes_on)))
        place++;
    return place;
}

/* A thread goes on with its row, and then begins the next one. When a thread finds none to begin,
 * what is left of them is shared by all: the recorded order decides. The number of the call, or
 * n_calls. */
static int call_in_rows(struct engine *engine, const struct thread *thread,
                        const struct plan_node *node) {
    struct call_rows *rows = &engine->rows[node->rows];
    int *last =
        &engine->last_calls[(size_t)thread->id * (size_t)engine->plan->n_rows + (size_t)node->rows];
    int call = *last == PLAN_NONE ? PLAN_NONE : engine->plan->calls[*last].next;
    int place = call - node->first_call;
    if (call == PLAN_NONE && !rows->are_shared) {
        place = rows->begun = find_call(engine, node, rows->begun, true);
        rows->are_shared = place == node->n_calls;
    }
    if (rows->are_shared)
        place = rows->made = find_call(engine, node, rows->made, false);
    if (place == node->n_calls)
        return place;
    *last = node->first_call + place;
    engine->is_made[*last] = true;
    return place;
}

/* The next of those that the node lists; in the long run, or when there are no more, one of the
 * second half, when caches held what they came to hold. */
static const struct plan_call *next_call(struct engine *engine, struct thread *thread,
                                         const struct plan_node *node) {
    int place = node->n_calls, half = node->n_calls / 2;
    if (!engine->plan->is_steady && node->rows != PLAN_NONE)
        place = call_in_rows(engine, thread, node);
    else if (!engine->plan->is_steady && engine->calls_made[thread->node] < node->n_calls)
        place = engine->calls_made[thread->node]++;
    if (place == node->n_calls)
        place = half + (int)random_below(&thread->random, (uint32_t)(node->n_calls - half));
    return &engine->plan->calls[node->first_call + place];
}

/* All that the thread's task asks for there; NULL when it comes again. */
static const struct plan_call *call_of_task(struct engine *engine, const struct thread *thread,
                                            const struct plan_node *node) {
    int call = node->first_task_call + thread->task.like;
    if (engine->made_for[call] == thread->task.number)
        return NULL;
    engine->made_for[call] = thread->task.number;
    return &engine->plan->calls[call];
}

static void decide_requests(struct engine *engine, struct thread *thread) {
    const struct plan_node *node = &engine->plan->nodes[thread->node];
    const struct plan_call *call = NULL;
    thread->request = PLAN_NONE;
    thread->wanted = 0;
    if (node->first_task_call != PLAN_NONE && thread->task.like != PLAN_NONE)
        call = call_of_task(engine, thread, node);
    else if (node->n_calls > 0)
        call = next_call(engine, thread, node);
    else if (node->first_task_call == PLAN_NONE)
        thread->wanted =
            random_round(&thread->random, draws_one(engine, node->operations, &thread->random));
    if (!call)
        return;
    thread->wanted = call->n;
    thread->request = call->first;
}

/* ---- ahead ---- */

/* Is what the thread does at its node for later? With nothing to ask for it comes for what it asked
 * for so before. */
static bool is_ahead(const struct engine *engine, const struct thread *thread) {
    return engine->plan->nodes[thread->node].ahead &&
           (thread->wanted < 1 ||
            (thread->request != PLAN_NONE && engine->plan->requests[thread->request].ahead));
}

/* At most one reader is at work when the thread comes: it waits for that one here. */
static enum progress read_ahead(struct engine *engine, struct thread *thread, struct shared *disk) {
    struct thread *readers = &engine->readers[2 * (size_t)thread->id];
    bool is_first = readers[0].wanted >= 1;
    struct thread *earlier = &readers[is_first ? 0 : 1], *free_one = &readers[is_first ? 1 : 0];
    if (thread->wanted >= 1) {
        free_one->node = thread->node;
        free_one->wanted = thread->wanted;
        free_one->request = thread->request;
        submit(engine, disk, free_one);
    }
    if (earlier->wanted < 1)
        return PROGRESS_YES;
    earlier->is_awaited = true;
    thread->phase = PHASE_GRANTED;
    thread->granted = OUTCOME_YES;
    cpu_block(engine, thread);
    return PROGRESS_WAITS;
}

/* How many of the last requests of the thread's call are for later than the call: a reader of the
 * thread's makes them, if none is at work. */
static int count_ahead(const struct engine *engine, const struct thread *thread) {
    if (!engine->plan->nodes[thread->node].ahead || thread->request == PLAN_NONE)
        return 0;
    const struct thread *readers = &engine->readers[2 * (size_t)thread->id];
    if (readers[0].wanted >= 1 || readers[1].wanted >= 1)
        return 0;
    int n = (int)thread->wanted, ahead = 0;
    while (ahead < n && engine->plan->requests[thread->request + n - 1 - ahead].ahead)
        ahead++;
    return ahead;
}

/* Are the requests that the thread still has to make all there with the first of them? */
static bool is_last_batch(const struct engine *engine, const struct thread *thread) {
    for (int i = 1; i < (int)thread->wanted; i++)
        if (!engine->plan->requests[thread->request + i].with_previous)
            return false;
    return true;
}

/* The thread's next requests, and behind the last ones those that are for later. */
static void submit_next(struct engine *engine, struct shared *disk, struct thread *thread) {
    bool reads_ahead = thread->ahead > 0 && is_last_batch(engine, thread);
    int first = thread->request + (int)thread->wanted; /* of those for later */
    submit(engine, disk, thread);
    if (!reads_ahead)
        return;
    struct thread *reader = &engine->readers[2 * (size_t)thread->id];
    reader->node = thread->node;
    reader->wanted = thread->ahead;
    reader->request = first;
    thread->ahead = 0;
    submit(engine, disk, reader);
}

static bool ask(struct engine *engine, struct thread *thread, struct shared *disk) {
    if (thread->wanted < 1)
        return false;
    thread->ahead = count_ahead(engine, thread);
    thread->wanted -= thread->ahead;
    thread->phase = PHASE_GRANTED;
    thread->granted = OUTCOME_YES;
    submit_next(engine, disk, thread);
    return true;
}

bool disk_ask(struct engine *engine, struct thread *thread, struct shared *disk) {
    decide_requests(engine, thread);
    return ask(engine, thread, disk);
}

/* What is done later, one after the other, nobody waits for while there is room for it. */
static enum progress put_off(struct engine *engine, struct thread *thread, struct shared *disk) {
    const struct plan_node *node = &engine->plan->nodes[thread->node];
    double requests = draws_one(engine, node->operations, &thread->random);
    disk->promised_ns =
        fmax(disk->promised_ns, engine->now_ns) + requests * node_service(engine, disk, thread);
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
    decide_requests(engine, thread);
    if (is_ahead(engine, thread))
        return read_ahead(engine, thread, disk);
    if (!ask(engine, thread, disk))
        return PROGRESS_YES;
    cpu_block(engine, thread);
    return PROGRESS_WAITS;
}

void disk_complete_ahead(struct engine *engine, int index) {
    struct thread *reader = &engine->readers[index];
    struct shared *disk = &engine->objects[engine->plan->nodes[reader->node].object];
    if (!disk_complete(engine, reader, disk) || !reader->is_awaited)
        return;
    reader->is_awaited = false;
    cpu_wake(engine, reader->reads_for, NULL);
}

bool disk_complete(struct engine *engine, struct thread *thread, struct shared *disk) {
    if (engine_planned(engine, disk)->room_ns > 0) {
        cpu_wake(engine, thread, NULL);
        return false;
    }
    shared_touch(engine, disk);
    disk->being_served--;
    struct thread *next = disk->waiters[SIDE_TAKERS].head;
    if (next) {
        wait_list_remove(next);
        serve(engine, disk, next);
    }
    if (--thread->wanted < 1)
        return true;
    if (thread->request != PLAN_NONE)
        thread->request++;
    submit_next(engine, disk, thread);
    return false;
}

enum progress pause_thread(struct engine *engine, struct thread *thread) {
    const struct plan_node *node = &engine->plan->nodes[thread->node];
    double length = draws_one(engine, node->wait, &thread->random);
    if (node->by_clock) {
        thread->clock_ns = (isnan(thread->clock_ns) ? engine->now_ns : thread->clock_ns) + length;
        length = thread->clock_ns - engine->now_ns;
    }
    if (length <= 0)
        return PROGRESS_YES;
    thread->phase = PHASE_GRANTED;
    thread->granted = OUTCOME_YES;
    heap_set(&engine->clock, thread->id, engine->now_ns + length);
    cpu_block(engine, thread);
    return PROGRESS_WAITS;
}
