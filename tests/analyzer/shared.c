/* Work that is taken, first come, first served, and what merely resembles it. */
#include <mqueue.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

struct node {
    struct node *next;
    long value;
};

struct list {
    pthread_mutex_t mutex;
    struct node *head;
    long taken;
};

static struct list list = {.mutex = PTHREAD_MUTEX_INITIALIZER};
static pthread_mutex_t counter_mutex = PTHREAD_MUTEX_INITIALIZER;
static long next_item, limit = 1000, results[1000];
static long next_chunk, used, capacity = 1000, row_height = 8;
static struct rows { long next, end; } all_rows[2] = {{0, 100}, {100, 200}};
static atomic_long next_atomic, largest, sum;
static long next_sync, next_builtin;
static mqd_t queue;
static bool quit;

static void work(long item) {
    results[item % limit] += item;
}

static struct node *take(void) {
    pthread_mutex_lock(&list.mutex);
    struct node *node = list.head;
    if (node)
        list.head = node->next;
    pthread_mutex_unlock(&list.mutex);
    return node;
}

static struct node *take_wrapped(void) {
    return take();
}

static bool take_into(long *value) {
    struct node *node = take_wrapped();
    if (!node)
        return false;
    *value = node->value;
    return true;
}

static bool put(long value) {
    struct node *node = malloc(sizeof *node);
    if (!node)
        return false;
    node->value = value;
    pthread_mutex_lock(&list.mutex);
    node->next = list.head;
    list.head = node;
    pthread_mutex_unlock(&list.mutex);
    return true;
}

static void under_lock(void) {
    for (;;) { //= bound shared
        pthread_mutex_lock(&counter_mutex);
        long i = next_item++;
        pthread_mutex_unlock(&counter_mutex);
        if (i >= limit)
            break;
        work(i);
    }
}

static void under_lock_both_ways(void) {
    bool done = false;
    while (!done) { //= bound shared
        long i = 0;
        pthread_mutex_lock(&counter_mutex);
        if (next_item < limit)
            i = next_item++;
        else
            done = true;
        pthread_mutex_unlock(&counter_mutex);
        work(i);
    }
}

static void by_result(void) {
    struct node *node;
    while ((node = take_wrapped()) != NULL) //= bound shared
        work(node->value);
}

static void by_parameter(void) {
    long value;
    while (take_into(&value)) //= bound shared
        work(value);
}

static void until_told(void) {
    while (!quit) { //= bound shared
        struct node *node = take();
        if (node)
            work(node->value);
    }
}

static bool is_all_done(void) {
    pthread_mutex_lock(&list.mutex);
    bool done = list.taken == limit;
    pthread_mutex_unlock(&list.mutex);
    return done;
}

static bool try_work(long value) {
    work(value);
    return value > 0;
}

/* Whoever got nothing asks whether there will be more. */
static void until_all_done(void) {
    bool done = false;
    while (!done) { //= bound shared
        struct node *node = take();
        if (NULL == node)
            done = is_all_done();
        else
            work(node->value);
    }
}

/* What is done with a piece ends the loop, not that there are no more. */
static void until_one_fails(void) {
    bool good = true;
    while (good) { //= bound fixed
        struct node *node = take();
        if (node)
            good = try_work(node->value);
    }
}

/* Several at a time, as many as the caller says. */
static void in_chunks(long chunk) {
    for (;;) { //= bound shared
        pthread_mutex_lock(&counter_mutex);
        long first = next_chunk;
        next_chunk += chunk;
        pthread_mutex_unlock(&counter_mutex);
        if (first >= limit)
            break;
        for (long i = first; i < first + chunk; i++) //= bound fixed
            work(i);
    }
}

static bool next_row(struct rows *rows, long *row, long height) {
    if (rows->next >= rows->end)
        return false;
    *row = rows->next;
    rows->next += height;
    return true;
}

/* Where the caller has the mutex, and its own rows are tried before those of others. */
static void by_rows(struct rows *mine) {
    bool none_left = false;
    while (1) { //= bound shared
        long row = -1;
        pthread_mutex_lock(&counter_mutex);
        if (!next_row(mine, &row, row_height))
            none_left = !next_row(&all_rows[0], &row, row_height);
        pthread_mutex_unlock(&counter_mutex);
        if (none_left)
            break;
        work(row);
    }
}

/* Room for the results of so many rounds is no work that is taken. */
static void with_room(long size) {
    for (long i = 0; i < limit; i++) { //= bound fixed
        pthread_mutex_lock(&counter_mutex);
        long place = used;
        used += size;
        pthread_mutex_unlock(&counter_mutex);
        if (place + size > capacity)
            break;
        results[place] = i;
    }
}

static void atomics(void) {
    long i;
    while ((i = atomic_fetch_add(&next_atomic, 10)) < limit) //= bound shared
        for (long k = i; k < i + 10; k++)                    //= bound fixed
            work(k);
    while ((i = next_atomic++) < limit) //= bound shared
        work(i);
    for (i = __sync_fetch_and_add(&next_sync, 1); i < limit; //= bound shared
         i = __sync_fetch_and_add(&next_sync, 1))
        work(i);
    do { //= bound shared
        i = __atomic_fetch_add(&next_builtin, 1, __ATOMIC_RELAXED);
        work(i);
    } while (i < limit);
}

/* By compare and swap: what is seen is taken. */
static bool next_range(long *from, long *to) {
    long seen = atomic_load(&next_atomic);
    do {
        if (seen >= limit)
            return false;
        *from = seen;
        *to = seen + (limit - seen) / row_height + 1;
    } while (!atomic_compare_exchange_weak(&next_atomic, &seen, *to));
    return true;
}

/* Neither the largest nor a sum is taken from anywhere. */
static void note(long value) {
    long seen = atomic_load(&largest);
    while (value > seen && !atomic_compare_exchange_weak(&largest, &seen, value)) {
    }
    seen = atomic_load(&sum);
    while (!atomic_compare_exchange_weak(&sum, &seen, seen + value)) {
    }
}

static void swaps(void) {
    long from, to;
    while (next_range(&from, &to)) //= bound shared
        for (long i = from; i < to; i++)
            work(i);
    for (long i = 0; i < limit; i++) { //= bound fixed
        note(i);
        pthread_mutex_lock(&counter_mutex);
        pthread_mutex_unlock(&counter_mutex);
    }
    for (;;) { //= bound shared
        long seen = atomic_load(&next_atomic);
        do {
            if (seen >= limit)
                return;
        } while (!atomic_compare_exchange_weak(&next_atomic, &seen, seen + 1));
        work(seen);
    }
}

static void messages(void) {
    char text[64];
    while (mq_receive(queue, text, sizeof text, NULL) > 0) //= bound shared
        work(text[0]);
}

/* A worker's loop around the queue's state: it takes while there is something, and room for what it
 * makes of it, and sleeps with the same mutex between; the room follows the thread count. */
static struct {
    pthread_mutex_t mutex;
    pthread_cond_t more;
    struct node *head;
    int sleeping, room, busy;
    bool closed;
} jobs = {.mutex = PTHREAD_MUTEX_INITIALIZER, .more = PTHREAD_COND_INITIALIZER};

static void by_state(void) {
    pthread_mutex_lock(&jobs.mutex);
    while (!jobs.closed) { //= bound unknown
        if (!jobs.head) {
            jobs.sleeping++;
            pthread_cond_wait(&jobs.more, &jobs.mutex);
            jobs.sleeping--;
            continue;
        }
        while (jobs.head && jobs.room > jobs.busy) { //= bound shared
            struct node *node = jobs.head;
            jobs.head = node->next;
            jobs.busy++;
            pthread_mutex_unlock(&jobs.mutex);
            work(node->value);
            pthread_mutex_lock(&jobs.mutex);
            jobs.busy--;
        }
    }
    pthread_mutex_unlock(&jobs.mutex);
}

/* Whoever has the mutex takes all there is; nobody counts to the thread count here. */
static void fill_up(void) {
    pthread_mutex_lock(&jobs.mutex);
    while (jobs.busy < jobs.room) { //= bound fixed
        jobs.busy = jobs.busy + 1;
        work(jobs.busy);
    }
    pthread_mutex_unlock(&jobs.mutex);
}

static void *run(void *arg) {
    for (int round = 0; round < 10; round++) { //= bound fixed
        under_lock();
        under_lock_both_ways();
        by_result();
        by_parameter();
        until_told();
        until_all_done();
        until_one_fails();
        in_chunks(round + 1);
        by_rows(&all_rows[round % 2]);
        with_room(round + 1);
        atomics();
        swaps();
        messages();
        by_state();
        fill_up();
    }
    return arg;
}

/* a producer is nobody's competitor */
static void produce(void) {
    for (long i = 0; i < limit; i++) //= bound fixed
        if (!put(i))
            break;
    for (long i = 0; i < limit; i++) { //= bound fixed
        pthread_mutex_lock(&list.mutex);
        list.taken++;
        pthread_mutex_unlock(&list.mutex);
    }
}

int main(int argc, char **argv) {
    int threads = argc > 1 ? atoi(argv[1]) : 2;
    pthread_t handles[64];
    jobs.room = threads * 2;
    produce();
    for (int i = 0; i < threads; i++) //= bound threads
        pthread_create(&handles[i], NULL, run, NULL);
    for (int i = 0; i < threads; i++) //= bound threads
        pthread_join(handles[i], NULL);
    return 0;
}
