#include "tracer/plain_runs.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/interrupt.h"
#include "base/memory.h"
#include "host/served_run.h"
#include "tracer/host.h"
#include "tracer/run_plan.h"

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
    char **environment = collection_environment((char *[]){threads, NULL});
    struct launch launch = {.path = collection->program.path,
                            .args = collection->options->args,
                            .environment = environment,
                            .quiet = true,
                            .one_core_ns = one_core_ns,
                            .may_leave = true};
    struct error failure;
    struct pace *pace = collection_begin_run(collection, error);
    if (!pace) {
        free(environment);
        free(threads);
        return -1;
    }
    bool failed = launch_prepare(&launch, &failure) != 0 || launch_finish(&launch, &failure) != 0;
    struct pace_reading reading = collection_end_run(collection, pace);
    free(environment);
    free(threads);
    collection->last_run_ns = (double)(launch.end_mono_ns - launch.start_mono_ns);
    if (!failed && collection_judge_first(collection, &launch, error) != 0)
        return -1;
    if (launch.unserved)
        return error_set_exit(error, failure.exit_status, "%s", failure.text);
    if (failed)
        stop_plain_runs(collection, failure.text);
    else if (served_run_outcome() == SERVED_LEFT)
        stop_plain_runs(collection, "it is a server that somebody asks by hand, in one run only");
    else if (!collection_ends_as_first(collection, &launch))
        stop_plain_runs(collection,
                        "a run ended otherwise than the first one and does not count: undo with "
                        "--prepare what a run leaves behind");
    else if (launch.signal)
        stop_plain_runs(collection, "a signal ended the run");
    else if (!WIFEXITED(launch.status))
        stop_plain_runs(collection, "the program was killed");
    else if (collection_is_to_repeat(collection, reading))
        return 0;
    else if (one_core_ns == 0)
        keep_plain_run(&collection->plain, &launch, &reading);
    else if (launch.released)
        collection->left_cpu_ns = launch.cpu_ns;
    else
        keep_plain_run(&collection->one_core, &launch, &reading);
    return 1;
}

int plain_runs_make(struct collection *collection, int runs, struct error *error) {
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

int plain_runs_make_enough(struct collection *collection, struct error *error) {
    while (!collection->stopped && !has_enough_runs(collection))
        if (plain_runs_make(collection, 1, error) != 0)
            return -1;
    return 0;
}

/* So much longer than its CPU time it may take before it gets all cores back. */
#define ONE_CORE_SLOWER 3
#define ONE_CORE_LEAST  1000000000u

int plain_runs_on_one_core(struct collection *collection, struct error *error) {
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
