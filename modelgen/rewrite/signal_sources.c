#include "modelgen/rewrite/signal_sources.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_sort_double.h>
#include <gsl/gsl_statistics_double.h>

#include "base/memory.h"
#include "modelgen/decision_log.h"
#include "modelgen/events/thread_states.h"
#include "modelgen/evidence.h"
#include "modelgen/notes.h"

/* A call that was made in the handler. */
struct handler_call {
    size_t thread, number;
    bool begins; /* it is the first of its run of the handler */
};

struct source {
    const struct trace_handler *handler;
    uint32_t *places; /* per context: see places_in() */
    struct {
        struct handler_call *items;
        size_t count, capacity;
    } calls; /* by time */
    size_t n_runs;
    double gap_ns;   /* between two of them, the median */
    bool is_regular; /* they come after that time, each */
};

/* How many frames of the chain of calls are in the handler; what lies further out is what it
 * interrupted. 0: it is not in the chain. */
static size_t frames_inside(const struct trace_context *calls, const char *function) {
    size_t f = 0;
    while (f < calls->n_frames && strcmp(calls->frames[f].function, function) != 0)
        f++;
    return f < calls->n_frames ? f + 1 : 0;
}

static bool is_same_place(const struct trace_context *a, const struct trace_context *b, size_t n) {
    for (size_t f = 0; f < n; f++)
        if (a->frames[f].offset != b->frames[f].offset ||
            strcmp(a->frames[f].function, b->frames[f].function) != 0)
            return false;
    return true;
}

/* Per context: that of the first call at the same place in the handler, whatever it interrupted;
 * TRACE_NO_CONTEXT: it is not in the handler. The caller frees. */
static uint32_t *places_in(const struct trace *trace, const char *function) {
    uint32_t *places = memory_alloc(trace->n_contexts + 1, sizeof *places);
    for (size_t c = 0; c < trace->n_contexts; c++) {
        size_t inside = frames_inside(&trace->contexts[c], function);
        size_t like = 0;
        while (like < c && (inside == 0 || places[like] != like ||
                            frames_inside(&trace->contexts[like], function) != inside ||
                            !is_same_place(&trace->contexts[like], &trace->contexts[c], inside)))
            like++;
        places[c] = inside > 0 ? (uint32_t)like : TRACE_NO_CONTEXT;
    }
    return places;
}

/* The kernel called the handler: nobody called that. */
static void cut_places(struct event_log *log, const uint32_t *places, const char *function) {
    size_t n = log->trace.n_contexts;
    struct trace_context *contexts = memory_alloc(n, sizeof *contexts);
    memcpy(contexts, log->trace.contexts, n * sizeof *contexts);
    for (size_t c = 0; c < n; c++)
        if (places[c] != TRACE_NO_CONTEXT)
            contexts[c].n_frames = frames_inside(&contexts[c], function);
    event_log_set_contexts(log, contexts);
}

static const struct trace_record *record_of(const struct event_log *log,
                                            const struct handler_call *call) {
    return &log->trace.threads[call->thread].records[call->number];
}

static int compare_calls(const void *a, const void *b, void *log) {
    const struct trace_record *x = record_of(log, a), *y = record_of(log, b);
    return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

static uint32_t place_of(const struct source *source, uint32_t context) {
    return context == TRACE_NO_CONTEXT ? TRACE_NO_CONTEXT : source->places[context];
}

/* A run of the handler makes each of its calls once, in one thread. */
static bool begins_run(const struct event_log *log, const struct source *source, size_t c) {
    const struct handler_call *calls = source->calls.items;
    if (c == 0 || calls[c].thread != calls[c - 1].thread)
        return true;
    uint32_t place = place_of(source, record_of(log, &calls[c])->context);
    for (size_t before = c; before-- > 0;) {
        if (place_of(source, record_of(log, &calls[before])->context) == place)
            return true;
        if (calls[before].begins)
            return false;
    }
    return true;
}

/* Most of a timer's signals come after equal times, but for how long their threads take to turn to
 * them, and the others late. */
static bool is_regular(const double *gaps_ns, size_t n, double median_ns) {
    size_t alike = 0;
    for (size_t i = 0; i < n; i++)
        alike += fabs(gaps_ns[i] / median_ns - 1) < evidence.jitter;
    return n > 0 && (double)alike > evidence.majority * (double)n;
}

static void measure_gaps(const struct event_log *log, struct source *source) {
    double *gaps_ns = memory_alloc(source->n_runs, sizeof *gaps_ns);
    size_t n = 0;
    uint64_t last_ns = 0;
    for (size_t c = 0; c < source->calls.count; c++) {
        uint64_t start_ns = record_of(log, &source->calls.items[c])->start_ns;
        if (!source->calls.items[c].begins)
            continue;
        if (last_ns > 0)
            gaps_ns[n++] = (double)(start_ns - last_ns);
        last_ns = start_ns;
    }
    gsl_sort(gaps_ns, 1, n);
    source->gap_ns = n > 0 ? gsl_stats_median_from_sorted_data(gaps_ns, 1, n) : 0;
    source->is_regular = is_regular(gaps_ns, n, source->gap_ns);
    free(gaps_ns);
}

static struct source find_source(const struct event_log *log, const struct trace_handler *handler) {
    struct source source = {.handler = handler,
                            .places = places_in(&log->trace, handler->function)};
    for (size_t t = 0; t < log->trace.n_threads; t++)
        for (size_t r = 0; r < log->trace.threads[t].n_records; r++)
            if (place_of(&source, log->trace.threads[t].records[r].context) != TRACE_NO_CONTEXT)
                *VECTOR_ADD(&source.calls) = (struct handler_call){t, r, false};
    if (source.calls.count > 0)
        qsort_r(source.calls.items, source.calls.count, sizeof *source.calls.items, compare_calls,
                (void *)log);
    for (size_t c = 0; c < source.calls.count; c++) {
        bool begins = begins_run(log, &source, c);
        source.calls.items[c].begins = begins;
        source.n_runs += begins;
    }
    measure_gaps(log, &source);
    return source;
}

/* ---- the threads that were interrupted ---- */

/* When the thread went on after it had last slept before `until_ns`; `from_ns`: it did not. */
static uint64_t went_on_ns(const struct trace_thread *thread, uint64_t from_ns, uint64_t until_ns) {
    uint64_t found_ns = from_ns;
    for (size_t s = 1; s < thread->n_slices && thread->slices[s].on_ns <= until_ns; s++)
        if (!thread->slices[s - 1].preempted && thread->slices[s].on_ns > from_ns)
            found_ns = thread->slices[s].on_ns;
    return found_ns;
}

/* The call was cut where the handler came; `next`: what its thread did behind that, NULL nothing.
 * True: it was begun anew then. */
static bool mend_cut(const struct trace_thread *thread, struct trace_record *cut,
                     const struct trace_record *next) {
    if (next && next->api == cut->api && next->object == cut->object &&
        next->context == cut->context)
        return true;
    uint64_t end_ns = went_on_ns(thread, trace_end_ns(cut), next ? next->start_ns : thread->end_ns);
    cut->duration_ns = end_ns - cut->start_ns;
    cut->flags |= TRACE_WAITED;
    return false;
}

static struct made_thread copy_of(const struct event_log *log, size_t t) {
    struct made_thread made = {.thread = log->trace.threads[t]};
    made.thread.slices = NULL;
    made.thread.n_slices = 0;
    made.thread.records = NULL;
    made.thread.n_records = 0;
    made.origin = thread_origin_of(log->thread_origins, t);
    thread_states_copy_slices(&log->trace.threads[t], 0, UINT64_MAX, &made.thread);
    return made;
}

/* The source is created before the thread's event with this number. */
struct creation {
    size_t thread, number;
    struct trace_record record;
};

static void keep_event(struct event_log *log, size_t t, size_t r, size_t next, uint64_t *resumed_ns,
                       struct event_list *to) {
    const struct trace_thread *thread = &log->trace.threads[t];
    struct trace_record record = thread->records[r];
    bool is_cut = r + 1 < next && trace_end_ns(&record) == thread->records[r + 1].start_ns;
    if (*resumed_ns > 0) { /* it goes on with what had been interrupted */
        record.duration_ns = trace_end_ns(&record) - *resumed_ns;
        record.start_ns = *resumed_ns;
        record.flags |= TRACE_WAITED;
        *resumed_ns = 0;
    }
    if (is_cut &&
        mend_cut(thread, &record, next < thread->n_records ? &thread->records[next] : NULL))
        *resumed_ns = record.start_ns;
    else
        event_list_keep(to, log, t, r, &record);
}

/* The thread without the handler's calls. */
static void remake(struct event_log *log, size_t t, const bool *in_handler,
                   const struct creation *creation) {
    struct made_thread made = copy_of(log, t);
    size_t n = log->trace.threads[t].n_records;
    uint64_t resumed_ns = 0;
    for (size_t r = 0; r < n;) {
        size_t next = r + 1;
        while (next < n && in_handler[next])
            next++;
        if (creation->thread == t && creation->number >= r && creation->number < next)
            event_list_insert(&made.events, log, creation->record);
        if (!in_handler[r])
            keep_event(log, t, r, next, &resumed_ns, &made.events);
        r = next;
    }
    event_log_remake_thread(log, t, &made);
}

/* ---- the source ---- */

/* It runs while a call is made, whoever was interrupted then, and waits in between. */
static void add_slice(const struct trace_record *record, struct trace_thread *to) {
    to->slices = memory_resize(to->slices, to->n_slices + 1, sizeof *to->slices);
    to->slices[to->n_slices++] = (struct trace_slice){
        .wake_ns = record->start_ns, .on_ns = record->start_ns, .off_ns = trace_end_ns(record) + 1};
}

static struct made_thread make_source(struct event_log *log, const struct source *source,
                                      size_t creator, uint64_t start_ns) {
    const struct handler_call *calls = source->calls.items;
    size_t first = calls[0].thread;
    struct made_thread made = {
        .thread = {.pid = log->trace.threads[first].pid,
                   .tid = log->trace.threads[first].tid,
                   .index = (int)log->trace.n_threads,
                   .creator = (int)creator,
                   .start_routine = source->handler->function,
                   .creation_context = place_of(source, record_of(log, &calls[0])->context),
                   .end_seen = true,
                   .start_ns = start_ns},
        .origin = {thread_origin_of(log->thread_origins, first).recorded, -1}};
    uint64_t done_ns = start_ns;
    double period_ns = source->is_regular ? source->gap_ns : 0;
    for (size_t c = 0; c < source->calls.count; c++) {
        struct trace_record record = *record_of(log, &calls[c]);
        record.context = place_of(source, record.context);
        if (calls[c].begins)
            event_list_insert(&made.events, log,
                              (struct trace_record){.start_ns = done_ns,
                                                    .duration_ns = record.start_ns - done_ns,
                                                    .api = ROLE_timer,
                                                    .object = (uint64_t)period_ns,
                                                    .flags = TRACE_WAITED,
                                                    .context = record.context});
        event_list_keep(&made.events, log, calls[c].thread, calls[c].number, &record);
        if (log->trace.meta.has_slices)
            add_slice(&record, &made.thread);
        done_ns = trace_end_ns(&record);
    }
    made.thread.end_ns = done_ns + 1;
    return made;
}

/* The first thread of the process has it from when the first signal was on its way. */
static struct creation find_creation(const struct event_log *log, const struct source *source) {
    const struct handler_call *first = &source->calls.items[0];
    const struct trace_record *record = record_of(log, first);
    struct creation creation = {.thread = 0};
    while (log->trace.threads[creation.thread].pid != log->trace.threads[first->thread].pid)
        creation.thread++;
    const struct trace_thread *creator = &log->trace.threads[creation.thread];
    double start_ns = (double)record->start_ns - source->gap_ns;
    uint64_t born_ns = creator->n_records > 0 ? creator->records[0].start_ns : creator->start_ns;
    creation.record =
        (struct trace_record){.start_ns = start_ns > (double)born_ns ? (uint64_t)start_ns : born_ns,
                              .api = API_pthread_create,
                              .context = place_of(source, record->context),
                              .value = (int32_t)log->trace.n_threads};
    while (creation.number + 1 < creator->n_records &&
           creator->records[creation.number].start_ns < creation.record.start_ns)
        creation.number++;
    return creation;
}

static bool *flags_of_thread(const struct event_log *log, const struct source *source, size_t t) {
    bool *in_handler = memory_alloc(log->trace.threads[t].n_records + 1, sizeof *in_handler);
    for (size_t c = 0; c < source->calls.count; c++)
        if (source->calls.items[c].thread == t)
            in_handler[source->calls.items[c].number] = true;
    return in_handler;
}

static void show(struct event_log *log, const struct source *source) {
    struct creation creation = find_creation(log, source);
    struct made_thread made = make_source(log, source, creation.thread, creation.record.start_ns);
    size_t n_threads = log->trace.n_threads;
    for (size_t t = 0; t < n_threads; t++) {
        bool *in_handler = flags_of_thread(log, source, t);
        bool any = t == creation.thread;
        for (size_t r = 0; r < log->trace.threads[t].n_records; r++)
            any |= in_handler[r];
        if (any)
            remake(log, t, in_handler, &creation);
        free(in_handler);
    }
    event_log_add_thread(log, &made);
}

static void tell(const struct source *source, struct model *model) {
    const struct trace_handler *handler = source->handler;
    notes_add(
        model,
        "%s, the handler of signal %d, made calls %zu times, each %.3g ms on the median: taken "
        "as a source of its own, which goes on so whatever the threads do",
        handler->function, handler->signal, source->n_runs, source->gap_ns / 1e6);
    decision("signal_sources", handler->function, "source", "%zu runs, %.0f ns between them",
             source->n_runs, source->gap_ns);
}

size_t signal_sources_as_threads(struct event_log *log, struct model *model) {
    const struct trace_elsewhere *elsewhere = &log->recorded->meta.elsewhere;
    size_t n = 0;
    for (size_t h = 0; h < elsewhere->n_handlers; h++) {
        struct source source = find_source(log, &elsewhere->handler[h]);
        if ((double)source.n_runs >= evidence.times_alike) {
            show(log, &source);
            cut_places(log, source.places, source.handler->function);
            tell(&source, model);
            n++;
        }
        free(source.calls.items);
        free(source.places);
    }
    if (n > 0)
        event_log_settle(log);
    return n;
}
