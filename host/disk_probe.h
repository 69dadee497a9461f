/* How long the device under a folder takes for requests: by kind, order, size and how many are
 * under way at once. It is asked past the page cache, in a file of the prober's own that has no
 * name, so that nothing of it is left however the process ends. */
#ifndef PERSIK_HOST_DISK_PROBE_H
#define PERSIK_HOST_DISK_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum disk_request { DISK_READ, DISK_WRITE, DISK_FLUSH, N_DISK_REQUESTS };

/* In each point so many times, from the shortest to the longest. */
enum { DISK_POINT_TIMES = 16 };

/* Requests of one sort that `parallel` threads made, each one after the other. */
struct disk_point {
    enum disk_request kind;
    bool is_sequential; /* each thread went on where its last request ended; false: anywhere */
    uint32_t bytes;     /* of a request; 0: a flush */
    int parallel;
    size_t requests; /* that were timed */
    double mean_ns;
    double times_ns[DISK_POINT_TIMES]; /* of as many requests each; their mean is `mean_ns` */
};

struct disk_probe {
    uint32_t device;          /* the whole disk's: major << 20 | minor */
    uint64_t file_bytes;      /* of the file: places are no farther apart */
    struct disk_point *items; /* owned */
    size_t count, capacity;
};

struct disk_probe_options {
    uint64_t file_bytes;
    uint64_t duration_ns; /* of all points together */
    int parallel;         /* the most threads; powers of two up to it */
};

/* Measures. -1 and `error`: no such folder, it is not writable, it is in memory, the file system
 * has no way past the page cache, less than twice the file is free, a request failed, or SIGINT and
 * the like came (between interrupt_begin() and interrupt_end()). disk_probe_free() ends it. */
int disk_probe(const char *folder, const struct disk_probe_options *options,
               struct disk_probe *probe, struct error *error);
void disk_probe_free(struct disk_probe *probe);

#endif
