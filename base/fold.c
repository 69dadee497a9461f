#include "base/fold.h"

#include <stdbool.h>

enum { USUAL_INDENT = 2, LAST_TITLE = 16, TITLE_GAP = 2 };

void fold_start(struct fold *fold, int width,
                void (*put)(void *context, const char *bytes, size_t n), void *context) {
    *fold = (struct fold){.width = width, .indent = -1, .put = put, .context = context};
}

static void put_spaces(struct fold *fold, int n) {
    static const char spaces[] = "                ";
    for (int most = (int)sizeof spaces - 1; n > 0; n -= most)
        fold->put(fold->context, spaces, (size_t)(n < most ? n : most));
}

/* A word stands at `column`, after `spaces`: where does the line's text begin? */
static void note_indent(struct fold *fold) {
    int at = fold->column + fold->spaces;
    bool is_first = fold->indent < 0;
    if (is_first)
        fold->indent = at + USUAL_INDENT;
    else if (fold->spaces >= TITLE_GAP && at <= LAST_TITLE)
        fold->indent = at;
}

static void put_word(struct fold *fold) {
    if (fold->n == 0)
        return;
    note_indent(fold);
    bool breaks = fold->width > 0 && fold->spaces > 0 && fold->column > 0 &&
                  fold->column + fold->spaces + fold->word > fold->width;
    if (breaks) {
        fold->put(fold->context, "\n", 1);
        fold->column = 0;
        fold->spaces = fold->indent;
    }
    put_spaces(fold, fold->spaces);
    fold->put(fold->context, fold->bytes, fold->n);
    fold->column += fold->spaces + fold->word;
    fold->spaces = fold->word = 0;
    fold->n = 0;
}

static void end_line(struct fold *fold) {
    put_word(fold);
    put_spaces(fold, fold->spaces);
    fold->put(fold->context, "\n", 1);
    fold->column = fold->spaces = 0;
    fold->indent = -1;
}

static void add(struct fold *fold, char byte) {
    if (fold->n == FOLD_WORD_BYTES)
        put_word(fold);
    fold->word += ((unsigned char)byte & 0xC0) != 0x80;
    fold->bytes[fold->n++] = byte;
}

void fold_write(struct fold *fold, const char *bytes, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (bytes[i] == '\n') {
            end_line(fold);
        } else if (bytes[i] == ' ') {
            put_word(fold);
            fold->spaces++;
        } else {
            add(fold, bytes[i]);
        }
    }
}

void fold_end(struct fold *fold) {
    put_word(fold);
    put_spaces(fold, fold->spaces);
    fold->column += fold->spaces;
    fold->spaces = 0;
}
