/* Addresses of the sampled program -> function, file and line, inlined calls included (DWARF,
 * through elfutils' libdwfl; the symbol table where there is no DWARF). */
#ifndef PERSIK_SAMPLER_SYMBOLS_H
#define PERSIK_SAMPLER_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>

#include "sampler/modules.h"

/* All texts belong to the symbols and are unique: equal pointers are equal texts. */
struct symbol {
    const char *function; /* "[module]" when unknown */
    const char *file;     /* NULL unknown */
    int line;             /* 0 unknown */
    const char *module;   /* file name without its folder */
};

struct symbols;

/* `modules` must outlive the symbols; the program need not run any more. */
struct symbols *symbols_create(const struct modules *modules);

/* The calls that are at `address`, outermost first: the function and what is inlined into it there.
 * `*locations` are indexes for symbols_get(), and hold until the next call. */
size_t symbols_find(struct symbols *symbols, uint64_t address, const int **locations);

/* All locations so far, by index; they differ in function, file, line or module. Holds until the
 * next symbols_find(). */
const struct symbol *symbols_all(const struct symbols *symbols);

void symbols_free(struct symbols *symbols);

#endif
