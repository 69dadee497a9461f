/* Which requests to block devices stand behind a thread's I/O calls, and how long they take.
 *
 * Both logs have one clock and name the thread that queued the request, so the match is direct:
 * a request belongs to the call during which its thread queued it. A call without requests was
 * served from the page cache. */
#ifndef PERSIK_MODELGEN_CALIBRATE_DISK_SERVICE_H
#define PERSIK_MODELGEN_CALIBRATE_DISK_SERVICE_H

#include <stdbool.h>

#include "formats/model.h"
#include "formats/trace.h"

struct disk_service {
    const struct trace *trace;
    size_t **requests;  /* per thread: indexes into trace->blocks, by queued_ns */
    size_t *n_requests; /* per thread */
    size_t *kernel;     /* of none of the threads: the kernel's */
    size_t n_kernel;
};

/* `trace` must outlive it. disk_service_free() ends it. */
struct disk_service disk_service_find(const struct trace *trace);
void disk_service_free(struct disk_service *disks);

/* In which the places of requests are counted. */
#define DISK_SECTOR_BYTES 512.0

/* Requests of one thread: indexes into trace->blocks. */
struct disk_requests {
    const size_t *items;
    size_t n;
};

/* Those that thread number `thread` queued in [from, to). */
struct disk_requests disk_service_queued(const struct disk_service *disks, size_t thread,
                                         uint64_t from_ns, uint64_t to_ns);

/* Number of requests that thread number `thread` queued in [from, to); `device` gets that of the
 * first one and is left alone when there is none. */
size_t disk_service_requests(const struct disk_service *disks, size_t thread, uint64_t from_ns,
                             uint64_t to_ns, uint32_t *device);

/* Is it recorded where on their devices the requests were? */
bool disk_service_has_places(const struct disk_service *disks);

/* Was something still being read ahead for a call of the thread in [from, to) when that was over?
 */
bool disk_service_outlives(const struct disk_service *disks, size_t thread, uint64_t from_ns,
                           uint64_t to_ns);

/* Requests that the program's threads queued outside of every recorded call: page faults of mapped
 * files, write-back of what they wrote. No part of the model. */
struct disk_service_outside {
    size_t requests;
    double bytes;
    double read_ns; /* as long a thread may have waited for what was read; all threads together */
};
struct disk_service_outside disk_service_outside(const struct disk_service *disks);

/* What the model needs to know of a device. */
struct disk_speed {
    double servers;         /* requests it serves at once; 0: as many as it was ever given */
    struct dist service_ns; /* of one request on one of them */
    /* With one server: the same by the distance from where the last request ended. A disk with an
     * arm takes longer the farther it is, and hardly any time where it goes on. None: not known. */
    size_t n_distances;
    struct disk_distance *distances; /* allocated */
    size_t always; /* so many requests at once, more than one, it nearly always had, and so nothing
                    * tells how long it takes with fewer; 0: that is not so */
    size_t least;  /* ... so many at least, itself counted, were there with nearly every request, or
                    * more than it serves at once; 0: as `always` */
    /* With one server: so many requests go on where their thread's last one ended, most of all; but
     * other threads' came between, so that nothing tells how long it takes to go on. 0: that is not
     * so. */
    size_t parted;
    bool met_two;         /* there were two requests at once */
    struct dist alone_ns; /* of one of which the recording had none; DIST_NONE: not known */
    char *evidence;       /* allocated */
};

/* From all requests of the trace to `device`: of c servers that take them first come, first served,
 * a request has one from when fewer than c older ones are left. It is the c for which the time from
 * then on does not depend on how many requests were there. A device that took no longer the more
 * it had to do is given no limit; one that never had two requests has one server. `alike` (NULL:
 * all) has for each of trace->blocks a small number that it shares with requests that take as long.
 */
struct disk_speed disk_service_speed(const struct disk_service *disks, uint32_t device,
                                     const int *alike);

/* How long each request of the trace to `device` had one of so many servers (0: one of its own):
 * sets those in `service_ns`, which has one for each of trace->blocks. */
void disk_service_times(const struct disk_service *disks, uint32_t device, double servers,
                        double *service_ns);

#endif
