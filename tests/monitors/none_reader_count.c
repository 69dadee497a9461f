/* Readers and writers of a table are counted, for the statistics: they exclude nobody. The contents
 * are atomic. */
#include <pthread.h>
#include <stdatomic.h>

#include "support.h"

struct usage {
    pthread_mutex_t mutex;
    int readers, writers;
    unsigned long overlaps;
};

static struct usage usage = {.mutex = PTHREAD_MUTEX_INITIALIZER};
static atomic_uint_fast64_t table[32];

static void begin_read(struct usage *u) {
    pthread_mutex_lock(&u->mutex);
    u->readers++;
    if (u->writers > 0)
        u->overlaps++;
    pthread_mutex_unlock(&u->mutex);
}

static void end_read(struct usage *u) {
    pthread_mutex_lock(&u->mutex);
    u->readers--;
    pthread_mutex_unlock(&u->mutex);
}

static void begin_write(struct usage *u) {
    pthread_mutex_lock(&u->mutex);
    u->writers++;
    if (u->readers > 0)
        u->overlaps++;
    pthread_mutex_unlock(&u->mutex);
}

static void end_write(struct usage *u) {
    pthread_mutex_lock(&u->mutex);
    u->writers--;
    pthread_mutex_unlock(&u->mutex);
}

struct user {
    pthread_t thread;
    int from, to;
    uint64_t sum;
};

static void *use(void *argument) {
    struct user *user = argument;
    for (int i = user->from; i < user->to; i++) {
        if (i % 6 == 0) {
            begin_write(&usage);
            atomic_fetch_add(&table[i % 32], burn((uint64_t)i, 550));
            end_write(&usage);
        } else {
            begin_read(&usage);
            user->sum += burn((uint64_t)i, 550);
            end_read(&usage);
        }
        user->sum += burn((uint64_t)i + 1, 150);
    }
    return NULL;
}

int main(int argc, char **argv) {
    struct options options = read_options(argc, argv);
    int n = options.threads, total = scaled(options, 700);
    struct user *users = calloc((size_t)n, sizeof *users);
    uint64_t sum = 0;
    for (int i = 0; i < n; i++) {
        users[i].from = total * i / n;
        users[i].to = total * (i + 1) / n;
        pthread_create(&users[i].thread, NULL, use, &users[i]);
    }
    for (int i = 0; i < n; i++) {
        pthread_join(users[i].thread, NULL);
        sum += users[i].sum;
    }
    for (int i = 0; i < 32; i++)
        sum += atomic_load(&table[i]);
    free(users);
    print_result(sum);
    return 0;
}
