/* What critical sections do to what is made of their mutexes: guards, patterns, and monitors known
 * by their statements. */
#ifndef PERSIK_MODELGEN_LOWER_LOWER_SECTIONS_H
#define PERSIK_MODELGEN_LOWER_LOWER_SECTIONS_H

#include "modelgen/lower/step_writer.h"

/* What the section does where it is entered, its waits included. `record` is its lock; `mutex` the
 * model's, MODEL_NONE where that is left out. */
void lower_sections_begin(struct writer *writer, size_t record, int section, int mutex);

/* What a section has changed when it ends, at the unlock's place in the code. `record` is where it
 * is told. `answer` is that of the guard evaluated in it. */
void lower_sections_end(struct writer *writer, size_t record, int section, enum outcome answer,
                        uint64_t time_ns);

/* Threads that take part in turns from their start, and do not hold a number already. */
void lower_sections_first_draws(struct writer *writer, uint64_t time_ns);

/* Threads that draw a number when they take their work from elsewhere. */
void lower_sections_draws_after(struct writer *writer, size_t index,
                                const struct trace_record *record);

#endif
