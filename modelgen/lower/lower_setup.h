/* What the writer of the streams knows before it writes the first step. */
#ifndef PERSIK_MODELGEN_LOWER_LOWER_SETUP_H
#define PERSIK_MODELGEN_LOWER_LOWER_SETUP_H

#include "modelgen/lower/step_writer.h"

/* Looks over the whole trace; writer->in and writer->model are set, all else is zero. Which loops'
 * rounds are work is left to self_scheduled_loops_find(). */
void lower_setup_begin(struct writer *writer);
/* Frees what the writer owns: neither the steps nor what became of the objects (`object_of`,
 * `is_flag`). */
void lower_setup_free(struct writer *writer);

#endif
