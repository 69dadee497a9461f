/* Queues that their takers themselves fill again, until all is done: tasks that make other tasks,
 * nodes of a tree. What an item leads to depends on which one it is, which the model does not know;
 * how many are taken in all is measured, and the queue ends with the last one. */
#ifndef PERSIK_MODELGEN_GRAPH_REFILLS_H
#define PERSIK_MODELGEN_GRAPH_REFILLS_H

#include "modelgen/graph/farewells.h"

/* How many items are taken from the guard's queue in all, where its takers put them there and close
 * it; 0: it is no such queue. Those that tell takers to go home do not count. */
double refills_total(const struct stream_input *input, const struct farewells *farewells,
                     size_t guard);

#endif
