#include "model/refill.h"

#include <math.h>

double refill_whole_ns(struct refill_curve curve, double away_ns) {
    size_t next = 0;
    while (next < curve.n_points && curve.points[next].away_ns <= away_ns)
        next++;
    if (next == 0 || next == curve.n_points)
        return curve.points[next ? next - 1 : 0].cpu_ns;
    const struct refill_point *low = &curve.points[next - 1], *high = &curve.points[next];
    double share = (away_ns - low->away_ns) / (high->away_ns - low->away_ns);
    return low->cpu_ns + share * (high->cpu_ns - low->cpu_ns);
}

void refill_lose(struct refill_curve curve, double away_ns, double left, double *missing_ns) {
    double whole_ns = refill_whole_ns(curve, away_ns);
    if (whole_ns > *missing_ns)
        *missing_ns += (whole_ns - *missing_ns) * (1 - left);
}

double refill_pace_ns(struct refill_curve curve) {
    return curve.points[curve.n_points - 1].cpu_ns;
}

double refill_regain(struct refill_curve curve, double ran_ns, double *missing_ns) {
    double regained_ns = *missing_ns * -expm1(-ran_ns / refill_pace_ns(curve));
    *missing_ns -= regained_ns;
    return regained_ns;
}
