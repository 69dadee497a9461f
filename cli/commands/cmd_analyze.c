/* persik analyze: stage 2 alone. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/log.h"
#include "cli/command.h"
#include "cli/recording/record.h"
#include "cli/recording/stages.h"
#include "cli/recording/workspace.h"

static const struct argp_option options_list[] = {
    {"build-dir", KEY_BUILD_DIR, "DIR", 0,
     "where compile_commands.json is (default: found by itself)", 1},
    {0},
};

static const struct argp analyze_argp = {
    .options = options_list,
    .parser = record_parse_without_run,
    .args_doc = "[--] PROGRAM",
    .doc = "Analyses the source of main, of the functions that were sampled and of those in which "
           "traced calls were made, and all that they call (with no samples and no trace: of all "
           "functions). Runs nothing. Writes static.json.\v"
           "Examples:\n"
           "  persik analyze ./server\n"
           "  persik analyze --build-dir build -o run1 ./server\n",
    .children = record_children_without_run,
};

int command_analyze(int argc, char **argv) {
    struct record_options options;
    record_options_parse(&analyze_argp, argc, argv, &options);
    struct error error;
    if (mkdir(options.common.directory, 0700) < 0 && errno != EEXIST) {
        error_set(&error, "cannot create %s: %s: choose a writable folder with -o DIR",
                  options.common.directory, strerror(errno));
        return command_failed(&error);
    }
    struct analyze_stage stage = {
        .program = options.program[0],
        .directory = options.common.directory,
        .cache = options.common.directory,
        .build_directory = options.build_directory,
    };
    if (stage_analyze(&stage, &error) < 0)
        return command_failed(&error);
    log_note("the facts are in %s/%s", options.common.directory, WORKSPACE_FACTS);
    return 0;
}
