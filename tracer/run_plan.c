#include "tracer/run_plan.h"

#include <math.h>

#include "formats/recorded_speed.h"

/* Enough when nothing else is said. The machine is never equally fast: what short runs take is told
 * by the median of several, and where they differ much, of more. */
#define FEW_RUNS 2
static const struct enough {
    size_t runs;
    double ns; /* no more than FEW_RUNS when they take longer than this */
} usual = {5, 10e9}, unsteady = {9, 30e9};
#define UNSTEADY 0.05 /* most less least CPU time, in parts of both CPU time and running time */

bool run_plan_has_enough(const struct trace_plain_run *runs, size_t n) {
    double least_ns = INFINITY, most_ns = 0, all_ns = 0; /* CPU time of a run; all runs */
    for (size_t i = 0; i < n; i++) {
        least_ns = fmin(least_ns, (double)runs[i].cpu_ns);
        most_ns = fmax(most_ns, (double)runs[i].cpu_ns);
        all_ns += (double)runs[i].run_ns;
    }
    double range_ns = most_ns - least_ns;
    bool steady = n == 0 || range_ns <= UNSTEADY * least_ns ||
                  range_ns * (double)n <= UNSTEADY * all_ns; /* it mostly sleeps */
    struct enough enough = steady ? usual : unsteady;
    return n >= enough.runs || (n >= FEW_RUNS && all_ns >= enough.ns);
}

static bool differ(double a_ns, double b_ns, double whole_ns) {
    return fabs(a_ns - b_ns) > UNSTEADY * whole_ns;
}

/* Where both times agree, neither the sampler nor the probes can have cost much: at most by chance
 * a disturbed run hides it. */
bool run_plan_is_unclear(const struct trace_plain_run *sampled,
                         const struct trace_plain_run *traced) {
    double sampled_ns = (double)sampled->run_ns, traced_ns = (double)traced->run_ns;
    double sampled_cpu_ns = (double)sampled->cpu_ns, traced_cpu_ns = (double)traced->cpu_ns;
    double run_ns = fmin(sampled_ns, traced_ns), cpu_ns = fmin(sampled_cpu_ns, traced_cpu_ns);
    return differ(sampled_ns, traced_ns, run_ns) ||
           differ(sampled_cpu_ns, traced_cpu_ns, fmax(cpu_ns, run_ns));
}

/* Such a run takes about the program's CPU time. Where time does not matter two of them tell how
 * far chance goes; a program that takes longer than all runs with emptied caches has none. Where it
 * does there is one, of a program that keeps more than one core busy. */
#define ONE_CORE_RUNS       2
#define ONE_CORE_LONGEST_NS 24e9

size_t run_plan_one_core(const struct tracer_options *options,
                         const struct trace_plain_run *traced) {
    double run_ns = (double)traced->run_ns, cpu_ns = (double)traced->cpu_ns;
    double longer_ns = fmax(run_ns, cpu_ns);
    if (options->plain_runs >= 0 || longer_ns > ONE_CORE_LONGEST_NS)
        return 0;
    if (options->plain_runs == PLAIN_RUNS_IF_UNCLEAR)
        return cpu_ns > RECORDED_SEVERAL_CORES * run_ns ? 1 : 0;
    return ONE_CORE_RUNS;
}

/* Shorter runs tell nothing, and these take about twice as long as others. */
#define SHORTEST_EVICTED_NS 200e6
#define MOST_EVICTED        5
#define ENOUGH_EVICTED_NS   24e9
#define EVICTED_TAKES       2

bool run_plan_wants_evicted(int made, double all_ns, double traced_ns) {
    return traced_ns >= SHORTEST_EVICTED_NS && made < MOST_EVICTED && all_ns < ENOUGH_EVICTED_NS;
}

static size_t expected_plain_runs(const struct tracer_options *options, double run_ns) {
    if (options->plain_runs >= 0)
        return (size_t)options->plain_runs;
    if (options->plain_runs == PLAIN_RUNS_IF_UNCLEAR)
        return 1;
    return (size_t)fmin(fmax(ceil(usual.ns / run_ns), FEW_RUNS), (double)usual.runs);
}

static size_t expected_one_core(const struct tracer_options *options, double run_ns) {
    const struct trace_plain_run as_long = {.run_ns = (uint64_t)run_ns};
    return options->plain_runs == PLAIN_RUNS_IF_UNCLEAR ? 1 : run_plan_one_core(options, &as_long);
}

size_t run_plan_expected(const struct tracer_options *options, double run_ns) {
    if (run_ns <= 0 && (options->plain_runs == PLAIN_RUNS_ENOUGH || options->evictions))
        return 0;
    size_t evicted = 0;
    while (options->evictions &&
           run_plan_wants_evicted((int)evicted, (double)evicted * EVICTED_TAKES * run_ns, run_ns))
        evicted++;
    return (options->first ? 1 : 0) + expected_plain_runs(options, run_ns) + 1 +
           expected_one_core(options, run_ns) + evicted;
}
