#include "html/writer.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/printable.h"

void html_text(FILE *out, const char *text) {
    char *line = printable(text);
    for (const char *at = line; at && *at; at++) {
        switch (*at) {
        case '&':
            fputs("&amp;", out);
            break;
        case '<':
            fputs("&lt;", out);
            break;
        case '>':
            fputs("&gt;", out);
            break;
        case '"':
            fputs("&quot;", out);
            break;
        case '\'':
            fputs("&#39;", out);
            break;
        default:
            fputc(*at, out);
        }
    }
    free(line);
}

/* Precision as in the directive, 6 without one. */
static void print_number(FILE *out, const char *directive, char conversion, double value) {
    const char *point = strchr(directive, '.');
    int precision = point ? atoi(point + 1) : 6;
    if (!isfinite(value))
        fputc('-', out);
    else if (conversion == 'f')
        fprintf(out, "%.*f", precision, value);
    else if (conversion == 'e')
        fprintf(out, "%.*e", precision, value);
    else
        fprintf(out, "%.*g", precision, value);
}

void html_print(FILE *out, const char *format, ...) {
    enum { DIRECTIVE_BYTES = 16 };
    va_list arguments;
    va_start(arguments, format);
    for (const char *at = format; *at; at++) {
        if (*at != '%') {
            fputc(*at, out);
            continue;
        }
        char directive[DIRECTIVE_BYTES] = "";
        size_t length = strcspn(at + 1, "sdufeg%");
        assert(length < sizeof directive);
        memcpy(directive, at + 1, length);
        at += 1 + length;
        switch (*at) {
        case 's':
            html_text(out, va_arg(arguments, const char *));
            break;
        case 'd':
            fprintf(out, "%d", va_arg(arguments, int));
            break;
        case 'u':
            assert(strcmp(directive, "z") == 0);
            fprintf(out, "%zu", va_arg(arguments, size_t));
            break;
        case 'f':
        case 'e':
        case 'g':
            print_number(out, directive, *at, va_arg(arguments, double));
            break;
        default:
            assert(*at == '%');
            fputc('%', out);
        }
    }
    va_end(arguments);
}

/* ---- long names ---- */

static int is_continuation(char byte) {
    return ((unsigned char)byte & 0xC0) == 0x80;
}

static size_t count_characters(const char *text) {
    size_t count = 0;
    for (; *text; text++)
        count += !is_continuation(*text);
    return count;
}

/* Where character number `n` begins. */
static const char *character(const char *text, size_t n) {
    for (; *text; text++)
        if (!is_continuation(*text) && n-- == 0)
            break;
    return text;
}

char *html_shorten(const char *text, size_t most) {
    char *line = printable(text ? text : "");
    size_t length = count_characters(line);
    if (length <= most || most < 3)
        return line;
    size_t head = (most - 1) / 2;
    size_t tail = most - 1 - head;
    int head_bytes = (int)(character(line, head) - line);
    char *shortened =
        memory_format("%.*s\xE2\x80\xA6%s", head_bytes, line, character(line, length - tail));
    free(line);
    return shortened;
}
