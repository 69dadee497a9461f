/* A queue's functions that the compiler inlines; compiled with -finstrument-functions their hooks
 * remain. */
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int level;

static inline __attribute__((always_inline)) void jobs_put(int n) {
    pthread_mutex_lock(&mutex);
    level += n;
    pthread_mutex_unlock(&mutex);
}

static inline __attribute__((always_inline)) int jobs_get(void) {
    pthread_mutex_lock(&mutex);
    int got = level--;
    pthread_mutex_unlock(&mutex);
    return got;
}

static void *consume(void *unused) {
    for (int i = 0; i < 101; i++)
        if (jobs_get() < 0)
            return &level;
    return unused;
}

/* Left by longjmp, or by the thread's end. */
static jmp_buf back;

static inline __attribute__((always_inline)) void jobs_leave(int how) {
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    if (how == 0)
        longjmp(back, 1);
    pthread_exit(&back);
}

static void *end_inside(void *unused) {
    jobs_leave(1);
    return unused;
}

/* Not inlined: seen once, not twice. */
__attribute__((noinline)) void jobs_flush(int *from) {
    pthread_mutex_lock(&mutex);
    *from = 0;
    pthread_mutex_unlock(&mutex);
}

/* Referred to, so that there is a function to name. */
void (*put_pointer)(int) = jobs_put;
int (*get_pointer)(void) = jobs_get;
void (*leave_pointer)(int) = jobs_leave;

static __attribute__((noinline)) void jump_out(void) {
    if (setjmp(back) == 0)
        jobs_leave(0);
}

__attribute__((noipa)) static void lock_plainly(void) {
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
}

int main(void) {
    pthread_t thread;
    for (int i = 0; i < 11; i++)
        jobs_put(10);
    pthread_create(&thread, NULL, consume, NULL);
    void *result;
    pthread_join(thread, &result);
    printf("left %d %d\n", level, result == NULL);
    jobs_flush(&level);
    for (int i = 0; i < 3; i++)
        jump_out();
    lock_plainly();
    pthread_create(&thread, NULL, end_inside, NULL);
    pthread_join(thread, &result);
    printf("ended inside %d\n", result == &back);
    return 0;
}
