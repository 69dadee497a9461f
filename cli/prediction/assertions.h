/* --assert, as often as given: bounds that each of a command's predictions must keep. */
#ifndef PERSIK_CLI_PREDICTION_ASSERTIONS_H
#define PERSIK_CLI_PREDICTION_ASSERTIONS_H

#include <argp.h>

#include "cli/arguments/assertion.h"
#include "cli/prediction/prediction.h"

struct assertions {
    struct assertion *items; /* freed by the caller */
    size_t count, capacity;
};

/* Parses into a struct assertions. A bound that is not understood ends the command. */
extern const struct argp assertions_argp;

/* Says on stderr which are not kept and by which prediction. 0, or EXIT_ASSERTION. */
int assertions_check(const struct assertions *assertions, const struct prediction *predictions,
                     size_t n);

#endif
