/* Debug information: which compilation an address belongs to.
 *
 * libdwfl looks in .debug_aranges alone, which gcc writes and Clang does not, and gives of what was
 * compiled with -gsplit-dwarf only what stayed in the program. Here every unit's own ranges are
 * read, once for each module, and the .dwo file's unit stands for its skeleton. */
#ifndef PERSIK_DEBUGINFO_COMPILATIONS_H
#define PERSIK_DEBUGINFO_COMPILATIONS_H

#include <elfutils/libdwfl.h>
#include <stdbool.h>

struct compilation {
    Dwarf_Die functions; /* of the .dwo file, where it is one's own */
    Dwarf_Die lines;     /* has the line table and the compiler's folder */
    Dwarf_Addr bias;     /* what an address is above what the debug information has for it */
};

/* The units of the modules that were asked for. */
struct compilations;

struct compilations *compilations_new(void);
void compilations_free(struct compilations *units);

/* The unit that `address` is in. False: nothing is known. Holds as long as module and units do. */
bool compilations_find(struct compilations *units, Dwfl_Module *module, Dwarf_Addr address,
                       struct compilation *found);

/* The line of `address`; NULL: none. */
Dwarf_Line *compilation_line(struct compilation *unit, Dwarf_Addr address);

/* The folder that the compiler ran in; NULL: not known. */
const char *compilation_directory(struct compilation *unit);

/* The next unit with code of its own: `*position` is NULL for the first, false when there is none.
 * Without its .dwo file a skeleton is both. */
bool compilations_next(Dwarf *debug, Dwarf_CU **position, Dwarf_Die *functions, Dwarf_Die *lines);

#endif
