/* What the probe library left of one program image (tracer/raw.h), read into memory. */
#ifndef PERSIK_TRACER_IMAGE_H
#define PERSIK_TRACER_IMAGE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "tracer/raw.h"

struct image_thread {
    struct raw_thread head;
    size_t n_records;
    struct raw_record *records; /* in order of start, unused ones left out */
};

struct image {
    char *prefix; /* "p1234" */
    struct raw_process process;
    size_t n_contexts;
    struct raw_context *contexts; /* those of depth 0 are unused */
    size_t n_values;
    struct raw_value *values; /* unused ones among them */
    size_t n_threads;
    struct image_thread *threads; /* in order of index; some may be missing */
    char *maps;
};

struct images {
    size_t count, capacity;
    struct image *items; /* by start */
};

/* Reads all of `directory`. Files that are cut off give what is in them. Returns 0 also when there
 * is none; -1 and `error` when the folder cannot be read. */
int images_read(struct images *images, const char *directory, struct error *error);

/* Ends the records of one thread; they are most of the memory. */
void image_thread_free(struct image_thread *thread);

void images_free(struct images *images);

/* Deletes the files and the folder. */
void images_delete(const char *directory);

#endif
