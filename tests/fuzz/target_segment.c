/* What the collector reads of the memory that it shares with the program (tracer/raw.h): first the
 * tables, then chunks of records, made into a trace.
 *
 * The input is the numbers of entries that the program claims, then for each table how many
 * entries follow, then these entries, then records. The segment itself has 17 MB, nearly all zero.
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "tests/fuzz/fuzz.h"
#include "tracer/convert.h"
#include "tracer/image.h"
#include "tracer/segment.h"

struct head {
    uint32_t n_images, n_modules, n_contexts;       /* as the program claims */
    uint8_t images, modules, contexts, chunk_limit; /* what follows; records of a chunk, 0: all */
};

struct segment {
    struct raw_segment shared;
    size_t n_chunks;
    struct raw_record *records;
};

const struct raw_segment *segment_shared(const struct segment *segment) {
    return &segment->shared;
}

const struct raw_record *segment_records(struct segment *segment, size_t *n_chunks) {
    *n_chunks = segment->n_chunks;
    return segment->records;
}

/* ---- from the input to the segment ---- */

struct input {
    const uint8_t *data;
    size_t size;
};

static size_t take(struct input *input, void *to, size_t wanted) {
    size_t n = wanted < input->size ? wanted : input->size;
    if (n > 0)
        memcpy(to, input->data, n);
    input->data += n;
    input->size -= n;
    return n;
}

static void take_chunks(struct input *input, struct segment *segment, size_t limit) {
    const size_t bytes = (limit && limit < RAW_CHUNK_RECORDS ? limit : RAW_CHUNK_RECORDS) *
                         sizeof(struct raw_record);
    segment->n_chunks = input->size / bytes + (input->size % bytes != 0);
    segment->records =
        memory_alloc(segment->n_chunks * RAW_CHUNK_RECORDS, sizeof *segment->records);
    for (size_t i = 0; i < segment->n_chunks; i++)
        take(input, segment->records + i * RAW_CHUNK_RECORDS, bytes);
}

/* It stays where it is, for it is large; what the last input left there goes. */
static struct segment *make_segment(struct input input) {
    static struct segment segment;
    struct head head = {0};
    struct raw_segment *shared = &segment.shared;
    memset(shared->images, 0, sizeof shared->images);
    memset(shared->modules, 0, sizeof shared->modules);
    memset(shared->contexts, 0, UINT8_MAX * sizeof *shared->contexts);
    take(&input, &head, sizeof head);
    shared->n_images = head.n_images;
    shared->n_modules = head.n_modules;
    shared->n_contexts = head.n_contexts;
    take(&input, shared->images, head.images * sizeof *shared->images);
    take(&input, shared->modules, head.modules * sizeof *shared->modules);
    take(&input, shared->contexts, head.contexts * sizeof *shared->contexts);
    take_chunks(&input, &segment, head.chunk_limit);
    return &segment;
}

/* ---- the reader ---- */

uint8_t *fuzz_seed(const char *path, size_t *size) {
    return fuzz_whole(path, size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct segment *segment = make_segment((struct input){data, size});
    /* What is read is the segment, of which the input holds what is not zero. */
    fuzz_begin(sizeof segment->shared + segment->n_chunks * sizeof *segment->shared.chunks);
    struct images images = {0};
    struct trace *trace = memory_alloc(1, sizeof *trace);
    struct lacks lacks = {0};
    struct timebase_pair pairs[] = {{0, 0}, {1000000, 2000000}};
    const struct timebase timebase = {.count = 2, .capacity = 2, .items = pairs};
    const struct looks looks = {0};
    images_read(&images, segment);
    const struct convert_input input = {.images = &images,
                                        .timebase = &timebase,
                                        .looks = &looks,
                                        .start_mono_ns = 1000,
                                        .end_mono_ns = 1000000};
    size_t n_records = 0;
    convert(trace, &input, &lacks);
    for (size_t t = 0; t < trace->n_threads; t++)
        n_records += trace->threads[t].n_records;
    fuzz_done(n_records > 0);
    images_free(&images);
    trace_free(trace);
    lacks_cut(&lacks, 0);
    free(lacks.items);
    free(segment->records);
    return 0;
}
