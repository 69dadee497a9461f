/* One slot with a flag and a single condition for both directions. Many producers, main consumes.
 */
#include <pthread.h>
#include <stdbool.h>

#include "support.h"

static struct exchange {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    bool occupied;
    uint64_t item;
} exchange = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false, 0};

static void exchange_put(uint64_t item) {
    pthread_mutex_lock(&exchange.mutex);
    while (exchange.occupied)
        pthread_cond_wait(&exchange.changed, &exchange.mutex);
    exchange.item = item;
    exchange.occupied = true;
    pthread_cond_broadcast(&exchange.changed);
    pthread_mutex_unlock(&exchange.mutex);
}

static uint64_t exchange_get(void) {
    pthread_mutex_lock(&exchange.mutex);
    while (!exchange.occupied)
        pthread_cond_wait(&exchange.changed, &exchange.mutex);
    uint64_t item = exchange.item;
    exchange.occupied = false;
    pthread_cond_broadcast(&exchange.changed);
    pthread_mutex_unlock(&exchange.mutex);
    return item;
}

struct share {
    int first, end;
};

static void *parse(void *argument) {
    const struct share *share = argument;
    for (int line = share->first; line < share->end; line++)
        exchange_put(burn((uint64_t)line, 1150));
    return NULL;
}

int main(int argc, char **argv) {
    struct options options = read_options(argc, argv);
    int n = options.threads, lines = scaled(options, 400);
    struct share shares[n];
    pthread_t parsers[n];
    for (int i = 0; i < n; i++) {
        shares[i].first = lines * i / n;
        shares[i].end = lines * (i + 1) / n;
        pthread_create(&parsers[i], NULL, parse, &shares[i]);
    }
    uint64_t sum = 0;
    for (int i = 0; i < lines; i++)
        sum += burn(exchange_get(), 200);
    for (int i = 0; i < n; i++)
        pthread_join(parsers[i], NULL);
    print_result(sum);
    return 0;
}
