/* Nodes whose way on depends on how threads came to them.
 *
 * A first-order chain forgets how a thread came to a node. Where that decides the way on (a lock
 * function called on a success and on a failure path), the node is split. One split at a time, the
 * most telling one first, because each split changes the histories of its neighbours. Where a
 * worker is given different jobs by turns, only the last job, some steps ago, tells the next one.
 */
#ifndef PERSIK_MODELGEN_GRAPH_STATE_SPLITTING_H
#define PERSIK_MODELGEN_GRAPH_STATE_SPLITTING_H

#include <stdbool.h>

#include "modelgen/graph/peg_builder.h"

/* Makes one split: appends nodes and gives them to the steps that shall have them. The edges must
 * not have been found yet. False: no node needs it any more. */
bool state_splitting_split(struct peg_builder *builder);

#endif
