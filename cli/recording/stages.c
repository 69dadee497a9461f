#include "cli/recording/stages.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"
#include "base/memory.h"
#include "base/output.h"
#include "base/run_end.h"
#include "cli/judgement.h"
#include "cli/recording/programs.h"
#include "cli/recording/reading.h"
#include "cli/recording/user_cache.h"
#include "cli/recording/workspace.h"
#include "cli/text/quantity.h"
#include "formats/recorded_speed.h"
#include "formats/sample.h"
#include "host/pace.h"
#include "host/served_run.h"
#include "sampler/sampler.h"
#include "tracer/tracer.h"

/* The program's own failure is worth a warning, not an error: what it did is recorded. */
/* Programs have exit statuses of their own for many reasons: only a signal is an end before time.
 */
static int judge_end(const char *stage, int status) {
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return 0;
    char text[128];
    run_end_describe(status, text, sizeof text);
    log_warning("%s, the program ended: %s; the recording holds what ran until then", stage, text);
    return WIFSIGNALED(status) ? STAGE_KILLED : 0;
}

/* ---- the user's catalog ---- */

/* The lines that the options stand for. The caller frees them. */
static char *task_lines(const struct catalog_stage *said) {
    if (!said->task_begin)
        return memory_strdup("");
    if (strcmp(said->task_begin, said->task_end) == 0)
        return memory_format("task %s\n", said->task_begin);
    return memory_format("task-begin %s\ntask-end %s\n", said->task_begin, said->task_end);
}

static int keep_catalog(const char *text, const char *directory, struct error *error) {
    char *path = workspace_path(directory, WORKSPACE_CATALOG);
    struct output output;
    int status = output_begin(&output, path);
    if (status == 0) {
        fputs(text, output.file);
        status = output_commit(&output);
    }
    if (status != 0)
        error_set(error, "cannot write %s: %s: make room", path, strerror(errno));
    free(path);
    return status;
}

/* `text`: of the file, or empty. */
static int read_said(const struct catalog_stage *said, const char *text, const char *program,
                     const char *directory, struct user_catalog **catalog, struct error *error) {
    char *tasks = task_lines(said);
    char *all = memory_format("%s\n%s", text, tasks);
    free(tasks);
    *catalog = user_catalog_parse(all, said->path ? said->path : "--task-begin, --task-end", error);
    int status = *catalog ? tracer_check_catalog(program, *catalog, error) : -1;
    if (status == 0)
        status = keep_catalog(all, directory, error);
    free(all);
    return status;
}

int stage_catalog(const struct catalog_stage *said, const char *program, const char *directory,
                  struct user_catalog **catalog, struct error *error) {
    *catalog = NULL;
    if (!said->path && !said->task_begin)
        return 0;
    char *text = said->path ? user_catalog_text(said->path, error) : memory_strdup("");
    int status = text ? read_said(said, text, program, directory, catalog, error) : -1;
    free(text);
    if (status != 0) {
        user_catalog_free(*catalog);
        *catalog = NULL;
    }
    return status;
}

/* ---- stage 1 ---- */

static int describe_sample(const char *directory, struct error *error) {
    char *path = workspace_path(directory, WORKSPACE_SAMPLE);
    struct sample *sample = sample_load(path, error);
    free(path);
    if (!sample)
        return -1;
    char time[QUANTITY_BYTES];
    log_note("sampled %s: %llu samples of %zu threads in %zu pools",
             quantity_show((double)sample->run_ns, UNIT_TIME, time),
             (unsigned long long)sample->samples, sample->n_threads, sample->n_pools);
    int status = judge_end("while sampled", sample->exit_status);
    sample_free(sample);
    return status;
}

int stage_sample(const struct sample_stage *stage, struct run_end *end, struct pace_reading *pace,
                 struct error *error) {
    const char *directory = stage->directory;
    struct sampler_options options = {.args = stage->program,
                                      .directory = directory,
                                      .rate_hz = stage->rate_hz,
                                      .end = end,
                                      .pace = pace,
                                      .quiet = stage->quiet,
                                      .may_leave = stage->may_leave};
    if (sampler_run(&options, error) < 0)
        return -1;
    if (run_end_failed(end) && !stage->ignore_failure)
        return run_end_refuse(stage->program[0], end->status, error);
    if (served_run_outcome() == SERVED_LEFT)
        return 0; /* what it did before anybody asked it tells nothing */
    return describe_sample(directory, error);
}

static bool is_same_file(const char *left, const char *right) {
    struct stat a, b;
    return stat(left, &a) == 0 && stat(right, &b) == 0 && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino;
}

char *stage_became(const char *directory, const char *program) {
    if (!workspace_has(directory, WORKSPACE_SAMPLE))
        return NULL;
    struct error unused;
    char *path = workspace_path(directory, WORKSPACE_SAMPLE);
    char *named = programs_resolve(program, &unused);
    struct sample *sample = sample_load(path, &unused);
    char *became = NULL;
    if (named && sample && sample->program && access(sample->program, X_OK) == 0 &&
        !is_same_file(named, sample->program))
        became = memory_strdup(sample->program);
    sample_free(sample);
    free(named);
    free(path);
    return became;
}

/* ---- stage 2 ---- */

/* Results per file hold for every recording of the same sources. NULL: keep none. */
static char *cache_folder(const struct analyze_stage *stage) {
    if (user_cache_is_off())
        return NULL;
    char *shared = user_cache_folder();
    return shared ? shared : workspace_path(stage->cache, WORKSPACE_CACHE);
}

/* A few lines tell what is wrong; a wrong option is wrong for all files. */
#define MOST_PROBLEMS 3

/* Source that was found and not understood, or that was not found while other source was. */
static void tell_problems(const char *facts_path) {
    struct error unused;
    struct facts *facts = facts_load(facts_path, &unused);
    for (size_t i = 0; facts && i < facts->n_problems && i < MOST_PROBLEMS; i++)
        log_warning("%s", facts->problems[i]);
    if (facts && facts->n_problems > MOST_PROBLEMS)
        log_warning("%zu more source files could not be read completely: static.json lists them",
                    facts->n_problems - MOST_PROBLEMS);
    facts_free(facts);
}

int stage_analyze(const struct analyze_stage *stage, struct error *error) {
    char *analyzer = programs_find_part("persik-analyze", error);
    if (!analyzer)
        return -1;
    char *binary = programs_resolve(stage->program, error);
    if (!binary) {
        free(analyzer);
        return -1;
    }
    char *functions = workspace_path(stage->directory, WORKSPACE_SAMPLE);
    char *facts = workspace_path(stage->directory, WORKSPACE_FACTS);
    char *cache = cache_folder(stage);
    char *argv[16];
    size_t n = 0;
    argv[n++] = analyzer;
    argv[n++] = "--binary";
    argv[n++] = binary;
    argv[n++] = "--output";
    argv[n++] = facts;
    if (cache) {
        argv[n++] = "--cache";
        argv[n++] = cache;
    }
    if (workspace_has(stage->directory, WORKSPACE_SAMPLE)) {
        argv[n++] = "--functions";
        argv[n++] = functions;
    }
    int reading = reading_open(stage->program, stage->directory);
    char *reading_path = memory_format("/proc/self/fd/%d", reading);
    if (reading >= 0) {
        argv[n++] = "--functions";
        argv[n++] = reading_path;
    }
    if (stage->build_directory) {
        argv[n++] = "--build-dir";
        argv[n++] = (char *)stage->build_directory;
    }
    if (log_get_level() == LOG_QUIET)
        argv[n++] = "--quiet";
    argv[n] = NULL;
    int status = programs_run(argv, -1, -1, error);
    if (status == 0)
        chmod(facts, 0600); /* private to the user, as all of a recording */
    if (status == 0 && !stage->again)
        tell_problems(facts);
    if (reading >= 0)
        close(reading);
    free(reading_path);
    free(analyzer);
    free(binary);
    free(functions);
    free(facts);
    free(cache);
    return status;
}

/* ---- stage 3 ---- */

static void describe_perturbation(const struct trace_meta *meta) {
    if (meta->untraced_run_ns == 0)
        return;
    log_note("perturbation: %+.1f %% over %.3f s without probes", 100 * recorded_perturbation(meta),
             recorded_untraced_ns(meta) / 1e9);
    double slowed = recorded_slowed_share(meta);
    if (slowed > 0)
        log_note("the cores were slowed by %.0f %%, by other guests of this machine's host, by "
                 "heat or by the program's own threads: so is what will be predicted",
                 100 * (1 / (1 - slowed) - 1));
}

/* A recording with holes in it must not take the place of a good one. */
static int check_losses(const struct trace_meta *meta, struct error *error) {
    double lost = (double)meta->lost_records;
    if (lost <= judgement.most_lost * ((double)meta->records + lost))
        return 0;
    return error_set(error, "%.1f %% of the records were lost: %s",
                     100 * lost / ((double)meta->records + lost),
                     meta->loss ? meta->loss : "is the disk full?");
}

static int describe_recorded(const struct trace *trace) {
    const struct trace_meta *meta = &trace->meta;
    char time[QUANTITY_BYTES];
    log_note("traced %s: %llu records of %zu threads",
             quantity_show((double)meta->run_ns, UNIT_TIME, time),
             (unsigned long long)meta->records, trace->n_threads);
    describe_perturbation(meta);
    if (meta->lost_records || meta->lost_events)
        log_warning("%llu records and %llu scheduling events were lost",
                    (unsigned long long)meta->lost_records, (unsigned long long)meta->lost_events);
    for (size_t i = 0; i < meta->n_lacks; i++)
        log_warning("not recorded: %s", meta->lacks[i]);
    return judge_end("while traced", meta->exit_status);
}

static int describe_trace(const char *directory, struct error *error) {
    char *path = workspace_path(directory, WORKSPACE_TRACE);
    struct trace *trace = trace_load(path, error);
    free(path);
    if (!trace)
        return -1;
    int status = check_losses(&trace->meta, error);
    if (status == 0)
        status = describe_recorded(trace);
    trace_free(trace);
    return status;
}

/* NULL: there are none. */
static struct facts *load_facts(const char *directory) {
    struct error error;
    struct facts *facts;
    if (workspace_load_facts(directory, &facts, &error) < 0)
        log_warning("limits that nobody meets will not be known: %s", error.text);
    return facts;
}

static struct tracer_options tracer_options_of(const struct trace_stage *stage) {
    return (struct tracer_options){
        .args = stage->program,
        .became = stage->became,
        .directory = stage->directory,
        .follow_children = stage->follow,
        .block_io = stage->block_io,
        .evictions = stage->evictions,
        .plain_runs = stage->plain_runs,
        .steady = stage->steady,
        .ignore_failure = stage->ignore_failure,
        .quiet = stage->quiet,
        .first = stage->first,
        .first_pace = stage->first_pace,
        .catalog = stage->catalog,
    };
}

size_t stage_expected_runs(const struct trace_stage *stage, double run_ns) {
    struct tracer_options options = tracer_options_of(stage);
    return tracer_expected_runs(&options, run_ns);
}

int stage_trace(const struct trace_stage *stage, struct error *error) {
    char *probe = programs_find_part("libpersik-probe.so", error);
    if (!probe)
        return -1;
    struct facts *facts = load_facts(stage->facts_directory);
    struct tracer_options options = tracer_options_of(stage);
    options.probe_library = probe;
    options.facts = facts;
    int status = tracer_run(&options, error);
    free(probe);
    facts_free(facts);
    return status < 0 ? -1 : describe_trace(stage->directory, error);
}
