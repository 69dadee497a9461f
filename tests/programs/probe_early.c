/* A library whose constructor runs before the probe library's: it writes through a stream that has a
 * buffer already, and has handlers around fork, which lock and unlock as allocators' do, and make
 * some thousand calls in the child. */
#include <pthread.h>
#include <stdio.h>

#define CHILD_CALLS 20000

static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;

static void before(void) {
    pthread_mutex_lock(&held);
}

static void in_parent(void) {
    pthread_mutex_unlock(&held);
}

static void in_child(void) {
    pthread_mutex_t fresh = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_unlock(&held);
    for (int i = 0; i < CHILD_CALLS; i++) {
        pthread_mutex_lock(&fresh);
        pthread_mutex_unlock(&fresh);
    }
}

__attribute__((constructor)) static void early(void) {
    printf("loading\n");
    fputs("early\n", stdout);
    pthread_atfork(before, in_parent, in_child);
}

int early_links(void) {
    return 0;
}
