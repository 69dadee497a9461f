#include "cli/text/fit.h"

#include <string.h>

#include "base/memory.h"

/* Of a name less says nothing; of the first column's, which tells the rows apart, it is more. Spare
 * columns go before names get shorter than is readable. */
enum { READABLE_FIRST = 36, READABLE = 24, LEAST_FIRST = 24, LEAST = 12 };

int fit_width(const char *text) {
    int width = 0;
    for (; *text; text++)
        width += ((unsigned char)*text & 0xC0) != 0x80;
    return width;
}

static int total_width(const struct fit_column *columns, size_t n) {
    int total = -FIT_GAP;
    for (size_t i = 0; i < n; i++)
        total += columns[i].width ? columns[i].width + FIT_GAP : 0;
    return total;
}

static int least_width(const struct fit_column *columns, size_t i, bool readable) {
    int least = i == 0 ? (readable ? READABLE_FIRST : LEAST_FIRST) : (readable ? READABLE : LEAST);
    return columns[i].is_text && columns[i].natural > least ? least : columns[i].natural;
}

/* The widest column that may be cut further; NULL: there is none. */
static struct fit_column *widest(struct fit_column *columns, size_t n, bool readable) {
    struct fit_column *found = NULL;
    for (size_t i = 0; i < n; i++)
        if (columns[i].width > least_width(columns, i, readable) &&
            (!found || columns[i].width > found->width))
            found = &columns[i];
    return found;
}

/* Of those that are not left out. */
static bool cut_to(struct fit_column *columns, size_t n, int page, bool readable) {
    for (size_t i = 0; i < n; i++)
        columns[i].width = columns[i].width ? columns[i].natural : 0;
    struct fit_column *column;
    while (total_width(columns, n) > page && (column = widest(columns, n, readable)))
        column->width--;
    return total_width(columns, n) <= page;
}

static struct fit_column *next_spare(struct fit_column *columns, size_t n) {
    struct fit_column *next = NULL;
    for (size_t i = 1; i < n; i++)
        if (columns[i].width && columns[i].spare && (!next || columns[i].spare < next->spare))
            next = &columns[i];
    return next;
}

static struct fit_column *last(struct fit_column *columns, size_t n) {
    while (n > 1)
        if (columns[--n].width)
            return &columns[n];
    return NULL;
}

void fit_columns(struct fit_column *columns, size_t n, int page) {
    for (size_t i = 0; i < n; i++)
        columns[i].width = columns[i].natural;
    if (page == 0)
        return;
    struct fit_column *out;
    while (!cut_to(columns, n, page, true) && (out = next_spare(columns, n)))
        out->width = 0;
    while (!cut_to(columns, n, page, false) && (out = last(columns, n)))
        out->width = 0;
}

/* The byte at which so many characters have passed. */
static size_t bytes_of(const char *text, int characters) {
    size_t n = 0;
    while (text[n] && characters > 0) {
        n++;
        while (((unsigned char)text[n] & 0xC0) == 0x80)
            n++;
        characters--;
    }
    return n;
}

char *fit_cut(const char *text, int width, int head) {
    int whole = fit_width(text);
    if (whole <= width || width < 3)
        return memory_format("%.*s", (int)bytes_of(text, width), text);
    int before = (width - 1) * head / 8;
    int after = width - 1 - before;
    return memory_format("%.*s…%s", (int)bytes_of(text, before), text,
                         text + bytes_of(text, whole - after));
}
