/* writer KIND THREADS RECORDS FOLDER [EVERY [BYTES]]: each thread writes RECORDS records of BYTES
 * (4096), in one of these ways:
 *
 *   log     to the end of one file, under a mutex; every EVERY of its records (16) it waits until
 *           they are on the disk (fdatasync, without the mutex)
 *   logs    the same to a file of its own, without a mutex
 *   direct  past the page cache (O_DIRECT), one after the other, to a file of its own
 *   bulk    to a file of its own, and never waits
 *
 * The files are the FOLDER's written.N. Prints how long the writing took. */
#include <err.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 64, BLOCK = 4096, PATH = 4096 };

static const char *kind, *folder;
static long records;
static int every = 16;
static size_t bytes = BLOCK;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int shared = -1;

static int create(int number, int flags) {
    char path[PATH];
    snprintf(path, sizeof path, "%s/written.%d", folder, number);
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | flags, 0600);
    if (file < 0)
        err(1, "cannot create %s", path);
    return file;
}

static void append(int file, const char *record) {
    if (write(file, record, bytes) != (ssize_t)bytes)
        err(1, "cannot write");
}

static void sync_file(int file) {
    if (fdatasync(file) != 0)
        err(1, "cannot sync");
}

static void write_log(int file, const char *record) {
    for (long i = 1; i <= records; i++) {
        pthread_mutex_lock(&mutex);
        append(file, record);
        pthread_mutex_unlock(&mutex);
        if (i % every == 0)
            sync_file(file);
    }
}

static void write_own_log(int file, const char *record) {
    for (long i = 1; i <= records; i++) {
        append(file, record);
        if (i % every == 0)
            sync_file(file);
    }
}

static void write_all(int file, const char *record) {
    for (long i = 0; i < records; i++)
        append(file, record);
}

static void *work(void *argument) {
    int number = *(int *)argument;
    char *record = aligned_alloc(BLOCK, bytes);
    if (!record)
        err(1, "out of memory");
    memset(record, 'a' + number % 26, bytes);
    int file = shared >= 0 ? shared : create(number, strcmp(kind, "direct") == 0 ? O_DIRECT : 0);
    if (strcmp(kind, "log") == 0)
        write_log(file, record);
    else if (strcmp(kind, "logs") == 0)
        write_own_log(file, record);
    else
        write_all(file, record);
    if (file != shared)
        close(file);
    free(record);
    return NULL;
}

static double now_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int main(int argc, char **argv) {
    if (argc < 5 || argc > 7)
        errx(2, "usage: writer log|logs|direct|bulk THREADS RECORDS FOLDER [EVERY [BYTES]]");
    kind = argv[1];
    int n_threads = atoi(argv[2]);
    records = atol(argv[3]);
    folder = argv[4];
    every = argc > 5 ? atoi(argv[5]) : every;
    bytes = argc > 6 ? strtoul(argv[6], NULL, 10) : bytes;
    if (n_threads < 1 || n_threads > THREADS || records < 1 || every < 1 || bytes < 1 ||
        bytes % BLOCK != 0)
        errx(2, "THREADS: 1 to %d; RECORDS, EVERY: 1 or more; BYTES: pages", THREADS);
    if (strcmp(kind, "log") == 0)
        shared = create(0, 0);
    pthread_t threads[THREADS];
    int numbers[THREADS];
    double start_s = now_s();
    for (int t = 0; t < n_threads; t++) {
        numbers[t] = t;
        if (pthread_create(&threads[t], NULL, work, &numbers[t]) != 0)
            errx(1, "no thread");
    }
    for (int t = 0; t < n_threads; t++)
        pthread_join(threads[t], NULL);
    printf("%.6f\n", now_s() - start_s);
    return 0;
}
