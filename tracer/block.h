/* Source of block I/O: the kernel's block tracepoints through ftrace. Machine-wide, since a request
 * is issued and completed in whatever context comes along, and so for root only. */
#ifndef PERSIK_TRACER_BLOCK_H
#define PERSIK_TRACER_BLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "tracer/ftrace.h"
#include "tracer/lacks.h"
#include "tracer/requests.h"
#include "tracer/tracepoint.h"

enum { BLOCK_ACTIONS = BLOCK_COMPLETED + 1 };

struct block {
    bool attached;
    struct block_events events; /* CLOCK_MONOTONIC, in no order */
    struct block_point {
        struct block *block;
        enum block_action action;
        struct tracepoint_field device, sector, sectors, rwbs, command;
    } points[BLOCK_ACTIONS];
};

/* Adds the tracepoints to `ftrace`; `block` must stay where it is until its last drain. What is not
 * permitted goes to `lacks`. */
void block_attach(struct block *block, struct ftrace *ftrace, struct lacks *lacks);

void block_free(struct block *block);

#endif
