/* Rendering threads sleep at a barrier between pictures. There is one thread less than asked for:
 * the program's first one, which prepares and writes each picture alone, meets them and takes a
 * part, too. */
#include <pthread.h>

#include "support.h"

#define LINES 48

typedef struct {
    int parties, arrived, result;
    unsigned phase;
    pthread_mutex_t lock;
    pthread_cond_t moved_on;
} phaser_t;

typedef struct {
    pthread_t thread;
    phaser_t *phaser;
    int id, n, picture;
    uint64_t sum;
} painter_t;

/* Whoever comes last moves all on; they get what all gave together. */
static int phaser_meet(phaser_t *phaser, int give) {
    pthread_mutex_lock(&phaser->lock);
    unsigned phase = phaser->phase;
    phaser->result += give;
    if (++phaser->arrived == phaser->parties) {
        phaser->arrived = 0;
        phaser->phase++;
        pthread_cond_broadcast(&phaser->moved_on);
    }
    while (phaser->phase == phase)
        pthread_cond_wait(&phaser->moved_on, &phaser->lock);
    int result = phaser->result;
    pthread_mutex_unlock(&phaser->lock);
    return result;
}

static void paint_lines(painter_t *painter) {
    for (int line = painter->id; line < LINES; line += painter->n)
        painter->sum += burn((uint64_t)(painter->picture * LINES + line), 220);
    painter->picture++;
    phaser_meet(painter->phaser, 0);
}

static void *painter_thread(void *argument) {
    painter_t *painter = argument;

    while (phaser_meet(painter->phaser, 0) >= 0)
        paint_lines(painter);
    return NULL;
}

int main(int argc, char **argv) {
    struct options options = read_options(argc, argv);
    int n = options.threads, pictures = scaled(options, 40);
    phaser_t phaser = {.parties = n};
    painter_t *painters = calloc((size_t)n, sizeof *painters);
    uint64_t written = 0;

    pthread_mutex_init(&phaser.lock, NULL);
    pthread_cond_init(&phaser.moved_on, NULL);
    for (int i = 0; i < n; i++)
        painters[i] = (painter_t){.phaser = &phaser, .id = i, .n = n};
    for (int i = 1; i < n; i++)
        pthread_create(&painters[i].thread, NULL, painter_thread, &painters[i]);
    for (int picture = 0; picture < pictures; picture++) {
        written += burn((uint64_t)picture, 500);
        phaser_meet(&phaser, 0);
        paint_lines(&painters[0]);
        written ^= burn(written, 900);
    }
    phaser_meet(&phaser, -1);
    for (int i = 1; i < n; i++)
        pthread_join(painters[i].thread, NULL);
    for (int i = 0; i < n; i++)
        written += painters[i].sum;
    print_result(written);
    free(painters);
    return 0;
}
