#define _GNU_SOURCE
#include "slow_function.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static __thread int depth;       /* slowed functions that the thread is in */
static __thread double since_ns; /* CPU time from which on it is to be stretched */
static double factor = 1;
static const char *function_name = "";
static size_t name_length;
static _Atomic uint64_t taken_ns; /* CPU time of the function with what it was stretched by */

static double cpu_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static __attribute__((constructor)) void read_what_is_slowed(void) {
    const char *wanted = getenv("SLOWED");
    const char *number = wanted ? strchr(wanted, '=') : NULL;
    if (!number)
        return;
    function_name = wanted;
    name_length = (size_t)(number - wanted);
    factor = strtod(number + 1, NULL);
}

/* What the function took in the whole run: what it computes itself may be slower beside others that
 * spin, so that it is slower by another factor than the one asked for. */
static __attribute__((destructor)) void log_what_it_took(void) {
    const char *path = getenv("SLOWED_LOG");
    FILE *log = path && name_length > 0 ? fopen(path, "a") : NULL;
    if (!log)
        return;
    fprintf(log, "%.6f\n", (double)taken_ns / 1e9);
    fclose(log);
}

static void stretch(void) {
    double now_ns = cpu_ns();
    double end_ns = now_ns + (factor - 1) * (now_ns - since_ns);
    while (now_ns < end_ns) {
        for (volatile int i = 0; i < 500; i++) /* rather in the program than in the kernel */
            ;
        now_ns = cpu_ns();
    }
    atomic_fetch_add_explicit(&taken_ns, (uint64_t)(now_ns - since_ns), memory_order_relaxed);
}

int slow_enter(const char *function) {
    bool is_slow =
        strncmp(function, function_name, name_length) == 0 && function[name_length] == '\0';
    if (is_slow && depth++ == 0)
        since_ns = cpu_ns();
    return is_slow;
}

void slow_leave(const int *is_slow) {
    if (*is_slow && --depth == 0)
        stretch();
}

/* ---- calls that persik records: the linker sends them here (--wrap) ---- */

#define WRAP(type, name, parameters, arguments)                                                    \
    type __real_##name parameters;                                                                 \
    type __wrap_##name parameters;                                                                 \
    type __wrap_##name parameters {                                                                \
        if (depth > 0)                                                                             \
            stretch();                                                                             \
        type given = __real_##name arguments;                                                      \
        if (depth > 0)                                                                             \
            since_ns = cpu_ns();                                                                   \
        return given;                                                                              \
    }

WRAP(int, pthread_mutex_lock, (pthread_mutex_t * mutex), (mutex))
WRAP(int, pthread_mutex_unlock, (pthread_mutex_t * mutex), (mutex))
WRAP(int, pthread_cond_wait, (pthread_cond_t * condition, pthread_mutex_t *mutex),
     (condition, mutex))
WRAP(int, pthread_cond_timedwait,
     (pthread_cond_t * condition, pthread_mutex_t *mutex, const struct timespec *until),
     (condition, mutex, until))
WRAP(int, pthread_cond_signal, (pthread_cond_t * condition), (condition))
WRAP(int, pthread_cond_broadcast, (pthread_cond_t * condition), (condition))
WRAP(int, pthread_barrier_wait, (pthread_barrier_t * barrier), (barrier))
WRAP(int, pthread_create,
     (pthread_t * thread, const pthread_attr_t *attributes, void *(*routine)(void *),
      void *argument),
     (thread, attributes, routine, argument))
WRAP(int, pthread_join, (pthread_t thread, void **result), (thread, result))
WRAP(int, sem_wait, (sem_t * semaphore), (semaphore))
WRAP(int, sem_post, (sem_t * semaphore), (semaphore))
WRAP(ssize_t, read, (int file, void *data, size_t bytes), (file, data, bytes))
WRAP(ssize_t, write, (int file, const void *data, size_t bytes), (file, data, bytes))
WRAP(size_t, fread, (void *data, size_t size, size_t n, FILE *file), (data, size, n, file))
WRAP(size_t, fwrite, (const void *data, size_t size, size_t n, FILE *file), (data, size, n, file))
