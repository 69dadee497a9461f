/* Counts words: main makes blocks of text and puts them into a queue with room for four, threads take and
 * count them. usage: words THREADS */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { BLOCKS = 1000, BYTES = 200000, ROOM = 4, PASSES = 5 };

static struct queue {
    pthread_mutex_t mutex;
    pthread_cond_t not_empty, not_full;
    char *blocks[ROOM];
    int first, count;
} queue = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, PTHREAD_COND_INITIALIZER, {0}, 0, 0};

static void put(char *block) {
    pthread_mutex_lock(&queue.mutex);
    while (queue.count == ROOM)
        pthread_cond_wait(&queue.not_full, &queue.mutex);
    queue.blocks[(queue.first + queue.count++) % ROOM] = block;
    pthread_cond_signal(&queue.not_empty);
    pthread_mutex_unlock(&queue.mutex);
}

static char *get(void) {
    pthread_mutex_lock(&queue.mutex);
    while (queue.count == 0)
        pthread_cond_wait(&queue.not_empty, &queue.mutex);
    char *block = queue.blocks[queue.first];
    queue.first = (queue.first + 1) % ROOM;
    queue.count--;
    pthread_cond_signal(&queue.not_full);
    pthread_mutex_unlock(&queue.mutex);
    return block;
}

static char *make_block(unsigned *seed) {
    char *block = malloc(BYTES);
    for (int i = 0; i < BYTES; i++)
        block[i] = (*seed = *seed * 1103515245 + 12345) >> 16 & 7 ? 'a' : ' ';
    return block;
}

static long count_words(const char *block) {
    long words = 0;
    for (int pass = 0; pass < PASSES; pass++)
        for (int i = 1; i < BYTES; i++)
            words += block[i - 1] == ' ' && block[i] != ' ';
    return words / PASSES;
}

static pthread_mutex_t total_mutex = PTHREAD_MUTEX_INITIALIZER;
static long total;

static void *count_blocks(void *unused) {
    char *block;
    while ((block = get()) != NULL) {
        long words = count_words(block);
        free(block);
        pthread_mutex_lock(&total_mutex);
        total += words;
        pthread_mutex_unlock(&total_mutex);
    }
    return unused;
}

int main(int argc, char **argv) {
    int threads = argc > 1 ? atoi(argv[1]) : 2;
    pthread_t ids[64];
    for (int i = 0; i < threads; i++)
        pthread_create(&ids[i], NULL, count_blocks, NULL);
    unsigned seed = 1;
    for (int i = 0; i < BLOCKS; i++)
        put(make_block(&seed));
    for (int i = 0; i < threads; i++)
        put(NULL);
    for (int i = 0; i < threads; i++)
        pthread_join(ids[i], NULL);
    printf("%ld words\n", total);
    return 0;
}
