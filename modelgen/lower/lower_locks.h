/* Steps of mutexes, of the sections under them, and of conditions. */
#ifndef PERSIK_MODELGEN_LOWER_LOWER_LOCKS_H
#define PERSIK_MODELGEN_LOWER_LOWER_LOCKS_H

#include "modelgen/lower/step_writer.h"

/* `sync_object` is the mutex; the calls may have failed. */
void lower_locks_lock(struct writer *writer, size_t index, const struct trace_record *record,
                      int sync_object);
void lower_locks_unlock(struct writer *writer, size_t index, const struct trace_record *record,
                        int sync_object);

/* `condition` is a sync object. Nothing is written of waits that a guard or pattern explains. */
void lower_locks_wait(struct writer *writer, size_t index, const struct trace_record *record,
                      int condition);
/* Signals and broadcasts; `condition` may be negative. */
void lower_locks_signal(struct writer *writer, size_t index, const struct trace_record *record,
                        int condition);

#endif
