/* Puts the program together: its files merged, its calls resolved, its flows built (program.h). */
#ifndef PERSIK_STATIC_ANALYZER_PROGRAM_BUILD_H
#define PERSIK_STATIC_ANALYZER_PROGRAM_BUILD_H

#include "static-analyzer/program.h"

namespace persik {

/* Merges the units (which are emptied) and follows calls from the functions named in `roots`, or
 * takes all if none of them is there. */
Program program_build(std::vector<Unit> &units, const std::vector<std::string> &roots);

} // namespace persik

#endif
