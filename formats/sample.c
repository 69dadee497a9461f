/* struct sample <-> sample.json (docs/formats.md). Read strictly: a key that is missing or of the
 * wrong type, and an index that points nowhere, are refused by their place in the file. */
#include "formats/sample.h"

#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/output.h"
#include "base/room.h"
#include "formats/json_input.h"
#include "formats/json_place.h"

#define MEND "run `persik sample` again"

void sample_free(struct sample *sample) {
    if (!sample)
        return;
    for (size_t i = 0; i < sample->n_nodes; i++) {
        free(sample->nodes[i].function);
        free(sample->nodes[i].file);
        free(sample->nodes[i].module);
    }
    for (size_t i = 0; i < sample->n_pools; i++) {
        free(sample->pools[i].name);
        free(sample->pools[i].threads);
    }
    for (size_t i = 0; i < sample->n_functions; i++) {
        free(sample->functions[i]);
        free(sample->function_files[i]);
    }
    for (size_t i = 0; i < sample->n_library_functions; i++)
        free(sample->library_functions[i]);
    for (size_t i = 0; i < sample->n_libraries; i++)
        free(sample->libraries[i]);
    free(sample->nodes);
    free(sample->pools);
    free(sample->functions);
    free(sample->function_files);
    free(sample->library_functions);
    free(sample->libraries);
    free(sample->program);
    free(sample);
}

/* ---- reading ---- */

/* An object being read, where it is, and where to tell what is wrong with it. */
struct reader {
    const json_t *json;
    const struct place *place;
    struct room *room; /* for what the file makes us allocate */
    struct error *error;
};

static int refuse(const struct reader *reader, const char *key, const char *what) {
    char where[256];
    place_text(PLACE_KEY(reader->place, key), where, sizeof where);
    return error_set(reader->error, "%s: %s: " MEND, where, what);
}

/* Whole numbers between `low` and `high`. */
static int read_whole(const struct reader *reader, const char *key, long long low, long long high,
                      long long *into) {
    const json_t *value = json_object_get(reader->json, key);
    if (!json_is_integer(value))
        return refuse(reader, key, "missing or not a whole number");
    *into = json_integer_value(value);
    return *into < low || *into > high ? refuse(reader, key, "out of range") : 0;
}

static int read_count(const struct reader *reader, const char *key, uint64_t *into) {
    long long value = 0;
    if (read_whole(reader, key, 0, LLONG_MAX, &value))
        return -1;
    *into = (uint64_t)value;
    return 0;
}

static int read_int(const struct reader *reader, const char *key, int low, int *into) {
    long long value = 0;
    if (read_whole(reader, key, low, INT_MAX, &value))
        return -1;
    *into = (int)value;
    return 0;
}

static int read_text(const struct reader *reader, const char *key, char **into) {
    const json_t *value = json_object_get(reader->json, key);
    if (!json_is_string(value))
        return refuse(reader, key, "missing or not a text");
    *into = memory_strdup(json_string_value(value));
    return 0;
}

static int read_optional_text(const struct reader *reader, const char *key, char **into) {
    return json_object_get(reader->json, key) ? read_text(reader, key, into) : 0;
}

static int read_array(const struct reader *reader, const char *key, const json_t **into) {
    *into = json_object_get(reader->json, key);
    return json_is_array(*into) ? 0 : refuse(reader, key, "missing or not a list");
}

/* `*into` gets room for `n` things of `size` bytes, zeroed, of the list under `key`. */
static int take_room(const struct reader *reader, const char *key, size_t n, size_t size,
                     void *into) {
    if (!room_take(reader->room, n, size))
        return refuse(reader, key, "holds more things than the file's size is for");
    void *block = memory_alloc(n, size);
    memcpy(into, &block, sizeof block);
    return 0;
}

static int read_node(const struct reader *reader, size_t index, struct sample_node *node) {
    if (read_int(reader, "parent", -1, &node->parent) ||
        read_text(reader, "function", &node->function) ||
        read_optional_text(reader, "file", &node->file) ||
        read_int(reader, "line", 0, &node->line) || read_text(reader, "module", &node->module) ||
        read_count(reader, "running", &node->running) ||
        read_count(reader, "blocked", &node->blocked))
        return -1;
    if (node->parent >= 0 && (size_t)node->parent >= index)
        return refuse(reader, "parent", "does not come before its child");
    return 0;
}

static int read_threads(const struct reader *reader, size_t n_threads, struct sample_pool *pool) {
    const json_t *list;
    if (read_array(reader, "threads", &list) ||
        take_room(reader, "threads", json_array_size(list), sizeof *pool->threads, &pool->threads))
        return -1;
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *value = json_array_get(list, i);
        long long thread = json_integer_value(value);
        if (!json_is_integer(value) || thread < 0 || (size_t)thread >= n_threads)
            return refuse(reader, "threads", "holds something that is no thread's index");
        pool->threads[pool->n_threads++] = (int)thread;
    }
    return 0;
}

static int read_pool(const struct reader *reader, size_t n_threads, struct sample_pool *pool) {
    return read_text(reader, "name", &pool->name) || read_threads(reader, n_threads, pool) ||
                   read_count(reader, "running", &pool->running) ||
                   read_count(reader, "blocked", &pool->blocked)
               ? -1
               : 0;
}

static int read_nodes(const struct reader *reader, struct sample *sample) {
    const json_t *list;
    if (read_array(reader, "nodes", &list) ||
        take_room(reader, "nodes", json_array_size(list), sizeof *sample->nodes, &sample->nodes))
        return -1;
    sample->n_nodes = json_array_size(list);
    for (size_t i = 0; i < sample->n_nodes; i++) {
        struct reader element = {json_array_get(list, i),
                                 PLACE_INDEX(PLACE_KEY(reader->place, "nodes"), i), reader->room,
                                 reader->error};
        if (read_node(&element, i, &sample->nodes[i]))
            return -1;
    }
    return 0;
}

static int read_pools(const struct reader *reader, struct sample *sample) {
    const json_t *list;
    if (read_array(reader, "pools", &list) ||
        take_room(reader, "pools", json_array_size(list), sizeof *sample->pools, &sample->pools))
        return -1;
    sample->n_pools = json_array_size(list);
    for (size_t i = 0; i < sample->n_pools; i++) {
        struct reader element = {json_array_get(list, i),
                                 PLACE_INDEX(PLACE_KEY(reader->place, "pools"), i), reader->room,
                                 reader->error};
        if (read_pool(&element, sample->n_threads, &sample->pools[i]))
            return -1;
    }
    return 0;
}

static int read_functions(const struct reader *reader, struct sample *sample) {
    const json_t *list;
    if (read_array(reader, "functions", &list))
        return -1;
    size_t n = json_array_size(list);
    if (take_room(reader, "functions", n, sizeof *sample->functions, &sample->functions) ||
        take_room(reader, "functions", n, sizeof *sample->function_files, &sample->function_files))
        return -1;
    sample->n_functions = n;
    for (size_t i = 0; i < n; i++) {
        struct reader element = {json_array_get(list, i),
                                 PLACE_INDEX(PLACE_KEY(reader->place, "functions"), i),
                                 reader->room, reader->error};
        if (read_text(&element, "name", &sample->functions[i]) ||
            read_optional_text(&element, "file", &sample->function_files[i]))
            return -1;
    }
    return 0;
}

static int read_texts(const struct reader *reader, const char *key, char ***texts, size_t *count) {
    const json_t *list;
    if (read_array(reader, key, &list))
        return -1;
    size_t n = json_array_size(list);
    if (take_room(reader, key, n, sizeof **texts, texts))
        return -1;
    *count = n;
    for (size_t i = 0; i < n; i++) {
        const char *text = json_string_value(json_array_get(list, i));
        if (!text)
            return refuse(reader, key, "holds something that is no text");
        (*texts)[i] = memory_strdup(text);
    }
    return 0;
}

/* Files of older versions do not name it. */
static void read_program(const struct reader *reader, struct sample *sample) {
    const char *program = json_string_value(json_object_get(reader->json, "program"));
    if (program)
        sample->program = memory_strdup(program);
}

/* Nor these. */
static int read_libraries(const struct reader *reader, struct sample *sample) {
    return json_object_get(reader->json, "libraries")
               ? read_texts(reader, "libraries", &sample->libraries, &sample->n_libraries)
               : 0;
}

/* Before anything else, so that a newer file is not blamed for its new form. */
static int read_version(const struct reader *reader, int *version) {
    const json_t *value = json_object_get(reader->json, "version");
    if (!json_is_integer(value) || json_integer_value(value) < 1)
        return refuse(reader, "version", "missing, so this is no sample file");
    if (json_integer_value(value) > SAMPLE_VERSION)
        return error_set(reader->error,
                         "version %lld is newer than this persik, which reads up to %d: use a "
                         "newer persik, or " MEND,
                         (long long)json_integer_value(value), SAMPLE_VERSION);
    *version = (int)json_integer_value(value);
    return 0;
}

static int read_sample(const struct reader *reader, struct sample *sample) {
    int n_threads;
    const json_t *rate = json_object_get(reader->json, "rate_hz");
    if (read_version(reader, &sample->version) ||
        read_int(reader, "exit_status", INT_MIN, &sample->exit_status))
        return -1;
    if (!json_is_number(rate) || !(json_number_value(rate) > 0))
        return refuse(reader, "rate_hz", "missing or not above 0");
    sample->rate_hz = json_number_value(rate);
    if (read_count(reader, "run_ns", &sample->run_ns) ||
        read_count(reader, "samples", &sample->samples) ||
        read_count(reader, "failed_unwinds", &sample->failed_unwinds) ||
        read_int(reader, "n_threads", 0, &n_threads))
        return -1;
    sample->n_threads = (size_t)n_threads;
    read_program(reader, sample);
    return read_pools(reader, sample) || read_functions(reader, sample) ||
                   read_texts(reader, "library_functions", &sample->library_functions,
                              &sample->n_library_functions) ||
                   read_libraries(reader, sample) || read_nodes(reader, sample)
               ? -1
               : 0;
}

struct sample *sample_load(const char *path, struct error *error) {
    struct room room;
    json_t *json = json_read_file(path, &room, "cannot open the samples",
                                  "run `persik sample` first", MEND, error);
    struct sample *sample = NULL;
    if (json) {
        struct reader reader = {json, NULL, &room, error};
        sample = memory_alloc(1, sizeof *sample);
        if (read_sample(&reader, sample)) {
            sample_free(sample);
            sample = NULL;
        }
    }
    json_decref(json);
    if (!sample)
        error_prefix(error, "%s", path);
    return sample;
}

/* ---- writing ---- */

static json_t *write_node(const struct sample *sample, size_t index) {
    const struct sample_node *node = &sample->nodes[index];
    return json_pack("{s:i, s:s, s:s*, s:i, s:s, s:I, s:I}", "parent", node->parent, "function",
                     node->function, "file", node->file, "line", node->line, "module", node->module,
                     "running", (json_int_t)node->running, "blocked", (json_int_t)node->blocked);
}

static json_t *write_pool(const struct sample *sample, size_t index) {
    const struct sample_pool *pool = &sample->pools[index];
    json_t *threads = json_array();
    for (size_t i = 0; i < pool->n_threads; i++)
        json_array_append_new(threads, json_integer(pool->threads[i]));
    return json_pack("{s:s, s:o, s:I, s:I}", "name", pool->name, "threads", threads, "running",
                     (json_int_t)pool->running, "blocked", (json_int_t)pool->blocked);
}

static json_t *write_function(const struct sample *sample, size_t index) {
    return json_pack("{s:s, s:s*}", "name", sample->functions[index], "file",
                     sample->function_files[index]);
}

static json_t *write_library_function(const struct sample *sample, size_t index) {
    return json_string(sample->library_functions[index]);
}

static json_t *write_library(const struct sample *sample, size_t index) {
    return json_string(sample->libraries[index]);
}

/* -1: it is not UTF-8. */
static int print_text(FILE *file, const char *key, const char *text) {
    json_t *json = json_string(text);
    char *quoted = json ? json_dumps(json, JSON_ENCODE_ANY) : NULL;
    json_decref(json);
    if (!quoted)
        return -1;
    fprintf(file, ",\n    \"%s\": %s", key, quoted);
    free(quoted);
    return 0;
}

/* One element per line: readable, and a difference between two files shows as lines. */
static int print_list(FILE *file, const char *key, const struct sample *sample, size_t count,
                      json_t *(*write)(const struct sample *, size_t)) {
    fprintf(file, ",\n    \"%s\": [", key);
    for (size_t i = 0; i < count; i++) {
        json_t *json = write(sample, i);
        char *line = json ? json_dumps(json, JSON_ENCODE_ANY) : NULL;
        json_decref(json);
        if (!line)
            return -1; /* a name that is not UTF-8 */
        fprintf(file, "%s\n        %s", i ? "," : "", line);
        free(line);
    }
    fprintf(file, "%s]", count ? "\n    " : "");
    return 0;
}

static int print_sample(FILE *file, const struct sample *sample) {
    fprintf(file, "{\n    \"version\": %d,\n    \"exit_status\": %d,\n    \"rate_hz\": %.15g,\n",
            SAMPLE_VERSION, sample->exit_status, sample->rate_hz);
    fprintf(file, "    \"run_ns\": %llu,\n    \"samples\": %llu,\n",
            (unsigned long long)sample->run_ns, (unsigned long long)sample->samples);
    fprintf(file, "    \"failed_unwinds\": %llu,\n    \"n_threads\": %zu",
            (unsigned long long)sample->failed_unwinds, sample->n_threads);
    if ((sample->program && print_text(file, "program", sample->program)) ||
        print_list(file, "pools", sample, sample->n_pools, write_pool) ||
        print_list(file, "functions", sample, sample->n_functions, write_function) ||
        print_list(file, "library_functions", sample, sample->n_library_functions,
                   write_library_function) ||
        print_list(file, "libraries", sample, sample->n_libraries, write_library) ||
        print_list(file, "nodes", sample, sample->n_nodes, write_node)) {
        errno = EILSEQ;
        return -1;
    }
    fputs("\n}\n", file);
    return ferror(file) ? -1 : 0;
}

int sample_save(const struct sample *sample, const char *path, struct error *error) {
    struct output output;
    int status = output_begin(&output, path);
    if (status == 0) {
        status = print_sample(output.file, sample);
        if (status)
            output_abandon(&output);
        else
            status = output_commit(&output);
    }
    if (status)
        error_set(error,
                  "%s: cannot write the samples: %s: free some space or choose another folder",
                  path, strerror(errno));
    return status;
}
