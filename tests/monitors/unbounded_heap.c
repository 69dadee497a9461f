/* A priority queue: a binary heap in an array that grows; the most urgent entry goes first. */
#include <pthread.h>
#include <stdbool.h>

#include "support.h"

struct entry {
    int urgency, id;
};

struct heap {
    pthread_mutex_t mutex;
    pthread_cond_t not_empty;
    struct entry *entries;
    size_t size, allocated;
    bool sealed;
};

static struct heap heap = {.mutex = PTHREAD_MUTEX_INITIALIZER,
                           .not_empty = PTHREAD_COND_INITIALIZER};

static void swap(struct entry *a, struct entry *b) {
    struct entry t = *a;
    *a = *b;
    *b = t;
}

static void sift_up(struct entry *e, size_t i) {
    for (; i > 0 && e[(i - 1) / 2].urgency < e[i].urgency; i = (i - 1) / 2)
        swap(&e[i], &e[(i - 1) / 2]);
}

static void sift_down(struct entry *e, size_t n) {
    for (size_t i = 0;;) {
        size_t child = 2 * i + 1;
        if (child >= n)
            return;
        if (child + 1 < n && e[child + 1].urgency > e[child].urgency)
            child++;
        if (e[i].urgency >= e[child].urgency)
            return;
        swap(&e[i], &e[child]);
        i = child;
    }
}

static void heap_insert(struct heap *h, struct entry entry) {
    pthread_mutex_lock(&h->mutex);
    if (h->size == h->allocated) {
        h->allocated = h->allocated ? 2 * h->allocated : 16;
        h->entries = realloc(h->entries, h->allocated * sizeof *h->entries);
    }
    h->entries[h->size] = entry;
    sift_up(h->entries, h->size++);
    pthread_cond_signal(&h->not_empty);
    pthread_mutex_unlock(&h->mutex);
}

static bool heap_extract(struct heap *h, struct entry *entry) {
    pthread_mutex_lock(&h->mutex);
    while (h->size == 0 && !h->sealed)
        pthread_cond_wait(&h->not_empty, &h->mutex);
    bool found = h->size > 0;
    if (found) {
        *entry = h->entries[0];
        h->entries[0] = h->entries[--h->size];
        sift_down(h->entries, h->size);
    }
    pthread_mutex_unlock(&h->mutex);
    return found;
}

static void heap_seal(struct heap *h) {
    pthread_mutex_lock(&h->mutex);
    h->sealed = true;
    pthread_cond_broadcast(&h->not_empty);
    pthread_mutex_unlock(&h->mutex);
}

static void *expand(void *argument) {
    struct entry entry;
    while (heap_extract(&heap, &entry))
        *(uint64_t *)argument += burn((uint64_t)entry.id, 950);
    return NULL;
}

int main(int argc, char **argv) {
    struct options options = read_options(argc, argv);
    pthread_t threads[options.threads];
    uint64_t found[options.threads], sum = 0;
    memset(found, 0, sizeof found);
    for (int i = 0; i < options.threads; i++)
        pthread_create(&threads[i], NULL, expand, &found[i]);
    for (int id = 0; id < scaled(options, 360); id++) {
        uint64_t hash = burn((uint64_t)id, 420);
        sum += hash;
        heap_insert(&heap, (struct entry){(int)(hash % 100), id});
    }
    heap_seal(&heap);
    for (int i = 0; i < options.threads; i++) {
        pthread_join(threads[i], NULL);
        sum += found[i];
    }
    free(heap.entries);
    print_result(sum);
    return 0;
}
