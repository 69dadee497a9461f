/* KIND: OpenMP rounds over so many items for each thread, until all items are done
 * BUILD: gcc -g -O2 -fopenmp growing_rounds.c -o growing_rounds
 * RUN: OMP_NUM_THREADS=4; -- env OMP_NUM_THREADS={threads} ./growing_rounds */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#include "work.h"

enum { EACH = 5, MOST_THREADS = 64 };

int main(int argc, char **argv) {
    static uint64_t batch[EACH * MOST_THREADS];
    int size = EACH * omp_get_max_threads(), next = 0;
    int items = argc > 1 ? atoi(argv[1]) : 6000;
    uint64_t sum = 0;
    while (next < items) {
        int n = size < items - next ? size : items - next;
        for (int i = 0; i < n; i++)
            batch[i] = work((uint64_t)(next + i), 10);
#pragma omp parallel for schedule(dynamic)
        for (int i = 0; i < n; i++)
            batch[i] = work(batch[i], 200);
        for (int i = 0; i < n; i++)
            sum = sum * 31 + batch[i];
        next += n;
    }
    printf("%llu\n", (unsigned long long)sum);
    return 0;
}
