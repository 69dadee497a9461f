/* Thread pools written into the model. */
#ifndef PERSIK_MODELGEN_POOL_WRITER_H
#define PERSIK_MODELGEN_POOL_WRITER_H

#include "formats/model.h"
#include "formats/trace.h"
#include "modelgen/threads/thread_pools.h"

/* Appends the pools, in their order. */
void pool_writer_write(const struct trace *trace, const struct thread_pools *pools,
                       struct model *model);

/* Logs how many threads each has and whether it follows the number of threads. */
void pool_writer_log(const struct thread_pools *pools);

#endif
