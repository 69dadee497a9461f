/* Real runs at equal speed: as they would have been while the model was recorded.
 *
 * A machine that others share changes its speed from second to second, and no counter tells. How
 * much a program minds that, only the program itself can show, in a configuration of which it is
 * known what it took when it was recorded: the recorded one. So that is run in turn with every
 * other one, and only its drift is taken off: each run is divided by what CPU time the recorded
 * configuration took just before and after it, over what it took in the recording, as far as the
 * run computed. CPU time, for what others had of the cores is no matter of speed and seen by
 * itself (own_run_ns()). What a configuration does to itself stays, and no prediction enters. */
#ifndef PERSIK_CLI_VALIDATION_DRIFT_H
#define PERSIK_CLI_VALIDATION_DRIFT_H

#include "cli/validation/measurement.h"

/* The configuration that the model was recorded in. */
struct reference {
    const char *threads; /* as of a measurement; NULL: it has none */
    int cores;
    double cpu_ns; /* of the recording's runs without probes, median; 0: not known */
    double spread; /* of these, most less least, in parts of it */
    double
        one_core_cpu_ns; /* as cpu_ns, of the runs with as many threads on one core; 0: not known */
};

/* The CPU time of the recorded configuration in the real runs, median, in parts of what it took
 * when it was recorded. NaN: not known. */
double drift_of(const struct measurements *measurements, const struct reference *reference);

/* The same of as many threads on one core. NaN: not known. */
double drift_of_one_core(const struct measurements *measurements,
                         const struct reference *reference);

/* False: with one core the program drifted otherwise than with those of the recorded configuration.
 * Then either the machine has slowed several cores more than one, or its threads cost each other
 * more than when it was recorded, or less: nobody can tell. */
bool drifts_agree(const struct measurements *measurements, const struct reference *reference);

/* False: the real runs did other work than the recording's. NaN is possible. */
bool drift_is_possible(double drift);

/* Running time of the measurement without others at the speed of the recording. As far as the
 * recording's own runs differed, a drift from them is none: it is not taken off. Where nobody knows
 * what those took, at the median speed of the real runs. A single run has only a range, and so has
 * each where drifts do not agree, from the one to the other; all is range_unknown where the
 * recorded configuration was not run or did other work. */
struct range drift_equal_speed_ns(const struct measurements *measurements,
                                  const struct measurement *measurement,
                                  const struct reference *reference);

/* As measurement_squares(), of the converted times. */
double drift_squares(const struct measurements *measurements, const struct measurement *measurement,
                     const struct reference *reference);

#endif
