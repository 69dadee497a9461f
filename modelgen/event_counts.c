#include "modelgen/event_counts.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "modelgen/decision_log.h"
#include "modelgen/events/event_cursor.h"
#include "modelgen/events/source_correlation.h"

static void count_record(const struct trace_record *record, const struct object_origins *origins,
                         struct event_counts *counts) {
    counts->n_records++;
    counts->of_api[record->api]++;
    counts->content += map_mix(map_mix(record->start_ns, record->object),
                               (uint64_t)record->value << 16 | record->flags);
    if (object_origins_get(origins, record->object) != ORIGIN_RECORDED)
        map_put(&counts->made_up, record->object, 1 + map_get(&counts->made_up, record->object, 0));
}

static size_t count_edits(const struct event_log *log) {
    return log->edits.count + log->n_thread_edits;
}

struct event_counts event_counts_of(const struct event_log *log) {
    const struct trace *trace = &log->trace;
    struct event_counts counts = {
        .n_threads = trace->n_threads, .made_up = MAP_EMPTY, .n_edits = count_edits(log)};
    counts.routines = memory_alloc(trace->n_threads + 1, sizeof *counts.routines);
    for (size_t t = 0; t < trace->n_threads; t++)
        counts.routines[t] = trace->threads[t].start_routine;
    for (struct event_cursor at = event_cursor_of_run(trace); event_cursor_next(&at);)
        count_record(at.event, &log->origins, &counts);
    return counts;
}

void event_counts_free(struct event_counts *counts) {
    free(counts->routines);
    map_free(&counts->made_up);
}

char *event_counts_object_name(uint64_t address) {
    return memory_format("object %#llx", (unsigned long long)address);
}

/* "-20 pthread_cond_wait, +20 sem_wait"; of no API: "in place". The caller frees. */
static char *changes(const struct event_counts *before, const struct event_counts *after) {
    char *text = memory_strdup("");
    for (size_t api = 0; api < API_COUNT; api++) {
        long long more = (long long)after->of_api[api] - (long long)before->of_api[api];
        if (more == 0)
            continue;
        char *longer =
            memory_format("%s%s%+lld %s", text, *text ? ", " : "", more, api_catalog[api].name);
        free(text);
        text = longer;
    }
    if (!*text) {
        free(text);
        text = memory_strdup("changed in place, none more or less");
    }
    return text;
}

static void log_threads(const char *pass, const struct trace *trace,
                        const struct event_counts *before, const struct event_counts *after) {
    if (after->n_threads != before->n_threads)
        decision(pass, "threads", "rewritten", "%zu are shown as %zu", before->n_threads,
                 after->n_threads);
    for (size_t t = 0; after->n_threads == before->n_threads && t < trace->n_threads; t++)
        if (strcmp(after->routines[t], before->routines[t]) != 0) {
            char *thread = memory_format("thread %d", trace->threads[t].index);
            decision(pass, thread, "rewritten", "begins in %s, not %s", after->routines[t],
                     before->routines[t]);
            free(thread);
        }
}

/* Of objects that the pass brought in, one decision for each place that they are first used at,
 * which is known by their addresses, too. */
static void log_object(const char *pass, const struct trace *trace,
                       const struct trace_record *record, int calls, bool is_told) {
    bool has_place = record->context != TRACE_NO_CONTEXT;
    char *place = has_place ? source_place(trace, record->context)
                            : memory_strdup("a place that is not known");
    char *address = event_counts_object_name(record->object);
    if (!is_told)
        decision(pass, place, "shown as", "%s, %d calls on %s", api_catalog[record->api].name,
                 calls, address);
    if (has_place)
        decision_alias(place, address);
    free(address);
    free(place);
}

static void log_objects(const char *pass, const struct trace *trace,
                        const struct event_counts *before, const struct event_counts *after) {
    struct map told = MAP_EMPTY;
    for (struct event_cursor at = event_cursor_of_run(trace); event_cursor_next(&at);) {
        uint64_t object = at.event->object;
        uint32_t context = at.event->context;
        int calls = map_get(&after->made_up, object, 0);
        if (!calls || map_get(&before->made_up, object, 0) || map_get(&told, object, 0))
            continue;
        log_object(pass, trace, at.event, calls, map_get(&told, context, 0));
        map_put(&told, object, 1);
        map_put(&told, context, 1);
    }
    map_free(&told);
}

void event_counts_log(const char *pass, const struct event_log *log, struct event_counts *before) {
    if (before->n_edits == count_edits(log))
        return;
    const struct trace *trace = &log->trace;
    struct event_counts after = event_counts_of(log);
    log_threads(pass, trace, before, &after);
    if (after.content != before->content || after.n_records != before->n_records) {
        char *what = changes(before, &after);
        decision(pass, "records", "rewritten", "%zu are shown as %zu: %s", before->n_records,
                 after.n_records, what);
        free(what);
        if (after.made_up.count > 0)
            log_objects(pass, trace, before, &after);
    }
    event_counts_free(before);
    *before = after;
}
