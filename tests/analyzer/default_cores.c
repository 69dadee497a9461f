/* The number of cores is what is taken where nobody asks for a number: that is no limit. */
#define _GNU_SOURCE
#include <sched.h>
#include <stdlib.h>

void omp_set_num_threads(int threads);

static int threads;
static double sum[64];

static int cores(void) {
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        return 1;
    return CPU_COUNT(&allowed);
}

static void together(int count) {
    omp_set_num_threads(count);
#pragma omp parallel for
    for (int i = 0; i < 64; i++)
        sum[i] += i;
}

static void always(int count) {
#pragma omp parallel for num_threads(count)
    for (int i = 0; i < 64; i++)
        sum[i] += i;
}

int main(int argc, char **argv) {
    int most = cores();
    threads = argc > 1 ? atoi(argv[1]) : 2;
    if (threads < 1)
        threads = most;
    if (threads > 1)
        together(threads);
    always(threads);
    return 0;
}
