#include "tracer/blktrace.h"

#include <endian.h>
#include <errno.h>
#include <linux/blktrace_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define SECTOR_BYTES 512u
#define MAGIC_MASK   0xffffff00u
#define ACTION_MASK  0xffu /* of the action; its class is in the upper half */

/* -1: not one of ours. */
static int action_of(uint32_t action) {
    switch (action & ACTION_MASK) {
    case __BLK_TA_QUEUE:
        return BLOCK_QUEUED;
    case __BLK_TA_ISSUE:
        return BLOCK_ISSUED;
    case __BLK_TA_COMPLETE:
        return BLOCK_COMPLETED;
    case __BLK_TA_REMAP:
        return BLOCK_REMAPPED;
    default:
        return -1;
    }
}

static int kind_of(uint32_t action) {
    uint32_t classes = action >> BLK_TC_SHIFT;
    if (classes & BLK_TC_DISCARD)
        return BLOCK_DISCARD;
    if (classes & BLK_TC_WRITE)
        return BLOCK_WRITE;
    if (classes & BLK_TC_AHEAD)
        return BLOCK_READAHEAD;
    if (classes & BLK_TC_READ)
        return classes & BLK_TC_META ? BLOCK_METADATA : BLOCK_READ;
    return classes & BLK_TC_FLUSH ? BLOCK_FLUSH : -1;
}

/* The data of a remap: both devices and where it was before, the most significant byte first. */
static bool take_origin(struct block_event *event, const void *data, size_t bytes) {
    struct blk_io_trace_remap remap;
    if (bytes < sizeof remap)
        return false;
    memcpy(&remap, data, sizeof remap);
    event->from_device = be32toh(remap.device_from);
    event->from_sector = be64toh(remap.sector_from);
    return true;
}

static void add_event(struct blktrace *blktrace, const struct blk_io_trace *event,
                      const void *data) {
    int action = action_of(event->action);
    int kind = kind_of(event->action);
    if (action < 0 || kind < 0)
        return;
    struct block_event added = {
        .time_ns = event->time,
        .sector = event->sector,
        .sectors = event->bytes / SECTOR_BYTES,
        .device = event->device,
        .tid = (int)event->pid,
        .action = (enum block_action)action,
        .kind = (enum trace_block_kind)kind,
    };
    if (action != BLOCK_REMAPPED || take_origin(&added, data, event->pdu_len))
        *VECTOR_ADD(&blktrace->events) = added;
}

/* The data of a process message: its name. */
static void take_name(struct blktrace *blktrace, uint32_t pid, const char *name, size_t bytes) {
    map_put(&blktrace->kernel, pid, requests_kernel_name(name, bytes));
}

/* The data of a time message: seconds and nanoseconds. */
static void take_start(struct blktrace *blktrace, const void *data, size_t bytes) {
    uint32_t start[2];
    if (bytes < sizeof start)
        return;
    memcpy(start, data, sizeof start);
    blktrace->wall_start_ns = start[0] * 1000000000ull + start[1];
}

/* `data` has room for UINT16_MAX bytes. */
static int read_event(struct blktrace *blktrace, FILE *file, const char *path, char *data,
                      struct error *error) {
    struct blk_io_trace event;
    size_t got = fread(&event, 1, sizeof event, file);
    if (got == 0)
        return feof(file) ? 1 : error_set(error, "%s: %s: check the disk", path, strerror(errno));
    if (got == sizeof event && (event.magic & MAGIC_MASK) != BLK_IO_TRACE_MAGIC)
        return error_set(
            error, "%s: not a blktrace file of this machine's byte order: record again", path);
    if (got < sizeof event || fread(data, 1, event.pdu_len, file) != event.pdu_len)
        return error_set(error, "%s: truncated at byte %ld: record again", path, ftell(file));
    if ((event.action >> BLK_TC_SHIFT) & BLK_TC_NOTIFY) {
        if ((event.action & ACTION_MASK) == __BLK_TN_TIMESTAMP)
            take_start(blktrace, data, event.pdu_len);
        else if ((event.action & ACTION_MASK) == __BLK_TN_PROCESS)
            take_name(blktrace, event.pid, data, event.pdu_len);
    } else {
        add_event(blktrace, &event, data);
    }
    return 0;
}

int blktrace_read(struct blktrace *blktrace, const char *path, struct error *error) {
    FILE *file = fopen(path, "rbe");
    if (!file)
        return error_set(error, "%s: %s: check the name", path, strerror(errno));
    char *data = memory_alloc(UINT16_MAX, 1);
    int status;
    do {
        status = read_event(blktrace, file, path, data, error);
    } while (status == 0);
    free(data);
    fclose(file);
    return status > 0 ? 0 : -1;
}

void blktrace_name_events(struct blktrace *blktrace) {
    for (size_t i = 0; i < blktrace->events.count; i++) {
        struct block_event *event = &blktrace->events.items[i];
        event->kernel = event->tid > 0 && map_get(&blktrace->kernel, (uint64_t)event->tid, 0) != 0;
    }
}

void blktrace_free(struct blktrace *blktrace) {
    map_free(&blktrace->kernel);
    free(blktrace->events.items);
    *blktrace = (struct blktrace){0};
}
