/* Local pointers that are only ever set to one function, as by pthread_cleanup_push(). */
#ifndef PERSIK_STATIC_ANALYZER_FIXED_H
#define PERSIK_STATIC_ANALYZER_FIXED_H

#include "static-analyzer/ir.h"

namespace persik {

/* Calls through them become calls of that function. */
void call_fixed_pointers(Stmt &body);

} // namespace persik

#endif
