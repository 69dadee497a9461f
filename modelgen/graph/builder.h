/* Nodes and edges under construction. Internal to the building of the graph: shared by peg.c and
 * the modules that each know one thing about it, and by nobody else. */
#ifndef PERSIK_MODELGEN_GRAPH_BUILDER_H
#define PERSIK_MODELGEN_GRAPH_BUILDER_H

#include "base/map.h"
#include "modelgen/graph/peg.h"
#include "modelgen/scaling/rounds.h"

struct values {
    double *items;
    size_t count, capacity;
};

/* An edge under construction. */
struct draft_edge {
    int from, to;
    enum outcome when;
    double decisions, starts, first;
    bool leaves;   /* its target never leads back */
    bool farewell; /* left only when there was no more, and so not to be counted: see peg.c */
    enum taker taker;
    bool taken; /* the computation on it is work that threads take, who has more time more */
    double together_ns; /* ... as much in each round, all together; 0: not by rounds. See taken.h */
    struct values cpu_ns, runs;
    struct passes
        passes; /* one per cpu_ns, with the rounds of loops that the graph does not show */
    struct {
        uint32_t *items;
        size_t count, capacity;
    } between; /* contexts of the calls on the way that the graph does not show */
};

struct draft_node_values {
    int pool;
    uint32_t context;
    uint64_t phase; /* see struct step */
    struct values cpu_ns, wait_ns, operations, units;
    struct values stays;  /* decisions to stay before each one to leave */
    struct passes passes; /* one per stays */
    bool has_taker;       /* see takers_find_nodes() */
};

struct builder {
    const struct peg_input *in;
    struct model *model;
    int **node_of; /* per thread and step */
    struct {
        struct draft_node_values *items;
        size_t count, capacity;
    } nodes; /* same indexes as the model's nodes */
    struct {
        struct draft_edge *items;
        size_t count, capacity;
    } edges;
    struct map edge_of;
    bool *loop_is_visible; /* per facts loop: see struct source */
    bool *is_in_share;     /* per context: in a loop whose rounds may be shared out */
    struct map sites;      /* of the stretch being read: place and call -> number */
    struct values counts;  /* per site */
};

#define N_OUTCOMES ((int)OUTCOME_NO + 1)

/* A node and an outcome in one number. */
static inline int with_outcome(int node, enum outcome outcome) {
    return node * N_OUTCOMES + (int)outcome;
}

/* Gives every step its node, and each pool its entry: steps at the same place in the same calling
 * context are one node. builder_free() ends it. */
void builder_number_nodes(struct builder *builder);
/* Frees what the builder owns: neither its input nor the model. */
void builder_free(struct builder *builder);

/* Appends a node of `pool` like the step to the model and to the drafts; gives its index. */
int builder_new_node(struct builder *builder, const struct step *step, int pool);

/* The index of the edge, which is made at the first call. */
int builder_find_edge(struct builder *builder, int from, enum outcome when, int to);
/* Forgets all edges and makes those that the threads took, with nothing measured yet. */
void builder_find_edges(struct builder *builder);

/* The pool whose threads take the edge. */
const struct thread_pool *builder_pool_of(const struct builder *builder,
                                          const struct draft_edge *draft);

/* Of the pools that follow the thread count, the one that computes most; MODEL_NONE: there is none.
 */
int builder_busiest_pool(const struct thread_pools *pools);

#endif
