#include "host/disk_probe.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/interrupt.h"
#include "base/memory.h"

/* Buffers begin and end where any device wants it. */
#define ALIGNMENT 4096
/* The file is written in pieces of this size. */
#define PIECE (1 << 20)
/* Of so many requests the mean is known to a few per cent: no point needs more. */
#define MOST_REQUESTS 2000
/* With less of a file no place is far from another. */
#define LEAST_FILE (8 << 20)

static const uint32_t sizes[] = {4096, 65536, 524288};
enum { N_SIZES = sizeof sizes / sizeof *sizes };

/* ---- the file ---- */

static int open_without_name(const char *folder, struct error *error) {
    int file = open(folder, O_TMPFILE | O_RDWR | O_DIRECT | O_CLOEXEC, 0600);
    if (file >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL))
        return file >= 0 ? file
                         : error_set(error, "cannot write in %s: %s", folder, strerror(errno));
    /* The file system makes no files without a name: then it has one for a moment. */
    char *path = memory_format("%s/.persik-calibrate.XXXXXX", folder);
    file = mkostemp(path, O_DIRECT | O_CLOEXEC);
    int reason = errno;
    if (file >= 0)
        unlink(path);
    free(path);
    if (file >= 0)
        return file;
    if (reason == EINVAL)
        return error_set(error,
                         "%s: its file system has no way past the page cache (O_DIRECT): what is "
                         "below it cannot be measured",
                         folder);
    return error_set(error, "cannot write in %s: %s", folder, strerror(reason));
}

/* Is it a folder on a device, with room? */
static int check_folder(const char *folder, uint64_t file_bytes, struct error *error) {
    struct stat status;
    struct statfs system;
    if (stat(folder, &status) < 0 || statfs(folder, &system) < 0)
        return error_set(error, "%s: %s", folder, strerror(errno));
    if (!S_ISDIR(status.st_mode))
        return error_set(error, "%s is not a folder: name one on the disk to be measured", folder);
    if (system.f_type == TMPFS_MAGIC || system.f_type == RAMFS_MAGIC)
        return error_set(error, "%s is in memory, not on a disk: name a folder on one", folder);
    uint64_t free_bytes = (uint64_t)system.f_bavail * (uint64_t)system.f_bsize;
    if (free_bytes < 2 * file_bytes)
        return error_set(error,
                         "%s: %.0f MB are free, and twice the %.0f MB of the file must be: give a "
                         "smaller --size",
                         folder, (double)free_bytes / 1e6, (double)file_bytes / 1e6);
    return 0;
}

/* The device that the kernel's block events name: of a partition, its disk. */
static uint32_t whole_disk(dev_t device) {
    char path[96];
    unsigned disk_major = major(device), disk_minor = minor(device);
    snprintf(path, sizeof path, "/sys/dev/block/%u:%u/partition", disk_major, disk_minor);
    if (access(path, F_OK) == 0) {
        snprintf(path, sizeof path, "/sys/dev/block/%u:%u/../dev", disk_major, disk_minor);
        FILE *file = fopen(path, "re");
        unsigned found_major, found_minor;
        if (file && fscanf(file, "%u:%u", &found_major, &found_minor) == 2) {
            disk_major = found_major;
            disk_minor = found_minor;
        }
        if (file)
            fclose(file);
    }
    return disk_major << 20 | disk_minor;
}

/* What is read must have been written: the kernel knows of the rest that it is empty, and asks no
 * device. Returns how much that is; a slow device gets less than asked for. 0 and `error`. */
static uint64_t fill(int file, uint64_t bytes, uint64_t limit_ns, struct error *error) {
    void *piece = aligned_alloc(ALIGNMENT, PIECE);
    uint64_t until_ns = clock_now_ns(CLOCK_MONOTONIC) + limit_ns, written = 0;
    int status = piece ? 0 : error_set(error, "out of memory");
    if (piece)
        memset(piece, 'p', PIECE);
    while (status == 0 && written < bytes &&
           (written < LEAST_FILE || clock_now_ns(CLOCK_MONOTONIC) < until_ns)) {
        ssize_t done = pwrite(file, piece, PIECE, (off_t)written);
        if (done != PIECE)
            status = error_set(error, "cannot write %d MB more behind %llu: %s", PIECE >> 20,
                               (unsigned long long)written,
                               done < 0 ? strerror(errno) : "the disk is full");
        written += PIECE;
        status = status == 0 ? interrupt_check(error) : status;
    }
    free(piece);
    if (status == 0 && fsync(file) < 0)
        status = error_set(error, "cannot write: %s", strerror(errno));
    return status == 0 ? written : 0;
}

/* ---- one point ---- */

struct round {
    const struct disk_point *sort; /* what is asked for */
    int file;
    uint64_t file_bytes, until_ns;
    atomic_size_t n; /* of all threads, also those not timed */
    atomic_int failure;
};

struct asker {
    struct round *round;
    int number;
    pthread_t thread;
    double *times_ns; /* MOST_REQUESTS */
    size_t n;
};

static uint64_t next_random(uint64_t *state) { /* xorshift64 */
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* Where the asker's request number `i` is. */
static uint64_t place_of(const struct asker *asker, size_t i, uint64_t *random) {
    const struct round *round = asker->round;
    uint64_t bytes = round->sort->bytes ? round->sort->bytes : ALIGNMENT;
    uint64_t blocks = round->file_bytes / bytes;
    if (!round->sort->is_sequential)
        return next_random(random) % blocks * bytes;
    uint64_t own = blocks / (uint64_t)round->sort->parallel; /* a stretch for each */
    return ((uint64_t)asker->number * own + i % own) * bytes;
}

/* Returns the ns that it took; negative: it failed. */
static double ask(const struct round *round, void *buffer, uint64_t place) {
    const struct disk_point *sort = round->sort;
    size_t bytes = sort->bytes ? sort->bytes : ALIGNMENT;
    if (sort->kind == DISK_FLUSH && pwrite(round->file, buffer, bytes, (off_t)place) < 0)
        return -1;
    uint64_t from_ns = clock_now_ns(CLOCK_MONOTONIC);
    ssize_t done = sort->kind == DISK_FLUSH  ? fdatasync(round->file)
                   : sort->kind == DISK_READ ? pread(round->file, buffer, bytes, (off_t)place)
                                             : pwrite(round->file, buffer, bytes, (off_t)place);
    if (done != (sort->kind == DISK_FLUSH ? 0 : (ssize_t)bytes))
        return -1;
    return (double)(clock_now_ns(CLOCK_MONOTONIC) - from_ns);
}

/* The first request of each goes to its place, and is not timed. */
static void *ask_for_a_while(void *context) {
    struct asker *asker = context;
    struct round *round = asker->round;
    uint64_t random = 0x9e3779b97f4a7c15U * (uint64_t)(asker->number + 1);
    void *buffer = aligned_alloc(ALIGNMENT, sizes[N_SIZES - 1]);
    if (!buffer)
        atomic_store(&round->failure, ENOMEM);
    else
        memset(buffer, 'p', sizes[N_SIZES - 1]);
    for (size_t i = 0; atomic_load(&round->failure) == 0; i++) {
        if (i > 1 && (clock_now_ns(CLOCK_MONOTONIC) >= round->until_ns || interrupt_signal()))
            break;
        if (atomic_fetch_add(&round->n, 1) >= MOST_REQUESTS)
            break;
        double time_ns = ask(round, buffer, place_of(asker, i, &random));
        if (time_ns < 0)
            atomic_store(&round->failure, errno ? errno : EIO);
        else if (i > 0)
            asker->times_ns[asker->n++] = time_ns;
    }
    free(buffer);
    return NULL;
}

static int compare_times(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* Means of as many of the sorted times each; a time may lie in two. */
static void summarise(struct disk_point *point, double *times_ns, size_t n) {
    qsort(times_ns, n, sizeof *times_ns, compare_times);
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += times_ns[i];
    point->requests = n;
    point->mean_ns = sum / (double)n;
    double width = (double)n / DISK_POINT_TIMES;
    for (int bin = 0; bin < DISK_POINT_TIMES; bin++) {
        double from = bin * width, to = from + width, total = 0;
        for (size_t i = (size_t)from; i < n && (double)i < to; i++) {
            double low = (double)i > from ? (double)i : from;
            double high = (double)(i + 1) < to ? (double)(i + 1) : to;
            total += times_ns[i] * (high - low);
        }
        point->times_ns[bin] = total / width;
    }
}

static int run_askers(struct round *round, struct asker *askers, struct error *error) {
    int n = round->sort->parallel, started = 0;
    int status = 0;
    for (; started < n && status == 0; started++) {
        askers[started] = (struct asker){.round = round,
                                         .number = started,
                                         .times_ns = memory_alloc(MOST_REQUESTS, sizeof(double))};
        if (pthread_create(&askers[started].thread, NULL, ask_for_a_while, &askers[started]) != 0) {
            free(askers[started].times_ns);
            status = error_set(error, "cannot start %d threads", n);
            atomic_store(&round->failure, EAGAIN);
            break;
        }
    }
    for (int i = 0; i < started; i++)
        pthread_join(askers[i].thread, NULL);
    int failure = atomic_load(&round->failure);
    if (status == 0 && failure)
        status = error_set(error, "a request to the disk failed: %s", strerror(failure));
    for (int i = started; i < n; i++)
        askers[i].times_ns = NULL;
    return status == 0 ? interrupt_check(error) : status;
}

static int measure_point(struct disk_probe *probe, int file, struct disk_point sort,
                         uint64_t duration_ns, struct error *error) {
    struct round round = {.sort = &sort,
                          .file = file,
                          .file_bytes = probe->file_bytes,
                          .until_ns = clock_now_ns(CLOCK_MONOTONIC) + duration_ns};
    struct asker *askers = memory_alloc((size_t)sort.parallel, sizeof *askers);
    double *times_ns = memory_alloc(MOST_REQUESTS, sizeof *times_ns);
    int status = run_askers(&round, askers, error);
    size_t n = 0;
    for (int i = 0; i < sort.parallel; i++) {
        if (askers[i].n > 0)
            memcpy(times_ns + n, askers[i].times_ns, askers[i].n * sizeof *times_ns);
        n += askers[i].n;
        free(askers[i].times_ns);
    }
    if (status == 0 && n > 0) {
        summarise(&sort, times_ns, n);
        *VECTOR_ADD(probe) = sort;
    }
    free(askers);
    free(times_ns);
    return status;
}

/* ---- all of them ---- */

/* The sorts of requests, without times. */
static void list_sorts(struct disk_probe *sorts, int most_parallel) {
    for (int parallel = 1; parallel <= most_parallel; parallel *= 2) {
        for (int kind = DISK_READ; kind <= DISK_WRITE; kind++)
            for (int order = 0; order < 2; order++)
                for (int s = 0; s < N_SIZES; s++)
                    *VECTOR_ADD(sorts) = (struct disk_point){.kind = (enum disk_request)kind,
                                                             .is_sequential = order == 0,
                                                             .bytes = sizes[s],
                                                             .parallel = parallel};
        *VECTOR_ADD(sorts) = (struct disk_point){.kind = DISK_FLUSH, .parallel = parallel};
    }
}

static int measure_all(struct disk_probe *probe, int file, const struct disk_probe_options *options,
                       struct error *error) {
    struct disk_probe sorts = {0};
    int status = 0;
    list_sorts(&sorts, options->parallel);
    for (size_t i = 0; i < sorts.count && status == 0; i++)
        status =
            measure_point(probe, file, sorts.items[i], options->duration_ns / sorts.count, error);
    free(sorts.items);
    return status;
}

int disk_probe(const char *folder, const struct disk_probe_options *options,
               struct disk_probe *probe, struct error *error) {
    *probe = (struct disk_probe){0};
    if (check_folder(folder, options->file_bytes, error) < 0)
        return -1;
    int file = open_without_name(folder, error);
    if (file < 0)
        return -1;
    struct stat status;
    int result =
        fstat(file, &status) == 0 ? 0 : error_set(error, "%s: %s", folder, strerror(errno));
    probe->device = result == 0 ? whole_disk(status.st_dev) : 0;
    probe->file_bytes =
        result == 0 ? fill(file, options->file_bytes, options->duration_ns / 2, error) : 0;
    result = probe->file_bytes > 0 ? measure_all(probe, file, options, error) : -1;
    close(file);
    if (result < 0)
        disk_probe_free(probe);
    return result;
}

void disk_probe_free(struct disk_probe *probe) {
    free(probe->items);
    *probe = (struct disk_probe){0};
}
