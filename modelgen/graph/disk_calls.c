#include "modelgen/graph/disk_calls.h"

#include <stdlib.h>

#include "base/bisection.h"
#include "base/memory.h"
#include "modelgen/calibrate/disk_service.h"
#include "modelgen/calibrate/page_cache_size.h"
#include "modelgen/calibrate/page_reads.h"
#include "modelgen/graph/step_tasks.h"

struct recorded_call {
    int node;
    uint64_t start_ns, end_ns;
    size_t thread;
    struct disk_requests requests;
    bool ahead;
    int task;       /* STEP_OF_NO_TASK; also where tasks are not known */
    size_t goes_on; /* so many calls of the node before it its thread's row was; 0: it begins one */
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
    int **tasks = step_tasks_find(builder->model, in->streams->streams, in->trace->n_threads);
    for (size_t t = 0; t < in->trace->n_threads; t++) {
        const struct stream *stream = &in->streams->streams[t];
        for (size_t s = 0; s < stream->n_steps; s++) {
            const struct step *step = &stream->steps[s];
            if (step->kind != NODE_IO || step->time.disk == MODEL_NONE || has_times(&step->time))
                continue;
            *VECTOR_ADD(&calls) = (struct recorded_call){
                builder->node_of[t][s],
                step->start_ns,
                step->end_ns,
                t,
                disk_service_queued(in->disks, t, step->start_ns, step->end_ns),
                step->time.ahead,
                tasks ? tasks[t][s] : STEP_OF_NO_TASK,
                0};
        }
    }
    step_tasks_free(tasks, in->trace->n_threads);
    return calls;
}

static bool only_reads(const struct disk_service *disks, const struct recorded_call *call) {
    for (size_t i = 0; i < call->requests.n; i++)
        if (disks->trace->blocks[call->requests.items[i]].kind >= BLOCK_WRITE)
            return false;
    return true;
}

/* The first of the call's last requests that it did not wait for: the kernel read ahead. */
static size_t first_ahead(const struct disk_service *disks, const struct recorded_call *call) {
    size_t first = call->requests.n;
    while (call->ahead && first > 0 &&
           disks->trace->blocks[call->requests.items[first - 1]].completed_ns > call->end_ns)
        first--;
    return first;
}

/* A request is there with the one before it if it was queued before that was done. */
static void write_requests(const struct disk_service *disks, const struct recorded_call *call,
                           struct values *values) {
    *VECTOR_ADD(values) = (double)call->requests.n;
    uint64_t done_ns = 0;
    size_t ahead = first_ahead(disks, call);
    for (size_t i = 0; i < call->requests.n; i++) {
        const struct trace_block *block = &disks->trace->blocks[call->requests.items[i]];
        *VECTOR_ADD(values) = (double)block->sector;
        *VECTOR_ADD(values) = block->bytes / DISK_SECTOR_BYTES;
        *VECTOR_ADD(values) =
            (i > 0 && block->queued_ns < done_ns) + (i >= ahead ? REQUEST_AHEAD : 0);
        done_ns = block->completed_ns;
    }
}

/* ---- rows ---- */

/* What a thread did last at a node. */
struct row {
    uint64_t end;       /* the sector behind the last one that it asked for; 0: it has not yet */
    size_t first, last; /* its calls since then: the first of them asked, the others for nothing */
};

/* A call that reads on where its thread's one before ended, and those without requests in between,
 * go on with the thread's row. `next[c]`: the thread's call behind c; 0: none. */
static void end_row(struct recorded_call *calls, const size_t *next, const struct row *row) {
    for (size_t c = row->first; c != row->last; c = next[c])
        calls[next[c]].goes_on = next[c] - c;
}

/* Of the calls of one node. */
static void find_rows(const struct disk_service *disks, struct recorded_call *calls, size_t n,
                      struct row *rows) {
    size_t *next = memory_alloc(n, sizeof *next);
    for (size_t c = 0; c < n; c++) {
        struct row *row = &rows[calls[c].thread];
        const struct disk_requests *asked = &calls[c].requests;
        if (row->end > 0) {
            next[row->last] = c;
            row->last = c;
        }
        if (asked->n == 0)
            continue;
        const struct trace_block *blocks = disks->trace->blocks;
        const struct trace_block *last = &blocks[asked->items[asked->n - 1]];
        if (row->end > 0 && blocks[asked->items[0]].sector == row->end)
            end_row(calls, next, row);
        *row = (struct row){last->sector + (uint64_t)(last->bytes / DISK_SECTOR_BYTES), c, c};
    }
    free(next);
}

static bool has_rows(const struct recorded_call *calls, size_t n) {
    for (size_t c = 0; c < n; c++)
        if (calls[c].goes_on > 0)
            return true;
    return false;
}

static void write_rows(const struct peg_builder *builder, struct recorded_call *calls, size_t n) {
    struct node *node = &builder->model->nodes[calls[0].node];
    struct row *rows = memory_alloc(builder->in->trace->n_threads, sizeof *rows);
    find_rows(builder->in->disks, calls, n, rows);
    if (has_rows(calls, n)) {
        node->goes_on = memory_alloc(n, sizeof *node->goes_on);
        for (size_t c = 0; c < n; c++)
            node->goes_on[c] = (double)calls[c].goes_on;
        node->n_goes_on = n;
    }
    free(rows);
}

/* ---- tasks ---- */

/* Of the calls of one node. */
static void write_tasks(struct node *node, const struct recorded_call *calls, size_t n) {
    bool has_tasks = false;
    for (size_t c = 0; c < n; c++)
        has_tasks |= calls[c].task != STEP_OF_NO_TASK;
    if (!has_tasks)
        return;
    node->tasks = memory_alloc(n, sizeof *node->tasks);
    node->n_tasks = n;
    for (size_t c = 0; c < n; c++)
        node->tasks[c] = calls[c].task;
}

/* ---- the page cache ---- */

/* Which of the page cache's calls it is; -1: none. */
static double find_read(const struct page_reads *reads, const struct recorded_call *call) {
    struct bisection at = bisection_of(0, reads->n_calls);
    while (bisection_next(&at)) {
        const struct page_call *read = &reads->calls[at.middle];
        bisection_tell(&at, read->start_ns < call->start_ns ||
                                (read->start_ns == call->start_ns && read->thread < call->thread));
    }
    bool found = at.low < reads->n_calls && reads->calls[at.low].start_ns == call->start_ns &&
                 reads->calls[at.low].thread == call->thread;
    return found ? (double)at.low : -1;
}

/* Which of the calls are left of which file_mix leaves some out, and become others: the number that
 * each has then; -1: none. The caller frees. */
static double *leave_out_calls(const struct mixed_run *mixed, const struct page_reads *reads,
                               struct page_cache *cache) {
    double *number_of = memory_alloc(reads->n_calls, sizeof *number_of);
    double n = 0;
    size_t to = 0;
    for (size_t c = 0, from = 0; c < reads->n_calls; c++) {
        size_t length = 1 + 3 * reads->calls[c].n;
        bool stays =
            !mixed || !mixed_run_lacks(mixed, reads->calls[c].thread, reads->calls[c].start_ns);
        number_of[c] = stays ? n++ : -1;
        for (size_t i = 0; i < length && stays; i++)
            cache->calls[to++] = cache->calls[from + i];
        from += length;
    }
    cache->n_calls = to;
    return number_of;
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
    double *number_of = leave_out_calls(builder->in->mixed, &reads, cache);
    for (size_t i = 0; i < calls->count; i++) {
        struct node *node = &builder->model->nodes[calls->items[i].node];
        if (node->n_calls == 0)
            continue;
        node->reads = memory_resize(node->reads, node->n_reads + 1, sizeof *node->reads);
        double read = find_read(&reads, &calls->items[i]);
        node->reads[node->n_reads++] = read < 0 ? -1 : number_of[(size_t)read];
    }
    free(number_of);
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
        size_t first = i;
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
        write_tasks(node, &calls.items[first], i - first);
        if (node->n_tasks == 0)
            write_rows(builder, &calls.items[first], i - first);
    }
    write_page_cache(builder, &calls);
    free(calls.items);
}
