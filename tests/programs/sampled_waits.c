/* Three threads wait again and again in system calls that a signal or a stop would end with EINTR.
 * Exits with 0 when none did, 1 when one did, 2 when a wait went wrong otherwise. */
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS 100

static int ends[2]; /* of a pipe that main writes to slowly */
static const struct timespec pause_time = {0, 7000000};

static void *wait_in_epoll(void *unused) {
    intptr_t worst = (intptr_t)unused;
    int set = epoll_create1(0);
    struct epoll_event event;
    for (int i = 0; i < ROUNDS; i++)
        if (epoll_wait(set, &event, 1, 7) != 0)
            worst = errno == EINTR ? 1 : 2;
    return (void *)worst;
}

static void *wait_in_nanosleep(void *unused) {
    intptr_t worst = (intptr_t)unused;
    for (int i = 0; i < ROUNDS; i++)
        if (nanosleep(&pause_time, NULL) != 0)
            worst = errno == EINTR ? 1 : 2;
    return (void *)worst;
}

static void *wait_in_read(void *unused) {
    intptr_t worst = (intptr_t)unused;
    char byte;
    for (int i = 0; i < ROUNDS; i++)
        if (read(ends[0], &byte, 1) != 1)
            worst = errno == EINTR ? 1 : 2;
    return (void *)worst;
}

int main(void) {
    static void *(*const waits[3])(void *) = {wait_in_epoll, wait_in_nanosleep, wait_in_read};
    pthread_t threads[3];
    intptr_t worst = pipe(ends) == 0 ? 0 : 2;
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, waits[i], NULL);
    for (int i = 0; i < ROUNDS; i++) {
        nanosleep(&pause_time, NULL);
        if (write(ends[1], "x", 1) != 1)
            worst = 2;
    }
    for (int i = 0; i < 3; i++) {
        void *result;
        pthread_join(threads[i], &result);
        worst = (intptr_t)result > worst ? (intptr_t)result : worst;
    }
    return (int)worst;
}
