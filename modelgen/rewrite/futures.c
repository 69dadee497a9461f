#include "modelgen/rewrite/futures.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/memory.h"
#include "modelgen/rewrite/private_semaphores.h"

/* In libstdc++'s state of a future, how far behind the word that is waited on the flag of its
 * std::call_once lies (std::__future_base::_State_baseV2). */
#define ONCE_BEHIND_STATE 8

/* The flag that is set with the result that is waited for. */
static uint64_t once_of(const struct trace *trace, const struct call *wait) {
    return call_record(trace, wait)->object + ONCE_BEHIND_STATE;
}

static bool is_over(const struct trace_record *record) {
    return !(record->flags & (TRACE_UNFINISHED | TRACE_FAILED));
}

/* All waits that ended with a result; none where several threads wait. */
static struct calls find_waits(const struct trace *trace) {
    struct calls waits = {0};
    bool several = false;
    for (size_t t = 0; t < trace->n_threads; t++)
        for (size_t r = 0; r < trace->threads[t].n_records; r++) {
            const struct trace_record *record = &trace->threads[t].records[r];
            if (record->api != API_std_future_wait || !is_over(record))
                continue;
            several |= waits.count > 0 && waits.items[0].thread != t;
            *VECTOR_ADD(&waits) =
                (struct call){.time_ns = trace_end_ns(record), .thread = t, .record = r};
        }
    if (several)
        waits.count = 0;
    calls_sort(&waits);
    return waits;
}

static bool sets_result(const struct trace_context *calls) {
    for (size_t f = 0; f < calls->n_frames; f++)
        if (strcmp(calls->frames[f].function, "_M_set_result") == 0)
            return true;
    return false;
}

/* Per context: calls made there set the result of a future. The library's function says so where
 * there is debug information; else that one of them set a result that was waited for. */
static bool *find_settings(const struct trace *trace, const struct calls *waits) {
    struct map waited = MAP_EMPTY;
    for (size_t w = 0; w < waits->count; w++)
        map_put(&waited, once_of(trace, &waits->items[w]), 1);
    bool *sets = memory_alloc(trace->n_contexts, sizeof *sets);
    for (size_t c = 0; c < trace->n_contexts; c++)
        sets[c] = sets_result(&trace->contexts[c]);
    for (size_t t = 0; t < trace->n_threads; t++)
        for (size_t r = 0; r < trace->threads[t].n_records; r++) {
            const struct trace_record *record = &trace->threads[t].records[r];
            if (record->api == API_pthread_once && record->context != TRACE_NO_CONTEXT)
                sets[record->context] |= map_get(&waited, record->object, 0) == 1;
        }
    map_free(&waited);
    return sets;
}

/* All results that other threads than the waiting one make. */
static struct calls find_results(const struct trace *trace, const struct calls *waits) {
    struct calls results = {0};
    bool *sets = find_settings(trace, waits);
    for (size_t t = 0; t < trace->n_threads; t++)
        for (size_t r = 0; r < trace->threads[t].n_records; r++) {
            const struct trace_record *record = &trace->threads[t].records[r];
            if (record->api == API_pthread_once && is_over(record) &&
                record->context != TRACE_NO_CONTEXT && sets[record->context] &&
                t != waits->items[0].thread)
                *VECTOR_ADD(&results) =
                    (struct call){.time_ns = trace_end_ns(record), .thread = t, .record = r};
        }
    free(sets);
    calls_sort(&results);
    return results;
}

static struct trace_record permit(enum api role, uint64_t object, const struct trace_record *at) {
    return (struct trace_record){
        .start_ns = trace_end_ns(at), .object = object, .context = at->context, .api = role};
}

/* Whether the thread does something else than wait for results behind wait w. */
static bool ends_series(const struct calls *waits, size_t w) {
    return w + 1 == waits->count || waits->items[w + 1].record != waits->items[w].record + 1;
}

/* When the thread that waits goes on with something else behind the wait. */
static uint64_t series_end_ns(const struct trace *trace, const struct call *wait) {
    const struct trace_thread *thread = &trace->threads[wait->thread];
    return wait->record + 1 < thread->n_records ? thread->records[wait->record + 1].start_ns
                                                : thread->end_ns;
}

/* When the thread may have begun with what the result is of: behind its call before that. */
static uint64_t begun_ns(const struct trace *trace, const struct call *result) {
    const struct trace_thread *thread = &trace->threads[result->thread];
    uint64_t start_ns = thread->records[result->record].start_ns;
    uint64_t before_ns =
        result->record > 0 ? trace_end_ns(&thread->records[result->record - 1]) : thread->start_ns;
    return before_ns < start_ns ? before_ns : start_ns;
}

/* Whether nobody is at a result whenever the waiting thread goes on with something else: then it
 * has fetched all that came, and those that it found there as well. A thread that keeps some under
 * way goes on while others are at them. */
static bool fetches_all(const struct trace *trace, const struct calls *waits,
                        const struct calls *results) {
    bool all = true;
    uint64_t *ends_ns = memory_alloc(waits->count, sizeof *ends_ns);
    size_t n = 0;
    for (size_t w = 0; w < waits->count; w++)
        if (ends_series(waits, w))
            ends_ns[n++] = series_end_ns(trace, &waits->items[w]);
    size_t next = 0; /* results are in the order of time: the first end behind the result */
    for (size_t r = 0; r < results->count && all; r++) {
        const struct call *result = &results->items[r];
        while (next < n && ends_ns[next] < result->time_ns)
            next++;
        all = next == 0 || ends_ns[next - 1] < begun_ns(trace, result);
    }
    free(ends_ns);
    return all;
}

/* What is known of the results of others up to a moment that only goes on. */
struct results_come {
    size_t count;
    struct map number_of; /* once -> number of its last result, from 1 on */
};

static void come_until(struct results_come *come, const struct trace *trace,
                       const struct calls *results, uint64_t time_ns) {
    for (; come->count < results->count && results->items[come->count].time_ns <= time_ns;
         come->count++)
        map_put(&come->number_of, call_record(trace, &results->items[come->count])->object,
                (int)come->count + 1);
}

/* Each wait takes as many permits as results have come since the last one, up to its own; the last
 * one before something else those, too, that were found there behind it. */
static void show_waits(struct event_log *log, const struct calls *waits,
                       const struct calls *results, uint64_t object) {
    struct event_insertion *added = memory_alloc(results->count, sizeof *added);
    struct results_come come = {0, MAP_EMPTY};
    size_t n_added = 0;
    int taken = 0;
    bool all = fetches_all(&log->trace, waits, results);
    for (size_t w = 0; w < waits->count; w++) {
        const struct call *wait = &waits->items[w];
        come_until(&come, &log->trace, results, wait->time_ns);
        int number = map_get(&come.number_of, once_of(&log->trace, wait), 0);
        if (number > taken) {
            struct trace_record *record = event_log_change(log, wait->thread, wait->record);
            record->api = ROLE_acquire;
            record->object = object;
            taken++;
        }
        if (all && ends_series(waits, w)) {
            come_until(&come, &log->trace, results, series_end_ns(&log->trace, wait));
            number = (int)come.count;
        }
        for (; taken < number; taken++)
            added[n_added++] = (struct event_insertion){
                wait->record, permit(ROLE_acquire, object, call_record(&log->trace, wait))};
    }
    event_log_insert(log, waits->items[0].thread, added, n_added);
    map_free(&come.number_of);
    free(added);
}

static void show_results(struct event_log *log, const struct calls *results, uint64_t object) {
    const struct trace *trace = &log->trace;
    struct event_insertion *added = memory_alloc(results->count, sizeof *added);
    for (size_t t = 0; t < trace->n_threads; t++) {
        size_t n = 0;
        for (size_t i = 0; i < results->count; i++)
            if (results->items[i].thread == t)
                added[n++] = (struct event_insertion){
                    results->items[i].record,
                    permit(ROLE_release, object, call_record(trace, &results->items[i]))};
        event_log_insert(log, t, added, n);
    }
    free(added);
}

void futures_as_permits(struct event_log *log) {
    struct calls waits = find_waits(&log->trace);
    if (waits.count > 0) {
        struct calls results = find_results(&log->trace, &waits);
        uint64_t object = event_log_new_object(log, ORIGIN_FUTURE);
        show_waits(log, &waits, &results, object);
        show_results(log, &results, object);
        free(results.items);
    }
    free(waits.items);
}
