/* Loops that only look like shares or shared work. */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

static int thread_count = 2;
static long size = 1000;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t barrier;
static double total_error, *cells;
static long *counts;

static double step(double x) {
    return x / 2;
}

/* each thread has rows of its own, as many for any number of threads */
static double same_for_all(int id) {
    double sum = 0;
    for (long i = id * 100; i < (id + 1) * 100; i++) //= bound fixed
        sum += step(cells[i]);
    return sum;
}

/* a random number is not an index, even if it grew out of one */
static double by_random(int id) {
    unsigned state = 12345U + (unsigned)id;
    double sum = 0;
    long rounds;
    do { //= bound fixed
        state = state * 1103515245U + 12345U;
        rounds = (long)(state % 100);
        sum += step((double)rounds);
    } while (rounds < 90);
    for (long i = 0; i < rounds; i++) //= bound fixed
        sum += step(sum);
    return sum;
}

/* data of one thread, found by its index */
static double by_own_data(int id) {
    double sum = 0;
    for (long i = 0; i < counts[id]; i++) //= bound fixed
        sum += step(sum);
    return sum;
}

/* division by something else */
static double by_other_quotient(long width) {
    double sum = 0;
    for (long i = 0; i < size / width; i++) //= bound fixed
        sum += step(sum);
    return sum;
}

/* the threads of each of several groups: no share of the work */
static double by_group(void) {
    int groups = thread_count < 4 ? thread_count : 4;
    double sum = 0;
    for (int t = 0; t < thread_count / groups; t++) //= bound threads
        sum += step(sum);
    return sum;
}

/* one round per thread before this one */
static long prefix(int id) {
    long sum = 0;
    for (int t = 0; t < id; t++) //= bound threads
        sum += counts[t];
    return sum;
}

/* until it has converged: what others have added up decides, but nothing is taken */
static void *iterate(void *arg) {
    int id = (int)(intptr_t)arg;
    for (;;) { //= bound fixed
        double mine =
            same_for_all(id) + by_random(id) + by_own_data(id) + by_other_quotient(8) + by_group();
        pthread_mutex_lock(&lock);
        total_error += mine;
        pthread_mutex_unlock(&lock);
        pthread_barrier_wait(&barrier);
        if (total_error < 1e-6)
            break;
    }
    for (int round = 0; round < 100; round++) { //= bound fixed
        pthread_mutex_lock(&lock);
        counts[id] += prefix(id);
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

/* how far a thread is with work of its own, under a lock since others look at it */
struct worker {
    int stage, done, made_rounds, given_rounds;
    long next, end;
};
static struct worker workers[64];

static void *by_own_stage(void *arg) {
    struct worker *me = arg;
    while (me->stage < 3) { //= bound fixed
        same_for_all(me->stage);
        pthread_mutex_lock(&lock);
        me->stage = (me->stage + 1) % 4;
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

/* what others move on as well is no more its own */
static void *by_stolen(void *arg) {
    struct worker *me = arg;
    while (__sync_fetch_and_add(&me->next, 1) < me->end) //= bound shared
        same_for_all(0);
    while (__sync_fetch_and_add(&workers[0].next, 1) < workers[0].end) //= bound shared
        same_for_all(0);
    return NULL;
}

/* all threads got the same */
static void *by_common(void *arg) {
    struct worker *all = arg;
    while (all->done < 1000) { //= bound shared
        pthread_mutex_lock(&lock);
        all->done++;
        pthread_mutex_unlock(&lock);
        same_for_all(0);
    }
    return NULL;
}

/* each got a new one */
static struct worker *new_worker(void) {
    struct worker *made = calloc(1, sizeof *made);
    if (!made)
        return NULL;
    made->end = 100;
    return made;
}

static void *by_made(void *arg) {
    struct worker *me = arg;
    while (me->made_rounds < 3) { //= bound fixed
        same_for_all(0);
        pthread_mutex_lock(&lock);
        me->made_rounds++;
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

/* each call gave the same one */
static struct worker *the_worker(void) {
    static struct worker *only;
    if (!only)
        only = new_worker();
    return only;
}

static void *by_given(void *arg) {
    struct worker *me = arg;
    while (me->given_rounds < 1000) { //= bound shared
        pthread_mutex_lock(&lock);
        me->given_rounds++;
        pthread_mutex_unlock(&lock);
        same_for_all(0);
    }
    return NULL;
}

/* each case ends with the mutex locked, and the next one begins without it */
struct own {
    long left;
};

static long take_own(struct own *own) {
    long mine = own->left;
    own->left = mine - 1;
    return mine;
}

static void *by_kind(void *arg) {
    struct own own = {0};
    pthread_mutex_lock(&lock);
    for (int round = 0; round < 10; round++) { //= bound fixed
        pthread_mutex_unlock(&lock);
        switch (round % 3) {
        case 0:
            own.left += round;
            pthread_mutex_lock(&lock);
            continue;
        case 1: {
            while (take_own(&own) > 0) //= bound fixed
                same_for_all(0);
            pthread_mutex_lock(&lock);
            continue;
        }
        default:
            same_for_all(1);
        }
        pthread_mutex_lock(&lock);
    }
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void) {
    pthread_t handles[64];
    cells = calloc((size_t)size, sizeof *cells);
    counts = calloc(64, sizeof *counts);
    pthread_barrier_init(&barrier, NULL, (unsigned)thread_count); //= amount 1 0
    for (int i = 0; i < thread_count; i++)                        //= bound threads
        pthread_create(&handles[i], NULL, iterate, (void *)(intptr_t)i);
    for (int i = thread_count; i-- > 0;) //= bound threads
        pthread_join(handles[i], NULL);
    for (int i = 0; i < thread_count; i++) { //= bound threads
        struct worker *worker = &workers[i];
        pthread_create(&handles[i], NULL, by_own_stage, worker);
    }
    for (int i = 0; i < thread_count; i++) //= bound threads
        pthread_create(&handles[i], NULL, by_stolen, &workers[i]);
    for (int i = 0; i < thread_count; i++) //= bound threads
        pthread_create(&handles[i], NULL, by_common, &workers[0]);
    for (int i = 0; i < thread_count; i++) //= bound threads
        pthread_create(&handles[i], NULL, by_made, new_worker());
    for (int i = 0; i < thread_count; i++) { //= bound threads
        struct worker *given = the_worker();
        pthread_create(&handles[i], NULL, by_given, given);
    }
    for (int i = 0; i < thread_count; i++) //= bound threads
        pthread_create(&handles[i], NULL, by_kind, NULL);
    for (long i = 0; i < size; i++) //= bound fixed
        cells[i] = step(cells[i]);
    return 0;
}
