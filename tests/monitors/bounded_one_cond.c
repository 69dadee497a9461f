/* A list with a limit, one condition for readers and writers, broadcast only when the queue was at
 * an edge; the limit counts down as free places. */
#include <pthread.h>

#include "support.h"

typedef struct node {
    struct node *next;
    int payload;
} node;

static pthread_mutex_t big_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t state_changed = PTHREAD_COND_INITIALIZER;
static node *queue_front, *queue_back;
static int places_left = 9;

static void submit(node *n) {
    n->next = NULL;
    pthread_mutex_lock(&big_lock);
    while (places_left <= 0)
        pthread_cond_wait(&state_changed, &big_lock);
    places_left--;
    if (queue_front == NULL) {
        queue_front = n;
        pthread_cond_broadcast(&state_changed);
    } else {
        queue_back->next = n;
    }
    queue_back = n;
    pthread_mutex_unlock(&big_lock);
}

static node *retrieve(void) {
    pthread_mutex_lock(&big_lock);
    while (queue_front == NULL)
        pthread_cond_wait(&state_changed, &big_lock);
    node *n = queue_front;
    queue_front = n->next;
    if (places_left++ == 0)
        pthread_cond_broadcast(&state_changed);
    pthread_mutex_unlock(&big_lock);
    return n;
}

static void *run(void *out) {
    uint64_t acc = 0;
    for (;;) {
        node *n = retrieve();
        int payload = n->payload;
        free(n);
        if (payload == 0)
            break;
        acc ^= burn((uint64_t)payload, 1300);
    }
    *(uint64_t *)out = acc;
    return NULL;
}

static node *make_node(int payload) {
    node *n = malloc(sizeof *n);
    n->payload = payload;
    return n;
}

int main(int argc, char **argv) {
    struct options options = read_options(argc, argv);
    int workers = options.threads, todo = scaled(options, 380);
    pthread_t handle[workers];
    uint64_t part[workers], sum = 0;
    for (int i = 0; i < workers; i++)
        pthread_create(&handle[i], NULL, run, &part[i]);
    for (int i = 1; i <= todo; i++) {
        sum ^= burn((uint64_t)i + 77, 60);
        submit(make_node(i));
    }
    for (int i = 0; i < workers; i++)
        submit(make_node(0));
    for (int i = 0; i < workers; i++) {
        pthread_join(handle[i], NULL);
        sum ^= part[i];
    }
    print_result(sum);
    return 0;
}
