#include "base/error.h"

#include <stdio.h>
#include <string.h>

static int set(struct error *error, int exit_status, const char *format, va_list arguments) {
    if (error) {
        vsnprintf(error->text, sizeof error->text, format, arguments);
        error->exit_status = exit_status;
    }
    return -1;
}

int error_set(struct error *error, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int status = set(error, 0, format, arguments);
    va_end(arguments);
    return status;
}

int error_set_exit(struct error *error, int exit_status, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int status = set(error, exit_status, format, arguments);
    va_end(arguments);
    return status;
}

int error_prefix(struct error *error, const char *format, ...) {
    if (!error)
        return -1;
    char rest[sizeof error->text];
    memcpy(rest, error->text, sizeof rest);
    va_list arguments;
    va_start(arguments, format);
    int used = vsnprintf(error->text, sizeof error->text, format, arguments);
    va_end(arguments);
    if (used >= 0 && (size_t)used + 2 < sizeof error->text) {
        size_t at = (size_t)used;
        error->text[at++] = ':';
        error->text[at++] = ' ';
        size_t room = sizeof error->text - at - 1;
        size_t length = strnlen(rest, room);
        memcpy(error->text + at, rest, length);
        error->text[at + length] = '\0';
    }
    return -1;
}
