#include "base/interrupt.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const int taken[] = {SIGINT, SIGTERM, SIGHUP};
enum { N_TAKEN = sizeof taken / sizeof *taken, PATIENCE_S = 1 /* to end in an orderly way */ };

static struct {
    int depth;
    struct sigaction before[N_TAKEN];
    pthread_t watcher;
    bool watched;
    sem_t second; /* posted by the second signal, and by the end */
    pthread_mutex_t mutex;
    void (*clean)(void *context);
    void *context;
} state = {.mutex = PTHREAD_MUTEX_INITIALIZER};

/* The handler's. */
static _Atomic int first_signal, n_signals;
static _Atomic bool from_terminal;
static _Atomic pid_t program;

static void send(pid_t pid, int number) {
    if (pid > 0)
        kill(pid, number);
}

static void take(int number, siginfo_t *from, void *context) {
    (void)context;
    int cause = errno;
    if (atomic_fetch_add(&n_signals, 1) == 0) {
        from_terminal = from->si_code == SI_KERNEL; /* then the program has been told, too */
        first_signal = number;
        if (!from_terminal)
            send(program, number);
    } else {
        send(program, SIGKILL);
        sem_post(&state.second);
    }
    errno = cause;
}

/* Whoever handles the second signal in time calls interrupt_end(), which ends this thread. */
static void *watch(void *context) {
    (void)context;
    while (sem_wait(&state.second) != 0)
        continue;
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += PATIENCE_S;
    int status;
    do
        status = sem_timedwait(&state.second, &until);
    while (status != 0 && errno == EINTR);
    if (status == 0)
        return NULL;
    pthread_mutex_lock(&state.mutex);
    if (state.clean)
        state.clean(state.context);
    dprintf(STDERR_FILENO, "persik: ended by SIG%s\n", sigabbrev_np(first_signal));
    _exit(128 + first_signal);
}

static void start_watcher(void) {
    sigset_t all, before;
    sigfillset(&all);
    sem_init(&state.second, 0, 0);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    state.watched = pthread_create(&state.watcher, NULL, watch, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void interrupt_begin(void) {
    if (state.depth++ > 0)
        return;
    first_signal = n_signals = 0;
    program = 0;
    start_watcher();
    struct sigaction action = {.sa_sigaction = take, .sa_flags = SA_SIGINFO | SA_RESTART};
    for (int i = 0; i < N_TAKEN; i++) {
        sigaction(taken[i], NULL, &state.before[i]);
        if (state.before[i].sa_handler != SIG_IGN)
            sigaction(taken[i], &action, NULL);
    }
}

void interrupt_end(void) {
    if (--state.depth > 0)
        return;
    for (int i = 0; i < N_TAKEN; i++)
        sigaction(taken[i], &state.before[i], NULL);
    interrupt_on_second(NULL, NULL);
    if (state.watched) {
        sem_post(&state.second);
        sem_post(&state.second); /* it may wait for either */
        pthread_join(state.watcher, NULL);
    }
    sem_destroy(&state.second);
}

void interrupt_on_second(void (*clean)(void *context), void *context) {
    pthread_mutex_lock(&state.mutex);
    state.clean = clean;
    state.context = context;
    pthread_mutex_unlock(&state.mutex);
}

void interrupt_program(pid_t pid) {
    program = pid;
    if (pid == 0 || first_signal == 0)
        return;
    send(pid, interrupt_is_final() ? SIGKILL : first_signal);
}

static bool ignored_children;

void interrupt_hear_children(void) {
    struct sigaction before;
    ignored_children = sigaction(SIGCHLD, NULL, &before) == 0 && before.sa_handler == SIG_IGN;
    if (ignored_children)
        signal(SIGCHLD, SIG_DFL);
}

void interrupt_forget(void) {
    if (ignored_children)
        signal(SIGCHLD, SIG_IGN);
    if (state.depth == 0)
        return;
    program = 0;
    for (int i = 0; i < N_TAKEN; i++)
        sigaction(taken[i], &state.before[i], NULL);
}

int interrupt_signal(void) {
    return first_signal;
}

bool interrupt_is_final(void) {
    return n_signals > 1;
}

bool interrupt_is_from_terminal(void) {
    return first_signal && from_terminal;
}

void interrupt_accept(void) {
    if (interrupt_is_final())
        return;
    first_signal = 0;
    n_signals = 0;
}

int interrupt_check(struct error *error) {
    int number = interrupt_signal();
    return number ? error_set(error, "ended by SIG%s: start it again", sigabbrev_np(number)) : 0;
}

void interrupt_wait(pid_t pid) {
    siginfo_t about;
    while (waitid(P_PID, (id_t)pid, &about, WEXITED | WNOWAIT) != 0 && errno == EINTR)
        continue;
    interrupt_program(0);
}
