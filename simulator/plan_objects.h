/* Shared objects of a model: what they hold, their monitors, the load from outside. */
#ifndef PERSIK_SIMULATOR_PLAN_OBJECTS_H
#define PERSIK_SIMULATOR_PLAN_OBJECTS_H

#include "simulator/plan_builder.h"

/* Number `i` of the model's, in the plan that has its pools. -1 and `error`: nobody can use it so.
 */
int plan_compile_object(struct plan *plan, struct plan_builder *builder, int i,
                        const struct sim_config *config, struct error *error);

/* When all are compiled: links those that have one condition variable. */
void plan_share_conditions(struct plan *plan);

/* Is it a queue into which something comes from outside? */
bool plan_has_load(const struct object *object);

#endif
