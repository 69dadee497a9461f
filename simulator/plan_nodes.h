/* Nodes and edges of a model, as a thread's walk needs them. */
#ifndef PERSIK_SIMULATOR_PLAN_NODES_H
#define PERSIK_SIMULATOR_PLAN_NODES_H

#include "simulator/plan_builder.h"

/* The plan's objects are compiled. */
struct plan_node plan_compile_node(struct plan_builder *builder, const struct plan *plan,
                                   const struct node *node);

/* When all are: which of them are in a loop that one with `stays` decides to leave. */
void plan_find_counted(const struct plan_builder *builder, struct plan *plan);

#endif
