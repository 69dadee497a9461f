/* persik profile: stages 1 to 3, all that a model needs. */
#include <argp.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/interrupt.h"
#include "base/log.h"
#include "cli/arguments/placeholder.h"
#include "cli/command.h"
#include "cli/recording/reading.h"
#include "cli/recording/record.h"
#include "cli/recording/stages.h"
#include "cli/recording/workspace.h"
#include "host/rerun.h"
#include "host/runs.h"
#include "host/served_run.h"
#include "tracer/tracer.h"

static const struct argp_option options_list[] = {
    OPTION_ONCE,
    OPTION_THOROUGH,
    OPTION_RATE,
    OPTION_PLAIN_RUNS,
    OPTION_STEADY,
    OPTION_ALSO_RECORD,
    OPTION_PREPARE,
    OPTION_CLEANUP,
    OPTION_IGNORE_FAILURE,
    OPTION_FOLLOW,
    OPTION_NO_BLOCK_IO,
    OPTION_NO_EVICTIONS,
    OPTIONS_CATALOG,
    {"no-sample", KEY_NO_SAMPLE, NULL, 0, "no sampling run: the trace alone", 2},
    {"no-source", KEY_NO_SOURCE, NULL, 0, "do not look at the source", 2},
    {"build-dir", KEY_BUILD_DIR, "DIR", 0,
     "where compile_commands.json is (default: found by itself)", 2},
    {0},
};

static const struct argp profile_argp = {
    .options = options_list,
    .parser = record_parse,
    .args_doc = "[--] PROGRAM [ARGUMENT...]",
    .doc =
        "Records all that `persik build-model` needs: runs the program once under a sampler, "
        "analyses its source, runs it again with probes, and, where these two differ, once without "
        "anything, to tell what the probes cost. The program is not changed; its output appears "
        "once.\v"
        "Examples:\n"
        "  persik profile ./program --threads 4\n"
        "  persik profile --once ./program --threads 4\n"
        "  persik profile --thorough ./program --threads 4\n"
        "  persik profile --also-record threads=1,2 ./program --threads 4\n"
        "  persik profile --load 'wrk -d 10s http://localhost:8080/' -- \\\n"
        "      ./server --threads 4\n"
        "  persik profile --duration 30s ./server --threads 4\n"
        "  persik profile --build-dir build ./server\n",
    .children = record_children,
};

/* Without facts from the source the model is built from the trace alone: worse, not wrong. `again`:
 * what is wrong has been said. */
static void analyze_source(const struct record_options *options, const char *became,
                           const char *directory, bool again) {
    struct analyze_stage stage = {
        .program = became ? became : options->program[0],
        .directory = directory,
        /* What an earlier profile has analysed need not be analysed again. */
        .cache =
            workspace_has(options->common.directory, "") ? options->common.directory : directory,
        .again = again,
        .build_directory = options->build_directory,
    };
    struct error error;
    if (stage_analyze(&stage, &error) < 0 && !again)
        log_warning("no facts from the source: %s", error.text);
}

/* The run before all others. */
struct first_run {
    struct run_end end; /* not known: there was none */
    struct pace_reading pace;
};

/* As far as it is known before the first run. */
static size_t expected_runs(const struct record_options *options, const struct first_run *first) {
    struct trace_stage traced = {.first = &first->end,
                                 .plain_runs = options->plain_runs,
                                 .evictions = record_evicts(options)};
    return stage_expected_runs(&traced, 0);
}

static int sample(const struct record_options *options, const char *directory,
                  struct first_run *first, struct error *error) {
    size_t n = expected_runs(options, first);
    runs_expect(n);
    if (options->plain_runs == PLAIN_RUNS_IF_UNCLEAR)
        log_note("first run of at most %zu: sampling", n);
    else
        log_note("first run: sampling");
    struct sample_stage stage = {.program = options->program,
                                 .directory = directory,
                                 .rate_hz = options->rate_hz,
                                 .ignore_failure = options->ignore_failure,
                                 .quiet = true,
                                 .may_leave = true};
    return stage_sample(&stage, &first->end, &first->pace, error) < 0 ? -1 : interrupt_check(error);
}

/* Of a server that nobody asked: it told what it becomes by exec and which functions it has, but
 * the model is not to rest on it. */
static void forget_sample(const char *directory) {
    static const char *const names[] = {WORKSPACE_SAMPLE, WORKSPACE_STACKS};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *path = workspace_path(directory, names[i]);
        unlink(path);
        free(path);
    }
}

/* Does the sampled run stand for one without probes? Where one is slowed that is not made again, it
 * does not. */
static bool tells_plain_time(const struct record_options *options) {
    return options->plain_runs == PLAIN_RUNS_IF_UNCLEAR && !options->no_sample && !options->steady;
}

static void announce_next(const struct record_options *options, const struct trace_stage *stage,
                          const struct first_run *first) {
    double run_ns = (double)first->end.run_ns;
    if (served_run_outcome() == SERVED_NONE)
        record_announce_runs(options, stage_expected_runs(stage, run_ns), run_ns);
    log_note("%s: tracing", options->no_sample ? "first run" : "next run");
}

static bool asked_by_hand(void) {
    return served_run_outcome() == SERVED_LEFT || served_run_outcome() == SERVED_BY_HAND;
}

/* `first` is the sampling run, `became` what the program was by then; `quiet`: its output is not
 * wanted. */
static int analyze_and_trace(const struct record_options *options, const char *directory,
                             const struct first_run *first, const char *became, bool quiet,
                             const struct user_catalog *catalog, struct error *error) {
    /* Whoever asks the server by hand does so in one run more. */
    bool by_hand = asked_by_hand();
    int plain_runs = by_hand ? 0 : options->plain_runs;
    if (!options->no_source)
        analyze_source(options, became, directory, quiet);
    if (served_run_outcome() == SERVED_LEFT)
        forget_sample(directory);
    struct trace_stage stage = {
        .program = options->program,
        .became = became,
        .directory = directory,
        .plain_runs = plain_runs,
        .steady = options->steady,
        .ignore_failure = options->ignore_failure,
        .quiet = quiet,
        .follow = options->follow,
        .block_io = !options->no_block_io,
        .evictions = record_evicts(options) && !by_hand,
        .first = by_hand || options->no_sample ? NULL : &first->end,
        .first_pace = tells_plain_time(options) && !by_hand ? &first->pace : NULL,
        .catalog = catalog,
        .facts_directory = directory,
    };
    announce_next(options, &stage, first);
    int status = stage_trace(&stage, error);
    /* What no sample fell into, and what main does not lead to. */
    if (status >= 0 && !options->no_source && reading_is_incomplete(directory))
        analyze_source(options, became, directory, true);
    return status;
}

static int run_stages(const struct record_options *options, const char *directory, bool quiet,
                      const struct user_catalog *catalog, struct error *error) {
    struct first_run first = {0};
    record_announce(options, !options->no_sample, true);
    if (!options->no_sample && sample(options, directory, &first, error) < 0)
        return -1;
    char *became = stage_became(directory, options->program[0]);
    int status = analyze_and_trace(options, directory, &first, became, quiet, catalog, error);
    free(became);
    return status;
}

/* With one number of threads. */
static int record_one(const struct record_options *options, const char *directory, bool quiet,
                      struct error *error) {
    struct user_catalog *catalog;
    if (stage_catalog(
            &(struct catalog_stage){options->catalog, options->task_begin, options->task_end},
            options->program[0], directory, &catalog, error) != 0)
        return -1;
    int status = run_stages(options, directory, quiet, catalog, error);
    user_catalog_free(catalog);
    return status;
}

/* With another number, into a folder of its own within that of the first one. */
static int record_other(const struct record_options *options, const char *directory, int threads,
                        struct error *error) {
    struct record_options other = *options;
    other.program = thread_number_replace(options->marked, &options->number, threads);
    char *folder = workspace_other(directory, threads);
    int argument = options->number.argument;
    log_note("once more, with %s in the place of %s", other.program[argument],
             options->program[argument]);
    runs_restart();
    int status = workspace_make_other(directory, threads, error);
    if (status == 0)
        status = record_one(&other, folder, true, error);
    if (status < 0)
        workspace_drop_other(directory, threads);
    free(folder);
    placeholder_free(other.program);
    return status;
}

/* What was recorded with the first number stays, whatever becomes of the others. */
static int record_others(const struct record_options *options, const char *directory) {
    int status = 0;
    if (options->also.count > 0 && asked_by_hand()) {
        log_error("a server that is asked by hand is recorded once: --also-record needs --load");
        return STAGE_INCOMPLETE;
    }
    for (size_t i = 0; i < options->also.count && !interrupt_signal(); i++) {
        struct error error;
        if (record_other(options, directory, options->also.items[i], &error) >= 0)
            continue;
        log_error("not recorded with threads=%d: %s", options->also.items[i], error.text);
        status = STAGE_INCOMPLETE;
    }
    return status;
}

static int record_all(const struct record_options *options, const char *directory,
                      struct error *error) {
    bool several = record_runs_several(options, !options->no_sample) || options->also.count > 0;
    if (several && rerun_keep_input(error) < 0)
        return -1;
    int status = record_one(options, directory, false, error);
    return status == 0 ? record_others(options, directory) : status;
}

int command_profile(int argc, char **argv) {
    static const char *const carried[] = {WORKSPACE_CACHE, NULL};
    struct record_options options;
    record_options_parse(&profile_argp, argc, argv, &options);
    int status = record_into_workspace(&options, true, record_all, carried, "the recording is",
                                       "build-model");
    record_options_free(&options);
    return status;
}
