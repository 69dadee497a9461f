/* Sends signals in every way, to itself, to another thread that waits for them in every way, and to
 * nobody. Prints what the calls return; ends itself by SIGTERM. The output must be the same with and
 * without the probe library. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define SHOW(call)                                                                                 \
    do {                                                                                           \
        errno = 77;                                                                                \
        long shown = (long)(call);                                                                 \
        printf("%s = %ld, errno %d\n", #call, shown, errno);                                       \
    } while (0)

static sigset_t waited, before;
static pthread_barrier_t steps;
static volatile sig_atomic_t handled;

/* Sends another one from the handler: calls inside a call. */
static void handle(int number) {
    int saved_errno = errno;
    handled++;
    if (number == SIGUSR2)
        kill(getpid(), SIGHUP);
    errno = saved_errno;
}

static void *await(void *unused) {
    int number;
    siginfo_t info;
    const struct timespec limit = {.tv_sec = 60}, at_once = {0};
    pthread_barrier_wait(&steps);
    SHOW(sigwait(&waited, &number));
    SHOW(number);
    pthread_barrier_wait(&steps);
    SHOW(sigwaitinfo(&waited, &info));
    SHOW(info.si_value.sival_int);
    pthread_barrier_wait(&steps);
    SHOW(sigtimedwait(&waited, &info, &limit));
    SHOW(info.si_value.sival_int);
    SHOW(sigtimedwait(&waited, &info, &at_once));
    pthread_barrier_wait(&steps);
    SHOW(sigsuspend(&before));
    SHOW(handled);
    return unused;
}

int main(void) {
    sigemptyset(&waited);
    sigaddset(&waited, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &waited, &before);
    sigaction(SIGUSR1, &(struct sigaction){.sa_handler = handle}, NULL);
    sigaction(SIGUSR2, &(struct sigaction){.sa_handler = handle}, NULL);
    sigaction(SIGHUP, &(struct sigaction){.sa_handler = handle}, NULL);
    pthread_barrier_init(&steps, NULL, 2);
    pthread_t thread;
    pthread_create(&thread, NULL, await, NULL);
    pthread_barrier_wait(&steps);
    int sent[4];
    sent[0] = kill(getpid(), SIGUSR1);
    pthread_barrier_wait(&steps);
    sent[1] = sigqueue(getpid(), SIGUSR1, (union sigval){.sival_int = 5});
    pthread_barrier_wait(&steps);
    sent[2] = pthread_sigqueue(thread, SIGUSR1, (union sigval){.sival_int = 6});
    pthread_barrier_wait(&steps);
    sent[3] = pthread_kill(thread, SIGUSR1);
    pthread_join(thread, NULL);
    for (int i = 0; i < 4; i++)
        SHOW(sent[i]);
    SHOW(kill(getpid(), SIGUSR2)); /* has its handler run before it returns */
    SHOW(handled);
    SHOW(kill(getpid(), 0));
    SHOW(pthread_kill(pthread_self(), 0));
    SHOW(kill(getpid(), 99));
    SHOW(sigqueue(getpid(), -1, (union sigval){0}));
    SHOW(pthread_kill(pthread_self(), 99));
    fflush(stdout);
    kill(getpid(), SIGTERM);
    return 0;
}
