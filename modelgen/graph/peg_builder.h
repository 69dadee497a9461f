/* Nodes and edges under construction. Internal to the building of the graph: shared by peg.c and
 * the modules that each know one thing about it, and by nobody else. */
#ifndef PERSIK_MODELGEN_GRAPH_PEG_BUILDER_H
#define PERSIK_MODELGEN_GRAPH_PEG_BUILDER_H

#include "base/map.h"
#include "modelgen/graph/peg_input.h"

struct values {
    double *items;
    size_t count, capacity;
};

/* An edge under construction. */
struct peg_edge {
    int from, to;
    enum outcome when;
    double decisions, starts, first;
    bool leaves;      /* its target never leads back */
    bool poison_pill; /* left only when there was no more, and so not to be counted: see peg.c */
    enum taker taker;
    bool self_scheduled; /* the computation on it is work that threads take, who has more time more
                          */
    double round_total_ns; /* ... as much in each round, all together; 0: not by rounds. See
                              self_scheduled_work.h */
    double creating_ns;    /* of all cpu_ns: what it takes to create threads, as much for each */
    struct values cpu_ns, runs;
    struct loop_passes
        passes; /* one per cpu_ns, with the rounds of loops that the graph does not show */
    struct {
        uint32_t *items;
        size_t count, capacity;
    } between; /* contexts of the calls on the way that the graph does not show */
};

struct peg_node_values {
    int pool;
    uint32_t context;
    uint64_t phase; /* see struct step */
    struct values cpu_ns, wait_ns, operations, service_ns, near_ns, units;
    struct values stays;       /* decisions to stay before each one to leave */
    struct loop_passes passes; /* one per stays */
    bool has_single;           /* see single_sections_find_nodes() */
};

struct peg_builder {
    const struct peg_input *in;
    struct model *model;
    double record_ns; /* what the probes took for one */
    int **node_of;    /* per thread and step */
    struct {
        struct peg_node_values *items;
        size_t count, capacity;
    } nodes; /* same indexes as the model's nodes */
    struct {
        struct peg_edge *items;
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
 * context are one node. peg_builder_free() ends it. */
void peg_builder_number_nodes(struct peg_builder *builder);
/* Frees what the builder owns: neither its input nor the model. */
void peg_builder_free(struct peg_builder *builder);

/* Appends a node of `pool` like the step to the model and to the drafts; gives its index. */
int peg_builder_new_node(struct peg_builder *builder, const struct step *step, int pool);

/* The index of the edge, which is made at the first call. */
int peg_builder_find_edge(struct peg_builder *builder, int from, enum outcome when, int to);
/* Forgets all edges and makes those that the threads took, with nothing measured yet. */
void peg_builder_find_edges(struct peg_builder *builder);

/* The pool whose threads take the edge. */
const struct thread_pool *peg_builder_pool_of(const struct peg_builder *builder,
                                              const struct peg_edge *draft);

/* Of the pools that follow the thread count, the one that computes most; MODEL_NONE: there is none.
 */
int peg_builder_busiest_pool(const struct thread_pools *pools);

#endif
