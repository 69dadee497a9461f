/* Steps of calls that wait for something outside of the program: sleeps, input and output. */
#ifndef PERSIK_MODELGEN_GRAPH_TIMED_STEPS_H
#define PERSIK_MODELGEN_GRAPH_TIMED_STEPS_H

#include "modelgen/graph/writer.h"

/* Keeps the call sites that block threads for a noticeable share of the run, and notes the devices
 * that they reached. */
void timed_steps_choose_sites(struct writer *writer);

/* Nothing is written of other calls, nor at sites that were not chosen. */
void timed_steps_write(struct writer *writer, size_t index, const struct trace_record *record);

#endif
