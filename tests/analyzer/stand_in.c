/* A constant stands in for a number of threads that is out of range: what is made for the number
 * that was asked for follows the threads as well. But what only ends when something has happened
 * once for each thread has as many rounds as that takes, and so has what counts round and round. */
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *work(void *arg) {
    pthread_mutex_lock(&lock); //= fragment pthread_mutex_lock global:lock
    pthread_mutex_unlock(&lock);
    return arg;
}

static void prepare(void) {
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
}

static void run(int asked, int rounds) {
    int threads = asked == 0 ? 1 : asked;
    int parts = rounds > 0 ? rounds : 1;
    pthread_t *started = calloc((size_t)threads, sizeof *started);
    for (int i = 0; i < threads; i++) //= bound threads
        pthread_create(&started[i], NULL, work, NULL);
    for (int i = 0; i < asked * 2; i++) //= bound threads
        prepare();
    for (int i = 0; i < parts; i++) //= bound fixed
        prepare();
    int ends = 0, tries = 0, joined = 0;
    while (ends < threads) { //= bound unknown
        prepare();
        ends += rounds-- <= 0;
    }
    while (tries < threads) { //= bound unknown
        prepare();
        if (rounds++ >= 0)
            tries++;
    }
    int step = 0;
    while (step < parts) { //= bound unknown
        prepare();
        step = rounds-- > 0 ? (step + 1) % parts : parts;
    }
    while (joined < threads) { //= bound threads
        if (started == NULL)
            break;
        prepare();
        joined++;
    }
    for (int i = 0; i < threads; i++) //= bound threads
        pthread_join(started[i], NULL);
    free(started);
}

int main(int argc, char **argv) {
    run(argc > 1 ? atoi(argv[1]) : 0, argc > 2 ? atoi(argv[2]) : 9);
    return 0;
}
