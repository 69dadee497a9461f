/* Connections to a database: an array of slots with an "in use" flag each; whoever wants one scans
 * the array, and scans again after each wait. */
#include <pthread.h>
#include <stdbool.h>

#include "support.h"

#define MAX_CONNECTIONS 2

struct connection {
    bool in_use;
    unsigned queries;
};

static struct connection_pool {
    pthread_mutex_t mutex;
    pthread_cond_t available;
    struct connection connections[MAX_CONNECTIONS];
} pool = {.mutex = PTHREAD_MUTEX_INITIALIZER, .available = PTHREAD_COND_INITIALIZER};

static struct connection *find_free(struct connection_pool *p) {
    for (size_t i = 0; i < MAX_CONNECTIONS; i++)
        if (!p->connections[i].in_use)
            return &p->connections[i];
    return NULL;
}

static struct connection *checkout(struct connection_pool *p) {
    struct connection *c;
    pthread_mutex_lock(&p->mutex);
    while ((c = find_free(p)) == NULL)
        pthread_cond_wait(&p->available, &p->mutex);
    c->in_use = true;
    pthread_mutex_unlock(&p->mutex);
    return c;
}

static void checkin(struct connection_pool *p, struct connection *c) {
    pthread_mutex_lock(&p->mutex);
    c->in_use = false;
    pthread_mutex_unlock(&p->mutex);
    pthread_cond_signal(&p->available);
}

struct handler {
    pthread_t thread;
    int first, end;
    uint64_t sum;
};

static void *handle(void *argument) {
    struct handler *h = argument;
    for (int i = h->first; i < h->end; i++) {
        uint64_t request = burn((uint64_t)i, 450);
        struct connection *c = checkout(&pool);
        c->queries++;
        uint64_t row = burn(request, 550);
        checkin(&pool, c);
        h->sum += burn(row, 250);
    }
    return NULL;
}

int main(int argc, char **argv) {
    struct options options = read_options(argc, argv);
    int n = options.threads, requests = scaled(options, 420);
    struct handler *handlers = calloc((size_t)n, sizeof *handlers);
    for (int i = 0; i < n; i++) {
        handlers[i].first = requests * i / n;
        handlers[i].end = requests * (i + 1) / n;
        pthread_create(&handlers[i].thread, NULL, handle, &handlers[i]);
    }
    uint64_t sum = 0;
    for (int i = 0; i < n; i++) {
        pthread_join(handlers[i].thread, NULL);
        sum += handlers[i].sum;
    }
    free(handlers);
    print_result(sum);
    return 0;
}
