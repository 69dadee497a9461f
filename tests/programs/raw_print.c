/* raw_print FOLDER: the records of a raw trace as text, for the shell tests. Reads as tracer/raw.h
 * says, and fails when a record makes no sense. A line per record, by thread and time:
 *     record PREFIX THREAD API FLAGS START DURATION OBJECT VALUE RETURN_ADDRESS...
 * and before them
 *     process PREFIX FLAGS THREADS LOST
 *     thread PREFIX INDEX CREATOR ENDED LOST RECORDS */
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/trace.h"
#include "tracer/raw.h"

static const char *folder;

static void fail(const char *what, const char *name) {
    fprintf(stderr, "raw_print: %s: %s\n", name, what);
    exit(1);
}

/* The whole file, zero-padded to at least `least` bytes; NULL if there is none. */
static char *read_file(const char *prefix, const char *suffix, size_t least, size_t *bytes) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s%s", folder, prefix, suffix);
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return NULL;
    fseek(file, 0, SEEK_END);
    *bytes = (size_t)ftell(file);
    rewind(file);
    char *content = calloc(1, *bytes + least);
    if (content == NULL || fread(content, 1, *bytes, file) != *bytes)
        fail("cannot read", path);
    fclose(file);
    return content;
}

static int by_start(const void *a, const void *b) {
    const struct raw_record *x = a;
    const struct raw_record *y = b;
    return (x->start > y->start) - (x->start < y->start);
}

static void print_record(const char *prefix, int index, const struct raw_record *record,
                         const struct raw_contexts *contexts) {
    if (record->api >= API_COUNT)
        fail("a record without a function", prefix);
    printf("record %s %d %s %d %" PRIu64 " %" PRIu64 " %" PRIx64 " %d", prefix, index,
           api_catalog[record->api].name, record->flags, record->start, (uint64_t)record->duration,
           (uint64_t)record->object, record->value);
    if (record->context != TRACE_NO_CONTEXT) {
        if (record->context >= contexts->count)
            fail("a record without a context", prefix);
        const struct raw_context *context = &contexts->entries[record->context];
        if (context->depth == 0 || context->depth > RAW_MAX_DEPTH)
            fail("an unused context is used", prefix);
        for (uint32_t i = 0; i < context->depth; i++)
            printf(" %" PRIx64, context->addresses[i]);
    }
    printf("\n");
}

static void print_thread(const char *prefix, int index, const struct raw_contexts *contexts) {
    char suffix[64];
    size_t bytes;
    snprintf(suffix, sizeof suffix, ".t%d.records", index);
    char *content = read_file(prefix, suffix, RAW_HEADER_SIZE, &bytes);
    if (content == NULL)
        return;
    const struct raw_thread *thread = (struct raw_thread *)content;
    struct raw_record *records = (struct raw_record *)(content + RAW_HEADER_SIZE);
    size_t n = bytes < RAW_HEADER_SIZE ? 0 : (bytes - RAW_HEADER_SIZE) / sizeof *records;
    size_t used = 0;
    for (size_t i = 0; i < n; i++)
        if (records[i].start != 0)
            records[used++] = records[i];
    qsort(records, used, sizeof *records, by_start);
    printf("thread %s %d %d %d %" PRIu64 " %zu\n", prefix, index, thread->creator,
           thread->end_ticks != 0, thread->lost, used);
    for (size_t i = 0; i < used; i++)
        print_record(prefix, index, &records[i], contexts);
    free(content);
}

static void print_process(const char *prefix) {
    size_t bytes;
    char *content = read_file(prefix, ".process", RAW_HEADER_SIZE, &bytes);
    char *contexts = read_file(prefix, ".contexts", sizeof(struct raw_context), &bytes);
    const struct raw_process *process = (struct raw_process *)content;
    if (process == NULL || process->magic != RAW_MAGIC || process->version != RAW_VERSION)
        fail("not a raw trace", prefix);
    printf("process %s %u %u %" PRIu64 "\n", prefix, process->flags, process->n_threads,
           process->lost);
    if (contexts != NULL)
        for (uint32_t i = 0; i < process->n_threads; i++)
            print_thread(prefix, (int)i, (struct raw_contexts *)contexts);
    free(content);
    free(contexts);
}

int main(int argc, char **argv) {
    folder = argc == 2 ? argv[1] : ".";
    struct dirent **names;
    int n = scandir(folder, &names, NULL, alphasort);
    if (n < 0)
        fail("no such folder", folder);
    for (int i = 0; i < n; i++) {
        char *suffix = strstr(names[i]->d_name, ".process");
        if (suffix != NULL) {
            *suffix = '\0';
            print_process(names[i]->d_name);
        }
        free(names[i]);
    }
    free(names);
    return 0;
}
