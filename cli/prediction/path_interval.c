#include "cli/prediction/path_interval.h"

#include <math.h>

#include "cli/judgement.h"

double path_half_width(const struct path_checks *checks, const struct what_if *predicted,
                       const struct model_what_if *model) {
    double answer_ns = predicted->rescheduled_ns;
    double own_ns = fabs(checks->rescheduled_ns / checks->traced_ns - 1) * answer_ns;
    double differs_ns =
        isfinite(predicted->as_recorded_ns) ? fabs(predicted->as_recorded_ns - answer_ns) : 0;
    double modelled_ns = model ? model->run_ns / model->unchanged_ns * checks->traced_ns : NAN;
    if (isfinite(modelled_ns))
        differs_ns = fmax(differs_ns, fabs(modelled_ns - answer_ns));
    double callers_ns = fmax(fabs(predicted->least_ns - predicted->as_recorded_ns),
                             fabs(predicted->most_ns - predicted->as_recorded_ns));
    callers_ns = isfinite(callers_ns) ? callers_ns : 0;
    return fmax(own_ns + differs_ns / 2 + callers_ns, judgement.path_parted * answer_ns);
}
