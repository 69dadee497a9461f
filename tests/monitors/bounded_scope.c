/* A lock that is held for the length of a block, by a macro made of two `for`.
 * `break` leaves the block and gives the lock back. */
#include <pthread.h>
#include <stdbool.h>

#include "support.h"

#define SYNCHRONISED(mutex)          SYNCHRONISED_AS(mutex, __LINE__)
#define SYNCHRONISED_AS(mutex, line) SYNCHRONISED_IN(mutex, line)
#define SYNCHRONISED_IN(mutex, line)                                                               \
    for (int leave_##line = 0;                                                                     \
         leave_##line ? (pthread_mutex_unlock(&(mutex)), 0) : (pthread_mutex_lock(&(mutex)), 1);   \
         leave_##line = 1)                                                                         \
        for (int done_##line = 0; !done_##line; done_##line = 1)

#define BLOCKS 5

struct block {
    struct block *next;
    int first;
};

struct transfer {
    pthread_mutex_t mutex;
    pthread_cond_t filled, emptied;
    struct block *full, **full_end;
    int n_full;
    bool finished;
};

static struct transfer transfer;

static void transfer_send(struct transfer *to, struct block *block) {
    SYNCHRONISED(to->mutex) {
        while (to->n_full >= BLOCKS)
            pthread_cond_wait(&to->emptied, &to->mutex);
        block->next = NULL;
        *to->full_end = block;
        to->full_end = &block->next;
        to->n_full++;
        pthread_cond_signal(&to->filled);
    }
}

static struct block *transfer_receive(struct transfer *from) {
    struct block *block = NULL;
    SYNCHRONISED(from->mutex) {
        while (from->n_full == 0 && !from->finished)
            pthread_cond_wait(&from->filled, &from->mutex);
        if (from->n_full == 0)
            break;
        block = from->full;
        from->full = block->next;
        if (!from->full)
            from->full_end = &from->full;
        from->n_full--;
        pthread_cond_signal(&from->emptied);
    }
    return block;
}

static void transfer_finish(struct transfer *to) {
    SYNCHRONISED(to->mutex) {
        to->finished = true;
        pthread_cond_broadcast(&to->filled);
    }
}

static void *receiver(void *argument) {
    uint64_t *sum = argument;
    for (struct block *block; (block = transfer_receive(&transfer)); free(block))
        *sum += burn((uint64_t)block->first, 900);
    return NULL;
}

int main(int argc, char **argv) {
    struct options options = read_options(argc, argv);
    pthread_t threads[options.threads];
    uint64_t sums[options.threads], sum = 0;
    pthread_mutex_init(&transfer.mutex, NULL);
    pthread_cond_init(&transfer.filled, NULL);
    pthread_cond_init(&transfer.emptied, NULL);
    transfer.full_end = &transfer.full;
    for (int i = 0; i < options.threads; i++) {
        sums[i] = 0;
        pthread_create(&threads[i], NULL, receiver, &sums[i]);
    }
    for (int i = 0; i < scaled(options, 420); i++) {
        struct block *block = malloc(sizeof *block);
        block->first = (int)(burn((uint64_t)i, 120) % 1000);
        transfer_send(&transfer, block);
    }
    transfer_finish(&transfer);
    for (int i = 0; i < options.threads; i++) {
        pthread_join(threads[i], NULL);
        sum += sums[i];
    }
    print_result(sum);
    return 0;
}
