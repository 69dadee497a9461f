/* What making threads and ending them costs, in the model. */
#ifndef PERSIK_MODELGEN_GRAPH_ENDED_THREADS_H
#define PERSIK_MODELGEN_GRAPH_ENDED_THREADS_H

#include "formats/model.h"
#include "modelgen/calibrate/thread_ends.h"
#include "modelgen/threads/thread_pools.h"

/* Each thread that is created, and not only called again, computes at its end what the kernel does
 * behind that, however much or little work it had. Pools whose threads are made anew again and
 * again are said to be where that is much of the run. */
void ended_threads_write(const struct thread_pools *pools, const struct thread_ends *found,
                         struct model *model);

#endif
