/* What tests of the simulator on small models share: one prediction, and nearness of its numbers.
 * Needs cmocka.h included before. */
#ifndef PERSIK_TESTS_SIMULATION_H
#define PERSIK_TESTS_SIMULATION_H

#include <math.h>

#include "simulator/simulator.h"

/* With seed 1 where the configuration names none. End it with sim_result_free(). */
static inline struct sim_result simulate(const struct model *model, struct sim_config config) {
    struct sim_result result;
    struct error error = {0};
    config.seed = config.seed ? config.seed : 1;
    if (sim_predict(model, &config, &result, &error) != 0)
        fail_msg("%s", error.text);
    return result;
}

/* The running time alone; the model is freed. */
static inline double run_ns(struct model *model, struct sim_config config) {
    struct sim_result result = simulate(model, config);
    double mean = result.run_ns.mean;
    assert_true(result.stalls == 0);
    sim_result_free(&result);
    model_free(model);
    return mean;
}

static inline void assert_close(double value, double expected, double relative) {
    if (!(fabs(value - expected) <= relative * fabs(expected)))
        fail_msg("%.9g is not within %g of %.9g", value, relative, expected);
}

#endif
