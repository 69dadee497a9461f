/* A timer's signal interrupts locking and waiting some 1000 times; its handler writes a byte. Says
 * on stdout how many times it did, which must be the number of writes recorded. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define SIGNALS 997
#define MUTEXES 64

static int sink;
static volatile sig_atomic_t handled;

static void handle(int signal) {
    int saved_errno = errno;
    if (handled < SIGNALS && write(sink, "x", 1) == 1)
        handled++;
    errno = saved_errno;
    (void)signal;
}

/* Recursion makes new chains all the time, so signals also meet the unwinder. */
static void lock_deep(pthread_mutex_t *mutex, int depth) {
    if (depth > 0) {
        lock_deep(mutex, depth - 1);
        __asm__ volatile("");
        return;
    }
    pthread_mutex_lock(mutex);
    pthread_mutex_unlock(mutex);
}

int main(void) {
    static pthread_mutex_t mutexes[MUTEXES];
    sink = open("/dev/null", O_WRONLY);
    for (int i = 0; i < MUTEXES; i++)
        pthread_mutex_init(&mutexes[i], NULL);
    sigaction(SIGALRM, &(struct sigaction){.sa_handler = handle}, NULL);
    struct itimerval often = {.it_interval.tv_usec = 300, .it_value.tv_usec = 300};
    setitimer(ITIMER_REAL, &often, NULL);
    for (long i = 0; handled < SIGNALS; i++) {
        lock_deep(&mutexes[i % MUTEXES], (int)(i % 300));
        if (i % 1000 == 0)
            nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL);
    printf("%d\n", (int)handled);
    return 0;
}
