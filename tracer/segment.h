/* The shared segment from the collector's side (tracer/raw.h): makes it, and while the program runs
 * takes full chunks out of it. */
#ifndef PERSIK_TRACER_SEGMENT_H
#define PERSIK_TRACER_SEGMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "tracer/raw.h"

struct segment;

/* Makes and allocates DIRECTORY/segment and opens DIRECTORY/records. Less room than usual under a
 * limit on address space. NULL and `error`: no room, or a file system that cannot promise any. */
struct segment *segment_create(const char *directory, bool follow, struct error *error);

/* Which process is recorded. Call before it starts. */
void segment_set_target(struct segment *segment, int32_t pid);

/* Starts and ends the thread that takes full chunks out of the segment. Without it chunks run out
 * and records are lost. */
void segment_start(struct segment *segment);
void segment_stop(struct segment *segment);

/* What is still in the segment goes to the records as well. Processes that go on write in vain. */
void segment_finish(struct segment *segment);

/* What the program may still be writing: copy before you look. Valid until segment_free(). */
const struct raw_segment *segment_shared(const struct segment *segment);

/* The chunks taken out, all of RAW_CHUNK_RECORDS records; NULL and 0 when there are none. Valid
 * until segment_free(). */
const struct raw_record *segment_records(struct segment *segment, size_t *n_chunks);

/* errno of the first chunk that could not be written; 0: none. */
int segment_failure(const struct segment *segment);

/* Ends it; NULL is allowed. The files stay. */
void segment_free(struct segment *segment);

#endif
