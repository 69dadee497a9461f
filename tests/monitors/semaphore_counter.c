/* P and V on a counter: at most three queries run at the same time, however many threads ask. */
#include <pthread.h>

#include "support.h"

typedef struct {
    pthread_mutex_t m;
    pthread_cond_t c;
    int value;
} sema_t;

static void sema_init(sema_t *s, int value) {
    pthread_mutex_init(&s->m, NULL);
    pthread_cond_init(&s->c, NULL);
    s->value = value;
}

static void sema_p(sema_t *s) {
    pthread_mutex_lock(&s->m);
    while (s->value <= 0)
        pthread_cond_wait(&s->c, &s->m);
    s->value--;
    pthread_mutex_unlock(&s->m);
}

static void sema_v(sema_t *s) {
    pthread_mutex_lock(&s->m);
    s->value++;
    pthread_cond_signal(&s->c);
    pthread_mutex_unlock(&s->m);
}

struct client {
    pthread_t thread;
    int from, to;
    uint64_t sum;
};

static sema_t connections;

static void *client_main(void *argument) {
    struct client *client = argument;
    for (int i = client->from; i < client->to; i++) {
        uint64_t query = burn((uint64_t)i, 300);
        sema_p(&connections);
        client->sum += burn(query, 1200);
        sema_v(&connections);
    }
    return NULL;
}

int main(int argc, char **argv) {
    struct options options = read_options(argc, argv);
    int threads = options.threads, queries = scaled(options, 320);
    struct client *clients = calloc((size_t)threads, sizeof *clients);
    sema_init(&connections, 3);
    for (int i = 0; i < threads; i++) {
        clients[i].from = queries * i / threads;
        clients[i].to = queries * (i + 1) / threads;
        pthread_create(&clients[i].thread, NULL, client_main, &clients[i]);
    }
    uint64_t sum = 0;
    for (int i = 0; i < threads; i++) {
        pthread_join(clients[i].thread, NULL);
        sum += clients[i].sum;
    }
    free(clients);
    print_result(sum);
    return 0;
}
