/* Error codes, goto, a magic number; sleeping readers and writers are counted, readers are woken
 * first. */
#include <errno.h>
#include <pthread.h>

#include "support.h"

#define RWL_MAGIC 0x19283746

typedef struct my_rwlock {
    int magic;
    pthread_mutex_t mutex;
    pthread_cond_t read, write;
    int w_active, r_active, w_wait, r_wait;
} my_rwlock_t;

static int my_rwl_init(my_rwlock_t *rwl) {
    int rv;

    memset(rwl, 0, sizeof(*rwl));
    if ((rv = pthread_mutex_init(&rwl->mutex, NULL)) != 0)
        return rv;
    if ((rv = pthread_cond_init(&rwl->read, NULL)) != 0)
        goto no_read;
    if ((rv = pthread_cond_init(&rwl->write, NULL)) != 0)
        goto no_write;
    rwl->magic = RWL_MAGIC;
    return 0;
no_write:
    pthread_cond_destroy(&rwl->read);
no_read:
    pthread_mutex_destroy(&rwl->mutex);
    return rv;
}

static int my_rwl_readlock(my_rwlock_t *rwl) {
    int rv = 0;

    if (rwl->magic != RWL_MAGIC)
        return EINVAL;
    pthread_mutex_lock(&rwl->mutex);
    if (rwl->w_active) {
        rwl->r_wait++;
        while (rwl->w_active) {
            rv = pthread_cond_wait(&rwl->read, &rwl->mutex);
            if (rv != 0)
                break;
        }
        rwl->r_wait--;
    }
    if (rv == 0)
        rwl->r_active++;
    pthread_mutex_unlock(&rwl->mutex);
    return rv;
}

static int my_rwl_readunlock(my_rwlock_t *rwl) {
    int rv = 0;

    if (rwl->magic != RWL_MAGIC)
        return EINVAL;
    pthread_mutex_lock(&rwl->mutex);
    rwl->r_active--;
    if (rwl->r_active == 0 && rwl->w_wait > 0)
        rv = pthread_cond_signal(&rwl->write);
    pthread_mutex_unlock(&rwl->mutex);
    return rv;
}

static int my_rwl_writelock(my_rwlock_t *rwl) {
    int rv = 0;

    if (rwl->magic != RWL_MAGIC)
        return EINVAL;
    pthread_mutex_lock(&rwl->mutex);
    if (rwl->w_active || rwl->r_active > 0) {
        rwl->w_wait++;
        while (rwl->w_active || rwl->r_active > 0) {
            rv = pthread_cond_wait(&rwl->write, &rwl->mutex);
            if (rv != 0)
                break;
        }
        rwl->w_wait--;
    }
    if (rv == 0)
        rwl->w_active = 1;
    pthread_mutex_unlock(&rwl->mutex);
    return rv;
}

static int my_rwl_writeunlock(my_rwlock_t *rwl) {
    int rv = 0;

    if (rwl->magic != RWL_MAGIC)
        return EINVAL;
    pthread_mutex_lock(&rwl->mutex);
    rwl->w_active = 0;
    if (rwl->r_wait > 0)
        rv = pthread_cond_broadcast(&rwl->read);
    else if (rwl->w_wait > 0)
        rv = pthread_cond_signal(&rwl->write);
    pthread_mutex_unlock(&rwl->mutex);
    return rv;
}

static my_rwlock_t rwl;
static uint64_t blob;

struct part {
    int from, to;
    uint64_t seen;
};

static void *session(void *arg) {
    struct part *part = arg;

    for (int i = part->from; i < part->to; i++) {
        if (i % 7 == 3) {
            if (my_rwl_writelock(&rwl) != 0)
                break;
            blob += burn((uint64_t)i, 500);
            my_rwl_writeunlock(&rwl);
        } else {
            if (my_rwl_readlock(&rwl) != 0)
                break;
            part->seen += burn((uint64_t)i, 500);
            my_rwl_readunlock(&rwl);
        }
        part->seen += burn((uint64_t)i + 1, 400);
    }
    return NULL;
}

int main(int argc, char **argv) {
    struct options options = read_options(argc, argv);
    int n = options.threads, total = scaled(options, 560);
    struct part *parts = calloc((size_t)n, sizeof(*parts));
    pthread_t *threads = calloc((size_t)n, sizeof(*threads));
    uint64_t sum = 0;

    if (my_rwl_init(&rwl) != 0)
        return 1;
    for (int i = 0; i < n; i++) {
        parts[i].from = total * i / n;
        parts[i].to = total * (i + 1) / n;
        pthread_create(&threads[i], NULL, session, &parts[i]);
    }
    for (int i = 0; i < n; i++) {
        pthread_join(threads[i], NULL);
        sum += parts[i].seen;
    }
    free(threads);
    free(parts);
    print_result(sum + blob);
    return 0;
}
