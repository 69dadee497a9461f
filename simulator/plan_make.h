/* A model and a configuration -> the plan of a simulation. */
#ifndef PERSIK_SIMULATOR_PLAN_MAKE_H
#define PERSIK_SIMULATOR_PLAN_MAKE_H

#include "simulator/plan.h"

/* Compiles; NULL and `error` on an impossible configuration. plan_free() ends it. */
struct plan *plan_make(const struct model *model, const struct sim_config *config,
                       struct error *error);
void plan_free(struct plan *plan);

#endif
