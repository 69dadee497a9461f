/* Loops whose rounds all threads of a pool draw from one common supply, as with an atomic counter
 * or a list under a lock: the supply stays the same whatever the number of threads. */
#ifndef PERSIK_MODELGEN_LOWER_SELF_SCHEDULED_LOOPS_H
#define PERSIK_MODELGEN_LOWER_SELF_SCHEDULED_LOOPS_H

#include "modelgen/lower/step_writer.h"

/* Makes tokens of such loops' rounds: sets the writer's works, and per pool and facts loop whether
 * it is one. Where the supply is filled again and again, as for each frame of a film, each thread
 * comes for each filling, and finds at last that nothing is left. */
void self_scheduled_loops_find(struct writer *writer, bool **loop_is_tokens);

/* The steps of such loops are attempts to take from their supply. All of these write the thread
 * that the writer is at. */

/* The record locks, and no decision is due. If it is the lock where the thread decides on a round,
 * that decision, writer->pending_work, is due from now on. */
void self_scheduled_loops_begin_round(struct writer *writer, const struct trace_record *record);

/* The decision that is due is made here. */
void self_scheduled_loops_decide(struct writer *writer, size_t record, uint64_t time_ns);

/* Where every round is work, the decision on the next one follows it. */
void self_scheduled_loops_decide_after(struct writer *writer, size_t record);

/* Where a loop is entered for each new supply, the first attempt comes before it. */
void self_scheduled_loops_enter(struct writer *writer, size_t index,
                                const struct trace_record *record);

#endif
