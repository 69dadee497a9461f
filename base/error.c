#include "base/error.h"

#include <stdio.h>
#include <string.h>

int error_set(struct error *error, const char *format, ...) {
    if (!error)
        return -1;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->text, sizeof error->text, format, arguments);
    va_end(arguments);
    error->exit_status = 0;
    return -1;
}

int error_set_exit(struct error *error, int exit_status, const char *format, ...) {
    if (!error)
        return -1;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->text, sizeof error->text, format, arguments);
    va_end(arguments);
    error->exit_status = exit_status;
    return -1;
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
