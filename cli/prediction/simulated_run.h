/* One simulated run as it happened, in the form of a recorded one. */
#ifndef PERSIK_CLI_PREDICTION_SIMULATED_RUN_H
#define PERSIK_CLI_PREDICTION_SIMULATED_RUN_H

#include "formats/model.h"
#include "formats/trace.h"
#include "simulator/simulator.h"

/* A thread at a node of the model, from when it came until it went on. */
struct simulated_operation {
    int node;
    bool is_yes; /* its outcome */
    uint64_t start_ns, end_ns;
};

struct simulated_operations {
    struct simulated_operation *items; /* by time */
    size_t count, capacity;
};

struct simulated_run {
    struct trace *trace; /* threads, times on cores, who woke whom; no records */
    struct simulated_operations *operations; /* per thread */
};

/* The run of that configuration. 0, or -1 and `error` (sim_watch()); simulated_run_free() in any
 * case. Threads of a pool are called by its name. */
int simulated_run_make(const struct model *model, const struct sim_config *config,
                       struct simulated_run *run, struct error *error);
void simulated_run_free(struct simulated_run *run);

/* The place of a node: "get_space (pigz.c:1449)" of "main: get_space (pigz.c:1449)". A part of its
 * name. */
const char *simulated_place(const struct node *node);

/* Is it only there to hold the graph together: nothing happens? */
bool simulated_is_silent(enum node_kind kind);

#endif
