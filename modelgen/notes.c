#include "modelgen/notes.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* Takes the text; each is there once. */
static void add_text(char *text, char ***texts, size_t *n) {
    for (size_t i = 0; i < *n; i++)
        if (strcmp((*texts)[i], text) == 0) {
            free(text);
            return;
        }
    *texts = memory_resize(*texts, *n + 1, sizeof **texts);
    (*texts)[(*n)++] = text;
}

void notes_add(struct model *model, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    add_text(memory_vformat(format, arguments), &model->notes, &model->n_notes);
    va_end(arguments);
}

void notes_add_outside(struct model *model, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    add_text(memory_vformat(format, arguments), &model->outside, &model->n_outside);
    va_end(arguments);
}
