/* Writes into the page cache that the kernel holds up while more is dirty than it allows. Internal
 * to step_writer.h. */
#ifndef PERSIK_MODELGEN_LOWER_LOWER_LATER_H
#define PERSIK_MODELGEN_LOWER_LOWER_LATER_H

#include "modelgen/lower/step_writer.h"

/* Finds out whether calls that write waited for write-back: sets writer->later. */
void lower_later_find(struct writer *writer);

/* False: the call is no such write, or none of them waited for write-back; nothing is written. */
bool lower_later_write(struct writer *writer, size_t index, const struct trace_record *record);

#endif
