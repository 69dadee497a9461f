/* JSON that somebody else may have written, read within bounds: what its text makes us allocate is
 * taken from a room (base/room.h), and it nests no deeper than jansson allows. Private to formats/
 * and to what reads a program's own files. */
#ifndef PERSIK_FORMATS_JSON_INPUT_H
#define PERSIK_FORMATS_JSON_INPUT_H

#include <jansson.h>
#include <stddef.h>

#include "base/error.h"
#include "base/room.h"

/* As json_loadb(); what the tree takes is taken from `room`. NULL and `fault`: no JSON, or there
 * is no room for it (`room->exhausted`). */
json_t *json_parse(const char *text, size_t bytes, size_t flags, struct room *room,
                   json_error_t *fault);

/* The JSON in a file; `room` becomes what is left of the room of a file of this size. Objects with
 * the same key twice are refused. NULL and `error`: "`cannot`: the reason: `missing`" where it
 * cannot be read, and "not JSON, or cut short (line ...): `mend`". */
json_t *json_read_file(const char *path, struct room *room, const char *cannot, const char *missing,
                       const char *mend, struct error *error);

#endif
