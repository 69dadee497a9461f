/* Batches are read, worked on and written: each thread carries one at a time through the three
 * stages, and no batch overtakes the one before it. Who carries on looks at all others' batches. */
#include <pthread.h>
#include <stdbool.h>

#include "support.h"

enum { STAGE_READ, STAGE_WORK, STAGE_WRITE, STAGES };

struct carrier {
    struct belt *belt;
    long batch;
    int stage; /* STAGES: has nothing more to carry */
    uint64_t data;
};

struct belt {
    pthread_mutex_t mutex;
    pthread_cond_t moved;
    struct carrier *carriers;
    int n_carriers;
    long next_batch, batches; /* `batches` are there to be read */
    uint64_t written;
};

static bool may_enter(const struct belt *belt, const struct carrier *carrier) {
    for (int i = 0; i < belt->n_carriers; i++) {
        const struct carrier *other = &belt->carriers[i];
        if (other->batch < carrier->batch && other->stage <= carrier->stage)
            return false;
    }
    return true;
}

/* False: there was nothing left to read. */
static bool carry(struct belt *belt, struct carrier *carrier) {
    switch (carrier->stage) {
    case STAGE_READ:
        if (carrier->batch >= belt->batches)
            return false;
        carrier->data = burn((uint64_t)carrier->batch, 250);
        return true;
    case STAGE_WORK:
        carrier->data = burn(carrier->data, 1500);
        return true;
    default:
        belt->written += burn(carrier->data, 350);
        return true;
    }
}

static void *carrier_run(void *argument) {
    struct carrier *me = argument;
    struct belt *belt = me->belt;
    while (me->stage < STAGES) {
        pthread_mutex_lock(&belt->mutex);
        while (!may_enter(belt, me))
            pthread_cond_wait(&belt->moved, &belt->mutex);
        pthread_mutex_unlock(&belt->mutex);

        bool more = carry(belt, me);

        pthread_mutex_lock(&belt->mutex);
        if (!more)
            me->stage = STAGES;
        else
            me->stage = (me->stage + 1) % STAGES;
        if (me->stage == STAGE_READ)
            me->batch = belt->next_batch++;
        pthread_cond_broadcast(&belt->moved);
        pthread_mutex_unlock(&belt->mutex);
    }
    return NULL;
}

int main(int argc, char **argv) {
    struct options options = read_options(argc, argv);
    struct belt belt = {.n_carriers = options.threads, .batches = scaled(options, 240)};
    pthread_mutex_init(&belt.mutex, NULL);
    pthread_cond_init(&belt.moved, NULL);
    belt.carriers = calloc((size_t)options.threads, sizeof *belt.carriers);
    for (int i = 0; i < options.threads; i++) {
        belt.carriers[i].belt = &belt;
        belt.carriers[i].batch = belt.next_batch++;
    }
    pthread_t *threads = calloc((size_t)options.threads, sizeof *threads);
    for (int i = 0; i < options.threads; i++)
        pthread_create(&threads[i], NULL, carrier_run, &belt.carriers[i]);
    for (int i = 0; i < options.threads; i++)
        pthread_join(threads[i], NULL);
    free(threads);
    free(belt.carriers);
    print_result(belt.written);
    return 0;
}
