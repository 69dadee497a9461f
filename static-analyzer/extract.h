/* Clang's syntax tree of one file -> our own small tree (ir.h). */
#ifndef PERSIK_STATIC_ANALYZER_EXTRACT_H
#define PERSIK_STATIC_ANALYZER_EXTRACT_H

#include <string>
#include <vector>

#include "static-analyzer/ir.h"

namespace persik {

/* One file to analyse and how it was compiled. */
struct Source {
    std::string file;                 /* absolute path */
    std::string directory;            /* in which the compiler ran */
    std::vector<std::string> options; /* -D, -I, -std=, ... */
};

/* Parses `source` with Clang. Errors become problems of the unit; what could be parsed despite
 * them is there all the same. */
Unit extract_unit(const Source &source);

} // namespace persik

#endif
