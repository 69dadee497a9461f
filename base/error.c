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
    if (used >= 0 && (size_t)used < sizeof error->text)
        snprintf(error->text + used, sizeof error->text - (size_t)used, ": %s", rest);
    return -1;
}
