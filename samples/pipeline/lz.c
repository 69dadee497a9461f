#include "lz.h"

#include <string.h>

/*
 * Packed data is a sequence of
 *     0x00..0x7f  n + 1 literal bytes follow
 *     0x80..0xff  a match of (n - 0x80) + MATCH_MIN bytes; two bytes of distance follow, low first
 */
enum {
    MATCH_MIN = 4,
    MATCH_MAX = MATCH_MIN + 127,
    LITERALS_MAX = 128,
    CHAIN_MAX = 2048, /* candidates examined per position */
    NOWHERE = 0xffff, /* no match can start at a block's last byte, so this is no position */
};

struct match {
    size_t position;
    size_t length;
};

static uint32_t hash_at(const uint8_t *at) {
    uint32_t word;
    memcpy(&word, at, sizeof word);
    return (word * 2654435761U) >> (32 - LZ_HASH_BITS);
}

static size_t common_length(const uint8_t *a, const uint8_t *b, size_t limit) {
    size_t length = 0;
    while (length < limit && a[length] == b[length])
        length++;
    return length;
}

static void insert_position(struct lz_tables *tables, const uint8_t *in, size_t position) {
    uint32_t hash = hash_at(in + position);
    tables->previous[position] = tables->head[hash];
    tables->head[hash] = (uint16_t)position;
}

/* The longest earlier occurrence of what starts at position; length 0 if there is none. */
static struct match find_match(const struct lz_tables *tables, const uint8_t *in, size_t position,
                               size_t limit) {
    struct match best = {0, MATCH_MIN - 1};
    uint16_t candidate = tables->head[hash_at(in + position)];
    for (int i = 0; i < CHAIN_MAX && candidate != NOWHERE; i++) {
        if (in[candidate + best.length] == in[position + best.length]) {
            size_t length = common_length(in + candidate, in + position, limit);
            if (length > best.length)
                best = (struct match){candidate, length};
            if (length == limit)
                break;
        }
        candidate = tables->previous[candidate];
    }
    if (best.length < MATCH_MIN)
        best.length = 0;
    return best;
}

static uint8_t *put_literals(uint8_t *out, const uint8_t *from, const uint8_t *end) {
    while (from < end) {
        size_t run = (size_t)(end - from);
        if (run > LITERALS_MAX)
            run = LITERALS_MAX;
        *out++ = (uint8_t)(run - 1);
        memcpy(out, from, run);
        out += run;
        from += run;
    }
    return out;
}

static uint8_t *put_match(uint8_t *out, size_t length, size_t distance) {
    *out++ = (uint8_t)(0x80 + length - MATCH_MIN);
    *out++ = (uint8_t)(distance & 0xff);
    *out++ = (uint8_t)(distance >> 8);
    return out;
}

size_t lz_pack(struct lz_tables *tables, const uint8_t *in, size_t bytes, uint8_t *out) {
    memset(tables->head, 0xff, sizeof tables->head);
    uint8_t *const out_start = out;
    size_t literals_from = 0;
    size_t position = 0;
    while (position + MATCH_MIN < bytes) {
        size_t limit = bytes - position - 1;
        struct match match =
            find_match(tables, in, position, limit < MATCH_MAX ? limit : MATCH_MAX);
        if (match.length == 0) {
            insert_position(tables, in, position++);
            continue;
        }
        out = put_literals(out, in + literals_from, in + position);
        out = put_match(out, match.length, position - match.position);
        size_t after = position + match.length;
        for (; position < after; position++)
            if (position + MATCH_MIN < bytes)
                insert_position(tables, in, position);
        literals_from = after;
    }
    out = put_literals(out, in + literals_from, in + bytes);
    return (size_t)(out - out_start);
}

bool lz_unpack(const uint8_t *in, size_t packed_bytes, uint8_t *out, size_t bytes) {
    const uint8_t *const in_end = in + packed_bytes;
    size_t at = 0;
    while (in < in_end) {
        size_t code = *in++;
        size_t length = code < 0x80 ? code + 1 : code - 0x80 + MATCH_MIN;
        size_t needed = code < 0x80 ? length : 2;
        if ((size_t)(in_end - in) < needed || bytes - at < length)
            return false;
        if (code < 0x80) {
            memcpy(out + at, in, length);
            at += length;
        } else {
            size_t distance = in[0] | (size_t)in[1] << 8;
            if (distance == 0 || distance > at)
                return false;
            for (size_t end = at + length; at < end; at++)
                out[at] = out[at - distance];
        }
        in += needed;
    }
    return at == bytes;
}
