/* Macros of the lost command line, from what the program contains: a line inside #ifdef NAME that
 * became code tells that NAME was defined. */
#include <cstring>
#include <fstream>
#include <regex>

#include "static-analyzer/sources.h"

namespace persik {

namespace {

/* The macro that the true branch of this directive needs; empty if that is not so simple. */
std::string demanded_macro(const std::string &directive) {
    static const std::regex simple(
        R"(^\s*#\s*(?:ifdef\s+(\w+)|(?:el)?if\s+defined\s*\(?\s*(\w+)\s*\)?\s*(?:/[*/].*)?)$)");
    std::smatch match;
    if (!std::regex_search(directive, match, simple))
        return "";
    std::string name = match[1].matched ? match[1].str() : match[2].str();
    return name[0] == '_' ? "" : name; /* the compiler's own */
}

bool is_directive(const std::string &line, const char *name) {
    size_t at = line.find_first_not_of(" \t");
    if (at == std::string::npos || line[at] != '#')
        return false;
    at = line.find_first_not_of(" \t", at + 1);
    return at != std::string::npos && line.compare(at, strlen(name), name) == 0;
}

} // namespace

void find_demanded_macros(const std::string &file, const std::set<int> &code_lines,
                          std::set<std::string> &demanded, std::set<std::string> &defined) {
    static const std::regex definition(R"(^\s*#\s*define\s+(\w+))");
    std::ifstream in(file);
    std::vector<std::string> open; /* one per #if around the line */
    int number = 0;
    for (std::string line; std::getline(in, line);) {
        number++;
        std::smatch match;
        if (is_directive(line, "define") && std::regex_search(line, match, definition))
            defined.insert(match[1].str());
        else if (is_directive(line, "if"))
            open.push_back(demanded_macro(line));
        else if (is_directive(line, "elif") && !open.empty())
            open.back() = demanded_macro(line);
        else if (is_directive(line, "else") && !open.empty())
            open.back() = "";
        else if (is_directive(line, "endif") && !open.empty())
            open.pop_back();
        else if (code_lines.count(number))
            for (const std::string &name : open)
                if (!name.empty())
                    demanded.insert(name);
    }
}

} // namespace persik
