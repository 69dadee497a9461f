/* Prints what functions return in unusual situations, errno, and what cancellation does. The output
 * must be the same with and without the probe library. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/sem.h>
#include <sys/syscall.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#define SHOW(call)                                                                                 \
    do {                                                                                           \
        errno = 77;                                                                                \
        long shown = (long)(call);                                                                 \
        printf("%s = %ld, errno %d\n", #call, shown, errno);                                       \
    } while (0)

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static sem_t semaphore;
static int ends[2];
static const struct timespec past = {.tv_sec = 1};
static const struct timespec nonsense = {.tv_nsec = 2000000000};

static void *lock_and_die(void *robust) {
    pthread_mutex_lock(robust);
    return NULL;
}

static void show_mutexes(void) {
    pthread_mutexattr_t kind;
    pthread_mutex_t recursive;
    pthread_mutex_t checking;
    pthread_mutex_t robust;
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&recursive, &kind);
    SHOW(pthread_mutex_lock(&recursive));
    SHOW(pthread_mutex_lock(&recursive));
    SHOW(pthread_mutex_unlock(&recursive));
    SHOW(pthread_mutex_unlock(&recursive));
    SHOW(pthread_mutex_unlock(&recursive));

    pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_init(&checking, &kind);
    SHOW(pthread_mutex_lock(&checking));
    SHOW(pthread_mutex_lock(&checking));
    SHOW(pthread_mutex_trylock(&checking));
    SHOW(pthread_mutex_timedlock(&checking, &past));
    SHOW(pthread_mutex_unlock(&checking));
    SHOW(pthread_mutex_unlock(&checking));
    SHOW(pthread_mutex_timedlock(&checking, &nonsense));
    SHOW(pthread_mutex_unlock(&checking));
    SHOW(pthread_mutex_clocklock(&checking, 99, &past));
    SHOW(pthread_mutex_destroy(&checking));

    pthread_mutexattr_init(&kind);
    pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&robust, &kind);
    pthread_t thread;
    pthread_create(&thread, NULL, lock_and_die, &robust);
    pthread_join(thread, NULL);
    SHOW(pthread_mutex_lock(&robust));
    SHOW(pthread_mutex_unlock(&robust)); /* not made consistent: beyond repair */
    SHOW(pthread_mutex_lock(&robust));
}

static void show_others(void) {
    pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
    SHOW(pthread_rwlock_wrlock(&lock));
    SHOW(pthread_rwlock_wrlock(&lock));
    SHOW(pthread_rwlock_tryrdlock(&lock));
    SHOW(pthread_rwlock_timedwrlock(&lock, &nonsense));
    SHOW(pthread_rwlock_unlock(&lock));
    SHOW(pthread_rwlock_timedrdlock(&lock, &nonsense));
    SHOW(pthread_rwlock_rdlock(&lock));

    SHOW(sem_init(&semaphore, 0, 1));
    SHOW(sem_wait(&semaphore));
    SHOW(sem_trywait(&semaphore));
    SHOW(sem_timedwait(&semaphore, &past));
    SHOW(sem_post(&semaphore));
    SHOW(sem_timedwait(&semaphore, &nonsense));
    SHOW(sem_wait(&semaphore));

    pthread_barrier_t barrier;
    SHOW(pthread_barrier_init(&barrier, NULL, 0));
    SHOW(pthread_barrier_init(&barrier, NULL, 1));
    SHOW(pthread_barrier_wait(&barrier));

    pthread_mutex_lock(&mutex);
    SHOW(pthread_cond_timedwait(&condition, &mutex, &past));
    SHOW(pthread_cond_clockwait(&condition, &mutex, CLOCK_MONOTONIC, &past));
    pthread_mutex_unlock(&mutex);

    mtx_t c11;
    SHOW(mtx_init(&c11, mtx_timed));
    SHOW(mtx_lock(&c11));
    SHOW(mtx_trylock(&c11) == thrd_busy);
    SHOW(mtx_timedlock(&c11, &past) == thrd_timedout);
    SHOW(mtx_unlock(&c11));
    mtx_destroy(&c11);
}

static void show_io(void) {
    char buffer[8];
    SHOW(read(-1, buffer, sizeof buffer));
    SHOW(open("/no such file", O_RDONLY));
    SHOW(open("/dev/null", O_WRONLY | O_CREAT, 0600)); /* the lowest free descriptor */
    SHOW(fopen("/no such file", "r"));
    SHOW(fflush(NULL));
    SHOW(lseek(ends[0], 0, SEEK_SET));
}

static int c11_thread(void *argument) {
    return *(int *)argument;
}

static void show_c11_thread(void) {
    thrd_t thread;
    int seven = 7;
    int value = 0;
    SHOW(thrd_create(&thread, c11_thread, &seven));
    SHOW(thrd_join(thread, &value));
    printf("%d\n", value);
}

static void unlock(void *cleaned) {
    pthread_mutex_unlock(&mutex);
    *(int *)cleaned = 1;
}

static void *wait_for_ever(void *cleaned) {
    pthread_mutex_lock(&mutex);
    pthread_cleanup_push(unlock, cleaned);
    for (;;)
        pthread_cond_wait(&condition, &mutex);
    pthread_cleanup_pop(1);
    return NULL;
}

static void *acquire_for_ever(void *unused) {
    for (;;)
        sem_wait(&semaphore);
    return unused;
}

/* Never blocks, but is a cancellation point. */
static void *acquire_freely(void *own) {
    for (;;) {
        sem_post(own);
        sem_wait(own);
    }
    return NULL;
}

static void *read_for_ever(void *unused) {
    char byte;
    while (read(ends[0], &byte, 1) != 0)
        ;
    return unused;
}

static void *sleep_for_ever(void *unused) {
    for (;;)
        sleep(1000);
    return unused;
}

static void show_cancelled(const char *name, void *(*run)(void *), void *argument) {
    pthread_t thread;
    void *value = NULL;
    pthread_create(&thread, NULL, run, argument);
    nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    pthread_cancel(thread);
    int result = pthread_join(thread, &value);
    printf("%s cancelled: %d %d\n", name, result, value == PTHREAD_CANCELED);
}

static pthread_key_t key;

static void lock_at_end(void *value) {
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    printf("destructor of %s\n", (const char *)value);
}

static void *exit_early(void *unused) {
    pthread_setspecific(key, "key");
    pthread_exit("early");
    return unused;
}

static void *try_stream(void *stream) {
    SHOW(ftrylockfile(stream) != 0);
    return NULL;
}

/* Its owner may take it again. */
static void show_stream_lock(void) {
    FILE *stream = tmpfile();
    flockfile(stream);
    SHOW(ftrylockfile(stream));
    pthread_t thread;
    pthread_create(&thread, NULL, try_stream, stream);
    pthread_join(thread, NULL);
    funlockfile(stream);
    funlockfile(stream);
    try_stream(stream);
    fclose(stream);
}

/* semctl takes a fourth argument for some commands only. */
static void show_system_v(void) {
    int set = semget(IPC_PRIVATE, 2, 0600);
    struct sembuf take = {0, -1, IPC_NOWAIT}, both[] = {{0, 1, 0}, {1, 2, 0}}, nowhere = {5, 1, 0};
    unsigned short values[2] = {3, 4};
    SHOW(semctl(set, 0, SETVAL, 1));
    SHOW(semctl(set, 0, GETVAL));
    SHOW(semop(set, &take, 1));
    SHOW(semop(set, &take, 1));
    SHOW(semop(set, both, 2));
    SHOW(semop(set, &nowhere, 1));
    SHOW(semctl(set, 1, GETVAL));
    SHOW(semctl(set, 0, SETALL, values));
    SHOW(semctl(set, 1, GETVAL));
    SHOW(semctl(set, 0, SETVAL, -1));
    SHOW(semctl(set, 0, IPC_RMID));
    SHOW(semop(set, &take, 1) < 0);
}

/* As well as system calls that are none on futexes, and such as make no sense. */
static void show_system_calls(void) {
    static unsigned word = 5;
    const struct timespec soon = {.tv_nsec = 1000000};
    SHOW(syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 6, NULL));
    SHOW(syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 5, &soon));
    SHOW(syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 5, &nonsense));
    SHOW(syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, INT_MAX));
    SHOW(syscall(SYS_futex, &word, FUTEX_WAKE_BITSET, 1, NULL, NULL, 0));
    SHOW(syscall(SYS_futex, (char *)&word + 1, FUTEX_WAKE, 1));
    SHOW(syscall(SYS_futex, &word, 100, 1));
    SHOW(syscall(SYS_getpid) == getpid());
    SHOW(syscall(SYS_close, -1));
    SHOW(syscall(-1));
}

int main(void) {
    if (pipe(ends) != 0)
        return 1;
    show_mutexes();
    show_others();
    show_io();
    show_c11_thread();
    show_stream_lock();
    show_system_v();
    show_system_calls();
    int cleaned = 0;
    show_cancelled("pthread_cond_wait", wait_for_ever, &cleaned);
    printf("cleaned up: %d, mutex free: %d\n", cleaned, pthread_mutex_trylock(&mutex));
    pthread_mutex_unlock(&mutex);
    show_cancelled("sem_wait", acquire_for_ever, NULL);
    sem_t own;
    sem_init(&own, 0, 0);
    show_cancelled("free sem_wait", acquire_freely, &own);
    show_cancelled("read", read_for_ever, NULL);
    show_cancelled("sleep", sleep_for_ever, NULL);
    pthread_key_create(&key, lock_at_end);
    pthread_t thread;
    void *value;
    pthread_create(&thread, NULL, exit_early, NULL);
    pthread_join(thread, &value);
    printf("%s\n", (const char *)value);
    return 5;
}
