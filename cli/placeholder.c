#include "cli/placeholder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* The number that the name between braces stands for; 0: none. */
static int value_of(const char *name, size_t length, const struct thread_choice *choice,
                    int cores) {
    if (length == strlen("cores") && strncmp(name, "cores", length) == 0)
        return cores;
    if (choice->all && length == strlen("threads") && strncmp(name, "threads", length) == 0)
        return choice->all;
    for (size_t i = 0; i < choice->n_named; i++)
        if (strlen(choice->names[i]) == length && strncmp(choice->names[i], name, length) == 0)
            return choice->counts[i];
    return 0;
}

static char *fill_one(const char *text, const struct thread_choice *choice, int cores) {
    char *filled = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&filled, &bytes);
    while (*text) {
        size_t length = *text == '{' ? strcspn(text + 1, "{}") : 0;
        int value =
            length && text[1 + length] == '}' ? value_of(text + 1, length, choice, cores) : 0;
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
        filled[i] = fill_one(arguments[i], choice, cores);
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
