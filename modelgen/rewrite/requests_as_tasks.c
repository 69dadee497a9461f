#include "modelgen/rewrite/requests_as_tasks.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_sort_double.h>

#include "base/memory.h"
#include "modelgen/decision_log.h"
#include "modelgen/events/arrivals.h"
#include "modelgen/events/event_cursor.h"
#include "modelgen/events/probe_cost.h"
#include "modelgen/evidence.h"
#include "modelgen/notes.h"
#include "modelgen/rewrite/signals.h"

#define GAPS  64 /* values kept of distances that are not random ... */
#define BYTES 16 /* ... and of how many bytes requests and their answers have */

/* ---- queues ---- */

struct rewriter {
    struct event_log *log;
    const struct requests *requests;
    const struct arrivals *arrivals;
    struct outside_queues queues;
    int *queue_of;         /* per source */
    uint32_t loop_context; /* with helpers: of each taking */
};

/* Where the source's requests are taken: the call site of the first of them. */
static const struct trace_frame *taken_at(const struct rewriter *rewriter, size_t source) {
    const struct requests *requests = rewriter->requests;
    size_t r = 0;
    while (requests->all.items[r].source != (int)source)
        r++;
    const struct trace *trace = &rewriter->log->trace;
    struct request_event take = requests->all.items[r].take;
    uint32_t context = trace->threads[take.thread].records[take.number].context;
    bool is_known = context != TRACE_NO_CONTEXT && trace->contexts[context].n_frames > 0;
    return is_known ? &trace->contexts[context].frames[0] : NULL;
}

/* Did one of the two create the other, and does it itself what that does with requests? */
static bool serves_beside(const struct rewriter *rewriter, size_t a, size_t b) {
    const struct request_source *sources = rewriter->requests->sources.items;
    const struct trace_thread *threads = rewriter->log->trace.threads;
    const struct trace_frame *x = taken_at(rewriter, a), *y = taken_at(rewriter, b);
    return (threads[sources[a].thread].creator == (int)sources[b].thread ||
            threads[sources[b].thread].creator == (int)sources[a].thread) &&
           x && y && x->offset == y->offset && strcmp(x->function, y->function) == 0;
}

/* Do these threads' own sources belong together? */
static bool are_alike(const struct rewriter *rewriter, size_t a, size_t b) {
    const struct request_source *sources = rewriter->requests->sources.items;
    const struct trace_thread *threads = rewriter->log->trace.threads;
    return sources[a].accepts == sources[b].accepts && !sources[a].is_shared &&
           !sources[b].is_shared &&
           (trace_threads_alike(&threads[sources[a].thread], &threads[sources[b].thread]) ||
            serves_beside(rewriter, a, b));
}

static bool has_helpers(const struct rewriter *rewriter) {
    return rewriter->requests->helped.returns.count > 0;
}

/* Of those at the queue: is nearly each the first one of its connection? */
static bool connects(const struct rewriter *rewriter, int queue) {
    double others = 0, all = 0;
    for (size_t s = 0; s < rewriter->requests->sources.count; s++) {
        const struct request_source *source = &rewriter->requests->sources.items[s];
        if (rewriter->queue_of[s] != queue)
            continue;
        others += (double)(source->n_requests - source->n_first);
        all += (double)source->n_requests;
    }
    return others <= evidence.violation_share * all;
}

static void make_queues(struct rewriter *rewriter) {
    size_t n = rewriter->requests->sources.count;
    const struct request_source *sources = rewriter->requests->sources.items;
    rewriter->queue_of = memory_alloc(n, sizeof *rewriter->queue_of);
    rewriter->queues.items = memory_alloc(n, sizeof *rewriter->queues.items);
    for (size_t s = 0; s < n; s++) {
        size_t other = 0;
        while (other < s && !are_alike(rewriter, other, s))
            other++;
        if (other == s) {
            rewriter->queue_of[s] = (int)rewriter->queues.n++;
            rewriter->queues.items[rewriter->queue_of[s]] = (struct outside_queue){
                .object = event_log_new_object(rewriter->log, ORIGIN_OUTSIDE),
                .accepts = sources[s].accepts,
                .is_own = !sources[s].accepts && !sources[s].is_shared && !has_helpers(rewriter),
                .is_returned_to = has_helpers(rewriter),
                .returned_first = rewriter->requests->helped.one_a_round};
        } else {
            rewriter->queue_of[s] = rewriter->queue_of[other];
            rewriter->queues.items[rewriter->queue_of[s]].is_own = true;
        }
        rewriter->queues.items[rewriter->queue_of[s]].arrivals += (double)sources[s].n_requests;
    }
    for (size_t q = 0; q < rewriter->queues.n; q++)
        rewriter->queues.items[q].connects = connects(rewriter, (int)q);
}

static struct outside_queue *queue_of_request(const struct rewriter *rewriter,
                                              const struct request *request) {
    return &rewriter->queues.items[rewriter->queue_of[request->source]];
}

/* The time before each arrival at the queue, as it was or may have been; before the first one,
 * which nobody knows, the mean. */
static void find_gaps(const struct rewriter *rewriter, struct outside_queue *queue) {
    const struct arrivals *arrivals = rewriter->arrivals;
    double *times = memory_alloc(arrivals->n, sizeof *times);
    size_t n = 0;
    for (size_t r = 0; r < arrivals->n; r++)
        if (queue_of_request(rewriter, &rewriter->requests->all.items[r]) == queue)
            times[n++] = arrivals->at_ns[r];
    gsl_sort(times, 1, n);
    double mean = n > 1 ? (times[n - 1] - times[0]) / (double)(n - 1) : 0;
    for (size_t i = n; i-- > 1;)
        times[i] -= times[i - 1];
    times[0] = mean;
    queue->gaps = times;
    queue->n_gaps = mean > 0 ? n : 0;
}

static struct dist distribution_of_gaps(const struct outside_queue *queue) {
    size_t n = queue->n_gaps > 0 ? queue->n_gaps - 1 : 0;
    double *values = memory_alloc(n, sizeof *values);
    for (size_t i = 0; i < n; i++)
        values[i] = queue->gaps[i + 1];
    struct dist gaps = dist_from_values(values, n, GAPS);
    free(values);
    return gaps;
}

static struct dist bytes_of(const struct rewriter *rewriter, const struct outside_queue *queue,
                            bool of_answers) {
    const struct requests *requests = rewriter->requests;
    double *values = memory_alloc(requests->all.count, sizeof *values);
    double sum = 0;
    size_t n = 0;
    for (size_t r = 0; r < requests->all.count; r++) {
        const struct request *request = &requests->all.items[r];
        if (queue_of_request(rewriter, request) != queue)
            continue;
        values[n] = of_answers ? request->answer_bytes : request->bytes;
        sum += values[n++];
    }
    bool is_known = isfinite(sum) && sum > 0;
    struct dist bytes = is_known ? dist_from_values(values, n, BYTES) : (struct dist){0};
    free(values);
    return bytes;
}

static void describe_arrivals(struct rewriter *rewriter) {
    const struct arrivals *arrivals = rewriter->arrivals;
    for (size_t q = 0; q < rewriter->queues.n; q++) {
        struct outside_queue *queue = &rewriter->queues.items[q];
        double share = queue->arrivals / (double)arrivals->n;
        find_gaps(rewriter, queue);
        queue->interarrival_ns =
            arrivals->is_random || queue->arrivals < 3
                ? (struct dist){.kind = DIST_EXPONENTIAL, .mean = 1e9 / (arrivals->rate_hz * share)}
                : distribution_of_gaps(queue);
        queue->request_bytes = bytes_of(rewriter, queue, false);
        queue->reply_bytes = bytes_of(rewriter, queue, true);
        queue->evidence = memory_format(
            "%.0f requests, %.4g/s; for %.0f %% of all a thread waited, whose waits are %.3f "
            "from exponential ones (Kolmogorov-Smirnov)",
            queue->arrivals, arrivals->rate_hz * share,
            100 * (double)arrivals->n_waited / (double)arrivals->n, arrivals->distance);
    }
}

static void tell(const struct rewriter *rewriter, struct model *model) {
    const struct arrivals *arrivals = rewriter->arrivals;
    double waited = 100 * (double)arrivals->n_waited / (double)arrivals->n;
    if (arrivals->n_waited == 0)
        notes_add(model,
                  "the server was saturated: no thread ever waited for one of its %zu requests, so "
                  "that they are taken to have come as fast as they were answered, %.4g/s",
                  arrivals->n, arrivals->rate_hz);
    else
        notes_add(model,
                  "%zu requests came from outside, %.4g/s; a thread waited for %.0f %% of them, by "
                  "which the arrivals %s",
                  arrivals->n, arrivals->rate_hz, waited,
                  arrivals->is_random ? "cannot be told from random ones: taken as these (Poisson)"
                                      : "are not random: taken as they were recorded");
    decision("requests", "arrivals",
             arrivals->n_waited == 0 ? "saturated"
             : arrivals->is_random   ? "random"
                                     : "as recorded",
             "%zu requests, %.4g/s, waited for %zu, %.4f from exponential waits", arrivals->n,
             arrivals->rate_hz, arrivals->n_waited, arrivals->distance);
}

/* ---- calls ---- */

static const struct trace_record *shown(const struct rewriter *rewriter,
                                        struct request_event event) {
    return &rewriter->log->trace.threads[event.thread].records[event.number];
}

/* When the wait is over. The rest of a call that accepts is computation for the request; one that
 * only waits for descriptors has nothing else to do than to sleep and come back, for which the
 * model has a cost. */
static uint64_t end_of_wait(const struct rewriter *rewriter, const struct request *request) {
    bool accepts = request->wait.number == request->take.number;
    return accepts ? request->to_ns : trace_end_ns(shown(rewriter, request->wait));
}

static void show_idle(const struct rewriter *rewriter, struct request_event event) {
    event_log_change(rewriter->log, event.thread, event.number)->api = ROLE_idle;
}

/* Where the loop with helpers asks what comes next, a new request or one that a helper has had. */
static uint32_t context_of_loop(const struct rewriter *rewriter) {
    struct request_event event = rewriter->requests->all.items[0].take;
    const struct trace_thread *thread = &rewriter->log->trace.threads[event.thread];
    while (event.number > 0 && trace_op(&thread->records[event.number]) != OP_POLL)
        event.number--;
    return thread->records[event.number].context;
}

static uint32_t context_of_take(const struct rewriter *rewriter, const struct request *request) {
    return has_helpers(rewriter) ? rewriter->loop_context : shown(rewriter, request->take)->context;
}

static bool waits_for_others(const struct trace_record *record) {
    return trace_op(record) == OP_ACCEPT || trace_op(record) == OP_POLL;
}

static void show_take(const struct rewriter *rewriter, const struct request *request) {
    uint32_t context = context_of_take(rewriter, request);
    bool waited = !request_event_is_none(request->wait) && !request->told_before;
    if (request->told_before && !request_event_is_none(request->wait))
        show_idle(rewriter, request->wait);
    struct request_event event = waited ? request->wait : request->take;
    if (!request_event_is_none(request->behind)) { /* there it is inserted */
        if (waits_for_others(shown(rewriter, event)))
            show_idle(rewriter, event);
        return;
    }
    struct trace_record *take = event_log_change(rewriter->log, event.thread, event.number);
    take->api = ROLE_get;
    take->object = queue_of_request(rewriter, request)->object;
    take->context = context;
    take->value = 0;
    take->duration_ns = waited ? end_of_wait(rewriter, request) - take->start_ns : 0;
    take->flags = waited ? TRACE_WAITED : 0;
}

/* The request of the same source that the thread took last before this call, or, if it took none,
 * any. */
static const struct request *request_like(const struct rewriter *rewriter,
                                          const struct request_idle *wait) {
    const struct requests *requests = rewriter->requests;
    const struct request *last = NULL, *any = NULL;
    for (size_t r = 0; r < requests->all.count; r++) {
        const struct request *request = &requests->all.items[r];
        if (request->source != wait->source)
            continue;
        any = request;
        if (request->take.thread == wait->event.thread &&
            request->take.number < wait->event.number &&
            (!last || request->take.number > last->take.number))
            last = request;
    }
    return last ? last : any;
}

/* Nothing more came: where and what the thread would have taken is what it took before. */
static void show_last(const struct rewriter *rewriter, const struct request_idle *wait) {
    const struct request *like = request_like(rewriter, wait);
    uint32_t context = context_of_take(rewriter, like);
    struct trace_record *last =
        event_log_change(rewriter->log, wait->event.thread, wait->event.number);
    last->api = ROLE_get;
    last->object = queue_of_request(rewriter, like)->object;
    last->context = context;
    last->value = 0;
    last->flags = (uint16_t)(last->flags | TRACE_WAITED | TRACE_FAILED);
}

/* The loop slept until a helper was done. */
static void show_return(const struct rewriter *rewriter, const struct request_return *back) {
    if (request_event_is_none(back->wait))
        return; /* there it is inserted */
    struct trace_record *take =
        event_log_change(rewriter->log, back->wait.thread, back->wait.number);
    take->api = ROLE_get;
    take->object = rewriter->queues.items[0].object;
    take->context = rewriter->loop_context;
    take->value = OUTSIDE_RETURNED;
    take->duration_ns = trace_end_ns(take) - take->start_ns;
    take->flags = TRACE_WAITED;
}

static void show_helped(const struct rewriter *rewriter) {
    const struct helped_requests *helped = &rewriter->requests->helped;
    for (size_t i = 0; i < helped->returns.count; i++)
        show_return(rewriter, &helped->returns.items[i]);
    for (size_t i = 0; i < helped->calls.count; i++) {
        struct request_event call = helped->calls.items[i];
        struct trace_record *put = event_log_change(rewriter->log, call.thread, call.number);
        put->api = ROLE_put;
        put->object = rewriter->queues.items[0].object;
        put->value = OUTSIDE_RETURNED;
        put->flags = 0;
    }
}

/* What is inserted behind an event: the end of a task, and then the taking of the next one, if the
 * thread had that already, or of one that comes back from a helper. */
struct boundary {
    struct request_event after;
    const struct request *next;        /* NULL: none */
    const struct request_return *back; /* the same; both: it is the end */
};

static int compare_boundaries(const void *a, const void *b) {
    const struct boundary *x = a, *y = b;
    if (x->after.thread != y->after.thread)
        return (x->after.thread > y->after.thread) - (x->after.thread < y->after.thread);
    if (x->after.number != y->after.number)
        return (x->after.number > y->after.number) - (x->after.number < y->after.number);
    return (x->next || x->back) - (y->next || y->back);
}

static struct trace_record shown_at(const struct rewriter *rewriter,
                                    const struct boundary *boundary) {
    const struct trace_record *write = shown(rewriter, boundary->after);
    struct trace_record record = {
        .start_ns = trace_end_ns(write), .api = ROLE_task_end, .context = write->context};
    if (boundary->next) {
        record.api = ROLE_get;
        record.object = queue_of_request(rewriter, boundary->next)->object;
        record.context = context_of_take(rewriter, boundary->next);
    }
    if (boundary->back) {
        record.api = ROLE_get;
        record.object = rewriter->queues.items[0].object;
        record.context = rewriter->loop_context;
        record.value = OUTSIDE_RETURNED;
    }
    return record;
}

static struct boundary *find_boundaries(const struct rewriter *rewriter, size_t *n) {
    const struct requests *requests = rewriter->requests;
    size_t n_returns = requests->helped.returns.count;
    struct boundary *all = memory_alloc(2 * requests->all.count + n_returns, sizeof *all);
    *n = 0;
    for (size_t r = 0; r < requests->all.count; r++) {
        const struct request *request = &requests->all.items[r];
        all[(*n)++] = (struct boundary){.after = request->end};
        if (!request_event_is_none(request->behind))
            all[(*n)++] = (struct boundary){.after = request->behind, .next = request};
    }
    for (size_t i = 0; i < n_returns; i++) {
        const struct request_return *back = &requests->helped.returns.items[i];
        struct request_event before = {back->event.thread, back->event.number - 1};
        if (request_event_is_none(back->wait)) /* the loop took it before, so there is an event */
            all[(*n)++] = (struct boundary){.after = before, .back = back};
    }
    qsort(all, *n, sizeof *all, compare_boundaries);
    return all;
}

static void insert_boundaries(const struct rewriter *rewriter) {
    size_t n;
    struct boundary *all = find_boundaries(rewriter, &n);
    struct event_insertion *added = memory_alloc(n, sizeof *added);
    for (size_t b = 0; b < n;) {
        size_t of_thread = 0, thread = all[b].after.thread;
        for (; b < n && all[b].after.thread == thread; b++)
            added[of_thread++] =
                (struct event_insertion){all[b].after.number, shown_at(rewriter, &all[b])};
        event_log_insert(rewriter->log, thread, added, of_thread);
    }
    free(added);
    free(all);
}

/* Calls whose time would be modelled. */
static bool is_timed(const struct trace_record *record) {
    return api_catalog[record->api].api_class == CLASS_IO ||
           api_catalog[record->api].api_class == CLASS_TIME;
}

/* A call that goes on from before the first request, or beyond the last one. Of that only what is
 * between counts; but who waits for a signal until all has been done was told to stop by it. */
static void cut_call(const struct rewriter *rewriter, struct event_cursor at) {
    const struct requests *requests = rewriter->requests;
    uint64_t from_ns = at.event->start_ns, to_ns = trace_end_ns(at.event);
    if (from_ns >= requests->from_ns && to_ns <= requests->to_ns)
        return;
    struct trace_record *call = event_log_change(rewriter->log, at.thread, at.number);
    if (to_ns >= requests->to_ns && signals_are_awaited(call)) {
        call->api = ROLE_idle;
        return;
    }
    call->start_ns = from_ns > requests->from_ns ? from_ns : requests->from_ns;
    to_ns = to_ns < requests->to_ns ? to_ns : requests->to_ns;
    call->duration_ns = to_ns - call->start_ns;
}

static void drop_start_and_stop(const struct rewriter *rewriter) {
    const struct requests *requests = rewriter->requests;
    bool **dropped = event_log_flags(rewriter->log);
    for (struct event_cursor at = event_cursor_of_run(&rewriter->log->trace);
         event_cursor_next(&at);) {
        if (!is_timed(at.event))
            continue;
        dropped[at.thread][at.number] =
            trace_end_ns(at.event) < requests->from_ns || at.event->start_ns >= requests->to_ns;
        if (!dropped[at.thread][at.number])
            cut_call(rewriter, at);
    }
    event_log_drop_all(rewriter->log, dropped);
}

static void show_calls(const struct rewriter *rewriter) {
    const struct requests *requests = rewriter->requests;
    for (size_t i = 0; i < requests->idle.count; i++) {
        const struct request_idle *wait = &requests->idle.items[i];
        if (wait->is_last)
            show_last(rewriter, wait);
        else
            show_idle(rewriter, wait->event);
    }
    for (size_t r = 0; r < requests->all.count; r++)
        show_take(rewriter, &requests->all.items[r]);
    show_helped(rewriter);
    insert_boundaries(rewriter);
    drop_start_and_stop(rewriter);
}

/* ---- the whole ---- */

static double on_core_between(const struct trace *trace, uint64_t from_ns, uint64_t to_ns) {
    double sum_ns = 0;
    for (size_t t = 0; t < trace->n_threads; t++)
        for (size_t s = 0; s < trace->threads[t].n_slices; s++) {
            const struct trace_slice *slice = &trace->threads[t].slices[s];
            uint64_t on_ns = slice->on_ns > from_ns ? slice->on_ns : from_ns;
            uint64_t off_ns = slice->off_ns < to_ns ? slice->off_ns : to_ns;
            sum_ns += off_ns > on_ns ? (double)(off_ns - on_ns) : 0;
        }
    return sum_ns;
}

/* One that accepts once, or answers a question now and then, is no server. */
static bool is_server(const struct requests *requests) {
    return requests->all.count > 2;
}

/* What the probes took meanwhile, which the model's demands are without. */
static double probed_between(const struct trace *trace, uint64_t from_ns, uint64_t to_ns) {
    size_t n = 0;
    for (struct event_cursor at = event_cursor_of_run(trace); event_cursor_next(&at);)
        n += at.event->start_ns >= from_ns && at.event->start_ns < to_ns;
    return probe_cost_find(trace).record_ns * (double)n;
}

/* A request has waited for the probes of others, too: that much it would be shorter still. Where
 * these have much of the time, nothing tells how long it would have taken without. */
static struct outside_measured measure(const struct trace *trace, const struct requests *requests,
                                       const struct arrivals *arrivals) {
    double probed_ns = probed_between(trace, requests->from_ns, requests->to_ns);
    double response_ns = arrivals->response_ns - probed_ns / (double)arrivals->n;
    return (struct outside_measured){
        .cpu_ns = on_core_between(trace, requests->from_ns, requests->to_ns) - probed_ns,
        .requests = (double)arrivals->n,
        .response_ns = probe_cost_find(trace).is_often ? 0 : response_ns};
}

struct outside_queues requests_as_tasks(struct event_log *log, struct model *model) {
    struct requests requests = requests_find(&log->trace);
    struct rewriter rewriter = {.log = log, .requests = &requests};
    if (requests.refused) {
        notes_add(model, MODEL_NO_REQUESTS ": %s", requests.refused);
        decision("requests", "connections", "no requests", "%s", requests.refused);
    }
    if (is_server(&requests)) {
        struct arrivals arrivals = arrivals_estimate(&log->trace, &requests);
        rewriter.arrivals = &arrivals;
        make_queues(&rewriter);
        describe_arrivals(&rewriter);
        tell(&rewriter, model);
        rewriter.loop_context = context_of_loop(&rewriter);
        show_calls(&rewriter);
        rewriter.queues.from_ns = requests.from_ns;
        rewriter.queues.to_ns = requests.to_ns;
        rewriter.queues.measured = measure(log->recorded, &requests, &arrivals);
        arrivals_free(&arrivals);
    }
    free(rewriter.queue_of);
    requests_free(&requests);
    return rewriter.queues;
}

void outside_queues_free(struct outside_queues *queues) {
    for (size_t q = 0; q < queues->n; q++) {
        free(queues->items[q].interarrival_ns.values);
        free(queues->items[q].gaps);
        free(queues->items[q].request_bytes.values);
        free(queues->items[q].reply_bytes.values);
        free(queues->items[q].evidence);
    }
    free(queues->items);
    *queues = (struct outside_queues){0};
}
