/* persik-analyze: stage 2. What the source says about the program -> static.json.
 *
 *   sources.cpp, dwarf.cpp   which files, compiled how
 *   workers.cpp, extract.cpp each file by Clang -> ir.h, in parallel; cache.cpp keeps them
 *   names.cpp, library.cpp   of its declarations; what C++'s library is in C's terms
 *   program_build.cpp, flow.cpp  merged: calls, locks held
 *   spawns.cpp, taint.cpp    creations in no loop; where the thread count goes
 *   sharing.cpp              what threads take from one place
 *   critical.cpp, formula.cpp    critical sections, conditions as formulas
 *   protocol.cpp, amounts.cpp    what those of one mutex do to each other; capacities
 *   choices.cpp              of which there may be several
 *   core_caps.cpp            thread counts within the number of cores
 *   loops.cpp, spins.cpp, creations.cpp, monitors.cpp   the findings
 *   save.cpp                 static.json */
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include <getopt.h>
#include <jansson.h>

extern "C" {
#include "base/log.h"
}
#include "static-analyzer/findings.h"
#include "static-analyzer/program_build.h"
#include "static-analyzer/sources.h"
#include "static-analyzer/workers.h"

using namespace persik;

namespace {

enum { exit_failure = 1, exit_usage = 2 };

const char usage[] =
    "Usage: persik-analyze --output FILE [option...] [SOURCE...]\n"
    "Finds what the source of a multithreaded program says about its behaviour.\n"
    "  --output FILE             where to write the facts (static.json)\n"
    "  --binary PROGRAM          whose debug information names sources and options\n"
    "  --build-dir DIR           folder of compile_commands.json\n"
    "  --compile-commands FILE   that file itself\n"
    "  --functions FILE          start from these functions: one per line, or as in\n"
    "                            sample.json; may be given more than once; default: from all\n"
    "  --cache DIR               keep the results per file here\n"
    "  --quiet                   no progress on a terminal\n"
    "  --verbose                 say how many files were analysed\n"
    "  --help                    show this text\n";

struct Options {
    std::string output, cache;
    std::vector<std::string> functions; /* files */
    bool verbose = false;
    SourceRequest request;
};

/* Exits by itself on --help and on wrong usage. */
Options parse_command_line(int argc, char **argv) {
    static const option longs[] = {
        {"output", required_argument, nullptr, 'o'},
        {"binary", required_argument, nullptr, 'b'},
        {"build-dir", required_argument, nullptr, 'd'},
        {"compile-commands", required_argument, nullptr, 'c'},
        {"functions", required_argument, nullptr, 'f'},
        {"cache", required_argument, nullptr, 'k'},
        {"quiet", no_argument, nullptr, 'q'},
        {"verbose", no_argument, nullptr, 'v'},
        {"help", no_argument, nullptr, 'h'},
        {},
    };
    Options options;
    for (int c; (c = getopt_long(argc, argv, "o:", longs, nullptr)) != -1;) {
        switch (c) {
        case 'o':
            options.output = optarg;
            break;
        case 'b':
            options.request.binary = optarg;
            break;
        case 'd':
            options.request.build_directory = optarg;
            break;
        case 'c':
            options.request.compile_commands = optarg;
            break;
        case 'f':
            options.functions.push_back(optarg);
            break;
        case 'k':
            options.cache = optarg;
            break;
        case 'q':
            log_set_level(LOG_QUIET);
            break;
        case 'v':
            options.verbose = true;
            break;
        case 'h':
            fputs(usage, stdout);
            exit(0);
        default:
            exit(exit_usage);
        }
    }
    options.request.files.assign(argv + optind, argv + argc);
    if (options.output.empty()) {
        fputs("persik-analyze: --output is missing: see --help\n", stderr);
        exit(exit_usage);
    }
    return options;
}

/* The functions, and the libraries that they are in. */
bool read_sample(const std::string &path, std::vector<std::string> &names,
                 std::vector<std::string> &libraries, std::string &error) {
    json_error_t reason;
    json_t *root = json_load_file(path.c_str(), 0, &reason);
    json_t *list = json_object_get(root, "functions");
    if (!json_is_array(list)) {
        error = path + " has no list \"functions\": run persik sample again";
        json_decref(root);
        return false;
    }
    for (size_t i = 0; i < json_array_size(list); i++) {
        json_t *name = json_object_get(json_array_get(list, i), "name");
        if (json_is_string(name))
            names.push_back(json_string_value(name));
    }
    list = json_object_get(root, "libraries");
    for (size_t i = 0; i < json_array_size(list); i++)
        if (const char *library = json_string_value(json_array_get(list, i)))
            libraries.push_back(library);
    json_decref(root);
    return true;
}

bool read_functions(const std::string &path, std::vector<std::string> &names,
                    std::vector<std::string> &libraries, std::string &error) {
    std::ifstream in(path);
    if (!in) {
        error = "cannot read " + path + ": " + strerror(errno);
        return false;
    }
    if (in.peek() == '{')
        return read_sample(path, names, libraries, error);
    for (std::string line; std::getline(in, line);)
        if (!line.empty())
            names.push_back(line);
    return true;
}

bool analyse(Options options, std::string &error) {
    std::vector<std::string> roots;
    std::vector<Source> sources;
    Findings findings;
    for (const std::string &file : options.functions)
        if (!read_functions(file, roots, options.request.libraries, error))
            return false;
    if (!find_sources(options.request, sources, findings.problems, error))
        return false;
    size_t from_cache = 0;
    std::vector<Unit> units = extract_all(sources, options.cache, from_cache);
    if (options.verbose)
        fprintf(stderr, "%zu files analysed, %zu taken from the cache\n", units.size() - from_cache,
                from_cache);
    for (const Unit &unit : units) {
        findings.problems.insert(findings.problems.end(), unit.problems.begin(),
                                 unit.problems.end());
        if (unit.parsed)
            findings.files.push_back(unit.file);
    }
    if (findings.files.empty()) {
        error = findings.problems.empty() ? "nothing was analysed" : findings.problems[0];
        return false;
    }
    Program program = program_build(units, roots);
    Taint taint(program);
    Sharing sharing(program);
    Bounds bounds(program, taint, sharing);
    findings.thread_count = taint.thread_count();
    findings.core_cap = find_core_cap(program, taint);
    find_fragments(program, findings);
    find_loops(program, bounds, findings);
    find_lambdas(program, findings);
    find_solos(program, taint, findings);
    find_spins(program, findings);
    find_shares(program, taint, bounds, findings);
    find_creations(program, taint, bounds, findings);
    find_monitors(program, taint, findings);
    return findings_save(findings, options.output, error);
}

} // namespace

int main(int argc, char **argv) {
    Options options = parse_command_line(argc, argv);
    std::string error;
    if (analyse(options, error))
        return 0;
    fprintf(stderr, "persik-analyze: %s\n", error.c_str());
    return exit_failure;
}
