#include "cli/report/chrome.h"

#include <jansson.h>
#include <stdlib.h>

#include "base/map.h"
#include "base/memory.h"
#include "cli/report/site_name.h"
#include "cli/text/demangle.h"

/* Track groups. */
enum { GROUP_THREADS = 1, GROUP_CORES = 2 };

/* What is said of one context or object again and again, as JSON string literals. */
struct texts {
    struct {
        char **items;
        size_t count, capacity;
    } objects;
    struct map object_index;               /* by object_key() */
    char **functions, **places, **callers; /* one per context */
};

struct writer {
    const struct trace *trace;
    struct trace_span span;
    struct texts texts;
    unsigned arrows;
    FILE *out;
};

static bool is_inside(const struct writer *writer, uint64_t from_ns, uint64_t to_ns) {
    return to_ns >= writer->span.from_ns && from_ns <= writer->span.to_ns;
}

/* ---- texts ---- */

/* A JSON string literal, freed by the caller. Names that are not UTF-8 become "?". */
static char *quote(const char *text) {
    char *readable = demangle_words(text ? text : "?");
    json_t *json = json_string(readable);
    if (!json)
        json = json_string("?");
    char *literal = json_dumps(json, JSON_ENCODE_ANY);
    json_decref(json);
    free(readable);
    return literal;
}

/* The same of a text that it frees. */
static char *quote_own(char *text) {
    char *literal = quote(text);
    free(text);
    return literal;
}

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
    *VECTOR_ADD(&texts->objects) = quote_own(memory_format(
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
        texts.functions[i] = quote(context->n_frames ? context->frames[0].function : NULL);
        texts.places[i] = quote_own(site_name(trace, (uint32_t)i));
        texts.callers[i] = quote_own(caller_name(context));
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

/* "worker 3", freed by the caller. */
static char *thread_label(const struct trace_thread *thread) {
    return memory_format("%s %d", thread->start_routine ? thread->start_routine : "?",
                         thread->index);
}

/* ---- events; times in microseconds ---- */

static void write_name(FILE *out, const char *kind, int group, int track, const char *name) {
    char *literal = quote(name);
    fprintf(out, "{\"ph\":\"M\",\"name\":\"%s\",\"pid\":%d,\"tid\":%d,\"args\":{\"name\":%s}},\n",
            kind, group, track, literal);
    free(literal);
}

static void write_time(FILE *out, const char *key, uint64_t time_ns) {
    fprintf(out, "\"%s\":%llu.%03llu", key, (unsigned long long)(time_ns / 1000),
            (unsigned long long)(time_ns % 1000));
}

/* A complete event up to its args, which the caller writes and ends; `literal` is quoted. */
static void begin_event(FILE *out, int group, int track, const char *literal, uint64_t start_ns,
                        uint64_t duration_ns) {
    fprintf(out, "{\"ph\":\"X\",\"pid\":%d,\"tid\":%d,\"name\":%s,", group, track, literal);
    write_time(out, "ts", start_ns);
    fputc(',', out);
    write_time(out, "dur", duration_ns);
    fputs(",\"args\":{", out);
}

static void end_event(FILE *out) {
    fputs("}},\n", out);
}

/* `phase`: 's' where the arrow starts, 'f' where it ends, on what is on that core then. */
static void write_arrow_end(FILE *out, char phase, unsigned arrow, uint32_t cpu, uint64_t time_ns) {
    fprintf(out,
            "{\"ph\":\"%c\",\"bp\":\"e\",\"cat\":\"wake-up\",\"name\":\"wakes\",\"id\":%u,"
            "\"pid\":%d,\"tid\":%u,",
            phase, arrow, GROUP_CORES, cpu);
    write_time(out, "ts", time_ns);
    fputs("},\n", out);
}

/* ---- calls ---- */

static void write_call_arguments(const struct writer *writer, const struct trace_record *record) {
    const struct texts *texts = &writer->texts;
    int object = map_get(&texts->object_index, object_key(record), -1);
    fprintf(writer->out, "\"value\":%d", record->value);
    if (record->context != TRACE_NO_CONTEXT)
        fprintf(writer->out, ",\"place\":%s,\"caller\":%s", texts->places[record->context],
                texts->callers[record->context]);
    if (object >= 0)
        fprintf(writer->out, ",\"object\":%s", texts->objects.items[object]);
    else if (api_catalog[record->api].object == ON_FILE ||
             api_catalog[record->api].object == ON_SOCKET)
        fprintf(writer->out, ",\"descriptor\":%llu", (unsigned long long)record->object);
}

static void write_calls(const struct writer *writer, const struct trace_thread *thread) {
    for (size_t i = 0; i < thread->n_records; i++) {
        const struct trace_record *record = &thread->records[i];
        if (record->duration_ns == 0 || !is_inside(writer, record->start_ns, trace_end_ns(record)))
            continue;
        /* Both are literals: joined inside the quotes. */
        const char *function = record->context == TRACE_NO_CONTEXT
                                   ? "\"?\""
                                   : writer->texts.functions[record->context];
        char *name = memory_format("\"%s in %s", api_catalog[record->api].name, function + 1);
        begin_event(writer->out, GROUP_THREADS, thread->index, name, record->start_ns,
                    record->duration_ns);
        write_call_arguments(writer, record);
        end_event(writer->out);
        free(name);
    }
}

/* ---- cores ---- */

/* Its time on a core that `time_ns` falls into, or NULL. */
static const struct trace_slice *slice_at(const struct trace_thread *thread, uint64_t time_ns) {
    size_t begun = trace_slices_begun(thread, time_ns);
    const struct trace_slice *slice = begun > 0 ? &thread->slices[begun - 1] : NULL;
    return slice && time_ns <= slice->off_ns ? slice : NULL;
}

/* Who woke it, or NULL where that is not known, or was an interrupt that came upon somebody. */
static const struct trace_thread *waker_of(const struct trace *trace,
                                           const struct trace_slice *slice) {
    bool is_known = slice->waker > 0 && slice->waker <= trace->n_threads && !slice->in_interrupt;
    return is_known ? &trace->threads[slice->waker - 1] : NULL;
}

static void write_arrow(struct writer *writer, const struct trace_slice *slice) {
    const struct trace_thread *waker = waker_of(writer->trace, slice);
    const struct trace_slice *from = waker ? slice_at(waker, slice->wake_ns) : NULL;
    if (!from || !is_inside(writer, from->on_ns, from->off_ns))
        return;
    writer->arrows++;
    write_arrow_end(writer->out, 's', writer->arrows, from->cpu, slice->wake_ns);
    write_arrow_end(writer->out, 'f', writer->arrows, slice->cpu, slice->on_ns);
}

static void write_slice_arguments(const struct writer *writer, const struct trace_slice *slice) {
    const struct trace_thread *waker = waker_of(writer->trace, slice);
    fprintf(writer->out, "\"then\":\"%s\"", slice->preempted ? "preempted" : "blocked");
    if (slice->wake_ns > 0) {
        fputc(',', writer->out);
        write_time(writer->out, "waited for the core (us)",
                   slice->on_ns > slice->wake_ns ? slice->on_ns - slice->wake_ns : 0);
    }
    if (waker) {
        char *name = quote_own(thread_label(waker));
        fprintf(writer->out, ",\"woken by\":%s", name);
        free(name);
    }
}

static void write_slices(struct writer *writer, const struct trace_thread *thread) {
    char *name = quote_own(thread_label(thread));
    for (size_t i = 0; i < thread->n_slices; i++) {
        const struct trace_slice *slice = &thread->slices[i];
        if (!is_inside(writer, slice->on_ns, slice->off_ns))
            continue;
        begin_event(writer->out, GROUP_CORES, (int)slice->cpu, name, slice->on_ns,
                    slice->off_ns - slice->on_ns);
        write_slice_arguments(writer, slice);
        end_event(writer->out);
        write_arrow(writer, slice);
    }
    free(name);
}

static void write_core_names(const struct trace *trace, FILE *out) {
    struct map named = MAP_EMPTY;
    for (size_t i = 0; i < trace->n_threads; i++)
        for (size_t j = 0; j < trace->threads[i].n_slices; j++) {
            uint32_t cpu = trace->threads[i].slices[j].cpu;
            if (map_get(&named, cpu, 0))
                continue;
            map_put(&named, cpu, 1);
            char *name = memory_format("core %u", cpu);
            write_name(out, "thread_name", GROUP_CORES, (int)cpu, name);
            free(name);
        }
    map_free(&named);
}

void chrome_write(const struct trace *trace, struct trace_span span, FILE *out) {
    struct writer writer = {.trace = trace, .span = span, .texts = texts_of(trace), .out = out};
    fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n", out);
    write_name(out, "process_name", GROUP_CORES, 0, "cores");
    write_core_names(trace, out);
    for (size_t i = 0; i < trace->n_threads; i++) {
        const struct trace_thread *thread = &trace->threads[i];
        char *label = thread_label(thread);
        write_name(out, "thread_name", GROUP_THREADS, thread->index, label);
        free(label);
        write_calls(&writer, thread);
        write_slices(&writer, thread);
    }
    char *program = quote(trace->meta.n_args ? trace->meta.args[0] : "program");
    fprintf(out, "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":%d,\"args\":{\"name\":%s}}\n]}\n",
            GROUP_THREADS, program);
    free(program);
    texts_free(&writer.texts, trace->n_contexts);
}
