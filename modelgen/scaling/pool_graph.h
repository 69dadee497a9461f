/* The part of the model's graph that one pool's threads walk: which of its nodes lie in which
 * loops, and where these take what others give. */
#ifndef PERSIK_MODELGEN_SCALING_POOL_GRAPH_H
#define PERSIK_MODELGEN_SCALING_POOL_GRAPH_H

#include <stdbool.h>
#include <stddef.h>

#include "formats/model.h"

struct pool_graph {
    struct model *model;
    size_t n; /* nodes that it was made of; the model may get more meanwhile */
    int pool;
    bool *is_own;   /* per node: of the pool */
    bool *reaches;  /* from * n + to, of all pools: no edge leads from one to another */
    bool *loops;    /* the same without going through nodes where threads meet */
    bool *supplied; /* per node: in a loop of the latter kind that takes from a supply */
};

/* The pool's nodes, as the model is now. pool_graph_free() ends it. */
struct pool_graph pool_graph_make(struct model *model, int pool);
void pool_graph_free(struct pool_graph *graph);

/* Are both nodes in one loop? `reaches`: the graph's, or its `loops`; `n`: its nodes. */
bool pool_graph_same_loop(const bool *reaches, size_t n, size_t a, size_t b);

/* Is the node in a loop in which threads do not meet? */
bool pool_graph_in_loop(const struct pool_graph *graph, size_t node);

/* Does the edge stay in the loop that its node is in? */
bool pool_graph_stays(const struct pool_graph *graph, size_t node, const struct edge *edge);

/* Does an edge for this outcome leave the loop? */
bool pool_graph_has_way_out(const struct pool_graph *graph, size_t n, enum outcome when);

/* Does the node put into the object, or release it? */
bool pool_graph_gives(const struct node *node, int object);

/* Does it get from the object, or acquire it? */
bool pool_graph_takes(const struct node *node, int object);

/* Is work taken there that others hand out, or that is there from the start? */
bool pool_graph_takes_supply(const struct pool_graph *graph, size_t n);

/* Do statements take from what others hand out, or do they say when there is no more? */
bool pool_graph_takes_by_statements(const struct pool_graph *graph, size_t n);

/* One of as many as there are threads, whatever their number. */
bool pool_graph_takes_command(const struct pool_graph *graph, size_t n);

/* Does it change with the number of threads? */
bool pool_graph_is_scaled(const struct scaling *scaling);

/* Are there as many items of this supply as threads ask for, perhaps? Only then can an item become
 * smaller with every thread more. */
bool pool_graph_may_follow_threads(const struct pool_graph *graph, int object);

#endif
