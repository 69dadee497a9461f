/* what_if ACT NUMBER...: programs whose running time follows from a few numbers, for the tests that
 * change those in the model file and compare with the program run with the changed numbers. Times
 * are in microseconds.
 *
 * - barrier A B ROUNDS: two threads sleep A and B, then meet, every round.
 * - credits SEND WORK CREDITS ITEMS WORKERS: a sender takes SEND per item and may have CREDITS
 * items under way; a worker takes WORK and gives the credit back.
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

/* As the command line gives them. */
static long first_us, second_us, send_us, work_us, outside_us, held_us, compute_us, sleep_us;
static long rounds, credit_limit, n_items, n_threads;

static long number(const char *text) {
    return strtol(text, NULL, 10);
}

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
    count = count < THREADS ? count : THREADS;
    for (long i = 0; i < count; i++)
        pthread_create(&threads[i], NULL, routine, (void *)(intptr_t)i);
    for (long i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
}

/* ---- barrier ---- */

static pthread_barrier_t meeting;

static void *first(void *argument) {
    for (long i = 0; i < rounds; i++) {
        pass_time(first_us); /* the first sleeps */
        pthread_barrier_wait(&meeting);
    }
    return argument;
}

static void *second(void *argument) {
    for (long i = 0; i < rounds; i++) {
        pass_time(second_us); /* the second sleeps */
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
        pass_time(work_us);
        return_credit();
    }
    return argument;
}

static void *send_all(void *argument) {
    for (long i = 0; i < n_items; i++) {
        pass_time(send_us); /* the sender takes */
        take_credit();
        put_item();
    }
    close_inbox();
    return argument;
}

static void act_credits(void) {
    pthread_t sender;
    credits.left = credit_limit;
    pthread_create(&sender, NULL, send_all, NULL);
    run(work, n_threads);
    pthread_join(sender, NULL);
}

/* ---- mutex, cpu ---- */

static pthread_mutex_t hot = PTHREAD_MUTEX_INITIALIZER;

static void *use_lock(void *argument) {
    for (long i = 0; i < rounds; i++) {
        pass_time(outside_us);
        pthread_mutex_lock(&hot);
        pass_time(held_us); /* holding the lock */
        pthread_mutex_unlock(&hot);
    }
    return argument;
}

static void *compute_and_sleep(void *argument) {
    for (long i = 0; i < rounds; i++) {
        compute(compute_us);
        pass_time(sleep_us);
    }
    return argument;
}

/* Each act has numbers of its own. */
static bool start_act(char **argv, int argc) {
    const char *act = argc > 1 ? argv[1] : "";
    if (strcmp(act, "barrier") == 0 && argc == 5) {
        first_us = number(argv[2]);
        second_us = number(argv[3]);
        rounds = number(argv[4]);
        act_barrier();
    } else if (strcmp(act, "credits") == 0 && argc == 7) {
        send_us = number(argv[2]);
        work_us = number(argv[3]);
        credit_limit = number(argv[4]);
        n_items = number(argv[5]);
        n_threads = number(argv[6]);
        act_credits();
    } else if (strcmp(act, "mutex") == 0 && argc == 6) {
        outside_us = number(argv[2]);
        held_us = number(argv[3]);
        rounds = number(argv[4]);
        n_threads = number(argv[5]);
        run(use_lock, n_threads);
    } else if (strcmp(act, "cpu") == 0 && argc == 6) {
        compute_us = number(argv[2]);
        sleep_us = number(argv[3]);
        rounds = number(argv[4]);
        n_threads = number(argv[5]);
        run(compute_and_sleep, n_threads);
    } else {
        return false;
    }
    return true;
}

int main(int argc, char **argv) {
    if (start_act(argv, argc))
        return 0;
    fprintf(stderr, "usage: what_if barrier|credits|mutex|cpu NUMBER...\n");
    return 2;
}
