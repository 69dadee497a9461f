/* Locks and unlocks 7 times, then ends as its argument says. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *run(void *unused) {
    usleep(2000);
    exit(9); /* of the process, by another thread than the first */
    return unused;
}

int main(int argc, char **argv) {
    const char *way = argc > 1 ? argv[1] : "return";
    for (int i = 0; i < 7; i++) {
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
    }
    if (strcmp(way, "exit") == 0)
        exit(4);
    if (strcmp(way, "_exit") == 0)
        _exit(5);
    if (strcmp(way, "_Exit") == 0)
        _Exit(6);
    if (strcmp(way, "quick_exit") == 0)
        quick_exit(7);
    if (strcmp(way, "abort") == 0)
        abort();
    if (strcmp(way, "kill") == 0)
        kill(getpid(), SIGKILL);
    if (strcmp(way, "crash") == 0)
        *(volatile int *)8 = 1;
    if (strcmp(way, "pthread_exit") == 0) {
        pthread_t thread;
        pthread_create(&thread, NULL, run, NULL);
        pthread_exit(NULL);
    }
    return 8;
}
