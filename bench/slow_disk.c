/* A disk as slow as one with a moving arm, for experiments on machines that have none: a FUSE file
 * system with one file, "disk", on which a loop device lies (bench/slow-disk.sh). It serves one
 * request at a time, each in
 *
 *     seek (by the square root of the distance) + rotation (uniform) + bytes / rate
 *
 * the first two not when it continues where the last one ended; a write settles besides, a flush
 * waits for a whole turn. Contents are in a sparse file, which the page cache may hold: its own
 * time, microseconds, is within the times above.
 *
 * usage: slow_disk --bytes N --backing FILE [--seek-least US] [--seek-most US] [--turn US]
 *                  [--settle US] [--rate MB/S] [--seed N] [--log FILE] MOUNTPOINT
 *
 * It is fast until SIGUSR1 tells it to be slow; SIGUSR2: fast again. The log has a line for each
 * request of the slow times: begin and end in seconds (CLOCK_MONOTONIC), kind (R, W, F), offset,
 * bytes. */
#define _GNU_SOURCE
#define FUSE_USE_VERSION 31
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <fuse.h>
#include <getopt.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

/* The times of a 7200 rpm disk, by its data sheets. */
static struct disk {
    long long bytes;
    double seek_least_s, seek_most_s, turn_s, settle_s, bytes_per_s;
    const char *backing, *log_path;
    int file;
    FILE *log;
    long long head; /* where the last request ended */
    unsigned short random[3];
} disk = {.seek_least_s = 0.0008,
          .seek_most_s = 0.012,
          .turn_s = 60.0 / 7200,
          .settle_s = 0.0005,
          .bytes_per_s = 120e6,
          .random = {1, 2, 3}};

static volatile sig_atomic_t is_slow;

static void set_speed(int number) {
    is_slow = number == SIGUSR1;
}

static double now_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static double position_s(long long offset) {
    long long distance = llabs(offset - disk.head);
    if (distance == 0)
        return 0;
    double far = sqrt((double)distance / (double)disk.bytes);
    return disk.seek_least_s + (disk.seek_most_s - disk.seek_least_s) * far +
           disk.turn_s * erand48(disk.random);
}

static double service_s(char kind, long long offset, size_t bytes) {
    if (kind == 'F')
        return disk.turn_s;
    double time = position_s(offset) + (double)bytes / disk.bytes_per_s;
    disk.head = offset + (long long)bytes;
    return kind == 'W' ? time + disk.settle_s : time;
}

/* Nothing else is served meanwhile: there is one thread. */
static void take_time(char kind, long long offset, size_t bytes) {
    if (!is_slow)
        return;
    double begin = now_s(), end = begin + service_s(kind, offset, bytes);
    struct timespec until = {(time_t)end, (long)((end - floor(end)) * 1e9)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
        continue;
    if (disk.log)
        fprintf(disk.log, "%.6f %.6f %c %lld %zu\n", begin, now_s(), kind, offset, bytes);
}

/* ---- the file system ---- */

static int disk_getattr(const char *path, struct stat *status, struct fuse_file_info *info) {
    (void)info;
    memset(status, 0, sizeof *status);
    if (strcmp(path, "/") == 0) {
        status->st_mode = S_IFDIR | 0700;
        status->st_nlink = 2;
    } else if (strcmp(path, "/disk") == 0) {
        status->st_mode = S_IFREG | 0600;
        status->st_nlink = 1;
        status->st_size = disk.bytes;
    } else {
        return -ENOENT;
    }
    return 0;
}

/* Past the page cache of this file: the disk has none. */
static int disk_open(const char *path, struct fuse_file_info *info) {
    (void)path;
    info->direct_io = 1;
    return 0;
}

static int disk_read(const char *path, char *bytes, size_t n, off_t offset,
                     struct fuse_file_info *info) {
    (void)path;
    (void)info;
    take_time('R', offset, n);
    ssize_t got = pread(disk.file, bytes, n, offset);
    return got < 0 ? -errno : (int)got;
}

static int disk_write(const char *path, const char *bytes, size_t n, off_t offset,
                      struct fuse_file_info *info) {
    (void)path;
    (void)info;
    take_time('W', offset, n);
    ssize_t got = pwrite(disk.file, bytes, n, offset);
    return got < 0 ? -errno : (int)got;
}

static int disk_fsync(const char *path, int data_only, struct fuse_file_info *info) {
    (void)path;
    (void)data_only;
    (void)info;
    take_time('F', 0, 0);
    return 0;
}

static const struct fuse_operations operations = {.getattr = disk_getattr,
                                                  .open = disk_open,
                                                  .read = disk_read,
                                                  .write = disk_write,
                                                  .fsync = disk_fsync};

/* ---- options ---- */

static double positive(const char *option, const char *text) {
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end || !(value > 0) || !isfinite(value))
        errx(2, "--%s: '%s' is no number above 0", option, text);
    return value;
}

static const char *parse(int argc, char **argv) {
    static const struct option longs[] = {
        {"bytes", 1, NULL, 'b'},      {"backing", 1, NULL, 'f'},
        {"seek-least", 1, NULL, 'l'}, {"seek-most", 1, NULL, 'm'},
        {"turn", 1, NULL, 't'},       {"settle", 1, NULL, 's'},
        {"rate", 1, NULL, 'r'},       {"seed", 1, NULL, 'e'},
        {"log", 1, NULL, 'g'},        {0},
    };
    int c, index = 0;
    while ((c = getopt_long(argc, argv, "", longs, &index)) != -1) {
        double value = c == 'f' || c == 'g' || c == '?' ? 0 : positive(longs[index].name, optarg);
        switch (c) {
        case 'b':
            disk.bytes = (long long)value;
            break;
        case 'f':
            disk.backing = optarg;
            break;
        case 'l':
            disk.seek_least_s = value / 1e6;
            break;
        case 'm':
            disk.seek_most_s = value / 1e6;
            break;
        case 't':
            disk.turn_s = value / 1e6;
            break;
        case 's':
            disk.settle_s = value / 1e6;
            break;
        case 'r':
            disk.bytes_per_s = value * 1e6;
            break;
        case 'e':
            disk.random[0] = (unsigned short)value;
            break;
        case 'g':
            disk.log_path = optarg;
            break;
        default:
            exit(2);
        }
    }
    if (optind + 1 != argc || disk.bytes == 0 || !disk.backing)
        errx(2, "give --bytes, --backing and one mount point");
    return argv[optind];
}

int main(int argc, char **argv) {
    const char *mountpoint = parse(argc, argv);
    disk.file = open(disk.backing, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (disk.file < 0 || ftruncate(disk.file, disk.bytes) < 0)
        err(1, "cannot create %s", disk.backing);
    if (disk.log_path && !(disk.log = fopen(disk.log_path, "we")))
        err(1, "cannot create %s", disk.log_path);
    if (disk.log)
        setvbuf(disk.log, NULL, _IOLBF, 0); /* it can be read at any time */
    struct sigaction action = {.sa_handler = set_speed, .sa_flags = SA_RESTART};
    sigaction(SIGUSR1, &action, NULL);
    sigaction(SIGUSR2, &action, NULL);
    prctl(PR_SET_TIMERSLACK, 1UL);
    prctl(PR_SET_IO_FLUSHER, 1UL); /* memory for it must not wait for what it writes */
    char *arguments[] = {argv[0], "-f", "-s", (char *)mountpoint, NULL};
    int status = fuse_main(4, arguments, &operations, NULL);
    if (disk.log)
        fclose(disk.log);
    return status;
}
