/* The dependencies of a recording: kept beside the trace, made of it when they are asked for first.
 */
#ifndef PERSIK_CLI_RECORDING_STEPS_H
#define PERSIK_CLI_RECORDING_STEPS_H

#include <stdbool.h>

#include "base/error.h"
#include "formats/dependencies.h"

struct steps {
    struct dependencies *all;
    struct sample *sampled; /* all->sampled; NULL: none */
    bool is_new;            /* they are not kept yet */
};

/* Loads DIRECTORY/dependencies.persik, or makes it of the trace there. -1 and `error`: neither, or
 * the file is of another trace. */
int steps_open(const char *directory, struct steps *steps, struct error *error);

/* Keeps what is new, so that the next question is answered at once; where that cannot be, it says
 * so and goes on. Frees the steps. */
void steps_close(const char *directory, struct steps *steps);

#endif
