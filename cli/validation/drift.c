#include "cli/validation/drift.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "cli/judgement.h"

static const struct measurement *find(const struct measurements *measurements,
                                      const struct reference *reference, int cores) {
    for (size_t i = 0; reference->threads && i < measurements->count; i++) {
        const struct measurement *measurement = &measurements->items[i];
        if (measurement->cores == cores && measurement->count > 0 &&
            strcmp(measurement->threads, reference->threads) == 0)
            return measurement;
    }
    return NULL;
}

static const struct measurement *find_recorded(const struct measurements *measurements,
                                               const struct reference *reference) {
    return find(measurements, reference, reference->cores);
}

static double cpu_of(const struct measured_run *run) {
    return (double)run->run.cpu_ns;
}

/* CPU time of the recorded configuration's last run before `place` and first one after it; itself,
 * if it was one. */
static struct range neighbours_cpu_ns(const struct measurement *recorded, size_t place) {
    const struct measured_run *before = NULL, *after = NULL;
    for (size_t i = 0; i < recorded->count; i++) { /* ascending places */
        if (recorded->items[i].place <= place)
            before = &recorded->items[i];
        if (recorded->items[i].place >= place && !after)
            after = &recorded->items[i];
    }
    double first_ns = cpu_of(before ? before : after), second_ns = cpu_of(after ? after : before);
    return (struct range){(first_ns + second_ns) / 2, fmin(first_ns, second_ns),
                          fmax(first_ns, second_ns)};
}

static double median_cpu_ns(const struct measurement *recorded) {
    double *cpu_ns = memory_alloc(recorded->count, sizeof *cpu_ns);
    for (size_t i = 0; i < recorded->count; i++)
        cpu_ns[i] = cpu_of(&recorded->items[i]);
    double median = median_of(cpu_ns, recorded->count);
    free(cpu_ns);
    return median;
}

bool drift_is_possible(double drift) {
    return isnan(drift) || (drift >= judgement.least_drift && drift <= judgement.most_drift);
}

/* What the recorded configuration took when it was recorded; range_unknown: nobody knows, or it
 * takes no CPU time to speak of. */
static struct range recorded_cpu_ns(const struct measurement *recorded,
                                    const struct reference *reference) {
    double now_ns = median_cpu_ns(recorded);
    if (now_ns <= 0)
        return range_unknown;
    if (reference->cpu_ns <= 0)
        return (struct range){now_ns, now_ns, now_ns};
    double low_ns = reference->cpu_ns * (1 - reference->spread / 2);
    double high_ns = reference->cpu_ns * (1 + reference->spread / 2);
    return (struct range){fmin(fmax(now_ns, low_ns), high_ns), low_ns, high_ns};
}

/* By how much a run took longer that computed for `share` of its time, at `now_ns` of CPU time of
 * what took `then_ns`. */
static double slowdown(double share, double now_ns, double then_ns) {
    return 1 + share * (now_ns / then_ns - 1);
}

static struct range converted_ns(const struct measurement *recorded,
                                 const struct measurement *measurement, size_t i,
                                 struct range then_ns) {
    const struct measured_run *run = &measurement->items[i];
    struct range own = own_run_ns(&run->run, measurement->cores);
    if (isnan(own.value)) /* what others took of it nobody knows: as it was */
        own.value = own.high;
    if (isnan(then_ns.low))
        return own;
    double share = fmin(cpu_of(run) / own.value, 1);
    struct range now_ns = neighbours_cpu_ns(recorded, run->place);
    return (struct range){own.value / slowdown(share, now_ns.value, then_ns.value),
                          own.low / slowdown(share, now_ns.high, then_ns.low),
                          own.high / slowdown(share, now_ns.low, then_ns.high)};
}

/* The median, with the order statistics between which it lies in some 95 of 100 cases; of few runs
 * all. */
static struct range median_range(struct range *ranges, size_t n) {
    double *values = memory_alloc(n, sizeof *values), *lows = memory_alloc(n, sizeof *lows),
           *highs = memory_alloc(n, sizeof *highs);
    for (size_t i = 0; i < n; i++) {
        values[i] = ranges[i].value;
        lows[i] = ranges[i].low;
        highs[i] = ranges[i].high;
    }
    median_of(lows, n); /* sorts them */
    median_of(highs, n);
    size_t outside = (size_t)fmax(floor((double)n / 2 - sqrt((double)n)), 0);
    struct range range = {median_of(values, n), lows[outside], highs[n - 1 - outside]};
    free(values);
    free(lows);
    free(highs);
    return range;
}

static double drift(const struct measurement *measurement, double then_ns) {
    return measurement && then_ns > 0 ? median_cpu_ns(measurement) / then_ns : NAN;
}

double drift_of(const struct measurements *measurements, const struct reference *reference) {
    return drift(find_recorded(measurements, reference), reference->cpu_ns);
}

double drift_of_one_core(const struct measurements *measurements,
                         const struct reference *reference) {
    return drift(find(measurements, reference, 1), reference->one_core_cpu_ns);
}

/* Half of most less least CPU time, in parts of the median. */
static double half_range(const struct measurement *measurement) {
    double least_ns = INFINITY, most_ns = 0;
    for (size_t i = 0; i < measurement->count; i++) {
        least_ns = fmin(least_ns, cpu_of(&measurement->items[i]));
        most_ns = fmax(most_ns, cpu_of(&measurement->items[i]));
    }
    return (most_ns - least_ns) / 2 / median_cpu_ns(measurement);
}

bool drifts_agree(const struct measurements *measurements, const struct reference *reference) {
    double several = drift_of(measurements, reference);
    double one = drift_of_one_core(measurements, reference);
    if (isnan(several) || isnan(one))
        return true;
    double by_chance = half_range(find_recorded(measurements, reference)) +
                       half_range(find(measurements, reference, 1));
    return fabs(several / one - 1) <= fmax(judgement.drifts_alike, reference->spread) + by_chance;
}

/* As recorded_cpu_ns(). Where drifts do not agree: between what it would have taken by the one and
 * by the other. */
static struct range comparable_cpu_ns(const struct measurements *measurements,
                                      const struct measurement *recorded,
                                      const struct reference *reference) {
    struct range then_ns = recorded_cpu_ns(recorded, reference);
    if (drifts_agree(measurements, reference))
        return then_ns;
    double by_one_ns = median_cpu_ns(recorded) / drift_of_one_core(measurements, reference);
    return (struct range){NAN, fmin(then_ns.low, by_one_ns), fmax(then_ns.high, by_one_ns)};
}

/* Of each run, allocated; NULL: the recorded configuration was not run, or did other work. */
static struct range *convert_runs(const struct measurements *measurements,
                                  const struct measurement *measurement,
                                  const struct reference *reference) {
    const struct measurement *recorded = find_recorded(measurements, reference);
    if (!recorded || !drift_is_possible(drift_of(measurements, reference)))
        return NULL;
    struct range then_ns = comparable_cpu_ns(measurements, recorded, reference);
    struct range *converted = memory_alloc(measurement->count, sizeof *converted);
    for (size_t i = 0; i < measurement->count; i++)
        converted[i] = converted_ns(recorded, measurement, i, then_ns);
    return converted;
}

struct range drift_equal_speed_ns(const struct measurements *measurements,
                                  const struct measurement *measurement,
                                  const struct reference *reference) {
    struct range *converted = convert_runs(measurements, measurement, reference);
    if (!converted)
        return range_unknown;
    struct range time = median_range(converted, measurement->count);
    free(converted);
    if (measurement->count > 1)
        return time;
    /* Others may have slowed that run and not its neighbours, or these and not that run. */
    struct range own = measurement_own_run_ns(measurement);
    return (struct range){NAN, fmin(time.low, own.low), fmax(time.high, own.high)};
}

double drift_squares(const struct measurements *measurements, const struct measurement *measurement,
                     const struct reference *reference) {
    struct range *converted = convert_runs(measurements, measurement, reference);
    if (!converted)
        return 0;
    double median_ns = median_range(converted, measurement->count).value, squares = 0;
    for (size_t i = 0; i < measurement->count && !isnan(median_ns); i++)
        squares += pow(converted[i].value / median_ns - 1, 2);
    free(converted);
    return squares;
}
