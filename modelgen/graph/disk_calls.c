#include "modelgen/graph/disk_calls.h"

#include <stdlib.h>

#include "base/memory.h"
#include "modelgen/calibrate/disk_service.h"
#include "modelgen/calibrate/page_cache_size.h"
#include "modelgen/calibrate/page_reads.h"

struct recorded_call {
    int node;
    uint64_t start_ns;
    size_t thread;
    struct disk_requests requests;
    bool ahead;
};

struct recorded_calls {
    struct recorded_call *items;
    size_t count, capacity;
};

static int compare_calls(const void *left, const void *right) {
    const struct recorded_call *a = left, *b = right;
    if (a->node != b->node)
        return a->node < b->node ? -1 : 1;
    if (a->start_ns != b->start_ns)
        return a->start_ns < b->start_ns ? -1 : 1;
    return (a->thread > b->thread) - (a->thread < b->thread);
}

/* Caches are for what is read; what writes has the times of its stages (modelgen/lower), also where
 * the requests are the kernel's, so that the call itself has none. */
static bool has_times(const struct step_time *time) {
    return time->stage > 0 || time->service_ns > 0;
}

static struct recorded_calls find_calls(const struct peg_builder *builder) {
    const struct peg_input *in = builder->in;
    struct recorded_calls calls = {0};
    for (size_t t = 0; t < in->trace->n_threads; t++) {
        const struct stream *stream = &in->streams->streams[t];
        for (size_t s = 0; s < stream->n_steps; s++) {
            const struct step *step = &stream->steps[s];
            if (step->kind != NODE_IO || step->time.disk == MODEL_NONE || has_times(&step->time))
                continue;
            *VECTOR_ADD(&calls) = (struct recorded_call){
                builder->node_of[t][s], step->start_ns, t,
                disk_service_queued(in->disks, t, step->start_ns, step->end_ns), step->time.ahead};
        }
    }
    return calls;
}

static bool only_reads(const struct disk_service *disks, const struct recorded_call *call) {
    for (size_t i = 0; i < call->requests.n; i++)
        if (disks->trace->blocks[call->requests.items[i]].kind >= BLOCK_WRITE)
            return false;
    return true;
}

/* A request is there with the one before it if it was queued before that was done. */
static void write_requests(const struct disk_service *disks, const struct recorded_call *call,
                           struct values *values) {
    *VECTOR_ADD(values) = (double)call->requests.n;
    uint64_t done_ns = 0;
    for (size_t i = 0; i < call->requests.n; i++) {
        const struct trace_block *block = &disks->trace->blocks[call->requests.items[i]];
        *VECTOR_ADD(values) = (double)block->sector;
        *VECTOR_ADD(values) = block->bytes / DISK_SECTOR_BYTES;
        *VECTOR_ADD(values) =
            (i > 0 && block->queued_ns < done_ns) + (call->ahead ? REQUEST_AHEAD : 0);
        done_ns = block->completed_ns;
    }
}

/* Which of the page cache's calls it is; -1: none. */
static double find_read(const struct page_reads *reads, const struct recorded_call *call) {
    size_t low = 0, high = reads->n_calls;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct page_call *at = &reads->calls[middle];
        if (at->start_ns < call->start_ns ||
            (at->start_ns == call->start_ns && at->thread < call->thread))
            low = middle + 1;
        else
            high = middle;
    }
    bool found = low < reads->n_calls && reads->calls[low].start_ns == call->start_ns &&
                 reads->calls[low].thread == call->thread;
    return found ? (double)low : -1;
}

static bool has_calls(const struct model *model) {
    for (size_t n = 0; n < model->n_nodes; n++)
        if (model->nodes[n].n_calls > 0)
            return true;
    return false;
}

/* Behind the nodes' calls. */
static void write_page_cache(const struct peg_builder *builder,
                             const struct recorded_calls *calls) {
    const struct trace *trace = builder->in->trace;
    struct page_cache *cache = &builder->model->page_cache;
    if (!has_calls(builder->model))
        return; /* what a miss would cost is not known */
    cache->unknown = memory_strdup(trace->meta.no_pages);
    if (!trace->meta.has_pages)
        return;
    struct page_reads reads = page_reads_find(builder->in->disks);
    *cache = page_cache_size_find(&reads);
    for (size_t i = 0; i < calls->count; i++) {
        struct node *node = &builder->model->nodes[calls->items[i].node];
        if (node->n_calls == 0)
            continue;
        node->reads = memory_resize(node->reads, node->n_reads + 1, sizeof *node->reads);
        node->reads[node->n_reads++] = find_read(&reads, &calls->items[i]);
    }
    page_reads_free(&reads);
}

void disk_calls_write(const struct peg_builder *builder) {
    const struct disk_service *disks = builder->in->disks;
    if (!disks || !disk_service_has_places(disks))
        return;
    struct recorded_calls calls = find_calls(builder);
    if (calls.count > 0)
        qsort(calls.items, calls.count, sizeof *calls.items, compare_calls);
    for (size_t i = 0; i < calls.count;) {
        struct node *node = &builder->model->nodes[calls.items[i].node];
        struct values values = {0};
        bool reads = true;
        for (int of = calls.items[i].node; i < calls.count && calls.items[i].node == of; i++) {
            reads &= only_reads(disks, &calls.items[i]);
            write_requests(disks, &calls.items[i], &values);
        }
        if (!reads) {
            free(values.items);
            continue;
        }
        node->calls = values.items;
        node->n_calls = values.count;
    }
    write_page_cache(builder, &calls);
    free(calls.items);
}
