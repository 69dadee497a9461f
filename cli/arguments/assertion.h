/* --assert 'run<5s', --goal 'p99<50ms': a bound that a prediction must keep. */
#ifndef PERSIK_CLI_ARGUMENTS_ASSERTION_H
#define PERSIK_CLI_ARGUMENTS_ASSERTION_H

#include <stdbool.h>

#include "base/error.h"
#include "cli/text/quantity.h"
#include "simulator/simulator.h"

struct assertion {
    const char *text; /* as given; not owned */
    int metric;       /* index into the table of metrics */
    char relation;    /* '<' or '>' */
    bool or_equal;
    double bound; /* in the metric's base unit */
};

/* METRIC RELATION VALUE: metric run (or time), mean, p50, p95, p99 (times: 5ms), cpu, disk (shares:
 * 90%), throughput (100/s), tasks; relation <, <=, >, >=. 0, or -1 and `error`, which names the
 * option. */
int assertion_parse(const char *option, const char *text, struct assertion *assertion,
                    struct error *error);

/* The same with a value in per cent of the same figure of another prediction: 'run<105%'. */
int assertion_parse_ratio(const char *option, const char *text, struct assertion *assertion,
                          struct error *error);

/* Does the prediction have the metric at all? NULL, or what the model lacks. */
const char *assertion_lacks(const struct assertion *assertion, const struct sim_result *result);

/* What kind of figure it is of, and that figure. */
enum assertion_figure {
    FIGURE_RUN,
    FIGURE_RESPONSE,
    FIGURE_CPU,
    FIGURE_DISK,
    FIGURE_THROUGHPUT,
    FIGURE_TASKS
};
enum assertion_figure assertion_figure(const struct assertion *assertion);
struct estimate assertion_estimate(const struct assertion *assertion,
                                   const struct sim_result *result);

/* Whether a value of the metric keeps the bound. */
bool assertion_allows(const struct assertion *assertion, double value);

/* Whether the predicted mean keeps the bound. `value` gets it, `unit` what it is in. */
bool assertion_holds(const struct assertion *assertion, const struct sim_result *result,
                     double *value, enum unit *unit);

#endif
