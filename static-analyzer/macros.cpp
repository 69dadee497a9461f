/* The compiler writes what it defines by itself and what its command line does before the first
 * file begins; units that have much of it in common import it from one place. */
#include <set>

#include <dwarf.h>

#include "static-analyzer/macros.h"

namespace persik {

namespace {

constexpr int max_depth = 8; /* of imports: they must not go round */

struct Search {
    Dwarf *dwarf;
    std::vector<std::string> &options;
    bool found;
    int depth;
};

/* Names that another compiler would have of its own. */
bool is_compilers(const std::string &name) {
    static const std::set<std::string> plain = {"unix", "linux", "i386"};
    return name.compare(0, 2, "__") == 0 || plain.count(name);
}

/* "NAME value" or "NAME(parameters) value" */
void add_definition(const std::string &text, std::vector<std::string> &options) {
    size_t end = text.find_first_of("( ");
    if (end != std::string::npos && text[end] == '(')
        end = text.find(')', end);
    size_t blank = end == std::string::npos ? end : text.find(' ', end);
    if (is_compilers(text.substr(0, text.find_first_of("( "))))
        return;
    if (blank == std::string::npos)
        options.push_back("-D" + text + "=");
    else
        options.push_back("-D" + text.substr(0, blank) + "=" + text.substr(blank + 1));
}

std::string text_of(Dwarf_Macro *macro) {
    const char *text = nullptr;
    return dwarf_macro_param2(macro, nullptr, &text) == 0 && text ? text : "";
}

int note(Dwarf_Macro *macro, void *context) {
    auto &search = *static_cast<Search *>(context);
    unsigned opcode = 0;
    Dwarf_Word offset = 0;
    if (dwarf_macro_opcode(macro, &opcode) != 0)
        return DWARF_CB_ABORT;
    switch (opcode) {
    case DW_MACRO_define:
    case DW_MACRO_define_strp:
    case DW_MACRO_define_strx:
        search.found = true;
        add_definition(text_of(macro), search.options);
        return DWARF_CB_OK;
    case DW_MACRO_undef:
    case DW_MACRO_undef_strp:
    case DW_MACRO_undef_strx:
        search.options.push_back("-U" + text_of(macro));
        return DWARF_CB_OK;
    case DW_MACRO_import:
        if (search.depth == max_depth || dwarf_macro_param1(macro, &offset) != 0)
            return DWARF_CB_ABORT;
        search.depth++;
        dwarf_getmacros_off(search.dwarf, offset, note, context, DWARF_GETMACROS_START);
        search.depth--;
        return DWARF_CB_OK;
    default: /* the first file */
        return DWARF_CB_ABORT;
    }
}

} // namespace

bool find_recorded_macros(Dwarf_Die *unit, std::vector<std::string> &options) {
    Search search = {dwarf_cu_getdwarf(unit->cu), options, false, 0};
    dwarf_getmacros(unit, note, &search, DWARF_GETMACROS_START);
    return search.found;
}

} // namespace persik
