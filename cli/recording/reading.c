#include "cli/recording/reading.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/map.h"
#include "base/memory.h"
#include "cli/recording/workspace.h"
#include "formats/facts.h"
#include "formats/trace.h"
#include "tracer/tracer.h"

/* NULL: there is none. */
static struct trace *load_calls(const char *directory) {
    if (!workspace_has(directory, WORKSPACE_TRACE))
        return NULL;
    struct error unused; /* whoever needs the trace says what is wrong with it */
    char *path = workspace_path(directory, WORKSPACE_TRACE);
    struct trace *trace = trace_load_header(path, &unused);
    free(path);
    return trace;
}

/* ---- what is to be read ---- */

static json_t *list_libraries(const char *program) {
    json_t *list = json_array();
    size_t n;
    char **libraries = tracer_libraries(program, &n);
    for (size_t i = 0; i < n; i++) {
        json_array_append_new(list, json_string(libraries[i]));
        free(libraries[i]);
    }
    free(libraries);
    return list;
}

static void list_function(json_t *list, const char *name) {
    json_array_append_new(list, json_pack("{s:s}", "name", name));
}

/* Of the traced ones, those that debug information tells of. With neither samples nor a trace there
 * are none, which stands for all. */
static json_t *list_functions(const char *directory) {
    json_t *list = json_array();
    json_t *known = json_object();
    struct trace *trace = load_calls(directory);
    if (trace || workspace_has(directory, WORKSPACE_SAMPLE))
        list_function(list, "main");
    for (size_t c = 0; trace && c < trace->n_contexts; c++)
        for (size_t f = 0; f < trace->contexts[c].n_frames; f++) {
            const struct trace_frame *frame = &trace->contexts[c].frames[f];
            if (!frame->file || json_object_get(known, frame->function))
                continue;
            json_object_set_new(known, frame->function, json_true());
            list_function(list, frame->function);
        }
    trace_free(trace);
    json_decref(known);
    return list;
}

int reading_open(const char *program, const char *directory) {
    int file = memfd_create("reading", 0); /* inherited by what is started next */
    if (file < 0)
        return -1;
    json_t *root = json_pack("{s:o, s:o}", "functions", list_functions(directory), "libraries",
                             list_libraries(program));
    int status = root ? json_dumpfd(root, file, JSON_COMPACT) : -1;
    json_decref(root);
    if (status == 0)
        return file;
    close(file);
    return -1;
}

/* ---- what was left out ---- */

/* Texts by their hashes: one that is taken for another costs no more than not to be read. */
static bool holds(const struct map *texts, const char *text) {
    return map_get(texts, map_mix_text(0, text), 0) != 0;
}

static void put(struct map *texts, const char *text) {
    map_put(texts, map_mix_text(0, text), 1);
}

/* Debug information has one name for all lambdas; the facts tell them apart. */
static const char *as_in_trace(const char *function) {
    static const char operator[] = "operator()";
    return strncmp(function, operator, sizeof operator- 1) == 0 ? operator: function;
}

/* The call is made in the innermost function of an analysed file. */
static bool is_left_out(const struct trace_context *context, const struct map *files,
                        const struct map *functions) {
    for (size_t f = 0; f < context->n_frames; f++)
        if (context->frames[f].file && holds(files, context->frames[f].file))
            return !holds(functions, context->frames[f].function);
    return false;
}

static bool any_left_out(const struct trace *trace, const struct facts *facts) {
    struct map files = {0}, functions = {0};
    for (size_t i = 0; i < facts->n_files; i++)
        put(&files, facts->files[i]);
    for (size_t i = 0; i < facts->n_fragments; i++)
        if (facts->fragments[i].place.function)
            put(&functions, as_in_trace(facts->fragments[i].place.function));
    bool found = false;
    for (size_t c = 0; c < trace->n_contexts && !found; c++)
        found = is_left_out(&trace->contexts[c], &files, &functions);
    map_free(&files);
    map_free(&functions);
    return found;
}

bool reading_is_incomplete(const char *directory) {
    struct error unused;
    struct facts *facts;
    workspace_load_facts(directory, &facts, &unused);
    struct trace *trace = facts ? load_calls(directory) : NULL;
    bool incomplete = trace && any_left_out(trace, facts);
    trace_free(trace);
    facts_free(facts);
    return incomplete;
}
