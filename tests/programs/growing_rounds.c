/* KIND: OpenMP rounds over so many items for each thread, until all items are done
 * BUILD: gcc -g -O2 -fopenmp growing_rounds.c -o growing_rounds
 * RUN: OMP_NUM_THREADS=4 persik profile -- ./growing_rounds; predict -- env OMP_NUM_THREADS={threads} ./growing_rounds */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#include "work.h"

enum { ITEMS = 6000, EACH = 5, MOST_THREADS = 64 };

int main(void) {
    static uint64_t batch[EACH * MOST_THREADS];
    int size = EACH * omp_get_max_threads(), next = 0;
    uint64_t sum = 0;
    while (next < ITEMS) {
        int n = size < ITEMS - next ? size : ITEMS - next;
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
