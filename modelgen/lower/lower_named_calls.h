/* Steps of calls that the user or the source named, and of the commands that a creator gives and
 * waits for (rewrite/worker_mailboxes.h). */
#ifndef PERSIK_MODELGEN_LOWER_LOWER_NAMED_CALLS_H
#define PERSIK_MODELGEN_LOWER_LOWER_NAMED_CALLS_H

#include "modelgen/lower/step_writer.h"

/* True: the record was such a call, of which nothing else shall be written. `sync_object`: what it
 * works on. */
bool lower_named_calls_write(struct writer *writer, size_t index, const struct trace_record *record,
                             int sync_object);

/* Queues whose consumers give up when the producers are done are closed by whoever knows that. */
void lower_named_calls_known_close(struct writer *writer, size_t index,
                                   const struct trace_record *record);

#endif
