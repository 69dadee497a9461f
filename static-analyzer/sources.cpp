#include "static-analyzer/sources.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <set>

#include "clang/Tooling/CompilationDatabase.h"
#include "clang/Tooling/JSONCompilationDatabase.h"

namespace fs = std::filesystem;

namespace persik {

namespace {

bool starts_with(const std::string &text, const char *prefix) {
    return text.rfind(prefix, 0) == 0;
}

std::string absolute(const std::string &directory, const std::string &file) {
    return (fs::path(directory) / file).lexically_normal().string();
}

/* compile_commands.json in `start` or a folder above it. */
std::string find_database_above(fs::path start) {
    std::error_code ignored;
    start = fs::absolute(start, ignored);
    for (;; start = start.parent_path()) {
        for (const char *sub : {"", "build"}) {
            fs::path candidate = start / sub / "compile_commands.json";
            if (fs::is_regular_file(candidate, ignored))
                return candidate.string();
        }
        if (!start.has_relative_path())
            return "";
    }
}

std::string find_database(const SourceRequest &request) {
    if (!request.compile_commands.empty())
        return request.compile_commands;
    if (!request.build_directory.empty())
        return (fs::path(request.build_directory) / "compile_commands.json").string();
    if (!request.binary.empty()) {
        std::string found = find_database_above(fs::path(request.binary).parent_path());
        if (!found.empty())
            return found;
    }
    for (const std::string &file : request.files) {
        std::string found = find_database_above(fs::path(file).parent_path());
        if (!found.empty())
            return found;
    }
    return "";
}

/* A file that was compiled in several ways counts as it was the first time. */
void keep_first(std::vector<Source> &sources) {
    std::set<std::string> seen;
    std::vector<Source> kept;
    for (Source &source : sources)
        if (seen.insert(source.file).second)
            kept.push_back(std::move(source));
    sources = std::move(kept);
}

bool load_database(const std::string &path, std::vector<Source> &sources, std::string &error) {
    std::string reason;
    auto database = clang::tooling::JSONCompilationDatabase::loadFromFile(
        path, reason, clang::tooling::JSONCommandLineSyntax::AutoDetect);
    if (!database) {
        std::replace(reason.begin(), reason.end(), '\n', ' ');
        error = path + ": " + reason + ": give --build-dir, the folder of compile_commands.json";
        return false;
    }
    for (const auto &command : database->getAllCompileCommands()) {
        std::string file = absolute(command.Directory, command.Filename);
        if (fs::path(file).extension() == ".S" || fs::path(file).extension() == ".s")
            continue;
        sources.push_back({file, command.Directory, parse_options(command.CommandLine)});
    }
    keep_first(sources);
    return true;
}

/* Of a database found by chance, only what the program is made of; what it lacks, as the program
 * tells it. */
void keep_files_of(const std::vector<Source> &wanted, std::vector<Source> &sources) {
    std::vector<Source> kept;
    for (const Source &source : wanted) {
        auto known = std::find_if(sources.begin(), sources.end(), [&](const Source &candidate) {
            return candidate.file == source.file;
        });
        kept.push_back(known == sources.end() ? source : *known);
    }
    sources = std::move(kept);
}

void keep_existing(std::vector<Source> &sources, std::vector<std::string> &problems) {
    std::vector<Source> kept;
    for (Source &source : sources) {
        std::error_code ignored;
        if (fs::is_regular_file(source.file, ignored))
            kept.push_back(std::move(source));
        else
            problems.push_back("source not found: " + source.file + ": give --build-dir");
    }
    sources = std::move(kept);
}

/* The named files, with the options of the database where it knows them. */
bool keep_named(const SourceRequest &request, std::vector<Source> &sources, std::string &error) {
    std::vector<Source> named;
    for (const std::string &file : request.files) {
        std::error_code ignored;
        std::string path = fs::absolute(file, ignored).lexically_normal().string();
        if (!fs::is_regular_file(path, ignored)) {
            error = "source not found: " + file;
            return false;
        }
        auto known = std::find_if(sources.begin(), sources.end(),
                                  [&](const Source &source) { return source.file == path; });
        if (known != sources.end())
            named.push_back(*known);
        else
            named.push_back({path, fs::current_path(ignored).string(), {}});
    }
    sources = std::move(named);
    return true;
}

} // namespace

std::vector<std::string> parse_options(const std::vector<std::string> &command) {
    static const char *const with_argument[] = {"-D",        "-U",         "-I",       "-isystem",
                                                "-iquote",   "-idirafter", "-include", "-imacros",
                                                "-isysroot", "-x"};
    static const char *const plain[] = {"-std=",          "-ansi",   "-pthread",
                                        "-m32",           "-m64",    "-funsigned-char",
                                        "-fsigned-char",  "-fshort", "-fms-extensions",
                                        "-fgnu89-inline", "-march=", "-msse",
                                        "-mavx",          "-mbmi",   "-nostdinc"};
    std::vector<std::string> options;
    for (size_t i = 1; i < command.size(); i++) {
        const std::string &word = command[i];
        if (starts_with(word, "-D_FORTIFY_SOURCE"))
            continue; /* would put other functions in the place of read(), recv() ... */
        if (std::find(std::begin(with_argument), std::end(with_argument), word) !=
                std::end(with_argument) &&
            i + 1 < command.size()) {
            options.push_back(word);
            options.push_back(command[++i]);
            continue;
        }
        auto begins = [&](const char *prefix) { return starts_with(word, prefix); };
        if (std::any_of(std::begin(with_argument), std::end(with_argument), begins) ||
            std::any_of(std::begin(plain), std::end(plain), begins))
            options.push_back(word);
    }
    return options;
}

bool find_sources(const SourceRequest &request, std::vector<Source> &sources,
                  std::vector<std::string> &problems, std::string &error) {
    std::string database = find_database(request);
    bool demanded = !request.compile_commands.empty() || !request.build_directory.empty();
    std::vector<Source> from_binary;
    std::vector<std::string> binary_problems;
    std::string binary_error;
    bool found = request.binary.empty() ||
                 find_sources_in_binary(request.binary, from_binary, binary_problems, binary_error);
    for (const std::string &library : request.libraries)
        find_sources_in_library(library, from_binary);
    keep_first(from_binary);
    if (!found && from_binary.empty() && !demanded && request.files.empty()) {
        error = binary_error;
        return false;
    }
    if (!database.empty() && !load_database(database, sources, error))
        return false;
    if (!demanded && !from_binary.empty()) {
        keep_files_of(from_binary, sources);
        problems = binary_problems;
    }
    if (!request.files.empty())
        return keep_named(request, sources, error);
    keep_existing(sources, problems);
    if (!sources.empty())
        return true;
    error = problems.empty() ? "no source to analyse: give a program compiled with -g, "
                               "--build-dir or source files"
                             : problems[0];
    return false;
}

} // namespace persik
