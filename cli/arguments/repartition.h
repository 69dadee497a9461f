/* --partition POOL=RULE: the user's word on how a pool's work follows its number of threads. */
#ifndef PERSIK_CLI_ARGUMENTS_REPARTITION_H
#define PERSIK_CLI_ARGUMENTS_REPARTITION_H

#include <stddef.h>

#include "base/error.h"
#include "formats/model.h"

struct repartition {
    const char *text;   /* as given; its pool's name comes first */
    size_t name_length; /* of the pool's name in it */
    enum partition rule;
};

struct repartitions {
    struct repartition *items; /* freed by the caller */
    size_t count, capacity;
};

/* Appends what `text` says; it must outlive the list. -1 and `error`: not POOL=shared, fixed or
 * perthread. */
int repartitions_add(struct repartitions *list, const char *text, struct error *error);

/* Makes the model follow all of them, in order. -1 and `error`: no such pool (all that follow
 * --threads are listed), or its work cannot follow that rule. */
int repartitions_apply(const struct repartitions *list, struct model *model, struct error *error);

/* Warns of each pool of which it is unknown how its work follows the number of threads. */
void repartitions_warn(const struct model *model);

#endif
