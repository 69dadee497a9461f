/* Stage 3 from the outside: a traced run, the plain runs around it, and the trace of it all. */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/hooks.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/run_end.h"
#include "formats/trace.h"
#include "host/pace.h"
#include "host/quota.h"
#include "host/runs.h"
#include "host/served_run.h"
#include "host/wakeups.h"
#include "tracer/block.h"
#include "tracer/convert.h"
#include "tracer/core_questions.h"
#include "tracer/elsewhere.h"
#include "tracer/evictor.h"
#include "tracer/handlers.h"
#include "tracer/host.h"
#include "tracer/launch.h"
#include "tracer/looks.h"
#include "tracer/program.h"
#include "tracer/recorder.h"
#include "tracer/run_plan.h"
#include "tracer/same_work.h"
#include "tracer/sched.h"
#include "tracer/segment.h"
#include "tracer/task_marks.h"
#include "tracer/tracer.h"
#include "tracer/unplaced.h"
#include "tracer/uprobes.h"
#include "tracer/wraps.h"

struct run_list {
    size_t count, capacity;
    struct trace_plain_run *items;
};

struct collection {
    const struct tracer_options *options;
    struct program program;
    char *raw; /* folder of what is shared with the probe library */
    struct segment *segment;
    struct wraps wraps;
    struct looks looks;
    struct uprobes *uprobes;
    struct lacks lacks;
    struct wakeup_costs wakeups;
    struct timebase timebase;
    struct recorder *recorder;
    struct ftrace *ftrace;
    struct sched sched;
    struct handlers handlers;
    struct quota quota; /* throttled_ns: during the traced run */
    struct block block;
    struct launch launch; /* of the traced run */
    int evicts; /* number of this run among those with evictions, from 1 on; 0: it is none */
    struct evictions evictions;
    bool sees_displacement; /* how fast threads displace what others have in a cache can be told */
    struct run_list plain, one_core;
    struct pace_reading pace;      /* of the traced run */
    double fastest_ns[PACE_KINDS]; /* pieces of all runs */
    bool stopped;                  /* no more plain runs */
    double last_run_ns;            /* 0: none yet */
    int slowed;                    /* runs that did not count, as something slowed them */
    bool again;                    /* the traced run is made again: its output has been seen */
    struct run_end first;          /* the first run of all, to which the others are compared */
    struct work work;              /* of the traced run, when its trace is made */
    struct {
        size_t count, capacity;
        struct work *items;
    } evicted; /* the work of the runs with evictions, from 1 on */
};

/* ---- steadiness ---- */

#define MOST_SLOWED 8 /* then they all count: the machine will not get quiet */

/* NULL and `error`: the user's command before each run failed. */
static struct pace *begin_run(const struct collection *collection, struct error *error) {
    if (hooks_prepare(error) != 0)
        return NULL;
    if (collection->options->steady)
        pace_wait(host_cores(), collection->last_run_ns);
    return pace_start(host_cores());
}

static struct pace_reading end_run(struct collection *collection, struct pace *pace) {
    struct pace_reading reading = pace_stop(pace);
    for (int kind = 0; kind < PACE_KINDS; kind++)
        collection->fastest_ns[kind] =
            pace_faster(collection->fastest_ns[kind], reading.fastest_ns[kind]);
    hooks_cleanup();
    return reading;
}

/* Whether a run with this reading does not count. */
static bool is_to_repeat(struct collection *collection, struct pace_reading reading) {
    double slowdown = pace_slowdown(reading, host_cores());
    bool repeat = collection->options->steady && slowdown > PACE_DISTURBED &&
                  collection->slowed < MOST_SLOWED;
    collection->slowed += repeat;
    return repeat;
}

/* ---- the first run ---- */

static struct run_end run_end_of(const struct launch *launch) {
    return (struct run_end){.known = true,
                            .status = launch->status,
                            .signal = launch->signal,
                            .run_ns = launch->end_mono_ns - launch->start_mono_ns,
                            .cpu_ns = launch->cpu_ns};
}

/* Of this run, if none was before: whether to go on after it. */
static int judge_first(struct collection *collection, const struct launch *launch,
                       struct error *error) {
    if (collection->first.known)
        return 0;
    collection->first = run_end_of(launch);
    if (run_end_failed(&collection->first) && !collection->options->ignore_failure)
        return run_end_refuse(collection->options->args[0], launch->status, error);
    return 0;
}

static bool ends_as_first(const struct collection *collection, const struct launch *launch) {
    return launch->signal || collection->first.signal || launch->status == collection->first.status;
}

/* The traced run is what the model is made from: one that ended otherwise is worth nothing. */
static int judge_traced(struct collection *collection, struct error *error) {
    const struct launch *launch = &collection->launch;
    if (judge_first(collection, launch, error) != 0)
        return -1;
    if (collection->options->ignore_failure || ends_as_first(collection, launch))
        return 0;
    char first[128], now[128];
    run_end_describe(collection->first.status, first, sizeof first);
    run_end_describe(launch->status, now, sizeof now);
    return error_set(error,
                     "%s did other work when traced, %s instead of %s: undo with --prepare what a "
                     "run leaves behind; if only the probes make it fail, please report it",
                     collection->options->args[0], now, first);
}

/* ---- the environment ---- */

/* An environment with `variables` ("NAME=value", allocated, NULL-terminated) in place of those of
 * the same names. The array is allocated, the rest of the strings are ours. */
static char **environment_with(char *const *variables) {
    size_t n = 0;
    while (environ[n])
        n++;
    char **environment = memory_alloc(n + 8, sizeof *environment);
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        bool replaced = false;
        for (char *const *variable = variables; *variable; variable++) {
            size_t name = strcspn(*variable, "=") + 1;
            replaced = replaced || strncmp(environ[i], *variable, name) == 0;
        }
        if (!replaced)
            environment[kept++] = environ[i];
    }
    for (char *const *variable = variables; *variable; variable++)
        environment[kept++] = *variable;
    return environment;
}

/* ---- plain runs ---- */

static void stop_plain_runs(struct collection *collection, const char *why) {
    lacks_add(&collection->lacks, "run time without probes: %s", why);
    collection->stopped = true;
}

static void keep_plain_run(struct run_list *runs, const struct launch *launch,
                           const struct pace_reading *reading) {
    struct trace_plain_run *run = VECTOR_ADD(runs);
    *run =
        (struct trace_plain_run){launch->end_mono_ns - launch->start_mono_ns, launch->cpu_ns, {0}};
    memcpy(run->piece_ns, reading->piece_ns, sizeof run->piece_ns);
}

/* OpenMP's teams have as many threads as there are cores where nobody says otherwise: on one core
 * as many as on all. NULL: somebody does. */
static char *usual_team(void) {
    const char *variable = "OMP_NUM_THREADS";
    return getenv(variable) ? NULL : memory_format("%s=%d", variable, host_cores());
}

/* `one_core_ns`: above 0, it has one core only, for so long. 1: done, 0: something slowed it, and
 * it does not count. */
static int run_plainly(struct collection *collection, uint64_t one_core_ns, struct error *error) {
    char *threads = one_core_ns > 0 ? usual_team() : NULL;
    char **environment = environment_with((char *[]){threads, NULL});
    struct launch launch = {.path = collection->program.path,
                            .args = collection->options->args,
                            .environment = environment,
                            .quiet = true,
                            .one_core_ns = one_core_ns,
                            .may_leave = true};
    struct error failure;
    struct pace *pace = begin_run(collection, error);
    if (!pace) {
        free(environment);
        free(threads);
        return -1;
    }
    bool failed = launch_prepare(&launch, &failure) != 0 || launch_finish(&launch, &failure) != 0;
    struct pace_reading reading = end_run(collection, pace);
    free(environment);
    free(threads);
    collection->last_run_ns = (double)(launch.end_mono_ns - launch.start_mono_ns);
    if (!failed && judge_first(collection, &launch, error) != 0)
        return -1;
    if (launch.unserved)
        return error_set_exit(error, failure.exit_status, "%s", failure.text);
    if (failed)
        stop_plain_runs(collection, failure.text);
    else if (served_run_outcome() == SERVED_LEFT)
        stop_plain_runs(collection, "it is a server that somebody asks by hand, in one run only");
    else if (!ends_as_first(collection, &launch))
        stop_plain_runs(collection,
                        "a run ended otherwise than the first one and does not count: undo with "
                        "--prepare what a run leaves behind");
    else if (launch.signal)
        stop_plain_runs(collection, "a signal ended the run");
    else if (!WIFEXITED(launch.status))
        stop_plain_runs(collection, "the program was killed");
    else if (is_to_repeat(collection, reading))
        return 0;
    else if (one_core_ns == 0)
        keep_plain_run(&collection->plain, &launch, &reading);
    else if (!launch.released)
        keep_plain_run(&collection->one_core, &launch, &reading);
    return 1;
}

static int run_all_plainly(struct collection *collection, int runs, struct error *error) {
    int status = 0;
    for (int i = 0; i < runs && !collection->stopped && status >= 0; i++) {
        do
            status = run_plainly(collection, 0, error);
        while (status == 0);
    }
    return status < 0 ? -1 : 0;
}

static bool has_enough_runs(const struct collection *collection) {
    return run_plan_has_enough(collection->plain.items, collection->plain.count);
}

static int run_enough_plainly(struct collection *collection, struct error *error) {
    while (!collection->stopped && !has_enough_runs(collection))
        if (run_all_plainly(collection, 1, error) != 0)
            return -1;
    return 0;
}

/* So much longer than its CPU time it may take before it gets all cores back. */
#define ONE_CORE_SLOWER 3
#define ONE_CORE_LEAST  1000000000u

/* What several cores cost each other (memory, caches, locks of the kernel) is seen where the same
 * run has one core only. */
static int run_on_one_core(struct collection *collection, struct error *error) {
    const struct launch *launch = &collection->launch;
    const struct trace_plain_run traced = {.run_ns = launch->end_mono_ns - launch->start_mono_ns,
                                           .cpu_ns = launch->cpu_ns};
    uint64_t longer_ns = traced.cpu_ns > traced.run_ns ? traced.cpu_ns : traced.run_ns;
    size_t runs = host_cores() < 2 ? 0 : run_plan_one_core(collection->options, &traced);
    int status = 1;
    for (size_t i = 0; i < runs && collection->one_core.count == i && status >= 0; i++)
        do
            status = run_plainly(collection, ONE_CORE_SLOWER * longer_ns + ONE_CORE_LEAST, error);
        while (status == 0);
    return status < 0 ? -1 : 0;
}

static void set_untraced(struct trace_meta *meta, struct collection *collection) {
    meta->cpu_ns = collection->launch.cpu_ns;
    meta->pace = collection->pace;
    memcpy(meta->pace.fastest_ns, collection->fastest_ns, sizeof meta->pace.fastest_ns);
    meta->n_untraced = collection->plain.count;
    meta->untraced = collection->plain.items;
    collection->plain.items = NULL;
    meta->n_one_core = collection->one_core.count;
    meta->one_core = collection->one_core.items;
    collection->one_core.items = NULL;
}

/* ---- the traced run ---- */

static void drain_ftrace(void *context, uint64_t complete_ns) {
    struct collection *collection = context;
    sched_settle(&collection->sched, 0); /* the handlers below ask whose a thread is */
    ftrace_drain(collection->ftrace);
    sched_settle(&collection->sched, complete_ns); /* wake-ups come before the end of the woken */
}

/* From these shares of the machine's time on it is worth a line. */
#define STOLEN_NOTE  0.02
#define FOREIGN_NOTE 0.05
#define TICKS        2 /* that a core's count may be off: one at each end of the run */

/* What is sure of a difference of the machine's counts, in parts of `machine_ns`: the kernel counts
 * ticks, and much may happen between two of them. */
static double sure_share(double counted_ns, double machine_ns) {
    double error_ns = TICKS * host_count_ns() * (double)sysconf(_SC_NPROCESSORS_ONLN);
    return machine_ns > 0 ? fmin(fmax(counted_ns - error_ns, 0) / machine_ns, 1) : 0;
}

/* From this share of the run on it is worth a line. */
#define THROTTLED_NOTE 0.01

static bool is_throttled(const struct collection *collection) {
    const struct launch *launch = &collection->launch;
    return (double)collection->quota.throttled_ns >
           THROTTLED_NOTE * (double)(launch->end_mono_ns - launch->start_mono_ns);
}

/* What others had of the cores while the program ran. The guest's scheduler does not know what the
 * host gives away: a thread that seems to compute may stand still. `ours_ns` is what persik itself
 * used. */
static void note_others(struct collection *collection, struct host_use before,
                        struct host_use after, double ours_ns) {
    double program_ns = (double)elsewhere_all_cpu_ns(&collection->sched, &collection->launch);
    double machine_ns =
        (double)(after.at_ns - before.at_ns) * (double)sysconf(_SC_NPROCESSORS_ONLN);
    double stolen = sure_share(after.stolen_ns - before.stolen_ns, machine_ns);
    double load_ns = served_run_load_cpu_ns();
    double foreign_ns = after.busy_ns - before.busy_ns - program_ns - ours_ns - load_ns;
    double foreign = sure_share(foreign_ns, machine_ns);
    if (stolen > STOLEN_NOTE)
        lacks_add(&collection->lacks,
                  "%.0f %% of the CPU time: the virtual machine's host gave it to others; CPU "
                  "demands are "
                  "mended, waits are not: record again when it is quiet",
                  100 * stolen);
    /* what a quota did is said instead */
    if (foreign > FOREIGN_NOTE && !is_throttled(collection))
        lacks_add(
            &collection->lacks,
            "%.0f %% of the CPU time: other processes had it, and the model knows of none; end "
            "them and record again, unless they belong to what the program does",
            100 * foreign);
    if (load_ns > FOREIGN_NOTE * machine_ns)
        lacks_add(&collection->lacks,
                  "%.0f %% of the CPU time: the load had it, and the model knows nothing of it: "
                  "keep it off the server's cores (taskset), or have it elsewhere",
                  100 * load_ns / machine_ns);
}

/* What the control groups held back meanwhile. */
static void note_quota(struct collection *collection, struct quota before) {
    const struct launch *launch = &collection->launch;
    struct quota *quota = &collection->quota;
    *quota = quota_read("");
    quota->throttled_ns -=
        before.throttled_ns < quota->throttled_ns ? before.throttled_ns : quota->throttled_ns;
    double run_ns = (double)(launch->end_mono_ns - launch->start_mono_ns);
    if (is_throttled(collection))
        lacks_add(&collection->lacks,
                  "cores of its own: the CPU quota of the control group, %.3g cores, stopped it "
                  "for %.2f s of %.2f s: the model knows of no quota; record outside of it",
                  quota->cores, (double)quota->throttled_ns / 1e9, run_ns / 1e9);
}

static int run_in(struct collection *collection, char *const *environment, struct error *error) {
    struct launch *launch = &collection->launch;
    *launch = (struct launch){.path = collection->program.path,
                              .args = collection->options->args,
                              .environment = environment,
                              .quiet = collection->evicts || collection->again};
    if (launch_prepare(launch, error) != 0)
        return -1;
    segment_set_target(collection->segment, launch->pid);
    segment_start(collection->segment);
    collection->recorder = recorder_new(&collection->timebase);
    collection->ftrace = ftrace_open();
    sched_attach(&collection->sched, collection->recorder, collection->ftrace, launch->pid,
                 &collection->lacks);
    if (collection->options->block_io && !collection->evicts) /* nobody looks at its disks */
        block_attach(&collection->block, collection->ftrace, &collection->lacks);
    collection->uprobes =
        uprobes_attach(&collection->wraps, collection->ftrace, &collection->lacks);
    handlers_attach(&collection->handlers, collection->ftrace, &collection->sched.threads);
    recorder_add_source(collection->recorder, drain_ftrace, collection);
    recorder_start(collection->recorder);
    struct host_use before = host_use();
    uint64_t ours_ns = clock_now_ns(CLOCK_PROCESS_CPUTIME_ID);
    struct quota quota = quota_read("");
    int status = launch_finish(launch, error);
    struct host_use after = host_use();
    ours_ns = clock_now_ns(CLOCK_PROCESS_CPUTIME_ID) - ours_ns;
    recorder_stop(collection->recorder);
    sched_settle(&collection->sched, UINT64_MAX);
    segment_stop(collection->segment);
    recorder_free(collection->recorder);
    note_quota(collection, quota);
    note_others(collection, before, after, (double)ours_ns);
    collection->sched.lost += ftrace_lost(collection->ftrace);
    ftrace_close(collection->ftrace);
    uprobes_end(collection->uprobes); /* other runs follow, which must not stop there */
    return status;
}

static int run_traced(struct collection *collection, struct error *error) {
    const struct tracer_options *options = collection->options;
    const char *preload = getenv("LD_PRELOAD");
    char probe[PATH_MAX];
    if (!realpath(options->probe_library, probe))
        return error_set(error, "%s: %s: install persik again", options->probe_library,
                         strerror(errno));
    if (strpbrk(probe, ": "))
        return error_set(error, "%s: a path with ':' or ' ' cannot be preloaded: move it", probe);
    bool has_preload = preload && *preload;
    char *variables[] = {
        memory_format("LD_PRELOAD=%s%s%s", has_preload ? preload : "", has_preload ? ":" : "",
                      probe),
        memory_format("%s=%s", RAW_DIRECTORY_VARIABLE, collection->raw),
        NULL,
    };
    char **environment = environment_with(variables);
    int status = run_in(collection, environment, error);
    free(environment);
    for (char **variable = variables; *variable; variable++)
        free(*variable);
    return status;
}

/* ---- the trace ---- */

static void describe_run(struct trace_meta *meta, struct collection *collection) {
    const struct launch *launch = &collection->launch;
    char *const *args = collection->options->args;
    while (args[meta->n_args])
        meta->n_args++;
    meta->args = memory_alloc((size_t)meta->n_args, sizeof *meta->args);
    for (int i = 0; i < meta->n_args; i++)
        meta->args[i] = memory_strdup(args[i]);
    char directory[PATH_MAX];
    meta->version = TRACE_VERSION;
    meta->directory = memory_strdup(getcwd(directory, sizeof directory) ? directory : "");
    meta->build_id = memory_strdup(collection->program.build_id);
    const char *question = core_questions_of(collection->program.path);
    meta->asks_cores = question ? memory_strdup(question) : NULL;
    meta->host = host_name();
    meta->libc = host_libc();
    meta->date = host_date();
    meta->cores = host_cores();
    meta->tick_ns = host_tick_ns();
    meta->wake_cpu_ns = collection->wakeups.waker_ns;
    meta->preempt_ns = collection->wakeups.preempt_ns;
    meta->idle_wake_ns = collection->wakeups.idle_ns;
    meta->sleep_cpu_ns = collection->wakeups.sleep_ns;
    meta->exit_status = launch->status;
    meta->complete = WIFEXITED(launch->status);
    meta->start_mono_ns = launch->start_mono_ns;
    meta->start_real_ns =
        clock_now_ns(CLOCK_REALTIME) - clock_now_ns(CLOCK_MONOTONIC) + launch->start_mono_ns;
    meta->run_ns = launch->end_mono_ns - launch->start_mono_ns;
    meta->lost_events = collection->sched.lost;
    meta->has_slices = collection->sched.has_switches;
    meta->has_wakes = collection->sched.has_wakes;
    meta->has_wakers = collection->sched.has_wakes;
    meta->has_blocks = collection->block.attached;
    set_untraced(meta, collection);
}

/* Of the run itself, on its clock. */
static void describe_evictions(struct trace *trace, struct collection *collection) {
    uint64_t start_ns = collection->launch.start_mono_ns, end_ns = collection->launch.end_mono_ns;
    trace->evictions = memory_alloc(collection->evictions.count, sizeof *trace->evictions);
    for (size_t i = 0; i < collection->evictions.count; i++) {
        struct trace_eviction eviction = collection->evictions.items[i];
        if (eviction.from_ns < start_ns || eviction.to_ns > end_ns)
            continue;
        eviction.from_ns -= start_ns;
        eviction.to_ns -= start_ns;
        trace->evictions[trace->n_evictions++] = eviction;
    }
}

static int no_images(const struct collection *collection, struct error *error) {
    int status = collection->launch.status;
    const char *path = collection->program.path;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
        return error_set(error, "%s: it did not start (exit status 127): run it without persik",
                         path);
    return error_set(error,
                     "%s: the probe library was not loaded into it: it must not be set-user-id, "
                     "and %s must be writable",
                     path, collection->options->directory);
}

/* What the trace does not tell of the program. */
static void tell_unseen(struct collection *collection, struct trace *trace,
                        const struct images *images) {
    char **maps = memory_alloc(images->count, sizeof *maps);
    for (size_t i = 0; i < images->count; i++)
        maps[i] = images->items[i].maps;
    unplaced_tell(trace, maps, images->count, &collection->lacks);
    trace->meta.elsewhere = elsewhere_find(trace, &collection->sched, &collection->launch);
    handlers_describe(&collection->handlers, trace, maps, images->count);
    free(maps);
    trace->meta.elsewhere.quota_cores = collection->quota.cores;
    trace->meta.elsewhere.throttled_ns = collection->quota.throttled_ns;
}

static struct trace *make_trace(struct collection *collection, struct error *error) {
    struct images images = {0};
    segment_finish(collection->segment);
    images_read(&images, collection->segment);
    if (images.count == 0) {
        no_images(collection, error);
        return NULL;
    }
    struct trace *trace = memory_alloc(1, sizeof *trace);
    describe_run(&trace->meta, collection);
    describe_evictions(trace, collection);
    sched_sort(collection->sched.events.items, collection->sched.events.count);
    struct block_requests requests = {0};
    requests_pair(&requests, &collection->block.events);
    struct convert_input input = {.images = &images,
                                  .failure = segment_failure(collection->segment),
                                  .timebase = &collection->timebase,
                                  .events = collection->sched.events.items,
                                  .n_events = collection->sched.events.count,
                                  .requests = collection->block.attached ? &requests : NULL,
                                  .looks = &collection->looks,
                                  .start_mono_ns = collection->launch.start_mono_ns,
                                  .end_mono_ns = collection->launch.end_mono_ns};
    input.calls = uprobes_calls(collection->uprobes, &input.n_calls);
    convert(trace, &input, &collection->lacks);
    task_marks_tell(trace, &collection->wraps, &collection->lacks);
    tell_unseen(collection, trace, &images);
    trace->meta.lacks = collection->lacks.items;
    trace->meta.n_lacks = collection->lacks.count;
    collection->lacks = (struct lacks){0};
    free(requests.items);
    images_free(&images);
    return trace;
}

/* A program has a thread at least. */
static int check_threads(const struct trace *trace, const struct collection *collection,
                         struct error *error) {
    if (trace->n_threads > 0)
        return 0;
    return error_set(error, "%s: nothing was recorded: make room in %s, or raise `ulimit -f`",
                     collection->program.path, collection->options->directory);
}

/* What other runs tell of this one holds if they did the same work. */
static void compare_runs(struct collection *collection, struct trace *trace) {
    same_work_of_plain_runs(trace, &collection->work);
    same_work_of_first(trace, &collection->work, &collection->first);
    same_work_of_evicted(trace, &collection->work, collection->evicted.items,
                         collection->evicted.count, collection->options->directory);
}

static int save_trace(struct collection *collection, struct error *error) {
    struct trace *trace = make_trace(collection, error);
    if (!trace)
        return -1;
    if (check_threads(trace, collection, error) != 0) {
        trace_free(trace);
        return -1;
    }
    const char *directory = collection->options->directory;
    collection->work = same_work_measure(trace);
    if (!collection->evicts)
        compare_runs(collection, trace);
    char *path = collection->evicts
                     ? memory_format("%s/evictions-%d.persik", directory, collection->evicts)
                     : memory_format("%s/trace.persik", directory);
    int status = trace_save(trace, path, 0, error);
    free(path);
    trace_free(trace);
    return status;
}

/* ---- the stage ---- */

static int prepare_raw(struct collection *collection, struct error *error) {
    const char *directory = collection->options->directory;
    char *absolute = realpath(directory, NULL);
    if (!absolute)
        return error_set(error, "%s: %s: create it first", directory, strerror(errno));
    free(collection->raw); /* of an earlier run */
    collection->raw =
        memory_format("%s/%s", absolute, collection->evicts ? "raw-evictions" : "raw");
    free(absolute);
    images_delete(collection->raw); /* of a collector that was killed */
    if (mkdir(collection->raw, 0700) != 0)
        return error_set(error, "%s: %s: choose a folder you may write to", collection->raw,
                         strerror(errno));
    segment_free(collection->segment);
    collection->segment =
        segment_create(collection->raw, collection->options->follow_children, error);
    return collection->segment ? 0 : -1;
}

/* What they shall do besides their own. */
static int tell_probes(const struct collection *collection, struct error *error) {
    if (wraps_save(&collection->wraps, collection->raw, error) != 0)
        return -1;
    return looks_save(&collection->looks, collection->raw, error);
}

static int prepare(struct collection *collection, struct error *error) {
    if (program_find(&collection->program, collection->options->args[0], true, error) != 0 ||
        wraps_find(&collection->wraps, collection->program.path, collection->options->catalog,
                   error) != 0 ||
        prepare_raw(collection, error) != 0)
        return -1;
    const char *became = collection->options->became;
    if (!collection->evicts) /* these say nothing but what losing caches costs */
        collection->looks =
            looks_find(became ? became : collection->program.path, collection->options->facts);
    return tell_probes(collection, error);
}

static void free_collection(struct collection *collection) {
    program_free(&collection->program);
    segment_free(collection->segment);
    uprobes_free(collection->uprobes);
    wraps_free(&collection->wraps);
    looks_free(&collection->looks);
    sched_free(&collection->sched);
    handlers_free(&collection->handlers);
    block_free(&collection->block);
    lacks_cut(&collection->lacks, 0);
    free(collection->lacks.items);
    free(collection->timebase.items);
    free(collection->plain.items);
    free(collection->one_core.items);
    free(collection->evicted.items);
    free(collection->evictions.items);
    free(collection->raw);
}

/* What the traced run left behind. */
static int forget_run(struct collection *collection, size_t n_lacks, struct error *error) {
    uprobes_free(collection->uprobes);
    collection->uprobes = NULL;
    sched_free(&collection->sched);
    handlers_free(&collection->handlers);
    block_free(&collection->block);
    lacks_cut(&collection->lacks, n_lacks);
    collection->timebase.count = 0;
    if (prepare_raw(collection, error) != 0)
        return -1;
    return tell_probes(collection, error);
}

static int run_traced_steadily(struct collection *collection, struct error *error) {
    size_t n_lacks = collection->lacks.count;
    for (;;) {
        struct pace *pace = begin_run(collection, error);
        if (!pace)
            return -1;
        int status = run_traced(collection, error);
        struct pace_reading reading = collection->pace = end_run(collection, pace);
        double slowdown = pace_slowdown(reading, host_cores());
        collection->last_run_ns =
            (double)(collection->launch.end_mono_ns - collection->launch.start_mono_ns);
        bool ended = !status && WIFEXITED(collection->launch.status) && !collection->launch.signal;
        if (!ended || !is_to_repeat(collection, reading)) {
            if (collection->options->steady && slowdown > PACE_DISTURBED)
                lacks_add(&collection->lacks,
                          "a steady machine: after %d runs that did not count something slowed the "
                          "cores by %.0f %% in this one, too",
                          collection->slowed, 100 * (slowdown - 1));
            return status;
        }
        collection->again = true;
        if (forget_run(collection, n_lacks, error) != 0)
            return -1;
    }
}

static int run_evicted(struct collection *collection, struct error *error) {
    if (prepare(collection, error) != 0)
        return -1;
    struct evictor *evictor = evictor_start(error);
    if (!evictor)
        return -1;
    int status = run_traced(collection, error);
    collection->sees_displacement = evictor_sees_displacement(evictor);
    collection->evictions = evictor_stop(evictor);
    return status ? status : save_trace(collection, error);
}

/* Run `i`, which ended otherwise than it should. */
static void forget_evicted(struct collection *collection, const struct launch *launch, int i) {
    char *path = memory_format("%s/evictions-%d.persik", collection->options->directory, i);
    unlink(path);
    free(path);
    char text[128];
    run_end_describe(launch->status, text, sizeof text);
    lacks_add(&collection->lacks,
              "what it costs threads to lose their caches: a run with emptied caches ended "
              "otherwise than the first one (%s) and does not count",
              text);
}

/* Runs more, whose traces tell what losing its caches costs the program, and nothing else. */
static int collect_evictions(struct collection *collection, struct error *error) {
    const struct launch *launch = &collection->launch;
    double all_ns = 0;
    double traced_ns = (double)(launch->end_mono_ns - launch->start_mono_ns);
    bool goes_on = collection->options->evictions;
    bool blind = goes_on && run_plan_wants_evicted(0, 0, traced_ns);
    for (int i = 1; goes_on && run_plan_wants_evicted(i - 1, all_ns, traced_ns); i++) {
        struct collection run = {.options = collection->options, .evicts = i};
        struct error failure;
        if (hooks_prepare(error) != 0)
            return -1;
        goes_on = run_evicted(&run, &failure) == 0;
        hooks_cleanup();
        if (!goes_on) {
            blind = false; /* that is not the reason */
            lacks_add(&collection->lacks, "what it costs threads to lose their caches: %s",
                      failure.text);
        } else if (ends_as_first(collection, &run.launch)) {
            *VECTOR_ADD(&collection->evicted) = run.work;
        } else {
            forget_evicted(collection, &run.launch, i);
        }
        blind &= !run.sees_displacement;
        goes_on = goes_on && ends_as_first(collection, &run.launch) && !run.launch.signal;
        all_ns += (double)(run.launch.end_mono_ns - run.launch.start_mono_ns);
        if (run.raw)
            images_delete(run.raw);
        free_collection(&run);
    }
    if (blind)
        lacks_add(&collection->lacks,
                  "how fast threads displace what others have in a core's cache: a line of it is "
                  "read as fast from elsewhere (told for those that take turns with their like)");
    return 0;
}

/* What others ask by hand they ask once; who was ended before time ran otherwise than others would.
 */
static bool may_be_repeated(const struct collection *collection) {
    return WIFEXITED(collection->launch.status) && !collection->launch.signal &&
           served_run_outcome() != SERVED_BY_HAND;
}

/* Is the traced run unlike the sampled one, or is that one not to count? */
static bool is_unclear(const struct collection *collection) {
    const struct launch *launch = &collection->launch;
    struct trace_plain_run traced = {.run_ns = launch->end_mono_ns - launch->start_mono_ns,
                                     .cpu_ns = launch->cpu_ns};
    return collection->plain.count == 0 ||
           run_plan_is_unclear(&collection->plain.items[0], &traced);
}

/* A run without anything beside it takes the place of the sampled one. */
static int clear_up(struct collection *collection, struct error *error) {
    size_t sampled = collection->plain.count; /* one or none */
    if (!is_unclear(collection))
        return 0;
    int status = run_all_plainly(collection, 1, error);
    if (sampled == 1 && collection->plain.count == 2)
        collection->plain.items[0] = collection->plain.items[--collection->plain.count];
    return status;
}

/* What shows what the traced run, which ended well, would have been without probes, and what
 * losing its caches costs. */
static int run_others(struct collection *collection, struct error *error) {
    int plain_runs = collection->options->plain_runs;
    int status = plain_runs == PLAIN_RUNS_ENOUGH ? run_enough_plainly(collection, error)
                 : plain_runs == PLAIN_RUNS_IF_UNCLEAR
                     ? clear_up(collection, error)
                     : run_all_plainly(collection, plain_runs - plain_runs / 2, error);
    if (status == 0 && !collection->stopped)
        status = run_on_one_core(collection, error);
    if (status == 0 && !collection->stopped)
        status = collect_evictions(collection, error);
    return status;
}

static int collect(struct collection *collection, struct error *error) {
    int plain_runs = collection->options->plain_runs;
    if (prepare(collection, error) != 0)
        return -1;
    collection->wakeups = wakeup_costs_measure(); /* before anything else runs */
    int before = plain_runs == PLAIN_RUNS_ENOUGH ? 1 : plain_runs > 0 ? plain_runs / 2 : 0;
    int status = run_all_plainly(collection, before, error);
    if (!status)
        status = run_traced_steadily(collection, error);
    if (!status)
        status = judge_traced(collection, error);
    if (!status && may_be_repeated(collection))
        status = run_others(collection, error);
    wraps_tell(collection->raw, &collection->lacks);
    if (!status)
        status = save_trace(collection, error);
    images_delete(collection->raw);
    return status;
}

/* The run before all of ours. */
static void take_first(struct collection *collection) {
    const struct tracer_options *options = collection->options;
    collection->first = *options->first;
    if (!options->first_pace)
        return;
    struct trace_plain_run *run = VECTOR_ADD(&collection->plain);
    *run = (struct trace_plain_run){options->first->run_ns, options->first->cpu_ns, {0}};
    for (int kind = 0; kind < PACE_KINDS; kind++) {
        run->piece_ns[kind] = options->first_pace->piece_ns[kind];
        collection->fastest_ns[kind] = options->first_pace->fastest_ns[kind];
    }
}

size_t tracer_expected_runs(const struct tracer_options *options, double run_ns) {
    return run_plan_expected(options, run_ns);
}

int tracer_run(const struct tracer_options *options, struct error *error) {
    struct collection collection = {.options = options};
    interrupt_begin();
    if (options->first)
        take_first(&collection);
    runs_expect(run_plan_expected(options, options->first ? (double)options->first->run_ns : 0));
    int status = collect(&collection, error);
    interrupt_end();
    free_collection(&collection);
    return status;
}

int tracer_check_program(const char *program, bool probed, struct error *error) {
    struct program found;
    if (program_find(&found, program, probed, error) != 0)
        return -1;
    program_free(&found);
    return 0;
}

int tracer_check_catalog(const char *program, const struct user_catalog *catalog,
                         struct error *error) {
    struct program found;
    struct wraps wraps;
    if (program_find(&found, program, true, error) != 0)
        return -1;
    int status = wraps_find(&wraps, found.path, catalog, error);
    wraps_free(&wraps);
    program_free(&found);
    return status;
}
