/* Threads that read the blocks of a file past the page cache, each its own share of them, and add
 * up the bytes. The file is in the working directory. usage: disk_readers THREADS BLOCKS */
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BLOCK ((size_t)64 << 10)

static const char file_name[] = "disk_readers.data";
static int threads, blocks;
static uint64_t sums[64];

static void stop(const char *what) {
    perror(what);
    exit(1);
}

static void *buffer_for(int flags, int *file) {
    void *buffer;
    *file = open(file_name, flags, 0600);
    if (*file < 0)
        stop(file_name);
    if (posix_memalign(&buffer, 4096, BLOCK) != 0)
        stop("memory");
    return buffer;
}

static uint64_t sum_of(const unsigned char *bytes) {
    uint64_t sum = 0;
    for (size_t i = 0; i < BLOCK; i++)
        sum = sum * 31 + bytes[i];
    return sum;
}

static void *read_share(void *argument) {
    int first = (int)(intptr_t)argument, file;
    unsigned char *buffer = buffer_for(O_RDONLY | O_DIRECT, &file);
    for (int i = first; i < blocks; i += threads) {
        if (pread(file, buffer, BLOCK, (off_t)((size_t)i * BLOCK)) != (ssize_t)BLOCK)
            stop("pread");
        sums[first] += sum_of(buffer);
    }
    close(file);
    free(buffer);
    return NULL;
}

static void write_file(void) {
    int file;
    void *buffer = buffer_for(O_WRONLY | O_CREAT | O_TRUNC, &file);
    for (int i = 0; i < blocks; i++) {
        memset(buffer, i, BLOCK);
        if (write(file, buffer, BLOCK) != (ssize_t)BLOCK)
            stop("write");
    }
    fsync(file);
    close(file);
    free(buffer);
}

int main(int argc, char **argv) {
    pthread_t thread[64];
    uint64_t sum = 0;
    threads = argc == 3 ? atoi(argv[1]) : 0;
    blocks = argc == 3 ? atoi(argv[2]) : 0;
    if (threads < 1 || threads > 64 || blocks < 1) {
        fprintf(stderr, "usage: disk_readers THREADS BLOCKS\n");
        return 2;
    }
    write_file();
    for (int i = 0; i < threads; i++)
        pthread_create(&thread[i], NULL, read_share, (void *)(intptr_t)i);
    for (int i = 0; i < threads; i++) {
        pthread_join(thread[i], NULL);
        sum += sums[i];
    }
    unlink(file_name);
    printf("%016llx\n", (unsigned long long)sum);
    return 0;
}
