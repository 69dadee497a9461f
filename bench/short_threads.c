/* Threads that hardly live: so many one after the other, two at a time. Prints the seconds that
 * took. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static long counter;

static void *run(void *argument) {
    pthread_mutex_lock(&mutex);
    counter++;
    pthread_mutex_unlock(&mutex);
    return argument;
}

int main(int argc, char **argv) {
    long threads = argc > 1 ? strtol(argv[1], NULL, 10) : 100000;
    struct timespec start, end;
    clock_gettime(CLOCK_MONOTONIC, &start);
    for (long i = 0; i < threads / 2; i++) {
        pthread_t pair[2];
        for (int t = 0; t < 2; t++)
            if (pthread_create(&pair[t], NULL, run, NULL) != 0)
                return 1;
        for (int t = 0; t < 2; t++)
            pthread_join(pair[t], NULL);
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    printf("%.6f\n",
           (double)(end.tv_sec - start.tv_sec) + 1e-9 * (double)(end.tv_nsec - start.tv_nsec));
    return counter == threads / 2 * 2 ? 0 : 1;
}
