#include "modelgen/events/probe_cost.h"

#include <math.h>
#include <stdlib.h>

#include <gsl/gsl_statistics_double.h>

#include "base/memory.h"
#include "formats/recorded_speed.h"
#include "modelgen/evidence.h"

static double count_records(const struct trace *trace) {
    double n = 0;
    for (size_t t = 0; t < trace->n_threads; t++)
        n += (double)trace->threads[t].n_records;
    return n;
}

/* Of the probes, too, but not of the records. */
static double attached_ns(const struct trace *trace) {
    double sum_ns = 0;
    for (size_t t = 0; t < trace->n_threads; t++) {
        const struct trace_thread *thread = &trace->threads[t];
        sum_ns += (double)(thread->attach.to_ns - thread->attach.from_ns);
    }
    return sum_ns;
}

/* CPU time that the traced run needed more than the median plain one, at the speed that the cores
 * had in the traced one. */
static double additional_ns(const struct trace *trace) {
    const struct trace_meta *meta = &trace->meta;
    struct usual_speed usual = recorded_cpu_speed(meta);
    double *plain_ns = memory_alloc(meta->n_untraced, sizeof *plain_ns);
    for (size_t i = 0; i < meta->n_untraced; i++)
        plain_ns[i] = recorded_at_traced_speed(meta, &usual, (double)meta->untraced[i].cpu_ns,
                                               meta->untraced[i].piece_ns);
    double median_ns = gsl_stats_median(plain_ns, 1, meta->n_untraced);
    free(plain_ns);
    return (double)meta->cpu_ns - attached_ns(trace) - median_ns;
}

struct probe_cost probe_cost_find(const struct trace *trace) {
    const struct trace_meta *meta = &trace->meta;
    struct probe_cost cost = {.record_ns = meta->probe_ns};
    double n = count_records(trace);
    if (n <= 0 || meta->cpu_ns == 0)
        return cost;
    cost.share = meta->probe_ns * n / (double)meta->cpu_ns;
    cost.is_often = cost.share > evidence.probed_share;
    cost.is_told = cost.is_often && meta->n_untraced > 0;
    if (cost.is_told)
        cost.record_ns = fmax(additional_ns(trace) / n, meta->probe_ns);
    return cost;
}
