/* What an object or a pool of the model is and how we know: the words for `graph` and `build-model
 * --explain`. */
#ifndef PERSIK_CLI_PREDICTION_EXPLANATION_H
#define PERSIK_CLI_PREDICTION_EXPLANATION_H

#include "base/error.h"
#include "formats/model.h"
#include "modelgen/modelgen.h"

/* "2 + 1*worker": a quantity that follows the number of threads. The caller frees. */
char *explanation_of_amount(const struct model *model, const struct linear *amount);

/* "count 600", "capacity 8", "unbounded": what there is of the object. Empty where that means
 * nothing. The caller frees. */
char *explanation_of_parameters(const struct model *model, const struct object *object);

/* "put enqueue, push; get dequeue". The caller frees. */
char *explanation_of_operations(const struct hand_made *monitor);

/* Prints the objects and pools of that name; where none has just that name, those with a part like
 * it, and the hand-made objects that a function of this name works on: what each is, the evidence,
 * and all that was decided on it, by which pass. 0, or -1 when there is none; the error lists the
 * nearest names. */
int explanation_print(const struct model *model, const struct decision_log *decisions,
                      const char *name, struct error *error);

#endif
