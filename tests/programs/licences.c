/* Threads share licences, which are a System V semaphore: each computes a part of its items alone,
 * the longer part with a licence. Prints a checksum. Usage: licences THREADS LICENCES ITEMS */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ipc.h>
#include <sys/sem.h>

static int set, threads, items;

static void add(int amount) {
    struct sembuf operation = {.sem_num = 0, .sem_op = (short)amount};
    if (semop(set, &operation, 1) != 0) {
        perror("semop");
        exit(1);
    }
}

static unsigned compute(unsigned x, int rounds) {
    for (int i = 0; i < rounds; i++)
        x = x * 1664525u + 1013904223u;
    return x;
}

static void *work(void *argument) {
    int me = (int)(long)argument;
    unsigned sum = 0;
    for (int i = me; i < items; i += threads) {
        unsigned x = compute((unsigned)i, 100000);
        add(-1);
        sum += compute(x, 400000);
        add(1);
    }
    return (void *)(unsigned long)sum;
}

int main(int argc, char **argv) {
    threads = argc > 1 ? atoi(argv[1]) : 2;
    int licences = argc > 2 ? atoi(argv[2]) : 1;
    items = argc > 3 ? atoi(argv[3]) : 1000;
    set = semget(IPC_PRIVATE, 1, 0600);
    if (threads < 1 || threads > 64 || set < 0 || semctl(set, 0, SETVAL, licences) != 0)
        return 1;
    pthread_t ids[64];
    unsigned long sum = 0;
    for (long t = 0; t < threads; t++)
        pthread_create(&ids[t], NULL, work, (void *)t);
    for (int t = 0; t < threads; t++) {
        void *part;
        pthread_join(ids[t], &part);
        sum += (unsigned long)part;
    }
    semctl(set, 0, IPC_RMID);
    printf("%u\n", (unsigned)sum);
    return 0;
}
