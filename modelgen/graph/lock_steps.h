/* Steps of mutexes, of the sections under them, and of conditions. */
#ifndef PERSIK_MODELGEN_GRAPH_LOCK_STEPS_H
#define PERSIK_MODELGEN_GRAPH_LOCK_STEPS_H

#include "modelgen/graph/writer.h"

/* `sync_object` is the mutex; the calls may have failed. */
void lock_steps_lock(struct writer *writer, size_t index, const struct trace_record *record,
                     int sync_object);
void lock_steps_unlock(struct writer *writer, size_t index, const struct trace_record *record,
                       int sync_object);

/* `condition` is a sync object. Nothing is written of waits that a guard or pattern explains. */
void lock_steps_wait(struct writer *writer, size_t index, const struct trace_record *record,
                     int condition);
/* Signals and broadcasts; `condition` may be negative. */
void lock_steps_signal(struct writer *writer, size_t index, const struct trace_record *record,
                       int condition);

#endif
