/* Lines for people who read them in 80 columns: what is longer is broken between words, and what
 * follows stands below where the text began: two columns in, or, as in "lacks      no disks", below
 * what stands apart from its title. A word that is longer than a line stays whole. */
#ifndef PERSIK_BASE_FOLD_H
#define PERSIK_BASE_FOLD_H

#include <stddef.h>

enum { FOLD_WORD_BYTES = 1024 };

struct fold {
    int width;  /* 0: nothing is broken; else characters */
    int column; /* where the next character stands */
    int indent; /* of what follows a break; while -1 the line has no word yet */
    int spaces; /* before the word at hand, not yet written */
    int word;   /* characters of that word, ... */
    size_t n;   /* ... which is so many bytes */
    char bytes[FOLD_WORD_BYTES];
    void (*put)(void *context, const char *bytes, size_t n);
    void *context;
};

/* From here on. The rest is zero. */
void fold_start(struct fold *fold, int width,
                void (*put)(void *context, const char *bytes, size_t n), void *context);

/* Writes what is complete of it; the last word when it is known to have ended, or in fold_end(). */
void fold_write(struct fold *fold, const char *bytes, size_t n);
void fold_end(struct fold *fold);

#endif
