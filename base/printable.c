#include "base/printable.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fold.h"
#include "base/memory.h"

/* ---- characters ---- */

/* What has come of a character so far. */
struct decoder {
    unsigned char bytes[4];
    size_t n, wanted;
};

static bool is_continuation(unsigned char byte) {
    return (byte & 0xC0) == 0x80;
}

/* Bytes of a character that begins so; 0: none does. */
static size_t length_of(unsigned char first) {
    if (first < 0x80)
        return 1;
    if (first < 0xC2 || first > 0xF4) /* continuations, overlong and too large ones */
        return 0;
    return first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
}

static uint32_t code_of(const struct decoder *decoder) {
    static const unsigned char first_bits[] = {0, 0x7F, 0x1F, 0x0F, 0x07};
    uint32_t code = decoder->bytes[0] & first_bits[decoder->wanted];
    for (size_t i = 1; i < decoder->n; i++)
        code = code << 6 | (decoder->bytes[i] & 0x3Fu);
    return code;
}

/* Of a whole character. */
static bool may_be_shown(const struct decoder *decoder) {
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    uint32_t code = code_of(decoder);
    if (code < least[decoder->wanted] || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF))
        return false; /* not UTF-8 */
    bool controls = code < ' ' || (code >= 0x7F && code < 0xA0);
    bool breaks = code == 0x2028 || code == 0x2029;
    bool turns = code == 0x061C || code == 0x200E || code == 0x200F ||
                 (code >= 0x202A && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
    return !controls && !breaks && !turns;
}

static char *put(char *to, const void *from, size_t bytes) {
    memcpy(to, from, bytes);
    return to + bytes;
}

/* Takes in one byte and writes what is known now, up to four bytes. Gives the end of it. */
static char *feed(struct decoder *decoder, unsigned char byte, bool lines, char *to) {
    if (decoder->n > 0 && !is_continuation(byte)) {
        to = put(to, "?", 1); /* the one before is cut short */
        decoder->n = 0;
    }
    if (decoder->n == 0)
        decoder->wanted = length_of(byte);
    if (decoder->wanted == 0)
        return put(to, "?", 1);
    decoder->bytes[decoder->n++] = byte;
    if (decoder->n < decoder->wanted)
        return to;
    bool shown = may_be_shown(decoder) || (lines && (byte == '\n' || byte == '\t'));
    to = shown ? put(to, decoder->bytes, decoder->n) : put(to, "?", 1);
    decoder->n = 0;
    return to;
}

char *printable(const char *text) {
    if (!text)
        return NULL;
    struct decoder decoder = {.n = 0};
    char *shown = memory_alloc(strlen(text) + 1, 1); /* never longer than it was */
    char *end = shown;
    for (; *text; text++)
        end = feed(&decoder, (unsigned char)*text, false, end);
    if (decoder.n > 0)
        *end++ = '?';
    *end = '\0';
    return shown;
}

/* ---- streams ---- */

enum { BLOCK_BYTES = 4096, MOST_PER_BYTE = 5 /* '?' for the character before, and a whole one */ };

struct filter {
    int descriptor;
    struct decoder decoder;
    struct fold fold; /* without a width it is passed by */
    bool failed;
    char *(*decorate)(const char *word); /* NULL: words are written as they come */
    size_t n;                            /* of the word at hand */
    char word[FOLD_WORD_BYTES];
};

static bool write_all(int descriptor, const char *from, size_t bytes) {
    while (bytes > 0) {
        ssize_t n = write(descriptor, from, bytes);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        from += n;
        bytes -= (size_t)n;
    }
    return true;
}

static bool end_word(struct filter *filter) {
    filter->word[filter->n] = '\0';
    char *shown = filter->n > 0 && filter->decorate ? filter->decorate(filter->word) : NULL;
    bool done = write_all(filter->descriptor, shown ? shown : filter->word,
                          shown ? strlen(shown) : filter->n);
    free(shown);
    filter->n = 0;
    return done;
}

/* What stands between words is written at once, and the word before it. */
static bool write_words(struct filter *filter, const char *from, size_t bytes) {
    bool done = true;
    for (size_t i = 0; i < bytes; i++) {
        bool is_blank = from[i] == ' ' || from[i] == '\n' || from[i] == '\t';
        if (filter->n > 0 && (is_blank || filter->n + 1 == sizeof filter->word))
            done = end_word(filter) && done;
        if (is_blank)
            done = write_all(filter->descriptor, from + i, 1) && done;
        else
            filter->word[filter->n++] = from[i];
    }
    return done;
}

static bool emit(struct filter *filter, const char *from, size_t bytes) {
    return filter->decorate ? write_words(filter, from, bytes)
                            : write_all(filter->descriptor, from, bytes);
}

static void put_folded(void *context, const char *from, size_t bytes) {
    struct filter *filter = context;
    filter->failed |= !emit(filter, from, bytes);
}

static bool pass_on(struct filter *filter, const char *from, size_t bytes) {
    if (filter->fold.width == 0)
        return emit(filter, from, bytes);
    fold_write(&filter->fold, from, bytes);
    return !filter->failed;
}

static ssize_t write_filtered(void *context, const char *from, size_t bytes) {
    struct filter *filter = context;
    char block[BLOCK_BYTES];
    char *end = block;
    for (size_t i = 0; i < bytes; i++) {
        end = feed(&filter->decoder, (unsigned char)from[i], true, end);
        if (end + MOST_PER_BYTE > block + BLOCK_BYTES || i + 1 == bytes) {
            if (!pass_on(filter, block, (size_t)(end - block)))
                return 0; /* how a stream's function says that it failed */
            end = block;
        }
    }
    return (ssize_t)bytes;
}

static FILE *open_filter(struct filter *filter, int buffering) {
    FILE *file = fopencookie(filter, "w", (cookie_io_functions_t){.write = write_filtered});
    if (file)
        setvbuf(file, NULL, buffering, BUFSIZ);
    return file;
}

static struct filter output = {.descriptor = STDOUT_FILENO};

/* Writes what is held back: the last word may have no blank behind it. */
static void end_fold(void) {
    fflush(stdout);
    fold_end(&output.fold);
    end_word(&output);
}

static void end_at_exit(void) {
    static bool ends;
    if (!ends)
        atexit(end_fold);
    ends = true;
}

void printable_fold(int width) {
    end_fold();
    fold_start(&output.fold, width, put_folded, &output);
    end_at_exit();
}

void printable_decorate(char *(*decorate)(const char *word)) {
    end_fold();
    output.decorate = decorate;
    end_at_exit();
}

void printable_streams(void) {
    static struct filter errors = {.descriptor = STDERR_FILENO};
    FILE *out = open_filter(&output, isatty(STDOUT_FILENO) ? _IOLBF : _IOFBF);
    FILE *err = open_filter(&errors, _IONBF);
    stdout = out ? out : stdout;
    stderr = err ? err : stderr;
}
