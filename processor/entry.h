/* The machine code of a function: whether its first instructions can give way to a jump, and where
 * it returns. */
#ifndef PERSIK_PROCESSOR_ENTRY_H
#define PERSIK_PROCESSOR_ENTRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ENTRY_MAX_RETURNS 64
#define ENTRY_JUMP_BYTES  5 /* the jump that takes the place of the first instructions */
#define ENTRY_MAX_FIXUPS  4 /* distances in them, relative to where they stand */

struct entry {
    /* In the numbering of the code's address. */
    uint64_t at; /* first byte to move: behind an endbr64 and a call of __fentry__ */
    uint8_t n_bytes;
    uint8_t n_fixups;
    uint8_t fixups[ENTRY_MAX_FIXUPS], ends[ENTRY_MAX_FIXUPS]; /* as in struct raw_wrap */
    const char *obstacle;                                     /* NULL: can be moved; else why not */
    size_t n_returns;
    uint64_t returns[ENTRY_MAX_RETURNS];
    bool all_returns; /* false: it may also leave by jumping into another function */
};

/* Reads the `size` bytes of `code`, a function that starts at `address`. Everything is decoded: a
 * jump from anywhere in the function into the bytes to move is an obstacle. */
struct entry entry_read(const uint8_t *code, size_t size, uint64_t address);

#endif
