/* Writer preference: a waiting writer keeps new readers out. Two conditions, four counters. A few
 * editors write, all others read; both take their work from a common supply. */
#include <pthread.h>
#include <stdatomic.h>

#include "support.h"

typedef struct RWLock {
    pthread_mutex_t guard;
    pthread_cond_t okToRead;
    pthread_cond_t okToWrite;
    int activeReaders, activeWriters;
    int waitingReaders, waitingWriters;
} RWLock;

static void RWLockInit(RWLock *lock) {
    memset(lock, 0, sizeof *lock);
    pthread_mutex_init(&lock->guard, NULL);
    pthread_cond_init(&lock->okToRead, NULL);
    pthread_cond_init(&lock->okToWrite, NULL);
}

static void StartRead(RWLock *lock) {
    pthread_mutex_lock(&lock->guard);
    while (lock->activeWriters + lock->waitingWriters > 0) {
        lock->waitingReaders++;
        pthread_cond_wait(&lock->okToRead, &lock->guard);
        lock->waitingReaders--;
    }
    lock->activeReaders++;
    pthread_mutex_unlock(&lock->guard);
}

static void EndRead(RWLock *lock) {
    pthread_mutex_lock(&lock->guard);
    lock->activeReaders--;
    if (lock->activeReaders == 0 && lock->waitingWriters > 0)
        pthread_cond_signal(&lock->okToWrite);
    pthread_mutex_unlock(&lock->guard);
}

static void StartWrite(RWLock *lock) {
    pthread_mutex_lock(&lock->guard);
    while (lock->activeWriters + lock->activeReaders > 0) {
        lock->waitingWriters++;
        pthread_cond_wait(&lock->okToWrite, &lock->guard);
        lock->waitingWriters--;
    }
    lock->activeWriters = 1;
    pthread_mutex_unlock(&lock->guard);
}

static void EndWrite(RWLock *lock) {
    pthread_mutex_lock(&lock->guard);
    lock->activeWriters = 0;
    if (lock->waitingWriters > 0)
        pthread_cond_signal(&lock->okToWrite);
    else if (lock->waitingReaders > 0)
        pthread_cond_broadcast(&lock->okToRead);
    pthread_mutex_unlock(&lock->guard);
}

static RWLock catalogue;
static uint64_t pages;
static atomic_int supply;
static int requests;

static void *Session(void *out) {
    uint64_t sum = 0;
    for (int i; (i = atomic_fetch_add(&supply, 1)) < requests;) {
        uint64_t key = burn((uint64_t)i, 150);
        if (i % 10 == 0) {
            StartWrite(&catalogue);
            pages += burn(key, 500);
            EndWrite(&catalogue);
        } else {
            StartRead(&catalogue);
            sum += burn(key, 700);
            EndRead(&catalogue);
        }
    }
    *(uint64_t *)out = sum;
    return NULL;
}

int main(int argc, char **argv) {
    struct options options = read_options(argc, argv);
    int n = options.threads;
    pthread_t ids[n];
    uint64_t sums[n], sum = 0;
    requests = scaled(options, 550);
    RWLockInit(&catalogue);
    for (int i = 0; i < n; i++)
        pthread_create(&ids[i], NULL, Session, &sums[i]);
    for (int i = 0; i < n; i++) {
        pthread_join(ids[i], NULL);
        sum += sums[i];
    }
    print_result(sum + pages);
    return 0;
}
