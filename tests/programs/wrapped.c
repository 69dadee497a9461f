/* Functions of a program's own in every shape that a wrapper could spoil. Prints what they return;
 * tests/wraps.sh compares with and without wrapping, and counts the recorded calls. */
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLAIN __attribute__((noipa))

struct pair {
    double real;
    long whole;
};

struct large {
    long words[12];
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static char first_queue, second_queue;
static jmp_buf back;

static void use_lock(void) {
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
}

PLAIN struct pair give_pair(void *queue, double x, float y) {
    use_lock();
    return (struct pair){x * y, queue != NULL};
}

PLAIN struct large give_large(long seed) {
    struct large large;
    for (int i = 0; i < 12; i++)
        large.words[i] = seed * i;
    return large;
}

PLAIN long take_large(void *queue, struct large large, double scale) {
    long sum = queue == &second_queue;
    for (int i = 0; i < 12; i++)
        sum += large.words[i];
    return (long)((double)sum * scale);
}

PLAIN long double give_long_double(void *queue, long double x) {
    return queue ? x / 3 : 0;
}

PLAIN long many(void *queue, long b, long c, long d, long e, long f, long g, long h, double i,
                float j) {
    return (queue != NULL) + 2 * b + 3 * c + 5 * d + 7 * e + 11 * f + 13 * g + 17 * h +
           (long)(19 * i) + (long)(23 * j);
}

PLAIN double add_all(void *queue, int n, ...) {
    va_list list;
    double sum = queue != NULL;
    va_start(list, n);
    for (int i = 0; i < n; i++)
        sum += i % 2 ? va_arg(list, double) : va_arg(list, int);
    va_end(list);
    return sum;
}

PLAIN int fail_with_errno(void *queue) {
    errno = queue == &first_queue ? ENOSPC : EPERM;
    return -1;
}

PLAIN long recurse(void *queue, long n) {
    use_lock();
    return n == 0 ? 1 : n * recurse(queue, n - 1);
}

PLAIN int call_back(void *queue, int (*function)(void *), void *argument) {
    return queue != NULL && function(argument);
}

PLAIN void jump_out(void *queue) {
    use_lock();
    longjmp(back, queue == &first_queue ? 1 : 2);
}

PLAIN void end_thread(void *queue) {
    use_lock();
    pthread_exit(queue);
}

PLAIN bool is_odd(void *queue, unsigned n) {
    (void)queue;
    return n & 1;
}

PLAIN pthread_t start_one(void *(*routine)(void *)) {
    pthread_t thread;
    pthread_create(&thread, NULL, routine, NULL);
    return thread;
}

PLAIN void wait_for_cancel(void *queue) {
    (void)queue;
    use_lock();
    for (;;)
        pthread_testcancel();
}

static int compare(void *argument) {
    use_lock();
    return *(int *)argument == 42;
}

static void *end_inside(void *unused) {
    (void)unused;
    end_thread(&second_queue);
    return NULL;
}

static void *be_cancelled(void *unused) {
    (void)unused;
    wait_for_cancel(&first_queue);
    return NULL;
}

static void *run_plainly(void *unused) {
    (void)unused;
    use_lock();
    return &first_queue;
}

/* Deeper than the frame that was jumped out of. */
PLAIN static void lock_from_below(void) {
    volatile char room[4096];
    memset((char *)room, 0x5a, sizeof room);
    use_lock();
}

static void jump_about(void) {
    for (int i = 0; i < 3; i++) {
        int came_by = setjmp(back);
        if (came_by == 0)
            jump_out(i == 1 ? &second_queue : &first_queue);
        lock_from_below();
        printf("jumped out, %d\n", came_by);
    }
}

static void join(const char *what, pthread_t thread) {
    void *result;
    pthread_join(thread, &result);
    printf("%s: %s\n", what,
           result == &first_queue    ? "first"
           : result == &second_queue ? "second"
           : result == PTHREAD_CANCELED ? "cancelled"
                                        : "?");
}

int main(void) {
    for (int round = 0; round < 5; round++) {
        struct pair pair = give_pair(&first_queue, 1.25 + round, 3.5f);
        printf("pair %.6f %ld\n", pair.real, pair.whole);
        struct large large = give_large(round + 3);
        printf("large %ld\n", take_large(&second_queue, large, 1.5));
        printf("long double %.15Lf\n", give_long_double(&first_queue, 10.0L + round));
        printf("many %ld\n", many(&first_queue, 1, 2, 3, 4, 5, 6, 7 + round, 8.5, 9.5f));
        printf("sum %.3f\n", add_all(&first_queue, 6, 1, 2.5, 3, 4.5, round, 6.25));
        errno = 0;
        int failed = fail_with_errno(round % 2 ? &second_queue : &first_queue);
        printf("errno %d %d\n", failed, errno);
        printf("odd %d%d\n", is_odd(&first_queue, 7), is_odd(&first_queue, 8));
    }
    printf("factorial %ld\n", recurse(&first_queue, 12));
    int answer = 42;
    printf("callback %d\n", call_back(&first_queue, compare, &answer));
    jump_about();
    join("ended inside", start_one(end_inside));
    join("started inside", start_one(run_plainly));
    pthread_t cancelled = start_one(be_cancelled);
    pthread_cancel(cancelled);
    join("cancelled inside", cancelled);
    printf("sine %.9f\n", sin(0.5));
    return 0;
}
