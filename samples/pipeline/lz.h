/* A small LZ77 block codec: greedy parsing, hash chains, byte-aligned output. No thread, no state
 * between blocks. */
#ifndef PIPELINE_LZ_H
#define PIPELINE_LZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    LZ_BLOCK_BYTES_MAX = 65536,
    LZ_PACKED_BYTES_MAX = LZ_BLOCK_BYTES_MAX + LZ_BLOCK_BYTES_MAX / 128 + 1,
    LZ_HASH_BITS = 13,
};

/* The search tables of one compressor; needs no initialisation. One per thread. */
struct lz_tables {
    uint16_t head[1 << LZ_HASH_BITS];      /* newest position with this hash */
    uint16_t previous[LZ_BLOCK_BYTES_MAX]; /* next older position with the same hash */
};

/* Packs bytes (1..LZ_BLOCK_BYTES_MAX) of in. out holds at least LZ_PACKED_BYTES_MAX bytes. Returns
 * the packed size; cannot fail. */
size_t lz_pack(struct lz_tables *tables, const uint8_t *in, size_t bytes, uint8_t *out);

/* Unpacks into out, which holds bytes. False: the packed data is damaged or of another size. */
bool lz_unpack(const uint8_t *in, size_t packed_bytes, uint8_t *out, size_t bytes);

#endif
