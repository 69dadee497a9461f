/* Options of the commands that run a program to record it: profile, sample, trace. */
#ifndef PERSIK_CLI_RECORDING_RECORD_H
#define PERSIK_CLI_RECORDING_RECORD_H

#include <argp.h>
#include <stdbool.h>

#include "cli/arguments/options.h"
#include "cli/arguments/sweep.h"
#include "cli/arguments/thread_number.h"
#include "host/served_run.h"

/* How many runs a recording is worth. */
enum record_level { RECORD_USUAL, RECORD_ONCE, RECORD_THOROUGH };

struct record_options {
    struct common_options common;
    char **program; /* NULL-terminated */
    double rate_hz;
    enum record_level level;
    bool plain_runs_given;
    int plain_runs;                /* as in tracer.h */
    bool no_evictions;             /* --thorough without them */
    const char *prepare, *cleanup; /* commands around every run; NULL none */
    struct served_plan plan;       /* how a server is asked */
    bool ignore_failure;
    bool steady, follow, no_block_io, no_sample, no_source;
    const char *build_directory;
    const char *catalog;               /* path of the user's catalog; NULL none */
    const char *task_begin, *task_end; /* functions; NULL none */
    struct int_list also;              /* further numbers of threads to record with */
    struct thread_number number;       /* where it stands in `marked`, if there are any */
    char **marked;                     /* the program's arguments as given; NULL: `program` */
};

/* Option keys; a command lists in its own table those that it takes. */
enum {
    KEY_RATE = 0x2000,
    KEY_PLAIN_RUNS,
    KEY_STEADY,
    KEY_FOLLOW,
    KEY_NO_BLOCK_IO,
    KEY_NO_EVICTIONS,
    KEY_ONCE,
    KEY_THOROUGH,
    KEY_NO_SAMPLE,
    KEY_NO_SOURCE,
    KEY_BUILD_DIR,
    KEY_CATALOG,
    KEY_TASK_BEGIN,
    KEY_TASK_END,
    KEY_PREPARE,
    KEY_CLEANUP,
    KEY_IGNORE_FAILURE,
    KEY_ALSO_RECORD
};

#define OPTION_RATE                                                                                \
    { "rate", KEY_RATE, "HZ", 0, "stack samples per second (default: 100)", 1 }
#define OPTION_PLAIN_RUNS                                                                          \
    {                                                                                              \
        "plain-runs", KEY_PLAIN_RUNS, "N", 0,                                                      \
            "so many runs without probes, which tell what the probes cost (default: at most 1, "   \
            "with --thorough 2 to 9)",                                                             \
            1                                                                                      \
    }
#define OPTION_ONCE                                                                                \
    {                                                                                              \
        "once", KEY_ONCE, NULL, 0,                                                                 \
            "one run, with probes: what they cost, and how much runs differ, is not known", 1      \
    }
#define OPTION_THOROUGH                                                                            \
    {                                                                                              \
        "thorough", KEY_THOROUGH, NULL, 0,                                                         \
            "some ten runs: two to nine without probes, and up to five in which the cores' "       \
            "caches are emptied now and then, which tell what it costs threads to share a core",   \
            1                                                                                      \
    }
#define OPTION_STEADY                                                                              \
    {                                                                                              \
        "steady", KEY_STEADY, NULL, 0,                                                             \
            "on a machine that others share: wait for a moment in which nothing slows the cores "  \
            "before each run, and repeat a run that was slowed all the same",                      \
            1                                                                                      \
    }
#define OPTION_FOLLOW                                                                              \
    { "follow", KEY_FOLLOW, NULL, 0, "record child processes too", 1 }
#define OPTION_NO_BLOCK_IO                                                                         \
    { "no-block-io", KEY_NO_BLOCK_IO, NULL, 0, "leave the disks out", 1 }
#define OPTION_NO_EVICTIONS                                                                        \
    {                                                                                              \
        "no-evictions", KEY_NO_EVICTIONS, NULL, 0,                                                 \
            "of --thorough all but the runs in which the cores' caches are emptied", 1             \
    }

#define OPTION_PREPARE                                                                             \
    {                                                                                              \
        "prepare", KEY_PREPARE, "CMD", 0,                                                          \
            "shell command before every run, which puts back what the run before has changed", 1   \
    }
#define OPTION_CLEANUP                                                                             \
    { "cleanup", KEY_CLEANUP, "CMD", 0, "shell command after every run", 1 }
#define OPTION_IGNORE_FAILURE                                                                      \
    {                                                                                              \
        "ignore-failure", KEY_IGNORE_FAILURE, NULL, 0,                                             \
            "go on when the program's exit status is not 0, or when a signal ends it", 1           \
    }

#define OPTION_ALSO_RECORD                                                                         \
    {                                                                                              \
        "also-record", KEY_ALSO_RECORD, "threads=N,...", 0,                                        \
            "record the program once more with so many threads, each time anew: tells how work "   \
            "follows the threads where one number does not. The number is the argument that "      \
            "belongs to an option called for threads, or the only one; elsewhere write it as "     \
            "{threads=4}",                                                                         \
            1                                                                                      \
    }

#define OPTIONS_CATALOG                                                                            \
    {"catalog", KEY_CATALOG, "FILE", 0, "what functions and locks of the program's own are", 2},   \
        {"task-begin",                                                                             \
         KEY_TASK_BEGIN,                                                                           \
         "FUNC",                                                                                   \
         0,                                                                                        \
         "a task begins where this function of the program is entered",                            \
         2},                                                                                       \
    {                                                                                              \
        "task-end", KEY_TASK_END, "FUNC", 0,                                                       \
            "a task ends where this function returns; the same FUNC twice: each call is one", 2    \
    }

/* Parses argv with `argp` (whose parser is record_parse and input struct record_options). Ends the
 * process on a usage error or when the program to run is missing. */
void record_options_parse(const struct argp *argp, int argc, char **argv,
                          struct record_options *options);
void record_options_free(struct record_options *options);
error_t record_parse(int key, char *argument, struct argp_state *state);
extern const struct argp_child record_children[];

/* The same for a command that runs no program. */
error_t record_parse_without_run(int key, char *argument, struct argp_state *state);
extern const struct argp_child record_children_without_run[];

/* Are there runs with emptied caches, too? */
bool record_evicts(const struct record_options *options);

/* Is the program run more than once, one of them `sampled`? */
bool record_runs_several(const struct record_options *options, bool sampled);

/* Before the first run: says how often a server will be run, and for how long; of any other program
 * nothing. */
void record_announce(const struct record_options *options, bool sampled, bool traced);

/* Of any other program: "3 runs of about 1.7 s", `run_ns` as the first one took; 0: it is to come.
 * `n` 0: nobody knows. Of one run nothing. */
void record_announce_runs(const struct record_options *options, size_t n, double run_ns);

typedef int record_stages(const struct record_options *options, const char *directory,
                          struct error *error);

/* Runs `stages`, which write into the folder they are given, and puts that folder in the place of
 * options->common.directory, with the `carried` entries of the old one (NULL-terminated or
 * NULL), and says so: "WHAT in DIRECTORY: next, `persik NEXT`". Whether the program can be run and,
 * with `probed`, be traced is seen before; the user's commands are set to be run around every run.
 * When they fail, what was there stays. `stages` are as in stages.h. Returns the exit status:
 * EXIT_KILLED where something was recorded of a program that was killed, EXIT_FAILED where one of
 * several recordings, with other numbers of threads, is missing. */
int record_into_workspace(const struct record_options *options, bool probed, record_stages *stages,
                          const char *const *carried, const char *what, const char *next);

#endif
