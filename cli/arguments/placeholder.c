#include "cli/arguments/placeholder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

static bool is_name(const char *text, size_t length, const char *name) {
    return strlen(name) == length && strncmp(text, name, length) == 0;
}

/* The number that the name between braces stands for; 0: none. */
static int value_of(const char *name, size_t length, const struct thread_choice *choice,
                    int cores) {
    if (is_name(name, length, "cores"))
        return cores;
    if (choice->all && is_name(name, length, "threads"))
        return choice->all;
    for (size_t i = 0; i < choice->n_named; i++)
        if (is_name(name, length, choice->names[i]))
            return choice->counts[i];
    return 0;
}

static int value_of_more(const char *name, size_t length, const struct placeholder_value *more,
                         size_t n) {
    for (size_t i = 0; i < n; i++)
        if (is_name(name, length, more[i].name))
            return more[i].value;
    return 0;
}

char *placeholder_fill_text(const char *text, const struct thread_choice *choice, int cores,
                            const struct placeholder_value *more, size_t n) {
    char *filled = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&filled, &bytes);
    while (*text) {
        size_t length = *text == '{' ? strcspn(text + 1, "{}") : 0;
        int value = 0;
        if (length && text[1 + length] == '}') {
            value = value_of(text + 1, length, choice, cores);
            value = value ? value : value_of_more(text + 1, length, more, n);
        }
        if (value) {
            fprintf(out, "%d", value);
            text += length + 2;
        } else {
            fputc(*text++, out);
        }
    }
    fclose(out);
    return filled;
}

char **placeholder_fill(char *const *arguments, const struct thread_choice *choice, int cores) {
    size_t n = 0;
    while (arguments[n])
        n++;
    char **filled = memory_alloc(n + 1, sizeof *filled);
    for (size_t i = 0; i < n; i++)
        filled[i] = placeholder_fill_text(arguments[i], choice, cores, NULL, 0);
    return filled;
}

void placeholder_free(char **arguments) {
    for (size_t i = 0; arguments[i]; i++)
        free(arguments[i]);
    free(arguments);
}

bool placeholder_used(char *const *arguments, const struct thread_choice *choice) {
    bool used = false;
    /* {cores} alone does not vary the threads: 0 leaves it as it stands. */
    char **filled = placeholder_fill(arguments, choice, 0);
    for (size_t i = 0; filled[i]; i++)
        used |= strcmp(filled[i], arguments[i]) != 0;
    placeholder_free(filled);
    return used;
}
