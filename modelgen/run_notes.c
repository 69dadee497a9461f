#include "modelgen/run_notes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <gsl/gsl_sort_double.h>
#include <gsl/gsl_statistics_double.h>

#include "base/memory.h"
#include "formats/recorded_speed.h"
#include "modelgen/calibrate/probe_overhead.h"
#include "modelgen/events/event_cursor.h"
#include "modelgen/events/source_correlation.h"
#include "modelgen/events/unrecorded_stops.h"
#include "modelgen/evidence.h"
#include "modelgen/notes.h"
#include "modelgen/report/external_activity.h"
#include "modelgen/report/unexplained_time.h"

/* Time that no record explains is worth a note from this share on, and what the probes took of the
 * CPU time to get ready in new threads from this one. */
#define UNEXPLAINED_NOTE 0.01
#define ATTACHING_NOTE   0.02

/* ---- where the model comes from ---- */

/* The median CPU time of the runs, 0 of none, and most less least of it. */
static double median_cpu_ns(const struct trace_plain_run *runs, size_t n_runs, double *range_ns) {
    double *cpu_ns = memory_alloc(n_runs + 1, sizeof *cpu_ns), median_ns = 0;
    size_t n = 0;
    for (size_t i = 0; i < n_runs; i++)
        if (runs[i].cpu_ns > 0)
            cpu_ns[n++] = (double)runs[i].cpu_ns;
    if (n > 0) {
        gsl_sort(cpu_ns, 1, n);
        median_ns = gsl_stats_median_from_sorted_data(cpu_ns, 1, n);
        *range_ns = cpu_ns[n - 1] - cpu_ns[0];
    }
    free(cpu_ns);
    return median_ns;
}

/* CPU time is what others that have a core do not add to, so that it tells how fast the cores
 * were. */
static void measure_plain_cpu(const struct trace_meta *meta, struct model *model) {
    double range_ns;
    model->plain_cpu_ns = median_cpu_ns(meta->untraced, meta->n_untraced, &range_ns);
    if (model->plain_cpu_ns > 0)
        model->plain_cpu_spread = range_ns / model->plain_cpu_ns;
    model->one_core_cpu_ns = median_cpu_ns(meta->one_core, meta->n_one_core, &range_ns);
}

/* The recording has it in words only (tracer/collect.c). */
static void note_foreign(const char *lack, struct model *model) {
    char *end;
    double percent = strtod(lack, &end);
    if (percent > 0 &&
        strncmp(end, " % of the CPU time: other", strlen(" % of the CPU time: other")) == 0)
        model->foreign_share = percent / 100;
}

void run_notes_provenance(const struct build *build) {
    const struct trace_meta *meta = &build->trace->meta;
    struct model *model = build->model;
    time_t now = time(NULL);
    struct tm utc;
    char date[32];
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
    model->version = MODEL_VERSION;
    model->program = trace_command_line(meta);
    model->built = memory_strdup(date);
    model->host = memory_strdup(meta->host ? meta->host : "");
    model->build_id = memory_strdup(meta->build_id ? meta->build_id : "");
    model->measured_run_ns = (double)meta->run_ns;
    model->perturbation = recorded_perturbation(meta);
    measure_plain_cpu(meta, model);
    model->probe_ns = meta->probe_ns;
    model->lost_events = (double)(meta->lost_records + meta->lost_events);
    if (!meta->complete)
        notes_add(model, "the traced run was cut off: the model covers what ran until then");
    if (model->lost_events > 0)
        notes_add(model, "%.0f events were lost while tracing", model->lost_events);
    for (size_t i = 0; i < meta->n_lacks; i++) {
        notes_add(model, "%s", meta->lacks[i]);
        note_foreign(meta->lacks[i], model);
    }
}

/* ---- time, and what is outside ---- */

static void note_unexplained(const struct sample *sample, double share, struct model *model) {
    char *place = sample ? unexplained_time_place(sample) : NULL;
    notes_add(model, "%.1f %% of the threads' time was blocked outside of any recorded call%s%s",
              100 * share, place ? ", mostly in " : "", place ? place : "");
    free(place);
}

/* How much of their way threads slept for locks of the kernel, more or less. They meet there only
 * while they run at once, so that what they waited in calls, or for a core, says nothing of it; nor
 * does what they read from disks, nor one long stop of a thread. */
static double stopped_ns_of(const struct trace *trace) {
    struct disk_service disks = disk_service_find(trace);
    double stopped_ns = -disk_service_outside(&disks).read_ns;
    disk_service_free(&disks);
    for (size_t t = 0; t < trace->n_threads; t++) {
        struct unrecorded_stops stops = unrecorded_stops_of(&trace->threads[t]);
        stopped_ns += stops.ns - stops.longest_ns;
    }
    return stopped_ns;
}

/* A wait that a filter has moved or taken away was in a call all the same; and one that a signal
 * cut is whole only behind the filters. */
static double stopped_share(const struct build *build, double cpu_ns) {
    double stopped_ns = fmin(stopped_ns_of(build->recorded), stopped_ns_of(build->trace));
    double share = stopped_ns > 0 ? stopped_ns / (stopped_ns + cpu_ns) : 0;
    return share >= evidence.matters ? share : 0;
}

void run_notes_explain_time(const struct build *build) {
    const struct trace *trace = build->trace;
    struct model *model = build->model;
    double life = 0, unexplained = 0, cpu = 0;
    for (size_t t = 0; t < trace->n_threads; t++) {
        struct thread_states_totals parts = thread_states_totals(&build->timelines[t]);
        life += parts.life_ns;
        unexplained += parts.unexplained_ns;
        cpu += build->cpu_ns[t];
    }
    double of_time = life > 0 ? 1 - unexplained / life : 1;
    model->explained_share = fmin(of_time, external_activity_recorded_share(trace, cpu));
    if (!trace->meta.has_slices)
        notes_add(model, "scheduling was not recorded: CPU time is wall time outside of "
                         "blocking calls, too long when the traced run had too few cores");
    if (unexplained > UNEXPLAINED_NOTE * life)
        note_unexplained(build->sample, unexplained / life, model);
    model->stopped_share = stopped_share(build, cpu);
    external_activity_tell(trace, cpu, model);
    if (build->n_sources == 0)
        external_activity_tell_handlers(trace, model);
}

/* Of the threads' time, that in which they were blocked outside of calls while disks read for them.
 */
static double faulted_share(const struct build *build, double read_ns) {
    double life = 0, unexplained = 0;
    for (size_t t = 0; t < build->trace->n_threads; t++) {
        struct thread_states_totals parts = thread_states_totals(&build->timelines[t]);
        life += parts.life_ns;
        unexplained += parts.unexplained_ns;
    }
    return life > 0 ? fmin(read_ns, unexplained) / life : 0;
}

void run_notes_requests_outside(const struct build *build) {
    struct disk_service_outside outside = disk_service_outside(&build->disks);
    double share = faulted_share(build, outside.read_ns);
    if (share > evidence.faulted_share && !build->model->standstill)
        build->model->standstill = memory_format(
            "for %.0f %% of their time the threads waited for the disk in calls that are not "
            "recorded, or in page faults of which the kernel did not tell: record it with these "
            "files in memory",
            100 * share);
    if (outside.requests > 0)
        notes_add(
            build->model,
            "%zu requests to disks (%.1f MB) were made outside of any recorded call and of page "
            "faults, by calls that are not recorded or write-back: not modelled",
            outside.requests, outside.bytes / 1e6);
}

static double bytes_of(const struct trace *trace, const size_t *requests, size_t n) {
    double bytes = 0;
    for (size_t i = 0; i < n; i++)
        bytes += trace->blocks[requests[i]].bytes;
    return bytes;
}

void run_notes_requests_of_kernel(const struct build *build) {
    const struct disk_service *disks = &build->disks;
    const struct commits *commits = &build->commits;
    const struct write_back *later = &build->write_back;
    double all = bytes_of(disks->trace, disks->kernel, disks->n_kernel);
    double committed = bytes_of(disks->trace, commits->requests, commits->n_requests);
    if (disks->n_kernel > 0)
        notes_add(build->model,
                  "of %zu requests of the kernel (%.1f MB) %zu (%.1f MB) were for commits that "
                  "calls waited for, %zu (%.1f MB) wrote back what calls had written, the others "
                  "belong to none",
                  disks->n_kernel, all / 1e6, commits->n_requests, committed / 1e6, later->n,
                  later->bytes / 1e6);
}

/* The first thread's share is no part of the measured running time. */
void run_notes_attaching(const struct build *build) {
    const struct trace *trace = build->recorded;
    double on_core_ns = thread_states_on_core(trace);
    double left_out_ns = (double)trace->meta.run_ns - probe_overhead_run_ns(trace);
    double share = (on_core_ns - probe_overhead_on_core_ns(trace) - left_out_ns) / on_core_ns;
    if (share > ATTACHING_NOTE)
        notes_add(build->model,
                  "%.1f %% of the CPU time went into recording threads from their start: the model "
                  "leaves that out, the measured running time has it in it",
                  100 * share);
}

/* Simulated threads run on any core. Where a program chooses cores by itself, those that it is
 * allowed to use, as by taskset, are not those that it runs on. */
void run_notes_binding(const struct build *build) {
    const struct trace *trace = build->trace;
    for (struct event_cursor at = event_cursor_of_run(trace); event_cursor_next(&at);) {
        if (trace_op(at.event) != OP_BIND || at.event->value != 0)
            continue;
        char *place = source_place(trace, at.event->context);
        notes_add(build->model,
                  "the program binds threads to cores, %s in %s: the model lets them run on all "
                  "cores",
                  api_catalog[at.event->api].name, place);
        if (!build->model->asks_cores)
            build->model->asks_cores =
                memory_format("the program binds threads to cores itself, %s in %s: whether it "
                              "takes those that it is given is not known",
                              api_catalog[at.event->api].name, place);
        free(place);
    }
}

/* The first thread of a process that nobody of the run was seen to make? */
static bool begins_unseen(const struct trace_thread *thread) {
    return thread->creator < 0 && thread->tid == thread->pid;
}

/* Its begin is the recorded one in the model, while the end that it waited for moves. */
void run_notes_programs(const struct build *build) {
    const struct trace *trace = build->trace;
    struct model *model = build->model;
    uint64_t first_end_ns = UINT64_MAX, last_start_ns = 0;
    for (size_t t = 0; t < trace->n_threads; t++) {
        const struct trace_thread *thread = &trace->threads[t];
        if (!begins_unseen(thread))
            continue;
        first_end_ns = thread->end_ns < first_end_ns ? thread->end_ns : first_end_ns;
        last_start_ns = thread->start_ns > last_start_ns ? thread->start_ns : last_start_ns;
    }
    if (last_start_ns < first_end_ns || model->unpredicted)
        return;
    model->unpredicted = memory_strdup(
        "programs that began when others had ended, as those of a script, begin in the model when "
        "they did: what sets them off is not recorded");
    notes_add(model, "%s", model->unpredicted);
}
