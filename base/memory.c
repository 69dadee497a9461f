#include "base/memory.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void die_out_of_memory(size_t bytes) {
    fprintf(stderr,
            "persik: out of memory (%zu bytes wanted): close other programs or use a "
            "shorter run\n",
            bytes);
    exit(1);
}

void *memory_alloc(size_t count, size_t size) {
    void *block = calloc(count ? count : 1, size ? size : 1);
    if (!block)
        die_out_of_memory(count * size);
    return block;
}

void *memory_resize(void *block, size_t count, size_t size) {
    if (size && count > SIZE_MAX / size)
        die_out_of_memory(SIZE_MAX);
    size_t bytes = count * size;
    void *grown = realloc(block, bytes ? bytes : 1);
    if (!grown)
        die_out_of_memory(bytes);
    return grown;
}

char *memory_strdup(const char *text) {
    if (!text)
        return NULL;
    size_t bytes = strlen(text) + 1;
    return memcpy(memory_alloc(bytes, 1), text, bytes);
}

char *memory_vformat(const char *format, va_list arguments) {
    char *text = NULL;
    if (vasprintf(&text, format, arguments) < 0)
        die_out_of_memory(0);
    return text;
}

char *memory_format(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    char *text = memory_vformat(format, arguments);
    va_end(arguments);
    return text;
}

void *memory_grow(void *items, size_t count, size_t *capacity, size_t size) {
    if (count == *capacity) {
        *capacity = count ? count * 2 : 16;
        items = memory_resize(items, *capacity, size);
    }
    memset((char *)items + count * size, 0, size);
    return items;
}

void memory_sort(void *items, size_t n, size_t size, int (*compare)(const void *, const void *)) {
    if (n > 0) /* else `items` may be NULL, which qsort() must not get */
        qsort(items, n, size, compare);
}
