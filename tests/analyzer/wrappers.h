/* What programs put around pthreads: macros and inline functions. */
#ifndef WRAPPERS_H
#define WRAPPERS_H

#include <pthread.h>

#define POOL_MUTEX      pthread_mutex_t
#define POOL_LOCK(m)    pthread_mutex_lock((m))
#define POOL_UNLOCK(m)  pthread_mutex_unlock((m))
#define POOL_WAIT(c, m) pthread_cond_wait((c), (m))
#define POOL_SIGNAL(c)  pthread_cond_signal((c))

struct guard {
    pthread_mutex_t mutex;
};

static inline void guard_enter(struct guard *guard) {
    pthread_mutex_lock(&guard->mutex); //= fragment pthread_mutex_lock struct guard.mutex
}

static inline void guard_leave(struct guard *guard) {
    pthread_mutex_unlock(&guard->mutex);
}

static inline void guard_wait(pthread_cond_t *condition, pthread_mutex_t *mutex) {
    pthread_cond_wait(condition, mutex);
}

#endif
