/* Reads pieces of a file that the page cache holds, and prints the nanoseconds of CPU that each of
 * the calls took. Run by bench/read-cost.sh.
 *
 * usage: read_cost FILE READS BYTES */
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static double cpu_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

int main(int argc, char **argv) {
    if (argc != 4)
        errx(2, "usage: read_cost FILE READS BYTES");
    int file = open(argv[1], O_RDONLY | O_CLOEXEC);
    long reads = atol(argv[2]);
    size_t bytes = strtoul(argv[3], NULL, 10);
    char *buffer = malloc(bytes);
    struct stat about;
    if (file < 0 || !buffer || fstat(file, &about) < 0 || about.st_size < (off_t)bytes)
        err(1, "%s", argv[1]);
    off_t places = about.st_size / (off_t)bytes;
    for (off_t i = 0; i < places; i++) /* now it is in the page cache */
        if (pread(file, buffer, bytes, i * (off_t)bytes) < 0)
            err(1, "%s", argv[1]);
    double start_ns = cpu_ns();
    for (long i = 0; i < reads; i++)
        if (pread(file, buffer, bytes, i * 7919 % places * (off_t)bytes) != (ssize_t)bytes)
            err(1, "%s", argv[1]);
    printf("%.1f\n", (cpu_ns() - start_ns) / (double)reads);
    return 0;
}
