/* Calls of C++'s virtual methods: of any class that is derived from the one that is named. */
#ifndef PERSIK_STATIC_ANALYZER_VIRTUAL_H
#define PERSIK_STATIC_ANALYZER_VIRTUAL_H

#include "static-analyzer/program.h"

namespace persik {

/* Finds the program's methods behind each (Program.implementations). Calls that can only reach one
 * become calls of that. Before the flows are built. */
void link_virtual_calls(Program &program);

} // namespace persik

#endif
