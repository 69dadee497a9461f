/* KIND: a lock of the kernel, that of the table of descriptors
 * BUILD: gcc -g -O2 -pthread descriptor_table.c -o descriptor_table
 * RUN: persik profile -- ./descriptor_table 2; predict -- ./descriptor_table {threads} */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { ROUNDS = 1500000, BATCH = 100, MOST_THREADS = 64 };

static atomic_int taken;

static void *duplicate(void *arg) {
    (void)arg;
    while (atomic_fetch_add(&taken, BATCH) < ROUNDS)
        for (int i = 0; i < BATCH; i++)
            close(dup(STDOUT_FILENO));
    return NULL;
}

int main(int argc, char **argv) {
    int threads = argc > 1 ? atoi(argv[1]) : 2;
    pthread_t ids[MOST_THREADS];
    for (int i = 0; i < threads; i++)
        pthread_create(&ids[i], NULL, duplicate, NULL);
    for (int i = 0; i < threads; i++)
        pthread_join(ids[i], NULL);
    puts("done");
    return 0;
}
