#include "modelgen/calibrate/demand_calibration.h"

#include <stdlib.h>

#include <gsl/gsl_sort_double.h>
#include <gsl/gsl_statistics_double.h>

#include "base/memory.h"
#include "formats/recorded_speed.h"
#include "modelgen/calibrate/cache_reload_time.h"
#include "modelgen/calibrate/interrupt_costs.h"
#include "modelgen/calibrate/probe_overhead.h"
#include "modelgen/events/probe_cost.h"
#include "modelgen/events/thread_states.h"
#include "modelgen/evidence.h"

/* Runs that differ by more than this do not do the same work; unless the probes, with what they do
 * to get ready, have much of the CPU time. */
#define LOWEST_FACTOR  0.5
#define HIGHEST_FACTOR 2.0
#define LOWEST_PROBED  0.1

/* CPU time of the threads in the traced run, what of it the probes took, and what is no part of
 * their demands. */
struct traced_cpu {
    double all_ns, probes_ns, lost_ns;
    double cold_ns; /* of lost_ns: after sleeps */
};

static struct traced_cpu measure_cpu(const struct trace *trace,
                                     const struct cache_reload_costs *reload_costs,
                                     const struct cold_starts *cold_starts) {
    struct traced_cpu cpu = {0};
    double record_ns = probe_cost_find(trace).record_ns;
    struct excluded_time attaching = probe_overhead_find(trace),
                         interrupts = interrupt_costs_find(trace),
                         refilling = cache_reload_time_find(trace, reload_costs), cold = {0};
    if (cold_starts)
        cold = cold_starts_time(trace, cold_starts);
    for (size_t t = 0; t < trace->n_threads; t++) {
        struct thread_states timeline = thread_states_make(&trace->threads[t]);
        double all_ns = thread_states_cpu(&timeline, trace->threads[t].end_ns);
        thread_states_leave_out(&timeline, &attaching);
        double attached_ns = thread_states_cpu(&timeline, trace->threads[t].end_ns);
        thread_states_leave_out(&timeline, &interrupts);
        thread_states_leave_out(&timeline, &refilling);
        cpu.all_ns += all_ns;
        double warm_ns = thread_states_cpu(&timeline, trace->threads[t].end_ns);
        thread_states_leave_out(&timeline, &cold);
        double left_ns = thread_states_cpu(&timeline, trace->threads[t].end_ns);
        cpu.cold_ns += warm_ns - left_ns;
        cpu.lost_ns += attached_ns - left_ns;
        thread_states_free(&timeline);
        cpu.probes_ns += all_ns - attached_ns + record_ns * (double)trace->threads[t].n_records;
    }
    free(attaching.items);
    free(interrupts.items);
    free(refilling.items);
    free(cold.items);
    return cpu;
}

/* A request finds its thread asleep as often as that has nothing to do, and how long it has slept
 * then does not depend on how much it has to do, if requests come at random: a run of the same
 * requests has the more cold starts, the less its threads compute. Gives how many times as many as
 * the traced run. */
static double cold_starts_ratio(const struct trace *trace, const struct trace_plain_run *run,
                                double traced_ns, size_t n_threads) {
    double plain_run_ns = (double)run->run_ns, traced_run_ns = (double)trace->meta.run_ns;
    if (n_threads == 0 || plain_run_ns <= 0 || traced_run_ns <= 0)
        return 1;
    double plain = 1 - (double)run->cpu_ns / plain_run_ns / (double)n_threads;
    double traced = 1 - traced_ns / traced_run_ns / (double)n_threads;
    return plain > 0 && traced > 0 ? plain / traced : 1;
}

struct demand_calibration demand_calibration_find(const struct trace *trace,
                                                  const struct cache_reload_costs *reload_costs,
                                                  const struct cold_starts *cold_starts,
                                                  double ended_ns) {
    const struct trace_meta *meta = &trace->meta;
    struct traced_cpu cpu = measure_cpu(trace, reload_costs, cold_starts);
    cpu.all_ns += ended_ns;
    double demand_ns = cpu.all_ns - cpu.probes_ns - cpu.lost_ns;
    if (!meta->has_slices || !meta->complete || meta->cpu_ns == 0 || demand_ns <= 0)
        return (struct demand_calibration){.factor = 1};
    /* before the probes' library was there, and after */
    double outside_ns = (double)meta->cpu_ns > cpu.all_ns ? (double)meta->cpu_ns - cpu.all_ns : 0;
    double rest_ns = outside_ns + cpu.lost_ns - cpu.cold_ns; /* as much as in the traced run */
    size_t n = meta->n_untraced + 1;
    double *factors = memory_alloc(n, sizeof *factors);
    struct usual_speed usual = recorded_cpu_speed(meta);
    for (size_t i = 0; i < meta->n_untraced; i++) {
        const struct trace_plain_run *run = &meta->untraced[i];
        double ratio =
            cpu.cold_ns > 0 ? cold_starts_ratio(trace, run, cpu.all_ns, cold_starts->n_threads) : 0;
        double computed_ns = (double)run->cpu_ns - rest_ns - ratio * cpu.cold_ns;
        factors[i] = recorded_at_usual_speed(&usual, computed_ns, run->piece_ns) / demand_ns;
    }
    factors[n - 1] = recorded_at_usual_speed(&usual, demand_ns - thread_states_stolen(trace),
                                             meta->pace.piece_ns) /
                     demand_ns;
    gsl_sort(factors, 1, n);
    double median = gsl_stats_median_from_sorted_data(factors, 1, n);
    double range = factors[n - 1] - factors[0];
    free(factors);
    bool is_probed = cpu.probes_ns > evidence.probed_share * cpu.all_ns;
    return median < (is_probed ? LOWEST_PROBED : LOWEST_FACTOR) || median > HIGHEST_FACTOR
               ? (struct demand_calibration){.factor = 1}
               : (struct demand_calibration){true, median, range / median};
}

static void multiply(struct dist *dist, double factor) {
    dist->mean *= factor;
    for (size_t i = 0; i < dist->n_values; i++)
        dist->values[i] *= factor;
}

void demand_calibration_apply(struct model *model, struct demand_calibration correction) {
    for (size_t n = 0; n < model->n_nodes; n++) {
        multiply(&model->nodes[n].cpu_ns, correction.factor);
        for (size_t e = 0; e < model->nodes[n].n_edges; e++)
            multiply(&model->nodes[n].edges[e].cpu_ns, correction.factor);
    }
    for (size_t o = 0; o < model->n_objects; o++)
        model->objects[o].led_cpu_ns *= correction.factor;
    model->cpu_correction *= correction.factor;
    model->cpu_spread = correction.spread;
}
