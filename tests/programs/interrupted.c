/* Takes and gives back a mutex until it is told to end, or for ten seconds. Says in a file that it
 * runs. Usage: interrupted [obeys|ignores|dies] FILE: what it does with SIGINT, SIGTERM and SIGHUP.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static volatile sig_atomic_t told;

static void end(int number) {
    (void)number;
    told = 1;
}

static void *work(void *context) {
    const struct timespec pause = {.tv_nsec = 10000000};
    for (int i = 0; i < 1000 && !told; i++) {
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
        nanosleep(&pause, NULL);
    }
    return context;
}

int main(int argc, char **argv) {
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    if (argc != 3)
        return 2;
    for (int i = 0; i < 3 && strcmp(argv[1], "dies") != 0; i++)
        signal(numbers[i], strcmp(argv[1], "obeys") == 0 ? end : SIG_IGN);
    FILE *file = fopen(argv[2], "a");
    if (!file || fputs("run\n", file) < 0 || fclose(file) != 0)
        return 1;
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    pthread_join(thread, NULL);
    return 0;
}
