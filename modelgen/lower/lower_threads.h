/* Steps of creating and joining threads. */
#ifndef PERSIK_MODELGEN_LOWER_LOWER_THREADS_H
#define PERSIK_MODELGEN_LOWER_LOWER_THREADS_H

#include "modelgen/lower/step_writer.h"

/* The first creation (join) of a generation stands for all of it; the last join, where the first
 * must not wait for all since they still need the joining thread. `kind` is
 * one of NODE_CREATE and NODE_JOIN. */
void lower_threads_write(struct writer *writer, size_t index, const struct trace_record *record,
                         enum node_kind kind);

#endif
