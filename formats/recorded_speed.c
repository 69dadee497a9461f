#include "formats/recorded_speed.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_statistics_double.h>

#include "base/memory.h"

static bool is_known(const struct trace_meta *meta) {
    bool known = meta->pace.piece_ns[PACE_COMPUTING] > 0;
    for (size_t i = 0; i < meta->n_untraced; i++)
        known = known && meta->untraced[i].piece_ns[PACE_COMPUTING] > 0;
    return known;
}

static double median_piece_ns(const struct trace_meta *meta, int kind) {
    double *pieces_ns = memory_alloc(meta->n_untraced + 1, sizeof *pieces_ns);
    for (size_t i = 0; i < meta->n_untraced; i++)
        pieces_ns[i] = meta->untraced[i].piece_ns[kind];
    pieces_ns[meta->n_untraced] = meta->pace.piece_ns[kind];
    double median_ns = gsl_stats_median(pieces_ns, 1, meta->n_untraced + 1);
    free(pieces_ns);
    return median_ns;
}

struct pace_reading recorded_pace(const struct trace_meta *meta) {
    struct pace_reading pace = {0};
    if (!is_known(meta))
        return pace;
    pace = meta->pace;
    for (int kind = 0; kind < PACE_KINDS; kind++)
        pace.piece_ns[kind] = median_piece_ns(meta, kind);
    return pace;
}

double recorded_slowed_share(const struct trace_meta *meta) {
    struct pace_reading pace = recorded_pace(meta);
    double fastest_ns = pace.fastest_ns[PACE_COMPUTING], piece_ns = pace.piece_ns[PACE_COMPUTING];
    return fastest_ns > 0 && piece_ns > PACE_DISTURBED * fastest_ns ? 1 - fastest_ns / piece_ns : 0;
}

/* Of the CPU time: what probes take beyond that is not known well enough to take it off. */
#define MOST_PROBED 0.03

struct same_work {
    struct slowed_run *runs;
    size_t n;
    double computing; /* share of the runs in which at least one thread may have computed; sum */
};

static void add_run(struct same_work *same, double run_ns, double cpu_ns,
                    const double piece_ns[PACE_KINDS], bool of_cpu) {
    if (run_ns <= 0 || cpu_ns <= 0)
        return;
    struct slowed_run *run = &same->runs[same->n++];
    memcpy(run->pieces, piece_ns, sizeof run->pieces);
    run->time = of_cpu ? cpu_ns : run_ns;
    same->computing += of_cpu ? 1 : fmin(cpu_ns / run_ns, 1);
}

/* The traced run does the same as the plain ones but for the probes, whose records are taken
 * off. */
static void add_traced(struct same_work *same, const struct trace_meta *meta, bool of_cpu) {
    double probed = (double)meta->records * meta->probe_ns / (double)meta->cpu_ns;
    if (meta->n_untraced > 0 && probed < MOST_PROBED)
        add_run(same, (double)meta->run_ns * (1 - probed), (double)meta->cpu_ns * (1 - probed),
                meta->pace.piece_ns, of_cpu);
}

/* Of CPU time, or of the running time. */
static struct sensitivity find_sensitivity(const struct trace_meta *meta, bool of_cpu) {
    struct same_work same = {.runs = memory_alloc(meta->n_untraced + 1, sizeof(struct slowed_run))};
    for (size_t i = 0; i < meta->n_untraced; i++)
        add_run(&same, (double)meta->untraced[i].run_ns, (double)meta->untraced[i].cpu_ns,
                meta->untraced[i].piece_ns, of_cpu);
    add_traced(&same, meta, of_cpu);
    struct slowed_runs runs = {0};
    sensitivity_add(&runs, same.runs, same.n);
    double share = same.n ? same.computing / (double)same.n : 1;
    struct sensitivity sensitivity = sensitivity_of(&runs, share);
    free(runs.items);
    free(same.runs);
    return sensitivity;
}

static struct usual_speed find_usual(const struct trace_meta *meta, bool of_cpu) {
    struct usual_speed usual = {.known = is_known(meta)};
    if (!usual.known)
        return usual;
    struct pace_reading pace = recorded_pace(meta);
    memcpy(usual.piece_ns, pace.piece_ns, sizeof usual.piece_ns);
    usual.sensitivity = find_sensitivity(meta, of_cpu);
    return usual;
}

struct usual_speed recorded_cpu_speed(const struct trace_meta *meta) {
    return find_usual(meta, true);
}

double recorded_at_usual_speed(const struct usual_speed *usual, double time,
                               const double piece_ns[PACE_KINDS]) {
    return usual->known ? sensitivity_convert(time, piece_ns, usual->piece_ns, usual->sensitivity)
                        : time;
}

double recorded_at_traced_speed(const struct trace_meta *meta, const struct usual_speed *usual,
                                double time, const double piece_ns[PACE_KINDS]) {
    return usual->known
               ? sensitivity_convert(time, piece_ns, meta->pace.piece_ns, usual->sensitivity)
               : time;
}

static double median_untraced_ns(const struct trace_meta *meta, const struct usual_speed *usual) {
    double *times = memory_alloc(meta->n_untraced + 1, sizeof *times);
    size_t n = 0;
    for (size_t i = 0; i < meta->n_untraced; i++) {
        const struct trace_plain_run *run = &meta->untraced[i];
        if (run->run_ns > 0)
            times[n++] = recorded_at_usual_speed(usual, (double)run->run_ns, run->piece_ns);
    }
    double median = n ? gsl_stats_median(times, 1, n) : (double)meta->untraced_run_ns;
    free(times);
    return median;
}

double recorded_untraced_ns(const struct trace_meta *meta) {
    struct usual_speed usual = find_usual(meta, false);
    return median_untraced_ns(meta, &usual);
}

double recorded_perturbation(const struct trace_meta *meta) {
    struct usual_speed usual = find_usual(meta, false);
    double untraced_ns = median_untraced_ns(meta, &usual);
    double traced_ns = recorded_at_usual_speed(&usual, (double)meta->run_ns, meta->pace.piece_ns);
    return untraced_ns > 0 ? traced_ns / untraced_ns - 1 : NAN;
}
