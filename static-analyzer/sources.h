/* Which files to analyse and how they were compiled: from compile_commands.json, or from the debug
 * information of the program. */
#ifndef PERSIK_STATIC_ANALYZER_SOURCES_H
#define PERSIK_STATIC_ANALYZER_SOURCES_H

#include <set>
#include <string>
#include <vector>

#include "static-analyzer/extract.h"

namespace persik {

struct SourceRequest {
    std::string build_directory;        /* of compile_commands.json; empty: look for it */
    std::string compile_commands;       /* the file itself; empty: look for it */
    std::string binary;                 /* empty: none */
    std::vector<std::string> libraries; /* whose code the binary runs */
    std::vector<std::string> files;     /* empty: all */
};

/* Finds the sources. Files that are missing become `problems`. False with one line in `error` when
 * there is nothing to analyse. */
bool find_sources(const SourceRequest &request, std::vector<Source> &sources,
                  std::vector<std::string> &problems, std::string &error);

/* The sources of which `binary` was made, by its debug information (dwarf.cpp). Existing files
 * only; the others become `problems`. */
bool find_sources_in_binary(const std::string &binary, std::vector<Source> &sources,
                            std::vector<std::string> &problems, std::string &error);

/* Adds those of which a shared library was made, if it has its debug information in itself and they
 * exist: most libraries are the system's. */
void find_sources_in_library(const std::string &library, std::vector<Source> &sources);

/* Adds the macros that must have been defined for `code_lines` of `file` to become code, and those
 * that the file itself defines (conditions.cpp). */
void find_demanded_macros(const std::string &file, const std::set<int> &code_lines,
                          std::set<std::string> &demanded, std::set<std::string> &defined);

/* Of a compiler's command line, the options that matter for parsing. */
std::vector<std::string> parse_options(const std::vector<std::string> &command);

} // namespace persik

#endif
