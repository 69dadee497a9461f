#include "modelgen/calibrate/one_core.h"

#include <math.h>
#include <stdlib.h>

#include <gsl/gsl_sort_double.h>
#include <gsl/gsl_statistics_double.h>

#include "base/memory.h"
#include "formats/recorded_speed.h"
#include "modelgen/decision_log.h"
#include "modelgen/events/event_cursor.h"
#include "modelgen/events/thread_states.h"
#include "modelgen/evidence.h"
#include "modelgen/notes.h"

/* CPU time of the same run, made `n` times. */
struct runs {
    size_t n;
    double median_ns, spread; /* most less least, over the median */
    double as_measured_ns;    /* the median, whatever the cores' speed was */
};

static struct runs summarise(double *cpu_ns, size_t n) {
    gsl_sort(cpu_ns, 1, n);
    double median_ns = gsl_stats_median_from_sorted_data(cpu_ns, 1, n);
    return (struct runs){
        .n = n, .median_ns = median_ns, .spread = (cpu_ns[n - 1] - cpu_ns[0]) / median_ns};
}

/* At the usual speed of computing. How fast memory is says nothing here: the program itself may be
 * what slows it. */
static struct runs measure(const struct trace_meta *meta, const struct trace_plain_run *plain,
                           size_t n) {
    struct usual_speed usual = recorded_cpu_speed(meta);
    double *cpu_ns = memory_alloc(n, sizeof *cpu_ns);
    for (size_t i = 0; i < n; i++)
        cpu_ns[i] = (double)plain[i].cpu_ns;
    double as_measured_ns = summarise(cpu_ns, n).median_ns;
    for (size_t i = 0; i < n; i++) {
        const double pieces_ns[PACE_KINDS] = {
            [PACE_COMPUTING] = plain[i].piece_ns[PACE_COMPUTING],
            [PACE_MEMORY] = usual.piece_ns[PACE_MEMORY],
        };
        cpu_ns[i] = recorded_at_usual_speed(&usual, (double)plain[i].cpu_ns, pieces_ns);
    }
    struct runs runs = summarise(cpu_ns, n);
    runs.as_measured_ns = as_measured_ns;
    free(cpu_ns);
    return runs;
}

/* How much the program minds the speed of the cores is known badly, and its own threads slow the
 * pieces of work by which that is seen: on one core these are faster. So a difference is one only
 * where both times have it. */
static double surely(double ratio, double as_measured) {
    if ((ratio - 1) * (as_measured - 1) <= 0)
        return 1;
    return fabs(ratio - 1) < fabs(as_measured - 1) ? ratio : as_measured;
}

static bool binds_threads(const struct trace *trace) {
    for (struct event_cursor at = event_cursor_of_run(trace); event_cursor_next(&at);)
        if (trace_op(at.event) == OP_BIND)
            return true;
    return false;
}

/* Before the probes' library was there and after: in the plain runs, too. But what threads take
 * behind their ends is in the model. */
static double outside_of_threads_ns(const struct trace *trace, double ended_ns) {
    return fmax((double)trace->meta.cpu_ns - thread_states_on_core(trace) - ended_ns, 0);
}

/* On one core it may be another program. */
static void note_question(double ratio, const char *question, struct model *model) {
    free(model->asks_cores);
    model->asks_cores =
        memory_format("it asks by %s how many cores it may use, and with one core takes %.0f %% of "
                      "the CPU time",
                      question, 100 * ratio);
    notes_add(model, "%s: with other cores it does other work, or with fewer threads",
              model->asks_cores);
}

/* By how much both may differ and be alike. Runs of which each kind was made more than once tell
 * that themselves. */
static double least_difference(const struct runs *plain, const struct runs *alone) {
    double spread = fmax(plain->spread, alone->spread);
    return plain->n > 1 && alone->n > 1 ? fmax(evidence.repeated_difference, 2 * spread)
                                        : fmax(evidence.run_difference, spread);
}

void one_core_compare(const struct trace *trace, double ended_ns, double simulated_cpu_ns,
                      struct model *model) {
    const struct trace_meta *meta = &trace->meta;
    if (meta->n_one_core == 0 || meta->n_untraced == 0 || !(simulated_cpu_ns > 0) ||
        binds_threads(trace) || meta->elsewhere.children_cpu_ns > 0)
        return;
    struct runs plain = measure(meta, meta->untraced, meta->n_untraced);
    struct runs alone = measure(meta, meta->one_core, meta->n_one_core);
    double outside_ns = outside_of_threads_ns(trace, ended_ns);
    double at_usual_speed = (alone.median_ns - outside_ns) / simulated_cpu_ns;
    double as_measured = (alone.as_measured_ns - outside_ns) / simulated_cpu_ns;
    double ratio = surely(at_usual_speed, as_measured);
    double least = least_difference(&plain, &alone);
    decision("one_core", "CPU time", fabs(ratio - 1) > least ? "differs" : "alike",
             "%.3f of the model's with one core, where runs differ by %.3f; %.2f cores were busy",
             ratio, fmax(plain.spread, alone.spread), model->machine.busy_cores);
    if (!(ratio > 0))
        return;
    if (fabs(ratio - 1) <= least) {
        double seen = fmax(fabs(at_usual_speed - 1), fabs(as_measured - 1));
        model->one_core_doubt = fmin(seen, least);
        return;
    }
    if (meta->asks_cores) {
        note_question(ratio, meta->asks_cores, model);
    } else if (model->machine.busy_cores >= evidence.several_cores) {
        model->one_core_cpu = ratio;
    }
}

/* Of OpenMP's teams it is known how they wait. */
static bool is_awake(const struct model *model) {
    for (size_t p = 0; p < model->n_pools; p++)
        if (model->pools[p].awake)
            return true;
    return false;
}

void one_core_note_spinning(const struct trace_meta *meta, struct model *model) {
    double left_ns = (double)meta->left_cpu_ns, recorded_ns = (double)meta->cpu_ns;
    if (!(left_ns >= evidence.spun_away * recorded_ns) || model->unpredicted || is_awake(model))
        return;
    model->unpredicted =
        memory_format("with one core the program had computed for %.2g s, %.2g times as long as "
                      "recorded, without coming to its end: its threads wait for each other "
                      "without sleeping, which is not recorded: what other configurations take is "
                      "not known",
                      left_ns / 1e9, left_ns / recorded_ns);
    notes_add(model, "%s", model->unpredicted);
}

void one_core_note(struct model *model, double ratio, bool turns_explain) {
    if (turns_explain)
        notes_add(model,
                  "what turns on a core cost: with one core the program takes %.0f %% of the CPU "
                  "time of the model, as where threads that come back find their data displaced, "
                  "or spin for one that has no core: taken as that, for each turn",
                  100 * ratio);
    else
        notes_add(model,
                  "what several cores cost each other: with one core the program takes %.0f %% of "
                  "the CPU time of the model, as where they wait for memory, for data that others "
                  "write, or for locks of the kernel: taken as that between one core and the %.2g "
                  "that were busy, not known of more",
                  100 * ratio, model->machine.busy_cores);
}
