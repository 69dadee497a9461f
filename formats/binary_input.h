/* A binary file to be read from its beginning to its end, and what it may make its reader take: no
 * more bytes than it has, and no more memory than its size is worth. */
#ifndef PERSIK_FORMATS_BINARY_INPUT_H
#define PERSIK_FORMATS_BINARY_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "base/room.h"

/* What a writer thinks that its JSON header takes of the reader's room: of every byte of it, and of
 * every frame of a place in it. A file whose items need more than it is worth gets padding. */
#define ROOM_OF_TEXT  14u
#define ROOM_OF_FRAME 128u

struct binary_input {
    FILE *file;
    const char *path;      /* the caller's */
    uint64_t offset, size; /* bytes */
    struct room room;
};

/* -1: `path` is no file that can be read; `error` says that `command` ("persik trace") writes it.
 * End it with binary_input_close(). */
int binary_input_open(struct binary_input *input, const char *path, const char *command,
                      struct error *error);
void binary_input_close(struct binary_input *input);

/* The next bytes. False: the file has not so many. */
bool binary_input_take(struct binary_input *input, void *to, size_t bytes);

/* `n` things of `size` bytes, zeroed, the caller's; NULL: the file is not worth so many. */
void *binary_input_allocate(struct binary_input *input, size_t n, size_t size);

#endif
