#include "tracer/requests.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/memory.h"

#define SECTOR_BYTES 512u

struct pairing {
    struct block_events queued; /* not issued yet */
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

/* Takes what `issued` covers from the queued ranges. The request is the thread's that queued the
 * earliest of them. */
static void take_queued(struct pairing *pairing, const struct block_event *issued,
                        struct block_request *request) {
    uint64_t end = issued->sector + issued->sectors;
    size_t kept = 0;
    for (size_t i = 0; i < pairing->queued.count; i++) {
        struct block_event queued = pairing->queued.items[i];
        bool met = overlap(&queued, issued);
        if (met && (!request->block.queued_ns || queued.time_ns < request->block.queued_ns)) {
            request->block.queued_ns = queued.time_ns;
            request->block.tid = queued.tid;
            request->block.kind = queued.kind;
            request->kernel = queued.kernel;
        }
        uint64_t queued_end = queued.sector + queued.sectors;
        if (met && queued_end > end) { /* the rest comes with another request */
            queued.sectors = (uint32_t)(queued_end - end);
            queued.sector = end;
            met = false;
        }
        if (!met)
            pairing->queued.items[kept++] = queued;
    }
    pairing->queued.count = kept;
}

static void issue(struct pairing *pairing, const struct block_event *event) {
    struct block_request request = {.block = {.issued_ns = event->time_ns,
                                              .device = event->device,
                                              .tid = event->tid,
                                              .bytes = event->sectors * SECTOR_BYTES,
                                              .kind = event->kind},
                                    .kernel = event->kernel};
    take_queued(pairing, event, &request);
    *VECTOR_ADD(&pairing->issued) = (struct under_way){.request = pairing->requests->count,
                                                       .sector = event->sector,
                                                       .end = event->sector + event->sectors};
    *VECTOR_ADD(pairing->requests) = request;
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
    qsort(events->items, events->count, sizeof *events->items, compare_events);
    struct pairing pairing = {.requests = requests};
    for (size_t i = 0; i < events->count; i++) {
        const struct block_event *event = &events->items[i];
        if (event->action == BLOCK_QUEUED)
            *VECTOR_ADD(&pairing.queued) = *event;
        else if (event->action == BLOCK_ISSUED)
            issue(&pairing, event);
        else
            complete(&pairing, event);
    }
    free(pairing.queued.items);
    free(pairing.issued.items);
}

static uint64_t since(uint64_t start_ns, uint64_t time_ns) {
    return time_ns > start_ns ? time_ns - start_ns : 0;
}

static uint64_t block_start(const struct trace_block *block) {
    return block->queued_ns ? block->queued_ns : block->issued_ns;
}

static int compare_blocks(const void *left, const void *right) {
    uint64_t a = block_start(left);
    uint64_t b = block_start(right);
    return (a > b) - (a < b);
}

struct trace_block *requests_of_threads(const struct block_requests *requests,
                                        const struct trace_thread *threads, size_t n_threads,
                                        uint64_t start_ns, size_t *n) {
    struct map ours = MAP_EMPTY;
    for (size_t t = 0; t < n_threads; t++)
        map_put(&ours, (uint64_t)threads[t].tid, 1);
    struct trace_block *blocks = memory_alloc(requests->count, sizeof *blocks);
    *n = 0;
    for (size_t i = 0; i < requests->count; i++) {
        const struct trace_block *block = &requests->items[i].block;
        if (!map_get(&ours, (uint64_t)block->tid, 0))
            continue;
        blocks[*n] = *block;
        blocks[*n].queued_ns = since(start_ns, block->queued_ns);
        blocks[*n].issued_ns = since(start_ns, block->issued_ns);
        blocks[*n].completed_ns = since(start_ns, block->completed_ns);
        ++*n;
    }
    if (*n > 0)
        qsort(blocks, *n, sizeof *blocks, compare_blocks);
    map_free(&ours);
    return blocks;
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
