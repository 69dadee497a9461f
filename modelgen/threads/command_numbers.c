#include "modelgen/threads/command_numbers.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static bool ends_in(const char *argument, int number) {
    const char *digits = argument + strlen(argument);
    while (digits > argument && isdigit((unsigned char)digits[-1]))
        digits--;
    return *digits && strtol(digits, NULL, 10) == number;
}

bool command_names_number(const struct trace_meta *meta, int number) {
    for (int i = 1; i < meta->n_args; i++)
        if (ends_in(meta->args[i], number))
            return true;
    return false;
}
