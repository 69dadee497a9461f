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

/* Each wait takes as many permits as results have come since the last one, up to its own. */
static void show_waits(struct event_log *log, const struct calls *waits,
                       const struct calls *results, uint64_t object) {
    struct event_insertion *added = memory_alloc(results->count, sizeof *added);
    struct map number_of = MAP_EMPTY; /* once -> number of its last result, from 1 on */
    size_t come = 0, n_added = 0;
    int taken = 0;
    for (size_t w = 0; w < waits->count; w++) {
        const struct call *wait = &waits->items[w];
        for (; come < results->count && results->items[come].time_ns <= wait->time_ns; come++)
            map_put(&number_of, call_record(&log->trace, &results->items[come])->object,
                    (int)come + 1);
        int number = map_get(&number_of, once_of(&log->trace, wait), 0);
        if (number <= taken)
            continue;
        struct trace_record *record = event_log_change(log, wait->thread, wait->record);
        record->api = ROLE_acquire;
        record->object = object;
        for (taken++; taken < number; taken++)
            added[n_added++] =
                (struct event_insertion){wait->record, permit(ROLE_acquire, object, record)};
    }
    event_log_insert(log, waits->items[0].thread, added, n_added);
    map_free(&number_of);
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
