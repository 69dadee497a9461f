/* From what happened at a block device to requests: who queued them, when they were sent to the
 * device and when it was done. Pure: the sources are block.h and blktrace.h. */
#ifndef PERSIK_TRACER_REQUESTS_H
#define PERSIK_TRACER_REQUESTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/trace.h"

enum block_action {
    BLOCK_QUEUED, /* a thread handed in a range of sectors */
    BLOCK_ISSUED, /* the driver got a request; it may join several ranges, or be part of one */
    BLOCK_COMPLETED,
    BLOCK_REMAPPED /* what was queued for another device goes on to this one: a device mapper's, or
                    * from a partition to its disk */
};

struct block_event {
    uint64_t time_ns;
    uint64_t sector; /* of 512 bytes */
    uint32_t sectors;
    uint32_t device; /* major << 20 | minor */
    int tid;         /* in whose context it happened; meaningless for completions */
    enum block_action action;
    enum trace_block_kind kind;
    bool kernel; /* by a thread of the kernel: write-back, a journal */
    /* BLOCK_REMAPPED: where it was queued before. */
    uint32_t from_device;
    uint64_t from_sector;
};

struct block_events {
    size_t count, capacity;
    struct block_event *items;
};

struct block_request {
    struct trace_block block; /* times as in the events */
    bool kernel;              /* queued by a thread of the kernel */
};

struct block_requests {
    size_t count, capacity;
    struct block_request *items; /* by time of issue */
};

/* Sorts the events by time, then pairs them, by their sectors: what was merged, split or reordered
 * on its way needs no events of its own. A request that the driver gave back and got again is one.
 * What was remapped keeps the thread that queued it for the other device. A request whose queueing
 * was not seen has queued_ns 0 and the thread that issued it; one that was still under way at the
 * end has completed_ns 0. Ranges that were queued and never issued are left out. */
void requests_pair(struct block_requests *requests, struct block_events *events);

/* Is this the name of a thread of the kernel that writes back the page cache or a file system's
 * journal, or serves a loop device? At most `size` bytes of it. */
bool requests_kernel_name(const char *command, size_t size);

/* The kernel's letters for a request ("WS", "RAM", "FF"; see blkparse(1), RWBS), at most `size` of
 * them. -1: neither reads, writes, flushes nor discards. */
int requests_kind(const char *rwbs, size_t size);

#endif
