#include "tracer/image.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"

/* ---- files ---- */

/* Whole file with a '\0' behind it; NULL when there is none. */
static char *read_whole(const char *directory, const char *name, size_t *bytes) {
    char *path = memory_format("%s/%s", directory, name);
    FILE *file = fopen(path, "rbe");
    free(path);
    *bytes = 0;
    if (!file)
        return NULL;
    struct stat status = {0};
    fstat(fileno(file), &status);
    size_t size = status.st_size > 0 ? (size_t)status.st_size : 0;
    char *content = memory_alloc(size + 1, 1);
    *bytes = fread(content, 1, size, file);
    fclose(file);
    return content;
}

static bool ends_with(const char *text, const char *ending) {
    size_t length = strlen(text);
    size_t ending_length = strlen(ending);
    return length > ending_length && strcmp(text + length - ending_length, ending) == 0;
}

/* ---- threads ---- */

static int compare_records(const void *left, const void *right) {
    const struct raw_record *a = left;
    const struct raw_record *b = right;
    return (a->start > b->start) - (a->start < b->start);
}

/* Leaves out unused records, sorts, and leaves out the second of two equal ones, which are there
 * when the program was killed between copying its window and emptying it. */
static size_t tidy_records(struct raw_record *records, size_t n) {
    size_t used = 0;
    bool sorted = true;
    for (size_t i = 0; i < n; i++) {
        if (records[i].start == 0)
            continue;
        if (used > 0 && records[i].start < records[used - 1].start)
            sorted = false;
        records[used++] = records[i];
    }
    if (!sorted)
        qsort(records, used, sizeof *records, compare_records);
    size_t kept = 0;
    for (size_t i = 0; i < used; i++)
        if (kept == 0 || memcmp(&records[i], &records[kept - 1], sizeof *records) != 0)
            records[kept++] = records[i];
    return kept;
}

static int read_thread(struct image_thread *thread, const char *directory, const char *name) {
    size_t bytes;
    char *content = read_whole(directory, name, &bytes);
    if (!content || bytes < RAW_HEADER_SIZE) {
        free(content);
        return -1;
    }
    memcpy(&thread->head, content, sizeof thread->head);
    if (thread->head.magic != RAW_MAGIC || thread->head.version != RAW_VERSION) {
        free(content);
        return -1;
    }
    bytes -= RAW_HEADER_SIZE;
    memmove(content, content + RAW_HEADER_SIZE, bytes);
    thread->records = (struct raw_record *)content;
    thread->n_records = tidy_records(thread->records, bytes / sizeof *thread->records);
    thread->records = memory_resize(content, thread->n_records, sizeof *thread->records);
    return 0;
}

static int compare_threads(const void *left, const void *right) {
    const struct image_thread *a = left;
    const struct image_thread *b = right;
    return (a->head.index > b->head.index) - (a->head.index < b->head.index);
}

static void read_threads(struct image *image, const char *directory) {
    struct {
        size_t count, capacity;
        struct image_thread *items;
    } threads = {0};
    char *start = memory_format("%s.t", image->prefix);
    DIR *folder = opendir(directory);
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        if (strncmp(entry->d_name, start, strlen(start)) != 0 ||
            !ends_with(entry->d_name, ".records"))
            continue;
        struct image_thread thread = {0};
        if (read_thread(&thread, directory, entry->d_name) == 0)
            *VECTOR_ADD(&threads) = thread;
    }
    if (folder)
        closedir(folder);
    free(start);
    if (threads.count > 0)
        qsort(threads.items, threads.count, sizeof *threads.items, compare_threads);
    image->threads = threads.items;
    image->n_threads = threads.count;
}

void image_thread_free(struct image_thread *thread) {
    free(thread->records);
    thread->records = NULL;
    thread->n_records = 0;
}

/* ---- images ---- */

static void read_contexts(struct image *image, const char *directory) {
    size_t bytes;
    char *name = memory_format("%s.contexts", image->prefix);
    char *content = read_whole(directory, name, &bytes);
    free(name);
    if (!content || bytes < sizeof(struct raw_contexts)) {
        free(content);
        return;
    }
    const struct raw_contexts *contexts = (const struct raw_contexts *)content;
    size_t held = (bytes - sizeof *contexts) / sizeof *contexts->entries;
    image->n_contexts = contexts->count < held ? contexts->count : held;
    image->contexts = memory_alloc(image->n_contexts, sizeof *image->contexts);
    memcpy(image->contexts, contexts->entries, image->n_contexts * sizeof *image->contexts);
    for (size_t i = 0; i < image->n_contexts; i++)
        if (image->contexts[i].depth > RAW_MAX_DEPTH)
            image->contexts[i].depth = RAW_MAX_DEPTH;
    free(content);
}

static void read_values(struct image *image, const char *directory) {
    size_t bytes;
    char *name = memory_format("%s.values", image->prefix);
    image->values = (struct raw_value *)read_whole(directory, name, &bytes);
    image->n_values = bytes / sizeof *image->values;
    free(name);
}

static bool read_process(struct raw_process *process, const char *directory, const char *name) {
    size_t bytes;
    char *content = read_whole(directory, name, &bytes);
    bool whole = content && bytes >= sizeof *process;
    if (whole)
        memcpy(process, content, sizeof *process);
    free(content);
    return whole && process->magic == RAW_MAGIC && process->version == RAW_VERSION;
}

static int compare_images(const void *left, const void *right) {
    const struct image *a = left;
    const struct image *b = right;
    return (a->process.start.mono_ns > b->process.start.mono_ns) -
           (a->process.start.mono_ns < b->process.start.mono_ns);
}

static void read_image(struct images *images, const char *directory, const char *name) {
    struct image image = {0};
    if (!read_process(&image.process, directory, name))
        return;
    image.prefix = memory_strdup(name);
    image.prefix[strlen(name) - strlen(".process")] = '\0';
    read_contexts(&image, directory);
    read_values(&image, directory);
    read_threads(&image, directory);
    size_t bytes;
    char *maps = memory_format("%s.maps", image.prefix);
    image.maps = read_whole(directory, maps, &bytes);
    free(maps);
    *VECTOR_ADD(images) = image;
}

int images_read(struct images *images, const char *directory, struct error *error) {
    DIR *folder = opendir(directory);
    if (!folder)
        return error_set(error, "%s: %s: run `persik trace` again", directory, strerror(errno));
    for (struct dirent *entry; (entry = readdir(folder));)
        if (ends_with(entry->d_name, ".process"))
            read_image(images, directory, entry->d_name);
    closedir(folder);
    if (images->count > 0)
        qsort(images->items, images->count, sizeof *images->items, compare_images);
    return 0;
}

void images_free(struct images *images) {
    for (size_t i = 0; i < images->count; i++) {
        struct image *image = &images->items[i];
        for (size_t t = 0; t < image->n_threads; t++)
            image_thread_free(&image->threads[t]);
        free(image->threads);
        free(image->contexts);
        free(image->values);
        free(image->prefix);
        free(image->maps);
    }
    free(images->items);
    *images = (struct images){0};
}

void images_delete(const char *directory) {
    DIR *folder = opendir(directory);
    for (struct dirent *entry; folder && (entry = readdir(folder));)
        if (entry->d_name[0] == 'p' || strcmp(entry->d_name, RAW_WRAPS) == 0 ||
            strcmp(entry->d_name, RAW_LOOKS) == 0)
            unlinkat(dirfd(folder), entry->d_name, 0);
    if (folder)
        closedir(folder);
    rmdir(directory);
}
