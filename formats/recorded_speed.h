/* How fast the cores were while a trace's runs were made, with probes and without, and what these
 * took at equal speed: cores that others share change it from run to run. */
#ifndef PERSIK_FORMATS_RECORDED_SPEED_H
#define PERSIK_FORMATS_RECORDED_SPEED_H

#include <stdbool.h>

#include "formats/trace.h"
#include "host/sensitivity.h"

/* From so many busy cores on, on average, a run with one core tells what several cost each other:
 * the tracer makes such a run, and modelgen goes by it. */
#define RECORDED_SEVERAL_CORES 1.1

/* The median of all runs; 0: not known. */
struct pace_reading recorded_pace(const struct trace_meta *meta);

/* Of their time, what the cores would have saved at their fastest, which the same look has seen.
 * 0: next to nothing, or not known. */
double recorded_slowed_share(const struct trace_meta *meta);

/* That median, and how much CPU time in the recorded runs minds it. */
struct usual_speed {
    bool known;
    double piece_ns[PACE_KINDS];
    struct sensitivity sensitivity;
};
struct usual_speed recorded_cpu_speed(const struct trace_meta *meta);

/* Time in a run whose pieces of work took so long: what it would have been at the usual speed. The
 * same where that is not known. */
double recorded_at_usual_speed(const struct usual_speed *usual, double time,
                               const double piece_ns[PACE_KINDS]);

/* The same as in the traced run. */
double recorded_at_traced_speed(const struct trace_meta *meta, const struct usual_speed *usual,
                                double time, const double piece_ns[PACE_KINDS]);

/* The median running time without probes, at the usual speed. 0: not measured. */
double recorded_untraced_ns(const struct trace_meta *meta);

/* By how much longer the traced run took, in parts of that. NaN: not known. */
double recorded_perturbation(const struct trace_meta *meta);

#endif
