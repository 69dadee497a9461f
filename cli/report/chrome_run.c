#include "cli/report/chrome_run.h"

#include <jansson.h>
#include <stdlib.h>

#include "base/map.h"
#include "base/memory.h"
#include "cli/text/demangle.h"

char *chrome_quote(const char *text) {
    char *readable = demangle_words(text ? text : "?");
    json_t *json = json_string(readable);
    if (!json)
        json = json_string("?");
    char *literal = json_dumps(json, JSON_ENCODE_ANY);
    json_decref(json);
    free(readable);
    return literal;
}

char *chrome_quote_own(char *text) {
    char *literal = chrome_quote(text);
    free(text);
    return literal;
}

/* ---- events; times in microseconds ---- */

void chrome_name(FILE *out, const char *kind, int group, int track, const char *name) {
    char *literal = chrome_quote(name);
    fprintf(out, "{\"ph\":\"M\",\"name\":\"%s\",\"pid\":%d,\"tid\":%d,\"args\":{\"name\":%s}},\n",
            kind, group, track, literal);
    free(literal);
}

static void write_time(FILE *out, const char *key, uint64_t time_ns) {
    fprintf(out, "\"%s\":%llu.%03llu", key, (unsigned long long)(time_ns / 1000),
            (unsigned long long)(time_ns % 1000));
}

void chrome_begin(FILE *out, int group, int track, const char *literal, uint64_t start_ns,
                  uint64_t duration_ns) {
    fprintf(out, "{\"ph\":\"X\",\"pid\":%d,\"tid\":%d,\"name\":%s,", group, track, literal);
    write_time(out, "ts", start_ns);
    fputc(',', out);
    write_time(out, "dur", duration_ns);
    fputs(",\"args\":{", out);
}

void chrome_end(FILE *out) {
    fputs("}},\n", out);
}

void chrome_open(FILE *out) {
    fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n", out);
}

void chrome_close(FILE *out, int group, const char *name) {
    char *literal = chrome_quote(name);
    fprintf(out, "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":%d,\"args\":{\"name\":%s}}\n]}\n",
            group, literal);
    free(literal);
}

/* `phase`: 's' where the arrow starts, 'f' where it ends, on what is on that track then. */
static void write_arrow_end(FILE *out, const struct chrome_arrow_kind *kind, char phase,
                            unsigned number, uint32_t track, uint64_t time_ns) {
    fprintf(out,
            "{\"ph\":\"%c\",\"bp\":\"e\",\"cat\":\"%s\",\"name\":\"%s\",\"id\":%u,"
            "\"pid\":%d,\"tid\":%u,",
            phase, kind->category, kind->name, number, kind->group, track);
    write_time(out, "ts", time_ns);
    fputs("},\n", out);
}

void chrome_arrow(FILE *out, const struct chrome_arrow_kind *kind, unsigned number, uint32_t from,
                  uint64_t from_ns, uint32_t to, uint64_t to_ns) {
    write_arrow_end(out, kind, 's', number, from, from_ns);
    write_arrow_end(out, kind, 'f', number, to, to_ns);
}

static const struct chrome_arrow_kind wake_up = {CHROME_CORES, "wake-up", "wakes"};

struct writer {
    const struct chrome_run *run;
    struct trace_span span;
    unsigned arrows;
    FILE *out;
};

bool chrome_is_inside(struct trace_span span, uint64_t from_ns, uint64_t to_ns) {
    return to_ns >= span.from_ns && from_ns <= span.to_ns;
}

/* "worker 3", freed by the caller. */
static char *thread_label(const struct trace_thread *thread) {
    return memory_format("%s %d", thread->start_routine ? thread->start_routine : "?",
                         thread->index);
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
    const struct trace_thread *waker = waker_of(writer->run->trace, slice);
    const struct trace_slice *from = waker ? slice_at(waker, slice->wake_ns) : NULL;
    if (!from || !chrome_is_inside(writer->span, from->on_ns, from->off_ns))
        return;
    writer->arrows++;
    chrome_arrow(writer->out, &wake_up, writer->arrows, from->cpu, slice->wake_ns, slice->cpu,
                 slice->on_ns);
}

static void write_slice_arguments(const struct writer *writer, const struct trace_slice *slice) {
    const struct trace_thread *waker = waker_of(writer->run->trace, slice);
    fprintf(writer->out, "\"then\":\"%s\"", slice->preempted ? "preempted" : "blocked");
    if (slice->wake_ns > 0) {
        fputc(',', writer->out);
        write_time(writer->out, "waited for the core (us)",
                   slice->on_ns > slice->wake_ns ? slice->on_ns - slice->wake_ns : 0);
    }
    if (waker) {
        char *name = chrome_quote_own(thread_label(waker));
        fprintf(writer->out, ",\"woken by\":%s", name);
        free(name);
    }
}

static void write_slices(struct writer *writer, const struct trace_thread *thread) {
    char *name = chrome_quote_own(thread_label(thread));
    for (size_t i = 0; i < thread->n_slices; i++) {
        const struct trace_slice *slice = &thread->slices[i];
        if (!chrome_is_inside(writer->span, slice->on_ns, slice->off_ns))
            continue;
        chrome_begin(writer->out, CHROME_CORES, (int)slice->cpu, name, slice->on_ns,
                     slice->off_ns - slice->on_ns);
        write_slice_arguments(writer, slice);
        chrome_end(writer->out);
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
            chrome_name(out, "thread_name", CHROME_CORES, (int)cpu, name);
            free(name);
        }
    map_free(&named);
}

void chrome_write_run(const struct chrome_run *run, struct trace_span span, FILE *out) {
    const struct trace *trace = run->trace;
    struct writer writer = {.run = run, .span = span, .out = out};
    chrome_open(out);
    chrome_name(out, "process_name", CHROME_CORES, 0, "cores");
    write_core_names(trace, out);
    for (size_t i = 0; i < trace->n_threads; i++) {
        const struct trace_thread *thread = &trace->threads[i];
        char *label = thread_label(thread);
        chrome_name(out, "thread_name", CHROME_THREADS, thread->index, label);
        free(label);
        run->calls(run->context, thread, span, out);
        write_slices(&writer, thread);
    }
    if (run->groups)
        run->groups(run->context, span, out);
    chrome_close(out, CHROME_THREADS, trace->meta.n_args ? trace->meta.args[0] : "program");
}
