#include "tracer/lacks.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/memory.h"

void lacks_add(struct lacks *lacks, const char *format, ...) {
    char line[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    *VECTOR_ADD(lacks) = memory_strdup(line);
}
