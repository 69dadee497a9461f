/* Where one reply ends: of HTTP/1.1 (RFC 9112), of line protocols by the text that ends it, of UDP
 * by the datagram. Replies are fed as they come, in pieces of any size, and are not kept. */
#ifndef PERSIK_LOAD_CODEC_H
#define PERSIK_LOAD_CODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "load/target.h"

enum codec_state {
    CODEC_MORE,      /* the reply is not complete */
    CODEC_DONE,      /* it is */
    CODEC_MALFORMED, /* it is none, or more came than belongs to it */
};

enum { CODEC_LINE_BYTES = 128 /* of a header line, what is looked at */ };

/* The text that ends a reply, prepared for search (Knuth, Morris, Pratt). */
struct codec_until {
    const char *text; /* not owned */
    size_t length;
    size_t *borders; /* [i]: the longest proper prefix that ends text[0..i], too */
};
void codec_until_init(struct codec_until *until, const char *text, size_t length);
void codec_until_free(struct codec_until *until);

struct codec {
    enum load_protocol protocol;
    const struct codec_until *until;
    /* Of the complete reply: */
    int status;  /* HTTP, else 0 */
    bool closes; /* the connection is not to be used again */
    /* The rest is codec.c's. */
    int part;
    size_t matched; /* of `until` */
    uint64_t left;  /* bytes of the body or chunk */
    uint64_t header_bytes;
    bool has_length, is_chunked, is_http_1_0, keeps;
    size_t line_bytes;
    char line[CODEC_LINE_BYTES];
};

/* Before each reply. `until` is for LOAD_LINES, and must live as long. */
void codec_begin(struct codec *codec, enum load_protocol protocol, const struct codec_until *until);

enum codec_state codec_feed(struct codec *codec, const char *bytes, size_t n);

/* The other side has closed: CODEC_DONE if that is how the reply ends, else CODEC_MORE. */
enum codec_state codec_end(struct codec *codec);

#endif
