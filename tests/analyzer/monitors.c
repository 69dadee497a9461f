/* Classic monitors made of a mutex and condition variables, each kind in a struct of its own. */
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "wrappers.h"

/* ---- bounded: a ring with a counter ---- */

struct ring {
    pthread_mutex_t mutex;
    pthread_cond_t not_full, not_empty;
    long *items;
    int head, count, capacity;
    bool closed;
};

static struct ring *ring_new(int capacity) {
    struct ring *ring = calloc(1, sizeof *ring);
    pthread_mutex_init(&ring->mutex, NULL);
    pthread_cond_init(&ring->not_full, NULL);
    pthread_cond_init(&ring->not_empty, NULL);
    ring->capacity = capacity;
    ring->items = calloc((size_t)capacity, sizeof *ring->items);
    return ring;
}

static void ring_put(struct ring *ring, long item) {
    pthread_mutex_lock(&ring->mutex);
    while (ring->count >= ring->capacity)
        pthread_cond_wait(&ring->not_full, &ring->mutex);
    ring->items[(ring->head + ring->count) % ring->capacity] = item;
    ring->count++;
    pthread_cond_signal(&ring->not_empty);
    pthread_mutex_unlock(&ring->mutex);
}

static bool ring_get(struct ring *ring, long *item) {
    pthread_mutex_lock(&ring->mutex);
    for (;;) {
        if (ring->count > 0 || ring->closed)
            break;
        pthread_cond_wait(&ring->not_empty, &ring->mutex);
    }
    bool any = ring->count > 0;
    if (any) {
        *item = ring->items[ring->head];
        ring->head = (ring->head + 1) % ring->capacity;
        ring->count--;
        pthread_cond_signal(&ring->not_full);
    }
    pthread_mutex_unlock(&ring->mutex);
    return any;
}

static void ring_close(struct ring *ring) {
    pthread_mutex_lock(&ring->mutex);
    ring->closed = true;
    pthread_cond_broadcast(&ring->not_empty);
    pthread_mutex_unlock(&ring->mutex);
}

/* ---- bounded: one slot and a flag, locks by wrappers ---- */

struct slot {
    struct guard guard;
    pthread_cond_t changed;
    long item;
    bool full;
};

static void slot_put(struct slot *slot, long item) {
    guard_enter(&slot->guard);
    while (slot->full)
        guard_wait(&slot->changed, &slot->guard.mutex);
    slot->item = item;
    slot->full = true;
    pthread_cond_broadcast(&slot->changed);
    guard_leave(&slot->guard);
}

static long slot_get(struct slot *slot) {
    guard_enter(&slot->guard);
    while (!slot->full)
        guard_wait(&slot->changed, &slot->guard.mutex);
    long item = slot->item;
    slot->full = false;
    pthread_cond_broadcast(&slot->changed);
    guard_leave(&slot->guard);
    return item;
}

/* ---- bounded: a ring with one place left empty and an "empty" flag, all by macros; workers wait
 * inside their loop, producers ask a function whether it is full ---- */

typedef struct {
    void (*function)(void *);
    void *argument;
} job;

struct crew {
    POOL_MUTEX mutex;
    pthread_cond_t push, pop;
    job *jobs;
    size_t head, tail, size;
    int empty, stop;
};

static int crew_is_full(const struct crew *crew) {
    if (crew->size > 1)
        return crew->head == (crew->tail + 1) % crew->size;
    return !crew->empty;
}

static void crew_add_internal(struct crew *crew, job job) {
    crew->empty = 0;
    crew->jobs[crew->tail] = job;
    crew->tail = (crew->tail + 1) % crew->size;
    POOL_SIGNAL(&crew->pop);
}

static void crew_add(struct crew *crew, void (*function)(void *), void *argument) {
    job job = {function, argument};
    POOL_LOCK(&crew->mutex); //= fragment pthread_mutex_lock struct crew.mutex
    while (crew_is_full(crew) && !crew->stop)
        POOL_WAIT(&crew->push, &crew->mutex); //= fragment pthread_cond_wait struct crew.push
    crew_add_internal(crew, job);
    POOL_UNLOCK(&crew->mutex);
}

static int crew_try_add(struct crew *crew, void (*function)(void *), void *argument) {
    job job = {function, argument};
    int added = 0;
    POOL_LOCK(&crew->mutex);
    if (!crew_is_full(crew)) {
        crew_add_internal(crew, job);
        added = 1;
    }
    POOL_UNLOCK(&crew->mutex);
    return added;
}

static void *crew_member(void *arg) {
    struct crew *crew = arg;
    for (;;) { //= bound shared
        POOL_LOCK(&crew->mutex);
        while (crew->empty) { //= bound unknown
            if (crew->stop) {
                POOL_UNLOCK(&crew->mutex);
                return arg;
            }
            POOL_WAIT(&crew->pop, &crew->mutex);
        }
        job job = crew->jobs[crew->head];
        crew->head = (crew->head + 1) % crew->size;
        crew->empty = crew->head == crew->tail;
        POOL_SIGNAL(&crew->push);
        POOL_UNLOCK(&crew->mutex);
        job.function(job.argument);
    }
}

static void crew_stop(struct crew *crew) {
    POOL_LOCK(&crew->mutex);
    crew->stop = 1;
    POOL_UNLOCK(&crew->mutex);
    pthread_cond_broadcast(&crew->push);
    pthread_cond_broadcast(&crew->pop);
}

/* ---- unbounded: a list ---- */

struct node {
    struct node *next;
    long value;
};

struct chain {
    pthread_mutex_t mutex;
    pthread_cond_t more;
    struct node *first;
};

static void chain_push(struct chain *chain, struct node *node) {
    pthread_mutex_lock(&chain->mutex);
    node->next = chain->first;
    chain->first = node;
    pthread_mutex_unlock(&chain->mutex);
    pthread_cond_signal(&chain->more);
}

static struct node *chain_pop(struct chain *chain) {
    pthread_mutex_lock(&chain->mutex);
    while (chain->first == NULL)
        pthread_cond_wait(&chain->more, &chain->mutex);
    struct node *node = chain->first;
    chain->first = node->next;
    pthread_mutex_unlock(&chain->mutex);
    return node;
}

/* ---- semaphore, barrier, latch, and a turnstile, which is none of them ---- */

struct permits {
    pthread_mutex_t mutex;
    pthread_cond_t some;
    int left;
};

static void permits_acquire(struct permits *permits) {
    pthread_mutex_lock(&permits->mutex);
    while (permits->left == 0)
        pthread_cond_wait(&permits->some, &permits->mutex);
    permits->left--;
    pthread_mutex_unlock(&permits->mutex);
}

static void permits_release(struct permits *permits) {
    pthread_mutex_lock(&permits->mutex);
    permits->left++;
    pthread_cond_signal(&permits->some);
    pthread_mutex_unlock(&permits->mutex);
}

struct meeting {
    pthread_mutex_t mutex;
    pthread_cond_t all_here;
    int parties, waiting, generation;
};

static void meeting_wait(struct meeting *meeting) {
    pthread_mutex_lock(&meeting->mutex);
    int generation = meeting->generation;
    if (++meeting->waiting == meeting->parties) {
        meeting->waiting = 0;
        meeting->generation++;
        pthread_cond_broadcast(&meeting->all_here);
    } else {
        while (generation == meeting->generation)
            pthread_cond_wait(&meeting->all_here, &meeting->mutex);
    }
    pthread_mutex_unlock(&meeting->mutex);
}

struct countdown {
    pthread_mutex_t mutex;
    pthread_cond_t zero;
    int left;
};

static void countdown_done(struct countdown *countdown) {
    pthread_mutex_lock(&countdown->mutex);
    if (--countdown->left == 0)
        pthread_cond_broadcast(&countdown->zero);
    pthread_mutex_unlock(&countdown->mutex);
}

static void countdown_wait(struct countdown *countdown) {
    pthread_mutex_lock(&countdown->mutex);
    while (countdown->left > 0)
        pthread_cond_wait(&countdown->zero, &countdown->mutex);
    pthread_mutex_unlock(&countdown->mutex);
}

struct turnstile {
    pthread_mutex_t mutex;
    pthread_cond_t moved;
    unsigned next;
};

static void turnstile_pass(struct turnstile *turnstile, unsigned ticket) {
    pthread_mutex_lock(&turnstile->mutex);
    while (turnstile->next < ticket)
        pthread_cond_wait(&turnstile->moved, &turnstile->mutex);
    turnstile->next++;
    pthread_cond_broadcast(&turnstile->moved);
    pthread_mutex_unlock(&turnstile->mutex);
}

/* ---- a program that uses them ---- */

static struct slot slot;
static struct chain chain;
static struct permits permits;
static struct meeting meeting;
static struct countdown countdown;
static struct turnstile turnstile;

static void *run(void *arg) {
    struct ring *ring = arg;
    long item;
    while (ring_get(ring, &item)) //= bound shared
        ring_put(ring, slot_get(&slot) + chain_pop(&chain)->value + item);
    permits_acquire(&permits);
    meeting_wait(&meeting);
    permits_release(&permits);
    turnstile_pass(&turnstile, 1);
    countdown_done(&countdown);
    return NULL;
}

int main(int argc, char **argv) {
    int threads = argc > 1 ? atoi(argv[1]) : 2;
    struct ring *ring = ring_new(64);
    struct crew crew = {.size = 5, .empty = 1, .jobs = calloc(5, sizeof(job))};
    struct node node = {.value = 1};
    pthread_t handles[64], member;
    pthread_create(&member, NULL, crew_member, &crew);
    for (int i = 0; i < threads; i++) //= bound threads
        pthread_create(&handles[i], NULL, run, ring);
    crew_add(&crew, free, NULL);
    crew_try_add(&crew, free, NULL);
    slot_put(&slot, 1);
    chain_push(&chain, &node);
    ring_close(ring);
    countdown_wait(&countdown);
    crew_stop(&crew);
    return 0;
}
