#include "tracer/requests.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define SECTOR_BYTES 512u

struct pairing {
    struct block_events queued;   /* not issued yet */
    struct block_events remapped; /* not queued yet at the new device; who queued it before */
    struct {
        size_t count, capacity;
        struct under_way {
            size_t request;
            uint64_t sector, end; /* not done yet */
        } * items;
    } issued;
    struct block_requests *requests;
};

static int compare_events(const void *left, const void *right) {
    const struct block_event *a = left;
    const struct block_event *b = right;
    if (a->time_ns != b->time_ns)
        return a->time_ns < b->time_ns ? -1 : 1;
    return (a->action > b->action) - (a->action < b->action);
}

/* A flush has no sectors: it meets only another without any. */
static bool overlap(const struct block_event *queued, const struct block_event *issued) {
    if (queued->device != issued->device)
        return false;
    if (queued->sectors == 0 || issued->sectors == 0)
        return queued->sectors == issued->sectors;
    return queued->sector < issued->sector + issued->sectors &&
           issued->sector < queued->sector + queued->sectors;
}

static void set_queued(struct block_request *request, const struct block_event *queued) {
    request->block.queued_ns = queued->time_ns;
    request->block.tid = queued->tid;
    request->block.kind = queued->kind;
    request->kernel = queued->kernel;
}

/* Two threads may ask for the same sectors at once: each has a request of its own, which most often
 * it issues itself. Takes the one that fits best. False: none is just what was issued. */
static bool take_same(struct pairing *pairing, const struct block_event *issued,
                      struct block_request *request) {
    struct block_events *queued = &pairing->queued;
    size_t best = queued->count;
    for (size_t i = 0; i < queued->count; i++) {
        const struct block_event *event = &queued->items[i];
        if (event->device == issued->device && event->sector == issued->sector &&
            event->sectors == issued->sectors &&
            (best == queued->count || (event->tid == issued->tid && event->kind == issued->kind)))
            best = i;
    }
    if (best == queued->count)
        return false;
    set_queued(request, &queued->items[best]);
    memmove(&queued->items[best], &queued->items[best + 1],
            (--queued->count - best) * sizeof *queued->items);
    return true;
}

/* Takes what `issued` covers from the queued ranges. The request is the thread's that queued the
 * earliest of them. */
static void take_queued(struct block_events *queued_events, const struct block_event *issued,
                        struct block_request *request) {
    uint64_t end = issued->sector + issued->sectors;
    size_t kept = 0;
    for (size_t i = 0; i < queued_events->count; i++) {
        struct block_event queued = queued_events->items[i];
        bool met = overlap(&queued, issued);
        if (met && (!request->block.queued_ns || queued.time_ns < request->block.queued_ns))
            set_queued(request, &queued);
        uint64_t queued_end = queued.sector + queued.sectors;
        if (met && queued_end > end) { /* the rest comes with another request */
            queued.sectors = (uint32_t)(queued_end - end);
            queued.sector = end;
            met = false;
        }
        if (!met)
            queued_events->items[kept++] = queued;
    }
    queued_events->count = kept;
}

/* The same request again, which the driver had given back? */
static bool is_again(struct pairing *pairing, const struct block_event *event) {
    for (size_t i = 0; i < pairing->issued.count && event->sectors > 0; i++) {
        const struct under_way *under_way = &pairing->issued.items[i];
        struct trace_block *block = &pairing->requests->items[under_way->request].block;
        if (block->device == event->device && under_way->sector == event->sector &&
            under_way->end == event->sector + event->sectors) {
            block->issued_ns = event->time_ns;
            return true;
        }
    }
    return false;
}

static void issue(struct pairing *pairing, const struct block_event *event) {
    struct block_request request = {.block = {.issued_ns = event->time_ns,
                                              .device = event->device,
                                              .tid = event->tid,
                                              .bytes = event->sectors * SECTOR_BYTES,
                                              .kind = event->kind,
                                              .sector = event->sector},
                                    .kernel = event->kernel};
    if (event->sectors == 0 || !take_same(pairing, event, &request))
        take_queued(&pairing->queued, event, &request);
    if (!request.block.queued_ns && is_again(pairing, event))
        return;
    if (event->sectors == 0 && request.block.kind == BLOCK_WRITE)
        request.block.kind = BLOCK_FLUSH; /* a write of nothing, with a flush before it */
    *VECTOR_ADD(&pairing->issued) = (struct under_way){.request = pairing->requests->count,
                                                       .sector = event->sector,
                                                       .end = event->sector + event->sectors};
    *VECTOR_ADD(pairing->requests) = request;
}

/* ---- from one device to another ---- */

static void queue(struct pairing *pairing, const struct block_event *event) {
    struct block_request origin = {0};
    take_queued(&pairing->remapped, event, &origin);
    struct block_event queued = *event;
    if (origin.block.queued_ns) {
        queued.time_ns = origin.block.queued_ns;
        queued.tid = origin.block.tid;
        queued.kind = origin.block.kind;
        queued.kernel = origin.kernel;
    }
    *VECTOR_ADD(&pairing->queued) = queued;
}

/* Where the other device had it queued, it comes to this one from whoever did that. It may have
 * been queued here in the same microsecond. */
static void remap(struct pairing *pairing, const struct block_event *event) {
    struct block_event old = *event;
    struct block_request origin = {0}, here = {0};
    old.device = event->from_device;
    old.sector = event->from_sector;
    take_queued(&pairing->queued, &old, &origin);
    if (!origin.block.queued_ns)
        return;
    struct block_event queued = *event;
    queued.time_ns = origin.block.queued_ns;
    queued.tid = origin.block.tid;
    queued.kind = origin.block.kind;
    queued.kernel = origin.kernel;
    if (take_same(pairing, event, &here))
        *VECTOR_ADD(&pairing->queued) = queued;
    else
        *VECTOR_ADD(&pairing->remapped) = queued;
}

/* A device may report a request in parts, front to back; the last one counts. */
static void complete(struct pairing *pairing, const struct block_event *event) {
    uint64_t end = event->sector + event->sectors;
    for (size_t i = 0; i < pairing->issued.count; i++) {
        struct under_way *under_way = &pairing->issued.items[i];
        struct trace_block *block = &pairing->requests->items[under_way->request].block;
        if (block->device != event->device || under_way->sector != event->sector ||
            (under_way->end == under_way->sector) != (event->sectors == 0))
            continue;
        block->completed_ns = event->time_ns;
        under_way->sector = end;
        if (end >= under_way->end)
            *under_way = pairing->issued.items[--pairing->issued.count];
        return;
    }
}

void requests_pair(struct block_requests *requests, struct block_events *events) {
    if (events->count == 0)
        return;
    VECTOR_SORT(events, compare_events);
    struct pairing pairing = {.requests = requests};
    for (size_t i = 0; i < events->count; i++) {
        const struct block_event *event = &events->items[i];
        if (event->action == BLOCK_QUEUED)
            queue(&pairing, event);
        else if (event->action == BLOCK_ISSUED)
            issue(&pairing, event);
        else if (event->action == BLOCK_COMPLETED)
            complete(&pairing, event);
        else
            remap(&pairing, event);
    }
    free(pairing.queued.items);
    free(pairing.remapped.items);
    free(pairing.issued.items);
}

bool requests_kernel_name(const char *command, size_t size) {
    static const char *const names[] = {"kworker", "jbd2/", "xfsaild/", "btrfs-", "loop"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (size >= strlen(names[i]) && strncmp(command, names[i], strlen(names[i])) == 0)
            return strcmp(names[i], "loop") != 0 ||
                   (size > 4 && command[4] >= '0' && command[4] <= '9');
    return false;
}

int requests_kind(const char *rwbs, size_t size) {
    size_t length = strnlen(rwbs, size);
    size_t at = 0;
    if (length > 1 && rwbs[0] == 'F' && strchr("RWDF", rwbs[1]))
        at = 1; /* a flush that goes before the operation */
    if (length == 0)
        return -1;
    bool metadata = memchr(rwbs + at, 'M', length - at) != NULL;
    bool ahead = memchr(rwbs + at, 'A', length - at) != NULL;
    switch (rwbs[at]) {
    case 'R':
        return ahead ? BLOCK_READAHEAD : metadata ? BLOCK_METADATA : BLOCK_READ;
    case 'W':
        return BLOCK_WRITE;
    case 'F':
        return BLOCK_FLUSH;
    case 'D':
        return BLOCK_DISCARD;
    default:
        return -1;
    }
}
