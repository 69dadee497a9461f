#include "load/codec.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"

#define MOST_HEADER_BYTES (1 << 20) /* nobody's; so that a stream of anything else has an end */

enum part { STATUS_LINE, HEADERS, BODY, BODY_TO_END, CHUNK_SIZE, CHUNK, CHUNK_END, TRAILERS };

/* ---- the text that ends a reply ---- */

/* One more character of the text: how much of `until` ends there. */
static size_t match_on(const struct codec_until *until, size_t matched, char next) {
    while (matched > 0 && until->text[matched] != next)
        matched = until->borders[matched - 1];
    return until->text[matched] == next ? matched + 1 : 0;
}

void codec_until_init(struct codec_until *until, const char *text, size_t length) {
    *until = (struct codec_until){.text = text, .length = length};
    until->borders = memory_alloc(length ? length : 1, sizeof *until->borders);
    for (size_t i = 1; i < length; i++)
        until->borders[i] = match_on(until, until->borders[i - 1], text[i]);
}

void codec_until_free(struct codec_until *until) {
    free(until->borders);
    until->borders = NULL;
}

static enum codec_state feed_lines(struct codec *codec, const char *bytes, size_t n) {
    for (size_t i = 0; i < n; i++) {
        codec->matched = match_on(codec->until, codec->matched, bytes[i]);
        if (codec->matched == codec->until->length)
            return i + 1 == n ? CODEC_DONE : CODEC_MALFORMED;
    }
    return CODEC_MORE;
}

/* ---- HTTP ---- */

static enum codec_state begin_reply(struct codec *codec) {
    codec->part = STATUS_LINE;
    codec->has_length = codec->is_chunked = codec->keeps = codec->closes = false;
    codec->left = 0;
    return CODEC_MORE;
}

/* HTTP/1.1 200 OK */
static enum codec_state take_status_line(struct codec *codec) {
    const char *line = codec->line;
    if (strncmp(line, "HTTP/1.", 7) != 0 || !isdigit((unsigned char)line[7]) || line[8] != ' ')
        return CODEC_MALFORMED;
    codec->is_http_1_0 = line[7] == '0';
    codec->status = atoi(line + 9); /* NOLINT: no number is status 0, which is refused */
    codec->part = HEADERS;
    return codec->status >= 100 && codec->status < 1000 ? CODEC_MORE : CODEC_MALFORMED;
}

/* The value of the header `name` if the line is it, else NULL. */
static const char *value_of(const char *line, const char *name) {
    size_t length = strlen(name);
    if (strncasecmp(line, name, length) != 0 || line[length] != ':')
        return NULL;
    return line + length + 1 + strspn(line + length + 1, " \t");
}

static enum codec_state take_header(struct codec *codec) {
    const char *value;
    if ((value = value_of(codec->line, "Content-Length"))) {
        char *end;
        if (!isdigit((unsigned char)*value))
            return CODEC_MALFORMED;
        codec->left = strtoull(value, &end, 10);
        codec->has_length = true;
        return end[strspn(end, " \t")] ? CODEC_MALFORMED : CODEC_MORE;
    }
    if ((value = value_of(codec->line, "Transfer-Encoding")))
        codec->is_chunked = strcasestr(value, "chunked") != NULL;
    if ((value = value_of(codec->line, "Connection"))) {
        codec->closes = codec->closes || strcasestr(value, "close");
        codec->keeps = codec->keeps || strcasestr(value, "keep-alive");
    }
    return CODEC_MORE;
}

/* The empty line behind the headers: how long is the body (RFC 9112, 6.3)? */
static enum codec_state end_headers(struct codec *codec) {
    if (codec->status < 200) /* 100 Continue and the like: the reply is still to come */
        return begin_reply(codec);
    if (codec->is_http_1_0 && !codec->keeps)
        codec->closes = true;
    if (codec->status == 204 || codec->status == 304)
        return CODEC_DONE;
    if (codec->is_chunked)
        codec->part = CHUNK_SIZE;
    else if (!codec->has_length)
        codec->part = BODY_TO_END;
    else if (codec->left == 0)
        return CODEC_DONE;
    else
        codec->part = BODY;
    return CODEC_MORE;
}

static enum codec_state take_chunk_size(struct codec *codec) {
    char *end;
    if (!isxdigit((unsigned char)codec->line[0]))
        return CODEC_MALFORMED;
    codec->left = strtoull(codec->line, &end, 16);
    if (*end && *end != ';' && *end != ' ')
        return CODEC_MALFORMED;
    codec->part = codec->left > 0 ? CHUNK : TRAILERS;
    return CODEC_MORE;
}

static enum codec_state take_line(struct codec *codec) {
    switch ((enum part)codec->part) {
    case STATUS_LINE:
        return take_status_line(codec);
    case HEADERS:
        return *codec->line ? take_header(codec) : end_headers(codec);
    case CHUNK_SIZE:
        return take_chunk_size(codec);
    case CHUNK_END:
        codec->part = CHUNK_SIZE;
        return *codec->line ? CODEC_MALFORMED : CODEC_MORE;
    case TRAILERS:
        return *codec->line ? CODEC_MORE : CODEC_DONE;
    case BODY:
    case BODY_TO_END:
    case CHUNK:
        break;
    }
    return CODEC_MALFORMED;
}

/* One character of a line; a long line is cut, none that is looked at is that long. */
static enum codec_state feed_line(struct codec *codec, char next) {
    if (++codec->header_bytes > MOST_HEADER_BYTES)
        return CODEC_MALFORMED;
    if (next != '\n') {
        if (codec->line_bytes < CODEC_LINE_BYTES - 1)
            codec->line[codec->line_bytes++] = next;
        return CODEC_MORE;
    }
    if (codec->line_bytes > 0 && codec->line[codec->line_bytes - 1] == '\r')
        codec->line_bytes--;
    codec->line[codec->line_bytes] = '\0';
    codec->line_bytes = 0;
    return take_line(codec);
}

/* Bytes of a body: how many of the n belong to it. */
static size_t skip_body(struct codec *codec, size_t n) {
    if (codec->part == BODY_TO_END)
        return n;
    size_t skipped = n < codec->left ? n : (size_t)codec->left;
    codec->left -= skipped;
    return skipped;
}

static enum codec_state feed_http(struct codec *codec, const char *bytes, size_t n) {
    size_t i = 0;
    enum codec_state state = CODEC_MORE;
    while (i < n && state == CODEC_MORE) {
        switch ((enum part)codec->part) {
        case BODY:
        case BODY_TO_END:
        case CHUNK:
            i += skip_body(codec, n - i);
            if (codec->part == BODY && codec->left == 0)
                state = CODEC_DONE;
            if (codec->part == CHUNK && codec->left == 0)
                codec->part = CHUNK_END;
            break;
        default:
            state = feed_line(codec, bytes[i++]);
        }
    }
    return state == CODEC_DONE && i < n ? CODEC_MALFORMED : state;
}

/* ---- all ---- */

void codec_begin(struct codec *codec, enum load_protocol protocol,
                 const struct codec_until *until) {
    codec->protocol = protocol;
    codec->until = until;
    codec->status = 0;
    codec->matched = codec->line_bytes = 0;
    codec->header_bytes = 0;
    begin_reply(codec);
}

enum codec_state codec_feed(struct codec *codec, const char *bytes, size_t n) {
    switch (codec->protocol) {
    case LOAD_HTTP:
        return feed_http(codec, bytes, n);
    case LOAD_LINES:
        return feed_lines(codec, bytes, n);
    case LOAD_DATAGRAMS:
        break;
    }
    return CODEC_DONE;
}

enum codec_state codec_end(struct codec *codec) {
    codec->closes = true;
    return codec->protocol == LOAD_HTTP && codec->part == BODY_TO_END ? CODEC_DONE : CODEC_MORE;
}
