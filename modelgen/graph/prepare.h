/* What the writer of the streams knows before it writes the first step. */
#ifndef PERSIK_MODELGEN_GRAPH_PREPARE_H
#define PERSIK_MODELGEN_GRAPH_PREPARE_H

#include "modelgen/graph/writer.h"

/* Looks over the whole trace; writer->in and writer->model are set, all else is zero. Which loops'
 * rounds are work is left to work_find(). */
void prepare_writer(struct writer *writer);
/* Frees what the writer owns: not the steps. */
void prepare_free(struct writer *writer);

#endif
