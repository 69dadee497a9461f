/* 200 threads alive together, joined last first; then more, detached. */
#include <pthread.h>
#include <stdio.h>

#define THREADS 200

static pthread_barrier_t all;

static void *run(void *unused) {
    pthread_barrier_wait(&all);
    return unused;
}

int main(void) {
    pthread_t threads[THREADS];
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 1 << 16);
    pthread_barrier_init(&all, NULL, THREADS);
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], &small, run, NULL) != 0)
            return 1;
    for (int i = THREADS - 1; i >= 0; i--)
        pthread_join(threads[i], NULL);
    puts("joined");
    return 0;
}
