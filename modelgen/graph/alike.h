/* Places where all threads of a pool decide alike: each goes round as often as all others until a
 * result is good enough, meeting them in between. Threads that decided each for itself would soon
 * wait for ever for those that went another way. */
#ifndef PERSIK_MODELGEN_GRAPH_ALIKE_H
#define PERSIK_MODELGEN_GRAPH_ALIKE_H

#include "modelgen/graph/builder.h"

/* Marks the model's nodes whose edges all threads of their pool took in the same order. Follows the
 * writing of the edges. */
void alike_find(const struct builder *builder);

#endif
