/* Source of block I/O: the kernel's block tracepoints by perf_event_open. Machine-wide, since a
 * request is issued and completed in whatever context comes along, and so for root only. */
#ifndef PERSIK_TRACER_BLOCK_H
#define PERSIK_TRACER_BLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "tracer/lacks.h"
#include "tracer/recorder.h"
#include "tracer/requests.h"
#include "tracer/tracepoint.h"

enum { BLOCK_ACTIONS = BLOCK_COMPLETED + 1 };

struct block {
    bool attached;
    uint64_t lost;
    struct block_events events; /* CLOCK_MONOTONIC, in no order */
    struct block_point {
        struct block *block;
        enum block_action action;
        struct tracepoint_field device, sector, sectors, rwbs, command;
    } points[BLOCK_ACTIONS];
};

/* Adds the tracepoints to `recorder`; `block` must stay where it is until recorder_stop(). What is
 * not permitted goes to `lacks`. */
void block_attach(struct block *block, struct recorder *recorder, struct lacks *lacks);

void block_free(struct block *block);

#endif
