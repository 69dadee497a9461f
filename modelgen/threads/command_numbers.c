#include "modelgen/threads/command_numbers.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* -1: it ends in none. */
static long number_at_end(const char *argument) {
    size_t length = strlen(argument);
    if (length > 1 && argument[length - 1] == 's') /* seconds */
        length--;
    const char *digits = argument + length;
    while (digits > argument && isdigit((unsigned char)digits[-1]))
        digits--;
    return isdigit((unsigned char)*digits) ? strtol(digits, NULL, 10) : -1;
}

bool command_names_more_than(const struct trace_meta *meta, int number) {
    for (int i = 1; i < meta->n_args; i++)
        if (number_at_end(meta->args[i]) > number)
            return true;
    return false;
}

bool command_names_number(const struct trace_meta *meta, int number) {
    for (int i = 1; i < meta->n_args; i++)
        if (number_at_end(meta->args[i]) == number)
            return true;
    return false;
}
