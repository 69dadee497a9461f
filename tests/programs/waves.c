/* KIND: threads made in waves, as many at a time as there may be, until all pages are done
 * BUILD: gcc -g -O2 -pthread waves.c -o waves
 * RUN: persik profile -- ./waves 4; predict -- ./waves {threads} */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "work.h"

enum { PAGES = 240, MOST_THREADS = 64 };

static uint64_t printed[PAGES];

static void *typeset(void *arg) {
    int page = (int)(intptr_t)arg;
    printed[page] = work((uint64_t)page, 5000);
    return NULL;
}

int main(int argc, char **argv) {
    int threads = argc > 1 ? atoi(argv[1]) : 2;
    pthread_t ids[MOST_THREADS];
    uint64_t sum = 0;
    for (int page = 0; page < PAGES;) {
        int first = page, running = 0;
        for (int i = 0; i < threads && page < PAGES; i++, page++, running++)
            pthread_create(&ids[i], NULL, typeset, (void *)(intptr_t)page);
        for (int i = 0; i < running; i++)
            pthread_join(ids[i], NULL);
        for (int i = first; i < page; i++)
            sum = sum * 31 + work(printed[i], 100);
    }
    printf("%llu\n", (unsigned long long)sum);
    return 0;
}
