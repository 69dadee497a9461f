#include "tracer/collected_trace.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/interrupt.h"
#include "base/memory.h"
#include "host/reclaim.h"
#include "host/served_run.h"
#include "tracer/convert.h"
#include "tracer/core_questions.h"
#include "tracer/elsewhere.h"
#include "tracer/host.h"
#include "tracer/task_marks.h"
#include "tracer/unplaced.h"

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
    meta->left_cpu_ns = collection->left_cpu_ns;
}

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
                                  .reclaims = reclaim_is_proactive(""),
                                  .start_mono_ns = collection->launch.start_mono_ns,
                                  .end_mono_ns = collection->launch.end_mono_ns};
    input.calls = uprobes_calls(collection->uprobes, &input.n_calls);
    convert(trace, &input, &collection->lacks);
    if (!collection->evicts)
        pages_tell(&collection->pages, trace, collection->launch.start_mono_ns);
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
    same_work_of_first(trace, &collection->work, &collection->first,
                       served_run_outcome() != SERVED_NONE);
    same_work_of_evicted(trace, &collection->work, collection->evicted.items,
                         collection->evicted.count, collection->options->directory);
}

int collected_trace_save(struct collection *collection, struct error *error) {
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
