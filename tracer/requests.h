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
    BLOCK_COMPLETED
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

/* Sorts the events by time, then pairs them. A request whose queueing was not seen has queued_ns 0
 * and the thread that issued it; one that was still under way at the end has completed_ns 0. Ranges
 * that were queued and never issued are left out. */
void requests_pair(struct block_requests *requests, struct block_events *events);

/* Those that one of the threads queued, in the order of their beginning, with times since the
 * moment that is `start_ns` on the events' clock. Allocated; `n` gets how many. What the kernel
 * writes back later belongs to no thread, and not surely to the program. */
struct trace_block *requests_of_threads(const struct block_requests *requests,
                                        const struct trace_thread *threads, size_t n_threads,
                                        uint64_t start_ns, size_t *n);

/* The kernel's letters for a request ("WS", "RAM", "FF"; see blkparse(1), RWBS), at most `size` of
 * them. -1: neither reads, writes, flushes nor discards. */
int requests_kind(const char *rwbs, size_t size);

#endif
