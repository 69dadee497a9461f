/* A program whose runs differ, as those do that find their output there or their input gone:
 *
 *     differs ACT NUMBER
 *
 * counts its runs in the file "runs"; run NUMBER and those after it
 *     exits    end with exit status 3 at once
 *     aborts   only run NUMBER: ends by abort()
 *     idles    do nothing, and succeed
 *     shrinks  have one thread instead of four
 *     hurries  make a tenth of the calls */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { THREADS = 4, ROUNDS = 2000, SPIN = 20000 };

/* Runs with evictions are made only of programs that run so long, on the fastest machine, too. */
static const struct timespec at_least = {.tv_nsec = 300000000};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int rounds = ROUNDS;

static int count_run(void) {
    int run = 0;
    FILE *file = fopen("runs", "r");
    if (file && fscanf(file, "%d", &run) != 1)
        exit(2);
    if (file)
        fclose(file);
    file = fopen("runs", "w");
    if (!file)
        exit(2);
    fprintf(file, "%d\n", ++run);
    fclose(file);
    return run;
}

static void *work(void *unused) {
    for (int i = 0; i < rounds; i++) {
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
        for (volatile int spin = 0; spin < SPIN; spin++)
            continue;
    }
    return unused;
}

int main(int argc, char **argv) {
    if (argc != 3)
        return 2;
    int number = atoi(argv[2]), run = count_run(), threads = THREADS;
    const char *act = run >= number ? argv[1] : "";
    if (strcmp(act, "exits") == 0)
        return 3;
    if (strcmp(act, "aborts") == 0 && run == number)
        abort();
    if (strcmp(act, "idles") == 0)
        return 0;
    if (strcmp(act, "shrinks") == 0)
        threads = 1;
    if (strcmp(act, "hurries") == 0)
        rounds /= 10;
    pthread_t ids[THREADS];
    for (int i = 0; i < threads; i++)
        if (pthread_create(&ids[i], NULL, work, NULL) != 0)
            return 2;
    nanosleep(&at_least, NULL);
    for (int i = 0; i < threads; i++)
        pthread_join(ids[i], NULL);
    return 0;
}
