#include <stdlib.h>
#include <string.h>

#include "load/codec.h"
#include "tests/fuzz/fuzz.h"

/* The first byte says in pieces of how many bytes the reply comes. */
uint8_t *fuzz_seed(const char *path, size_t *size) {
    uint8_t *reply = fuzz_whole(path, size), *seed = malloc(*size + 1);
    seed[0] = 7;
    memcpy(seed + 1, reply, *size);
    free(reply);
    ++*size;
    return seed;
}

/* Each byte is in an allocation that ends with its piece: a codec that looks beyond is found. */
static enum codec_state feed(struct codec *codec, const uint8_t *bytes, size_t n, size_t step) {
    enum codec_state state = CODEC_MORE;
    for (size_t at = 0; at < n && state == CODEC_MORE; at += step) {
        size_t length = n - at < step ? n - at : step;
        char *piece = malloc(length);
        memcpy(piece, bytes + at, length);
        state = codec_feed(codec, piece, length);
        free(piece);
    }
    return state == CODEC_MORE ? codec_end(codec) : state;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 2)
        return 0;
    struct codec codec;
    struct codec_until until;
    fuzz_begin(size);
    codec_begin(&codec, LOAD_HTTP, NULL);
    enum codec_state state = feed(&codec, data + 1, size - 1, data[0] + 1U);
    codec_until_init(&until, "END\r\n", 5);
    codec_begin(&codec, LOAD_LINES, &until);
    feed(&codec, data + 1, size - 1, data[0] + 1U);
    codec_until_free(&until);
    fuzz_done(state == CODEC_DONE);
    return 0;
}
