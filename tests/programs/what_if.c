/* what_if ACT NUMBER...: programs whose running time follows from a few numbers, for the tests that
 * change those in the model file and compare with the program run with the changed numbers. Times
 * are in microseconds.
 *
 * - barrier A B ROUNDS: two threads sleep A and B, then meet, every round.
 * - credits SEND WORK CREDITS ITEMS WORKERS: a sender takes SEND per item and may have CREDITS items
 *   under way; a worker takes WORK and gives the credit back.
 * - mutex OUTSIDE HELD ROUNDS THREADS: each thread sleeps outside, then holding one mutex.
 * - cpu COMPUTE SLEEP ROUNDS THREADS: each thread computes, then sleeps. */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { THREADS = 64 };

static long numbers[5];

static void pass_time(long us) {
    struct timespec time = {us / 1000000, us % 1000000 * 1000};
    if (us > 0)
        nanosleep(&time, NULL);
}

static void compute(long us) {
    struct timespec start, now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &start);
    do
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    while ((now.tv_sec - start.tv_sec) * 1000000 + (now.tv_nsec - start.tv_nsec) / 1000 < us);
}

/* Runs the routine in so many threads; each gets its number. */
static void run(void *(*routine)(void *), long count) {
    pthread_t threads[THREADS];
    for (long i = 0; i < count; i++)
        pthread_create(&threads[i], NULL, routine, (void *)(intptr_t)i);
    for (long i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
}

/* ---- barrier ---- */

static pthread_barrier_t meeting;

static void *first(void *argument) {
    for (long i = 0; i < numbers[2]; i++) {
        pass_time(numbers[0]); /* the first sleeps */
        pthread_barrier_wait(&meeting);
    }
    return argument;
}

static void *second(void *argument) {
    for (long i = 0; i < numbers[2]; i++) {
        pass_time(numbers[1]); /* the second sleeps */
        pthread_barrier_wait(&meeting);
    }
    return argument;
}

static void act_barrier(void) {
    pthread_t threads[2];
    pthread_barrier_init(&meeting, NULL, 2);
    pthread_create(&threads[0], NULL, first, NULL);
    pthread_create(&threads[1], NULL, second, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    pthread_barrier_destroy(&meeting);
}

/* ---- credits ---- */

static struct {
    pthread_mutex_t mutex;
    pthread_cond_t returned;
    long left;
} credits = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0};

static struct {
    pthread_mutex_t mutex;
    pthread_cond_t arrived;
    long items;
    bool closed;
} inbox = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, false};

static void take_credit(void) {
    pthread_mutex_lock(&credits.mutex);
    while (credits.left == 0)
        pthread_cond_wait(&credits.returned, &credits.mutex);
    credits.left--;
    pthread_mutex_unlock(&credits.mutex);
}

static void return_credit(void) {
    pthread_mutex_lock(&credits.mutex);
    credits.left++;
    pthread_cond_signal(&credits.returned);
    pthread_mutex_unlock(&credits.mutex);
}

static void put_item(void) {
    pthread_mutex_lock(&inbox.mutex);
    inbox.items++;
    pthread_cond_signal(&inbox.arrived);
    pthread_mutex_unlock(&inbox.mutex);
}

static bool get_item(void) {
    pthread_mutex_lock(&inbox.mutex);
    while (inbox.items == 0 && !inbox.closed)
        pthread_cond_wait(&inbox.arrived, &inbox.mutex);
    bool got = inbox.items > 0;
    if (got)
        inbox.items--;
    pthread_mutex_unlock(&inbox.mutex);
    return got;
}

static void close_inbox(void) {
    pthread_mutex_lock(&inbox.mutex);
    inbox.closed = true;
    pthread_cond_broadcast(&inbox.arrived);
    pthread_mutex_unlock(&inbox.mutex);
}

static void *work(void *argument) {
    while (get_item()) {
        pass_time(numbers[1]);
        return_credit();
    }
    return argument;
}

static void *send_all(void *argument) {
    for (long i = 0; i < numbers[3]; i++) {
        pass_time(numbers[0]); /* the sender takes */
        take_credit();
        put_item();
    }
    close_inbox();
    return argument;
}

static void act_credits(void) {
    pthread_t sender;
    credits.left = numbers[2];
    pthread_create(&sender, NULL, send_all, NULL);
    run(work, numbers[4]);
    pthread_join(sender, NULL);
}

/* ---- mutex, cpu ---- */

static pthread_mutex_t hot = PTHREAD_MUTEX_INITIALIZER;

static void *use_lock(void *argument) {
    for (long i = 0; i < numbers[2]; i++) {
        pass_time(numbers[0]);
        pthread_mutex_lock(&hot);
        pass_time(numbers[1]); /* holding the lock */
        pthread_mutex_unlock(&hot);
    }
    return argument;
}

static void *compute_and_sleep(void *argument) {
    for (long i = 0; i < numbers[2]; i++) {
        compute(numbers[0]);
        pass_time(numbers[1]);
    }
    return argument;
}

int main(int argc, char **argv) {
    for (int i = 2; i < argc && i < 7; i++)
        numbers[i - 2] = strtol(argv[i], NULL, 10);
    const char *act = argc > 1 ? argv[1] : "";
    long count = strcmp(act, "credits") == 0 ? numbers[4] : numbers[3];
    bool fits = count <= THREADS;
    if (strcmp(act, "barrier") == 0 && argc == 5)
        act_barrier();
    else if (strcmp(act, "credits") == 0 && argc == 7 && fits)
        act_credits();
    else if (strcmp(act, "mutex") == 0 && argc == 6 && fits)
        run(use_lock, count);
    else if (strcmp(act, "cpu") == 0 && argc == 6 && fits)
        run(compute_and_sleep, count);
    else {
        fprintf(stderr, "usage: what_if barrier|credits|mutex|cpu NUMBER...\n");
        return 2;
    }
    return 0;
}
