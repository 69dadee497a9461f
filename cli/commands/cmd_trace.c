/* persik trace: stage 3 alone. */
#include <argp.h>

#include "cli/command.h"
#include "cli/recording/record.h"
#include "cli/recording/stages.h"
#include "cli/recording/workspace.h"
#include "host/rerun.h"

static const struct argp_option options_list[] = {
    OPTION_ONCE,        OPTION_THOROUGH,     OPTION_PLAIN_RUNS,     OPTION_STEADY,
    OPTION_PREPARE,     OPTION_CLEANUP,      OPTION_IGNORE_FAILURE, OPTION_FOLLOW,
    OPTION_NO_BLOCK_IO, OPTION_NO_EVICTIONS, OPTIONS_CATALOG,       {0}};

static const struct argp trace_argp = {
    .options = options_list,
    .parser = record_parse,
    .args_doc = "[--] PROGRAM [ARGUMENT...]",
    .doc = "Runs the program once with probes on its lock, queue, thread and I/O calls, and "
           "once without, to tell what the probes cost. With --thorough, more often without, and "
           "some times while the cores' caches are emptied now and then, to tell what that costs. "
           "Writes trace.persik and, then, evictions-1.persik, evictions-2.persik ...\v"
           "Examples:\n"
           "  persik trace ./server --threads 4\n"
           "  persik trace --load 'wrk -d 10s http://localhost:8080/' -- ./server -p 8080\n"
           "  persik trace --plain-runs 5 -o run1 -- ./server --threads 4\n",
    .children = record_children,
};

static int run_trace(const struct record_options *options, const char *directory,
                     struct error *error) {
    struct user_catalog *catalog;
    if (record_runs_several(options, false) && rerun_keep_input(error) < 0)
        return -1;
    if (stage_catalog(
            &(struct catalog_stage){options->catalog, options->task_begin, options->task_end},
            options->program[0], directory, &catalog, error) != 0)
        return -1;
    record_announce(options, false, true);
    struct trace_stage stage = {
        .program = options->program,
        .directory = directory,
        .plain_runs = options->plain_runs,
        .steady = options->steady,
        .ignore_failure = options->ignore_failure,
        .follow = options->follow,
        .block_io = !options->no_block_io,
        .evictions = record_evicts(options),
        .catalog = catalog,
        .facts_directory = options->common.directory,
    };
    record_announce_runs(options, stage_expected_runs(&stage, 0), 0);
    int status = stage_trace(&stage, error);
    user_catalog_free(catalog);
    return status;
}

int command_trace(int argc, char **argv) {
    static const char *const carried[] = {WORKSPACE_SAMPLE, WORKSPACE_STACKS, WORKSPACE_FACTS,
                                          WORKSPACE_CACHE, NULL};
    struct record_options options;
    record_options_parse(&trace_argp, argc, argv, &options);
    return record_into_workspace(&options, true, run_trace, carried, "the trace is", "build-model");
}
