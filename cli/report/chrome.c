#include "cli/report/chrome.h"

#include <jansson.h>
#include <stdlib.h>

#include "base/memory.h"

/* Track groups. */
enum { GROUP_THREADS = 1, GROUP_CORES = 2 };

/* A JSON string literal, freed by the caller. Names that are not UTF-8 become "?". */
static char *quote(const char *text) {
    json_t *json = json_string(text ? text : "?");
    if (!json)
        json = json_string("?");
    char *literal = json_dumps(json, JSON_ENCODE_ANY);
    json_decref(json);
    return literal;
}

static void write_name(FILE *out, const char *kind, int group, int track, const char *name) {
    char *literal = quote(name);
    fprintf(out, "{\"ph\":\"M\",\"name\":\"%s\",\"pid\":%d,\"tid\":%d,\"args\":{\"name\":%s}},\n",
            kind, group, track, literal);
    free(literal);
}

/* One complete event; `literal` is a quoted JSON string. Times in microseconds. */
static void write_event(FILE *out, int group, int track, const char *literal, uint64_t start_ns,
                        uint64_t duration_ns) {
    fprintf(out,
            "{\"ph\":\"X\",\"pid\":%d,\"tid\":%d,\"name\":%s,\"ts\":%llu.%03llu,"
            "\"dur\":%llu.%03llu}",
            group, track, literal, (unsigned long long)(start_ns / 1000),
            (unsigned long long)(start_ns % 1000), (unsigned long long)(duration_ns / 1000),
            (unsigned long long)(duration_ns % 1000));
}

/* Call sites' functions as literals, one per context. */
static char **quote_contexts(const struct trace *trace) {
    char **literals = memory_alloc(trace->n_contexts, sizeof *literals);
    for (size_t i = 0; i < trace->n_contexts; i++) {
        const struct trace_context *context = &trace->contexts[i];
        literals[i] = quote(context->n_frames ? context->frames[0].function : NULL);
    }
    return literals;
}

static void write_records(const struct trace_thread *thread, char *const *functions, FILE *out) {
    for (size_t i = 0; i < thread->n_records; i++) {
        const struct trace_record *record = &thread->records[i];
        if (record->duration_ns == 0)
            continue;
        /* Both are literals: joined inside the quotes. */
        const char *function =
            record->context == TRACE_NO_CONTEXT ? "\"?\"" : functions[record->context];
        char *name = memory_format("\"%s in %s", api_catalog[record->api].name, function + 1);
        write_event(out, GROUP_THREADS, thread->index, name, record->start_ns, record->duration_ns);
        fputs(",\n", out);
        free(name);
    }
}

static void write_slices(const struct trace_thread *thread, FILE *out) {
    char *label =
        memory_format("%s %d", thread->start_routine ? thread->start_routine : "?", thread->index);
    char *name = quote(label);
    for (size_t i = 0; i < thread->n_slices; i++) {
        const struct trace_slice *slice = &thread->slices[i];
        write_event(out, GROUP_CORES, (int)slice->cpu, name, slice->on_ns,
                    slice->off_ns - slice->on_ns);
        fputs(",\n", out);
    }
    free(name);
    free(label);
}

void chrome_write(const struct trace *trace, FILE *out) {
    char **functions = quote_contexts(trace);
    fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n", out);
    for (size_t i = 0; i < trace->n_threads; i++) {
        const struct trace_thread *thread = &trace->threads[i];
        write_name(out, "thread_name", GROUP_THREADS, thread->index, thread->start_routine);
        write_records(thread, functions, out);
        write_slices(thread, out);
    }
    write_name(out, "process_name", GROUP_CORES, 0, "cores");
    char *program = quote(trace->meta.n_args ? trace->meta.args[0] : "program");
    fprintf(out, "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":%d,\"args\":{\"name\":%s}}\n]}\n",
            GROUP_THREADS, program);
    free(program);
    for (size_t i = 0; i < trace->n_contexts; i++)
        free(functions[i]);
    free(functions);
}
