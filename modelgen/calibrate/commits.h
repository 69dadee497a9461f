/* Calls that waited for what the kernel wrote for all of them: the commits of a file system's
 * journal. One commit is for all who had come by its beginning; who comes later waits for the next
 * one.
 *
 * The block log shows it: after its own requests a call went on sleeping, while requests of the
 * kernel's threads were under way at the same device, and it returned behind the last of these.
 * Calls that returned behind the same one waited for the same commit. */
#ifndef PERSIK_MODELGEN_CALIBRATE_COMMITS_H
#define PERSIK_MODELGEN_CALIBRATE_COMMITS_H

#include "base/map.h"
#include "modelgen/calibrate/disk_service.h"

struct commit {
    uint32_t device;
    size_t first, n; /* its requests: into `requests` */
    uint64_t end_ns;
    size_t n_calls;
};

/* A call that waited for one. */
struct commit_call {
    size_t thread, record;
    uint64_t came_ns; /* when its own requests were done */
    size_t commit;
    bool leads; /* it came first of those who waited for the commit */
};

struct commits {
    size_t n_commits, n_calls;
    struct commit *items; /* by device, then by time */
    struct commit_call *calls;
    struct map call_of; /* thread and record, mixed -> into `calls` */
    size_t n_requests;
    size_t *requests;  /* into the trace's blocks, of each commit in the order of their issue */
    double waited_ns;  /* of all calls that synchronise: behind their own requests ... */
    double covered_ns; /* ... and of that, while requests of the kernel were under way */
};

/* None where the requests of the kernel do not cover what was waited for. commits_free() ends it.
 */
struct commits commits_find(const struct disk_service *disks);
void commits_free(struct commits *commits);

/* NULL: the call waited for none. */
const struct commit_call *commits_call(const struct commits *commits, size_t thread, size_t record);

#endif
