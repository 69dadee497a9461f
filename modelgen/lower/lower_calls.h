/* Steps of calls that need not be looked at with those around them: those that the user or the
 * source named, waits for something outside of the program, the creation and the end of threads. */
#ifndef PERSIK_MODELGEN_LOWER_LOWER_CALLS_H
#define PERSIK_MODELGEN_LOWER_LOWER_CALLS_H

#include "modelgen/lower/step_writer.h"

/* A call that the user or the source named, or one of the commands that a creator gives and waits
 * for (rewrite/worker_mailboxes.h). True: the record was such a call, of which nothing else shall
 * be written. `sync_object`: what it works on. */
bool lower_calls_named(struct writer *writer, size_t index, const struct trace_record *record,
                       int sync_object);

/* Queues whose consumers give up when the producers are done are closed by whoever knows that. */
void lower_calls_known_close(struct writer *writer, size_t index,
                             const struct trace_record *record);

/* Keeps the sites of sleeps, input and output that block threads for a noticeable share of the run,
 * and notes the devices that they reached. */
void lower_calls_choose_sites(struct writer *writer);

/* A sleep, input or output; nothing is written of other calls, nor at sites that were not chosen.
 */
void lower_calls_timed(struct writer *writer, size_t index, const struct trace_record *record);

/* A wait for what comes from outside that is no request (ROLE_idle). That of a thread which was
 * there from the start and listens as long as others take requests is a wait until these are done:
 * the program must not end before. */
void lower_calls_idle(struct writer *writer, size_t index, const struct trace_record *record);

/* The first creation (join) of a generation stands for all of it; the last join, where the first
 * must not wait for all since they still need the joining thread. `kind` is one of NODE_CREATE and
 * NODE_JOIN. */
void lower_calls_of_threads(struct writer *writer, size_t index, const struct trace_record *record,
                            enum node_kind kind);

#endif
