#include "cli/report/chrome.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/memory.h"
#include "cli/report/chrome_path.h"
#include "cli/report/chrome_run.h"
#include "cli/report/site_name.h"

/* What is said of one context or object again and again, as JSON string literals. */
struct texts {
    struct {
        char **items;
        size_t count, capacity;
    } objects;
    struct map object_index;               /* by object_key() */
    char **functions, **places, **callers; /* one per context */
    const struct dependencies *path;       /* NULL: it is not shown */
};

/* ---- texts ---- */

static char *caller_name(const struct trace_context *context) {
    return context->n_frames > 1 ? site_frame_name(&context->frames[1]) : memory_strdup("?");
}

static uint64_t object_key(const struct trace_record *record) {
    return map_mix(map_mix(1, api_catalog[record->api].object), record->object);
}

/* An object has no name in a trace: it is called by where it was used first. */
static void name_object(struct texts *texts, const struct trace *trace,
                        const struct trace_record *record) {
    uint64_t key = object_key(record);
    if (!site_is_shared_object((enum api)record->api) ||
        map_get(&texts->object_index, key, -1) >= 0)
        return;
    char *place = site_name(trace, record->context);
    map_put(&texts->object_index, key, (int)texts->objects.count);
    *VECTOR_ADD(&texts->objects) = chrome_quote_own(memory_format(
        "%s 0x%llx, first used by %s", api_object_names[api_catalog[record->api].object],
        (unsigned long long)record->object, place));
    free(place);
}

static struct texts texts_of(const struct trace *trace) {
    struct texts texts = {
        .object_index = MAP_EMPTY,
        .functions = memory_alloc(trace->n_contexts, sizeof *texts.functions),
        .places = memory_alloc(trace->n_contexts, sizeof *texts.places),
        .callers = memory_alloc(trace->n_contexts, sizeof *texts.callers),
    };
    for (size_t i = 0; i < trace->n_contexts; i++) {
        const struct trace_context *context = &trace->contexts[i];
        texts.functions[i] = chrome_quote(context->n_frames ? context->frames[0].function : NULL);
        texts.places[i] = chrome_quote_own(site_name(trace, (uint32_t)i));
        texts.callers[i] = chrome_quote_own(caller_name(context));
    }
    for (size_t i = 0; i < trace->n_threads; i++)
        for (size_t j = 0; j < trace->threads[i].n_records; j++)
            name_object(&texts, trace, &trace->threads[i].records[j]);
    return texts;
}

static void texts_free(struct texts *texts, size_t n_contexts) {
    for (size_t i = 0; i < n_contexts; i++) {
        free(texts->functions[i]);
        free(texts->places[i]);
        free(texts->callers[i]);
    }
    for (size_t i = 0; i < texts->objects.count; i++)
        free(texts->objects.items[i]);
    free(texts->objects.items);
    free(texts->functions);
    free(texts->places);
    free(texts->callers);
    map_free(&texts->object_index);
}

/* ---- calls ---- */

static void write_arguments(const struct texts *texts, const struct trace_record *record,
                            FILE *out) {
    int object = map_get(&texts->object_index, object_key(record), -1);
    fprintf(out, "\"value\":%d", record->value);
    if (record->context != TRACE_NO_CONTEXT)
        fprintf(out, ",\"place\":%s,\"caller\":%s", texts->places[record->context],
                texts->callers[record->context]);
    if (object >= 0)
        fprintf(out, ",\"object\":%s", texts->objects.items[object]);
    else if (api_catalog[record->api].object == ON_FILE ||
             api_catalog[record->api].object == ON_SOCKET)
        fprintf(out, ",\"descriptor\":%llu", (unsigned long long)record->object);
}

static void write_calls(const void *context, const struct trace_thread *thread,
                        struct trace_span span, FILE *out) {
    const struct texts *texts = context;
    for (size_t i = 0; i < thread->n_records; i++) {
        const struct trace_record *record = &thread->records[i];
        if (record->duration_ns == 0 ||
            !chrome_is_inside(span, record->start_ns, trace_end_ns(record)))
            continue;
        /* Both are literals: joined inside the quotes. */
        const char *function =
            record->context == TRACE_NO_CONTEXT ? "\"?\"" : texts->functions[record->context];
        char *name = memory_format("\"%s in %s", api_catalog[record->api].name, function + 1);
        chrome_begin(out, CHROME_THREADS, thread->index, name, record->start_ns,
                     record->duration_ns);
        write_arguments(texts, record, out);
        chrome_end(out);
        free(name);
    }
}

static void write_path(const void *context, struct trace_span span, FILE *out) {
    const struct texts *texts = context;
    chrome_path_write(texts->path, span, out);
}

void chrome_write(const struct trace *trace, const struct dependencies *path,
                  struct trace_span span, FILE *out) {
    struct texts texts = texts_of(trace);
    texts.path = path;
    const struct chrome_run run = {.trace = trace,
                                   .calls = write_calls,
                                   .context = &texts,
                                   .groups = path ? write_path : NULL};
    chrome_write_run(&run, span, out);
    texts_free(&texts, trace->n_contexts);
}
