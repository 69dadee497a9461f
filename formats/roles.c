/* What follows from a role in the user's catalog. Apart from the rest of it, for the probe library
 * needs it too. */
#include "formats/trace.h"
#include "formats/user_catalog.h"

unsigned user_role_flags(enum api role, bool spins) {
    if (role >= API_COUNT)
        return 0;
    unsigned flags = spins ? TRACE_SPINS : 0;
    switch (api_catalog[role].op) {
    case OP_INIT:
    case OP_UNLOCK:
    case OP_RWUNLOCK:
    case OP_RELEASE:
    case OP_CLOSE:
    case OP_SIGNAL:
    case OP_TRYLOCK:
    case OP_TRYACQUIRE:
    case OP_TRYPUT:
    case OP_TRYGET:
    case OP_NONE:
        return flags;
    default:
        return flags | TRACE_WAITED;
    }
}

bool user_role_hides(enum api role) {
    if (role >= API_COUNT)
        return true;
    enum api_op op = api_catalog[role].op;
    return op != OP_INIT && op != OP_NONE;
}

bool user_role_marks_tasks(enum api role) {
    return role == ROLE_task || role == ROLE_task_from || role == ROLE_task_until;
}
