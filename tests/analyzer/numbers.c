/* Threads that are not told which one they are: each takes a number, first of all. Marks as in
 * share.c. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

struct item {
    struct item *next;
    double value;
};

static struct {
    pthread_mutex_t lock;
    long next_id, next_row;
    atomic_long next_helper;
} shared = {.lock = PTHREAD_MUTEX_INITIALIZER};
static long n_threads, n_rows;
static long first_row[65], owner_of[1024], kinds[64];
static struct item *own_items[64];
static double rows[1024];

static double work(double x) {
    for (int i = 0; i < 20; i++) //= bound fixed
        x = x * 0.5 + 1;
    return x;
}

static long owner(long row, long column) {
    return (row / 8 + column) % 7;
}

static double sum_between(long from, long to) {
    double sum = 0;
    for (long i = from; i < to; i++) //= bound share
        sum += work(rows[i]);
    return sum;
}

static double of_kind(long kind) {
    double sum = 0;
    for (long i = 0; i < kind; i++) //= bound fixed
        sum += work(rows[i]);
    return sum;
}

static double compute(long me) {
    double sum = 0;
    for (long i = first_row[me]; i < first_row[me + 1]; i++) //= bound share
        sum += work(rows[i]);
    long from = first_row[me], to = first_row[me + 1];
    sum += sum_between(from, to);
    for (long i = 0; i < n_rows; i++) //= bound share
        if (owner_of[i] == me)
            sum += work(rows[i]);
    for (long i = 0; i < n_rows; i++)       //= bound fixed
        for (long j = 0; j < n_rows; j++) { //= bound share
            if (owner(i, j) != me)
                continue;
            sum += work(rows[i] + rows[j]);
        }
    long place = 0;
    for (long i = 0; i < n_rows; i++) { //= bound share
        if (rows[i] < 0 || place++ % n_threads != me)
            continue;
        sum += work(rows[i]);
    }
    for (long i = 0; i < n_rows; i++) //= bound share
        if (rows[i] > 0 && owner_of[i] == me)
            sum += work(rows[i]);
    for (long i = 0; i < n_rows; i++) //= bound fixed
        if (rows[i] > 0 || owner_of[i] == me)
            sum += work(rows[i]);
    for (long i = 0; i < n_rows; i++) { //= bound fixed
        if (rows[i] < 0 && owner_of[i] != me)
            continue;
        sum += work(rows[i]);
    }
    for (struct item *item = own_items[me]; item; item = item->next) //= bound share
        sum += work(item->value);
    struct item *item = own_items[me];
    while (item != NULL) { //= bound share
        sum += work(item->value);
        item = item->next;
    }
    for (long t = 0; t < n_threads; t++) //= bound threads
        if (t != me)
            sum += rows[t];
    for (long bits = me; (bits & 1) != 0; bits >>= 1) //= bound fixed
        sum += work(sum);
    for (long i = 0; i < n_rows; i++) //= bound fixed
        if (i == me)
            sum += 1;
    return sum + of_kind(kinds[me]);
}

static void *start(void *unused) {
    long me;
    (void)unused;
    pthread_mutex_lock(&shared.lock);
    me = shared.next_id;
    shared.next_id++;
    pthread_mutex_unlock(&shared.lock);
    rows[me] = compute(me);
    return NULL;
}

static void *start_at_once(void *unused) {
    (void)unused;
    long me = atomic_fetch_add(&shared.next_helper, 1);
    me = me % n_threads;
    double sum = 0;
    for (long i = first_row[me]; i < first_row[me + 1]; i++) //= bound share
        sum += work(rows[i]);
    rows[me] = sum;
    return NULL;
}

/* Takes what there is, and is nobody in particular. */
static void *take(void *unused) {
    (void)unused;
    for (;;) { //= bound shared
        pthread_mutex_lock(&shared.lock);
        long row = shared.next_row++;
        pthread_mutex_unlock(&shared.lock);
        if (row >= n_rows)
            return NULL;
        double sum = 0;
        for (long i = row; i < n_rows; i++) //= bound fixed
            sum += work(rows[i]);
        rows[row] = sum;
    }
}

int main(int argc, char **argv) {
    pthread_t handles[64];
    n_threads = argc > 1 ? atol(argv[1]) : 2;
    n_rows = argc > 2 ? atol(argv[2]) : 100;
    for (long t = 0; t <= n_threads; t++) //= bound threads
        first_row[t] = n_rows * t / n_threads;
    for (long t = 0; t < n_threads; t++) //= bound threads
        pthread_create(&handles[t], NULL, start, NULL);
    for (long t = 0; t < n_threads; t++) //= bound threads
        pthread_join(handles[t], NULL);
    for (long t = 0; t < n_threads; t++) //= bound threads
        pthread_create(&handles[t], NULL, start_at_once, NULL);
    for (long t = 0; t < n_threads; t++) //= bound threads
        pthread_join(handles[t], NULL);
    for (long t = 0; t < n_threads; t++) //= bound threads
        pthread_create(&handles[t], NULL, take, NULL);
    for (long t = 0; t < n_threads; t++) //= bound threads
        pthread_join(handles[t], NULL);
    return 0;
}
