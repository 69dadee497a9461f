/* Another recording of the program, with another number of threads: it tells the rules of pools
 * that one run cannot. */
#ifndef PERSIK_CLI_PREDICTION_OTHER_RUN_H
#define PERSIK_CLI_PREDICTION_OTHER_RUN_H

#include "base/error.h"
#include "formats/model.h"

/* Gives pools the rule that the recording in `directory`, which has a model, tells of the pool of
 * the same name: those whose rule is not known, and those for which it is a guess that the
 * recording refutes. Pools that go on for a given time are left as they are. 0, or -1 and `error`.
 */
int other_run_apply(struct model *model, const char *directory, struct error *error);

#endif
