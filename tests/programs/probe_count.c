/* Three threads, 1009 critical sections each, reached by two paths through the same function. */
#include <pthread.h>
#include <stdio.h>

#define ROUNDS 1009

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static volatile int counter;

__attribute__((noinline)) static void add(void) {
    pthread_mutex_lock(&mutex);
    counter++;
    pthread_mutex_unlock(&mutex);
}

__attribute__((noinline)) static void left(void) {
    add();
    __asm__ volatile("");
}

__attribute__((noinline)) static void right(void) {
    add();
    __asm__ volatile("");
}

static void *run(void *unused) {
    for (int i = 0; i < ROUNDS; i++)
        if (i % 2 == 0)
            left();
        else
            right();
    return unused;
}

int main(void) {
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, run, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    printf("%d\n", counter);
    return counter == 3 * ROUNDS ? 3 : 1;
}
