#include "tracer/block.h"

#include <errno.h>
#include <stdlib.h>

#include "base/memory.h"

static const char *const point_names[BLOCK_ACTIONS] = {
    [BLOCK_QUEUED] = "block_bio_queue",
    [BLOCK_ISSUED] = "block_rq_issue",
    [BLOCK_COMPLETED] = "block_rq_complete",
};

static bool has_field(const struct ftrace_event *event, struct tracepoint_field field) {
    return field.size > 0 && (uint32_t)field.offset + field.size <= event->bytes;
}

static void handle(const struct ftrace_event *event, void *context) {
    const struct block_point *point = context;
    const char *data = event->data;
    int kind = has_field(event, point->rwbs)
                   ? requests_kind(data + point->rwbs.offset, point->rwbs.size)
                   : -1;
    if (kind < 0)
        return;
    uint64_t sector = tracepoint_value(data, event->bytes, point->sector);
    *VECTOR_ADD(&point->block->events) = (struct block_event){
        .time_ns = event->mono_ns,
        .sector = sector == UINT64_MAX ? 0 : sector, /* how the kernel says "no sector" */
        .sectors = (uint32_t)tracepoint_value(data, event->bytes, point->sectors),
        .device = (uint32_t)tracepoint_value(data, event->bytes, point->device),
        .tid = event->tid,
        .action = point->action,
        .kind = (enum trace_block_kind)kind,
        .kernel = has_field(event, point->command) &&
                  requests_kernel_name(data + point->command.offset, point->command.size),
    };
}

static int attach_point(struct block *block, enum block_action action, struct ftrace *ftrace) {
    struct tracepoint tracepoint;
    int cause = tracepoint_open(&tracepoint, "block", point_names[action]);
    if (cause)
        return cause;
    struct block_point *point = &block->points[action];
    *point = (struct block_point){.block = block,
                                  .action = action,
                                  .device = tracepoint_field(&tracepoint, "dev"),
                                  .sector = tracepoint_field(&tracepoint, "sector"),
                                  .sectors = tracepoint_field(&tracepoint, "nr_sector"),
                                  .rwbs = tracepoint_field(&tracepoint, "rwbs"),
                                  .command = tracepoint_field(&tracepoint, "comm")};
    cause = ftrace_add(ftrace, &tracepoint, handle, point);
    tracepoint_close(&tracepoint);
    return cause;
}

void block_attach(struct block *block, struct ftrace *ftrace, struct lacks *lacks) {
    int cause = 0;
    for (int action = 0; action < BLOCK_ACTIONS && !cause; action++)
        cause = attach_point(block, (enum block_action)action, ftrace);
    block->attached = cause == 0;
    if (cause == EACCES || cause == EPERM)
        lacks_add(lacks, "block I/O: only root may see it");
    else if (cause)
        lacks_add(lacks, "block I/O: %s", tracepoint_explain(cause));
}

void block_free(struct block *block) {
    free(block->events.items);
    *block = (struct block){0};
}
