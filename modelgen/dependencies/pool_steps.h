/* What threads do to pools (token_uses.h), as steps that take no time. */
#ifndef PERSIK_MODELGEN_DEPENDENCIES_POOL_STEPS_H
#define PERSIK_MODELGEN_DEPENDENCIES_POOL_STEPS_H

#include "modelgen/dependencies/run_state.h"

/* Does a pool tell why the thread's call of that number, a wait for a condition, waits? Goes over
 * the uses up to it. */
bool pool_steps_explain(struct run_state *run, uint32_t thread, size_t record);

/* Adds what the thread's present call does to pools when it is made, or when it has returned. */
void pool_steps_add(struct run_state *run, uint32_t thread, bool at_return, uint64_t now_ns);

#endif
