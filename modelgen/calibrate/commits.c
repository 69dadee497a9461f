#include "modelgen/calibrate/commits.h"

#include <math.h>
#include <stdlib.h>

#include "base/bisection.h"
#include "base/memory.h"
#include "modelgen/events/event_cursor.h"
#include "modelgen/evidence.h"

#define NONE ((size_t)-1)

struct finder {
    const struct disk_service *disks;
    struct trace_block *blocks; /* the trace's */
    size_t *by_end;             /* the kernel's requests, by completion */
    struct {
        struct commit_call *items;
        size_t count, capacity;
    } calls; /* `commit` is the last request, until commits are numbered */
    double waited_ns, covered_ns;
};

static uint64_t call_key(size_t thread, size_t record) {
    return map_mix(map_mix(23, thread), record);
}

static int compare_numbers(uint64_t a, uint64_t b) {
    return (a > b) - (a < b);
}

static int compare_ends(const void *left, const void *right, void *blocks) {
    const struct trace_block *a = (const struct trace_block *)blocks + *(const size_t *)left;
    const struct trace_block *b = (const struct trace_block *)blocks + *(const size_t *)right;
    return compare_numbers(a->completed_ns, b->completed_ns);
}

static int compare_issues(const void *left, const void *right, void *blocks) {
    const struct trace_block *a = (const struct trace_block *)blocks + *(const size_t *)left;
    const struct trace_block *b = (const struct trace_block *)blocks + *(const size_t *)right;
    return compare_numbers(a->issued_ns, b->issued_ns);
}

static size_t *sort_by_end(const struct disk_service *disks) {
    size_t *by_end = memory_alloc(disks->n_kernel + 1, sizeof *by_end);
    for (size_t i = 0; i < disks->n_kernel; i++)
        by_end[i] = disks->kernel[i];
    qsort_r(by_end, disks->n_kernel, sizeof *by_end, compare_ends, disks->trace->blocks);
    return by_end;
}

/* Position behind the last of the kernel's requests that was done by the time. */
static size_t done_by(const struct finder *finder, uint64_t time_ns) {
    struct bisection at = bisection_of(0, finder->disks->n_kernel);
    while (bisection_next(&at))
        bisection_tell(&at, finder->blocks[finder->by_end[at.middle]].completed_ns <= time_ns);
    return at.low;
}

/* Of a call's time from `from_ns`, how long requests of the kernel to the device were under way
 * that were done by its end, the last of which stands before position `end`. */
static double covered(const struct finder *finder, uint64_t from_ns, size_t end, uint32_t device) {
    double sum_ns = 0;
    uint64_t counted_ns = UINT64_MAX; /* all from here on */
    for (size_t i = end; i-- > 0;) {
        const struct trace_block *block = &finder->blocks[finder->by_end[i]];
        if (block->completed_ns <= from_ns)
            break;
        uint64_t begin_ns = block->queued_ns ? block->queued_ns : block->issued_ns;
        uint64_t until_ns = block->completed_ns < counted_ns ? block->completed_ns : counted_ns;
        begin_ns = begin_ns > from_ns ? begin_ns : from_ns;
        if (block->device != device || begin_ns >= until_ns)
            continue;
        sum_ns += (double)(until_ns - begin_ns);
        counted_ns = begin_ns;
    }
    return sum_ns;
}

static void look_at_call(struct finder *finder, size_t thread, size_t record,
                         const struct trace_record *call) {
    uint64_t end_ns = trace_end_ns(call);
    struct disk_requests own = disk_service_queued(finder->disks, thread, call->start_ns, end_ns);
    uint64_t came_ns = call->start_ns;
    for (size_t i = 0; i < own.n; i++) {
        uint64_t done_ns = finder->blocks[own.items[i]].completed_ns;
        came_ns = done_ns > came_ns ? done_ns : came_ns;
    }
    if (came_ns >= end_ns)
        return;
    finder->waited_ns += (double)(end_ns - came_ns);
    size_t end = done_by(finder, end_ns), last = end;
    while (last > 0 && own.n > 0 &&
           finder->blocks[finder->by_end[last - 1]].device != finder->blocks[own.items[0]].device)
        last--;
    if (last == 0 || finder->blocks[finder->by_end[last - 1]].completed_ns <= came_ns)
        return;
    size_t request = finder->by_end[last - 1];
    finder->covered_ns += covered(finder, came_ns, end, finder->blocks[request].device);
    *VECTOR_ADD(&finder->calls) = (struct commit_call){
        .thread = thread, .record = record, .came_ns = came_ns, .commit = request};
}

static void look_at_calls(struct finder *finder) {
    const struct trace *trace = finder->disks->trace;
    for (size_t t = 0; t < trace->n_threads; t++)
        for (struct event_cursor at = event_cursor_of_thread(&trace->threads[t]);
             event_cursor_next(&at);)
            if (trace_is_call(at.event, ON_FILE, OP_SYNC) && !(at.event->flags & TRACE_FAILED))
                look_at_call(finder, t, at.number, at.event);
}

static int compare_calls(const void *left, const void *right, void *blocks) {
    const struct commit_call *a = left, *b = right;
    const struct trace_block *x = (const struct trace_block *)blocks + a->commit;
    const struct trace_block *y = (const struct trace_block *)blocks + b->commit;
    if (x->device != y->device)
        return compare_numbers(x->device, y->device);
    return x != y ? compare_numbers(x->completed_ns, y->completed_ns)
                  : compare_numbers(a->came_ns, b->came_ns);
}

/* All requests of the kernel to the device since the commit before. */
static void take_requests(const struct finder *finder, struct commits *commits,
                          struct commit *commit, uint64_t from_ns) {
    commit->first = commits->n_requests;
    for (size_t i = done_by(finder, from_ns), end = done_by(finder, commit->end_ns); i < end; i++)
        if (finder->blocks[finder->by_end[i]].device == commit->device)
            commits->requests[commits->n_requests++] = finder->by_end[i];
    commit->n = commits->n_requests - commit->first;
    qsort_r(&commits->requests[commit->first], commit->n, sizeof *commits->requests, compare_issues,
            finder->blocks);
}

/* The calls are sorted by the last request that they waited for, then by when they came. */
static void number_commits(const struct finder *finder, struct commits *commits) {
    size_t last = NONE;
    for (size_t i = 0; i < commits->n_calls; i++) {
        struct commit_call *call = &commits->calls[i];
        map_put(&commits->call_of, call_key(call->thread, call->record), (int)i);
        if (call->commit != last) {
            last = call->commit;
            const struct trace_block *block = &finder->blocks[last];
            const struct commit *before =
                commits->n_commits > 0 ? &commits->items[commits->n_commits - 1] : NULL;
            uint64_t from_ns = before && before->device == block->device ? before->end_ns : 0;
            struct commit *commit = &commits->items[commits->n_commits++];
            *commit = (struct commit){.device = block->device, .end_ns = block->completed_ns};
            take_requests(finder, commits, commit, from_ns);
            call->leads = true;
        }
        call->commit = commits->n_commits - 1;
        commits->items[call->commit].n_calls++;
    }
}

struct commits commits_find(const struct disk_service *disks) {
    struct finder finder = {
        .disks = disks, .blocks = disks->trace->blocks, .by_end = sort_by_end(disks)};
    look_at_calls(&finder);
    struct commits commits = {.waited_ns = finder.waited_ns, .covered_ns = finder.covered_ns};
    if (finder.calls.count > 0 && finder.covered_ns >= evidence.recall * finder.waited_ns) {
        qsort_r(finder.calls.items, finder.calls.count, sizeof *finder.calls.items, compare_calls,
                finder.blocks);
        commits.calls = finder.calls.items;
        commits.n_calls = finder.calls.count;
        commits.items = memory_alloc(commits.n_calls, sizeof *commits.items);
        commits.requests = memory_alloc(disks->n_kernel, sizeof *commits.requests);
        number_commits(&finder, &commits);
    } else {
        free(finder.calls.items);
    }
    free(finder.by_end);
    return commits;
}

void commits_free(struct commits *commits) {
    map_free(&commits->call_of);
    free(commits->items);
    free(commits->calls);
    free(commits->requests);
}

const struct commit_call *commits_call(const struct commits *commits, size_t thread,
                                       size_t record) {
    int index = map_get(&commits->call_of, call_key(thread, record), -1);
    return index < 0 ? NULL : &commits->calls[index];
}
