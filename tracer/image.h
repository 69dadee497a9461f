/* What the probe library left of one program image (tracer/raw.h), read into memory and checked: no
 * index leads out of its table, whatever the program has written. */
#ifndef PERSIK_TRACER_IMAGE_H
#define PERSIK_TRACER_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tracer/raw.h"
#include "tracer/segment.h"

struct image_thread {
    int32_t tid;
    int32_t index;                   /* within the image; 0 = its first thread */
    int32_t creator;                 /* index of the creating thread; -1 = none or unknown */
    uint32_t context;                /* of its creation; TRACE_NO_CONTEXT */
    uint64_t start_routine;          /* address; 0 = unknown */
    uint64_t start_ticks, end_ticks; /* 0 = not seen */
    uint64_t attach_from_ticks, attach_to_ticks; /* 0 = nothing */
    size_t n_records;
    struct raw_record *records; /* calls, in order of start */
};

/* What a variable held. */
struct image_value {
    uint64_t ticks;
    uint64_t mutex;
    uint32_t look;  /* its index */
    int32_t thread; /* index of who looked */
    uint64_t bits;
};

struct image {
    struct raw_image process;
    uint32_t number; /* of the images of this process: 0, 1 ... */
    size_t n_threads;
    struct image_thread *threads; /* in order of index; some may be missing */
    size_t n_values;
    struct image_value *values;
    char *maps; /* as /proc/PID/maps: a line per module */
};

struct images {
    size_t count;
    struct image *items; /* by start */
    size_t n_contexts;
    struct raw_context *contexts; /* of all; those of depth 0 are unused */
    uint32_t unseen;              /* images more that found no place */
};

/* Reads what the segment and its records hold, once segment_finish() was called. */
void images_read(struct images *images, struct segment *segment);

/* Ends the records of one thread; they are most of the memory. */
void image_thread_free(struct image_thread *thread);

void images_free(struct images *images);

/* Deletes the files and the folder. */
void images_delete(const char *directory);

#endif
