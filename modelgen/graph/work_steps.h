/* Steps of loops whose rounds all threads share: attempts to take from their supply (work.h). */
#ifndef PERSIK_MODELGEN_GRAPH_WORK_STEPS_H
#define PERSIK_MODELGEN_GRAPH_WORK_STEPS_H

#include "modelgen/graph/writer.h"

/* The record locks, and no decision is due. If it is the lock where the thread decides on a round,
 * that decision, writer->pending_work, is due from now on. */
void work_steps_begin_round(struct writer *writer, const struct trace_record *record);

/* The decision that is due is made here. */
void work_steps_decide(struct writer *writer, size_t record, uint64_t time_ns);

/* Where every round is work, the decision on the next one follows it. */
void work_steps_after(struct writer *writer, size_t record);

/* Where a loop is entered for each new supply, the first attempt comes before it. */
void work_steps_entrance(struct writer *writer, size_t index, const struct trace_record *record);

#endif
