/* Steps of calls that wait for something outside of the program: sleeps, input and output. */
#ifndef PERSIK_MODELGEN_LOWER_LOWER_TIMED_CALLS_H
#define PERSIK_MODELGEN_LOWER_LOWER_TIMED_CALLS_H

#include "modelgen/lower/step_writer.h"

/* Keeps the call sites that block threads for a noticeable share of the run, and notes the devices
 * that they reached. */
void lower_timed_calls_choose_sites(struct writer *writer);

/* Nothing is written of other calls, nor at sites that were not chosen. */
void lower_timed_calls_write(struct writer *writer, size_t index,
                             const struct trace_record *record);

#endif
