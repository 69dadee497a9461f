/* Where a binary keeps its unwind information, in the form libunwind searches. */
#ifndef PERSIK_SAMPLER_EH_FRAME_H
#define PERSIK_SAMPLER_EH_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A binary search table: `count` pairs of 32-bit offsets from `origin` (function start, its entry
 * in .eh_frame), ascending. */
struct eh_frame_table {
    uint64_t origin;  /* file address (p_vaddr terms) the offsets are relative to */
    uint64_t address; /* file address of the pairs; unused when `made` */
    size_t count;
    unsigned char *made; /* NULL: the binary has the table itself; else the caller's to free */
};

/* Fills `table` from the ELF image `file`; false when it has no usable unwind information. */
bool eh_frame_find(const unsigned char *file, size_t file_bytes, struct eh_frame_table *table);

#endif
