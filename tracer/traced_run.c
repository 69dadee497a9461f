#include "tracer/traced_run.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/interrupt.h"
#include "base/memory.h"
#include "host/served_run.h"
#include "tracer/elsewhere.h"
#include "tracer/host.h"

static void drain_ftrace(void *context, uint64_t complete_ns) {
    struct collection *collection = context;
    sched_settle(&collection->sched, 0); /* the handlers below ask whose a thread is */
    ftrace_drain(collection->ftrace);
    pages_drain(&collection->pages);
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
                              .quiet = collection->options->quiet || collection->evicts ||
                                       collection->again};
    if (launch_prepare(launch, error) != 0)
        return -1;
    segment_set_target(collection->segment, launch->pid);
    segment_start(collection->segment);
    collection->recorder = recorder_new(&collection->timebase);
    collection->ftrace = ftrace_open("");
    sched_attach(&collection->sched, collection->recorder, collection->ftrace, launch->pid,
                 &collection->lacks);
    if (collection->options->block_io && !collection->evicts) /* nobody looks at its disks */
        block_attach(&collection->block, collection->ftrace, &collection->lacks);
    if (collection->block.attached)
        pages_attach(&collection->pages, launch->pid);
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
    pages_detach(&collection->pages);
    uprobes_end(collection->uprobes); /* other runs follow, which must not stop there */
    return status;
}

int traced_run_make(struct collection *collection, struct error *error) {
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
    char **environment = collection_environment(variables);
    int status = run_in(collection, environment, error);
    free(environment);
    for (char **variable = variables; *variable; variable++)
        free(*variable);
    return status;
}
