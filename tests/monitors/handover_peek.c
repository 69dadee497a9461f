/* A lock that carries a value: possess, wait for a value, twist to another. The checks of the
 * chunks are combined in order; the value is the number of the chunk whose turn it is. */
#include <pthread.h>
#include <stdatomic.h>

#include "support.h"

typedef struct lock_s lock;

struct lock_s {
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    long value;
};

enum twist_op { TO, BY };
enum wait_op { TO_BE, NOT_TO_BE, TO_BE_MORE_THAN };

static lock *new_lock(long initial) {
    lock *bolt = malloc(sizeof(struct lock_s));
    if (bolt == NULL)
        abort();
    pthread_mutex_init(&bolt->mutex, NULL);
    pthread_cond_init(&bolt->cond, NULL);
    bolt->value = initial;
    return bolt;
}

static void possess(lock *bolt) {
    if (pthread_mutex_lock(&bolt->mutex) != 0)
        abort();
}

static void release(lock *bolt) {
    if (pthread_mutex_unlock(&bolt->mutex) != 0)
        abort();
}

static void twist(lock *bolt, enum twist_op op, long val) {
    if (op == TO)
        bolt->value = val;
    else
        bolt->value += val;
    pthread_cond_broadcast(&bolt->cond);
    release(bolt);
}

static void wait_for(lock *bolt, enum wait_op op, long val) {
    switch (op) {
    case TO_BE:
        while (bolt->value != val)
            pthread_cond_wait(&bolt->cond, &bolt->mutex);
        break;
    case NOT_TO_BE:
        while (bolt->value == val)
            pthread_cond_wait(&bolt->cond, &bolt->mutex);
        break;
    case TO_BE_MORE_THAN:
        while (bolt->value <= val)
            pthread_cond_wait(&bolt->cond, &bolt->mutex);
    }
}

static lock *turn;
static atomic_long sequence;
static long chunks;
static uint64_t check;

static void *check_thread(void *dummy) {
    long seq;

    while ((seq = atomic_fetch_add(&sequence, 1)) < chunks) {
        uint64_t sum = burn((uint64_t)seq, 900);
        possess(turn);
        wait_for(turn, TO_BE, seq);
        check = burn(check + sum, 90);
        twist(turn, TO, seq + 1);
    }
    return dummy;
}

int main(int argc, char **argv) {
    struct options options = read_options(argc, argv);
    pthread_t *th = malloc((size_t)options.threads * sizeof(pthread_t));

    turn = new_lock(0);
    chunks = scaled(options, 520);
    for (int i = 0; i < options.threads; i++)
        pthread_create(th + i, NULL, check_thread, NULL);
    for (int i = 0; i < options.threads; i++)
        pthread_join(th[i], NULL);
    free(turn);
    free(th);
    print_result(check);
    return 0;
}
