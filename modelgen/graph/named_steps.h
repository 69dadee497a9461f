/* Steps of calls that the user or the source named, and of the commands that a creator gives and
 * waits for (pools/slots.h). */
#ifndef PERSIK_MODELGEN_GRAPH_NAMED_STEPS_H
#define PERSIK_MODELGEN_GRAPH_NAMED_STEPS_H

#include "modelgen/graph/writer.h"

/* True: the record was such a call, of which nothing else shall be written. `sync_object`: what it
 * works on. */
bool named_steps_write(struct writer *writer, size_t index, const struct trace_record *record,
                       int sync_object);

/* Queues whose consumers give up when the producers are done are closed by whoever knows that. */
void named_steps_known_close(struct writer *writer, size_t index,
                             const struct trace_record *record);

#endif
