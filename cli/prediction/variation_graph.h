/* What variations look for in a model's graph, and change there. */
#ifndef PERSIK_CLI_PREDICTION_VARIATION_GRAPH_H
#define PERSIK_CLI_PREDICTION_VARIATION_GRAPH_H

#include <stdbool.h>

#include "formats/model.h"

/* Do the pool's threads compute at all? */
bool variation_graph_has_cpu(const struct model *model, int pool);

/* Do they wait so by themselves: NODE_SLEEP, or NODE_IO without a disk of the model? */
bool variation_graph_has_waits(const struct model *model, int pool, enum node_kind kind);

/* Can all of the object's nodes become steps? Not where threads take items from it, or go another
 * way when it is closed or does not let them on. */
bool variation_graph_can_leave_out(const struct model *model, int object);

/* Multiply by the factor: what the pool computes; its waits of the kind; all that goes on from
 * where a thread gets the lock to where it gives it back, which may be more where the graph has
 * joined nodes that are come to with and without the lock. */
void variation_graph_scale_cpu(struct model *model, int pool, double factor);
void variation_graph_scale_waits(struct model *model, int pool, enum node_kind kind, double factor);
void variation_graph_scale_hold(struct model *model, int lock, double factor);

/* The object's nodes become steps. */
void variation_graph_leave_out(struct model *model, int object);

/* The lock's nodes become steps, too, and nobody gives it up while waiting: it is always got. */
void variation_graph_unlock(struct model *model, int lock);

/* All that the pool's threads draw is the mean: CPU demands, also by their place in a total, and
 * loop counts. */
void variation_graph_even(struct model *model, int pool);

/* Threads of pools that are created once each wait first of all, `wait_ns` together in the recorded
 * run: the pools that the first one creates, or that one where there are no others. */
void variation_graph_add_wait(struct model *model, double wait_ns);

void variation_graph_scale_dist(struct dist *dist, double factor);

#endif
