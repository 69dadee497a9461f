/* Two phases, in and out: nobody enters the next round before all have left this one. Three
 * functions over one condition with two predicates. */
#include <pthread.h>
#include <stdbool.h>

#include "support.h"

static pthread_mutex_t door = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t moved = PTHREAD_COND_INITIALIZER;
static int inside, everybody;
static bool leaving;

static void enter_all(void) {
    pthread_mutex_lock(&door);
    while (leaving)
        pthread_cond_wait(&moved, &door);
    if (++inside == everybody) {
        leaving = true;
        pthread_cond_broadcast(&moved);
    }
    while (!leaving)
        pthread_cond_wait(&moved, &door);
    if (--inside == 0) {
        leaving = false;
        pthread_cond_broadcast(&moved);
    }
    pthread_mutex_unlock(&door);
}

static int sweeps;
static uint64_t *field;

struct strip {
    int index;
    uint64_t energy;
};

static void *relax(void *argument) {
    struct strip *strip = argument;
    int rows = 24;
    for (int sweep = 0; sweep < sweeps; sweep++) {
        for (int row = strip->index; row < rows; row += everybody)
            field[row] = burn(field[row] + (uint64_t)sweep, 220);
        enter_all();
    }
    for (int row = strip->index; row < rows; row += everybody)
        strip->energy += field[row];
    return NULL;
}

int main(int argc, char **argv) {
    struct options options = read_options(argc, argv);
    everybody = options.threads;
    sweeps = scaled(options, 95);
    field = calloc(24, sizeof *field);
    pthread_t threads[everybody];
    struct strip strips[everybody];
    for (int i = 0; i < everybody; i++) {
        strips[i] = (struct strip){i, 0};
        pthread_create(&threads[i], NULL, relax, &strips[i]);
    }
    uint64_t energy = 0;
    for (int i = 0; i < everybody; i++) {
        pthread_join(threads[i], NULL);
        energy += strips[i].energy;
    }
    free(field);
    print_result(energy);
    return 0;
}
