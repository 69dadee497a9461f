/* Loops whose rounds all threads of a pool draw from one common supply, as with an atomic counter
 * or a list under a lock: the supply stays the same whatever the number of threads. */
#ifndef PERSIK_MODELGEN_LOWER_SELF_SCHEDULED_LOOPS_H
#define PERSIK_MODELGEN_LOWER_SELF_SCHEDULED_LOOPS_H

#include "modelgen/lower/step_writer.h"

/* Makes tokens of such loops' rounds: sets the writer's works, and per pool and facts loop whether
 * it is one. Where the supply is filled again and again, as for each frame of a film, each thread
 * comes for each filling, and finds at last that nothing is left. */
void self_scheduled_loops_find(struct writer *writer, bool **loop_is_tokens);

/* Of which of the works this lock of the thread being written is the decision; -1 none. */
int self_scheduled_loops_decided_by(const struct writer *writer, uint32_t context);

/* Does the thread come back to the header before it leaves the loop? */
bool self_scheduled_loops_goes_on(const struct writer *writer, size_t thread_index, size_t record,
                                  const struct facts_loop *loop, uint32_t header);

/* Of which of the works the thread being written enters the loop, or passes it by, after the
 * record; -1 none. */
int self_scheduled_loops_entered_after(const struct writer *writer,
                                       const struct trace_record *record);

/* Is the record of the thread being written in the work's loop? */
bool self_scheduled_loops_is_inside(const struct writer *writer, size_t record,
                                    const struct self_scheduled_loop *work);

/* Is the record the last one in a round of the work's loop, of the thread being written? */
bool self_scheduled_loops_ends_round(const struct writer *writer, size_t record,
                                     const struct self_scheduled_loop *work);

#endif
