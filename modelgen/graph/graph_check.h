/* Are the threads' steps, the model's objects and its graphs as the passes behind them take for
 * granted? What any model needs to be simulated, model_check() asks of the whole one in the end. */
#ifndef PERSIK_MODELGEN_GRAPH_GRAPH_CHECK_H
#define PERSIK_MODELGEN_GRAPH_GRAPH_CHECK_H

#include <stdbool.h>

#include "base/error.h"
#include "formats/model.h"
#include "formats/trace.h"
#include "modelgen/graph/steps.h"

/* The streams are those of the trace's threads. Each begins with a START, ends with an END, counts
 * each record once, and has in each step what its kind needs. Steps may overlap: what a team's
 * threads share out is dealt at times of its own. -1 and `error`: not so. */
int steps_check(const struct stream *streams, const struct trace *trace, const struct model *model,
                struct error *error);

/* Each object has a kind, a name, a sound amount, and refers only to objects and pools that there
 * are. `is_used`, one per object: some step or node works on it, or gives it up. -1 and `error`:
 * not so. */
int objects_check(const struct model *model, const bool *is_used, struct error *error);

/* Each pool's graph starts with a START of its own; each node has a pool, and what its kind works
 * on; edges stay in the pool, have sound weights, and leave a way on. There may be nodes that no
 * thread can come to: behind what only tells threads to end. -1 and `error`: not so. */
int graph_check(const struct model *model, struct error *error);

#endif
