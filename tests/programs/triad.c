/* KIND: memory bandwidth, OpenMP
 * BUILD: gcc -g -O2 -fopenmp triad.c -o triad
 * RUN: OMP_NUM_THREADS=2 persik profile -- ./triad; -- env OMP_NUM_THREADS={threads} ./triad */
#include <stdio.h>
#include <stdlib.h>

enum { LENGTH = 1 << 23, PASSES = 40 };

int main(void) {
    double *a = malloc(LENGTH * sizeof *a), *b = malloc(LENGTH * sizeof *b),
           *c = malloc(LENGTH * sizeof *c);
    if (!a || !b || !c)
        return 1;
#pragma omp parallel for
    for (int i = 0; i < LENGTH; i++)
        a[i] = b[i] = c[i] = i;
    for (int pass = 0; pass < PASSES; pass++) {
#pragma omp parallel for
        for (int i = 0; i < LENGTH; i++)
            a[i] = b[i] + 3 * c[i];
    }
    printf("%g\n", a[LENGTH / 2]);
    return 0;
}
