/* Stages: threads of one start routine, created at one place, that do different parts of the work.
 *
 * A pipeline is often made by a loop over its stages, each with threads that run the same function
 * on a structure of their stage's: they take from one queue and fill the next. They are pools of
 * their own. What tells is which objects they use at the places that all of them come to. */
#ifndef PERSIK_MODELGEN_THREADS_PIPELINE_STAGES_H
#define PERSIK_MODELGEN_THREADS_PIPELINE_STAGES_H

#include <stddef.h>

#include "formats/trace.h"

/* Per thread: the number of its stage in its pool, from 0; 0 in pools that are one. The threads of
 * a stage have the same objects, and no other stage has the same part in the whole; one has several
 * threads at least. So threads that have objects each of their own are one pool, a chain of them
 * too, and so are pairs that are alike: more of these come with more threads. `places`: of
 * contexts. The caller frees. */
int *pipeline_stages_find(const struct trace *trace, const uint32_t *places, const int *pool_of,
                          size_t n_pools);

#endif
