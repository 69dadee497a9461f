#include "debuginfo/scopes.h"

#include <dwarf.h>
#include <stdbool.h>
#include <stdlib.h>

static bool may_hold_functions(int tag) {
    return tag == DW_TAG_subprogram || tag == DW_TAG_lexical_block || tag == DW_TAG_namespace ||
           tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type;
}

/* gcc describes a lambda where it stands, within its class: of a constructor's lambdas that is in a
 * description of the constructor which has no addresses, and libdw does not look there. */
static bool find_function(Dwarf_Die *around, Dwarf_Addr address, Dwarf_Die *found) {
    Dwarf_Die die;
    if (dwarf_child(around, &die) != 0)
        return false;
    do {
        int tag = dwarf_tag(&die);
        if (tag == DW_TAG_subprogram && dwarf_haspc(&die, address) > 0) {
            *found = die;
            return true;
        }
        if (may_hold_functions(tag) && find_function(&die, address, found))
            return true;
    } while (dwarf_siblingof(&die, &die) == 0);
    return false;
}

/* Makes of a function the innermost scope in it that has the address. */
static void descend(Dwarf_Die *scope, Dwarf_Addr address) {
    Dwarf_Die die;
    if (dwarf_child(scope, &die) != 0)
        return;
    do {
        int tag = dwarf_tag(&die);
        if ((tag == DW_TAG_lexical_block || tag == DW_TAG_inlined_subroutine) &&
            dwarf_haspc(&die, address) > 0) {
            *scope = die;
            descend(scope, address);
            return;
        }
    } while (dwarf_siblingof(&die, &die) == 0);
}

static bool has_function(Dwarf_Die *scopes, int n) {
    for (int i = 0; i < n; i++)
        if (dwarf_tag(&scopes[i]) == DW_TAG_subprogram ||
            dwarf_tag(&scopes[i]) == DW_TAG_inlined_subroutine)
            return true;
    return false;
}

int scopes_at(Dwarf_Die *unit, Dwarf_Addr address, Dwarf_Die **scopes) {
    Dwarf_Die *around = NULL, innermost;
    int n = dwarf_getscopes(unit, address, &around);
    bool found = has_function(around, n);
    if (found)
        innermost = around[0];
    else if ((found = find_function(unit, address, &innermost)))
        descend(&innermost, address);
    free(around);
    /* Scopes of the address end at the first inlined function's own definition; those of its DIE
     * go on to the function it is inlined in. */
    n = found ? dwarf_getscopes_die(&innermost, scopes) : 0;
    return n > 0 ? n : 0;
}
