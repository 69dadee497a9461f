/* Nodes of the model at which threads carry out sections of a monitor that is known by its
 * statements. */
#ifndef PERSIK_MODELGEN_GRAPH_STATEMENT_NODES_H
#define PERSIK_MODELGEN_GRAPH_STATEMENT_NODES_H

#include <stdbool.h>
#include <stddef.h>

#include "formats/model.h"

/* Do the node's statements take what only threads of other pools hand out, one signal
 * for each? */
bool statement_nodes_are_handed(const struct model *model, size_t node);

/* Do they both wait and, for others, end such a wait by a broadcast? There threads meet. */
bool statement_nodes_meet(const struct model *model, size_t node);

#endif
