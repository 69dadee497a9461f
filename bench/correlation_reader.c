/* Threads that read random blocks of a file or device, past the page cache or through it, and
 * compute in between. usage: correlation_reader FILE THREADS SECONDS COMPUTE_US BLOCK direct|cached
 */
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char *path;
static double seconds, compute_us;
static size_t block_bytes;
static int direct;

static double now_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void compute(double until_s) {
    volatile unsigned turns = 0;
    while (now_s() < until_s)
        for (int i = 0; i < 1000; i++)
            turns++;
}

static void *run(void *argument) {
    unsigned seed = (unsigned)(uintptr_t)argument * 7919 + 1;
    int file = open(path, O_RDONLY | (direct ? O_DIRECT : 0));
    off_t blocks = file < 0 ? 0 : lseek(file, 0, SEEK_END) / (off_t)block_bytes;
    void *buffer;
    if (blocks < 1 || posix_memalign(&buffer, 4096, block_bytes) != 0) {
        perror(path);
        exit(1);
    }
    double end_s = now_s() + seconds;
    while (now_s() < end_s) {
        double mean_s = compute_us / 1e6;
        compute(now_s() - mean_s * log(1 - (double)rand_r(&seed) / (RAND_MAX + 1.0)));
        off_t at = (off_t)((double)rand_r(&seed) / (RAND_MAX + 1.0) * (double)blocks);
        if (pread(file, buffer, block_bytes, at * (off_t)block_bytes) != (ssize_t)block_bytes) {
            perror("pread");
            exit(1);
        }
        if (!direct && rand_r(&seed) % 4) /* some blocks stay in the cache */
            posix_fadvise(file, at * (off_t)block_bytes, (off_t)block_bytes, POSIX_FADV_DONTNEED);
    }
    close(file);
    free(buffer);
    return NULL;
}

int main(int argc, char **argv) {
    pthread_t threads[64];
    int n = argc == 7 ? atoi(argv[2]) : 0;
    if (n < 1 || n > 64) {
        fprintf(stderr, "usage: correlation_reader FILE THREADS SECONDS COMPUTE_US BLOCK "
                        "direct|cached\n");
        return 2;
    }
    path = argv[1];
    seconds = atof(argv[3]);
    compute_us = atof(argv[4]);
    block_bytes = (size_t)atol(argv[5]);
    direct = strcmp(argv[6], "direct") == 0;
    for (intptr_t i = 0; i < n; i++)
        pthread_create(&threads[i], NULL, run, (void *)(i + getpid()));
    for (int i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
