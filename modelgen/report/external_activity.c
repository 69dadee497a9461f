#include "modelgen/report/external_activity.h"

#include <stdlib.h>

#include "base/memory.h"
#include "modelgen/evidence.h"
#include "modelgen/notes.h"

/* Less is no worse than what is not known anyhow. */
#define NOTED_SHARE 0.01

static double all_cpu_ns(const struct trace_elsewhere *elsewhere, double cpu_ns) {
    return cpu_ns + (double)elsewhere->children_cpu_ns + (double)elsewhere->threads_cpu_ns;
}

double external_activity_recorded_share(const struct trace *trace, double cpu_ns) {
    double all_ns = all_cpu_ns(&trace->meta.elsewhere, cpu_ns);
    return all_ns > 0 ? cpu_ns / all_ns : 1;
}

/* Several processes wait for each other through pipes, files and signals. */
static void tell_processes(const struct trace *trace, struct model *model) {
    size_t processes = 0;
    for (size_t t = 0; t < trace->n_threads; t++) {
        size_t first = 0;
        while (trace->threads[first].pid != trace->threads[t].pid)
            first++;
        processes += first == t;
    }
    if (processes > 1)
        notes_add_outside(
            model,
            "%zu processes were recorded: what one of them waits for that another one "
            "does is modelled as a time that nothing changes",
            processes);
}

static void tell_unrecorded(const struct trace_elsewhere *elsewhere, double cpu_ns,
                            struct model *model) {
    double all_ns = all_cpu_ns(elsewhere, cpu_ns);
    double children_ns = (double)elsewhere->children_cpu_ns;
    double threads_ns = (double)elsewhere->threads_cpu_ns;
    if (children_ns > NOTED_SHARE * all_ns)
        notes_add_outside(model,
                          "%.1f %% of the CPU time was used by child processes, which were not "
                          "recorded: record with --follow",
                          100 * children_ns / all_ns);
    if (threads_ns > NOTED_SHARE * all_ns)
        notes_add_outside(model,
                          "%.1f %% of the CPU time was used by threads that were not recorded",
                          100 * threads_ns / all_ns);
    if (elsewhere->left_running > 0)
        notes_add_outside(
            model,
            "%d of its processes still ran when the program ended: what they did after "
            "that is in no figure: let it stay in the foreground",
            elsewhere->left_running);
}

static void tell_quota(const struct trace_meta *meta, struct model *model) {
    const struct trace_elsewhere *elsewhere = &meta->elsewhere;
    double share = (double)elsewhere->throttled_ns / (double)meta->run_ns;
    if (elsewhere->quota_cores <= 0 || elsewhere->quota_cores >= meta->cores)
        return;
    if (meta->run_ns > 0 && share > NOTED_SHARE) {
        model->throttled_share = share;
        notes_add_outside(
            model,
            "a control group's quota of %.3g cores stopped the recorded run for %.0f %% "
            "of its time: all figures are for cores without a quota",
            elsewhere->quota_cores, 100 * share);
    } else {
        notes_add_outside(
            model,
            "a control group's quota leaves %.3g of %d cores: all figures are for cores "
            "without a quota",
            elsewhere->quota_cores, meta->cores);
    }
}

void external_activity_tell(const struct trace *trace, double cpu_ns, struct model *model) {
    tell_unrecorded(&trace->meta.elsewhere, cpu_ns, model);
    tell_processes(trace, model);
    tell_quota(&trace->meta, model);
}

void external_activity_tell_handlers(const struct trace *trace, struct model *model) {
    const char *handlers = trace->meta.elsewhere.handlers;
    if (!handlers)
        return;
    notes_add_outside(model, "%s", handlers);
    if (strtod(handlers, NULL) < evidence.times_alike) /* the line begins with their number */
        return;
    free(model->unpredicted);
    model->unpredicted = memory_strdup(handlers);
}
