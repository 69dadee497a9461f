/* Spaces from a pool with a count of free ones, one more than there are threads: the reader takes
 * one for every chunk and passes it on in a pipe; the worker that has used it drops it. */
#include <pthread.h>
#include <unistd.h>

#include "support.h"

struct space {
    uint64_t *buf;
    struct pool *pool;
    struct space *next;
    int number;
};

struct pool {
    pthread_mutex_t have;
    pthread_cond_t more;
    struct space *head;
    int free, made;
};

static struct pool in_pool;
static int feed[2];

static void new_pool(struct pool *pool, int limit) {
    pthread_mutex_init(&pool->have, NULL);
    pthread_cond_init(&pool->more, NULL);
    pool->head = NULL;
    pool->free = 0;
    for (pool->made = 0; pool->made < limit; pool->made++) {
        struct space *space = calloc(1, sizeof(struct space));
        space->buf = calloc(256, sizeof(uint64_t));
        space->pool = pool;
        space->next = pool->head;
        pool->head = space;
        pool->free++;
    }
}

static struct space *get_space(struct pool *pool) {
    struct space *space;

    pthread_mutex_lock(&pool->have);
    while (pool->free == 0)
        pthread_cond_wait(&pool->more, &pool->have);
    space = pool->head;
    pool->head = space->next;
    pool->free--;
    pthread_mutex_unlock(&pool->have);
    return space;
}

static void drop_space(struct space *space) {
    struct pool *pool = space->pool;

    pthread_mutex_lock(&pool->have);
    space->next = pool->head;
    pool->head = space;
    pool->free++;
    pthread_cond_signal(&pool->more);
    pthread_mutex_unlock(&pool->have);
}

static void *compress_thread(void *arg) {
    uint64_t *check = arg;
    struct space *space;

    while (read(feed[0], &space, sizeof(space)) == (ssize_t)sizeof(space) && space != NULL) {
        *check += burn(space->buf[space->number % 256], 1000);
        drop_space(space);
    }
    return NULL;
}

static void send_space(struct space *space) {
    if (write(feed[1], &space, sizeof(space)) != (ssize_t)sizeof(space))
        abort();
}

int main(int argc, char **argv) {
    struct options options = read_options(argc, argv);
    int procs = options.threads, chunks = scaled(options, 440);
    pthread_t threads[procs];
    uint64_t checks[procs], check = 0;

    memset(checks, 0, sizeof(checks));
    if (pipe(feed) != 0)
        return 1;
    new_pool(&in_pool, procs + 1);
    for (int i = 0; i < procs; i++)
        pthread_create(&threads[i], NULL, compress_thread, &checks[i]);
    for (int i = 0; i < chunks; i++) {
        struct space *space = get_space(&in_pool);
        space->number = i;
        space->buf[i % 256] = burn((uint64_t)i, 140);
        send_space(space);
    }
    for (int i = 0; i < procs; i++)
        send_space(NULL);
    for (int i = 0; i < procs; i++) {
        pthread_join(threads[i], NULL);
        check += checks[i];
    }
    for (struct space *space; (space = in_pool.head) != NULL; free(space)) {
        in_pool.head = space->next;
        free(space->buf);
    }
    print_result(check);
    return 0;
}
