#include "tracer/collection.h"

#include <string.h>
#include <unistd.h>

#include "base/hooks.h"
#include "base/memory.h"
#include "tracer/host.h"

#define MOST_SLOWED 8 /* then they all count: the machine will not get quiet */

struct pace *collection_begin_run(const struct collection *collection, struct error *error) {
    if (hooks_prepare(error) != 0)
        return NULL;
    if (collection->options->steady)
        pace_wait(host_cores(), collection->last_run_ns);
    return pace_start(host_cores());
}

struct pace_reading collection_end_run(struct collection *collection, struct pace *pace) {
    struct pace_reading reading = pace_stop(pace);
    for (int kind = 0; kind < PACE_KINDS; kind++)
        collection->fastest_ns[kind] =
            pace_faster(collection->fastest_ns[kind], reading.fastest_ns[kind]);
    hooks_cleanup();
    return reading;
}

bool collection_is_to_repeat(struct collection *collection, struct pace_reading reading) {
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

int collection_judge_first(struct collection *collection, const struct launch *launch,
                           struct error *error) {
    if (collection->first.known)
        return 0;
    collection->first = run_end_of(launch);
    if (run_end_failed(&collection->first) && !collection->options->ignore_failure)
        return run_end_refuse(collection->options->args[0], launch->status, error);
    return 0;
}

bool collection_ends_as_first(const struct collection *collection, const struct launch *launch) {
    return launch->signal || collection->first.signal || launch->status == collection->first.status;
}

int collection_judge_traced(struct collection *collection, struct error *error) {
    const struct launch *launch = &collection->launch;
    if (collection_judge_first(collection, launch, error) != 0)
        return -1;
    if (collection->options->ignore_failure || collection_ends_as_first(collection, launch))
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

char **collection_environment(char *const *variables) {
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
