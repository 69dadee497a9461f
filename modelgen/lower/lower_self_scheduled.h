/* Steps of loops whose rounds all threads share: attempts to take from their supply
 * (self_scheduled_loops.h). */
#ifndef PERSIK_MODELGEN_LOWER_LOWER_SELF_SCHEDULED_H
#define PERSIK_MODELGEN_LOWER_LOWER_SELF_SCHEDULED_H

#include "modelgen/lower/step_writer.h"

/* The record locks, and no decision is due. If it is the lock where the thread decides on a round,
 * that decision, writer->pending_work, is due from now on. */
void lower_self_scheduled_begin_round(struct writer *writer, const struct trace_record *record);

/* The decision that is due is made here. */
void lower_self_scheduled_decide(struct writer *writer, size_t record, uint64_t time_ns);

/* Where every round is work, the decision on the next one follows it. */
void lower_self_scheduled_after(struct writer *writer, size_t record);

/* Where a loop is entered for each new supply, the first attempt comes before it. */
void lower_self_scheduled_entrance(struct writer *writer, size_t index,
                                   const struct trace_record *record);

#endif
