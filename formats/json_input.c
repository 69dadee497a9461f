#include "formats/json_input.h"

#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define MOST_BYTES  ((size_t)1 << 30) /* of text: ten thousand times a large model */
#define CHUNK_BYTES ((size_t)1 << 16)
#define HEAD_BYTES  16u /* that malloc() keeps for a block */

/* jansson's allocator has no argument of ours. NULL: this thread parses nothing. */
static _Thread_local struct room *parsing;

static void *take(size_t bytes) {
    if (parsing && !room_take(parsing, 1, bytes + HEAD_BYTES))
        return NULL;
    return malloc(bytes);
}

/* Frees what malloc() gave, whether by take() or not. What a block is larger than was asked for is
 * given back as well: it is less than its head. */
static void give_back(void *block) {
    if (parsing && block)
        room_give_back(parsing, malloc_usable_size(block));
    free(block);
}

json_t *json_parse(const char *text, size_t bytes, size_t flags, struct room *room,
                   json_error_t *fault) {
    json_malloc_t malloc_before;
    json_free_t free_before;
    json_get_alloc_funcs(&malloc_before, &free_before);
    json_set_alloc_funcs(take, give_back);
    parsing = room;
    json_t *json = json_loadb(text, bytes, flags, fault);
    parsing = NULL;
    json_set_alloc_funcs(malloc_before, free_before);
    return json;
}

/* All of `file`, at most MOST_BYTES; NULL and errno. */
static char *read_text(FILE *file, size_t *bytes) {
    char *text = NULL;
    size_t capacity = 0, used = 0, got;
    do {
        if (used == capacity) {
            capacity = capacity ? capacity * 2 : CHUNK_BYTES;
            text = memory_resize(text, capacity, 1);
        }
        got = fread(text + used, 1, capacity - used, file);
        used += got;
    } while (got > 0 && used <= MOST_BYTES);
    if (ferror(file) || used > MOST_BYTES) {
        if (!ferror(file))
            errno = EFBIG;
        free(text);
        return NULL;
    }
    *bytes = used;
    return text;
}

json_t *json_read_file(const char *path, struct room *room, const char *cannot, const char *missing,
                       const char *mend, struct error *error) {
    FILE *file = fopen(path, "re");
    size_t bytes = 0;
    char *text = file ? read_text(file, &bytes) : NULL;
    if (!text) {
        error_set(error, "%s: %s: %s", cannot, strerror(errno), missing);
        if (file)
            fclose(file);
        return NULL;
    }
    fclose(file);
    json_error_t fault;
    *room = room_of_file(bytes);
    json_t *json = json_parse(text, bytes, JSON_REJECT_DUPLICATES, room, &fault);
    free(text);
    if (!json && room->exhausted)
        error_set(error, "holds more things than its size is for: %s", mend);
    else if (!json)
        error_set(error, "not JSON, or cut short (line %d: %s): %s", fault.line, fault.text, mend);
    return json;
}
