/* Amounts that the program sets in several ways. */
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

enum { LOG_PLACES = 5 };

struct store {
    pthread_mutex_t lock;
    pthread_cond_t freed;
    int places;
};

struct box {
    pthread_mutex_t lock;
    pthread_cond_t filled, emptied;
    int items, capacity;
};

static unsigned workers, total_places, places;
static pthread_mutex_t place_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t place_freed = PTHREAD_COND_INITIALIZER;
static struct store inputs, logs;
static struct box *todo, *notes;

/* ---- by branches, through a global of another function ---- */

static void set_limits(bool packs, bool small) {
    if (packs)
        total_places = 2u * workers;
    else if (small)
        total_places = 3u;
    else
        total_places = (workers << 2) + 1;
}

static void open_places(void) {
    places = total_places;
}

static void take_place(void) {
    pthread_mutex_lock(&place_lock);
    while (places == 0)
        pthread_cond_wait(&place_freed, &place_lock);
    places--;
    pthread_mutex_unlock(&place_lock);
}

static void free_place(void) {
    pthread_mutex_lock(&place_lock);
    places++;
    pthread_cond_signal(&place_freed);
    pthread_mutex_unlock(&place_lock);
}

/* ---- by the arguments of what makes the object ---- */

static void store_open(struct store *store, int amount) {
    pthread_mutex_init(&store->lock, NULL);
    pthread_cond_init(&store->freed, NULL);
    store->places = amount;
}

static void store_take(struct store *store) {
    pthread_mutex_lock(&store->lock);
    while (store->places == 0)
        pthread_cond_wait(&store->freed, &store->lock);
    store->places--;
    pthread_mutex_unlock(&store->lock);
}

static void store_give(struct store *store) {
    pthread_mutex_lock(&store->lock);
    store->places++;
    pthread_cond_signal(&store->freed);
    pthread_mutex_unlock(&store->lock);
}

static struct box *box_sized(int capacity, int spare) {
    struct box *box = calloc(1, sizeof *box);
    pthread_mutex_init(&box->lock, NULL);
    pthread_cond_init(&box->filled, NULL);
    pthread_cond_init(&box->emptied, NULL);
    box->capacity = capacity + spare;
    return box;
}

static struct box *box_new(int capacity) {
    return box_sized(capacity, 1);
}

static void box_put(struct box *box) {
    pthread_mutex_lock(&box->lock);
    while (box->items == box->capacity)
        pthread_cond_wait(&box->emptied, &box->lock);
    box->items++;
    pthread_cond_signal(&box->filled);
    pthread_mutex_unlock(&box->lock);
}

static void box_get(struct box *box) {
    pthread_mutex_lock(&box->lock);
    while (box->items == 0)
        pthread_cond_wait(&box->filled, &box->lock);
    box->items--;
    pthread_cond_signal(&box->emptied);
    pthread_mutex_unlock(&box->lock);
}

static void *work(void *arg) {
    take_place();
    store_take(&inputs);
    box_get(todo);
    box_put(notes);
    store_give(&inputs);
    free_place();
    return arg;
}

int main(int argc, char **argv) {
    pthread_t threads[64];
    workers = argc > 1 ? (unsigned)atoi(argv[1]) : 2;
    set_limits(argc > 2, argc > 3);
    open_places();
    store_open(&inputs, ((int)workers << 1) + 3);
    store_open(&logs, LOG_PLACES);
    todo = box_new((int)workers);
    notes = box_new(argc > 4 ? atoi(argv[4]) : LOG_PLACES);
    for (unsigned i = 0; i < workers; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    box_put(todo);
    box_get(notes);
    store_take(&logs);
    store_give(&logs);
    return 0;
}
