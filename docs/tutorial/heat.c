/* Heat in a plate, with OpenMP: in each step all rows are computed in parallel, and then one thread looks for the
 * hottest place. usage: heat THREADS */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { SIZE = 700, STEPS = 1500 };
static double plate[2][SIZE][SIZE];

static void step(double (*to)[SIZE], double (*from)[SIZE]) {
#pragma omp parallel for schedule(static)
    for (int y = 1; y < SIZE - 1; y++)
        for (int x = 1; x < SIZE - 1; x++)
            to[y][x] = (from[y - 1][x] + from[y + 1][x] + from[y][x - 1] + from[y][x + 1]) / 4;
}

static double hottest(double (*of)[SIZE]) {
    double most = 0;
    for (int y = 1; y < SIZE - 1; y++)
        for (int x = 1; x < SIZE - 1; x++)
            most = of[y][x] > most ? of[y][x] : most;
    return most;
}

int main(int argc, char **argv) {
    double most = 0;
    omp_set_num_threads(argc > 1 ? atoi(argv[1]) : 2);
    for (int i = 0; i < SIZE; i++)
        plate[0][0][i] = plate[1][0][i] = 100;
    for (int i = 0; i < STEPS; i++) {
        step(plate[(i + 1) % 2], plate[i % 2]);
        most = hottest(plate[(i + 1) % 2]);
    }
    printf("%.1f\n", most);
    return 0;
}
