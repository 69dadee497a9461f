#include "sampler/sampler.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/hooks.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/path.h"
#include "formats/sample.h"
#include "host/cores.h"
#include "host/pace.h"
#include "host/rerun.h"
#include "host/runs.h"
#include "host/served_run.h"
#include "sampler/launch.h"
#include "sampler/profile.h"
#include "sampler/recorder.h"
#include "sampler/symbols.h"

#define DEFAULT_RATE_HZ 100.0

/* ---- while the program runs ---- */

/* One thread is watched through two files. The program itself was forked with the old limit. */
static struct rlimit allow_many_files(void) {
    struct rlimit before = {0};
    if (getrlimit(RLIMIT_NOFILE, &before) == 0) {
        struct rlimit limit = {before.rlim_max, before.rlim_max};
        setrlimit(RLIMIT_NOFILE, &limit);
    }
    return before;
}

static uint64_t ns_of(struct timeval time) {
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_usec * 1000u;
}

/* Sleeps until `until_ns` or the program's end, whichever is first; true at its end. */
static bool wait_for_program(pid_t pid, int pidfd, uint64_t until_ns, struct run_end *end) {
    uint64_t now = clock_now_ns(CLOCK_MONOTONIC);
    uint64_t left = until_ns > now ? until_ns - now : 0;
    struct timespec timeout = {(time_t)(left / 1000000000u), (long)(left % 1000000000u)};
    struct pollfd watched = {.fd = pidfd, .events = POLLIN}; /* an old kernel's -1 is ignored */
    siginfo_t about = {.si_pid = 0};
    ppoll(&watched, 1, &timeout, NULL);
    if (waitid(P_PID, (id_t)pid, &about, WEXITED | WNOHANG | WNOWAIT) != 0 || about.si_pid != pid)
        return false;
    interrupt_program(0); /* while its number is still its own */
    struct rusage usage;
    if (wait4(pid, &end->status, 0, &usage) != pid)
        return false;
    end->cpu_ns = ns_of(usage.ru_utime) + ns_of(usage.ru_stime);
    return true;
}

/* Blocked threads are looked at once per period, unless there are so many that this would take more
 * than a tenth of a core. A look counts for all periods since the last one, as running threads are
 * sampled by the kernel without delay. When in its period is drawn by lot: a program that does the
 * same thing again and again may keep in step with equal distances. */
static struct run_end watch(struct recorder *recorder, pid_t pid, double rate_hz) {
    struct run_end end = {.known = true};
    uint64_t start = clock_now_ns(CLOCK_MONOTONIC), woken = 0, looked = 0, rest_until = 0;
    int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
    double period_ns = 1e9 / rate_hz;
    unsigned short dice[3] = {0};
    while (!wait_for_program(
        pid, pidfd, start + (uint64_t)(((double)(woken + 1) + erand48(dice)) * period_ns), &end)) {
        uint64_t now = clock_now_ns(CLOCK_MONOTONIC);
        woken = (uint64_t)((double)(now - start) / period_ns);
        if (now < rest_until) {
            sampler_recorder_take(recorder, 0);
            continue;
        }
        sampler_recorder_take(recorder, woken - looked);
        looked = woken;
        rest_until = now + 10 * (clock_now_ns(CLOCK_MONOTONIC) - now);
    }
    end.run_ns = clock_now_ns(CLOCK_MONOTONIC) - start;
    sampler_recorder_take(recorder, 0);
    end.n_threads = sampler_recorder_recording(recorder)->n_threads;
    if (pidfd >= 0)
        close(pidfd);
    return end;
}

/* ---- afterwards ---- */

static const char *program_name(const struct recording *recording) {
    return recording->program ? path_name(recording->program) : "";
}

/* Whose code may have run besides that of the program's own file: whether a sample fell into it
 * does not matter. */
static void describe_libraries(const struct modules *modules, const char *program,
                               struct sample *sample) {
    sample->libraries = memory_alloc(modules->modules.count, sizeof *sample->libraries);
    for (size_t i = 0; i < modules->modules.count; i++) {
        const char *path = modules->modules.items[i].path, *name = path_name(path);
        bool is_code = modules->modules.items[i].has_table;
        if (path[0] == '/' && is_code && strcmp(name, program) != 0)
            sample->libraries[sample->n_libraries++] = memory_strdup(path);
    }
}

static void describe(const struct recording *recording, struct sample *sample) {
    struct symbols *symbols = symbols_create(&recording->modules);
    struct profile_calls calls = {
        .trie = profile_fold(&recording->trie, recording->addresses.items, symbols),
        .symbols = symbols_all(symbols),
        .n_threads = recording->n_threads,
        .program = program_name(recording),
    };
    profile_describe(&calls, sample);
    describe_libraries(&recording->modules, calls.program, sample);
    if (recording->program)
        sample->program = memory_strdup(recording->program);
    sample->failed_unwinds = recording->failed_unwinds;
    sample->samples += recording->failed_unwinds;
    trie_free(&calls.trie);
    symbols_free(symbols);
}

static int save(const struct sample *sample, const char *directory, struct error *error) {
    char *json = memory_format("%s/sample.json", directory);
    char *folded = memory_format("%s/stacks.folded", directory);
    int status = sample_save(sample, json, error);
    if (status == 0)
        status = profile_write_folded(sample, folded, error);
    free(json);
    free(folded);
    return status;
}

static void tell_losses(const struct recording *recording) {
    if (recording->lost > 0)
        log_warning("%llu records of the kernel were lost: samples are missing; use a lower --rate",
                    (unsigned long long)recording->lost);
    if (recording->skipped > 0)
        log_debug("%llu samples of blocked threads were skipped: they woke while looked at",
                  (unsigned long long)recording->skipped);
}

/* NULL: there is no room for it. */
static struct pace *start_pace(void) {
    size_t n_cores;
    free(cores_allowed(&n_cores));
    return pace_start((int)n_cores);
}

/* Lets it exec, and watches it to its end. */
static int run(struct launch *launch, const struct sampler_options *options,
               struct recorder *recorder, double rate_hz, struct run_end *end,
               struct error *error) {
    const char *program = options->args[0];
    struct error unserved;
    interrupt_program(launch->pid);
    struct served_run *served = served_run_begin(launch->pid, program, options->may_leave);
    struct pace *pace = options->pace ? start_pace() : NULL;
    runs_begin(!options->quiet);
    int started = sampler_launch_release(launch, program, error);
    if (started == 0)
        *end = watch(recorder, launch->pid, rate_hz);
    interrupt_program(0);
    runs_end();
    if (options->pace)
        *options->pace = pace_stop(pace);
    int ended = served_run_end(served, &end->status, &unserved);
    end->signal = interrupt_signal();
    if (started == 0 && ended != 0)
        *error = unserved;
    return started || ended ? -1 : 0;
}

static int record(struct launch *launch, const struct sampler_options *options,
                  struct recorder *recorder, struct sample *sample, struct error *error) {
    struct run_end end = {0};
    if (run(launch, options, recorder, sample->rate_hz, &end, error) != 0)
        return -1;
    sample->exit_status = end.status;
    sample->run_ns = end.run_ns;
    if (options->end)
        *options->end = end;
    const struct recording *recording = sampler_recorder_recording(recorder);
    tell_losses(recording);
    describe(recording, sample);
    return save(sample, options->directory, error);
}

static int prepare_and_record(const struct sampler_options *options, struct error *error) {
    struct launch launch;
    if (interrupt_check(error) < 0 || rerun_prepare(error) < 0 ||
        sampler_launch_prepare(&launch, options->args, options->quiet, error) < 0)
        return -1;
    struct rlimit before = allow_many_files();
    double rate_hz = options->rate_hz > 0 ? options->rate_hz : DEFAULT_RATE_HZ;
    struct recorder *recorder = sampler_recorder_create(launch.pid, rate_hz, error);
    int status = -1;
    if (recorder) {
        struct sample *sample = memory_alloc(1, sizeof *sample);
        sample->rate_hz = rate_hz;
        status = record(&launch, options, recorder, sample, error);
        sample_free(sample);
        sampler_recorder_free(recorder);
    } else {
        sampler_launch_cancel(&launch);
    }
    if (before.rlim_max > 0) /* the next runs of the program are to have what it always has */
        setrlimit(RLIMIT_NOFILE, &before);
    return status;
}

int sampler_run(const struct sampler_options *options, struct error *error) {
    if (hooks_prepare(error) != 0)
        return -1;
    interrupt_begin();
    int status = prepare_and_record(options, error);
    interrupt_end();
    hooks_cleanup();
    return status;
}
