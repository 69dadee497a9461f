#include "tracer/lacks.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"

void lacks_add(struct lacks *lacks, const char *format, ...) {
    char line[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    *VECTOR_ADD(lacks) = memory_strdup(line);
}

void lacks_cut(struct lacks *lacks, size_t count) {
    while (lacks->count > count)
        free(lacks->items[--lacks->count]);
}
