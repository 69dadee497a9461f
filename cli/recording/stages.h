/* The three recording stages as the command runs them: each says what it does, writes into a
 * folder and warns about what the recording lacks. */
#ifndef PERSIK_CLI_RECORDING_STAGES_H
#define PERSIK_CLI_RECORDING_STAGES_H

#include <stdbool.h>

#include "base/error.h"
#include "base/run_end.h"
#include "formats/trace.h"
#include "formats/user_catalog.h"
#include "host/pace.h"

/* A signal ended the program; what ran until then is recorded. */
#define STAGE_KILLED 1

/* There is a recording, but not with all numbers of threads that were asked for. */
#define STAGE_INCOMPLETE 2

/* `directory` is where the result goes. All return 0, or -1 and `error`; those that run the program
 * also STAGE_KILLED. */

/* What the user says of functions. All NULL: nothing. */
struct catalog_stage {
    const char *path;                  /* of a catalog */
    const char *task_begin, *task_end; /* functions */
};

/* Reads the user's catalog and sees that `program` has the functions it names. A copy is
 * kept in `directory` for build-model. Where nothing is said there is no catalog. */
int stage_catalog(const struct catalog_stage *said, const char *program, const char *directory,
                  struct user_catalog **catalog, struct error *error);

struct sample_stage {
    char *const *program;
    const char *directory;
    double rate_hz;
    bool ignore_failure;   /* else a program that fails is an error, with its exit status */
    bool quiet, may_leave; /* as in sampler.h */
};
/* `end` gets how the run ended, `pace` how fast the cores were. */
int stage_sample(const struct sample_stage *stage, struct run_end *end, struct pace_reading *pace,
                 struct error *error);

/* What `program` became by exec while it was sampled into `directory`, as `env X=Y server` does:
 * the path is the caller's to free. NULL: it stayed the same, or it is not known. */
char *stage_became(const char *directory, const char *program);

struct analyze_stage {
    const char *program;         /* the binary: its debug information names the sources */
    const char *directory;       /* holds sample.json (if any); gets static.json */
    const char *cache;           /* folder to keep results in, if the user's cannot be had */
    bool again;                  /* what is wrong with the source has been said */
    const char *build_directory; /* where compile_commands.json is; NULL: found or from DWARF */
};
int stage_analyze(const struct analyze_stage *stage, struct error *error);

struct trace_stage {
    char *const *program;
    const char *became; /* by exec; NULL: it stays what it is */
    const char *directory;
    int plain_runs; /* as in tracer.h, with the following four */
    bool steady, ignore_failure;
    bool quiet;                  /* the program's output has been shown */
    const struct run_end *first; /* the run before these; NULL none */
    const struct pace_reading *first_pace;
    bool follow; /* child processes too */
    bool block_io;
    bool evictions; /* some runs more, which tell what it costs threads to lose their caches */
    const struct user_catalog *catalog; /* NULL none */
    const char
        *facts_directory; /* what static.json there says of limits is looked at; may have none */
};
int stage_trace(const struct trace_stage *stage, struct error *error);

/* How many runs there will be, as in tracer.h. */
size_t stage_expected_runs(const struct trace_stage *stage, double run_ns);

#endif
