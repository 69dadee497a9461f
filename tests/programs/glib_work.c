/* GLib's tools in one program: a thread pool whose tasks end in a queue of results, a table under a
 * read-write lock, a total under a mutex, a condition for "enough is done", threads that pass
 * items on. Usage: glib_work THREADS TASKS exclusive|shared */
#include <glib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TABLE = 64, WORK = 20000, NAP_US = 1000, SLEEPERS_MS = 5 };

static GMutex lock;
static GCond enough;
static GRWLock table_lock;
static GRecMutex log_lock;
static unsigned table[TABLE];
static unsigned done, half;
static unsigned long total;
static GAsyncQueue *results;

static unsigned long compute(unsigned long seed) {
    for (int i = 0; i < WORK; i++)
        seed = seed * 6364136223846793005UL + 1442695040888963407UL;
    return seed;
}

static void task(gpointer item, gpointer data) {
    unsigned number = GPOINTER_TO_UINT(item);
    unsigned long value = compute(number * GPOINTER_TO_UINT(data));
    g_rw_lock_reader_lock(&table_lock);
    value += table[number % TABLE];
    g_rw_lock_reader_unlock(&table_lock);
    if (number % 16 == 0) {
        g_rw_lock_writer_lock(&table_lock);
        table[number % TABLE] += 0; /* what is read stays the same for any order */
        g_rw_lock_writer_unlock(&table_lock);
    }
    g_rec_mutex_lock(&log_lock);
    g_rec_mutex_lock(&log_lock);
    g_rec_mutex_unlock(&log_lock);
    g_rec_mutex_unlock(&log_lock);
    g_mutex_lock(&lock);
    total += value;
    if (++done == half)
        g_cond_broadcast(&enough);
    g_mutex_unlock(&lock);
    g_async_queue_push(results, item);
}

/* Sums up what comes out of the pool, until the number that never comes out of it. */
static gpointer collect(gpointer data) {
    (void)data;
    unsigned long sum = 0;
    for (;;) {
        unsigned number = GPOINTER_TO_UINT(g_async_queue_pop(results));
        if (number == G_MAXUINT)
            return (gpointer)sum;
        sum += compute(number) & 1 ? number : 0;
    }
}

int main(int argc, char **argv) {
    if (argc != 4)
        return 2;
    int threads = atoi(argv[1]);
    unsigned tasks = (unsigned)atoi(argv[2]);
    half = tasks / 2;
    results = g_async_queue_new();
    for (int i = 0; i < TABLE; i++)
        table[i] = (unsigned)i;

    gpointer nothing = g_async_queue_timeout_pop(results, NAP_US);
    g_mutex_lock(&lock);
    gboolean early = g_cond_wait_until(&enough, &lock, g_get_monotonic_time() + NAP_US);
    g_mutex_unlock(&lock);

    GThread *collector = g_thread_new("collector", collect, NULL);
    GThreadPool *pool = g_thread_pool_new(task, GUINT_TO_POINTER(7), threads,
                                          strcmp(argv[3], "exclusive") == 0, NULL);
    gboolean same = pool->user_data == GUINT_TO_POINTER(7);
    for (unsigned i = 1; i <= tasks; i++)
        g_thread_pool_push(pool, GUINT_TO_POINTER(i), NULL);
    g_mutex_lock(&lock);
    while (done < half)
        g_cond_wait(&enough, &lock);
    g_mutex_unlock(&lock);
    g_thread_pool_free(pool, FALSE, TRUE);
    g_async_queue_push(results, GUINT_TO_POINTER(G_MAXUINT));
    unsigned long sum = (unsigned long)g_thread_join(collector);

    printf("%d %d %d %u %lu %lu\n", nothing == NULL, early, same, done, total, sum);
    g_async_queue_unref(results);
    return 0;
}
