/* Does each pool have a rule for how its work follows the number of threads? */
#ifndef PERSIK_MODELGEN_SCALING_SCALING_CHECK_H
#define PERSIK_MODELGEN_SCALING_SCALING_CHECK_H

#include "base/error.h"
#include "formats/model.h"
#include "modelgen/graph/iteration_partition.h"

/* Each pool has a rule in words with a confidence between 0 and 1, PARTITION_NONE only where it
 * does not follow --threads, and sound evidence (`evidence`: one per pool); what nodes and edges
 * have of it are shares. -1 and `error`: not so. */
int scaling_check(const struct model *model, const struct partition_evidence *evidence,
                  struct error *error);

#endif
