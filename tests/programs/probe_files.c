/* Has no descriptor left for a while, makes more calls meanwhile than the probe keeps in memory, and
 * then goes on. Then many threads with one call each. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#define WHILE_OUT 20000
#define AFTER     3000
#define THREADS   200

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void lock(int times) {
    for (int i = 0; i < times; i++) {
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
    }
}

static void *once(void *argument) {
    lock(1);
    return argument;
}

int main(void) {
    struct rlimit usual;
    getrlimit(RLIMIT_NOFILE, &usual);
    struct rlimit none = {3, usual.rlim_max};
    setrlimit(RLIMIT_NOFILE, &none);
    lock(WHILE_OUT);
    int refused = open("/dev/null", O_RDONLY);
    setrlimit(RLIMIT_NOFILE, &usual);
    lock(AFTER);
    for (int i = 0; i < THREADS; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, once, NULL);
        pthread_join(thread, NULL);
    }
    int file = open("/dev/null", O_RDONLY);
    printf("%d %d\n", refused, file);
    return 0;
}
