/* Macros of a compiler's command line, out of debug information that has them (-g3). */
#ifndef PERSIK_STATIC_ANALYZER_MACROS_H
#define PERSIK_STATIC_ANALYZER_MACROS_H

#include <string>
#include <vector>

#include <elfutils/libdw.h>

namespace persik {

/* Adds those that `unit` was compiled with to `options`. False: they were not recorded. */
bool find_recorded_macros(Dwarf_Die *unit, std::vector<std::string> &options);

} // namespace persik

#endif
