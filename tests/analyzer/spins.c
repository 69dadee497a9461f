/* Loops that wait by looking again and again, and loops that look like it. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <unistd.h>

struct node {
    struct node *next;
    int value;
};

struct ring {
    _Atomic unsigned head, tail;
    void *slots[8];
};

static atomic_flag lock = ATOMIC_FLAG_INIT;
static atomic_int taken, next_item;
static volatile int ready;
static _Atomic unsigned arrived, generation;
static struct node *list;
static int limit, level;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void pause_a_while(int rounds) {
    for (int i = 0; i < rounds; i++)
        sched_yield();
}

static void flag_lock(void) {
    while (atomic_flag_test_and_set(&lock)) //= spin lock
        ;
}

static void flag_unlock(void) {
    atomic_flag_clear(&lock);
}

static void take(void) {
    int expected = 0, delay = 1;
    while (!atomic_compare_exchange_weak(&taken, &expected, 1)) { //= spin lock global:taken
        pause_a_while(delay);
        delay *= 2;
        expected = 0;
    }
}

static void give_back(void) {
    taken = 0;
}

static void wait_until_ready(void) {
    int rounds = 0;
    while (!ready && rounds++ < 100000) //= spin wait global:ready
        usleep(10);
}

static void meet(unsigned parties) {
    unsigned mine = generation;
    if (atomic_fetch_add(&arrived, 1) + 1 == parties) {
        arrived = 0;
        generation++;
        return;
    }
    for (;;) { //= spin barrier global:generation
        if (generation != mine)
            break;
        __builtin_ia32_pause();
    }
}

static void *ring_pop(struct ring *ring) {
    unsigned at = ring->head;
    if (at == ring->tail)
        return NULL;
    void *job = ring->slots[at % 8];
    return atomic_compare_exchange_strong(&ring->head, &at, at + 1) ? job : NULL;
}

static void ring_push(struct ring *ring, void *job) {
    ring->slots[ring->tail % 8] = job;
    atomic_fetch_add(&ring->tail, 1);
}

static void *next_job(struct ring *ring) {
    void *job;
    while (!(job = ring_pop(ring))) //= spin attempt struct ring.tail
        ;
    return job;
}

/* Polls, and does what it gets. */
static long work_off(struct ring *ring) {
    long done = 0;
    for (;;) { //= spin attempt struct ring.tail
        bool last = ready;
        int *job = ring_pop(ring);
        if (job)
            done += *job;
        else if (last)
            return done;
        else
            sched_yield();
    }
}

/* Not a wait: each round looks at another node. */
static int last_value(void) {
    struct node *node = list;
    while (node->next) //= spin none
        node = node->next;
    return node->value;
}

/* Not a wait: a number of rounds. */
static int add_up(const int *values) {
    int sum = 0;
    for (int i = 0; i < limit; i++) //= spin none
        sum += values[i];
    return sum;
}

/* Not a wait: it works until it is told to stop. */
static long work_until_ready(struct ring *ring) {
    long done = 0;
    while (!ready) { //= spin none
        ring->slots[0] = ring;
        done++;
    }
    return done;
}

/* Not a wait: each round takes the next item and computes. */
static unsigned hash_items(void) {
    unsigned hash = 1;
    while (atomic_fetch_add(&next_item, 1) < 8) //= spin none
        for (int i = 0; i < 100; i++)
            hash = hash * 31 + 7;
    return hash;
}

/* Waits, but where the trace sees it. */
static void wait_with_lock(void) {
    for (;;) { //= spin none
        pthread_mutex_lock(&mutex);
        bool full = level > 3;
        pthread_mutex_unlock(&mutex);
        if (full)
            break;
    }
}

static void *run(void *argument) {
    static const int values[4];
    flag_lock();
    flag_unlock();
    take();
    give_back();
    wait_until_ready();
    meet(2);
    ring_push(argument, next_job(argument));
    wait_with_lock();
    level += (int)hash_items();
    return (void *)(work_off(argument) + work_until_ready(argument) + last_value() + add_up(values));
}

int main(int argc, char **argv) {
    static struct ring ring;
    static struct node nodes[2];
    pthread_t thread;
    limit = argc;
    level = argc;
    nodes[0].next = &nodes[1];
    list = nodes;
    ready = argv != NULL;
    next_item = 0;
    pthread_create(&thread, NULL, run, &ring);
    ring_push(&ring, &ring);
    pthread_join(thread, NULL);
    return 0;
}
