#include "modelgen/rewrite/page_faults.h"

#include <stdlib.h>
#include <string.h>

#include "base/bisection.h"
#include "base/map.h"
#include "base/memory.h"
#include "modelgen/events/blocked_place.h"
#include "modelgen/events/scheduling_events.h"
#include "modelgen/events/source_correlation.h"
#include "modelgen/events/thread_numbers.h"

/* From where the kernel is told of a fault, or asks for its pages, until the thread sleeps for
 * them, and until it asks for more: microseconds, and longer where others get the core. */
#define PROMPT_NS 200000u
#define NONE      SIZE_MAX

struct fault {
    uint64_t start_ns, end_ns;
    uint64_t bytes; /* of its requests */
    size_t n_requests;
    bool has_waited; /* for pages of its own requests, or (none) of others that were made before */
};

struct faults {
    struct fault *items;
    size_t count, capacity;
};

struct numbers {
    size_t *items;
    size_t count, capacity;
};

/* One thread, and what is known of its faults. */
struct faulting {
    const struct trace *trace;
    const struct trace_thread *thread;
    struct numbers requests; /* of the trace's, to read, outside of calls, by queued_ns */
    struct numbers touches;  /* of the trace's pages: it touched mapped ones, by time */
    struct faults faults;    /* by start */
};

/* ---- what was recorded of a thread ---- */

static const struct trace_block *request(const struct faulting *of, size_t i) {
    return &of->trace->blocks[of->requests.items[i]];
}

/* When the thread returned from its last call before the time; 0: it is in one, or there was none
 * (`in_call` tells). */
static uint64_t last_return(const struct trace_thread *thread, uint64_t time_ns, bool *in_call) {
    size_t begun = trace_records_begun(thread, time_ns);
    uint64_t end_ns = begun > 0 ? trace_end_ns(&thread->records[begun - 1]) : 0;
    *in_call = begun > 0 && end_ns > time_ns;
    return *in_call ? 0 : end_ns;
}

/* When it last touched a mapped file's page in [from, to]; 0: it did not. */
static uint64_t last_touch(const struct faulting *of, uint64_t from_ns, uint64_t to_ns) {
    struct bisection at = bisection_of(0, of->touches.count);
    while (bisection_next(&at))
        bisection_tell(&at, of->trace->pages[of->touches.items[at.middle]].time_ns <= to_ns);
    if (at.low == 0)
        return 0;
    uint64_t time_ns = of->trace->pages[of->touches.items[at.low - 1]].time_ns;
    return time_ns >= from_ns ? time_ns : 0;
}

static bool is_read(const struct trace_block *block) {
    return block->kind == BLOCK_READ || block->kind == BLOCK_READAHEAD ||
           block->kind == BLOCK_METADATA;
}

/* Is it certain that it was no fault's: in a call, or in a fragment that touched no mapped file? */
static bool is_elsewhere(const struct faulting *of, const struct trace_block *block) {
    bool in_call;
    uint64_t returned_ns = last_return(of->thread, block->queued_ns, &in_call);
    return in_call || block->queued_ns == 0 || !is_read(block) ||
           (of->trace->meta.has_pages && !last_touch(of, returned_ns, block->queued_ns));
}

/* ---- one fault ---- */

/* The time on a core in which the thread slept in the end, from `slice` on: it may have been
 * preempted before. NONE: that is not known. */
static size_t sleep_after(const struct trace_thread *thread, size_t slice) {
    while (slice + 1 < thread->n_slices && thread->slices[slice].preempted)
        slice++;
    return slice + 1 < thread->n_slices ? slice : NONE;
}

/* Did one of the thread's requests [first, to) come back after it had left the core? */
static bool is_awaited(const struct faulting *of, size_t first, size_t to, size_t slice) {
    const struct trace_slice *left = &of->thread->slices[slice];
    for (size_t i = first; i < to; i++) {
        uint64_t done_ns = request(of, i)->completed_ns;
        if (done_ns == 0 || (done_ns + SCHEDULING_CLOCKS_NS >= left->off_ns &&
                             done_ns <= left[1].on_ns + SCHEDULING_CLOCKS_NS))
            return true;
    }
    return false;
}

/* Does the thread go to sleep at the end of `slice` as it did at `time_ns`, with neither a call nor
 * another fault in between? */
static bool goes_on_to_sleep(const struct faulting *of, uint64_t time_ns, size_t slice) {
    const struct trace_thread *thread = of->thread;
    uint64_t off_ns = thread->slices[slice].off_ns;
    uint64_t on_ns = thread->slices[slice].on_ns;
    uint64_t since_ns = time_ns > on_ns ? time_ns : on_ns;
    return off_ns <= since_ns + PROMPT_NS &&
           trace_records_begun(thread, time_ns) == trace_records_begun(thread, off_ns) &&
           !last_touch(of, time_ns + 1, off_ns);
}

/* The thread's requests [first, to), which it made together. */
static struct fault fault_of_requests(const struct faulting *of, size_t first, size_t to,
                                      uint64_t start_ns) {
    const struct trace_thread *thread = of->thread;
    uint64_t last_ns = request(of, to - 1)->queued_ns;
    struct fault fault = {.start_ns = start_ns, .end_ns = last_ns + 1, .n_requests = to - first};
    for (size_t i = first; i < to; i++)
        fault.bytes += request(of, i)->bytes;
    size_t slice = trace_slice_after(thread, last_ns);
    slice = slice < thread->n_slices ? sleep_after(thread, slice) : NONE;
    while (slice != NONE &&
           goes_on_to_sleep(of, fault.has_waited ? fault.end_ns : last_ns, slice) &&
           is_awaited(of, first, to, slice)) {
        fault.end_ns = thread->slices[slice + 1].on_ns;
        fault.has_waited = true;
        slice = sleep_after(thread, slice + 1); /* it may have looked too early */
    }
    return fault;
}

/* When the fault of the request began: where it touched the page, if that is known. */
static uint64_t begin_of(const struct faulting *of, size_t i, uint64_t after_ns) {
    bool in_call;
    uint64_t queued_ns = request(of, i)->queued_ns;
    uint64_t returned_ns = last_return(of->thread, queued_ns, &in_call);
    uint64_t from_ns = returned_ns > after_ns ? returned_ns : after_ns;
    uint64_t touched_ns = last_touch(of, from_ns, queued_ns);
    return touched_ns && touched_ns + PROMPT_NS >= queued_ns ? touched_ns : queued_ns;
}

/* Did the thread make the request while it was in the fault of the one before? */
static bool is_same_fault(const struct faulting *of, size_t i) {
    uint64_t before_ns = request(of, i - 1)->queued_ns, queued_ns = request(of, i)->queued_ns;
    return queued_ns <= before_ns + PROMPT_NS && !last_touch(of, before_ns + 1, queued_ns) &&
           trace_records_begun(of->thread, before_ns) ==
               trace_records_begun(of->thread, queued_ns) &&
           trace_slice_after(of->thread, before_ns) == trace_slice_after(of->thread, queued_ns);
}

static void find_requesting(struct faulting *of) {
    uint64_t after_ns = 0;
    for (size_t first = 0, to; first < of->requests.count; first = to) {
        for (to = first + 1; to < of->requests.count && is_same_fault(of, to); to++)
            ;
        struct fault fault = fault_of_requests(of, first, to, begin_of(of, first, after_ns));
        after_ns = fault.end_ns;
        *VECTOR_ADD(&of->faults) = fault;
    }
}

/* ---- faults on pages that are on their way ---- */

static int compare_faults(const void *left, const void *right) {
    const struct fault *a = left, *b = right;
    return (a->start_ns > b->start_ns) - (a->start_ns < b->start_ns);
}

/* Whoever asked for them: a request that was made before the thread left its core and came back
 * before it went on. `completions`: numbers of the trace's requests to read, by completed_ns. */
static bool comes_back(const struct trace *trace, const struct numbers *completions,
                       const struct trace_slice *left) {
    uint64_t wake_ns = left[1].wake_ns > left->off_ns ? left[1].wake_ns : left[1].on_ns;
    struct bisection at = bisection_of(0, completions->count);
    while (bisection_next(&at))
        bisection_tell(&at,
                       trace->blocks[completions->items[at.middle]].completed_ns < left->off_ns);
    for (size_t i = at.low; i < completions->count; i++) {
        const struct trace_block *block = &trace->blocks[completions->items[i]];
        if (block->completed_ns > wake_ns + SCHEDULING_CLOCKS_NS)
            return false;
        if (block->queued_ns <= left->off_ns)
            return true;
    }
    return false;
}

/* A sleep at the end of `slice` that is in none of the `n` faults found before, and in no call. */
static bool is_left(const struct faulting *of, size_t n, size_t slice) {
    const struct trace_slice *left = &of->thread->slices[slice];
    bool in_call;
    last_return(of->thread, left->off_ns, &in_call);
    struct bisection at = bisection_of(0, n);
    while (bisection_next(&at))
        bisection_tell(&at, of->faults.items[at.middle].end_ns <= left->off_ns);
    return !left->preempted && !in_call &&
           (at.low == n || of->faults.items[at.low].start_ns > left->off_ns) &&
           (left[1].waker == 0 || left[1].in_interrupt);
}

/* The one of the `n` faults found before in which the thread touched the page, made requests ahead,
 * and then had to wait for those of before; NULL: there is none. */
static struct fault *ahead_at(const struct faulting *of, size_t n, uint64_t touched_ns) {
    struct bisection at = bisection_of(0, n);
    while (bisection_next(&at))
        bisection_tell(&at, of->faults.items[at.middle].end_ns < touched_ns);
    struct fault *fault = at.low < n ? &of->faults.items[at.low] : NULL;
    return fault && !fault->has_waited && fault->start_ns <= touched_ns ? fault : NULL;
}

/* The same by its requests, where the touch itself was not told: the thread made them just before
 * it left its core. */
static struct fault *ahead_before(const struct faulting *of, size_t n, size_t slice) {
    uint64_t off_ns = of->thread->slices[slice].off_ns;
    struct bisection at = bisection_of(0, n);
    while (bisection_next(&at))
        bisection_tell(&at, of->faults.items[at.middle].end_ns <= off_ns);
    struct fault *fault = at.low > 0 ? &of->faults.items[at.low - 1] : NULL;
    return fault && !fault->has_waited && goes_on_to_sleep(of, fault->end_ns, slice) ? fault : NULL;
}

static void find_waiting(struct faulting *of, const struct numbers *completions) {
    const struct trace_thread *thread = of->thread;
    size_t n = of->faults.count;
    for (size_t s = 0; s + 1 < thread->n_slices; s++) {
        const struct trace_slice *left = &thread->slices[s];
        uint64_t since_ns = left->off_ns > PROMPT_NS ? left->off_ns - PROMPT_NS : 0;
        since_ns = since_ns > left->on_ns ? since_ns : left->on_ns;
        bool in_call;
        uint64_t returned_ns = last_return(thread, left->off_ns, &in_call);
        since_ns = since_ns > returned_ns ? since_ns : returned_ns;
        uint64_t touched_ns = last_touch(of, since_ns, left->off_ns);
        struct fault *ahead = touched_ns ? ahead_at(of, n, touched_ns) : ahead_before(of, n, s);
        if ((!touched_ns && !ahead) || !is_left(of, n, s) ||
            !comes_back(of->trace, completions, left))
            continue;
        if (ahead)
            ahead->end_ns = left[1].on_ns;
        else
            *VECTOR_ADD(&of->faults) =
                (struct fault){.start_ns = touched_ns, .end_ns = left[1].on_ns, .has_waited = true};
    }
    VECTOR_SORT(&of->faults, compare_faults);
}

/* ---- all threads ---- */

/* Per thread; their faults are not there yet. The caller ends each and frees. */
static struct faulting *read_trace(const struct trace *trace) {
    struct faulting *threads = memory_alloc(trace->n_threads, sizeof *threads);
    struct thread_numbers numbers = thread_numbers_find(trace);
    for (size_t t = 0; t < trace->n_threads; t++)
        threads[t] = (struct faulting){.trace = trace, .thread = &trace->threads[t]};
    for (size_t i = 0; i < trace->n_pages; i++) {
        int t = thread_numbers_owner(&numbers, trace->pages[i].tid, trace->pages[i].time_ns);
        if (t >= 0 && trace->pages[i].kind == PAGES_MAPPED)
            *VECTOR_ADD(&threads[t].touches) = i;
    }
    for (size_t b = 0; b < trace->n_blocks; b++) {
        int t = thread_numbers_owner(&numbers, trace->blocks[b].tid, trace->blocks[b].queued_ns);
        if (t >= 0 && !is_elsewhere(&threads[t], &trace->blocks[b]))
            *VECTOR_ADD(&threads[t].requests) = b;
    }
    thread_numbers_free(&numbers);
    return threads;
}

static int compare_completions(const void *left, const void *right, void *blocks) {
    const struct trace_block *a = (struct trace_block *)blocks + *(const size_t *)left;
    const struct trace_block *b = (struct trace_block *)blocks + *(const size_t *)right;
    return (a->completed_ns > b->completed_ns) - (a->completed_ns < b->completed_ns);
}

static struct numbers by_completion(const struct trace *trace) {
    struct numbers all = {0};
    for (size_t b = 0; b < trace->n_blocks; b++)
        if (is_read(&trace->blocks[b]) && trace->blocks[b].completed_ns > 0)
            *VECTOR_ADD(&all) = b;
    if (all.count > 0)
        qsort_r(all.items, all.count, sizeof *all.items, compare_completions, trace->blocks);
    return all;
}

/* ---- where they are ---- */

/* Calls of the log's threads that are known by their sites and by what the threads begin with. */
struct finder {
    struct event_log *log;
    const struct facts *facts;
    const struct sample *sample;
    struct page_faults *found;
    struct map of; /* start routine and both calls -> number of the fragment */
};

static const struct trace_frame *outer_frame(const struct trace_context *calls, size_t depth) {
    return depth < calls->n_frames ? &calls->frames[calls->n_frames - 1 - depth] : NULL;
}

static bool is_in(const struct trace_frame *frame, const struct facts_loop *loop) {
    struct facts_place place = {loop->file, loop->function, 0, 0};
    return source_frame_is_in(frame, &place) && frame->line >= loop->first_line &&
           frame->line <= loop->last_line;
}

/* Is the one in each loop that has the other? */
static bool is_as_deep(const struct facts *facts, const struct trace_frame *frame,
                       const struct trace_frame *other) {
    for (size_t l = 0; facts && l < facts->n_loops; l++)
        if (is_in(frame, &facts->loops[l]) && !is_in(other, &facts->loops[l]))
            return false;
    return true;
}

/* Appends the calls that both are in, innermost first. What lies between two calls of a function is
 * in the loops that have both. */
static void add_common(const struct finder *finder, uint32_t before, uint32_t after,
                       struct trace_context *calls) {
    if (before == TRACE_NO_CONTEXT || after == TRACE_NO_CONTEXT)
        return;
    const struct trace_context *a = &finder->log->trace.contexts[before];
    const struct trace_context *b = &finder->log->trace.contexts[after];
    size_t n = 0;
    bool same = true;
    while (same && n < a->n_frames && n < b->n_frames) {
        const struct trace_frame *x = outer_frame(a, n), *y = outer_frame(b, n);
        if (strcmp(x->function, y->function) != 0)
            break;
        same = x->line == y->line;
        n++;
    }
    for (size_t depth = n; depth-- > 0;) {
        const struct trace_frame *x = outer_frame(a, depth), *y = outer_frame(b, depth);
        struct trace_frame *frame = &calls->frames[calls->n_frames++];
        bool is_first = is_as_deep(finder->facts, x, y);
        *frame = is_first ? *x : *y;
        if (!is_first && !is_as_deep(finder->facts, y, x))
            frame->line = 0;
    }
}

static size_t n_frames(const struct finder *finder, uint32_t context) {
    return context == TRACE_NO_CONTEXT ? 0 : finder->log->trace.contexts[context].n_frames;
}

/* The site is a place of the samples', in no loop of the source by its own line: how often a page
 * is missing there the source does not tell. */
static void name_fragment(const struct finder *finder, struct fault_fragment *fragment,
                          const char *root) {
    struct blocked_place place = {0};
    if (finder->sample)
        place = blocked_place_find(finder->sample, root);
    fragment->name = place.frame ? memory_format("page faults in %s", place.frame->function)
                                 : memory_strdup("page faults of mapped files");
    struct trace_frame *frames =
        memory_alloc(2 + n_frames(finder, fragment->before), sizeof *frames);
    frames[0] = (struct trace_frame){.function = fragment->name};
    if (place.frame) {
        frames[0].file = place.frame->file;
        frames[0].module = place.frame->module;
        frames[0].line = place.frame->line;
    }
    /* Keeps the fragments apart. */
    frames[1] = (struct trace_frame){.function = fragment->name, .offset = fragment->context};
    fragment->calls = (struct trace_context){.n_frames = 2, .frames = frames};
    add_common(finder, fragment->before, fragment->after, &fragment->calls);
}

static uint32_t context_of(struct finder *finder, const struct trace_thread *thread, size_t after) {
    size_t next = after == EVENT_LOG_BEGIN ? 0 : after + 1;
    uint32_t from = next > 0 ? thread->records[after].context : TRACE_NO_CONTEXT;
    uint32_t to = next < thread->n_records ? thread->records[next].context : TRACE_NO_CONTEXT;
    uint64_t key = map_mix_text(map_mix(map_mix(31, from), to), thread->start_routine);
    int number = map_get(&finder->of, key, -1);
    struct page_faults *found = finder->found;
    if (number < 0) {
        number = (int)found->n_fragments++;
        map_put(&finder->of, key, number);
        found->fragments =
            memory_resize(found->fragments, found->n_fragments, sizeof *found->fragments);
        struct fault_fragment *fragment = &found->fragments[number];
        *fragment = (struct fault_fragment){
            .before = from, .after = to, .context = (uint32_t)finder->log->trace.n_contexts};
        name_fragment(finder, fragment, thread->start_routine);
        event_log_add_context(finder->log, fragment->calls);
    }
    return found->fragments[number].context;
}

/* ---- the calls that are shown ---- */

static struct trace_record record_of(const struct fault *fault, uint32_t context) {
    struct trace_record record = {.start_ns = fault->start_ns,
                                  .api = ROLE_page_fault,
                                  .object = fault->n_requests == 0 || !fault->has_waited,
                                  .flags = TRACE_WAITED,
                                  .context = context};
    record.duration_ns = fault->end_ns - fault->start_ns;
    record.value = fault->bytes < INT32_MAX ? (int32_t)fault->bytes : INT32_MAX;
    return record;
}

static void show(struct finder *finder, size_t t, const struct faults *faults) {
    const struct trace_thread *thread = &finder->log->trace.threads[t];
    struct event_insertion *added = memory_alloc(faults->count, sizeof *added);
    uint64_t end_ns = thread->start_ns;
    size_t n = 0;
    for (size_t i = 0; i < faults->count; i++) {
        struct fault fault = faults->items[i];
        size_t begun = trace_records_begun(thread, fault.start_ns);
        uint64_t last_ns =
            begun < thread->n_records ? thread->records[begun].start_ns : thread->end_ns;
        fault.start_ns = fault.start_ns > end_ns ? fault.start_ns : end_ns;
        fault.end_ns = fault.end_ns < last_ns ? fault.end_ns : last_ns;
        if (fault.end_ns <= fault.start_ns)
            continue;
        size_t after = begun > 0 ? begun - 1 : EVENT_LOG_BEGIN;
        added[n].after = after;
        added[n++].record = record_of(&fault, context_of(finder, thread, after));
        end_ns = fault.end_ns;
        finder->found->n_requests += fault.n_requests;
        finder->found->n_ahead += fault.has_waited ? 0 : fault.n_requests;
    }
    event_log_insert(finder->log, t, added, n);
    finder->found->n_faults += n;
    free(added);
}

struct page_faults page_faults_as_reads(struct event_log *log, const struct facts *facts,
                                        const struct sample *sample) {
    struct page_faults found = {0};
    const struct trace *trace = &log->trace;
    if (!trace->meta.has_slices || trace->n_blocks == 0)
        return found;
    struct finder finder = {log, facts, sample, &found, MAP_EMPTY};
    struct faulting *threads = read_trace(trace);
    struct numbers completions = by_completion(trace);
    for (size_t t = 0; t < trace->n_threads; t++) {
        find_requesting(&threads[t]);
        find_waiting(&threads[t], &completions);
    }
    for (size_t t = 0; t < trace->n_threads; t++) {
        show(&finder, t, &threads[t].faults);
        free(threads[t].faults.items);
        free(threads[t].requests.items);
        free(threads[t].touches.items);
    }
    free(threads);
    free(completions.items);
    map_free(&finder.of);
    return found;
}

void page_faults_free(struct page_faults *faults) {
    for (size_t i = 0; i < faults->n_fragments; i++) {
        free(faults->fragments[i].calls.frames);
        free(faults->fragments[i].name);
    }
    free(faults->fragments);
    *faults = (struct page_faults){0};
}

const struct fault_fragment *page_faults_fragment(const struct page_faults *faults,
                                                  uint32_t context) {
    if (!faults || faults->n_fragments == 0 || context == TRACE_NO_CONTEXT ||
        context < faults->fragments[0].context ||
        context >= faults->fragments[0].context + faults->n_fragments)
        return NULL;
    return &faults->fragments[context - faults->fragments[0].context];
}
