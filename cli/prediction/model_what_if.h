/* What the model beside a recording says of a change: the third answer of `persik what-if`. */
#ifndef PERSIK_CLI_PREDICTION_MODEL_WHAT_IF_H
#define PERSIK_CLI_PREDICTION_MODEL_WHAT_IF_H

#include "cli/arguments/change.h"
#include "formats/dependencies.h"

struct model_what_if {
    double run_ns;       /* NAN: there is no model, it has no part of that name, or no figures */
    double unchanged_ns; /* without the change, on the model's own cores */
    char *why;           /* there is none; NULL: there is one. The caller frees it */
};

/* `recorded`: the steps of the same run; `cores` 0: the model's own. */
struct model_what_if model_what_if(const char *directory, const struct dependencies *recorded,
                                   const struct changes *changes, int cores);

#endif
