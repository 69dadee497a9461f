/* Touches pages of a mapped file: a fixed job whose time is that of page faults which a disk
 * serves. Threads share the touches.
 *
 * A file that is not there is made, of 32 MB. Nothing of it is in memory when the threads begin.
 *
 * usage: mapped_reader FILE THREADS TOUCHES ORDER PASSES
 *
 * ORDER: "random", pages anywhere (MADV_RANDOM); "shared", the same, but who has time takes the
 * next one; "rows", each thread its own row of pages, one after the other. Each page is
 * read PASSES times. The same arguments touch the same pages, with any number of threads as many.
 */
#include <err.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "random_numbers.h"

enum { MAX_THREADS = 64, PAGE_BYTES = 4096, MADE_PAGES = 8192 };

static const unsigned char *file;
static size_t *places, n_pages, passes;
static long touches;
static int threads;
static atomic_long taken;

struct job {
    int index;
    uint64_t sum;
};

static uint64_t touch(size_t page) {
    const unsigned char *bytes = file + page * PAGE_BYTES;
    uint64_t sum = 0;
    for (size_t pass = 0; pass < passes; pass++)
        for (size_t b = 0; b < PAGE_BYTES; b++)
            sum = sum * 31 + bytes[b];
    return sum;
}

static void *touch_own(void *argument) {
    struct job *job = argument;
    long from = touches * job->index / threads, to = touches * (job->index + 1) / threads;
    for (long i = from; i < to; i++)
        job->sum += touch(places[i]);
    return NULL;
}

static void *touch_next(void *argument) {
    struct job *job = argument;
    for (long i; (i = atomic_fetch_add(&taken, 1)) < touches;)
        job->sum += touch(places[i]);
    return NULL;
}

static int open_file(const char *path) {
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor >= 0)
        return descriptor;
    descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    uint64_t page[PAGE_BYTES / sizeof(uint64_t)], random = 2;
    for (int i = 0; descriptor >= 0 && i < MADE_PAGES; i++) {
        for (size_t w = 0; w < sizeof page / sizeof *page; w++)
            page[w] = next_random(&random);
        if (write(descriptor, page, sizeof page) != sizeof page)
            err(1, "cannot write %s", path);
    }
    if (descriptor < 0 || fsync(descriptor) != 0)
        err(1, "%s", path);
    return descriptor;
}

int main(int argc, char **argv) {
    if (argc != 6)
        errx(2, "usage: mapped_reader FILE THREADS TOUCHES random|shared|rows PASSES");
    threads = atoi(argv[2]);
    touches = atol(argv[3]);
    passes = strtoul(argv[5], NULL, 10);
    int descriptor = open_file(argv[1]);
    struct stat about;
    if (fstat(descriptor, &about) != 0 || posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED) != 0)
        err(1, "%s", argv[1]);
    n_pages = (size_t)about.st_size / PAGE_BYTES;
    if (threads < 1 || threads > MAX_THREADS || touches < 1 || (size_t)touches > n_pages)
        errx(2, "1 to %d threads, and no more touches than the file has pages", MAX_THREADS);
    file = mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_SHARED, descriptor, 0);
    places = calloc(n_pages, sizeof *places);
    if (file == MAP_FAILED || !places)
        err(1, "no memory");
    bool is_random = strcmp(argv[4], "rows") != 0;
    for (size_t i = 0; i < n_pages; i++)
        places[i] = i;
    if (is_random)
        shuffle(places, n_pages, 1);
    if (is_random)
        madvise((void *)file, (size_t)about.st_size, MADV_RANDOM);
    void *(*work)(void *) = strcmp(argv[4], "shared") == 0 ? touch_next : touch_own;
    pthread_t workers[MAX_THREADS];
    struct job jobs[MAX_THREADS];
    uint64_t sum = 0;
    for (int t = 0; t < threads; t++) {
        jobs[t] = (struct job){.index = t};
        if (pthread_create(&workers[t], NULL, work, &jobs[t]) != 0)
            errx(1, "cannot create a thread");
    }
    for (int t = 0; t < threads; t++) {
        pthread_join(workers[t], NULL);
        sum += jobs[t].sum;
    }
    printf("%llu\n", (unsigned long long)sum);
    free(places);
}
