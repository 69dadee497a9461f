/* A change of what a function computes, carried out on a model. */
#ifndef PERSIK_CLI_PREDICTION_FUNCTION_CHANGE_H
#define PERSIK_CLI_PREDICTION_FUNCTION_CHANGE_H

#include <stdbool.h>

#include "cli/arguments/change.h"
#include "cli/prediction/changed_parts.h"
#include "formats/dependencies.h"
#include "formats/model.h"

/* "worker: parse (main.c:12)" is of the place "parse (main.c:12)". */
const char *node_place(const struct model *model, const struct node *node);

/* Multiplies what the function of the change's name and its callees compute, wherever that is: the
 * model knows calls, and how much of what lies between two of them is the function's is known from
 * the steps of the recorded run (critical_path_function_parts()). Appends one line to `parts`.
 * False: the steps know no such function, or none that computes; the model is as before. */
bool function_change_apply(const struct change *change, const struct dependencies *recorded,
                           struct model *model, struct changed_parts *parts);

#endif
