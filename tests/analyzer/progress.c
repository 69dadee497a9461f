/* Threads that go on until all of them together have done a total. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

static atomic_long done, started, reset;
static atomic_int stop;
static long total = 1000, under_lock, handed_out, plain;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static atomic_int held;
static volatile long sink;

static void work(void) {
    usleep(10);
    sink++;
}

static bool is_more(void) {
    return atomic_load(&done) < total;
}

static void until_total(void) {
    long own = 0;
    while (is_more()) { //= bound shared
        work();
        if (++own > 30) {
            atomic_fetch_add(&done, own);
            own = 0;
        }
    }
}

static void until_started(void) {
    for (;;) { //= bound shared
        work();
        started++;
        if (started >= 100)
            break;
    }
}

static void until_locked_total(void) {
    while (under_lock < total) { //= bound shared
        work();
        pthread_mutex_lock(&mutex);
        under_lock += 1;
        pthread_mutex_unlock(&mutex);
    }
}

/* Others end it: how often each goes round is not told. */
static void until_stopped(void) {
    while (!stop) //= bound unknown
        work();
}

/* What it counts is also taken back by others. */
static void while_few(void) {
    while (reset < total) { //= bound unknown
        work();
        atomic_fetch_add(&reset, 1);
    }
}

static void enter(void) {
    while (atomic_exchange(&held, 1))
        usleep(1);
}

static void leave(void) {
    atomic_store(&held, 0);
}

/* The program's own lock guards the count. */
static void by_own_lock(void) {
    for (;;) { //= bound shared
        enter();
        long mine = handed_out < 100 ? handed_out++ : -1;
        leave();
        if (mine < 0)
            break;
        work();
    }
}

/* Whatever else it moves there, by pointers. */
static struct counts { long n, next; } slots[16];

static struct counts *slot_of(long index) {
    return &slots[index % 16];
}

static void by_own_lock_with_counts(void) {
    for (;;) { //= bound shared
        enter();
        long mine = handed_out++;
        leave();
        if (mine >= total)
            break;
        work();
        enter();
        slot_of(mine)->n++;
        leave();
    }
}

/* What it takes from may be the thread's own. */
static void by_own_lock_of(struct counts *counts) {
    for (;;) { //= bound unknown
        enter();
        long mine = counts->next++;
        leave();
        if (mine >= 100)
            break;
        work();
    }
}

/* The same, where nothing looks like a lock. */
static void by_counts_of(struct counts *counts) {
    for (;;) { //= bound fixed
        long mine = counts->next++;
        if (mine >= 100)
            break;
        work();
    }
}

/* An attempt that is repeated until it comes to something takes one for each round around it. */
static atomic_long head;

static bool try_to_take(long *item) {
    long at = atomic_load(&head);
    do
        if (at >= total)
            return false;
    while (!atomic_compare_exchange_weak(&head, &at, at + 1));
    *item = at;
    return true;
}

static void by_attempts(void) {
    for (;;) { //= bound shared
        long item;
        while (!try_to_take(&item))
            usleep(1);
        if (item + 4 >= total)
            break;
        work();
    }
}

/* Its own rounds, which nobody else counts. */
static void own_rounds(void) {
    for (long i = 0; i < total; i++) { //= bound fixed
        work();
        atomic_fetch_add(&reset, 1);
    }
}

/* Its own rounds, unless all others have ended before. */
static atomic_int others;

static void while_others_run(void) {
    for (int round = 0; round < 60 && others > 0; round++) //= bound fixed
        work();
}

static void *run(void *arg) {
    until_total();
    until_started();
    until_locked_total();
    until_stopped();
    while_few();
    by_own_lock();
    by_own_lock_with_counts();
    by_own_lock_of(arg);
    by_counts_of(arg);
    by_attempts();
    own_rounds();
    while_others_run();
    plain += atomic_exchange(&reset, 0);
    return arg;
}

/* Batches of a thread each until all items are done: fewer with more threads. */
static void in_batches(int threads, int items) {
    pthread_t *ids = calloc((size_t)threads, sizeof *ids);
    for (int at = 0; at < items;) { //= bound share
        int n = 0;
        for (; n < threads && at < items; n++, at++) //= bound threads
            pthread_create(&ids[n], NULL, run, NULL);
        for (int i = 0; i < n; i++)
            pthread_join(ids[i], NULL);
    }
    free(ids);
}

int main(int argc, char **argv) {
    int threads = argc > 1 ? atoi(argv[1]) : 2;
    others = threads;
    in_batches(threads, 100);
    stop = 1;
    return 0;
}
