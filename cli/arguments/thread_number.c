#include "cli/arguments/thread_number.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"

#define HOW_TO_SAY                                                                                 \
    "write the number of threads as {threads=4}, as in `persik profile --also-record threads=1 "   \
    "-- ./program {threads=4}`"

/* {threads=4} in the argument. False: there is none. */
static bool find_mark(const char *argument, struct thread_number *number) {
    const char *mark = strstr(argument, "{threads=");
    int threads, bytes = 0;
    if (!mark || sscanf(mark, "{threads=%5d}%n", &threads, &bytes) != 1 || bytes == 0 ||
        threads < 1)
        return false;
    number->length = (int)(mark - argument);
    number->rest = mark + bytes;
    number->threads = threads;
    return true;
}

/* A number at the argument's end. False: there is none, or it is no number of threads. */
static bool find_end(const char *argument, struct thread_number *number) {
    const char *end = argument + strlen(argument), *digits = end;
    while (digits > argument && isdigit((unsigned char)digits[-1]))
        digits--;
    bool is_fraction = digits > argument && digits[-1] == '.';
    if (*digits == '\0' || end - digits > 5 || is_fraction || atoi(digits) < 1)
        return false;
    number->length = (int)(digits - argument);
    number->rest = end;
    number->threads = atoi(digits);
    return true;
}

/* Is the option called for threads, of which the number is the value? */
static bool is_of_threads(char *const *program, const struct thread_number *number) {
    const char *argument = program[number->argument];
    char *name = strndup(argument, (size_t)number->length);
    bool is_value = number->length == 0 && number->argument > 1;
    bool is_threads =
        strcasestr(name, "thread") || (is_value && *program[number->argument - 1] == '-' &&
                                       strcasestr(program[number->argument - 1], "thread"));
    free(name);
    return is_threads;
}

enum where { MARKED, OF_THREADS, ANY };

/* How many there are; `number` gets the last one. */
static int count(char *const *program, enum where where, struct thread_number *number) {
    int n = 0;
    for (int i = 1; program[i]; i++) {
        struct thread_number found = {.argument = i};
        bool is = where == MARKED ? find_mark(program[i], &found) : find_end(program[i], &found);
        if (!is || (where == OF_THREADS && !is_of_threads(program, &found)))
            continue;
        *number = found;
        n++;
    }
    return n;
}

int thread_number_find(char *const *program, struct thread_number *number, struct error *error) {
    for (enum where where = MARKED; where <= ANY; where++) {
        int n = count(program, where, number);
        if (n == 1)
            return 0;
        if (n > 1)
            return error_set(error,
                             "which of the program's arguments is the number of threads? "
                             "%d could be: " HOW_TO_SAY,
                             n);
    }
    return error_set(error, "none of the program's arguments is a number: " HOW_TO_SAY);
}

char **thread_number_replace(char *const *program, const struct thread_number *number,
                             int threads) {
    size_t n = 0;
    while (program[n])
        n++;
    char **replaced = memory_alloc(n + 1, sizeof *replaced);
    for (size_t i = 0; i < n; i++)
        replaced[i] = (int)i == number->argument ? memory_format("%.*s%d%s", number->length,
                                                                 program[i], threads, number->rest)
                                                 : memory_strdup(program[i]);
    return replaced;
}
