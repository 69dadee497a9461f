/* persik sample: stage 1 alone. */
#include <argp.h>

#include "cli/command.h"
#include "cli/recording/record.h"
#include "cli/recording/stages.h"
#include "cli/recording/workspace.h"

static const struct argp_option options_list[] = {
    OPTION_RATE, OPTION_PREPARE, OPTION_CLEANUP, OPTION_IGNORE_FAILURE, {0}};

static const struct argp sample_argp = {
    .options = options_list,
    .parser = record_parse,
    .args_doc = "[--] PROGRAM [ARGUMENT...]",
    .doc = "Runs the program and takes the stacks of all its threads, running and blocked. Writes "
           "sample.json (call trie, thread pools) and stacks.folded (for flame graphs).\v"
           "Examples:\n"
           "  persik sample ./server --threads 4\n"
           "  persik sample --load 'wrk -d 10s http://localhost:8080/' -- ./server -p 8080\n"
           "  persik sample --rate 500 -- ./server && \\\n"
           "      flamegraph.pl persik.data/stacks.folded\n",
    .children = record_children,
};

static int run_sample(const struct record_options *options, const char *directory,
                      struct error *error) {
    struct sample_stage stage = {.program = options->program,
                                 .directory = directory,
                                 .rate_hz = options->rate_hz,
                                 .ignore_failure = options->ignore_failure};
    struct run_end end = {0};
    record_announce(options, true, false);
    return stage_sample(&stage, &end, NULL, error);
}

int command_sample(int argc, char **argv) {
    static const char *const carried[] = {WORKSPACE_FACTS,     WORKSPACE_TRACE, WORKSPACE_CATALOG,
                                          WORKSPACE_EVICTIONS, WORKSPACE_CACHE, NULL};
    struct record_options options;
    record_options_parse(&sample_argp, argc, argv, &options);
    return record_into_workspace(&options, false, run_sample, carried, "the samples are", "trace");
}
