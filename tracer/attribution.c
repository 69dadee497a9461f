#include "tracer/attribution.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_sort_double.h>

#include "base/bisection.h"
#include "base/map.h"
#include "base/memory.h"

/* By how much a request may lie outside of its call once clocks have been aligned: what is left of
 * their difference (bench/correlation.sh measures it). */
#define TOLERANCE_NS 1e5
/* Of the usual distance of a request from its call's beginning or end. */
#define MOST_DISTANCE 10
#define PAGE_BYTES    4096u
#define LOOP_MAJOR    7u /* Documentation/admin-guide/devices.txt */
#define MINOR_BITS    20 /* of a device's number */

static double queued_of(const struct trace_block *block) {
    return (double)(block->queued_ns ? block->queued_ns : block->issued_ns);
}

/* Not seen to be done: no longer than a moment. */
static double completed_of(const struct trace_block *block) {
    return block->completed_ns ? (double)block->completed_ns : queued_of(block);
}

/* ---- what is correlated ---- */

static bool is_io(const struct trace_record *record) {
    if (api_catalog[record->api].object != ON_FILE || record->duration_ns == 0)
        return false;
    switch (trace_op(record)) {
    case OP_OPEN:
    case OP_CLOSE:
    case OP_READ:
    case OP_WRITE:
    case OP_SYNC:
    case OP_STAT:
        return true;
    default:
        return false;
    }
}

/* Adds when the thread slept in the call: from when it left its core until it was woken, for it may
 * wait for a core after that. */
static void add_sleeps(struct busy *calls, const struct trace_thread *thread,
                       const struct trace_record *record) {
    uint64_t end_ns = trace_end_ns(record);
    for (size_t s = trace_slice_after(thread, record->start_ns);
         s + 1 < thread->n_slices && thread->slices[s].off_ns < end_ns; s++) {
        const struct trace_slice *next = &thread->slices[s + 1];
        uint64_t woken_ns = next->wake_ns ? next->wake_ns : next->on_ns;
        if (!thread->slices[s].preempted)
            busy_add(calls, (double)thread->slices[s].off_ns,
                     (double)(woken_ns < end_ns ? woken_ns : end_ns));
    }
}

static double median_request_ns(const struct block_requests *requests) {
    double *took = memory_alloc(requests->count + 1, sizeof *took);
    size_t n = 0;
    for (size_t i = 0; i < requests->count; i++) {
        const struct trace_block *block = &requests->items[i].block;
        if (completed_of(block) > queued_of(block))
            took[n++] = completed_of(block) - queued_of(block);
    }
    gsl_sort(took, 1, n);
    double median_ns = n > 0 ? took[n / 2] : 0;
    free(took);
    return median_ns;
}

static struct busy waits_of(const struct trace_thread *thread, double longest_ns) {
    struct busy waits = {0};
    for (size_t r = 0; r < thread->n_records; r++) {
        const struct trace_record *record = &thread->records[r];
        if (!is_io(record))
            continue;
        if (thread->n_slices > 0)
            add_sleeps(&waits, thread, record);
        else
            busy_add(&waits, (double)record->start_ns,
                     (double)record->start_ns + fmin((double)record->duration_ns, longest_ns));
    }
    busy_settle(&waits);
    return waits;
}

struct busy *attribution_waits(const struct attribution_run *run, double longest_ns) {
    struct busy *waits = memory_alloc(run->n_threads, sizeof *waits);
    for (size_t t = 0; t < run->n_threads; t++)
        waits[t] = waits_of(&run->threads[t], longest_ns);
    return waits;
}

struct busy *attribution_requests(const struct block_requests *requests, const size_t *issuers,
                                  size_t n) {
    struct busy *busy = memory_alloc(n, sizeof *busy);
    for (size_t i = 0; i < requests->count; i++)
        busy_add(&busy[issuers[i]], queued_of(&requests->items[i].block),
                 completed_of(&requests->items[i].block));
    for (size_t j = 0; j < n; j++)
        busy_settle(&busy[j]);
    return busy;
}

static struct correlation correlate_waits(const struct attribution_run *run, double longest_ns,
                                          struct correlate_input input) {
    struct busy *waits = attribution_waits(run, longest_ns);
    input.users = waits;
    input.n_users = run->n_threads;
    struct correlation found = correlate(&input);
    attribution_free_signals(waits, run->n_threads);
    return found;
}

static double fit_of(const struct correlation *found) {
    double sum = 0;
    for (size_t p = 0; found->found && p < found->n_pairs; p++)
        sum += found->pairs[p].correlation;
    return sum;
}

struct correlation attribution_correlate(const struct attribution_run *run,
                                         const struct block_requests *requests,
                                         struct correlate_input input) {
    struct correlation whole = correlate_waits(run, INFINITY, input);
    for (size_t t = 0; t < run->n_threads; t++)
        if (run->threads[t].n_slices > 0)
            return whole;
    struct correlation usual = correlate_waits(run, 2 * median_request_ns(requests), input);
    bool better = fit_of(&usual) > fit_of(&whole);
    correlation_free(better ? &whole : &usual);
    return better ? usual : whole;
}

void attribution_free_signals(struct busy *signals, size_t n) {
    for (size_t i = 0; signals && i < n; i++)
        busy_free(&signals[i]);
    free(signals);
}

/* ---- calls ---- */

/* The first record of a thread that ends after the time; a thread's calls come one after the
 * other. */
static size_t first_record_after(const struct trace_thread *thread, double time_ns) {
    struct bisection at = bisection_of(0, thread->n_records);
    while (bisection_next(&at))
        bisection_tell(&at, (double)trace_end_ns(&thread->records[at.middle]) < time_ns);
    return at.low;
}

/* ---- one request ---- */

/* A request in the trace's time. */
struct placed {
    const struct trace_block *block;
    double from_ns, to_ns;
};

struct choice {
    int thread;
    size_t call;
    bool contains; /* the whole request, but for the tolerance */
    double overlap_ns;
    double distance_ns; /* of both beginnings or of both ends, whichever is less */
};

/* A call that moved less than the request has not caused it: reads of the page cache's pages are
 * whole pages. Read-ahead and writes of others' pages may be more. */
static bool is_too_small(const struct trace_record *record, const struct trace_block *block) {
    return block->kind == BLOCK_READ && trace_op(record) == OP_READ && record->value >= 0 &&
           block->bytes > (uint32_t)record->value + 2 * PAGE_BYTES;
}

/* The call that contains the request beats one that does not. Of several, which may be if threads
 * share an issuer, that which begins or ends with it: a call's first request is queued at once, and
 * it returns after its last one. Else the longest overlap. */
static bool is_better(const struct choice *a, const struct choice *b) {
    if (b->thread < 0 || a->contains != b->contains)
        return b->thread < 0 || a->contains;
    return a->contains ? a->distance_ns < b->distance_ns : a->overlap_ns > b->overlap_ns;
}

/* Read-ahead is caused by the call in which it was queued, whichever waits for it. */
static struct choice choice_of(const struct placed *placed, const struct trace_record *record) {
    double from_ns = (double)record->start_ns, to_ns = (double)trace_end_ns(record);
    double request_to_ns = placed->block->kind == BLOCK_READAHEAD ? placed->from_ns : placed->to_ns;
    double overlap_ns = fmin(to_ns, request_to_ns) - fmax(from_ns, placed->from_ns);
    return (struct choice){.contains = overlap_ns >= request_to_ns - placed->from_ns - TOLERANCE_NS,
                           .overlap_ns = overlap_ns,
                           .distance_ns =
                               fmin(fabs(placed->from_ns - from_ns), fabs(to_ns - placed->to_ns))};
}

static void choose_call(const struct attribution_run *run, size_t thread, bool shared,
                        const struct placed *placed, struct choice *best) {
    const struct trace_thread *of = &run->threads[thread];
    for (size_t r = first_record_after(of, placed->from_ns - TOLERANCE_NS); r < of->n_records;
         r++) {
        const struct trace_record *record = &of->records[r];
        if ((double)record->start_ns > placed->to_ns + TOLERANCE_NS)
            break;
        if (!is_io(record) || (shared && is_too_small(record, placed->block)))
            continue;
        struct choice choice = choice_of(placed, record);
        choice.thread = (int)thread;
        choice.call = r;
        if ((choice.overlap_ns > -TOLERANCE_NS) && is_better(&choice, best))
            *best = choice;
    }
}

/* ---- all requests ---- */

static struct placed place(const struct trace_block *block, struct clock_line line) {
    return (struct placed){block, clock_line_at(line, queued_of(block)),
                           clock_line_at(line, completed_of(block))};
}

static struct attribution begin(const struct block_requests *requests) {
    struct attribution attribution = {
        .blocks = memory_alloc(requests->count, sizeof *attribution.blocks),
        .threads = memory_alloc(requests->count, sizeof *attribution.threads),
        .calls = memory_alloc(requests->count, sizeof *attribution.calls)};
    for (size_t i = 0; i < requests->count; i++) {
        attribution.threads[i] = -1;
        attribution.calls[i] = ATTRIBUTION_NO_CALL;
    }
    return attribution;
}

static void count(struct attribution *attribution, enum block_cause cause,
                  const struct trace_block *block) {
    attribution->account.of[cause].requests++;
    attribution->account.of[cause].bytes += block->bytes;
}

static uint64_t in_run(uint64_t time_ns, struct clock_line line) {
    return time_ns ? (uint64_t)fmax(0, round(clock_line_at(line, (double)time_ns))) : 0;
}

/* Keeps the request as its thread's. One that was queued a little before its call or after it is
 * moved into it, for there the model looks for it. */
static void keep(struct attribution *attribution, size_t request, const struct placed *placed,
                 const struct attribution_run *run, struct clock_line line, struct choice choice) {
    const struct trace_thread *thread = &run->threads[choice.thread];
    struct trace_block block = *placed->block;
    block.tid = thread->tid;
    block.queued_ns = in_run(block.queued_ns, line);
    block.issued_ns = in_run(block.issued_ns, line);
    block.completed_ns = in_run(block.completed_ns, line);
    bool has_call = choice.call != ATTRIBUTION_NO_CALL;
    if (has_call) {
        const struct trace_record *record = &thread->records[choice.call];
        if (block.queued_ns < record->start_ns)
            block.queued_ns = record->start_ns;
        if (block.queued_ns >= trace_end_ns(record))
            block.queued_ns = trace_end_ns(record) - 1;
    }
    attribution->threads[request] = choice.thread;
    attribution->calls[request] = choice.call;
    attribution->blocks[attribution->n_blocks++] = block;
    count(attribution, has_call ? CAUSE_CALL : CAUSE_NO_CALL, placed->block);
}

static int compare_blocks(const void *left, const void *right) {
    uint64_t a = (uint64_t)queued_of(left), b = (uint64_t)queued_of(right);
    return (a > b) - (a < b);
}

static void sort_blocks(struct attribution *attribution) {
    if (attribution->n_blocks > 0)
        qsort(attribution->blocks, attribution->n_blocks, sizeof *attribution->blocks,
              compare_blocks);
}

/* ---- requests of nobody ---- */

/* The times of requests to loop devices: what a thread of the kernel asks another device for
 * meanwhile is the same data again. */
static struct busy loop_times(const struct block_requests *requests) {
    struct busy times = {0};
    for (size_t i = 0; i < requests->count; i++) {
        const struct trace_block *block = &requests->items[i].block;
        if (block->device >> MINOR_BITS == LOOP_MAJOR)
            busy_add(&times, queued_of(block), completed_of(block));
    }
    busy_settle(&times);
    return times;
}

static bool is_below(const struct block_request *request, const struct busy *loops) {
    size_t at = busy_first_after(loops, queued_of(&request->block));
    return request->kernel && request->block.device >> MINOR_BITS != LOOP_MAJOR &&
           at < loops->count && loops->items[at].from_ns <= queued_of(&request->block) &&
           completed_of(&request->block) <= loops->items[at].to_ns;
}

/* The requests of the kernel that belong to the run stay in the log, as their own threads': calls
 * may have waited for them, and they had the device meanwhile. */
static void keep_kernel(struct attribution *attribution, const struct placed *placed,
                        struct clock_line line) {
    struct trace_block block = *placed->block;
    block.queued_ns = in_run(block.queued_ns, line);
    block.issued_ns = in_run(block.issued_ns, line);
    block.completed_ns = in_run(block.completed_ns, line);
    attribution->blocks[attribution->n_blocks++] = block;
}

static void count_stranger(struct attribution *attribution, const struct block_request *request,
                           const struct placed *placed, const struct attribution_run *run,
                           const struct busy *loops, struct clock_line line) {
    bool outside = placed->from_ns < 0 || placed->from_ns > (double)run->run_ns;
    enum block_cause cause = outside                    ? CAUSE_OUTSIDE_RUN
                             : is_below(request, loops) ? CAUSE_BELOW
                             : request->kernel          ? CAUSE_KERNEL
                                                        : CAUSE_OTHER;
    count(attribution, cause, &request->block);
    if (cause == CAUSE_KERNEL)
        keep_kernel(attribution, placed, line);
}

/* ---- by clock and thread ---- */

/* The call in which the thread queued the request. */
static size_t call_at(const struct trace_thread *thread, double time_ns) {
    for (size_t r = first_record_after(thread, time_ns);
         r < thread->n_records && (double)thread->records[r].start_ns <= time_ns; r++)
        if (is_io(&thread->records[r]) && (double)trace_end_ns(&thread->records[r]) > time_ns)
            return r;
    return ATTRIBUTION_NO_CALL;
}

struct attribution attribute_directly(const struct block_requests *requests,
                                      const struct attribution_run *run, uint64_t start_ns) {
    struct attribution attribution = begin(requests);
    struct clock_line line = {.offset_ns = -(double)start_ns};
    struct busy loops = loop_times(requests);
    struct map ours = MAP_EMPTY;
    for (size_t t = 0; t < run->n_threads; t++)
        map_put(&ours, (uint64_t)run->threads[t].tid, (int)t);
    for (size_t i = 0; i < requests->count; i++) {
        const struct trace_block *block = &requests->items[i].block;
        struct placed placed = place(block, line);
        int thread = map_get(&ours, (uint64_t)block->tid, -1);
        if (thread < 0) {
            count_stranger(&attribution, &requests->items[i], &placed, run, &loops, line);
            continue;
        }
        size_t call = call_at(&run->threads[thread], placed.from_ns);
        keep(&attribution, i, &placed, run, line, (struct choice){.thread = thread, .call = call});
    }
    map_free(&ours);
    busy_free(&loops);
    sort_blocks(&attribution);
    return attribution;
}

/* ---- by pairs ---- */

static struct choice choose(const struct block_requests *requests, size_t request,
                            const struct correlate_pair *pair, const struct attribution_run *run,
                            struct clock_line line) {
    struct choice choice = {.thread = -1, .call = ATTRIBUTION_NO_CALL};
    struct placed placed = place(&requests->items[request].block, line);
    if (!pair || placed.from_ns < -TOLERANCE_NS ||
        placed.from_ns > (double)run->run_ns + TOLERANCE_NS)
        return choice;
    bool shared = pair->user == CORRELATE_NONE;
    for (size_t t = shared ? 0 : pair->user; t < (shared ? run->n_threads : pair->user + 1); t++)
        choose_call(run, t, shared, &placed, &choice);
    if (!shared)
        choice.thread = (int)pair->user;
    else if (!choice.contains)
        choice.thread = -1;
    return choice;
}

/* An issuer that all share may issue for others, too. Their requests fall into calls by chance only
 * and, unlike most, neither begin nor end with them. Gives the greatest distance to be believed. */
static double believed_distance(const struct choice *choices, const bool *shared, size_t n) {
    double *distances = memory_alloc(n + 1, sizeof *distances);
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        if (shared[i] && choices[i].thread >= 0)
            distances[count++] = choices[i].distance_ns;
    gsl_sort(distances, 1, count);
    double believed = count > 0 ? MOST_DISTANCE * distances[count / 2] : 0;
    free(distances);
    return fmax(believed, TOLERANCE_NS);
}

struct attribution attribute_by_pairs(const struct block_requests *requests, const size_t *issuers,
                                      const struct attribution_run *run,
                                      const struct correlation *correlation) {
    struct attribution attribution = begin(requests);
    struct busy loops = loop_times(requests);
    struct map pair_of = MAP_EMPTY;
    for (size_t p = 0; p < correlation->n_pairs; p++)
        map_put(&pair_of, correlation->pairs[p].block, (int)p);
    struct choice *choices = memory_alloc(requests->count, sizeof *choices);
    bool *shared = memory_alloc(requests->count, sizeof *shared);
    for (size_t i = 0; i < requests->count; i++) {
        int p = map_get(&pair_of, issuers[i], -1);
        const struct correlate_pair *pair = p >= 0 ? &correlation->pairs[p] : NULL;
        shared[i] = pair && pair->user == CORRELATE_NONE;
        choices[i] = choose(requests, i, pair, run, correlation->line);
    }
    double believed_ns = believed_distance(choices, shared, requests->count);
    for (size_t i = 0; i < requests->count; i++) {
        struct placed placed = place(&requests->items[i].block, correlation->line);
        bool believed = (!shared[i] || choices[i].distance_ns <= believed_ns) &&
                        !is_below(&requests->items[i], &loops);
        if (choices[i].thread >= 0 && believed)
            keep(&attribution, i, &placed, run, correlation->line, choices[i]);
        else
            count_stranger(&attribution, &requests->items[i], &placed, run, &loops,
                           correlation->line);
    }
    map_free(&pair_of);
    busy_free(&loops);
    free(choices);
    free(shared);
    sort_blocks(&attribution);
    return attribution;
}

void attribution_free(struct attribution *attribution) {
    free(attribution->blocks);
    free(attribution->threads);
    free(attribution->calls);
    *attribution = (struct attribution){0};
}

char *block_account_tell(const struct block_account *account) {
    static const char *const words[BLOCK_CAUSES] = {
        [CAUSE_CALL] = "in I/O calls of the program's threads",
        [CAUSE_NO_CALL] = "by its threads outside of these (mapped files)",
        [CAUSE_KERNEL] = "by the kernel (write-back, journal)",
        [CAUSE_OTHER] = "by other processes",
        [CAUSE_BELOW] = "by a loop device, the same data below it",
        [CAUSE_OUTSIDE_RUN] = "before or after the run"};
    struct block_sum all = {0};
    char *causes = memory_strdup("");
    for (int cause = 0; cause < BLOCK_CAUSES; cause++) {
        struct block_sum sum = account->of[cause];
        all.requests += sum.requests;
        all.bytes += sum.bytes;
        if (sum.requests == 0)
            continue;
        char *longer = memory_format("%s%s%zu (%.2f MB) %s", causes, *causes ? ", " : "",
                                     sum.requests, (double)sum.bytes / 1e6, words[cause]);
        free(causes);
        causes = longer;
    }
    char *text = memory_format("%zu requests (%.2f MB)%s%s", all.requests, (double)all.bytes / 1e6,
                               *causes ? ": " : "", causes);
    free(causes);
    return text;
}
