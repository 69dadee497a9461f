/* What a hand-made object is and how we know: the words for `graph` and `build-model --explain`. */
#ifndef PERSIK_CLI_EXPLANATION_H
#define PERSIK_CLI_EXPLANATION_H

#include "base/error.h"
#include "formats/model.h"

/* "2 + 1*worker": a quantity that follows the number of threads. The caller frees. */
char *explanation_of_amount(const struct model *model, const struct linear *amount);

/* "put enqueue, push; get dequeue". The caller frees. */
/* "struct ring.count = 0, local:take.ticket of each thread"; the caller frees. */
char *explanation_of_variables(const struct model *model, const struct object *monitor);

char *explanation_of_operations(const struct hand_made *monitor);

/* Prints every object whose name contains `name`: what it is, the evidence, what was rejected. 0,
 * or -1 when there is none; the error lists those that there are. */
int explanation_print(const struct model *model, const char *name, struct error *error);

#endif
