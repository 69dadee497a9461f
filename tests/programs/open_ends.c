/* Programs whose work is a total, however many threads there are, which no single loop of a
 * thread's shows:
 *
 *     open_ends ACT THREADS
 *
 *     together  the threads go on until all of them together have done enough
 *     batches   threads are made in batches until a total is done: fewer batches of more threads
 *     each      each thread does the same: to tell these apart from */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 64, TOTAL = 240, SPIN = 300000 };

static atomic_int done;

static void spin(void) {
    for (volatile int i = 0; i < SPIN; i++)
        continue;
}

static int is_enough(void) {
    return atomic_load(&done) >= TOTAL;
}

static void *together(void *unused) {
    while (!is_enough()) {
        spin();
        atomic_fetch_add(&done, 1);
    }
    return unused;
}

static void *piece(void *unused) {
    for (int i = 0; i < 10; i++)
        spin();
    return unused;
}

static void *each(void *unused) {
    for (int i = 0; i < TOTAL / 4; i++)
        spin();
    return unused;
}

static int run(void *(*routine)(void *), int threads) {
    pthread_t ids[MOST];
    for (int i = 0; i < threads; i++)
        if (pthread_create(&ids[i], NULL, routine, NULL) != 0)
            return 1;
    for (int i = 0; i < threads; i++)
        pthread_join(ids[i], NULL);
    return 0;
}

static int run_batches(int threads) {
    pthread_t ids[MOST];
    for (int at = 0; at < TOTAL;) {
        int made = 0;
        for (int i = 0; i < threads && at < TOTAL; i++, at += 10, made++)
            if (pthread_create(&ids[i], NULL, piece, NULL) != 0)
                return 1;
        for (int i = 0; i < made; i++)
            pthread_join(ids[i], NULL);
    }
    return 0;
}

int main(int argc, char **argv) {
    int threads = argc == 3 ? atoi(argv[2]) : 0;
    if (threads < 1 || threads > MOST)
        return 2;
    if (strcmp(argv[1], "batches") == 0)
        return run_batches(threads);
    return strcmp(argv[1], "together") == 0 ? run(together, threads) : run(each, threads);
}
