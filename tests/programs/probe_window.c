/* 10007 critical sections inside a pthread_once: many windows, and a call that outlives its own. */
#include <pthread.h>
#include <stdio.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void lock_often(void) {
    for (int i = 0; i < 10007; i++) {
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
    }
}

int main(void) {
    pthread_once(&once, lock_often);
    pthread_once(&once, lock_often);
    puts("once");
    return 0;
}
