/* Sources and their compile options out of a program's debug information (DWARF, by libdw). */
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>
#include <unistd.h>

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>

extern "C" {
#include "debuginfo/files.h"
#include "debuginfo/reason.h"
}
#include "static-analyzer/macros.h"
#include "static-analyzer/sources.h"

namespace fs = std::filesystem;

namespace persik {

namespace {

std::string attribute(Dwarf_Die *die, unsigned name) {
    Dwarf_Attribute found;
    const char *text = dwarf_formstring(dwarf_attr_integrate(die, name, &found));
    return text ? text : "";
}

bool is_c_family(Dwarf_Die *die) {
    switch (dwarf_srclang(die)) {
    case DW_LANG_C:
    case DW_LANG_C89:
    case DW_LANG_C99:
    case DW_LANG_C11:
    case DW_LANG_C_plus_plus:
    case DW_LANG_C_plus_plus_11:
    case DW_LANG_C_plus_plus_14:
    case 0x2a: /* DWARF 6: C++17, C++20, C17, which this dwarf.h does not have */
    case 0x2b:
    case 0x2c:
        return true;
    default:
        return false;
    }
}

/* "lib/list.h" is found in a folder above that of the file. Those come last, so that they hide
 * nothing. */
void add_folders_above(std::set<std::string> seen, std::vector<std::string> &options) {
    const int max_above = 3;
    const std::set<std::string> folders = seen;
    for (const std::string &folder : folders) {
        fs::path above = fs::path(folder).parent_path();
        for (int i = 0; i < max_above && above.has_relative_path();
             i++, above = above.parent_path())
            if (seen.insert(above.string()).second)
                options.insert(options.end(), {"-idirafter", above.string()});
    }
}

/* Without -grecord-gcc-switches the command line is lost: the folders of all files that went into
 * the compilation take the place of -I. They are guesses: a file there that is called as a header
 * of the system, `version` or `string`, must not hide that one. */
std::vector<std::string> include_options(Dwarf_Die *die, const std::string &directory) {
    std::vector<std::string> options;
    Dwarf_Files *files = nullptr;
    size_t count = 0;
    if (dwarf_getsrcfiles(die, &files, &count) != 0)
        return options;
    std::set<std::string> seen;
    for (size_t i = 0; i < count; i++) {
        const char *name = dwarf_filesrc(files, i, nullptr, nullptr);
        if (!name || !*name || *name == '<')
            continue;
        fs::path folder = (fs::path(directory) / name).lexically_normal().parent_path();
        std::string path = folder.string();
        if (path.rfind("/usr/include", 0) == 0 || path.rfind("/usr/lib", 0) == 0)
            continue; /* Clang knows its system folders */
        if (seen.insert(path).second)
            options.insert(options.end(), {"-iquote", path});
    }
    for (const std::string &folder : seen)
        options.insert(options.end(), {"-idirafter", folder});
    add_folders_above(seen, options);
    return options;
}

std::vector<std::string> compile_options(Dwarf_Die *die, Dwarf_Die *split,
                                         const std::string &directory) {
    std::istringstream producer(attribute(split, DW_AT_producer));
    std::vector<std::string> words;
    for (std::string word; producer >> word;)
        words.push_back(word);
    std::vector<std::string> options = parse_options(words);
    std::vector<std::string> includes = include_options(die, directory);
    options.insert(options.end(), includes.begin(), includes.end());
    return options;
}

/* Where the macros of the command line are lost, the source is one of the `guessed`. What
 * -gsplit-dwarf left in the program itself is in `die`, the rest in `split`; else both are one. */
void add_unit(Dwarf_Die *die, Dwarf_Die *split, std::vector<Source> &sources,
              std::vector<Source> &guessed, std::vector<std::string> &problems) {
    std::string directory = attribute(die, DW_AT_comp_dir);
    std::string name = attribute(split, DW_AT_name);
    std::string file = (fs::path(directory) / name).lexically_normal().string();
    std::error_code ignored;
    if (!fs::is_regular_file(file, ignored)) {
        problems.push_back("source not found: " + file + ": give --build-dir");
        return;
    }
    /* the folder of the compilation may be gone, and Clang wants to start in one */
    if (!fs::is_directory(directory, ignored))
        directory = fs::path(file).parent_path().string();
    Source source = {file, directory, compile_options(die, split, directory)};
    (find_recorded_macros(split, source.options) ? sources : guessed).push_back(source);
}

using CodeLines = std::map<std::string, std::set<int>>; /* by file */

void add_code_lines(Dwarf_Die *die, CodeLines &code) {
    std::string directory = attribute(die, DW_AT_comp_dir);
    Dwarf_Lines *lines = nullptr;
    size_t count = 0;
    if (dwarf_getsrclines(die, &lines, &count) != 0)
        return;
    const char *last_name = nullptr;
    std::set<int> *last = nullptr;
    for (size_t i = 0; i < count; i++) {
        Dwarf_Line *line = dwarf_onesrcline(lines, i);
        const char *name = dwarf_linesrc(line, nullptr, nullptr);
        int number = 0;
        if (!name || dwarf_lineno(line, &number) != 0 || number == 0)
            continue;
        if (name != last_name) {
            last = &code[(fs::path(directory) / name).lexically_normal().string()];
            last_name = name;
        }
        last->insert(number);
    }
}

/* Headers of the program without code of their own: they may define macros too. */
void add_headers(CodeLines &code) {
    std::set<fs::path> folders;
    for (const auto &[file, lines] : code)
        if (file.rfind("/usr/", 0) != 0)
            folders.insert(fs::path(file).parent_path());
    std::error_code ignored;
    for (const fs::path &folder : folders)
        for (const auto &entry : fs::directory_iterator(folder, ignored))
            if (entry.path().extension() == ".h")
                code[entry.path().string()];
}

/* A macro given on the command line is nearly always given to all files. One that is lost hides
 * declarations. */
void add_demanded_macros(CodeLines &code, std::vector<Source> &sources) {
    add_headers(code);
    std::set<std::string> demanded, defined;
    for (const auto &[file, lines] : code)
        if (file.rfind("/usr/", 0) != 0)
            find_demanded_macros(file, lines, demanded, defined);
    for (Source &source : sources) {
        source.options.push_back("-D_GNU_SOURCE"); /* declares most */
        for (const std::string &name : demanded)
            if (!defined.count(name))
                source.options.push_back("-D" + name);
    }
}

/* Of a program, Dwfl also finds debug information that lives in a file of its own. A library that
 * has it elsewhere is the system's. */
class Module {
  public:
    Module(const std::string &binary, bool is_library) {
        callbacks.find_elf = dwfl_build_id_find_elf;
        callbacks.find_debuginfo = is_library ? debuginfo_find_inside : debuginfo_find;
        callbacks.section_address = dwfl_offline_section_address;
        session = dwfl_begin(&callbacks);
        if (session)
            module = dwfl_report_offline(session, "", binary.c_str(), -1);
        if (module)
            dwfl_report_end(session, nullptr, nullptr);
    }
    ~Module() {
        dwfl_end(session);
    }
    Module(const Module &) = delete;
    Module &operator=(const Module &) = delete;

    Dwfl_Module *module = nullptr;

  private:
    Dwfl_Callbacks callbacks = {};
    Dwfl *session = nullptr;
};

/* False when the debug information of none is there. */
bool add_units(const Module &of, std::vector<Source> &sources, std::vector<std::string> &problems) {
    CodeLines code;
    std::vector<Source> guessed;
    bool any = false;
    Dwarf_Addr bias = 0;
    Dwarf *debug = dwfl_module_getdwarf(of.module, &bias);
    Dwarf_CU *position = nullptr;
    Dwarf_Die die, split;
    uint8_t type = 0;
    while (debug &&
           dwarf_get_units(debug, position, &position, nullptr, &type, &die, &split) == 0) {
        bool is_split = type == DW_UT_skeleton && split.addr;
        if (!is_c_family(is_split ? &split : &die))
            continue;
        any = true;
        add_unit(&die, is_split ? &split : &die, sources, guessed, problems);
        add_code_lines(&die, code);
    }
    add_demanded_macros(code, guessed);
    sources.insert(sources.end(), guessed.begin(), guessed.end());
    return any;
}

std::string explain_nothing(const std::string &binary) {
    char *reason = debuginfo_reason(binary.c_str());
    std::string text = reason ? "no debug information in " + binary + ": " + reason
                              : "no debug information of C or C++ in " + binary +
                                    ": only source in these languages can be analysed";
    free(reason);
    return text;
}

} // namespace

bool find_sources_in_binary(const std::string &binary, std::vector<Source> &sources,
                            std::vector<std::string> &problems, std::string &error) {
    if (access(binary.c_str(), R_OK) != 0) {
        error = "cannot read " + binary + ": " + strerror(errno);
        return false;
    }
    Module program(binary, false);
    if (!program.module) {
        error = binary + " is not a program: " + dwfl_errmsg(-1);
        return false;
    }
    if (!add_units(program, sources, problems))
        error = explain_nothing(binary);
    else if (sources.empty())
        error = problems[0];
    return !sources.empty();
}

void find_sources_in_library(const std::string &library, std::vector<Source> &sources) {
    std::vector<std::string> ignored;
    Module module(library, true);
    if (module.module)
        add_units(module, sources, ignored);
}

} // namespace persik
