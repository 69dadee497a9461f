/* Stage 3 from the outside: a traced run, the plain runs around it, and the trace of it all. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/hooks.h"
#include "base/interrupt.h"
#include "base/memory.h"
#include "host/runs.h"
#include "host/served_run.h"
#include "tracer/collected_trace.h"
#include "tracer/collection.h"
#include "tracer/host.h"
#include "tracer/plain_runs.h"
#include "tracer/run_plan.h"
#include "tracer/traced_run.h"

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
    pages_free(&collection->pages);
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
    pages_free(&collection->pages);
    lacks_cut(&collection->lacks, n_lacks);
    collection->timebase.count = 0;
    if (prepare_raw(collection, error) != 0)
        return -1;
    return tell_probes(collection, error);
}

static int run_traced_steadily(struct collection *collection, struct error *error) {
    size_t n_lacks = collection->lacks.count;
    for (;;) {
        struct pace *pace = collection_begin_run(collection, error);
        if (!pace)
            return -1;
        int status = traced_run_make(collection, error);
        struct pace_reading reading = collection->pace = collection_end_run(collection, pace);
        double slowdown = pace_slowdown(reading, host_cores());
        collection->last_run_ns =
            (double)(collection->launch.end_mono_ns - collection->launch.start_mono_ns);
        bool ended = !status && WIFEXITED(collection->launch.status) && !collection->launch.signal;
        if (!ended || !collection_is_to_repeat(collection, reading)) {
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
    int status = traced_run_make(collection, error);
    collection->sees_displacement = evictor_sees_displacement(evictor);
    collection->evictions = evictor_stop(evictor);
    return status ? status : collected_trace_save(collection, error);
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
        } else if (collection_ends_as_first(collection, &run.launch)) {
            *VECTOR_ADD(&collection->evicted) = run.work;
        } else {
            forget_evicted(collection, &run.launch, i);
        }
        blind &= !run.sees_displacement;
        goes_on =
            goes_on && collection_ends_as_first(collection, &run.launch) && !run.launch.signal;
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
    int status = plain_runs_make(collection, 1, error);
    if (sampled == 1 && collection->plain.count == 2)
        collection->plain.items[0] = collection->plain.items[--collection->plain.count];
    return status;
}

/* What shows what the traced run, which ended well, would have been without probes, and what
 * losing its caches costs. */
static int run_others(struct collection *collection, struct error *error) {
    int plain_runs = collection->options->plain_runs;
    int status = plain_runs == PLAIN_RUNS_ENOUGH ? plain_runs_make_enough(collection, error)
                 : plain_runs == PLAIN_RUNS_IF_UNCLEAR
                     ? clear_up(collection, error)
                     : plain_runs_make(collection, plain_runs - plain_runs / 2, error);
    if (status == 0 && !collection->stopped)
        status = plain_runs_on_one_core(collection, error);
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
    int status = plain_runs_make(collection, before, error);
    if (!status)
        status = run_traced_steadily(collection, error);
    if (!status)
        status = collection_judge_traced(collection, error);
    if (!status && may_be_repeated(collection))
        status = run_others(collection, error);
    wraps_tell(collection->raw, &collection->lacks);
    if (!status)
        status = collected_trace_save(collection, error);
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
