/* A fixed number of items, divided by halves among so many threads: each thread hands half of its
 * threads and of its items to a new one. Then all take the leaves from one queue, each time one
 * item of it, put it back while it has more, and end when the last item of all is done. What comes
 * of the items is gathered under a lock of the root. Usage: halves THREADS */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum { ITEMS = 400, MOST_THREADS = 64 };

struct node {
    pthread_mutex_t lock; /* used at the same place in leaves and root */
    int left;
    struct node *next;
    bool is_end;
};

static struct node root = {.lock = PTHREAD_MUTEX_INITIALIZER, .left = ITEMS};
static struct node end = {.lock = PTHREAD_MUTEX_INITIALIZER, .is_end = true};

static struct {
    pthread_mutex_t mutex;
    pthread_cond_t filled;
    struct node *first;
    int length;
} queue = {.mutex = PTHREAD_MUTEX_INITIALIZER, .filled = PTHREAD_COND_INITIALIZER};

static unsigned long compute(unsigned long value, int rounds) {
    for (int i = 0; i < rounds * 1000; i++)
        value = value * 6364136223846793005UL + 1442695040888963407UL;
    return value;
}

static void put(struct node *node) {
    pthread_mutex_lock(&queue.mutex);
    node->next = queue.first;
    queue.first = node;
    queue.length++;
    pthread_cond_signal(&queue.filled);
    pthread_mutex_unlock(&queue.mutex);
}

static struct node *get(void) {
    pthread_mutex_lock(&queue.mutex);
    while (queue.length == 0)
        pthread_cond_wait(&queue.filled, &queue.mutex);
    struct node *node = queue.first;
    queue.first = node->next;
    queue.length--;
    pthread_mutex_unlock(&queue.mutex);
    return node;
}

static unsigned long lock_and_compute(struct node *node, int rounds, bool *none_left) {
    pthread_mutex_lock(&node->lock);
    unsigned long value = compute((unsigned long)node->left, rounds);
    *none_left = --node->left == 0;
    pthread_mutex_unlock(&node->lock);
    return value;
}

static unsigned long work(struct node *leaf) {
    unsigned long value = compute((unsigned long)leaf->left, 300 * leaf->left);
    bool leaf_done, all_done;
    put(leaf);
    for (;;) {
        struct node *node = get();
        if (node->is_end)
            break;
        value += lock_and_compute(node, 30, &leaf_done);
        if (!leaf_done)
            put(node);
        value += lock_and_compute(&root, 300, &all_done);
        if (all_done)
            put(&end);
    }
    put(&end); /* for the next thread */
    return value;
}

struct part {
    int items, threads;
    unsigned long value;
};

static unsigned long divide(int items, int threads);

static void *divide_part(void *arg) {
    struct part *part = arg;
    part->value = divide(part->items, part->threads);
    return NULL;
}

static unsigned long divide(int items, int threads) {
    int half = threads / 2;
    struct part part = {.items = items / 2, .threads = half};
    pthread_t thread;
    if (threads > 1 && pthread_create(&thread, NULL, divide_part, &part) == 0) {
        unsigned long value = divide(items - items / 2, threads - half);
        pthread_join(thread, NULL);
        return value + part.value;
    }
    struct node leaf = {.left = items};
    pthread_mutex_init(&leaf.lock, NULL);
    return work(&leaf);
}

int main(int argc, char **argv) {
    int threads = argc > 1 ? atoi(argv[1]) : 2;
    if (threads < 1 || threads > MOST_THREADS) {
        fprintf(stderr, "usage: halves THREADS\n");
        return 2;
    }
    printf("%lu\n", divide(ITEMS, threads) & 1);
    return 0;
}
