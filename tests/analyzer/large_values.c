/* Functions whose value depends on so much that no formula of it is of use, where threads wait. */
#include <pthread.h>

struct shelf {
    pthread_mutex_t mutex;
    pthread_cond_t filled;
    unsigned count, marks;
};

#define MARK(n)                                                                                    \
    if (shelf->marks & 1u << (n))                                                                  \
        rank = rank * 3 + (n);
#define MARKS(n) MARK(n) MARK((n) + 1) MARK((n) + 2) MARK((n) + 3)

/* 2^32 ways lead through it. */
static unsigned shelf_rank(const struct shelf *shelf) {
    unsigned rank = 0;
    MARKS(0)
    MARKS(4)
    MARKS(8)
    MARKS(12)
    MARKS(16)
    MARKS(20)
    MARKS(24)
    MARKS(28)
    return rank;
}

/* And several times over. */
static int shelf_compare(const struct shelf *a, const struct shelf *b) {
    if (shelf_rank(a) != shelf_rank(b))
        return shelf_rank(a) < shelf_rank(b) ? -1 : 1;
    return 0;
}

static int shelf_is_empty(const struct shelf *shelf) {
    return shelf->count == 0;
}

void shelf_put(struct shelf *shelf, const struct shelf *other) {
    pthread_mutex_lock(&shelf->mutex);
    if (shelf_compare(shelf, other) > 0)
        shelf->marks = 0;
    shelf->count++;
    pthread_cond_signal(&shelf->filled);
    pthread_mutex_unlock(&shelf->mutex);
}

void shelf_get(struct shelf *shelf) {
    pthread_mutex_lock(&shelf->mutex);
    while (shelf_is_empty(shelf))
        pthread_cond_wait(&shelf->filled, &shelf->mutex);
    shelf->count--;
    pthread_mutex_unlock(&shelf->mutex);
}
