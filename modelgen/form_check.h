/* Is a form of passes.def sound? What must hold of each stands beside it: events/events_check.h and
 * its like. The runner of passes asks after each pass, where checks are asked for. */
#ifndef PERSIK_MODELGEN_FORM_CHECK_H
#define PERSIK_MODELGEN_FORM_CHECK_H

#include "base/error.h"

struct build;

/* -1 and `error`: it is not. A form for which there is no check is taken to be sound. */
int form_check(const char *form, const struct build *build, struct error *error);

#endif
