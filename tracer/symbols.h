/* Return addresses of a dead process -> functions, files, lines, from DWARF by libdwfl.
 *
 * Where debug information is taken from: debuginfo/files.h. Each address is looked up once. */
#ifndef PERSIK_TRACER_SYMBOLS_H
#define PERSIK_TRACER_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "formats/trace.h"

struct symbols;

/* `maps`: text like /proc/PID/maps in any order, kept by the probe library. NULL and `error` when
 * there is nothing usable in it. */
struct symbols *symbols_open(const char *maps, struct error *error);
void symbols_close(struct symbols *symbols);

/* The frames at the call that returns to `address`, innermost inlined one first, at least one. They
 * belong to `symbols`. Names are those of the symbol table: mangled for C++. */
const struct trace_frame *symbols_frames(struct symbols *symbols, uint64_t address, size_t *n);

/* Name of the function that starts at `address`, or "0x1234" (offset in its module). free() it. */
char *symbols_function(struct symbols *symbols, uint64_t address);

#endif
