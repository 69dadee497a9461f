/* KIND: threads made anew in each of thousands of short phases
 * BUILD: gcc -g -O2 -pthread threads_anew.c -o threads_anew
 * RUN: persik profile -- ./threads_anew 2; predict -- ./threads_anew {threads} */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "work.h"

enum { PHASES = 1000, CELLS = 64 };
static unsigned cells[CELLS];
static int threads;

static void *phase(void *arg) {
    int me = (int)(long)arg;
    for (int i = CELLS * me / threads; i < CELLS * (me + 1) / threads; i++)
        cells[i] = (unsigned)work(cells[i], 2);
    return NULL;
}

int main(int argc, char **argv) {
    threads = argc > 1 ? atoi(argv[1]) : 2;
    pthread_t *ids = malloc((size_t)threads * sizeof *ids);
    for (int p = 0; p < PHASES; p++) {
        for (int i = 0; i < threads; i++)
            pthread_create(&ids[i], NULL, phase, (void *)(long)i);
        for (int i = 0; i < threads; i++)
            pthread_join(ids[i], NULL);
    }
    printf("%u\n", cells[0]);
    return 0;
}
