/* A pool of threads computes; main waits in sigsuspend until the last of them tells it by kill that
 * all is done. Prints a checksum. Usage: signal_done THREADS ITEMS MICROSECONDS */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int items, threads, running;
static double item_us;
static unsigned long sum;
static volatile sig_atomic_t done;

static void handle(int number) {
    done = number == SIGUSR1;
}

static double now_us(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return 1e6 * (double)now.tv_sec + 1e-3 * (double)now.tv_nsec;
}

static void compute(void) {
    double end = now_us() + item_us;
    while (now_us() < end)
        ;
}

static void *work(void *unused) {
    for (;;) {
        pthread_mutex_lock(&lock);
        int item = items > 0 ? items-- : 0;
        sum += (unsigned long)item;
        pthread_mutex_unlock(&lock);
        if (item == 0)
            break;
        compute();
    }
    pthread_mutex_lock(&lock);
    int last = --running == 0;
    pthread_mutex_unlock(&lock);
    if (last)
        kill(getpid(), SIGUSR1);
    return unused;
}

int main(int argc, char **argv) {
    if (argc != 4)
        return 2;
    threads = atoi(argv[1]);
    items = atoi(argv[2]);
    item_us = atof(argv[3]);
    running = threads;
    sigset_t blocked, before;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &blocked, &before);
    sigaction(SIGUSR1, &(struct sigaction){.sa_handler = handle}, NULL);
    pthread_t *ids = calloc((size_t)threads, sizeof *ids);
    for (int t = 0; t < threads; t++)
        pthread_create(&ids[t], NULL, work, NULL);
    while (!done)
        sigsuspend(&before);
    for (int t = 0; t < threads; t++)
        pthread_join(ids[t], NULL);
    free(ids);
    printf("%lu\n", sum);
    return 0;
}
