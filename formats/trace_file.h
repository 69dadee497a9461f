/* The sections that trace.persik is made of. docs/formats.md gives every byte. Private to formats/.
 *
 * Numbers are little-endian, as this x86-64-only tracer stores them. Each section is one zstd frame
 * with a checksum, at most TRACE_BLOCK_BYTES for all kinds but the header, so that neither side
 * holds more than that beside the trace itself. Padding is a section of no block requests, whose
 * frame is one that zstd skips. */
#ifndef PERSIK_FORMATS_TRACE_FILE_H
#define PERSIK_FORMATS_TRACE_FILE_H

#include <stdint.h>

#define TRACE_MAGIC       "PERSIKT1"
#define TRACE_BLOCK_BYTES (1u << 20)

enum trace_section_kind {
    SECTION_HEADER = 1, /* JSON */
    SECTION_RECORDS,    /* struct trace_record of one thread */
    SECTION_SLICES,     /* struct trace_slice of one thread */
    SECTION_BLOCKS,     /* struct trace_block_entry */
    SECTION_END,        /* nothing; `items` = number of sections before it */
    SECTION_PAGES       /* struct trace_pages */
};

/* At offset 0. */
struct trace_preamble {
    char magic[8];
    uint32_t version;
    uint32_t reserved; /* 0 */
};

/* Before each frame. */
struct trace_section {
    uint32_t kind;
    uint32_t thread; /* index into threads; 0 where there is none */
    uint64_t items;
    uint64_t bytes;  /* uncompressed */
    uint64_t stored; /* of the frame that follows */
};
_Static_assert(sizeof(struct trace_section) == 32, "as documented");

/* struct trace_block without holes. */
struct trace_block_entry {
    uint64_t queued_ns, issued_ns, completed_ns;
    uint32_t device;
    int32_t tid;
    uint32_t bytes;
    uint32_t kind;
};
_Static_assert(sizeof(struct trace_block_entry) == 40, "as documented");

#endif
