#include "cli/text/demangle.h"

#include <ctype.h>
#include <libiberty/demangle.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

static size_t word_length(const char *text) {
    size_t length = 0;
    while (isalnum((unsigned char)text[length]) || text[length] == '_' || text[length] == '$' ||
           text[length] == '.')
        length++;
    return length;
}

static void print_word(const char *word, size_t length, FILE *out) {
    char *mangled = memory_format("%.*s", (int)length, word);
    char *name = strncmp(mangled, "_Z", 2) == 0 ? cplus_demangle_v3(mangled, DMGL_NO_OPTS) : NULL;
    fputs(name ? name : mangled, out);
    free(name);
    free(mangled);
}

char *demangle_words(const char *text) {
    if (!strstr(text, "_Z"))
        return memory_strdup(text);
    char *words = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&words, &size);
    if (!out)
        return memory_strdup(text);
    while (*text) {
        size_t length = word_length(text);
        if (length > 0)
            print_word(text, length, out);
        else
            fputc(*text, out);
        text += length > 0 ? length : 1;
    }
    fclose(out);
    return words;
}
