/* What one thread alone does, told by the threads' numbers. Marks as in share.c. */
#include <pthread.h>
#include <stdlib.h>

struct worker {
    pthread_t thread;
    long id;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long n_threads, done;

static void note(void) {
    pthread_mutex_lock(&lock); //= solo none
    done++;
    pthread_mutex_unlock(&lock);
}

static void step(long me) {
    if (me == 0)
        note(); //= solo one
    if (me != 0) {
        note(); //= solo others
    } else {
        note(); //= solo one
    }
    if (!me)
        note(); //= solo one
    else
        note(); //= solo others
    if (me)
        note(); //= solo others
    if (me == n_threads - 1)
        note(); //= solo one
    if (done > 3 && me == 0)
        note(); //= solo one
    else
        note(); //= solo none
    if (me % 2 == 0)
        note(); //= solo none
    if (me > 0)
        note(); //= solo others
    if (me < 1)
        note(); //= solo one
    if (me < 2)
        note(); //= solo none
    if (done == 0)
        note(); //= solo none
    for (long other = 0; other < n_threads; other++)
        if (other == 0)
            note(); //= solo none
    for (long other = 0; other < n_threads; other++)
        if (other == me)
            note(); //= solo none
}

static void *run(void *argument) {
    const struct worker *self = argument;
    if (self->id == 0) {
        note(); //= solo one
    }
    step(self->id);
    return NULL;
}

int main(int argc, char **argv) {
    n_threads = argc > 1 ? atol(argv[1]) : 4;
    struct worker *workers = calloc((size_t)n_threads, sizeof *workers);
    for (long i = 0; i < n_threads; i++) {
        if (i == 0)
            note(); //= solo none
        workers[i].id = i;
        pthread_create(&workers[i].thread, NULL, run, &workers[i]);
    }
    for (long i = 0; i < n_threads; i++)
        pthread_join(workers[i].thread, NULL);
    free(workers);
    return done == 0;
}
