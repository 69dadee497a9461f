/* What another run of the program, with another number of threads, tells of a pool whose rule one
 * run cannot tell. */
#ifndef PERSIK_MODELGEN_SCALING_OTHER_RUN_H
#define PERSIK_MODELGEN_SCALING_OTHER_RUN_H

#include <stdbool.h>

#include "formats/model.h"

/* A pool in one run. */
struct pool_seen {
    int threads;
    double cpu_ns; /* of all its threads */
};

/* PARTITION_FIXED where the threads of both runs computed the same in all, PARTITION_PERTHREAD
 * where each thread computed the same; else PARTITION_UNKNOWN, as for pools of one size or without
 * computation. */
enum partition other_run_rule(struct pool_seen one, struct pool_seen other);

/* Gives the pool the rule that the model's own run and the other one tell, or makes it
 * PARTITION_UNKNOWN and says in its rule that they tell none. */
void other_run_tells(struct model *model, int pool, struct pool_seen other);

/* Is the pool's rule, which is a guess, refuted by the other run? `simulated_ns` is what its
 * threads compute in the model when there are as many. Such a rule is to be told anew. */
bool other_run_refutes(const struct pool *pool, struct pool_seen other, double simulated_ns);

#endif
