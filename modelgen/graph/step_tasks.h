/* Which task that came from outside a thread worked on at each of its steps. */
#ifndef PERSIK_MODELGEN_GRAPH_STEP_TASKS_H
#define PERSIK_MODELGEN_GRAPH_STEP_TASKS_H

#include "modelgen/graph/steps.h"

#define STEP_OF_NO_TASK (-1)

/* Per thread, and step that asks a disk: the task's number in the order in which threads took them
 * from outside, or STEP_OF_NO_TASK; what it says of other steps means nothing. What a thread puts
 * into a queue is the task it has, and is taken from there first in, first out, as it is in the
 * model. NULL where nothing comes from outside, or where tasks end in threads that none was brought
 * to: they go other ways. step_tasks_free() ends it. O(n log n). */
int **step_tasks_find(const struct model *model, const struct stream *streams, size_t n_threads);
void step_tasks_free(int **tasks, size_t n_threads);

#endif
