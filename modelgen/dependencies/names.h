/* What places and objects are called. */
#ifndef PERSIK_MODELGEN_DEPENDENCIES_NAMES_H
#define PERSIK_MODELGEN_DEPENDENCIES_NAMES_H

#include "formats/dependencies.h"
#include "formats/facts.h"
#include "formats/trace.h"
#include "modelgen/dependencies/sync_state.h"

/* A place for each of the trace's contexts, an object for each of `states`. `facts` may be NULL. */
void names_fill(struct dependencies *dependencies, const struct trace *trace,
                const struct facts *facts, const struct sync_states *states);

#endif
