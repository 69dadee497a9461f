/* Reads blocks of one file at random: a fixed job whose time depends on how much of the file the
 * page cache holds. Threads share the reads. Built by bench/page-cache.sh.
 *
 * usage: page_reader FILE THREADS READS BLOCK_BYTES SKEW
 *
 * SKEW 0 chooses all blocks alike; else the n-th most wanted block is chosen in proportion to
 * n^-SKEW (Zipf). Which blocks are wanted has nothing to do with where they lie. The same arguments
 * read the same blocks. */
#define _GNU_SOURCE
#include <err.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../tests/programs/random_numbers.h"

enum { MAX_THREADS = 64 };

struct job {
    int file;
    size_t block_bytes, n_blocks;
    const double
        *until; /* n-th block of the list: how many of all choices fall to it or those before */
    const size_t *places; /* and where it lies */
    long reads;
    uint64_t random;
    uint64_t sum;
};

static double next_fraction(uint64_t *state) {
    return (double)(next_random(state) >> 11) * 0x1p-53;
}

static size_t choose(struct job *job) {
    double at = next_fraction(&job->random);
    size_t low = 0, high = job->n_blocks - 1;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (job->until[middle] <= at)
            low = middle + 1;
        else
            high = middle;
    }
    return job->places[low];
}

static void *read_blocks(void *argument) {
    struct job *job = argument;
    unsigned char *block = malloc(job->block_bytes);
    if (!block)
        err(1, "no memory");
    for (long i = 0; i < job->reads; i++) {
        off_t place = (off_t)(choose(job) * job->block_bytes);
        if (pread(job->file, block, job->block_bytes, place) != (ssize_t)job->block_bytes)
            err(1, "cannot read at %lld", (long long)place);
        for (size_t b = 0; b < job->block_bytes; b++)
            job->sum += block[b];
    }
    free(block);
    return NULL;
}

int main(int argc, char **argv) {
    if (argc != 6)
        errx(2, "usage: page_reader FILE THREADS READS BLOCK_BYTES SKEW");
    int threads = atoi(argv[2]);
    long reads = atol(argv[3]);
    struct job all = {.file = open(argv[1], O_RDONLY | O_CLOEXEC),
                      .block_bytes = strtoul(argv[4], NULL, 10)};
    struct stat about;
    if (all.file < 0 || fstat(all.file, &about) != 0)
        err(1, "%s", argv[1]);
    if (threads < 1 || threads > MAX_THREADS || all.block_bytes < 1 ||
        (size_t)about.st_size < all.block_bytes)
        errx(2, "1 to %d threads, and a file of at least one block", MAX_THREADS);
    posix_fadvise(all.file, 0, 0, POSIX_FADV_RANDOM);
    all.n_blocks = (size_t)about.st_size / all.block_bytes;
    double *until = calloc(all.n_blocks, sizeof *until), sum = 0, skew = atof(argv[5]);
    size_t *places = calloc(all.n_blocks, sizeof *places);
    if (!until || !places)
        err(1, "no memory");
    for (size_t i = 0; i < all.n_blocks; i++)
        until[i] = sum += pow((double)(i + 1), -skew);
    for (size_t i = 0; i < all.n_blocks; i++)
        until[i] /= sum;
    shuffle(places, all.n_blocks, 1);
    all.until = until;
    all.places = places;

    pthread_t workers[MAX_THREADS];
    struct job jobs[MAX_THREADS];
    for (int t = 0; t < threads; t++) {
        jobs[t] = all;
        jobs[t].reads = reads / threads + (t < reads % threads);
        jobs[t].random = 1000u + (uint64_t)t;
        if (pthread_create(&workers[t], NULL, read_blocks, &jobs[t]) != 0)
            errx(1, "cannot create a thread");
    }
    for (int t = 0; t < threads; t++) {
        pthread_join(workers[t], NULL);
        all.sum += jobs[t].sum;
    }
    printf("%llu\n", (unsigned long long)all.sum);
    free(until);
    free(places);
    close(all.file);
}
