/* What an entry of the debug information says. */
#ifndef PERSIK_DEBUGINFO_DIE_H
#define PERSIK_DEBUGINFO_DIE_H

#include <elfutils/libdw.h>

/* A small number, such as a line; 0: it has none. */
static inline int die_number(Dwarf_Die *die, unsigned name) {
    Dwarf_Attribute attribute;
    Dwarf_Word value = 0;
    if (dwarf_formudata(dwarf_attr(die, name, &attribute), &value) != 0)
        return 0;
    return (int)value;
}

#endif
