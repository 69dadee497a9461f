/* Optimistic updates: the amount is booked if nobody has changed the version meanwhile, else it is
 * tried again after a short sleep. Conflicts are counted; a commit wakes nobody. */
#include <pthread.h>
#include <stdbool.h>
#include <time.h>

#include "support.h"

struct account {
    pthread_mutex_t mutex;
    unsigned version;
    uint64_t total;
    unsigned long conflicts;
};

static struct account account = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static bool account_commit(struct account *a, unsigned version, uint64_t amount) {
    bool current;
    pthread_mutex_lock(&a->mutex);
    current = a->version == version;
    if (current) {
        a->version++;
        a->total += amount;
    } else {
        a->conflicts++;
    }
    pthread_mutex_unlock(&a->mutex);
    return current;
}

static unsigned account_version(struct account *a) {
    pthread_mutex_lock(&a->mutex);
    unsigned version = a->version;
    pthread_mutex_unlock(&a->mutex);
    return version;
}

static int threads, bookings;

static void *book(void *argument) {
    static const struct timespec pause = {0, 200000};
    for (int i = (int)(intptr_t)argument; i < bookings; i += threads) {
        uint64_t amount = burn((uint64_t)i, 800);
        while (!account_commit(&account, account_version(&account), amount))
            nanosleep(&pause, NULL);
    }
    return NULL;
}

int main(int argc, char **argv) {
    struct options options = read_options(argc, argv);
    threads = options.threads;
    bookings = scaled(options, 600);
    pthread_t ids[threads];
    for (int i = 0; i < threads; i++)
        pthread_create(&ids[i], NULL, book, (void *)(intptr_t)i);
    for (int i = 0; i < threads; i++)
        pthread_join(ids[i], NULL);
    print_result(account.total + account.version);
    return 0;
}
