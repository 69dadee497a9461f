/* What each recorded call asked a disk for, in the order of the calls.
 *
 * What a cache still misses depends on what was read before, not on when: a cold cache misses much
 * at first, and the parts of a file that belong together are missed together. So the model's
 * threads make the recorded calls one after the other, whoever of them comes to it. */
#ifndef PERSIK_MODELGEN_GRAPH_DISK_CALLS_H
#define PERSIK_MODELGEN_GRAPH_DISK_CALLS_H

#include "modelgen/graph/peg_builder.h"

/* Lists the calls of the model's nodes that use a disk, where it is known which sectors they asked
 * for. */
void disk_calls_write(const struct peg_builder *builder);

#endif
