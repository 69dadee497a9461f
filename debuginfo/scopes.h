/* Debug information: which functions an address is in. */
#ifndef PERSIK_DEBUGINFO_SCOPES_H
#define PERSIK_DEBUGINFO_SCOPES_H

#include <elfutils/libdw.h>

/* The scopes around an address of the unit, the innermost first: inlined functions, up to the one
 * that was really called and what that is in. Gives their number and allocates `scopes`, which the
 * caller frees; 0: nothing is known. */
int scopes_at(Dwarf_Die *unit, Dwarf_Addr address, Dwarf_Die **scopes);

#endif
