/* Allocation that cannot fail (it ends the process with a clear line), and
 * growable arrays. For the command and the stages; never for the probe library. */
#ifndef PERSIK_BASE_MEMORY_H
#define PERSIK_BASE_MEMORY_H

#include <stdarg.h>
#include <stddef.h>

void *memory_alloc(size_t count, size_t size); /* zeroed */
void *memory_resize(void *block, size_t count, size_t size);
char *memory_strdup(const char *text); /* NULL stays NULL */
char *memory_format(const char *format, ...) __attribute__((format(printf, 1, 2)));
char *memory_vformat(const char *format, va_list arguments) __attribute__((format(printf, 1, 0)));

/* Grows `array` (elements `items`, in use `count`, room `capacity`) by one
 * element and gives the new element's address, zeroed:
 *     struct { struct thing *items; size_t count, capacity; } things = {0};
 *     *VECTOR_ADD(&things) = (struct thing){...};
 * free(things.items) ends it. */
#define VECTOR_ADD(array)                                                                          \
    ((array)->items = memory_grow((array)->items, (array)->count, &(array)->capacity,              \
                                  sizeof(__typeof__(*(array)->items))),                            \
     &(array)->items[(array)->count++])

/* Puts an array's elements in order, as qsort() does; there may be none. */
#define VECTOR_SORT(array, compare)                                                                \
    memory_sort((array)->items, (array)->count, sizeof *(array)->items, compare)

/* Implementation of VECTOR_SORT: `n` elements of so many bytes. */
void memory_sort(void *items, size_t n, size_t size, int (*compare)(const void *, const void *));

/* Implementation of VECTOR_ADD: room for element number `count`. */
void *memory_grow(void *items, size_t count, size_t *capacity, size_t size);

#endif
