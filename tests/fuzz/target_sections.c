/* trace.persik from the inside: its checksums keep what is mutated outside from getting far. The
 * input is the header's text, a zero, and then the heads and the unpacked items of sections; what
 * it packs to is a file whose frames are all right. */
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "formats/trace.h"
#include "formats/trace_file.h"
#include "tests/fuzz/fuzz.h"

struct packed {
    uint8_t *bytes;
    size_t size, capacity;
};

static void put(struct packed *packed, const void *from, size_t n) {
    if (packed->capacity - packed->size < n) {
        packed->capacity = 2 * (packed->size + n);
        packed->bytes = realloc(packed->bytes, packed->capacity);
    }
    memcpy(packed->bytes + packed->size, from, n);
    packed->size += n;
}

static void put_section(struct packed *packed, struct trace_section section, const uint8_t *items,
                        size_t bytes) {
    size_t bound = ZSTD_compressBound(bytes);
    uint8_t *frame = malloc(bound);
    section.stored = ZSTD_compress(frame, bound, items, bytes, 1);
    put(packed, &section, sizeof section);
    put(packed, frame, section.stored);
    free(frame);
}

static struct packed pack(const uint8_t *data, size_t size) {
    struct packed packed = {0};
    struct trace_preamble preamble = {.version = TRACE_VERSION};
    memcpy(preamble.magic, TRACE_MAGIC, sizeof preamble.magic);
    put(&packed, &preamble, sizeof preamble);
    size_t text = size ? strnlen((const char *)data, size) : 0;
    struct trace_section section = {.kind = SECTION_HEADER, .items = 1, .bytes = text};
    put_section(&packed, section, data, text);
    for (size_t at = text + 1; at < size && size - at >= sizeof section;) {
        memcpy(&section, data + at, sizeof section);
        at += sizeof section;
        if (section.kind == SECTION_END) {
            put(&packed, &section, sizeof section);
            continue;
        }
        size_t bytes = section.bytes < size - at ? section.bytes : size - at;
        put_section(&packed, section, data + at, bytes);
        at += bytes;
    }
    return packed;
}

uint8_t *fuzz_seed(const char *path, size_t *size) {
    size_t n;
    uint8_t *file = fuzz_whole(path, &n);
    struct packed plain = {0};
    struct trace_section section;
    for (size_t at = sizeof(struct trace_preamble); n - at >= sizeof section;) {
        memcpy(&section, file + at, sizeof section);
        at += sizeof section;
        uint8_t *items = malloc(section.bytes + 1);
        ZSTD_decompress(items, section.bytes, file + at, section.stored);
        at += section.stored;
        if (section.kind != SECTION_HEADER)
            put(&plain, &section, sizeof section);
        put(&plain, items, section.bytes);
        if (section.kind == SECTION_HEADER)
            put(&plain, "", 1);
        free(items);
    }
    free(file);
    *size = plain.size;
    return plain.bytes;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct packed packed = pack(data, size);
    struct error error = {0};
    struct trace *trace = trace_load(fuzz_file(packed.bytes, packed.size), &error);
    fuzz_done(trace != NULL);
    trace_free(trace);
    free(packed.bytes);
    return 0;
}
